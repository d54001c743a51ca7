"""The list of surveys: its columns and filters, and what a request reads for it, in three SELECTs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, SQLColumnExpression, and_, func, select
from sqlalchemy.dialects.postgresql import ARRAY, TEXT

from app.counting import percent
from app.dates import PageZone, local_time
from app.db.searching import contains
from app.surveys.authoring import audience
from app.surveys.authoring.ceilings import ceiling_in
from app.surveys.models import Survey
from app.surveys.pages.acts_allowed import limits, needed_for
from app.surveys.results import tallies, tally_rows
from app.surveys.results.figures import RESPONDED
from app.surveys.results.tallies import TallyScope
from app.surveys.words import ENFORCEMENTS, STATUSES, TYPES, Names
from app.web.context import Context
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, where_any_of

_COUNTED = tallies.whole(TallyScope()).subquery()
_PEOPLE, _OUTCOME = _COUNTED.c.people, _COUNTED.c.outcome


def _sum(column: SQLColumnExpression[int], *which: ColumnElement[bool]) -> ColumnElement[int]:
    total = func.sum(column)
    return func.coalesce(total.filter(*which) if which else total, 0)


# All surveys are counted together. One by one, a large ledger would be read again for each survey.
FIGURES = (
    select(
        _COUNTED.c.survey_id,
        _COUNTED.c.version,
        _sum(_PEOPLE, _OUTCOME != tally_rows.ASKED).label("responses"),
        _sum(_PEOPLE, _OUTCOME.in_(RESPONDED)).label("responded"),
        (_sum(_PEOPLE, _OUTCOME == tally_rows.ASKED) + _sum(_COUNTED.c.unprompted)).label("asked"),
    )
    .group_by(_COUNTED.c.survey_id, _COUNTED.c.version)
    .subquery("figures")
)
_OF_THIS_VERSION = and_(FIGURES.c.survey_id == Survey.id, FIGURES.c.version == Survey.version)
RESPONSES = func.coalesce(FIGURES.c.responses, 0)
ASKED = func.coalesce(FIGURES.c.asked, 0)
RESPONDED_PEOPLE = func.coalesce(FIGURES.c.responded, 0)
RATE = FIGURES.c.responded / func.nullif(FIGURES.c.asked, 0)
_COLUMNS: tuple[Any, ...] = (
    Survey.id,
    Survey.uid,
    Survey.title,
    Survey.type,
    Survey.enforcement,
    Survey.status,
    Survey.version,
    Survey.starts_at,
    Survey.ends_at,
    Survey.user_types,
    Survey.tenants,
    Survey.category,
    Survey.published_at,
    Survey.updated_at,
    Survey.updated_by,
    RESPONSES.label("responses"),
    RESPONDED_PEOPLE.label("responded"),
    ASKED.label("asked"),
)
BASE = select(*_COLUMNS).outerjoin(FIGURES, _OF_THIS_VERSION).where(Survey.deleted_at.is_(None))
FILTERS = (
    Filter("q", "Search", contains(Survey.title, Survey.category), placeholder="Title or category"),
    Filter("status", "Status", lambda word: Survey.status == word, kind="select", options=STATUSES),
    Filter("type", "Type", lambda word: Survey.type == word, kind="select", options=TYPES),
    Filter("enforcement", "Enforcement", lambda word: Survey.enforcement == word, kind="select", options=ENFORCEMENTS),
)

BULK = (
    BulkAction("publish", "Publish", "send", fits=where_any_of("status", STATUSES.keys() - {"published"})),
    BulkAction("archive", "Archive", "archive", danger=True, fits=where_any_of("status", ("published",))),
    BulkAction("delete", "Delete drafts", "trash", danger=True, fits=where_any_of("status", ("draft",))),
)


@dataclass(frozen=True, slots=True)
class SurveyListFrame:
    """What the page needs beside its rows; one SELECT. `ceiling` is "full" on the platform."""

    categories: list[str]
    ceiling: str
    names: Names


async def around(ctx: Context) -> SurveyListFrame:
    categories = (
        select(Survey.category)
        .where(Survey.category.is_not(None), Survey.deleted_at.is_(None))
        .distinct()
        .order_by(Survey.category)
        .scalar_subquery()
    )
    known = func.array(categories, type_=ARRAY(TEXT)), ceiling_in(ctx.workspace), *audience.names_in(ctx.workspace)
    row = (await ctx.db.execute(select(*known))).one()
    return SurveyListFrame(list(row[0]), row[1], audience.named(*row[2:]))


def bulk_of(ctx: Context, found: SurveyListFrame) -> tuple[BulkAction, ...]:
    """What this person may do to many surveys. Archiving is always allowed."""
    made = not limits(found.ceiling, "optional")
    return tuple(one for one in BULK if ctx.may(needed_for(one.value)) and (made or one.value == "archive"))


def spec_of(found: SurveyListFrame, bulk: tuple[BulkAction, ...] = ()) -> ListSpec:
    return ListSpec(
        name="surveys",
        label="surveys",
        url="/surveys/list",
        key=Survey.id,
        sort="-updated_at",
        columns=_columns(found.names),
        filters=(*FILTERS, _category(found.categories)),
        empty=Empty("forms", "No survey yet", "A survey asks for a rating, a consent, a vote or an opinion."),
        bulk_url="/surveys/list/bulk",
        bulk=bulk,
    )


def _columns(names: Names) -> tuple[Column, ...]:
    return (
        Column("title", "Title", lambda row: row.title, Survey.title),
        Column("type", "Type", lambda row: row.type, Survey.type),
        Column("enforcement", "Enforcement", lambda row: row.enforcement, Survey.enforcement),
        Column("status", "Status", lambda row: row.status, Survey.status),
        Column("version", "Version", lambda row: row.version, Survey.version, numeric=True),
        Column("window", "Window (UTC)", window_of, Survey.starts_at, hint="When it may be answered"),
        Column(
            "audience",
            "Audience",
            lambda row: audience_of(row, names),
            hint="The user types and tenants that are asked",
        ),
        Column("category", "Category", lambda row: row.category, Survey.category, shown=False),
        Column(
            "responses", "Responses", lambda row: int(row.responses), RESPONSES, numeric=True, hint="To this version"
        ),
        Column(
            "rate",
            "Response rate",
            rate_of,
            RATE,
            numeric=True,
            hint="Who answered, agreed or declined, of the n people who were asked; this version",
        ),
        Column("published_at", "Published", lambda row: row.published_at, Survey.published_at, shown=False),
        Column("updated_at", "Changed", lambda row: row.updated_at, Survey.updated_at, shown=False),
        Column("actions", "", lambda _: None),
    )


def _category(categories: Sequence[str]) -> Filter:
    options = {name: name for name in categories}
    return Filter("category", "Category", lambda text: Survey.category == text, kind="select", options=options)


def window_of(row: Row[Any]) -> str | None:
    """`2026-12-01 08:00 – 2026-12-31 18:00`; an open end is left out; None means always."""
    if row.starts_at and row.ends_at:
        return f"{_minute(row.starts_at)} – {_minute(row.ends_at)}"
    if row.starts_at:
        return f"from {_minute(row.starts_at)}"
    return f"until {_minute(row.ends_at)}" if row.ends_at else None


def window_words(row: Row[Any], zone: PageZone) -> str | None:
    """The same for a page, below a heading that says UTC."""
    first, last = (at and local_time(at.astimezone(UTC), zone.today) for at in (row.starts_at, row.ends_at))
    if first and last:
        return f"{first} – {last}"
    return f"from {first}" if first else f"until {last}" if last else None


def audience_of(row: Row[Any], names: Names) -> str:
    """Whom it asks, types before tenants: `Employee, Staff; Acme Timepieces, the platform itself`."""
    parts = (names.of_types(row.user_types), names.of_workspaces(row.tenants))
    return "; ".join(part for part in parts if part) or "Everyone"


def rate_of(row: Row[Any]) -> float | None:
    """In percent; None when no person was asked."""
    rate = percent(int(row.responded), int(row.asked))
    return None if rate is None else float(rate)


def _minute(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"
