"""What a value is in a cell of Excel."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from app.web.excel.cells import LONGEST_TEXT, cell

ZURICH = ZoneInfo("Europe/Zurich")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (10**15 - 1, 10**15 - 1),
        (10**15, "1000000000000000"),
        (0.5, 0.5),
        (Decimal("8.50"), 8.5),
        ("007", "007"),
        ("=1+1", "=1+1"),
        ("https://example.org", "https://example.org"),
        (["a", "b"], "a, b"),
        ((), ""),
        (date(2026, 11, 25), ("day", 46351.0)),
        (date(1900, 2, 28), "1900-02-28"),
        (datetime(2026, 11, 25, 12), ("time", 46351.5)),  # a time without a zone is meant as it stands
        (datetime(2026, 11, 25, 11, tzinfo=UTC), ("time", 46351.5)),
        (datetime(2026, 11, 25, 7, tzinfo=timezone(timedelta(hours=-4))), ("time", 46351.5)),
        (datetime(1899, 1, 1, 8), "1899-01-01 08:00:00"),
        (timedelta(hours=30), ("span", 1.25)),
    ],
)
def test_a_value_becomes_what_excel_counts_with(value: object, written: object) -> None:
    found = cell(value, ZURICH)
    assert (type(found), found) == (type(written), written)


@pytest.mark.parametrize("instant", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_ends_of_the_calendar_are_told_too(instant: datetime) -> None:
    assert cell(instant, ZoneInfo("America/New_York" if instant.year == 1 else "Asia/Tokyo")) is not None


@pytest.mark.parametrize("letter", ["a", "🙂"])
def test_a_text_is_cut_where_excel_would_refuse_the_file(letter: str) -> None:
    units = len(letter.encode("utf-16-le")) // 2
    fits = letter * (LONGEST_TEXT // units)
    assert cell(fits, ZURICH) == fits
    cut = cell(fits + letter * 2, ZURICH)
    assert isinstance(cut, str)
    assert cut.endswith(f"{letter}…")
    assert len(cut.encode("utf-16-le")) // 2 <= LONGEST_TEXT
