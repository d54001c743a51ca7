"""The drawings of `/clock_analytics`: series, bars and the heat map, each against the days before. No database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from app.charts import bars, plot, small
from app.charts.bars import BarHeads, BarRow
from app.charts.columns import Series
from app.charts.compared import Noun, PeriodPair, Share, compare, compare_shares, signed
from app.charts.plot import PlotDay
from app.charts.small import HeatCell, HeatRow
from app.clock.figures.analytics import Shape
from app.clock.figures.earlier import DayFigures
from app.counting import count, percent, percent_label
from app.dates import WEEKDAYS, day_words
from app.web.formats import number
from app.web.templating import with_query

CODES = {
    "check_in": "Check In",
    "check_out": "Check Out",
    "break_out": "Break Out",
    "break_in": "Break In",
    "overtime_in": "Overtime In",
    "overtime_out": "Overtime Out",
    "unknown": "Unknown",
}
TONES = {
    "check_in": "ok",
    "check_out": "info",
    "break_out": "series-5",
    "break_in": "series-8",
    "overtime_in": "series-4",
    "overtime_out": "series-3",
    "unknown": "mute",
}
LATE_TONES = ("ok", "ok", "info", "warn", "bad", "mute")
PUNCH = Noun("punch", "punches")
# How late punches arrived is counted from the punches. For a longer range this is not done twice.
MOST_LATE_DAYS = 31


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the drawings are made from: the shown days (as figures/status.py gives them), figures of the days before,
    and why these are not known in full, or ""."""

    days: Sequence[Mapping[str, Any]]
    before: Mapping[date, DayFigures]
    pair: PeriodPair
    unknown: str

    @property
    def earlier(self) -> str:
        """The name of the days before in a legend or a heading; "" where they are not compared."""
        if self.unknown or self.pair.earlier is None:
            return ""
        return f"{count(self.pair.length, 'day', 'days')} earlier"

    @property
    def punches_since(self) -> date | None:
        """Since when punches themselves are counted for a comparison;
        None when they are not, or not all are stored any longer."""
        if not self.earlier or self.pair.length > MOST_LATE_DAYS or any(one.frozen for one in self.before.values()):
            return None
        return self.pair.earlier[0] if self.pair.earlier else None

    def counterpart(self, day: date) -> DayFigures | None:
        """None when the days before are not compared."""
        return self.before.get(day - timedelta(days=self.pair.length), DayFigures()) if self.earlier else None

    def day_of(self, shown: Mapping[str, Any]) -> date:
        return date.fromisoformat(shown["date"])


def punches(drawn: Drawn) -> plot.Plot:
    series = [Series(label, TONES[name]) for name, label in CODES.items()]
    totals = {drawn.day_of(one): one["total"] for one in drawn.days}
    totals |= {day: one.total for day, one in drawn.before.items()}
    return plot.stacked(
        [_punches_on(drawn, one) for one in drawn.days],
        series,
        title="Punches per day, by code",
        unit="Punches a day",
        said=compare(drawn.pair, totals, PUNCH, unknown=drawn.unknown),
    )


def _punches_on(drawn: Drawn, shown: Mapping[str, Any]) -> PlotDay:
    day = drawn.day_of(shown)
    before = drawn.counterpart(day)
    parts = ", ".join(f"{number(shown[name])} {label}" for name, label in CODES.items() if shown[name])
    title = f"{day_words(day, drawn.pair.today)}: {count(shown['total'], 'punch', 'punches')}{': ' + parts if parts else ''}"
    if before is not None:
        title += f"; {drawn.earlier}: {number(before.total)}"
    return PlotDay(day, title, tuple(shown[name] for name in CODES), before.total if before is not None else None)


def rate(drawn: Drawn) -> plot.Plot:
    """The share of each day's punches that are in attendance records."""
    now = _share((drawn.day_of(one), one["imported"], one["total"]) for one in drawn.days)
    before = _share((day, one.imported, one.total) for day, one in drawn.before.items())
    return plot.rates(
        [_rate_on(drawn, one) for one in drawn.days],
        Series("In attendance records", "ok"),
        title="Import rate",
        unit="Share of a day's punches that are in attendance records",
        said=compare_shares(
            drawn.pair, now(drawn.pair.whole), before(drawn.pair.counterparts), PUNCH, unknown=drawn.unknown
        ),
    )


