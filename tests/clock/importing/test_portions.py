"""A large import is divided by days, the newest first; what it decides is what one that judges all at once decides."""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial

import pytest
from sqlalchemy import select

from app.clock.importing import due, import_due
from app.clock.importing.batch import import_batch
from app.clock.importing.due import DateSpan, portions
from app.clock.models import Punch, StaleDay
from app.clock.punches import daily_totals
from app.db.session import Database
from tests.clock.punches import missing_marks
from tests.clock.punches.workplace import CODES, Workplace
from tests.clock.resolved import import_all

BOUND = CODES[:3]
FIRST, DAYS = date(2026, 3, 2), 20
# Shifts end late, take two days, stay open, or have breaks.
SHIFTS = (
    "I 08:00, O 17:00",
    "I 08:00, bo 12:00, bi 13:00, O 17:00",
    "I 22:00, O +06:00",
    "I 08:00",
    "O 16:00",
    "I 20:00, O +23:00",
    "",
)


def test_a_portion_has_enough_punches_and_days_and_the_last_one_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "PORTION", 10)
    monkeypatch.setattr(due, "PORTION_DAYS", timedelta(days=3))
    day = [FIRST - timedelta(days=n) for n in range(40)]
    assert list(portions([])) == []
    assert list(portions([(day[0], 3)])) == [DateSpan(day[0], day[0])]
    assert list(portions([(day[0], 50), (day[1], 1), (day[3], 1), (day[4], 2), (day[9], 9)])) == [
        DateSpan(day[3], day[0]),
        DateSpan(day[9], day[4]),
    ]
    assert list(portions([(one, 4) for one in day[:8]])) == [DateSpan(day[3], day[0]), DateSpan(day[7], day[4])]
    assert list(portions([(one, 1) for one in day[:12]])) == [DateSpan(day[9], day[0]), DateSpan(day[11], day[10])]


def taps_of(chance: random.Random, codes: Sequence[str] = CODES) -> list[str]:
    lines = []
    for n in range(DAYS):
        day = FIRST + timedelta(days=n)
        for code in codes:
            taps = []
            for tap in filter(None, chance.choice(SHIFTS).split(", ")):
                sign, at = tap.split()
                on = day + timedelta(days=1) if at.startswith("+") else day
                hour, minute = at.removeprefix("+").split(":")
                taps.append(f"{sign} {on} {hour}:{(int(minute) + chance.randrange(9)):02}")
            if taps:
                lines.append(f"taps {code} {', '.join(taps)}")
    return lines


@pytest.mark.parametrize("seed", range(4))
async def test_a_divided_import_decides_as_one_that_is_not(
    database: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Workplace(database)
    await place.open()
    for line in taps_of(random.Random(seed)):
        await place.carries_out(line)
    async with database.transaction() as db:
        only_tried = await db.begin_nested()
        await import_batch(db, CODES, place.now)
        whole = await missing_marks._seen(db)
        await only_tried.rollback()
    monkeypatch.setattr(due, "PORTION", 5)
    monkeypatch.setattr(due, "PORTION_DAYS", timedelta(days=seed % 3))
    await import_all(database, place.now)
    async with database.transaction() as db:
        divided = await missing_marks._seen(db)
        assert not (await db.scalars(select(Punch.id).where(Punch.judge_at <= place.now))).all()
    assert divided == whole


async def test_each_portion_is_counted_up_and_new_punches_before_all(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what pages count from the punches is never more than one portion."""
    place = Workplace(database)
    await place.open()
    for line in taps_of(random.Random(7), BOUND):
        await place.carries_out(line)
    monkeypatch.setattr(due, "PORTION", 20)
    monkeypatch.setattr(due, "PORTION_DAYS", timedelta(days=3))
    seen: list[dict[date, bool]] = []

    async def look(done: int, of: int) -> bool:
        async with database.transaction() as db:
            rows = await db.execute(select(StaleDay.local_date, StaleDay.outcomes_only))
            seen.append({row.local_date: row.outcomes_only for row in rows})
        return True

    await import_due.import_due(partial(database.transaction, "main"), now=place.now, progress=look)
    assert len(seen) > 3
    assert all(all(stale.values()) for stale in seen)
    assert all((max(stale) - min(stale)).days < DAYS / 2 for stale in seen)
    assert [max(stale) for stale in seen] == sorted((max(stale) for stale in seen), reverse=True)
    assert 0 < await daily_totals.roll_up(database, "main") < DAYS / 2


async def test_a_large_import_that_is_stopped_is_followed_by_one_that_judges_the_rest(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Workplace(database)
    await place.open()
    for line in taps_of(random.Random(8), BOUND):
        await place.carries_out(line)
    monkeypatch.setattr(due, "PORTION", 20)
    monkeypatch.setattr(due, "PORTION_DAYS", timedelta(days=3))
    told: list[int] = []

    async def stop(done: int, of: int) -> bool:
        told.append(of)
        return len(told) < 2

    stopped = await import_due.import_due(partial(database.transaction, "main"), now=place.now, progress=stop)
    assert (stopped.complete, len(told)) == (False, 2)
    async with database.transaction() as db:
        left = (await db.scalars(select(Punch.local_date).where(Punch.judge_at <= place.now))).all()
        judged = (await db.scalars(select(Punch.local_date).where(Punch.import_outcome.is_not(None)))).all()
    assert left
    assert min(judged) > min(left)
    assert (await import_due.import_due(partial(database.transaction, "main"), now=place.now)).complete
    async with database.transaction() as db:
        assert await db.scalar(select(Punch.id).where(Punch.judge_at <= place.now).limit(1)) is None
