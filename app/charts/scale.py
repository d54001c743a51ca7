"""Round numbers along an axis, and where values stand between them. Pure."""

from dataclasses import dataclass

from app.counting import near

MOST_STEPS = 4
_ROUND = (1, 2, 5)
_SHORT_FROM = 10_000
_SIZES = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


@dataclass(frozen=True, slots=True)
class Tick:
    """`x` is its place from the left, `y` the same from the top; both are SVG lengths.
    `anchor` keeps its label inside the drawing."""

    label: str
    x: str
    y: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from 0 to `top` with a tick at each `step`."""

    step: int
    top: int

    def share(self, value: float) -> float:
        """0..100 along the axis; what lies outside stands at its end."""
        return min(100.0, max(0.0, 100 * value / self.top))

    def y(self, value: float) -> str:
        """From the top, as columns need it."""
        return place(100 - self.share(value))

    def ticks(self, unit: str = "") -> tuple[Tick, ...]:
        """`unit` follows each label: " %"."""
        return tuple(self._tick(value, unit) for value in range(0, self.top + 1, self.step))

    def _tick(self, value: int, unit: str) -> Tick:
        anchor = "start" if value == 0 else "end" if value == self.top else "middle"
        return Tick(f"{short(value)}{unit}", place(self.share(value)), self.y(value), anchor)


PERCENT = Scale(25, 100)
# Beside a label and numbers there is room for three ticks.
HALVES = Scale(50, 100)


def scale_to(peak: float, most: int = MOST_STEPS) -> Scale:
    """The axis for values up to `peak`: at most `most` steps of 1, 2 or 5 times a power of ten, all whole numbers."""
    step = _step(peak, most)
    return Scale(step, max(1, -int(-peak // step)) * step)


def _step(peak: float, most: int) -> int:
    power = 1
    while True:
        for one in _ROUND:
            if one * power * most >= peak:
                return one * power
        power *= 10


def place(share: float) -> str:
    """A share of 100 as an SVG length, so that nothing stretches at any width: `33.33%`."""
    return f"{near(share, 2):g}%"


def short(value: int) -> str:
    """A round number in the few letters that an axis has room for: `1,500`, `12k`, `2.5M`."""
    if value < _SHORT_FROM:
        return f"{value:,}"
    size, letter = next((size, letter) for size, letter in _SIZES if value >= size)
    return f"{value / size:g}{letter}"
