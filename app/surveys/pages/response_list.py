"""The ledger's list: its columns and filters. How a request reads it: response_frame.py."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, false, select

from app.accounts.models import User
from app.db.searching import contains
from app.languages import tag_of
from app.surveys.models import Response, Survey
from app.surveys.results import queries, responses
from app.surveys.results.tallies import TallyScope
from app.surveys.words import OUTCOMES
from app.texts import uuid_of, whole
from app.web.list_spec import Column, Empty, ExportKind, Filter, ListSpec

LONGEST_VERSION = 9


def number_of(text: str) -> int:
    """A version or a user id; any other text matches nothing."""
    number = whole(text, LONGEST_VERSION)
    return -1 if number is None else number


def key_of(text: str) -> UUID:
    return uuid_of(text) or UUID(int=0)


def _of_survey(uid: str) -> ColumnElement[bool]:
    return Response.survey_id == select(Survey.id).where(Survey.uid == key_of(uid)).correlate(None).scalar_subquery()


def named(text: str) -> Select[Any]:
    return select(User.id).where(contains(User.name, User.email)(text)).correlate(None)


def tag_in(text: str) -> str:
    """Text that is not a tag matches nothing."""
    return tag_of(text.strip()) or ""


def _in_language(text: str) -> ColumnElement[bool]:
    return Response.language == tag_in(text)


# The conditions are for exports; a page uses `LedgerFilter`, which says the same.
FILTERS = (
    Filter(
        "q",
        "Person",
        lambda text: and_(queries.of_accounts(named(text)), queries.not_erased()),
        placeholder="Name or e-mail",
    ),
    Filter("survey", "Survey", _of_survey, kind="select"),
    Filter(
        "outcome",
        "Outcome",
        lambda words: TallyScope(outcomes=tuple(words)).responses(),
        kind="multi",
        options=OUTCOMES,
    ),
    Filter("", "Days (UTC)", lambda days: TallyScope(days=days).responses(), kind="range"),
    Filter("version", "Version", lambda text: Response.version == number_of(text), advanced=True),
    Filter("language", "Language", _in_language, advanced=True, placeholder="Its tag: de"),
    Filter(
        "current",
        "Current versions of published surveys",
        lambda _: TallyScope(current=True).responses(),
        kind="check",
        advanced=True,
    ),
    Filter("user", "Person", lambda text: queries.of_people([number_of(text)]), kind="hidden"),
    Filter("question", "Answered", lambda key: TallyScope(answer=(key_of(key), "")).responses(), kind="hidden"),
    Filter("choice", "Answer", lambda _: false(), kind="hidden"),
)


def _sealed(_: Any) -> None:
    """Its value needs the key ring, which only a request has: `response_frame.exported` fills it in."""


TABLE = {"shape": "table"}
TABLES = (
    ExportKind("Table, Excel", {**TABLE, "export": "xlsx"}),
    ExportKind("Table, CSV", {**TABLE, "export": "csv"}),
    ExportKind("Table, CSV with a byte order mark", {**TABLE, "export": "csv", "bom": "1"}),
    ExportKind("Table, JSON Lines", {**TABLE, "export": "jsonl"}),
)
COLUMNS = (
    Column("when", "When", lambda row: row.recorded_at, Response.recorded_at),
    Column("number", "Number", lambda row: row.number, numeric=True, shown=False, hint="Its place in the chain"),
    Column("person", "Who", responses.name_of, titles=True),
    Column("email", "E-mail", lambda row: None if row.erased_at else row.email, shown=False),
    Column("workspace", "Workspace", lambda row: row.workspace, shown=False),
    Column("survey", "Survey", lambda row: row.title),
    Column("version", "Version", lambda row: row.version, numeric=True),
    Column("outcome", "Outcome", lambda row: row.outcome),
    Column("answers", "Answers", _sealed),
    Column(
        "language",
        "Language",
        lambda row: row.language,
        shown=False,
        hint="In which they read it; empty where the survey has one",
    ),
    Column("source", "Source", lambda row: row.source, shown=False),
    Column(
        "shown", "Shown", responses.shown_of, shown=False, hint="How far the survey came to them before they answered"
    ),
    Column(
        "evidence",
        "Evidence",
        _sealed,
        hint="What was recorded about the person, encrypted with their own key. Token: by an API token that another person made",
    ),
    Column("ip", "IP", _sealed, shown=False),
    Column("browser", "Browser", _sealed, shown=False),
    Column("receipt", "Receipt", lambda row: row.row_hash.hex(), shown=False),
    Column("actions", "", lambda _: None),
)
SPEC = ListSpec(
    name="responses",
    label="responses",
    url="/surveys/responses",
    columns=COLUMNS,
    filters=FILTERS,
    key=Response.number,
    sort="-when",
    empty=Empty(
        "clipboard-list",
        "No response yet",
        "Each answer, consent and opt-out to a published survey is recorded here.",
        "/surveys/list",
        "Open the surveys",
    ),
)
