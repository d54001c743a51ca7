"""Exported hours: rounded once, when they are written."""

from datetime import timedelta
from decimal import Decimal

import pytest

from app.host.attendance.written_hours import decimal, hours_and_minutes


@pytest.mark.parametrize(
    ("worked", "as_decimal", "as_minutes"),
    [
        (timedelta(), "0.00", "0:00"),
        (timedelta(hours=8, minutes=30), "8.50", "8:30"),
        (timedelta(hours=8), "8.00", "8:00"),
        (timedelta(minutes=5), "0.08", "0:05"),
        (timedelta(minutes=20), "0.33", "0:20"),
        (timedelta(minutes=40), "0.67", "0:40"),
        (timedelta(hours=120, minutes=5), "120.08", "120:05"),
        (timedelta(hours=1200), "1200.00", "1200:00"),
        (timedelta(seconds=18), "0.01", "0:00"),  # half a hundredth of an hour
        (timedelta(seconds=17, microseconds=999_999), "0.00", "0:00"),
        (timedelta(seconds=54), "0.02", "0:01"),  # 1.5 hundredths: half always goes up, never to the even one
        (timedelta(seconds=30), "0.01", "0:01"),  # half a minute
        (timedelta(seconds=29, microseconds=999_999), "0.01", "0:00"),
        (timedelta(hours=7, minutes=59, seconds=30), "7.99", "8:00"),
        (timedelta(hours=7, minutes=59, seconds=42), "8.00", "8:00"),
        (timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999), "24.00", "24:00"),
    ],
)
def test_the_nearest_step_and_half_a_step_goes_up(worked: timedelta, as_decimal: str, as_minutes: str) -> None:
    assert (str(decimal(worked)), hours_and_minutes(worked)) == (as_decimal, as_minutes)


def test_a_sum_is_written_from_exact_times_and_not_from_rounded_rows() -> None:
    rows = [timedelta(minutes=20)] * 3
    assert decimal(sum(rows, timedelta())) == Decimal("1.00")
    assert sum(decimal(row) for row in rows) == Decimal("0.99")
