"""How long a program that asked too often is told to wait: never less than it takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.tokens import wait_s


@pytest.mark.parametrize(
    ("left", "per_minute", "seconds"),
    [(0.0, 60, 1), (0.5, 600, 1), (0.0, 40, 2), (0.1, 40, 2), (0.0, 7, 9), (0.9, 1, 6), (0.0, 1, 60)],
)
def test_the_wait_is_rounded_up(left: float, per_minute: int, seconds: int) -> None:
    assert wait_s(left, per_minute) == seconds


@given(st.floats(0, 0.999), st.integers(1, 10_000))
def test_after_the_wait_one_request_fits_again(left: float, per_minute: int) -> None:
    assert left + wait_s(left, per_minute) * per_minute / 60 >= 1 - 1e-9