def _rate_on(drawn: Drawn, shown: Mapping[str, Any]) -> PlotDay:
    day, now = drawn.day_of(shown), percent(shown["imported"], shown["total"])
    before = drawn.counterpart(day)
    earlier = percent(before.imported, before.total) if before is not None else None
    title = f"{day_words(day, drawn.pair.today)}: " + (
        f"{now} % of {count(shown['total'], 'punch', 'punches')}" if now is not None else "no punches"
    )
    if earlier is not None:
        title += f"; {drawn.earlier}: {earlier} %"
    return PlotDay(day, title, (_float(now),), _float(earlier))


def week(hours: Mapping[tuple[int, int], int]) -> small.HeatMap:
    """A weekday a row, 24 cells each."""
    rows = [
        HeatRow(name, tuple(_hour(name, hour, hours.get((day, hour), 0)) for hour in range(24)))
        for day, name in enumerate(WEEKDAYS, 1)
    ]
    named = [f"{hour:02}" for hour in range(24)]
    return small.heat_map(rows, named, title="Punches by weekday and hour", unit="punches")


def _hour(day: str, hour: int, value: int) -> HeatCell:
    return HeatCell(value, f"{day} {hour:02}–{hour + 1:02} h: {number(value)} punches")


def late(drawn: Drawn, shape: Shape) -> bars.BarChart:
    compared = drawn.punches_since is not None and any(one.punches for one in shape.late_before)
    earlier = {one.label: one.percent for one in shape.late_before} if compared else {}
    rows = [
        BarRow(
            one.label,
            one.punches,
            one.percent,
            tone=tone,
            before=_float(earlier.get(one.label)),
            cells=(percent_label(earlier.get(one.label)),) if compared else (),
        )
        for one, tone in zip(shape.late, LATE_TONES, strict=False)
    ]
    heads = BarHeads("After the punch", "Punches", (drawn.earlier.capitalize(),) if compared else ())
    return bars.distribution(rows, heads, title="Lateness of uploads", earlier=drawn.earlier if compared else "")


def terminals(drawn: Drawn, rows: Sequence[Any], *, links: bool) -> bars.BarChart:
    """Each name leads to its punches, with `links`."""
    days = {"from": drawn.pair.first, "to": drawn.pair.last}

    def url(key: str) -> str | None:
        return with_query("/clock_transactions", {"terminal": key, **days}) if links and key else None

    return _groups(drawn, [(row, row.name or "No terminal named", url(row.key)) for row in rows], "Terminal")


def departments(drawn: Drawn, rows: Sequence[Any]) -> bars.BarChart:
    return _groups(drawn, [(row, row.name or "Without a department", None) for row in rows], "Department")


def _groups(drawn: Drawn, rows: Sequence[tuple[Any, str, str | None]], what: str) -> bars.BarChart:
    """The change is that of the days that are over."""
    made = [
        BarRow(
            name,
            row.total,
            url=url,
            cells=(
                number(row.imported),
                percent_label(percent(row.imported, row.total)),
                *((signed(row.now, row.before),) if drawn.earlier else ()),
            ),
        )
        for row, name, url in rows
    ]
    heads = BarHeads(what, "Punches", ("In records", "Share", *(("Change",) if drawn.earlier else ())))
    return bars.ranking(made, heads, title=f"Punches by {what.lower()}", said=_meant(drawn))


def _meant(drawn: Drawn) -> str:
    """What the column of changes compares."""
    if not drawn.earlier or drawn.pair.whole is None:
        return ""
    until = "" if drawn.pair.last < drawn.pair.today else " until yesterday"
    return f"Change: punches{until} against those {drawn.pair.when}."


def _share(figures: Any) -> Any:
    """Sums of parts and wholes by days: called with a range, it gives the share of it."""
    found = list(figures)

    def of(days: tuple[date, date] | None) -> Share:
        inside = [(part, whole) for day, part, whole in found if days and days[0] <= day <= days[1]]
        return Share(sum(part for part, _ in inside), sum(whole for _, whole in inside))

    return of


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
