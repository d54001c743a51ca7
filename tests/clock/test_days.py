"""Which days a sync reads: tables and properties, without a database."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.days import DAY, DaySpan, asked_bounds, check_is_due, days_to_check, gaps, halves, live_first
from app.clock.figures.completeness import judge
from app.clock.mirror.cursors import WalkPosition, known_spans, live_reach
from app.clock.models import Cursor
from app.clock.problems.silence import is_silent
from app.clock.settings import ClockSettings

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = date(2026, 1, 1)
DAYS = st.integers(0, 60).map(lambda number: FIRST + number * DAY)
SPANS = st.builds(lambda a, b: DaySpan(min(a, b), max(a, b)), DAYS, DAYS)


def days_of(spans):
    return {span.first + number * DAY for span in spans for number in range(span.days)}


@settings(max_examples=200)
@given(SPANS, st.lists(SPANS, max_size=6))
def test_gaps_are_exactly_the_days_that_are_not_known(wanted, known):
    found = gaps(wanted, known)
    assert days_of(found) == days_of([wanted]) - days_of(known)
    assert sum(span.days for span in found) == len(days_of(found))
    assert found == sorted(found)


@settings(max_examples=100)
@given(SPANS)
def test_halves_are_the_whole(span):
    left, right = halves(span)
    assert (left.first, left.until, right.until) == (span.first, right.first, span.until)
    assert right.days - left.days in {0, 1}


def test_bounds_are_asked_so_that_leaving_them_out_loses_nothing():
    start, end = asked_bounds(date(2026, 3, 1), date(2026, 3, 2))
    assert start < datetime(2026, 3, 1) < datetime(2026, 3, 1, 23, 59, 59) < end
    assert asked_bounds(date(2026, 3, 1), None)[1] is None


@pytest.mark.parametrize(
    ("horizon", "first"),
    [(date(2026, 1, 1), date(2026, 3, 7)), (date(2026, 3, 9), date(2026, 3, 9)), (date(2026, 5, 1), date(2026, 3, 10))],
)
def test_the_live_window_begins_three_days_back_or_at_the_horizon(horizon, first):
    assert live_first(date(2026, 3, 10), horizon) == first


@pytest.mark.parametrize(
    ("now", "last", "due"),
    [
        (datetime(2026, 3, 10, 1, 59), date(2026, 3, 9), False),
        (datetime(2026, 3, 10, 2, 0), date(2026, 3, 9), True),
        (datetime(2026, 3, 10, 23, 0), date(2026, 3, 10), False),
        (datetime(2026, 3, 10, 12, 0), None, True),
    ],
)
def test_the_check_is_due_once_a_night(now, last, due):
    assert check_is_due(now, last) is due


def test_only_days_that_were_read_are_checked():
    known = [DaySpan(date(2026, 3, 1), date(2026, 3, 3)), DaySpan(date(2026, 3, 8), date(2026, 3, 9))]
    assert days_to_check(date(2026, 3, 10), known) == [date(2026, 3, 8), date(2026, 3, 2), date(2026, 3, 1)]
    assert len(days_to_check(date(2026, 3, 10), [DaySpan(date(2020, 1, 1), date(2027, 1, 1))])) == 31


def live(starts_on, covered_until):
    return Cursor(kind="live", window="live", starts_on=starts_on, covered_until=covered_until)


def test_one_more_walk_over_the_same_rows_begins_at_the_first_page():
    began = datetime(2026, 3, 1, tzinfo=BERLIN)
    assert WalkPosition(7, 9, 20, b"x", 1, began).again() == WalkPosition(0, 0, None, None, 2, began)


def test_a_live_window_that_continues_keeps_its_beginning():
    before = live(date(2026, 3, 1), datetime(2026, 3, 9, 10, tzinfo=BERLIN))
    assert live_reach(before, date(2026, 3, 7), BERLIN) == (date(2026, 3, 1), None)


def test_a_live_window_after_a_long_pause_begins_again_and_leaves_what_was_read():
    before = live(date(2026, 3, 1), datetime(2026, 3, 9, 10, tzinfo=BERLIN))
    reach, left = live_reach(before, date(2026, 3, 20), BERLIN)
    assert reach == date(2026, 3, 20)
    # three days less than was read: what was uploaded late is read with the gap
    assert left == DaySpan(date(2026, 3, 1), date(2026, 3, 6))


def test_known_days_are_those_of_the_backfill_so_far_and_of_the_live_window():
    rows = [
        Cursor(kind="backfill", window="b", starts_on=date(2026, 1, 1), ends_on=date(2026, 2, 1), done_until=date(2026, 1, 9)),
        live(date(2026, 3, 1), datetime(2026, 3, 9, 10, tzinfo=BERLIN)),
        Cursor(kind="asked", window="a", starts_on=date(2025, 1, 1), ends_on=date(2025, 2, 1), done_until=date(2025, 2, 2)),
    ]  # fmt: skip
    assert known_spans(rows, BERLIN) == [
        DaySpan(date(2026, 1, 1), date(2026, 1, 9)),
        DaySpan(date(2026, 3, 1), date(2026, 3, 10)),
    ]


def test_a_weekend_is_no_silence():
    friday, monday = (datetime(2026, 11, day, 18, tzinfo=BERLIN) for day in (20, 23))
    assert not is_silent(friday, monday, BERLIN, 24)
    assert is_silent(friday, monday + timedelta(hours=1), BERLIN, 24)
    assert is_silent(None, monday, BERLIN, 24)


NOW = datetime(2026, 3, 10, 12, tzinfo=BERLIN)
SETTINGS = ClockSettings(history_start=date(2026, 1, 1))


def complete_live(**changes):
    row = live(date(2026, 3, 1), datetime(2026, 3, 10, 11, 50, tzinfo=BERLIN))
    row.state = "complete"
    for name, value in changes.items():
        setattr(row, name, value)
    return row


def backfill(done_until):
    return Cursor(
        kind="backfill", window="backfill:2026-01-01", state="open", starts_on=date(2026, 1, 1),
        ends_on=date(2026, 2, 28), done_until=done_until,
    )  # fmt: skip


def midnight(month, day):
    return datetime(2026, month, day, tzinfo=BERLIN)


READ = backfill(date(2026, 3, 1))
DIFFERS = Cursor(kind="check", window="check:2026-02-20", state="open", starts_on=date(2026, 2, 20), note="5 of 6.")


@pytest.mark.parametrize(
    ("rows", "offline", "up_to", "because"),
    [
        ([], [], None, "Nothing was read yet"),
        ([live(None, None)], [], None, "Nothing was read yet"),
        ([complete_live(), READ], [], NOW - timedelta(minutes=10), None),
        ([complete_live(), backfill(date(2026, 2, 1))], [], midnight(2, 1), "History of 1 – 28 Feb"),
        ([complete_live()], [], midnight(1, 1), "History of 1 Jan – "),
        ([complete_live(), READ, DIFFERS], [], midnight(2, 20), "Fri 20 Feb is to be read again: 5 of 6."),
        ([complete_live(), READ], [("Gate", midnight(3, 8))], midnight(3, 8), "Gate is offline since Sun 8 Mar"),
        ([complete_live(state="open", note="7 of 9."), READ], [], NOW - timedelta(minutes=10), "7 of 9."),
    ],
)
def test_the_mirror_is_complete_until_the_first_thing_that_may_be_missing(rows, offline, up_to, because):
    found, why = judge(rows, offline, SETTINGS, BERLIN, NOW)
    assert found == up_to
    assert (why is None) if because is None else because in why
