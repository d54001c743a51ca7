"""Attendance records by hand: what the verbs do, refuse, remember and tell."""

import asyncio
import random
from datetime import datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.day_locks import DayLocked
from app.host.attendance.hours import Hours
from app.host.events import DaysChanged, RecordsChanged
from app.host.people import people
from tests.host.staff import ALICE, Ear, acts_on, at, hire, hours, record_of, work

DAY = at("00:00").date()
PAIRS = 40


async def test_a_record_is_added_pending_and_by_hand(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db)
    ear.heard.clear()
    given = hours("08:00", "17:00", ("13:00", "13:30"), ("10:00", "10:15"))
    record_id = await attendance.add(db, ALICE, ada, given, "Forgot the badge")
    kept = await record_of(db, record_id)
    assert (kept.status, kept.source, kept.kind, kept.workday, kept.note) == (
        "pending", "manual", "regular", DAY, "Forgot the badge",
    )  # fmt: skip
    assert Hours.of(kept).breaks == ((at("10:00"), at("10:15")), (at("13:00"), at("13:30")))
    assert kept.edited_from is None
    assert ear.heard == [RecordsChanged((record_id,), "created")]
    (act,) = await acts_on(db, "attendance", record_id)
    assert act.after is not None
    assert (act.act, act.after["clock_in"]) == ("attendance.add", "2026-11-20T08:00:00Z")


async def test_the_workday_follows_the_workspaces_zone(db: AsyncSession, in_vancouver: None) -> None:
    record_id = await work(db, await hire(db), "02:00", "09:00")
    assert str((await record_of(db, record_id)).workday) == "2026-11-19"


@pytest.mark.parametrize(
    ("span", "kind"),
    [
        (("16:59", "18:00"), "regular"),
        (("07:00", "08:01"), "regular"),
        (("09:00", "10:00"), "regular"),
        (("07:00", "18:00"), "regular"),
        (("08:00",), "regular"),
        (("12:00",), "regular"),
    ],
)
async def test_hours_that_another_record_covers_are_refused(db: AsyncSession, span: tuple[str, ...], kind: str) -> None:
    ada = await hire(db)
    other = await work(db, ada, "08:00", "17:00")
    with pytest.raises(Conflict, match=f"overlaps record {other}, Fri 20 Nov 2026, 08:00–17:00"):
        await work(db, ada, *span, kind=kind)


@pytest.mark.parametrize(
    ("span", "kind"),
    [
        (("17:00", "18:00"), "regular"),
        (("07:00", "08:00"), "regular"),
        (("17:00",), "regular"),
        (("09:00", "10:00"), "overtime"),
    ],
)
async def test_hours_that_touch_or_are_of_another_kind_are_no_overlap(
    db: AsyncSession, span: tuple[str, ...], kind: str
) -> None:
    ada = await hire(db)
    await work(db, ada, "08:00", "17:00")
    await work(db, ada, *span, kind=kind)


def drawn(dice: random.Random) -> Hours:
    start = at("08:00") + timedelta(minutes=dice.randrange(120))
    length = dice.choice([None, *range(1, 60)])
    end = start + timedelta(minutes=length) if length else None
    return Hours(start, end, kind=dice.choice(["regular", "overtime"]))


