"""Figures from kept counts are exact at any moment, also on days of which only outcomes changed since they were
counted."""

import asyncio
import random
from collections.abc import Iterator
from datetime import date

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.mirror.punch_rows import Target, write_punches
from app.clock.models import StaleDay
from app.clock.parsing import ParsedPunch
from app.clock.punches import daily_totals
from app.db.session import Database
from tests.clock import mirror_store
from tests.clock.punches import kept_counts
from tests.clock.punches.test_stale_days import in_its_own_transaction, until_somebody_waits
from tests.clock.punches.workplace import CODES, PEOPLE, Workplace
from tests.clock.resolved import import_all

DAY, OTHER = date(2026, 3, 2), date(2026, 3, 3)
STEPS = 24


class Counting(Workplace):
    """Punches come as the server sends them. The days are counted up only by the line `counted`."""

    async def sends(self, text: str) -> None:
        """`sends 4 I 08:00`: a page with one new punch."""
        code, sign, moment = text.split(" ", 2)
        at = self.when(moment)
        local = at.astimezone(self.where).replace(tzinfo=None)
        new = ParsedPunch(
            remote_id=f"{code} {moment}", emp_code=code, punched_at_raw=str(local), punched_at_local=local,
            punched_at_utc=at, code=mirror_store.CODES[sign], verify=1, terminal_sn="T1", terminal_alias=None,
            temperature=None, uploaded_at_utc=None, photo_ref=None,
        )  # fmt: skip
        async with self.database.transaction() as db:
            await write_punches(db, Target(7, self.generation, by_instant=False), [new])

    async def judged(self, _: str) -> None:
        await import_all(self.database, self.now)

    async def counted(self, _: str) -> None:
        await daily_totals.roll_up(self.database, "main")
        async with self.database.transaction() as db:
            await kept_counts.refuse_totals(db, self.done)

    async def half_counted(self, _: str) -> None:
        """A rollup that was stopped after its first week."""
        async with self.database.transaction() as db:
            if (first := await db.scalar(select(StaleDay.local_date).order_by(StaleDay.local_date))) is not None:
                taken = await daily_totals._take(db, first)
                await daily_totals.count_days(db, list(taken), daily_totals.only_outcomes(taken))

    async def is_right(self, line: str) -> None:
        self.done.append(line)
        try:
            await self.carries_out(line)
        except AssertionError:
            raise
        except Exception as refused:  # noqa: BLE001 - what an act refuses in this state is no fault of the counts
            self.done[-1] += f" ({refused})"
        async with self.database.transaction() as db:
            await kept_counts.refuse(db, self.done)


def some_lines(chance: random.Random) -> Iterator[str]:
    days = ("Mon", "Tue", "Sun", "2026-04-20")
    taps: list[tuple[str, str]] = []
    verbs = (
        *("sends",) * 5, *("judged",) * 5, *("counted",) * 3, *("goes",) * 2, *("comes_back",) * 2, *("edit",) * 2, "settle", "unsettle",
        "delete", "retry", "bind", "clear", "half_counted", "comes_back_under_another_id", "zone_of_cloud", "zone_of_building", "purge",
        "use", "take_back",
    )  # fmt: skip
    for _ in range(STEPS):
        verb = chance.choice(verbs) if len(taps) > 2 else "sends"
        code, at = chance.choice(taps) if taps else ("", "")
        match verb:
            case "judged" | "counted" | "half_counted":
                yield verb
            case "sends":
                code, at = chance.choice(CODES), f"{chance.choice(days)} {chance.randrange(24):02}:{len(taps):02}"
                taps.append((code, at))
                yield f"sends {code} {chance.choice('IO')} {at}"
            case "bind":
                yield f"bind {chance.choice(CODES)} {chance.choice(PEOPLE)}"
            case "clear" | "take_back":
                yield f"{verb} {chance.choice(CODES)}"
            case "zone_of_cloud" | "zone_of_building":
                yield f"{verb} {chance.choice(('Asia/Tokyo', 'America/Lima', 'UTC'))}"
            case "purge":
                yield "purge 2026-03-03"
            case "delete":
                yield f"delete {at}"
            case "edit":
                moved = f"{chance.choice(days)} {chance.randrange(24):02}:{30 + len(taps):02}"
                taps[taps.index((code, at))] = (code, moved)
                yield f"edit {code} {at} to {chance.choice('IO')} {moved}"
            case _:
                yield f"{verb} {code} {at}"


@pytest.mark.parametrize("seed", range(12))
async def test_random_acts_are_counted_right_whenever_the_days_are_counted_up(database: Database, seed: int) -> None:
    place = Counting(database)
    await place.open()
    for line in some_lines(random.Random(seed)):
        await place.is_right(line)
    await place.is_right("judged")
    await place.is_right("counted")


