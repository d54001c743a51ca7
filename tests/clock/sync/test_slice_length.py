"""How many days a slice has: tables and properties, without a database."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.days import DAY, DaySpan, gaps
from app.clock.sync.slice_length import LONGEST_SLICE, slice_until

FIRST = date(2026, 1, 1)
DAYS = st.integers(0, 60).map(lambda number: FIRST + number * DAY)


@settings(max_examples=200)
@given(DAYS, st.integers(1, 400), st.one_of(st.none(), st.floats(0, 1e7)), st.integers(1, 5000))
def test_a_slice_goes_forward_and_never_over_the_end(first, days, density, page):
    end = first + days * DAY
    until = slice_until(first, end, density, page)
    assert first < until <= end
    assert (until - first).days <= LONGEST_SLICE


@pytest.mark.parametrize(
    ("rows_a_day", "rows_a_page", "days"),
    [(None, 50, 7), (100, 50, 10), (0.5, 1, 20), (1, 50, 31), (1e6, 50, 1)],
)
def test_a_slice_is_about_twenty_pages_and_at_first_a_week(rows_a_day, rows_a_page, days):
    assert slice_until(FIRST, FIRST + 400 * DAY, rows_a_day, rows_a_page) == FIRST + days * DAY


@settings(max_examples=50)
@given(st.integers(1, 400), st.floats(1, 1e6), st.integers(1, 5000))
def test_slices_cover_a_stretch_without_a_gap(days, density, page):
    first, end = FIRST, FIRST + days * DAY
    covered = []
    while first < end:
        until = slice_until(first, end, density, page)
        covered.append(DaySpan(first, until))
        first = until
    assert gaps(DaySpan(FIRST, end), covered) == []
