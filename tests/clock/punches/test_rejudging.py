"""Changes of rules and terminals: the request writes one row, and the import judges what they concern, slice by slice.
No punch is written that keeps its outcome."""

from contextlib import AsyncExitStack
from datetime import date
from functools import partial
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select, text, update

from app.accounts.audit import SYSTEM
from app.clock.importing import import_due
from app.clock.importing.batch import import_batch
from app.clock.mirror import devices
from app.clock.models import Cursor, Device, OwnerChange, Punch, Rejudging
from app.clock.punches import changes, daily_totals, rejudging
from app.clock.punches.changes import UnderWay
from app.clock.punches.rejudging import RejudgedSlice
from app.clock.settings import write_settings
from app.db.session import Database
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import employ, mirror_person, mirror_terminal, outcomes, punch
from tests.clock.resolved import ada_works, import_all, then

# A week apart: what is nearer is judged together.
SINGLES = ("2024-01-01 08:00", "2024-01-08 08:00", "2024-01-15 08:00", "2024-01-22 08:00", "2024-01-29 08:00")


@pytest.fixture
async def five_days(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five clock-ins without a clock-out, a week apart, and slices of two."""
    monkeypatch.setattr(rejudging, "SLICE", 2)
    await ada_works(database, ", ".join(f"I {one}" for one in SINGLES))
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"only_one_punch"}


async def take_singles(database: Database, value: str = "true") -> None:
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"import_single_punches": value})


async def slice_of(database: Database) -> RejudgedSlice | None:
    async with database.transaction() as db:
        return await rejudging.next_slice(db, await rejudging.under_way(db))


async def judge(database: Database, part: RejudgedSlice | None) -> bool:
    """Whether all of it was judged."""
    assert part is not None
    return (await import_due._judge_slice(partial(database.transaction, "main"), part, FAR, None)).complete


def days(part: RejudgedSlice | None) -> list[str]:
    assert part is not None
    return sorted(f"{at:%d}" for some in part.instants.values() for at in some)


async def told(database: Database) -> list[UnderWay]:
    async with database.transaction() as db:
        return await changes.under_way(db)


async def versions(database: Database) -> list[Any]:
    """What each row of a punch is in the table: another where anything wrote it."""
    async with database.transaction() as db:
        return (await db.execute(text("SELECT id, xmin::text, ctid::text FROM clock_transactions ORDER BY id"))).all()


@pytest.mark.usefixtures("five_days")
async def test_a_request_that_changes_a_rule_or_a_terminal_writes_no_punch(database: Database) -> None:
    before = await versions(database)
    await take_singles(database)
    async with database.transaction() as db:
        changed = await devices.set_direction(db, SYSTEM, "T1", "out")
    assert changed.judged_again == len(SINGLES)
    assert await versions(database) == before


@pytest.mark.usefixtures("five_days")
async def test_slices_go_from_the_newest_to_the_oldest_and_say_how_far_they_are(database: Database) -> None:
    await take_singles(database)
    assert await told(database) == [UnderWay(None, 0, None)]
    for wanted, judged in ((["22", "29"], 0), (["08", "15"], 2), (["01"], 4)):
        part = await slice_of(database)
        assert days(part) == wanted
        assert await told(database) == [UnderWay(None, judged, 5)]
        assert await judge(database, part)
    assert await slice_of(database) is None
    assert await told(database) == []


@pytest.mark.usefixtures("five_days")
async def test_an_import_judges_all_of_it(database: Database) -> None:
    await take_singles(database)
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}
    assert await told(database) == []


@pytest.mark.usefixtures("five_days")
async def test_punches_that_keep_their_outcome_are_not_written(database: Database) -> None:
    before = await versions(database)
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"shift_gap_hours": "6"})
    await import_all(database)
    assert await told(database) == []
    assert await versions(database) == before


@pytest.mark.usefixtures("five_days")
async def test_a_slice_that_a_change_of_owners_holds_back_is_judged_after_it(database: Database) -> None:
    await take_singles(database)
    part = await slice_of(database)
    async with database.transaction() as db:
        owners = OwnerChange(total=1)
        db.add(owners)
    assert not await judge(database, part)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"only_one_punch"}
        assert await db.scalar(select(Rejudging.reached_id)) is None
        await db.execute(delete(OwnerChange))
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


@pytest.mark.parametrize("owned", [True, False], ids=["owned", "unbound"])
@pytest.mark.usefixtures("five_days")
async def test_a_punch_that_follows_unread_days_is_judged_once_they_are_read(database: Database, owned: bool) -> None:
    """A nightly check found a day that differs, and it is not read again yet."""
    day = date(2024, 1, 15)
    differs = {"resource": "transactions", "window": "check:1", "kind": "check", "state": "open"}
    async with database.transaction() as db:
        if not owned:
            await db.execute(update(Punch).values(emp_code="unbound", import_outcome="not_bound"))
        await db.execute(insert(Cursor).values(**differs, starts_on=day, ends_on=day))
        await devices.set_kind(db, SYSTEM, "T1", "access")
    await import_all(database)
    before = "only_one_punch" if owned else "not_bound"
    async with database.transaction() as db:
        assert [word == before for _, word in await outcomes(db)] == [False, False, True, False, False]
        await db.execute(delete(Cursor))
    assert await told(database) == []
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"access_terminal"}


@pytest.mark.usefixtures("five_days")
async def test_a_slice_that_two_imports_judged_is_counted_once(database: Database) -> None:
    await take_singles(database)
    part = await slice_of(database)
    assert await judge(database, part)
    assert await judge(database, part)
    assert await told(database) == [UnderWay(None, 2, 5)]


@pytest.mark.usefixtures("five_days")
async def test_an_import_that_dies_is_followed_by_one_that_continues(database: Database) -> None:
    async def die(done: int, of: int) -> bool:
        raise ZeroDivisionError

    await take_singles(database)
    with pytest.raises(ZeroDivisionError):
        await import_due.import_due(partial(database.transaction, "main"), now=FAR, progress=die)
    async with database.transaction() as db:
        words = [word for _, word in await outcomes(db)]
    assert words == ["only_one_punch"] * 3 + ["imported"] * 2
    assert await told(database) == [UnderWay(None, 0, 5)]
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


@pytest.mark.usefixtures("five_days")
async def test_a_slice_that_is_stopped_is_begun_again_by_the_next_import(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stop(done: int, of: int) -> bool:
        return False

    monkeypatch.setattr(import_due, "BATCH", 1)
    async with database.transaction() as db:
        await mirror_person(db, "200", await employ(db, "Bea"))
    await then(database, f"I {SINGLES[-1]}", "200")
    await take_singles(database)
    stopped = await import_due.import_due(partial(database.transaction, "main"), now=FAR, progress=stop)
    assert (stopped.complete, stopped.outcomes) == (False, {"imported": 1})
    assert await told(database) == [UnderWay(None, 0, 6)]
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


@pytest.mark.usefixtures("five_days")
async def test_a_second_change_joins_the_first_and_begins_again_with_the_newest(database: Database) -> None:
    await take_singles(database)
    await slice_of(database)
    async with database.transaction() as db:
        await devices.set_kind(db, SYSTEM, "T1", "access")
    assert [one.terminal for one in await told(database)] == [None, "Gate"]
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"shift_gap_hours": "6"})
    assert await told(database) == [UnderWay(None, 0, None)]
    await slice_of(database)
    assert await told(database) == [UnderWay(None, 0, 5)]
    async with database.transaction() as db:
        finished = await db.scalar(select(func.count()).where(Rejudging.finished_at.is_not(None)))
    assert finished == 2


@pytest.mark.usefixtures("five_days")
async def test_an_earlier_change_that_ends_late_does_not_join_one_that_has_begun(database: Database) -> None:
    """The slices of that one were judged without it so far."""
    async with database.transaction() as late:
        await rejudging.begin(late, ["T1"])
        await late.execute(update(Device).values(kind_mark="access"))
        async with database.transaction() as db:
            await write_settings(db, SYSTEM, {"shift_gap_hours": "6"})
        assert await judge(database, await slice_of(database))
    await import_all(database)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"access_terminal"}


@pytest.mark.usefixtures("five_days")
async def test_a_terminal_concerns_its_own_punches_alone(database: Database) -> None:
    async with database.transaction() as db:
        await mirror_terminal(db, "T2", alias="Side door")
        await punch(db, "100", "I 2024-03-02 08:00, I 2024-03-03 09:00", sn="T2")
    await import_all(database)
    async with database.transaction() as db:
        await devices.set_direction(db, SYSTEM, "T2", "out")
    assert await told(database) == [UnderWay("Side door", 0, None)]
    assert days(await slice_of(database)) == ["02", "03"]


@pytest.mark.usefixtures("five_days")
async def test_punches_that_wait_for_their_turn_are_known(database: Database) -> None:
    async def awaiting() -> list[str]:
        async with database.transaction() as db:
            found = await db.scalar(select(rejudging.CHANGES))
            punches = await db.scalars(select(Punch).order_by(Punch.punched_at_utc))
            return [f"{one.punched_at_local:%d}" for one in punches if rejudging.awaits(found, one)]

    assert await awaiting() == []
    await take_singles(database)
    assert await awaiting() == ["01", "08", "15", "22", "29"]
    assert await judge(database, await slice_of(database))
    assert await awaiting() == ["01", "08", "15"]
    await import_all(database)
    assert await awaiting() == []


@pytest.mark.usefixtures("five_days")
async def test_two_imports_at_once_share_no_slice(database: Database) -> None:
    await take_singles(database)
    async with database.transaction() as db:
        assert await rejudging.next_slice(db, await rejudging.under_way(db))
        assert await slice_of(database) is None


@pytest.mark.usefixtures("five_days")
async def test_a_change_that_comes_meanwhile_reaches_what_another_import_just_judges(database: Database) -> None:
    """A punch is mirrored while an import is at a change.
    Another import judges it, and has not committed when its terminal changes."""
    async with database.transaction() as db:
        await mirror_terminal(db, "T2")
        await mirror_person(db, "200", await employ(db, "Bea"))
    await take_singles(database)
    slices = iter((True,))
    async with AsyncExitStack() as stack:

        async def meanwhile(done: int, of: int) -> bool:
            if next(slices, False):
                async with database.transaction() as db:
                    await punch(db, "200", "x 2024-03-02 08:00", sn="T2")
                # Otherwise the rollup after the slice would wait for the other import, which ends after it.
                await daily_totals.roll_up(database, "main")
                importing = await stack.enter_async_context(database.transaction())
                await import_batch(importing, ["200"], FAR)
                async with database.transaction() as db:
                    await devices.set_direction(db, SYSTEM, "T2", "in")
            return True

        await import_due.import_due(partial(database.transaction, "main"), now=FAR, progress=meanwhile)
    async with database.transaction() as db:
        assert await outcomes(db, "200") == [("08:00", "no_direction")]
    await import_all(database)
    async with database.transaction() as db:
        assert await outcomes(db, "200") == [("08:00", "imported")]
