"""The list of surveys: its columns and filters, and what a request reads for it, in three SELECTs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, and_, func, select, true
from sqlalchemy.dialects.postgresql import ARRAY, TEXT

from app.db.session import PLATFORM
from app.host.shared import Tenant, UserType
from app.host.user_types import FROM_THE_START
from app.surveys import tallies
from app.surveys.models import Survey
from app.surveys.numbers import percent
from app.surveys.results import RESPONDED
from app.surveys.tallies import Scope
from app.surveys.words import ENFORCEMENTS, STATUSES, TYPES
from app.web import lists
from app.web.context import Context
from app.web.lists import Column, Empty, Filter, Listing, ListSpec

_OF_THIS_VERSION = tallies.whole(Scope()).subquery()
_PEOPLE = _OF_THIS_VERSION.c.people
_OUTCOME = _OF_THIS_VERSION.c.outcome
_RESPONSES = func.coalesce(func.sum(_PEOPLE).filter(_OUTCOME != tallies.ASKED), 0)
_RESPONDED = func.coalesce(func.sum(_PEOPLE).filter(_OUTCOME.in_(RESPONDED)), 0)
_ASKED = func.coalesce(func.sum(_PEOPLE).filter(_OUTCOME == tallies.ASKED), 0) + func.coalesce(
    func.sum(_OF_THIS_VERSION.c.unprompted), 0
)


def _counted(*figures: Any) -> Select[Any]:
    """Figures of a survey's current version, for the survey of the row around it."""
    mine = and_(_OF_THIS_VERSION.c.survey_id == Survey.id, _OF_THIS_VERSION.c.version == Survey.version)
    return select(*figures).select_from(_OF_THIS_VERSION).where(mine).correlate(Survey)


FIGURES = _counted(_RESPONSES.label("responses"), _RESPONDED.label("responded"), _ASKED.label("asked")).lateral(
    "figures"
)
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
    FIGURES.c.responses,
    FIGURES.c.responded,
    FIGURES.c.asked,
)
BASE = select(*_COLUMNS).join(FIGURES, true()).where(Survey.deleted_at.is_(None))
# What the list is sorted by: counted for every survey only where the address asks for it.
RESPONSES = _counted(_RESPONSES).scalar_subquery()
RATE = _counted(_RESPONDED / func.nullif(_ASKED, 0)).scalar_subquery()


@dataclass(frozen=True, slots=True)
class Around:
    """What the page needs beside its rows; one SELECT. `ceiling` is "full" on the platform."""

    categories: list[str]
    ceiling: str
    types: Mapping[str, str]


async def around(ctx: Context) -> Around:
    categories = (
        select(Survey.category)
        .where(Survey.category.is_not(None), Survey.deleted_at.is_(None))
        .distinct()
        .order_by(Survey.category)
        .scalar_subquery()
    )
    ceiling = select(Tenant.ceiling).where(Tenant.key == ctx.workspace).scalar_subquery()
    types = select(func.jsonb_object_agg(UserType.key, UserType.label)).where(UserType.workspace == ctx.workspace)
    row = (
        await ctx.db.execute(select(func.array(categories, type_=ARRAY(TEXT)), ceiling, types.scalar_subquery()))
    ).one()
    return Around(row[0], "full" if ctx.workspace == PLATFORM else row[1] or "none", row[2] or FROM_THE_START)


def spec_of(found: Around) -> ListSpec:
    return SPEC.offering(category={name: name for name in found.categories})


async def load(ctx: Context, found: Around) -> Listing:
    """One page: one SELECT for the total, one for the rows. Only the surveys of the page are counted up."""
    spec = spec_of(found)
    wanted = lists.asked(spec, ctx.request.query_params)
    known = select(Survey.id).where(Survey.deleted_at.is_(None), lists.condition(spec, wanted))
    total = await ctx.db.scalar(select(func.count()).select_from(known.subquery())) or 0
    wanted.page = min(wanted.page, max(1, -(-total // wanted.per_page)))
    order = lists.ordering(spec, wanted.sort)
    ids = known.order_by(*order).limit(wanted.per_page).offset((wanted.page - 1) * wanted.per_page)
    rows = await ctx.db.execute(BASE.where(Survey.id.in_(ids)).order_by(*order))
    return lists.listing(ctx, spec, wanted, rows.all(), total)


def window_of(row: Row[Any]) -> str | None:
    """`2026-12-01 08:00 – 2026-12-31 18:00`; an open end is left out; None for always."""
    if row.starts_at and row.ends_at:
        return f"{_minute(row.starts_at)} – {_minute(row.ends_at)}"
    if row.starts_at:
        return f"from {_minute(row.starts_at)}"
    return f"until {_minute(row.ends_at)}" if row.ends_at else None


def audience_of(row: Row[Any]) -> str:
    """The keys of whom it asks, tenants after types: `employee, staff; acme, main`."""
    return "; ".join(", ".join(keys) for keys in (row.user_types, row.tenants) if keys) or "everyone"


def rate_of(row: Row[Any]) -> float | None:
    """In percent, None where nobody was asked."""
    rate = percent(int(row.responded), int(row.asked))
    return None if rate is None else float(rate)


def _minute(instant: Any) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"


SPEC = ListSpec(
    name="surveys",
    label="surveys",
    url="/surveys/list",
    key=Survey.id,
    sort="-updated_at",
    columns=(
        Column("title", "Title", lambda row: row.title, Survey.title),
        Column("type", "Type", lambda row: row.type, Survey.type),
        Column("enforcement", "Enforcement", lambda row: row.enforcement, Survey.enforcement),
        Column("status", "Status", lambda row: row.status, Survey.status),
        Column("version", "Version", lambda row: row.version, Survey.version, numeric=True),
        Column("window", "Window (UTC)", window_of, Survey.starts_at, hint="When it may be answered"),
        Column("audience", "Audience", audience_of, hint="The user types and tenants that are asked"),
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
    ),
    filters=(
        Filter("q", "Search", lists.contains(Survey.title, Survey.category), placeholder="Title or category"),
        Filter("status", "Status", lambda word: Survey.status == word, kind="select", options=STATUSES),
        Filter("type", "Type", lambda word: Survey.type == word, kind="select", options=TYPES),
        Filter(
            "enforcement", "Enforcement", lambda word: Survey.enforcement == word, kind="select", options=ENFORCEMENTS
        ),
        Filter("category", "Category", lambda text: Survey.category == text, kind="select"),
    ),
    empty=Empty("forms", "No survey yet", "A survey asks for a rating, a consent, a vote or an opinion."),
)
