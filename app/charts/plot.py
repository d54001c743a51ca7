"""A series over many days as one drawing: columns or a line, and the days before as a thin line. Pure.

Paths are drawn in a field of 1000 by 100 that is stretched; ticks and labels stand beside it, in percent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from app.charts.columns import Series
from app.charts.scale import PERCENT, Scale, Tick, place, scale_to
from app.counting import count, near

WIDTH = 1000
FILLED = 0.8
# Up to so many days each day, each second day, or each Monday has a tick; of more, each month.
DAILY, SECOND, WEEKLY = 8, 16, 92
_EDGE = 4.0


@dataclass(frozen=True, slots=True)
class PlotDay:
    """One day: in words, a value for each series, and that of its counterpart in the days before (None: not known)."""

    day: date
    title: str
    values: tuple[float | None, ...]
    before: float | None = None


@dataclass(frozen=True, slots=True)
class PlotPath:
    tone: str
    path: str


@dataclass(frozen=True, slots=True)
class DayTick:
    """`odd` ones lose their label where it is narrow."""

    label: str
    x: str
    anchor: str
    odd: bool


@dataclass(frozen=True, slots=True)
class PlotSlot:
    """Where the pointer meets a day."""

    title: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Plot:
    """What the macro `visuals.plot` prints. `before` is the path of the days before, "" for none; `said` compares with
    them, and `earlier` names them."""

    title: str
    unit: str
    series: Sequence[Series]
    filled: tuple[PlotPath, ...]
    lines: tuple[PlotPath, ...]
    before: str
    slots: tuple[PlotSlot, ...]
    ticks: tuple[Tick, ...]
    days: tuple[DayTick, ...]
    said: str = ""
    earlier: str = ""


def stacked(days: Sequence[PlotDay], series: Sequence[Series], *, title: str, unit: str, said: str = "") -> Plot:
    """A column a day, its values on each other in the order of `series`."""
    peaks = [max(sum(value or 0 for value in one.values), one.before or 0) for one in days]
    scale = scale_to(max(peaks, default=0))
    filled = tuple(
        PlotPath(part.tone, columns([one.values for one in days], n, scale)) for n, part in enumerate(series)
    )
    return Plot(
        title, unit, series, filled, (), _steps(days, scale), *_frame(days, scale.ticks()), said, _earlier(days)
    )


def rates(days: Sequence[PlotDay], series: Series, *, title: str, unit: str, said: str = "") -> Plot:
    """A line of percents, the first value of each day; a day without one is a gap."""
    values = [one.values[0] for one in days]
    drawn = PlotPath(series.tone, line(values))
    before = line([one.before for one in days])
    return Plot(title, unit, (series,), (), (drawn,), before, *_frame(days, PERCENT.ticks(" %")), said, _earlier(days))


def _earlier(days: Sequence[PlotDay]) -> str:
    return f"{count(len(days), 'day', 'days')} earlier" if any(one.before is not None for one in days) else ""


def _frame(
    days: Sequence[PlotDay], ticks: tuple[Tick, ...]
) -> tuple[tuple[PlotSlot, ...], tuple[Tick, ...], tuple[DayTick, ...]]:
    room = WIDTH / (len(days) or 1)
    slots = tuple(PlotSlot(one.title, _short(n * room), _short(room)) for n, one in enumerate(days))
    return slots, ticks, tuple(day_ticks([one.day for one in days]))


def columns(rows: Sequence[Sequence[float | None]], part: int, scale: Scale) -> str:
    """The columns of one part; a row is what stands on each other in one place."""
    room = WIDTH / (len(rows) or 1)
    drawn = []
    for n, values in enumerate(rows):
        value, below = values[part] or 0, sum(value or 0 for value in values[:part])
        if value:
            top, height, width = 100 - scale.share(below + value), scale.share(value), room * FILLED
            drawn.append(
                f"M{_short(n * room + (room - width) / 2)} {_short(top)}"
                f"h{_short(width)}v{_short(height)}h{_short(-width)}z"
            )
    return "".join(drawn)


def _steps(days: Sequence[PlotDay], scale: Scale) -> str:
    """A level a day, each tied to the next; a day that is not known is a gap."""
    room, drawn, is_open = WIDTH / (len(days) or 1), [], False
    for n, one in enumerate(days):
        if one.before is not None:
            y = _short(100 - scale.share(one.before))
            drawn.append(f"V{y}" if is_open else f"M{_short(n * room)} {y}")
            drawn.append(f"H{_short((n + 1) * room)}")
        is_open = one.before is not None
    return "".join(drawn)


def line(values: Sequence[float | None]) -> str:
    """Through the middle of each day; one that stands alone is a dash."""
    room, drawn, is_open = WIDTH / (len(values) or 1), [], False
    for n, value in enumerate(values):
        if value is not None:
            x, y = (n + 0.5) * room, _short(100 - PERCENT.share(value))
            alone = not is_open and (n + 1 == len(values) or values[n + 1] is None)
            drawn.append(
                f"M{_short(x - room / 4)} {y}h{_short(room / 2)}"
                if alone
                else f"{'L' if is_open else 'M'}{_short(x)} {y}"
            )
        is_open = value is not None
    return "".join(drawn)


def day_ticks(days: Sequence[date]) -> Iterator[DayTick]:
    """Ticks at round days: each, each second, Mondays, or the first of each month.
    `days` are in order, without a gap."""
    chosen = [n for n, day in enumerate(days) if _is_round(n, day, len(days))]
    for number, n in enumerate(chosen):
        x = 100 * (n + 0.5) / len(days)
        anchor = "start" if x < _EDGE else "end" if x > 100 - _EDGE else "middle"
        yield DayTick(_day_label(days[n], len(days)), place(x), anchor, bool(number % 2))


def _is_round(n: int, day: date, length: int) -> bool:
    if length <= SECOND:
        return length <= DAILY or n % 2 == 0
    return day.weekday() == 0 if length <= WEEKLY else day.day == 1


def _day_label(day: date, length: int) -> str:
    if length <= WEEKLY:
        return f"{day.day} {day:%b}"
    return f"{day:%b %Y}" if day.month == 1 else f"{day:%b}"


def _short(value: float) -> float:
    """In the letters that a page has to carry; whole numbers without a point."""
    rounded = near(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded
