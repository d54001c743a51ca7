"""Days by a word: each word on ordinary days and at the ends of weeks, months and years;
and a list that is narrowed by one."""

from datetime import date

import pytest
from litestar.datastructures import MultiDict

from app.errors import Invalid
from app.periods import PERIODS
from app.web.list_spec import Filter
from tests.conftest import Browser

WEDNESDAY, MONDAY, SUNDAY = date(2026, 11, 25), date(2026, 11, 23), date(2026, 11, 29)
DAYS = Filter("", "Days", lambda days: days, kind="range")  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("word", "today", "first", "last"),
    [
        ("today", WEDNESDAY, "2026-11-25", "2026-11-25"),
        ("yesterday", WEDNESDAY, "2026-11-24", "2026-11-24"),
        ("yesterday", date(2026, 1, 1), "2025-12-31", "2025-12-31"),
        ("this-week", WEDNESDAY, "2026-11-23", "2026-11-29"),
        ("this-week", MONDAY, "2026-11-23", "2026-11-29"),
        ("this-week", SUNDAY, "2026-11-23", "2026-11-29"),
        ("last-week", MONDAY, "2026-11-16", "2026-11-22"),
        ("last-week", SUNDAY, "2026-11-16", "2026-11-22"),
        ("last-week", date(2026, 1, 1), "2025-12-22", "2025-12-28"),
        ("this-month", WEDNESDAY, "2026-11-01", "2026-11-30"),
        ("this-month", date(2026, 12, 31), "2026-12-01", "2026-12-31"),
        ("this-month", date(2028, 2, 29), "2028-02-01", "2028-02-29"),
        ("last-month", date(2026, 3, 31), "2026-02-01", "2026-02-28"),
        ("last-month", date(2026, 1, 15), "2025-12-01", "2025-12-31"),
    ],
)
def test_each_word_is_these_days(word: str, today: date, first: str, last: str) -> None:
    assert PERIODS[word].days(today) == (date.fromisoformat(first), date.fromisoformat(last))


def test_a_range_reads_a_word_and_dates_go_before_it() -> None:
    assert DAYS.read(MultiDict({"period": "yesterday"}), WEDNESDAY) == (date(2026, 11, 24), date(2026, 11, 24))
    both = MultiDict({"period": "yesterday", "from": "2026-01-02"})
    assert DAYS.read(both, WEDNESDAY) == (date(2026, 1, 2), None)
    assert DAYS.read(MultiDict({"period": " "}), WEDNESDAY) is None


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (date(2026, 11, 16), date(2026, 11, 22), "16 – 22 Nov"),
        (MONDAY, MONDAY, "Mon 23 Nov"),
        (MONDAY, None, "from Mon 23 Nov on"),
        (None, date(2025, 12, 31), "until Wed 31 Dec 2025"),
    ],
)
def test_the_days_of_a_filter_are_told_in_words(first: date | None, last: date | None, words: str) -> None:
    assert DAYS.words((first, last), WEDNESDAY) == words


@pytest.mark.parametrize(("word", "today"), [("tomorrow", WEDNESDAY), ("yesterday", None)])
def test_a_word_that_the_list_does_not_offer_is_refused(word: str, today: date | None) -> None:
    with pytest.raises(Invalid, match="one of the periods"):
        DAYS.read(MultiDict({"period": word}), today)


@pytest.mark.parametrize(
    "address",
    ["/clock_transactions", "/attendance", "/clock_logs", "/attendance/locks", "/admin/audit", "/surveys/responses", "/surveys/ratings"],
)  # fmt: skip
async def test_each_list_with_days_offers_periods_and_keeps_the_word(alice: Browser, address: str) -> None:
    page = (await alice.get(f"{address}?period=last-week")).text
    assert '<option value="last-week" selected>Last week</option>' in page
    assert "<strong>Last week, " in page
    assert 'name="from" value=""' in page
    assert "one of the periods" in (await alice.get(f"{address}?period=tomorrow")).text
