"""Bars that lie: a row for each answer, terminal or state, on one axis; and one bar of all parts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.charts.scale import HALVES, PERCENT, Tick, place, scale_to
from app.counting import percent


@dataclass(frozen=True, slots=True)
class BarRow:
    """`percent` None: unknown. `note` is a second line below the label."""

    label: str
    value: int
    percent: Decimal | None = None
    url: str | None = None
    tone: str = "accent"
    note: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DrawnRow:
    row: BarRow
    width: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """What the macros `visuals.distribution` and `visuals.ranking` print. `what` is the heading of the labels, `unit` that of the numbers."""

    title: str
    what: str
    unit: str
    rows: tuple[DrawnRow, ...]
    ticks: tuple[Tick, ...]


def distribution(rows: Sequence[BarRow], *, title: str, what: str, unit: str) -> BarChart:
    """Bars as long as each row's percent."""
    drawn = tuple(DrawnRow(row, place(HALVES.share(float(row.percent or 0)))) for row in rows)
    return BarChart(title, what, unit, drawn, HALVES.ticks(" %"))


def ranking(rows: Sequence[BarRow], *, title: str, what: str, unit: str) -> BarChart:
    """Bars as long as each row's value, on an axis to a round number."""
    scale = scale_to(max((row.value for row in rows), default=0), most=2)
    drawn = tuple(DrawnRow(row, place(scale.share(row.value))) for row in rows)
    return BarChart(title, what, unit, drawn, scale.ticks())


@dataclass(frozen=True, slots=True)
class StatePart:
    """`state` is the fixed word that decides the colour."""

    label: str
    value: int
    url: str
    state: str


@dataclass(frozen=True, slots=True)
class DrawnPart:
    part: StatePart
    x: str
    width: str
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class StateBar:
    """What the macro `visuals.state_bar` prints; `drawn` are the parts that are not empty."""

    title: str
    unit: str
    total: int
    parts: tuple[DrawnPart, ...]
    ticks: tuple[Tick, ...]

    @property
    def drawn(self) -> tuple[DrawnPart, ...]:
        return tuple(one for one in self.parts if one.part.value)


def state_bar(parts: Sequence[StatePart], *, title: str, unit: str) -> StateBar:
    """All parts as one bar, side by side; together they are 100 %."""
    total, before, drawn = sum(part.value for part in parts), 0, []
    for part in parts:
        drawn.append(DrawnPart(part, _part_of(before, total), _part_of(part.value, total), percent(part.value, total)))
        before += part.value
    return StateBar(title, unit, total, tuple(drawn), PERCENT.ticks(" %"))


def _part_of(value: int, total: int) -> str:
    return place(100 * value / total if total else 0)
