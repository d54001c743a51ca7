"""`/clock_analytics`: punches of a range of local days by code, hour of the week, terminal and department; how many
became records, and how late they arrived."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.charts.compared import PeriodPair
from app.clock.figures import analytics as figures
from app.clock.figures import earlier
from app.clock.figures import status as status_figures
from app.clock.models import Connection, DailyTotal
from app.clock.pages import analytics_charts as charts
from app.clock.pages.analytics_charts import CODES, Drawn
from app.periods import PERIOD_OPTIONS
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec, between, word_in_force
from app.web.pages import page
from app.web.templating import with_query

URL = "/clock_analytics"
SEES = Requires("clock.analytics", module="clock")
DAYS, MOST_DAYS = 30, 366
QUICK = {"7 days": 7, "30 days": 30, "90 days": 90, "1 year": 365}
RANGE = Filter("", "Days", between(DailyTotal.local_date), kind="range")
BASE = select(*DailyTotal.__table__.c).where(DailyTotal.dimension == "all")
FIGURES = {**CODES, "total": "Punches", "imported": "In records", "employees": "People", "terminals": "Terminals"}
# What a file holds: the days of the range, oldest first.
EXPORT = ListSpec(
    name="clock_analytics",
    label="days",
    url=URL,
    key=DailyTotal.local_date,
    sort="date",
    columns=(
        Column("date", "Date", lambda row: row.local_date, DailyTotal.local_date),
        *(Column(name, label, attrgetter(name)) for name, label in FIGURES.items()),
    ),
    filters=(RANGE,),
    empty=Empty("chart-bar", "No punches", ""),
)


@get(URL, guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    zone = await ctx.zone()
    today = zone.today
    spec = replace(EXPORT, today=today)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, BASE, kind)
    wanted = lists.asked(spec, ctx.request.query_params)
    first, last, problem = _range(wanted.values.get("") or (None, None), today)
    problem = wanted.errors.get("", "") or problem
    pair = PeriodPair(first, last, today)
    recent = await ctx.read_recent(partial(_figures, pair=pair, zone=zone.name))
    read = recent.found
    drawn, shape = read.drawn, read.shape
    may_see_punches = ctx.may("clock.transactions")
    return await page(
        ctx,
        "clock/analytics.html",
        first=first,
        last=last,
        problem=problem,
        period="" if problem else word_in_force(RANGE, ctx.request.query_params),
        periods=PERIOD_OPTIONS,
        quick=[_quick(label, days, (first, last), today) for label, days in QUICK.items()],
        exports={kind: with_query(URL, {"from": first, "to": last, "export": kind}) for kind in exports.KINDS},
        daily=read.daily,
        is_connected=read.daily["totals"]["total"] or await ctx.db.scalar(select(Connection.id)),
        as_of=recent.as_of,
        codes=CODES,
        punches=charts.punches(drawn),
        rate=charts.rate(drawn),
        week=charts.week(shape.hours),
        late=charts.late(drawn, shape),
        terminals=charts.terminals(drawn, read.terminals, links=may_see_punches),
        departments=charts.departments(drawn, read.departments),
        may_see_punches=may_see_punches,
    )


@dataclass(frozen=True, slots=True)
class RangeFigures:
    """All that the page shows of a range of days. `daily` as `status.daily_totals` has it."""

    daily: dict[str, Any]
    drawn: Drawn
    shape: figures.Shape
    terminals: Sequence[Row[Any]]
    departments: Sequence[Row[Any]]


async def _figures(db: AsyncSession, *, pair: PeriodPair, zone: str) -> RangeFigures:
    daily = await status_figures.daily_totals(db, pair.first, pair.last)
    before = await earlier.by_day(db, pair.earlier)
    drawn = Drawn(daily["days"], before, pair, await earlier.unknown(db, pair, zone))
    return RangeFigures(
        daily=daily,
        drawn=drawn,
        shape=await figures.shape(db, pair.first, pair.last, drawn.punches_since),
        terminals=await figures.by_terminal(db, pair),
        departments=await figures.by_department(db, pair),
    )


def _range(given: tuple[date | None, date | None], today: date) -> tuple[date, date, str]:
    """The days that are shown, and what was wrong with those that were asked for."""
    last = given[1] or (min(_days_on(given[0], DAYS - 1), today) if given[0] else today)
    first = given[0] or _days_on(last, 1 - DAYS)
    if first > last:
        return _days_on(last, 1 - DAYS), last, "The first day is after the last day."
    if (last - first).days >= MOST_DAYS:
        return last - timedelta(days=MOST_DAYS - 1), last, f"At most {MOST_DAYS} days; these are the last of them."
    return first, last, ""


def _days_on(day: date, days: int) -> date:
    """The day so many days later or earlier. It stops at the first and the last day of the calendar, because an address
    may name those."""
    return date.fromordinal(min(max(day.toordinal() + days, date.min.toordinal()), date.max.toordinal()))


def _quick(label: str, days: int, shown: tuple[date, date], today: date) -> dict[str, Any]:
    first = today - timedelta(days=days - 1)
    return {
        "label": label,
        "url": with_query(URL, {"from": first, "to": today}),
        "active": shown == (first, today),
        "count": None,
    }


ROUTES = [index]
