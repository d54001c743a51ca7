"""A column for each of some days, stacked by what the day's things are. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.charts.scale import Scale, Tick, place, scale_to
from app.counting import count

# Where the days do not fit side by side, a row of them begins at these; the axis stands before each row.
_ROWS = (7, 15)


@dataclass(frozen=True, slots=True)
class Series:
    """A part of the columns. `tone`: ok, info, warn, bad, note, mute or accent."""

    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class DayColumn:
    """One day: what stands below its column, where it leads, what it says in words, and a value for each series. `name`
    is the day in the table; `before` the total of its counterpart in the days before, None when that is not known."""

    name: str
    label: str
    sub: str
    url: str
    title: str
    values: tuple[int, ...]
    before: int | None = None

    @property
    def total(self) -> int:
        return sum(self.values)


@dataclass(frozen=True, slots=True)
class Segment:
    tone: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class DrawnDay:
    """`title` says the day in words, with its counterpart. `begins` is true where the axis may have to stand before the
    day. `before` is the height of the counterpart."""

    day: DayColumn
    title: str
    segments: tuple[Segment, ...]
    begins: bool
    before: str | None


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """What the macro `visuals.day_bars` prints. `unit` says what the numbers of the axis count: "punches a day". `said`
    compares the days with those before; `earlier` names these in the legend, "" where none of them is drawn."""

    title: str
    unit: str
    series: Sequence[Series]
    days: tuple[DrawnDay, ...]
    ticks: tuple[Tick, ...]
    said: str
    earlier: str

    def cells(self, day: DayColumn) -> list[tuple[Series, int]]:
        """A day's row of the table."""
        return list(zip(self.series, day.values, strict=True))


def day_columns(
    days: Sequence[DayColumn], series: Sequence[Series], *, title: str, unit: str, said: str = ""
) -> ColumnChart:
    """`days` are oldest first, their values in the order of `series`, which is from the bottom up."""
    scale = scale_to(max((max(day.total, day.before or 0) for day in days), default=0))
    earlier = f"{count(len(days), 'day', 'days')} earlier" if any(day.before is not None for day in days) else ""
    drawn = tuple(
        DrawnDay(
            day,
            day.title if day.before is None else f"{day.title}; {earlier}: {day.before:,}",
            segments(day.values, series, scale),
            any(n % row == 0 for row in _ROWS),
            scale.y(day.before) if day.before is not None else None,
        )
        for n, day in enumerate(days)
    )
    return ColumnChart(title, unit, series, drawn, scale.ticks(), said, earlier)


def segments(values: Sequence[int], series: Sequence[Series], scale: Scale) -> tuple[Segment, ...]:
    """One on top of the other, zeros left out."""
    found, below = [], 0
    for part, value in zip(series, values, strict=True):
        below += value
        if value:
            found.append(Segment(part.tone, scale.y(below), place(scale.share(value))))
    return tuple(found)
