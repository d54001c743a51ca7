"""How figures are rounded: half up, in decimals."""

from decimal import Decimal

import pytest

from app.counting import mean, near, nearest, percent, rounded


@pytest.mark.parametrize(
    ("value", "places", "written"),
    [
        (0.5, 0, "1"),
        (1.5, 0, "2"),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (2.675, 2, "2.68"),
        (0.285, 2, "0.29"),
        (1e-7, 2, "0.00"),
        (1e16, 1, "10000000000000000.0"),
        (Decimal("4.125"), 2, "4.13"),
        (Decimal("6.25"), 1, "6.3"),
        (7, 2, "7.00"),
    ],
)
def test_a_half_goes_up(value: float, places: int, written: str) -> None:
    assert str(rounded(value, places)) == written


def test_whole_numbers_and_short_floats_follow_it() -> None:
    assert [nearest(one) for one in (0.5, 1.5, 2.5, 2.4999)] == [1, 2, 3, 2]
    assert near(0.285, 2) == 0.29
    assert (percent(1, 16), mean(33, 8)) == (Decimal("6.3"), Decimal("4.13"))
    assert (percent(1, 0), mean(1, 0)) == (None, None)
