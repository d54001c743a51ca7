"""How many days a long stretch of the past is read at a time: the length of its next slice. Pure."""

from datetime import date

from app.clock.days import DAY

SLICE_PAGES = 20
LONGEST_SLICE = 31
FIRST_SLICE = 7
TOO_MANY = 3


def slice_until(first: date, end: date, rows_a_day: float | None, rows_a_page: int) -> date:
    """Where a slice from `first` ends: about twenty pages of it, at least a day, at most a month.

    When the server's paging proves unstable, a slice is walked again;
    its size also limits how deep the server must page.
    """
    if rows_a_day is None:
        days = FIRST_SLICE
    else:
        days = int(min(LONGEST_SLICE, SLICE_PAGES * rows_a_page / max(rows_a_day, 1)))
    return min(end, first + max(1, days) * DAY)
