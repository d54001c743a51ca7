"""Rows counted by day: what is left without some of them."""

from datetime import date

from app.db.located import Counted

MON, TUE, WED = date(2026, 11, 16), date(2026, 11, 17), date(2026, 11, 18)


def test_what_is_left_holds_no_empty_day_and_never_less_than_none() -> None:
    everybody = Counted([(WED, 5), (TUE, 3), (MON, 1)])
    # On Monday another one came between the two counts.
    left = everybody.less(Counted([(TUE, 3), (MON, 2)]))
    assert left.days == [(WED, 5)]
    assert everybody.less(Counted([])).days == everybody.days
    assert left.locate(4, 2) == ([WED], 4)
