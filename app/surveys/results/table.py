"""The responses of one survey as a table: one row each, and one column or more for each question.

A column belongs to the id of its question, which never changes. So the table of several versions has one column for a
question that was in all of them, with its newest words.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Select, and_, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.host.models import Employee
from app.secrets import KeyRing
from app.surveys.ledger.chain import MatrixCell
from app.surveys.models import LedgerPerson, PromptState, Response, Survey, Wording
from app.surveys.results import kinds, queries, responses
from app.surveys.results.figures import AskedQuestion

# The first employee of each account. Joined as a whole: looking them up one by one takes longer than all the rest of a
# table.
STAFF = (
    select(Employee.user_id, Employee.department)
    .where(Employee.user_id.is_not(None), Employee.deleted_at.is_(None))
    .ext(distinct_on(Employee.user_id))
    .order_by(Employee.user_id, Employee.id)
    .subquery("staff")
)
# The same of one account, for a statement about few.
DEPARTMENT = (
    select(Employee.department)
    .where(Employee.user_id == User.id, Employee.deleted_at.is_(None))
    .order_by(Employee.id)
    .limit(1)
    .correlate(User)
    .scalar_subquery()
)
_SHOWN = and_(
    PromptState.survey_id == Response.survey_id,
    PromptState.version == Response.version,
    PromptState.user_id == LedgerPerson.user_id,
)
ROWS: Select[Any] = (
    queries.rows(User.type.label("user_type"), STAFF.c.department, PromptState.first_shown_at)
    .outerjoin(PromptState, _SHOWN)
    .outerjoin(STAFF, STAFF.c.user_id == User.id)
)


class _TableAnswer(msgspec.Struct, gc=False):
    """As in ledger/chain.py. Garbage collection skips these, because a file needs millions."""

    question: str
    value: int | float | str | list[str | MatrixCell] | None


class _Answers(msgspec.Struct, gc=False):
    """The part of a ledger entry that a table needs; the rest is not read."""

    answers: list[_TableAnswer]


_READER = msgspec.json.Decoder(_Answers)
Cells = list[Any]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """`key` is its name in JSON Lines."""

    key: str
    label: str


@dataclass(frozen=True, slots=True)
class Table:
    """`cells` turns a row of ROWS into its values, in the order of `columns`: all at once, since a file has millions of
    them."""

    columns: tuple[TableColumn, ...]
    cells: Callable[[Any], Cells]


async def asked_of_people(db: AsyncSession, survey: UUID, version: int | None) -> tuple[AskedQuestion, ...]:
    """As `asked_in`, but only questions whose answers belong to a person: none of an anonymous survey."""
    is_anonymous = await db.scalar(select(Survey.anonymity == "anonymous").where(Survey.uid == survey))
    return () if is_anonymous else await asked_in(db, survey, version)


async def asked_in(db: AsyncSession, survey: UUID, version: int | None) -> tuple[AskedQuestion, ...]:
    """The questions of a version, or of all (None), in their last words."""
    last = select(func.max(Wording.id)).where(Wording.survey_uid == survey).group_by(Wording.version)
    if version is not None:
        last = last.where(Wording.version == version)
    newest = select(Wording.content, Wording.question_keys).where(Wording.id.in_(last)).order_by(Wording.version.desc())
    return merged(responses.questions(responses.wording(content), keys) for content, keys in await db.execute(newest))


def merged(versions: Iterable[Sequence[AskedQuestion]]) -> tuple[AskedQuestion, ...]:
    """Each question once, in its newest words with all options that it ever had; `versions` come newest first."""
    found: dict[UUID, AskedQuestion] = {}
    for question in (one for version in versions for one in version):
        known = found.setdefault(question.key, question)
        rows = msgspec.structs.replace(known.details, rows=_with(known.details.rows, question.details.rows))
        found[question.key] = replace(known, options=_with(known.options, question.options), details=rows)
    return tuple(found.values())


def _with(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return (*known, *(one for one in more if one not in known))


def of(questions: Sequence[AskedQuestion], keys: KeyRing, workspace: str, *, on_platform: bool) -> Table:
    """The columns of the questions, then who answered, when and how. Texts are opened row by row; those of erased
    people are empty."""
    asked = [(question, one) for question in questions for one in kinds.columns(question)]
    columns = (*(TableColumn(one.key, one.label) for _, one in asked), *_person(on_platform=on_platform), *_RESPONSE)
    reads = [(str(question.key), one.read) for question, one in asked]

    def cells(row: Any) -> Cells:
        found, outcome = _READER.decode(row.entry).answers, row.outcome
        said: dict[str, Any] = {one.question: one.value for one in found}
        if row.has_text:
            texts = responses.opened(keys, workspace, row).texts
            said = {key: texts.get(key) if value is None else value for key, value in said.items()}
        answers = [read(said.get(key), outcome) if read else said.get(key) for key, read in reads]
        erased = row.erased_at is not None
        person = [responses.name_of(row), *((None,) * 3 if erased else (row.email, row.user_type, row.department))]
        if on_platform:
            person.append(None if erased else row.workspace_name)
        first_shown = None if erased else row.first_shown_at
        return [*answers, *person, row.version, row.language, first_shown, row.recorded_at, outcome, row.row_hash.hex()]

    return Table(tuple(_told_apart(columns)), cells)


def _told_apart(columns_: Iterable[TableColumn]) -> Iterable[TableColumn]:
    """If two questions have the same text, a number follows it."""
    times: dict[str, int] = {}
    for one in columns_:
        times[one.label] = number = times.get(one.label, 0) + 1
        yield one if number == 1 else replace(one, label=f"{one.label} ({number})")


RECORDED_AT = "recorded_at"


def _person(*, on_platform: bool) -> tuple[TableColumn, ...]:
    every = (
        TableColumn("person", "Person"),
        TableColumn("email", "E-mail"),
        TableColumn("user_type", "User type (today)"),
        TableColumn("department", "Department (today)"),
    )
    return (*every, TableColumn("workspace", "Workspace")) if on_platform else every


_RESPONSE = (
    TableColumn("version", "Version"),
    TableColumn("language", "Language"),
    TableColumn("first_shown_at", "First shown"),
    TableColumn(RECORDED_AT, "Recorded"),
    TableColumn("outcome", "Outcome"),
    TableColumn("receipt", "Receipt"),
)
