"""`/surveys/ratings`, Rating Details: every rating of an app, and the figures of the filtered ones. Platform only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import ColumnElement, cast, func, select
from sqlalchemy.dialects.postgresql import UUID

from app.charts import bars
from app.charts.bars import BarHeads, BarRow
from app.charts.compared import Noun, PeriodPair, compare
from app.counting import percent
from app.db.days import on_days, utc_day
from app.db.searching import contains
from app.host.applications.application_words import PLATFORMS
from app.host.models import Application, AppRating
from app.periods import today_in
from app.surveys.pages.overview import began_late
from app.surveys.ratings import ratings
from app.surveys.ratings.figures import STARS, Figure, figure
from app.surveys.ratings.ratings import KEPT
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_page import ListPage, ListQuery
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import page

_COLUMNS: tuple[Any, ...] = (
    AppRating.id,
    AppRating.rated_at,
    AppRating.platform,
    AppRating.rating,
    AppRating.comment,
    AppRating.app_version,
    Application.name,
)
BASE = select(*_COLUMNS).join_from(AppRating, Application, Application.id == AppRating.application_id).where(KEPT)
STAR_WORDS = {str(one): f"{one} star{'' if one == 1 else 's'}" for one in STARS}


def _of_app(uid: str) -> ColumnElement[bool]:
    theirs = select(Application.id).where(Application.uid == cast(uid, UUID))
    return AppRating.application_id == theirs.scalar_subquery()


DAYS = Filter("", "Date (UTC)", lambda days: on_days(AppRating.rated_at, days), kind="range")
SPEC = ListSpec(
    name="ratings",
    label="ratings",
    url="/surveys/ratings",
    key=AppRating.id,
    sort="-rated_at",
    columns=(
        Column("rated_at", "When", lambda row: row.rated_at, AppRating.rated_at),
        Column("app", "App", lambda row: row.name),
        Column("platform", "Platform", lambda row: row.platform),
        Column("stars", "Stars", lambda row: row.rating, AppRating.rating),
        Column("comment", "Comment", lambda row: row.comment),
        Column("app_version", "App version", lambda row: row.app_version, shown=False),
    ),
    filters=(
        Filter("q", "Comment", contains(AppRating.comment), placeholder="Words of a comment"),
        Filter("app", "App", _of_app, kind="select"),
        Filter("platform", "Platform", lambda word: AppRating.platform == word, kind="select", options=PLATFORMS),
        Filter(
            "stars",
            "Stars",
            lambda chosen: AppRating.rating.in_([int(one) for one in chosen]),
            kind="multi",
            options=STAR_WORDS,
        ),
        DAYS,
        Filter("commented", "With a comment", lambda _: AppRating.comment.is_not(None), kind="check"),
    ),
    empty=Empty("star", "No app has ratings yet", "People rate the apps of the App Library from their mobile apps."),
)
LIBRARY = {"url": "/apps", "action": "Open the App Library"}
# The stored counts can answer these filters.
COUNTED = {"app", "platform", "stars"}


@get("/surveys/ratings", guards=[Requires("surveys.view", module="surveys", platform_only=True)])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    counted = await ratings.counts(ctx.db)
    spec = _spec(ctx, counted)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, BASE, kind)
    wanted = lists.asked(spec, ctx.request.query_params)
    found = await _figure(ctx, spec, wanted, counted)
    view = await _load(ctx, spec, wanted, found.n)
    return await page(
        ctx,
        "surveys/ratings.html",
        fragment="list",
        view=view,
        figure=found,
        shares=_shares(view, found),
        said=await _against_before(ctx, spec, wanted),
        platforms=PLATFORMS,
    )


def _spec(ctx: Context, counted: Sequence[Any]) -> ListSpec:
    spec = replace(SPEC, today=today_in("UTC")).offering(app={str(row.uid): row.name for row in counted})
    return replace(spec, empty=replace(spec.empty, **LIBRARY)) if ctx.may("apps.manage") else spec


async def _figure(ctx: Context, spec: ListSpec, wanted: ListQuery, counted: Sequence[Any]) -> Figure:
    """The figure of the filtered ratings: from the counts, or from the ratings when the filter asks for more than
    these."""
    in_force = {name for name, value in wanted.values.items() if value is not None}
    if not wanted.errors and in_force <= COUNTED:
        return figure("", "", [row for row in counted if row.number and _fits(row, wanted.values)])
    narrowed = select(AppRating.rating, func.count().label("number"), func.count().label("latest")).select_from(
        AppRating
    )
    grouped = narrowed.where(KEPT, lists.condition(spec, wanted)).group_by(AppRating.rating)
    return figure("", "", await ctx.db.execute(grouped))


async def _against_before(ctx: Context, spec: ListSpec, wanted: ListQuery) -> str:
    """Compares the chosen days with as many before, under the other filters; "" unless days with two ends are
    chosen."""
    first, last = wanted.values.get(DAYS.name) or (None, None)
    if wanted.errors or spec.today is None or first is None or last is None:
        return ""
    pair = PeriodPair(first, last, spec.today)
    if pair.whole is None or pair.counterparts is None:
        return pair.why_not()
    others = replace(wanted, values={**wanted.values, DAYS.name: (pair.counterparts[0], pair.whole[1])})
    shown, earlier = (
        func.count().filter(on_days(AppRating.rated_at, days)) for days in (pair.whole, pair.counterparts)
    )
    first_ever = select(AppRating.rated_at).where(KEPT).order_by(AppRating.rated_at).limit(1).scalar_subquery()
    sums = select(shown, earlier, first_ever).select_from(AppRating).where(KEPT, lists.condition(spec, others))
    now, before, since = (await ctx.db.execute(sums)).one()
    unknown = began_late(pair, utc_day(since) if since else None, "apps have been rated since")
    return compare(pair, {pair.whole[0]: now, pair.counterparts[0]: before}, Noun("rating", "ratings"), unknown=unknown)


def _fits(row: Any, values: dict[str, Any]) -> bool:
    return (
        values["app"] in (None, str(row.uid))
        and values["platform"] in (None, row.platform)
        and str(row.rating) in (values["stars"] or STAR_WORDS)
    )


async def _load(ctx: Context, spec: ListSpec, wanted: ListQuery, total: int) -> ListPage:
    wanted.stay_within(total)
    order = lists.ordering(spec, wanted.sort)
    # A deep page skips rows in an index, and joins only its own rows.
    ids = select(AppRating.id).where(KEPT, lists.condition(spec, wanted)).order_by(*order)
    shown = wanted.cut(ids)
    rows = await ctx.db.execute(BASE.where(AppRating.id.in_(shown)).order_by(*order))
    return lists.listing(ctx, spec, wanted, rows.all(), total)


def _shares(view: ListPage, found: Figure) -> bars.BarChart:
    """An empty row has no link: it is empty because of another filter on stars."""
    rows = [
        BarRow(word, number, percent(number, found.n), view.link(stars=[stars]) if number else None, "warn")
        for stars, word in STAR_WORDS.items()
        for number in [found.distribution[int(stars)]]
    ]
    return bars.distribution(rows, BarHeads("Stars", "Ratings"), title="Stars of these ratings")


ROUTES = [index]
