"""Punches that wait for an employee, counted from what is kept: always what a plain count over the punches says."""

import asyncio
import random
from collections.abc import Iterator

import pytest
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.mirror import gone
from app.clock.models import PersonCount, Punch, WaitingCount
from app.clock.punches import daily_totals
from app.clock.punches.waiting_counts import WAITING
from app.db.session import Database
from tests.clock.punches import kept_counts
from tests.clock.punches.workplace import CODES, PEOPLE, Workplace
from tests.clock.resolved import import_all

# Each way in which a punch comes to wait, or waits no longer, or waits in another week. No employee has the code 4.
# Lines as `Workplace` carries them out, and `judged` for an import.
WAYS = {
    "it comes": "taps 4 I 08:00",
    "it is judged": "taps 4 I 08:00, O 17:00; judged",
    "somebody is bound": "taps 4 I 08:00, O 17:00; judged; bind 4 Cleo; judged",
    "the link ends": "bind 4 Cleo; taps 4 I 08:00; judged; clear 4; judged",
    "it is settled": "taps 4 I 08:00; judged; settle 4 08:00; unsettle 4 08:00",
    "the server has it no more, and again": "taps 4 I 08:00; judged; goes 4 08:00; judged; comes_back 4 08:00; judged",
    "it comes again under another id": "taps 4 I 08:00; judged; goes 4 08:00; comes_back_under_another_id 4 08:00",
    "the server gives it another week": "taps 4 I 08:00; judged; edit 4 08:00 to I 2026-04-20 08:00",
    "the server gives it another code": "taps 4 I 08:00; judged; edit 4 08:00 to code 3; judged",
    "the server says that it opened a door": "taps 4 I 08:00; judged; says_door 4 08:00; judged",
    "its terminal becomes a door": "taps 4 I 08:00; judged; kind T1 access; judged; kind T1 attendance; judged",
    "the zone moves it into another week": "taps 4 I 23:30; judged; zone_of_cloud Asia/Tokyo; judged",
    "its day is locked": "taps 4 I 08:00; lock Mon; judged; unlock Mon; judged",
    "it is retried": "taps 4 I 08:00; judged; retry 4 08:00; judged",
    "it is taken back": "bind 4 Cleo; taps 4 I 08:00, O 17:00; judged; take_back 4; judged",
    "it is purged": "taps 4 I 08:00, I 2026-04-20 08:00; judged; purge 2026-04-01",
    "its owner becomes inactive": "bind 4 Cleo; taps 4 I 08:00; judged; deactivate Cleo; judged; activate Cleo; judged",
}


class Counting(Workplace):
    async def judged(self, _: str) -> None:
        await import_all(self.database, self.now)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_whatever_becomes_of_a_punch_it_is_counted_right(database: Database, way: str) -> None:
    place = Counting(database)
    await place.open()
    for line in way.split("; "):
        place.done.append(line)
        await place.counts_right(line)


def some_lines(chance: random.Random) -> Iterator[str]:
    days = ("Mon", "Sun", "2026-03-08", "2026-04-20")
    taps: list[tuple[str, str]] = []
    for _ in range(16):
        verb = chance.choice(
            ("taps", "taps", "judged", "bind", "clear", "settle", "goes", "comes_back", "edit", "retry")
        )
        code, at = chance.choice(taps) if taps else ("", "")
        if verb == "judged":
            yield "judged"
        elif verb in {"bind", "clear"}:
            yield f"{verb} {chance.choice(CODES)}" + (f" {chance.choice(PEOPLE)}" if verb == "bind" else "")
        elif verb == "taps" or not taps:
            code, at = chance.choice(CODES), f"{chance.choice(days)} {chance.randrange(24):02}:{len(taps):02}"
            taps.append((code, at))
            yield f"taps {code} {chance.choice('IO')} {at}"
        elif verb == "edit":
            moved = f"{chance.choice(days)} {chance.randrange(24):02}:{30 + len(taps):02}"
            taps[taps.index((code, at))] = (code, moved)
            yield f"edit {code} {at} to {chance.choice('IO')} {moved}"
        else:
            yield f"{verb} {code} {at}"


@pytest.mark.parametrize("seed", range(6))
async def test_random_histories_are_counted_right(database: Database, seed: int) -> None:
    place = Counting(database)
    await place.open()
    for line in some_lines(random.Random(seed)):
        place.done.append(line)
        try:
            await place.counts_right(line)
        except Exception as refused:
            if isinstance(refused, AssertionError):
                raise
            place.done[-1] += f" ({refused})"


async def count_as_the_version_before(db: AsyncSession) -> None:
    """It knew of no `waiting`."""
    rows = (
        await db.execute(delete(PersonCount).returning(PersonCount.week, PersonCount.emp_code, PersonCount.total))
    ).all()
    await db.execute(insert(PersonCount), [row._asdict() for row in rows])


async def test_weeks_of_a_version_before_are_counted_fresh_and_then_caught_up(database: Database) -> None:
    place = Counting(database)
    await place.open()
    await place.carries_out("taps 4 I 08:00, I 2026-04-20 08:00, O 2026-04-20 09:00")
    await daily_totals.roll_up(database, "main")
    async with database.transaction() as db:
        await count_as_the_version_before(db)
        await kept_counts.refuse(db, ["unknown everywhere"])
    await daily_totals.roll_up(database, "main")
    async with database.transaction() as db:
        await kept_counts.refuse(db, ["caught up"])
        assert await db.scalar(select(func.count()).where(PersonCount.waiting.is_(None))) == 0
        assert await db.scalar(text("SELECT count(*) FROM clock_stale_days")) == 0
        await db.execute(update(WaitingCount).values(punches=7))
        told = await db.scalar(text(f"SELECT sum(punches) FROM ({WAITING}) AS waiting"))
    assert told == 7, "it is what is kept that is read"


async def test_a_change_that_has_not_ended_is_counted_with_its_day_also_where_that_was_noted_before(
    database: Database,
) -> None:
    place = Counting(database)
    await place.open()
    await place.carries_out("taps 4 I 08:00, I 09:00")
    async with database.transaction() as db:
        assert await db.scalar(text("SELECT count(*) FROM clock_stale_days")) == 1
        await gone.mark(db, (await db.scalars(select(Punch.id).limit(1))).all(), place.now)
        counting = asyncio.create_task(daily_totals.roll_up(database, "main"))
        await asyncio.sleep(0.3)
    await counting
    async with database.transaction() as db:
        await kept_counts.refuse(db, ["one of two is gone"])
