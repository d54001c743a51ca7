"""Bars that lie: a row for each answer, terminal or state, on one axis; and one bar of all parts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from app.charts.scale import HALVES, PERCENT, Scale, Tick, place, scale_to
from app.counting import percent, percent_label


@dataclass(frozen=True, slots=True)
class BarRow:
    """`percent` None: unknown. `before` is what the bar was in the days before, None for not known. `note` is a second
    line below the label, `hint` shows on hover, and `cells` stand in the columns after the number."""

    label: str
    value: int
    percent: Decimal | None = None
    url: str | None = None
    tone: str = "accent"
    note: str = ""
    hint: str = ""
    before: float | None = None
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """`before` is the place of a mark on the bar, or None."""

    row: BarRow
    width: str
    before: str | None


@dataclass(frozen=True, slots=True)
class BarHeads:
    """The headings: `what` stands above the labels, `unit` above the numbers, `more` above each further cell."""

    what: str
    unit: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BarChart:
    """What the macro `visuals.bars` prints. `said` compares with the days before;
    `earlier` names the marks on the bars."""

    title: str
    heads: BarHeads
    rows: tuple[DrawnRow, ...]
    ticks: tuple[Tick, ...]
    said: str = ""
    earlier: str = ""

    def cells(self, row: BarRow) -> list[tuple[str, str]]:
        """The further cells of a row with their headings."""
        return list(zip(self.heads.more, row.cells, strict=True))


def distribution(rows: Sequence[BarRow], heads: BarHeads, *, title: str, said: str = "", earlier: str = "") -> BarChart:
    """Bars as long as each row's percent, which is the first of the further cells."""
    shares = [replace(row, cells=(percent_label(row.percent), *row.cells)) for row in rows]
    drawn = tuple(_drawn(row, HALVES, float(row.percent or 0)) for row in shares)
    named = replace(heads, more=("Share", *heads.more))
    return BarChart(title, named, drawn, HALVES.ticks(" %"), said, earlier)


def ranking(rows: Sequence[BarRow], heads: BarHeads, *, title: str, said: str = "", earlier: str = "") -> BarChart:
    """Bars as long as each row's value, on an axis to a round number."""
    scale = scale_to(max((max(row.value, row.before or 0) for row in rows), default=0), most=2)
    drawn = tuple(_drawn(row, scale, row.value) for row in rows)
    return BarChart(title, heads, drawn, scale.ticks(), said, earlier)


def _drawn(row: BarRow, scale: Scale, length: float) -> DrawnRow:
    before = place(scale.share(row.before)) if row.before is not None else None
    return DrawnRow(row, place(scale.share(length)), before)


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