def minutes_covered(one: Hours) -> set[datetime]:
    """By brute force, on whole minutes."""
    if one.clock_out is None:
        return {one.clock_in}
    return {one.clock_in + timedelta(minutes=n) for n in range((one.clock_out - one.clock_in) // timedelta(minutes=1))}


async def test_two_records_overlap_exactly_when_they_share_a_minute_and_a_kind(db: AsyncSession) -> None:
    dice, refused = random.Random(20), 0
    for number in range(PAIRS):
        one, other = drawn(dice), drawn(dice)
        employee_id = await hire(db, id_number=str(number))
        await attendance.add(db, ALICE, employee_id, one)
        if one.kind == other.kind and minutes_covered(one) & minutes_covered(other):
            with pytest.raises(Conflict, match="overlaps"):
                await attendance.add(db, ALICE, employee_id, other)
            refused += 1
        else:
            await attendance.add(db, ALICE, employee_id, other)
    assert PAIRS / 10 < refused < PAIRS / 2


async def test_an_open_record_covers_its_clock_in_alone(db: AsyncSession) -> None:
    ada = await hire(db)
    await work(db, ada, "08:00")
    await work(db, ada, "08:00:01", "17:00")
    with pytest.raises(Conflict):
        await work(db, ada, "07:00", "08:00:01")
    await work(db, ada, "07:00", "08:00")
    with pytest.raises(Conflict):
        await work(db, ada, "08:00")


async def test_rejected_records_count_as_overlap_and_deleted_ones_do_not(db: AsyncSession) -> None:
    ada = await hire(db)
    other = await work(db, ada, "08:00", "17:00")
    await attendance.decide(db, ALICE, [other], "rejected")
    with pytest.raises(Conflict, match="rejected"):
        await work(db, ada, "09:00", "10:00")
    await attendance.remove(db, ALICE, [other])
    await work(db, ada, "09:00", "10:00")


async def test_other_peoples_hours_never_collide(db: AsyncSession) -> None:
    await work(db, await hire(db), "08:00", "17:00")
    await work(db, await hire(db, "Grace", "2"), "08:00", "17:00")


async def test_of_two_who_add_the_same_hours_at_once_one_is_refused(database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db)

    async def try_it() -> str:
        try:
            async with database.transaction() as db:
                await work(db, ada, "08:00", "17:00")
                await asyncio.sleep(0.1)
        except Conflict:
            return "refused"
        return "added"

    assert sorted(await asyncio.gather(try_it(), try_it())) == ["added", "refused"]


async def test_an_edit_remembers_what_it_found_the_first_time(db: AsyncSession, ear: Ear) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    ear.heard.clear()
    await attendance.edit(db, ALICE, record_id, hours("08:00", "18:00"))
    await attendance.edit(db, ALICE, record_id, hours("08:00", "19:00"))
    kept = await record_of(db, record_id)
    assert kept.edited_from is not None
    assert Hours.heard(kept.edited_from) == hours("08:00", "17:00")
    assert (kept.clock_out, kept.edited_by) == (at("19:00"), "Alice Ahn")
    assert ear.heard == [RecordsChanged((record_id,), "edited")] * 2
    act = (await acts_on(db, "attendance", record_id))[-1]
    assert (act.before, act.after) == (
        {"clock_out": "2026-11-20T18:00:00Z"},
        {"clock_out": "2026-11-20T19:00:00Z"},
    )


async def test_a_note_alone_is_no_correction_of_hours(db: AsyncSession) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    await attendance.decide(db, ALICE, [record_id], "approved")
    done = await attendance.edit(db, ALICE, record_id, hours("08:00", "17:00"), "Checked with Ada")
    kept = await record_of(db, record_id)
    assert (done.changed, done.reopened, kept.edited_from, kept.status) == (True, None, None, "approved")


async def test_an_edit_that_changes_nothing_leaves_no_trace(db: AsyncSession, ear: Ear) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    ear.heard.clear()
    assert not (await attendance.edit(db, ALICE, record_id, hours("08:00", "17:00"))).changed
    assert ear.heard == []


async def test_new_hours_of_a_decided_record_wait_for_a_decision_again(db: AsyncSession) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    await attendance.decide(db, ALICE, [record_id], "approved")
    done = await attendance.edit(db, ALICE, record_id, hours("08:00", "18:00"))
    kept = await record_of(db, record_id)
    assert (done.reopened, kept.status, kept.decided_by, kept.decided_at) == ("approved", "pending", None, None)


async def test_an_edit_may_not_grow_into_another_record_but_into_its_own_old_hours(db: AsyncSession) -> None:
    ada = await hire(db)
    record_id = await work(db, ada, "08:00", "12:00")
    await work(db, ada, "13:00", "17:00")
    with pytest.raises(Conflict, match="overlaps"):
        await attendance.edit(db, ALICE, record_id, hours("08:00", "13:01"))
    await attendance.edit(db, ALICE, record_id, hours("09:00", "13:00"))


async def test_an_edit_of_a_record_that_changed_meanwhile_is_refused(db: AsyncSession) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    seen = (await record_of(db, record_id)).updated_at
    assert (await attendance.edit(db, ALICE, record_id, hours("08:00", "18:00"), seen=seen)).changed
    stale = at("00:00")
    with pytest.raises(Conflict, match="changed since you opened it"):
        await attendance.edit(db, ALICE, record_id, hours("08:00", "19:00"), seen=stale)


async def test_hours_that_cannot_be_are_refused(db: AsyncSession) -> None:
    ada = await hire(db)
    with pytest.raises(Invalid):
        await work(db, ada, "17:00", "08:00")
    record_id = await work(db, ada, "08:00", "17:00")
    with pytest.raises(Invalid):
        await attendance.edit(db, ALICE, record_id, hours("08:00", "07:00"))
    with pytest.raises(Invalid):
        await attendance.edit(db, ALICE, record_id, hours("08:00", "17:00"), "n" * 1001)


async def test_deciding_tells_whose_status_changed_and_pending_undoes_it(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db)
    first, second = await work(db, ada, "08:00", "12:00"), await work(db, ada, "13:00", "17:00")
    await attendance.decide(db, ALICE, [first], "approved")
    ear.heard.clear()
    assert await attendance.decide(db, ALICE, [first, second], "approved") == [second]
    assert ear.heard == [RecordsChanged((second,), "decided")]
    assert await attendance.decide(db, ALICE, [first, second], "approved") == []
    kept = await record_of(db, second)
    assert (kept.status, kept.decided_by, kept.decided_at is None) == ("approved", "Alice Ahn", False)
    await attendance.decide(db, ALICE, [second], "pending")
    kept = await record_of(db, second)
    assert (kept.status, kept.decided_by, kept.decided_at) == ("pending", None, None)
    assert [act.after for act in await acts_on(db, "attendance", second)][1:] == [
        {"status": "approved"}, {"status": "pending"},
    ]  # fmt: skip


async def test_only_the_four_statuses_exist(db: AsyncSession) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    for status in ("rejected", "auto_closed", "approved", "pending"):
        assert await attendance.decide(db, ALICE, [record_id], status) == [record_id]
    with pytest.raises(Invalid):
        await attendance.decide(db, ALICE, [record_id], "done")


async def test_deleting_keeps_who_and_what_and_happens_once(db: AsyncSession, ear: Ear) -> None:
    record_id = await work(db, await hire(db), "08:00", "17:00")
    ear.heard.clear()
    assert await attendance.remove(db, ALICE, [record_id]) == [record_id]
    kept = await record_of(db, record_id)
    assert kept.deleted_at is not None
    assert kept.deleted_by == "Alice Ahn"
    assert ear.heard == [RecordsChanged((record_id,), "deleted")]
    act = (await acts_on(db, "attendance", record_id))[-1]
    assert act.before is not None
    assert act.before["clock_in"] == "2026-11-20T08:00:00Z"
    for verb in (
        attendance.remove(db, ALICE, [record_id]),
        attendance.decide(db, ALICE, [record_id], "approved"),
        attendance.edit(db, ALICE, record_id, hours("08:00", "18:00")),
    ):
        with pytest.raises(NotFound):
            await verb


async def test_a_listener_that_fails_undoes_the_act(database: Database, ear: Ear) -> None:
    from app.host import events

    async def grumble(_: AsyncSession, event: events.Event) -> None:
        if isinstance(event, RecordsChanged) and event.change == "decided":
            raise Conflict("no")

    events.listen(grumble)
    async with database.transaction() as db:
        record_id = await work(db, await hire(db), "08:00", "17:00")
    with pytest.raises(Conflict):
        async with database.transaction() as db:
            await attendance.decide(db, ALICE, [record_id], "approved")
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).status == "pending"
        assert len(await acts_on(db, "attendance", record_id)) == 1


async def test_a_record_is_made_for_an_inactive_person_but_for_no_unknown_or_deleted_one(db: AsyncSession) -> None:
    with pytest.raises(NotFound):
        await work(db, 404, "08:00", "17:00")
    ada = await hire(db)
    await people.deactivate(db, ALICE, [ada])
    await work(db, ada, "08:00", "17:00")
    await people.remove(db, ALICE, [ada])
    with pytest.raises(Conflict, match="deleted"):
        await work(db, ada, "18:00", "19:00")


async def test_records_of_another_workspace_do_not_exist_here(database: Database) -> None:
    async with database.transaction("globex") as theirs:
        record_id = await work(theirs, await hire(theirs), "08:00", "17:00")
    async with database.transaction() as ours:
        for verb in (
            attendance.remove(ours, ALICE, [record_id]),
            attendance.decide(ours, ALICE, [record_id], "approved"),
        ):
            with pytest.raises(NotFound):
                await verb


async def test_a_locked_day_refuses_every_change(db: AsyncSession) -> None:
    ada = await hire(db)
    record_id = await work(db, ada, "08:00", "17:00")
    tomorrow = await work(db, ada, "08:00 2026-11-21", "17:00 2026-11-21")
    await day_locks.lock(db, ALICE, DAY, DAY)
    for verb in (
        work(db, ada, "18:00", "19:00"),
        attendance.edit(db, ALICE, record_id, hours("08:00", "18:00")),
        attendance.edit(db, ALICE, record_id, hours("08:00 2026-11-22", "18:00 2026-11-22")),
        attendance.edit(db, ALICE, tomorrow, hours("18:00", "19:00")),
        attendance.decide(db, ALICE, [record_id, tomorrow], "approved"),
        attendance.remove(db, ALICE, [record_id]),
    ):
        with pytest.raises(DayLocked, match="Fri 20 Nov 2026 is locked"):
            await verb
    assert (await record_of(db, tomorrow)).status == "pending"
    await day_locks.unlock(db, ALICE, DAY, DAY)
    await attendance.remove(db, ALICE, [record_id])


async def test_locking_tells_the_days_that_changed(db: AsyncSession, ear: Ear) -> None:
    first, last = DAY.replace(day=18), DAY.replace(day=20)
    await day_locks.lock(db, ALICE, last, last)
    ear.heard.clear()
    assert await day_locks.lock(db, ALICE, first, last) == [DAY.replace(day=18), DAY.replace(day=19)]
    assert await day_locks.lock(db, ALICE, first, last) == []
    assert ear.heard == [DaysChanged((DAY.replace(day=18), DAY.replace(day=19)), locked=True)]
    assert await day_locks.unlock(db, ALICE, DAY, DAY) == [DAY]
    assert await day_locks.locked(db, [first, last]) == {first}
    is_open, is_locked = {"state": "open", "days": 1}, {"state": "locked", "days": 1}
    assert [(act.act, act.before, act.after) for act in await acts_on(db, "days", "2026-11-20..2026-11-20")] == [
        ("attendance.lock", is_open, is_locked), ("attendance.unlock", is_locked, is_open),
    ]  # fmt: skip
    (both,) = await acts_on(db, "days", "2026-11-18..2026-11-19")
    assert both.after == {"state": "locked", "days": 2}


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (1, "Fri 20 Nov 2026 is locked. Unlock it under Day Locks first."),
        (2, "Fri 20 Nov 2026 and 1 more day are locked. Unlock them under Day Locks first."),
        (3, "Fri 20 Nov 2026 and 2 more days are locked. Unlock them under Day Locks first."),
    ],
)
async def test_a_refusal_names_the_first_locked_day_and_counts_the_others(
    db: AsyncSession, days: int, said: str
) -> None:
    closed = [DAY + timedelta(days=number) for number in range(days)]
    await day_locks.lock(db, ALICE, closed[0], closed[-1])
    with pytest.raises(DayLocked) as refused:
        await day_locks.refuse_locked(db, [*reversed(closed), DAY - timedelta(days=1)])
    assert refused.value.message == said


