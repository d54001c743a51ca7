"""When the punches of the days before are known in full, and what is said when they are not."""

from datetime import UTC, date, datetime, timedelta

import pytest

from app.charts.compared import PeriodPair
from app.clock.figures import earlier
from app.clock.mirror import cursors
from app.clock.models import Cursor, DailyTotal
from app.db.session import Database

TODAY = date(2026, 11, 24)
PAIR = PeriodPair(date(2026, 11, 10), date(2026, 11, 23), TODAY)  # compared with 27 October to 9 November
NOW = datetime(2026, 11, 24, 3, tzinfo=UTC)


def live(since: str, until: datetime = NOW) -> Cursor:
    return Cursor(resource="transactions", kind=cursors.LIVE, starts_on=date.fromisoformat(since), covered_until=until)


def backfill(first: str, done_until: str) -> Cursor:
    return Cursor(
        resource="transactions", kind="backfill", starts_on=date.fromisoformat(first), done_until=date.fromisoformat(done_until)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "rows", "sentence"),
    [
        ("2026-10-27", [live("2026-10-27")], ""),
        ("2026-01-01", [live("2026-11-20"), backfill("2026-10-01", "2026-11-20")], ""),
        (None, [live("2026-10-01")], "there is no punch yet."),
        ("2026-10-28", [live("2026-10-01")], "the first punch is from Wed 28 Oct."),
        ("2026-01-01", [], "not all of 27 Oct – 23 Nov is read yet."),
        ("2026-01-01", [live("2026-11-01")], "not all of 27 – 31 Oct is read yet."),
        (
            "2026-01-01",
            [live("2026-10-01", NOW - timedelta(days=4))],
            "not all of 21 – 23 Nov is read yet.",
        ),
        (
            "2026-01-01",
            [live("2026-11-20"), backfill("2026-10-01", "2026-11-02")],
            "not all of 2 – 19 Nov is read yet.",
        ),
    ],
)
def test_days_are_compared_only_when_all_of_them_are_read_and_had_punches(
    first: str | None, rows: list[Cursor], sentence: str
) -> None:
    day = date.fromisoformat(first) if first else None
    assert earlier.why_unknown(PAIR, day, rows, "Europe/Berlin") == sentence


def test_today_alone_needs_only_yesterday() -> None:
    alone = PeriodPair(TODAY, TODAY, TODAY)
    assert earlier.why_unknown(alone, date(2026, 11, 23), [live("2026-11-23")], "UTC") == ""
    assert earlier.why_unknown(alone, date(2026, 11, 24), [live("2026-11-23")], "UTC") != ""


async def test_figures_and_the_first_day_are_of_one_terminal_or_of_all(database: Database) -> None:
    async with database.transaction() as db:
        for day, dimension, key, total in (
            (1, "all", "", 0), (2, "all", "", 9), (3, "all", "", 5), (3, "terminal", "T1", 4), (4, "terminal", "T2", 1),
        ):  # fmt: skip
            db.add(DailyTotal(local_date=date(2026, 11, day), dimension=dimension, key=key, total=total, imported=1))
        await db.flush()
        days = (date(2026, 11, 1), date(2026, 11, 3))
        found = await earlier.by_day(db, days)
        assert {day.day: tuple(one) for day, one in found.items()} == {
            1: (0, 1, False),
            2: (9, 1, False),
            3: (5, 1, False),
        }
        assert {day.day: one.total for day, one in (await earlier.by_day(db, days, "terminal", "T1")).items()} == {3: 4}
        assert await earlier.by_day(db, None) == {}
        assert await earlier.first_day(db) == date(2026, 11, 2)
        assert await earlier.first_day(db, "terminal", "T2") == date(2026, 11, 4)
        assert await earlier.first_day(db, "terminal", "T3") is None
