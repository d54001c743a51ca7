"""Days as instants: UTC unless a zone is named, and as long as the clock makes them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import DateTime, column

from app.db.days import on_days, utc_day

BERLIN = ZoneInfo("Europe/Berlin")
AT = column("at", DateTime(timezone=True))


def bounds(condition: Any) -> list[datetime]:
    """The instants of a condition, in UTC."""
    return [value.astimezone(UTC) for value in condition.compile().params.values()]


def test_both_days_are_included_and_either_end_may_be_open() -> None:
    first, last = date(2026, 11, 20), date(2026, 11, 21)
    begin, end = datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC)
    assert bounds(on_days(AT, (first, last))) == [begin, end]
    assert bounds(on_days(AT, (first, None))) == [begin]
    assert bounds(on_days(AT, (None, last))) == [end]
    assert bounds(on_days(AT, (None, None))) == []


@pytest.mark.parametrize("zone", [UTC, BERLIN, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")], ids=str)
def test_the_ends_of_the_calendar_are_open(zone: Any) -> None:
    assert bounds(on_days(AT, (date.min, date.max), zone)) == []
    assert len(bounds(on_days(AT, (date.min + timedelta(days=1), date.max - timedelta(days=1)), zone))) == 2


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 7, 1), 24), (date(2026, 10, 25), 25)])
def test_a_day_is_as_long_as_the_clock_of_its_zone_makes_it(day: date, hours: int) -> None:
    begin, end = bounds(on_days(AT, (day, day), BERLIN))
    assert end - begin == timedelta(hours=hours)


def test_the_day_of_an_instant_is_that_of_utc() -> None:
    assert utc_day(datetime(2026, 11, 22, 0, 30, tzinfo=BERLIN)) == date(2026, 11, 21)
