"""Days and instants in words: one row a case."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from app.dates import PageZone, day_words, days_words, local_exact, local_time, span_words, utc_time

TODAY = date(2026, 11, 24)
ZURICH = PageZone(ZoneInfo("Europe/Zurich"), TODAY)
NEW_YORK = PageZone(ZoneInfo("America/New_York"), TODAY)
NEPAL = PageZone(ZoneInfo("Asia/Kathmandu"), TODAY)
IN_UTC = PageZone(ZoneInfo("UTC"), TODAY)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "instant", "words"),
    [
        (ZURICH, "2026-11-22 22:46", "Sun 22 Nov, 23:46"),
        (ZURICH, "2026-11-22 22:46:59.9", "Sun 22 Nov, 23:46"),  # no minute is told before it is over
        (ZURICH, "2026-11-22 23:00", "Mon 23 Nov, 00:00"),  # midnight is the first minute of a day
        (ZURICH, "2026-11-22 22:59:59", "Sun 22 Nov, 23:59"),
        (ZURICH, "2026-06-30 22:00", "Wed 1 Jul, 00:00"),  # in summer two hours ahead
        (ZURICH, "2026-10-25 00:30", "Sun 25 Oct, 02:30"),  # the hour that comes twice: the first
        (ZURICH, "2026-10-25 01:30", "Sun 25 Oct, 02:30"),  # and the second
        (ZURICH, "2026-03-29 01:00", "Sun 29 Mar, 03:00"),  # after the hour that is missing
        (ZURICH, "2025-12-31 23:00", "Thu 1 Jan, 00:00"),  # this year there, whatever it is in UTC
        (NEW_YORK, "2026-01-01 04:59", "Wed 31 Dec 2025, 23:59"),  # and last year there
        (NEW_YORK, "2026-11-22 22:46", "Sun 22 Nov, 17:46"),
        (NEPAL, "2026-11-22 22:46", "Mon 23 Nov, 04:31"),
        (IN_UTC, "2027-01-01 00:00", "Fri 1 Jan 2027, 00:00"),  # a year to come is said too
        (IN_UTC, "0999-01-05 00:00", "Sat 5 Jan 999, 00:00"),
    ],
)
def test_an_instant_is_told_in_the_zone_with_its_year_where_it_is_another(
    zone: PageZone, instant: str, words: str
) -> None:
    assert zone.time(at(instant)) == words


@pytest.mark.parametrize(
    ("zone", "instant", "exact"),
    [
        (ZURICH, "2026-11-22 22:46:05", "2026-11-22 23:46:05 Europe/Zurich · 2026-11-22 22:46:05 UTC"),
        (ZURICH, "2026-10-25 01:30", "2026-10-25 02:30:00 Europe/Zurich · 2026-10-25 01:30:00 UTC"),
        (IN_UTC, "2026-11-22 22:46:05.123456", "2026-11-22 22:46:05 UTC"),
    ],
)
def test_an_instant_is_told_exactly_in_the_zone_and_in_utc(zone: PageZone, instant: str, exact: str) -> None:
    assert zone.exact(at(instant)) == exact


@pytest.mark.parametrize(("zone", "instant"), [(NEPAL, "9999-12-31 23:59:59"), (NEW_YORK, "0001-01-01 00:00:00")])
def test_an_instant_at_the_end_of_the_calendar_has_no_time_in_each_zone(zone: PageZone, instant: str) -> None:
    assert zone.exact(at(instant)).startswith(instant)
    assert zone.in_utc(at(instant)).endswith("UTC")


def test_what_is_in_utc_says_so_and_takes_its_year_from_the_day_of_the_page() -> None:
    assert ZURICH.in_utc(at("2026-11-22 22:46")) == "Sun 22 Nov, 22:46 UTC"
    assert ZURICH.in_utc(at("2025-12-31 23:30")) == "Wed 31 Dec 2025, 23:30 UTC"
    assert utc_time(at("2026-11-22 22:46"), None) == "Sun 22 Nov 2026, 22:46 UTC"


def test_today_is_the_day_of_the_zone() -> None:
    now = at("2026-12-31 23:30")
    assert PageZone.at(ZoneInfo("Europe/Zurich"), now).today == date(2027, 1, 1)
    assert PageZone.at(ZoneInfo("America/New_York"), now).today == date(2026, 12, 31)


@pytest.mark.parametrize(
    ("day", "today", "words"),
    [
        (date(2026, 11, 22), TODAY, "Sun 22 Nov"),
        (date(2026, 1, 1), TODAY, "Thu 1 Jan"),
        (date(2025, 11, 22), TODAY, "Sat 22 Nov 2025"),
        (date(2028, 2, 29), TODAY, "Tue 29 Feb 2028"),
        (date(2026, 11, 22), None, "Sun 22 Nov 2026"),
    ],
)
def test_a_day_has_its_weekday_and_its_year_where_it_is_another(day: date, today: date | None, words: str) -> None:
    assert day_words(day, today) == words


def test_the_day_of_an_instant_is_the_one_of_the_zone() -> None:
    assert ZURICH.day(at("2026-11-22 23:30")) == "Mon 23 Nov"
    assert NEW_YORK.day(at("2026-11-22 23:30")) == "Sun 22 Nov"
    assert ZURICH.day(date(2026, 11, 22)) == "Sun 22 Nov"


@pytest.mark.parametrize(
    ("first", "last", "today", "words"),
    [
        (date(2026, 11, 16), date(2026, 11, 22), TODAY, "16 – 22 Nov"),
        (date(2026, 11, 28), date(2026, 12, 4), TODAY, "28 Nov – 4 Dec"),
        (date(2025, 12, 28), date(2026, 1, 3), TODAY, "28 Dec 2025 – 3 Jan 2026"),
        (date(2025, 11, 16), date(2025, 11, 22), TODAY, "16 – 22 Nov 2025"),
        (date(2025, 11, 28), date(2025, 12, 4), TODAY, "28 Nov – 4 Dec 2025"),
        (date(2025, 11, 16), date(2026, 11, 22), TODAY, "16 Nov 2025 – 22 Nov 2026"),
        (date(2026, 11, 22), date(2026, 11, 22), TODAY, "Sun 22 Nov"),
        (date(2025, 11, 22), date(2025, 11, 22), TODAY, "Sat 22 Nov 2025"),
        (date(2026, 11, 16), date(2026, 11, 22), None, "16 – 22 Nov 2026"),
    ],
)
def test_days_say_month_and_year_once_where_both_ends_share_them(
    first: date, last: date, today: date | None, words: str
) -> None:
    assert days_words(first, last, today) == words


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-11-22 07:00", "2026-11-22 16:00", "Sun 22 Nov, 08:00–17:00"),
        ("2026-11-22 21:00", "2026-11-23 05:00", "Sun 22 Nov, 22:00 – Mon 23 Nov, 06:00"),
        ("2026-11-22 22:00", "2026-11-22 23:00", "Sun 22 Nov, 23:00 – Mon 23 Nov, 00:00"),
        ("2026-11-22 07:00", None, "Sun 22 Nov, 08:00, still open"),
    ],
)
def test_hours_say_both_days_where_they_are_two(start: str, end: str | None, words: str) -> None:
    assert span_words(at(start), at(end) if end else None, ZURICH.info, TODAY) == words


def test_a_local_time_shows_its_seconds_only_where_they_matter() -> None:
    local = datetime(2026, 11, 22, 8, 0, 5)
    assert local_time(local, TODAY) == "Sun 22 Nov, 08:00"
    assert local_exact(local, TODAY) == "Sun 22 Nov, 08:00:05"
    assert local_exact(local.replace(second=0), TODAY) == "Sun 22 Nov, 08:00"


def test_names_of_days_and_months_are_not_those_of_the_machine() -> None:
    """Once through a year, against the calendar of the standard library under the C locale."""
    for month in range(1, 13):
        day = date(2026, month, 17)
        assert day_words(day, TODAY) == f"{day:%a} 17 {day:%b}"
