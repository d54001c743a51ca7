"""Small drawings: bars the size of a word, and the shades of a heat map. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.charts.scale import Tick, place, scale_to, short

SHADES = 9
# A day of few punches still shows.
LEAST_HEIGHT = 6.0
_FILLED = 0.76


@dataclass(frozen=True, slots=True)
class SparkBar:
    x: str
    y: str
    width: str
    height: str
    empty: bool


@dataclass(frozen=True, slots=True)
class Spark:
    """What the macro `visuals.spark` prints. Its axis is told in words below it: from 0 to `top`."""

    bars: tuple[SparkBar, ...]
    top: str


def spark(values: Sequence[int]) -> Spark:
    """Side by side, up to a round number."""
    scale, room = scale_to(max(values, default=0)), 100 / (len(values) or 1)
    bars = tuple(_bar(n * room, room * _FILLED, scale.share(value)) for n, value in enumerate(values))
    return Spark(bars, short(scale.top))


def _bar(x: float, width: float, height: float) -> SparkBar:
    drawn = max(height, LEAST_HEIGHT)
    return SparkBar(place(x), place(100 - drawn), place(width), place(drawn), empty=not height)


@dataclass(frozen=True, slots=True)
class HeatCell:
    value: int
    title: str
    shade: int = 0


@dataclass(frozen=True, slots=True)
class HeatRow:
    label: str
    cells: tuple[HeatCell, ...]

    @property
    def short(self) -> str:
        return self.label[:3]

    @property
    def rest(self) -> str:
        return self.label[3:]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What the macro `visuals.heatmap` prints. `steps` are the shades of the legend:
    (shade, the number that it begins with)."""

    title: str
    unit: str
    columns: Sequence[str]
    rows: tuple[HeatRow, ...]
    legend: tuple[tuple[int, Tick], ...]


def heat_map(rows: Sequence[HeatRow], columns: Sequence[str], *, title: str, unit: str) -> HeatMap:
    """Each cell as dark as its share of a round number that none is above."""
    scale = scale_to(max((cell.value for row in rows for cell in row.cells), default=0))
    shaded = tuple(
        HeatRow(row.label, tuple(HeatCell(cell.value, cell.title, shade(cell.value, scale.top)) for cell in row.cells))
        for row in rows
    )
    values = range(0, scale.top + 1, scale.step)
    legend = tuple((shade(value, scale.top), tick) for value, tick in zip(values, scale.ticks(), strict=True))
    return HeatMap(title, unit, columns, shaded, legend)


def shade(value: int, top: int) -> int:
    """0 for nothing, 1 to SHADES for what there is."""
    return -(-SHADES * value // top) if top else 0
