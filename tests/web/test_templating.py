"""How templates write values."""

from datetime import UTC, datetime, timedelta

import pytest

from app.web.formats import ago

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(0), "0 s ago"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=119, seconds=59), "119 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(hours=47, minutes=59), "47 h ago"),
        (timedelta(days=2), "2 d ago"),
        (timedelta(days=1234), "1,234 d ago"),
        (timedelta(minutes=-14, seconds=-30), "in 14 min"),
        (timedelta(hours=-30), "in 30 h"),
    ],
)
def test_a_distance_is_told_in_one_unit(before: timedelta, words: str) -> None:
    assert ago(NOW - before, NOW) == words


def test_no_instant_is_a_dash() -> None:
    assert ago(None, NOW) == "–"
