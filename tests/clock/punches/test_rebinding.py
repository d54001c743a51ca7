"""Codes that change their owner, and people who become inactive: a request marks a thousand punches at most, and leaves
more to slices whose end is that of the direct way."""

import random
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.figures import completeness
from app.clock.importing import import_due
from app.clock.models import Binding, Connection, OwnerChange, Punch
from app.clock.punches import changes, rebinding, rejudging
from app.clock.punches.changes import UnderWay
from app.clock.punches.rebinding import Move
from app.clock.settings import write_settings
from app.db.session import Database
from app.host.people import people
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, outcomes, punch
from tests.clock.punches.test_marks_in_stories import STORIES
from tests.clock.punches.workplace import Workplace
from tests.clock.resolved import ada_works, import_all, why_of

SINGLES = ", ".join(f"I 2024-01-{day:02} 08:00" for day in (1, 8, 15, 22, 29))
OWNERS = ("bind", "clear", "move", "take_back", "deactivate", "activate", "carry_on")


@pytest.fixture
def _nothing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebinding, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(rebinding, "SLICE", 2)


async def versions(database: Database) -> list[Any]:
    async with database.transaction() as db:
        return list((await db.execute(text("SELECT id, xmin::text FROM clock_transactions ORDER BY id"))).all())


async def told(database: Database) -> list[UnderWay]:
    async with database.transaction() as db:
        return await changes.under_way(db)


async def slice_of(database: Database) -> bool:
    async with database.transaction() as db:
        return await rebinding.mark_slice(db)


async def clear_hundred(database: Database) -> None:
    async with database.transaction() as db:
        await bindings.clear(db, SYSTEM, [await bindings.id_of_code(db, "100")])


@pytest.mark.usefixtures("_nothing_at_once")
async def test_the_request_writes_no_punch_of_a_re_bound_code_and_none_of_a_deactivated_person(
    database: Database,
) -> None:
    ada = await ada_works(database, SINGLES)
    before = await versions(database)
    async with database.transaction() as db:
        bob = await employ(db, "Bob")
        await bindings.bind(db, SYSTEM, await bindings.id_of_code(db, "100"), bob)
        await people.deactivate(db, SYSTEM, [ada, bob])
    assert await versions(database) == before
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"employee_inactive"}


async def test_up_to_a_thousand_are_marked_at_once(database: Database) -> None:
    await ada_works(database, SINGLES)
    await clear_hundred(database)
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).where(Punch.judge_at.is_not(None))) == 5
    assert await told(database) == []


@pytest.mark.usefixtures("_nothing_at_once")
async def test_nothing_is_judged_before_the_last_mark_and_everybody_is_told(database: Database) -> None:
    await ada_works(database, SINGLES)
    await clear_hundred(database)
    assert await told(database) == [UnderWay(None, 0, None, owners=True)]
    for marked in (2, 4, 5):
        assert await slice_of(database)
        assert await told(database) == [UnderWay(None, marked, 5, owners=True)]
        await import_due.import_marked(partial(database.transaction, "main"), now=FAR)
        async with database.transaction() as db:
            assert {word for _, word in await outcomes(db)} == {"only_one_punch"}
            found = await db.scalar(select(rejudging.CHANGES))
            assert all(rejudging.awaits(found, one) for one in await db.scalars(select(Punch)))
            assert "Bindings or people" not in str(await completeness.complete_up_to(db, FAR))
    sentence = "Bindings or people changed: 5 of 5 punches of theirs are ready."
    assert (await why_of(database, "Mon 08:00")).waits == sentence
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"import_single_punches": "true"})
    await import_all(database)
    assert await told(database) == []
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"not_bound"}


@pytest.mark.usefixtures("_nothing_at_once")
@pytest.mark.parametrize(
    "story",
    [story for story in STORIES.values() if any(f"{verb} " in story or f"{verb}_later" in story for verb in OWNERS)],
)
async def test_a_story_of_owners_ends_as_if_all_had_been_marked_at_once(database: Database, story: str) -> None:
    place = Workplace(database)
    await place.open()
    for line in story.strip().splitlines():
        await place.does(line.strip())


@pytest.mark.parametrize("seed", range(6))
async def test_any_moves_mark_in_slices_what_they_mark_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    monkeypatch.setattr(rebinding, "SLICE", dice.choice([1, 2, 5]))
    codes = ["1", "2", "3"]
    async with database.transaction() as db:
        await connect(db)
        persons = [await employ(db, name) for name in ("Ada", "Bea")]
        owners: dict[str, int | None] = {code: dice.choice([*persons, None]) for code in codes}
        for code, owner in owners.items():
            await mirror_person(db, code, owner)
            await punch(db, code, ", ".join(f"{dice.choice('IO')} 2024-01-{day:02} 08:00" for day in range(1, 8)))
    await import_all(database)
    async with database.transaction() as db:
        words = ["arrived_late", "only_one_punch", "attendance_deleted", "not_bound"]
        for punch_id in await db.scalars(select(Punch.id)):
            await db.execute(update(Punch).where(Punch.id == punch_id).values(import_outcome=dice.choice(words)))
        await db.execute(update(Connection).values(status="healthy"))

    acts = [(dice.choice(codes), dice.choice([*persons, None])) for _ in range(5)]
    ends = []
    for most in (1000, 0):
        monkeypatch.setattr(rebinding, "MOST_AT_ONCE", most)
        async with database.transaction() as db:
            only_tried = await db.begin_nested()
            await carried_out(db, acts, dict(owners))
            assert bool(await db.scalar(select(OwnerChange.id).limit(1))) is (most == 0)
            while await rebinding.mark_slice(db):
                pass
            columns = (Punch.id, Punch.import_outcome, Punch.judge_at.is_(None), Punch.settled_at_utc)
            ends.append((await db.execute(select(*columns).order_by(Punch.id))).all())
            await only_tried.rollback()
    assert ends[0] == ends[1]


async def carried_out(db: Any, acts: Any, owners: dict[str, int | None]) -> None:
    for code, now in acts:
        was, owners[code] = owners[code], now
        method, state = ("manual", "bound") if now else (None, "unbound")
        values = {"host_employee_id": now, "state": state, "method": method}
        await db.execute(update(Binding).where(Binding.emp_code == code).values(**values))
        await rebinding.mark_moved(db, [Move(code, was, now)])
