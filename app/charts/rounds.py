"""What the rounds of a survey came to, one after the other: a line for a figure, columns for people. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.charts import plot
from app.charts.columns import Series
from app.charts.plot import WIDTH, DayTick, Plot, PlotPath, PlotSlot
from app.charts.scale import Tick, place, scale_to
from app.counting import near

# Of more rounds each second, third … one has a label, so that they stay apart.
_MOST_LABELS = 8
_MOST_STEPS = 5


@dataclass(frozen=True, slots=True)
class RoundPoint:
    """`label` stands below the axis, `title` says the round in words. No value: no person said anything that counts."""

    label: str
    title: str
    value: float | None


def figure(points: Sequence[RoundPoint], bounds: tuple[int, int], *, title: str, unit: str, tone: str = "info") -> Plot:
    """A line through all rounds, along an axis from the one bound to the other; a round without a value is a gap."""
    low, high = bounds
    shares = [None if one.value is None else 100 * (one.value - low) / (high - low) for one in points]
    step = scale_to(high - low, _MOST_STEPS).step
    ticks = tuple(_tick(value, 100 * (value - low) / (high - low)) for value in range(low, high + 1, step))
    line = PlotPath(tone, plot.line(shares))
    return Plot(title, unit, (Series(unit, tone),), (), (line,), "", _slots(points), ticks, _labels(points))


def people(points: Sequence[RoundPoint], *, title: str, unit: str, tone: str = "ok") -> Plot:
    """A column for each round."""
    values = [(one.value or 0,) for one in points]
    scale = scale_to(max((value for (value,) in values), default=0))
    filled = PlotPath(tone, plot.columns(values, 0, scale))
    return Plot(title, unit, (Series(unit, tone),), (filled,), (), "", _slots(points), scale.ticks(), _labels(points))


def _tick(value: int, share: float) -> Tick:
    return Tick(f"{value:,}".replace("-", "−"), place(share), place(100 - share))


def _slots(points: Sequence[RoundPoint]) -> tuple[PlotSlot, ...]:
    room = WIDTH / (len(points) or 1)
    return tuple(PlotSlot(one.title, near(n * room, 1), near(room, 1)) for n, one in enumerate(points))


def _labels(points: Sequence[RoundPoint]) -> tuple[DayTick, ...]:
    each = -(-len(points) // _MOST_LABELS) or 1
    chosen = range(0, len(points), each)
    middle = (100 * (n + 0.5) / len(points) for n in chosen)
    return tuple(
        DayTick(points[n].label, place(x), "middle", bool(number % 2))
        for number, (n, x) in enumerate(zip(chosen, middle, strict=True))
    )
