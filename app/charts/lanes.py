"""Marks along a line that would hide each other stand in lanes above it. Pure."""

from collections.abc import Sequence

# In thousandths of the line: so wide is a mark on a phone.
MARK = 60
LANES = 3


def lanes(places: Sequence[float], apart: float = MARK) -> list[int]:
    """The lane of each mark, 0 next to the line; `places` are 0..1000, ascending.
    Where all lanes are full, marks share the last."""
    ends = [-apart] * (LANES - 1)
    found = []
    for x in places:
        lane = next((n for n, end in enumerate(ends) if x - end >= apart), LANES - 1)
        if lane < len(ends):
            ends[lane] = x
        found.append(lane)
    return found