async def test_two_years_of_days_are_locked_at_once_and_no_more(db: AsyncSession) -> None:
    last = DAY + timedelta(days=730)
    assert len(await day_locks.lock(db, ALICE, DAY, last)) == 731
    for verb in (day_locks.lock, day_locks.unlock):
        with pytest.raises(Invalid) as refused:
            await verb(db, ALICE, DAY, last + timedelta(days=1))
        assert [one.message for one in refused.value.details] == ["At most 731 days at once; these are 732."]


async def test_a_wrong_range_of_days_is_refused(db: AsyncSession) -> None:
    with pytest.raises(Invalid):
        await day_locks.lock(db, ALICE, DAY, DAY.replace(day=1))
    with pytest.raises(Invalid, match="At most"):
        await day_locks.unlock(db, ALICE, DAY.replace(year=2000), DAY)


async def test_a_lock_waits_for_an_edit_in_progress_and_then_holds(database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    order: list[str] = []

    async def close_the_day() -> None:
        async with database.transaction() as db:
            await day_locks.lock(db, ALICE, DAY, DAY)
            order.append("locked")

    async with database.transaction() as db:
        await work(db, ada, "08:00", "17:00")
        closing = asyncio.create_task(close_the_day())
        await asyncio.sleep(0.15)
        order.append("added")
    await closing
    assert order == ["added", "locked"]
    async with database.transaction() as db:
        with pytest.raises(DayLocked):
            await work(db, ada, "18:00", "19:00")
