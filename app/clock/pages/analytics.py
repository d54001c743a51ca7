"""`/clock_analytics`: punches of a range of local days by code, hour of the week, terminal and department; how many became
records, and how late they arrived."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import select

from app.charts import bars, small
from app.charts.bars import BarRow
from app.charts.small import HeatCell, HeatRow
from app.clock import zones
from app.clock.figures import analytics as figures
from app.clock.figures import status as status_figures
from app.clock.models import DailyTotal
from app.web import exports, lists
from app.web.context import Context
from app.web.formats import number
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec, between
from app.web.pages import page
from app.web.templating import with_query

URL = "/clock_analytics"
SEES = Requires("clock.analytics", module="clock")
DAYS, MOST_DAYS = 30, 366
QUICK = {"7 days": 7, "30 days": 30, "90 days": 90, "1 year": 365}
RANGE = Filter("", "Days", between(DailyTotal.local_date), kind="range")
BASE = select(*DailyTotal.__table__.c).where(DailyTotal.dimension == "all")
CODES = {
    "check_in": "Check In",
    "check_out": "Check Out",
    "break_out": "Break Out",
    "break_in": "Break In",
    "overtime_in": "Overtime In",
    "overtime_out": "Overtime Out",
    "unknown": "Unknown",
}
LATE_TONES = ("ok", "ok", "info", "warn", "bad", "mute")
TONES = {"check_in": "ok", "check_out": "info", "unknown": "mute"}
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
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@get(URL, guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, EXPORT, BASE, kind)
    wanted = lists.asked(EXPORT, ctx.request.query_params)
    today = await zones.local_today(ctx.db, datetime.now(UTC))
    first, last, problem = _range(wanted.values.get("") or (None, None), today)
    problem = wanted.errors.get("", "") or problem
    daily = await status_figures.daily_totals(ctx.db, first, last)
    shape = await figures.shape(ctx.db, first, last)
    return await page(
        ctx,
        "clock/analytics.html",
        first=first,
        last=last,
        problem=problem,
        quick=[_quick(label, days, (first, last), today) for label, days in QUICK.items()],
        exports={kind: with_query(URL, {"from": first, "to": last, "export": kind}) for kind in exports.KINDS},
        daily=daily,
        codes=CODES,
        tones=TONES,
        week=_week(shape.hours),
        late=_late(shape.late),
        terminals=await figures.by_terminal(ctx.db, first, last),
        departments=await figures.by_department(ctx.db, first, last),
        may_see_punches=ctx.may("clock.transactions"),
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
    """So many days later, or earlier, as far as the calendar goes: an address may name its first day and its last."""
    return date.fromordinal(min(max(day.toordinal() + days, date.min.toordinal()), date.max.toordinal()))


def _quick(label: str, days: int, shown: tuple[date, date], today: date) -> dict[str, Any]:
    first = today - timedelta(days=days - 1)
    return {
        "label": label,
        "url": with_query(URL, {"from": first, "to": today}),
        "active": shown == (first, today),
        "count": None,
    }


def _week(hours: dict[tuple[int, int], int]) -> small.HeatMap:
    """A weekday a row, 24 cells each."""
    rows = [
        HeatRow(name, tuple(_hour(name, hour, hours.get((day, hour), 0)) for hour in range(24)))
        for day, name in enumerate(WEEKDAYS, 1)
    ]
    named = [f"{hour:02}" for hour in range(24)]
    return small.heat_map(rows, named, title="Punches by weekday and hour", unit="punches")


def _hour(day: str, hour: int, punches: int) -> HeatCell:
    return HeatCell(punches, f"{day} {hour:02}–{hour + 1:02} h: {number(punches)} punches")


def _late(shares: list[tuple[str, int, Decimal | None]]) -> bars.BarChart:
    rows = [
        BarRow(label, punches, percent, tone=tone)
        for (label, punches, percent), tone in zip(shares, LATE_TONES, strict=False)
    ]
    return bars.distribution(rows, title="Lateness of uploads", what="After the punch", unit="Punches")


ROUTES = [index]