# Each way in which only outcomes change, on days that were counted up.
OUTCOMES = {
    "they are judged": "judged",
    "the code loses its owner": "clear 1; judged",
    "one is settled": "judged; counted; settle 4 08:00; unsettle 4 08:00",
    "a record is deleted": "judged; counted; delete 08:00; judged",
    "the code gets another owner": "judged; counted; bind 1 Bea; judged",
    "it is taken back": "judged; counted; take_back 1; judged",
}


@pytest.mark.parametrize("way", OUTCOMES.values(), ids=OUTCOMES)
async def test_where_only_outcomes_change_the_day_is_marked_so(database: Database, way: str) -> None:
    place = Counting(database)
    await place.open()
    for line in ("sends 1 I 08:00", "sends 1 O 17:00", "sends 4 I 08:00", "counted"):
        await place.is_right(line)
    for line in way.split("; "):
        await place.is_right(line)
        assert set((await marks(database)).values()) <= {True}, place.done
    assert await marks(database) == {DAY: True}, place.done


# Each way in which a punch comes, goes or moves, on a day of which outcomes have changed since it was counted up.
PUNCHES = {
    "another one comes": "sends 4 O 09:00",
    "the server has it no more": "goes 4 08:00",
    "it comes again": "goes 4 08:00; judged; counted; retry 1 08:00; settle 4 08:00; comes_back 4 08:00",
    "it comes again under another id": "goes 4 08:00; counted; comes_back_under_another_id 4 08:00",
    "the server moves it": "edit 4 08:00 to I Wed 09:00",
    "the server gives it another code": "edit 4 08:00 to code 3",
}


@pytest.mark.parametrize("way", PUNCHES.values(), ids=PUNCHES)
async def test_where_punches_change_the_day_is_marked_in_full(database: Database, way: str) -> None:
    place = Counting(database)
    await place.open()
    for line in ("sends 1 I 08:00", "sends 1 O 17:00", "sends 4 I 08:00", "counted", "judged", *way.split("; ")):
        await place.is_right(line)
    assert (await marks(database))[DAY] is False, place.done


async def marks(database: Database) -> dict[date, bool]:
    """True where only outcomes changed."""
    async with database.transaction() as db:
        rows = await db.execute(select(StaleDay.local_date, StaleDay.outcomes_only))
        return {row.local_date: row.outcomes_only for row in rows}


async def a_full_mark(db: AsyncSession) -> None:
    await daily_totals.mark_stale(db, [DAY, OTHER])


async def a_mark_of_outcomes(db: AsyncSession) -> None:
    await daily_totals.mark_outcomes(db, [DAY])


async def a_mark_of_the_version_before(db: AsyncSession) -> None:
    await db.execute(
        text("INSERT INTO clock_stale_days (local_date) VALUES (:day) ON CONFLICT DO NOTHING"), {"day": DAY}
    )


@pytest.mark.parametrize("full", [a_full_mark, a_mark_of_the_version_before], ids=lambda one: one.__name__)
async def test_a_full_mark_wins_whichever_comes_first(database: Database, full: kept_counts.Act) -> None:
    for acts in (
        (full, a_mark_of_outcomes),
        (a_mark_of_outcomes, full),
        (full, full),
        (a_mark_of_outcomes, full, full),
    ):
        async with database.transaction() as db:
            await db.execute(text("DELETE FROM clock_stale_days"))
        for act in acts:
            await in_its_own_transaction(database, act)
        assert (await marks(database))[DAY] is False, acts


@pytest.mark.parametrize("full", [a_full_mark, a_mark_of_the_version_before], ids=lambda one: one.__name__)
async def test_a_full_mark_wins_over_one_that_another_transaction_is_about_to_make(
    database: Database, full: kept_counts.Act
) -> None:
    async with database.transaction() as db:
        await db.execute(insert(StaleDay).values(local_date=DAY, outcomes_only=True))
        other = asyncio.create_task(in_its_own_transaction(database, full))
        await until_somebody_waits(database)
    await asyncio.wait_for(other, 20)
    assert (await marks(database))[DAY] is False


async def test_of_both_marks_in_one_transaction_the_full_one_counts(database: Database) -> None:
    async with database.transaction() as db:
        await daily_totals.mark_outcomes(db, [DAY, OTHER])
        await daily_totals.mark_stale(db, [DAY])
        await daily_totals.mark_outcomes(db, [DAY])
    assert await marks(database) == {DAY: False, OTHER: True}


async def test_judging_in_batches_at_once_does_not_wait_for_the_same_days(database: Database) -> None:
    """Once a day is noted, a transaction that notes it again must not hold its row: two batches of an import note
    the same days."""
    await in_its_own_transaction(database, a_mark_of_outcomes)
    async with database.transaction() as db:
        await db.execute(daily_totals._NOTE, {"days": [DAY], "outcomes_only": [DAY]})
        other = asyncio.create_task(in_its_own_transaction(database, a_mark_of_outcomes))
        await asyncio.wait([other], timeout=5)
        assert other.done(), "it waits for the first one"
    await other
    assert await marks(database) == {DAY: True}
