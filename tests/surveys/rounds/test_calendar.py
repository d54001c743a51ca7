"""On which days rounds open: a table of cases, and what holds for any rule, zone and moment."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.surveys.rounds import calendar, repeats
from app.surveys.rounds.repeats import Repeat

UTC_ZONE, ZURICH = ZoneInfo("UTC"), ZoneInfo("Europe/Zurich")


def every(every: str, starts_on: str, **fields: Any) -> Repeat:
    return Repeat(every, **{"open_days": 1, "starts_on": date.fromisoformat(starts_on), **fields})


DAYS = [
    # (rule, its first days)
    (every("week", "2026-12-30"), "2026-12-30 2027-01-06 2027-01-13"),
    (every("month", "2026-11-15"), "2026-11-15 2026-12-15 2027-01-15"),
    (every("month", "2027-01-31"), "2027-01-31 2027-02-28 2027-03-31 2027-04-30"),
    (every("month", "2027-12-30"), "2027-12-30 2028-01-30 2028-02-29 2028-03-30"),
    (every("quarter", "2026-11-30"), "2026-11-30 2027-02-28 2027-05-30"),
    (every("quarter", "2026-08-31"), "2026-08-31 2026-11-30 2027-02-28 2027-05-31"),
    (every("days", "2028-02-27", days=2), "2028-02-27 2028-02-29 2028-03-02"),
    (every("days", "2026-11-25", days=1), "2026-11-25 2026-11-26"),
]


@pytest.mark.parametrize(("repeat", "days"), DAYS)
def test_the_days_of_the_first_rounds(repeat: Repeat, days: str) -> None:
    numbers = range(1, len(days.split()) + 1)
    assert [calendar.day_of(repeat, number).isoformat() for number in numbers] == days.split()


WINDOWS = [
    # (zone, day, open days, from, until): in UTC
    ("UTC", "2026-11-25", 7, "2026-11-25T00:00", "2026-12-02T00:00"),
    ("Europe/Zurich", "2026-10-24", 2, "2026-10-23T22:00", "2026-10-25T23:00"),  # 49 hours: the clocks go back
    ("Europe/Zurich", "2027-03-27", 2, "2027-03-26T23:00", "2027-03-28T22:00"),  # 47 hours
    ("Pacific/Auckland", "2026-11-25", 1, "2026-11-24T11:00", "2026-11-25T11:00"),
    ("America/Havana", "2026-03-08", 1, "2026-03-08T05:00", "2026-03-09T04:00"),  # the day begins at one o'clock
    ("America/Havana", "2026-11-01", 1, "2026-11-01T04:00", "2026-11-02T05:00"),  # midnight comes twice
]


@pytest.mark.parametrize(("zone", "day", "open_days", "first", "last"), WINDOWS)
def test_a_round_opens_and_ends_when_its_days_begin_there(
    zone: str, day: str, open_days: int, first: str, last: str
) -> None:
    opened = calendar.opened(every("month", day, open_days=open_days), 1, ZoneInfo(zone))
    told = [at.replace(tzinfo=None).isoformat(timespec="minutes") for at in (opened.starts_at, opened.ends_at)]
    assert told == [first, last]


MONTHLY = every("month", "2026-06-01", open_days=7, times=6)
DUE = [
    # (last round, now, the round that is due)
    ("2026-05-31", "2026-05-31T23:59", None),  # not yet
    ("2026-05-31", "2026-06-01T00:00", "2026-06-01"),
    ("2026-06-01", "2026-06-01T00:01", None),  # it opened already
    ("2026-06-01", "2026-07-01T00:00", "2026-07-01"),
    ("2026-06-01", "2026-07-07T23:59", "2026-07-01"),  # late, and it still has a minute
    ("2026-06-01", "2026-07-08T00:00", None),  # missed as a whole
    ("2026-06-01", "2026-10-03T12:00", "2026-10-01"),  # of four that were missed the last one alone
    ("2026-10-01", "2026-11-01T00:00", "2026-11-01"),
    ("2026-11-01", "2026-12-01T00:00", None),  # it was the sixth
]


@pytest.mark.parametrize(("after", "now", "day"), DUE)
def test_which_round_is_due(after: str, now: str, day: str | None) -> None:
    found = calendar.due(MONTHLY, date.fromisoformat(after), datetime.fromisoformat(now + "+00:00"), UTC_ZONE)
    assert (found and found.day.isoformat()) == day


def test_the_day_is_the_one_of_the_zone() -> None:
    before_midnight_in_utc = datetime(2026, 5, 31, 22, tzinfo=UTC)
    assert calendar.due(MONTHLY, date.min, before_midnight_in_utc, UTC_ZONE) is None
    found = calendar.due(MONTHLY, date.min, before_midnight_in_utc, ZURICH)
    assert found is not None
    assert found.starts_at == before_midnight_in_utc


def test_another_zone_opens_no_round_twice() -> None:
    """The workspace moves westwards while it is the first of the month in the east alone."""
    now = datetime(2026, 5, 31, 22, tzinfo=UTC)
    opened = calendar.due(MONTHLY, date.min, now, ZURICH)
    assert opened is not None
    for hours in range(72):
        assert calendar.due(MONTHLY, opened.day, now + timedelta(hours=hours), UTC_ZONE) is None


REPEATS = st.builds(
    lambda every, days, starts_on, times: Repeat(every, 1, starts_on, days if every == "days" else None, times),
    st.sampled_from([*repeats.EVERY]),
    st.integers(1, 40),
    st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.none() | st.integers(1, 40),
)
ZONES = st.sampled_from(["UTC", "Europe/Zurich", "America/Havana", "Pacific/Kiritimati", "America/St_Johns"]).map(
    ZoneInfo
)
MOMENTS = st.datetimes(datetime(2019, 1, 1), datetime(2034, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))


def longest(repeat: Repeat) -> Repeat:
    """Open for as many days as the rule lets it be."""
    days = {"week": 7, "month": 28, "quarter": 89}.get(repeat.every, repeat.days or 1)
    wide = replace(repeat, open_days=days)
    assert list(repeats.problems(wide)) == []
    assert [one.field for one in repeats.problems(replace(wide, open_days=days + 1))] == ["repeat.open_days"]
    return wide


@settings(max_examples=200, deadline=None)
@given(REPEATS, ZONES, st.integers(1, 60))
def test_a_round_ends_before_the_next_one_opens(repeat: Repeat, zone: ZoneInfo, number: int) -> None:
    one, following = (calendar.opened(longest(repeat), n, zone) for n in (number, number + 1))
    assert one.starts_at < one.ends_at <= following.starts_at


@settings(max_examples=200, deadline=None)
@given(REPEATS, st.dates(date(2019, 1, 1), date(2034, 1, 1)))
def test_the_latest_round_is_found_as_counting_them_would(repeat: Repeat, on: date) -> None:
    counted = 0
    while calendar.day_of(repeat, counted + 1) <= on and counted != repeat.times:
        counted += 1
    assert calendar.latest(repeat, on) == counted


@settings(max_examples=100, deadline=None)
@given(REPEATS, ZONES, MOMENTS, st.lists(st.integers(0, 90 * 24), max_size=25))
def test_however_seldom_one_looks_each_round_opens_once_and_only_while_it_is_open(
    repeat: Repeat, zone: ZoneInfo, now: datetime, pauses: list[int]
) -> None:
    after, seen = date.min, []
    for hours in [0, *pauses]:
        now += timedelta(hours=hours)
        wanted = calendar.following(repeat, after, now, zone)
        found = calendar.due(repeat, after, now, zone)
        assert (found is not None) == (wanted is not None and wanted.starts_at <= now)
        if found:
            assert found.starts_at <= now < found.ends_at
            assert found.day == calendar.day_of(repeat, found.number)
            seen.append(found.number)
            after = found.day
    assert seen == sorted(set(seen))
    assert all(number <= (repeat.times or number) for number in seen)


@settings(max_examples=200, deadline=None)
@given(REPEATS, ZONES, MOMENTS)
def test_a_version_published_now_joins_the_open_round_or_the_next(
    repeat: Repeat, zone: ZoneInfo, now: datetime
) -> None:
    found = calendar.joined(repeat, now, zone)
    if found is None:
        assert repeat.times is not None
        assert calendar.opened(repeat, repeat.times, zone).ends_at <= now
    else:
        assert now < found.ends_at
        assert found.number == 1 or calendar.opened(repeat, found.number - 1, zone).ends_at <= now


PROBLEMS = [
    (every("year", "2026-12-01"), ["repeat.every"]),
    (every("week", "2026-12-01", days=7), ["repeat.days"]),
    (every("days", "2026-12-01"), ["repeat.days"]),
    (every("days", "2026-12-01", days=367), ["repeat.days"]),
    (every("days", "2026-12-01", days=3, open_days=4), ["repeat.open_days"]),
    (every("month", "2026-12-01", open_days=0), ["repeat.open_days"]),
    (every("month", "2026-12-01", times=0), ["repeat.times"]),
    (every("month", "3000-12-01"), ["repeat.starts_on"]),
    (every("quarter", "2026-12-01", open_days=89, times=500), []),
]


@pytest.mark.parametrize(("repeat", "fields"), PROBLEMS)
def test_a_rule_out_of_bounds_is_refused_at_its_field(repeat: Repeat, fields: list[str]) -> None:
    assert [one.field for one in repeats.problems(repeat)] == fields


def test_a_rule_in_words() -> None:
    assert every("month", "2026-12-01", open_days=7, times=6).sentence == (
        "Every month from Tue 1 Dec 2026 on, each time for 7 days, 6 times"
    )
    assert every("days", "2026-12-01", days=10).sentence == "Every 10 days from Tue 1 Dec 2026 on, each time for 1 day"
    assert every("days", "2026-12-01", days=1).sentence == "Every day from Tue 1 Dec 2026 on, each time for 1 day"


@pytest.mark.parametrize(("days", "told"), [(1, "Give 1 day:"), (2, "Give 1 to 2 days:")])
def test_how_long_a_round_may_be_open_in_words(days: int, told: str) -> None:
    (problem,) = repeats.problems(every("days", "2026-12-01", days=days, open_days=days + 1))
    assert problem.message == f"{told} a round ends before the next one opens."


@given(REPEATS)
def test_a_rule_is_read_as_it_was_written(repeat: Repeat) -> None:
    assert repeats.read(repeats.written(repeat)) == repeat
