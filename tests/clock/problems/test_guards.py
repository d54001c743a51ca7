"""What the guards of the sync leave to a person, through the simulator: as problems with their decision."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import insert, select, update

from app.accounts.audit import COMMAND_LINE
from app.clock.bindings import actions as bindings
from app.clock.models import Binding, Connection, DailyTotal, Device, SyncRun
from app.clock.sync import backfill
from app.errors import Conflict
from app.parts import Parts
from app.problems.models import Problem
from tests.clock.mirror.test_shortfalls import ghosts
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk
from tests.clock.syncing import site
from tests.conftest import Browser

NOW = datetime.now(UTC).replace(microsecond=0)


async def test_half_of_the_people_are_gone_and_later_the_server_was_restored(parts: Parts) -> None:
    desk = Desk(parts)
    async with site(parts, employees=30, days=3) as here:
        await here.sync_punches()
        here.faults("half_list,at=employees")
        await desk.after(here.sync_people())
        people = await desk.the("people_gone")
        assert (people.subject_id, people.held_people) == ("employees", 15)
        assert people.detail.startswith("It lists 15 of 30 known people.")
        await desk.after(here.sync_people())
        await desk.help("people_gone", "refuse")
        await desk.after(here.sync_people())
        assert await desk.of("people_gone") == []
        here.faults("ids_restart")
        await desk.after(here.sync_punches())
        restored = await desk.the("server_restored")
        assert "Start over from a date" in restored.detail
        assert await desk.of("connection_failing") == []
        async with parts.database.transaction() as db:
            await backfill.start_over(db, COMMAND_LINE, date(2026, 10, 1), here.now)
        await desk.after(here.sync_punches())
        assert await desk.of("server_restored", "connection_failing") == []


async def test_days_that_stay_incomplete_are_accepted(parts: Parts) -> None:
    desk = Desk(parts)
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            for _ in range(2):
                await desk.after(here.sync())
                here.let_pass(days=1)
            assert await desk.of("slice_incomplete") == []
            await desk.after(here.sync())
            short = await desk.the("slice_incomplete")
            assert (short.held_punches, short.subject_type) == (1, "sync_cursor")
            await desk.help("slice_incomplete")
            assert await desk.of("slice_incomplete") == []


async def test_a_mass_of_punches_is_gone(parts: Parts) -> None:
    desk = Desk(parts)
    async with site(parts, "onprem", employees=12, days=3) as here:
        await here.sync_punches()
        lost = "SELECT remote_id::bigint FROM clock_transactions WHERE local_date = :day LIMIT 15"
        day = (here.now - timedelta(days=2)).date()
        here.world.delete_punches([number for (number,) in await here.rows(lost, day=day)])
        await desk.after(here.sync_punches())
        asked = await desk.the("punches_gone")
        assert asked.held_punches == 15
        stale = {**asked.facts, "missing": 14}
        with pytest.raises(Conflict):
            await desk.help("punches_gone", "confirm", stale)
        await desk.help("punches_gone", "confirm")
        assert await desk.of("punches_gone") == []


async def test_terminals_and_times_say_what_is_wrong(parts: Parts) -> None:
    """Each fact from its table; what they mean is in test_detectors.py."""
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW - timedelta(days=9), created_at=NOW - timedelta(days=90))
        run = {"trigger": "schedule", "status": "succeeded", "finished_at": NOW - timedelta(hours=2)}
        await db.execute(insert(SyncRun).values(**run))
        week = NOW - timedelta(days=7)
        await mirror_terminal(db, "SILENT", state="online", last_punch_at_utc=week)
        await mirror_terminal(db, "DOOR", remote_attendance=False)
        await mirror_terminal(db, "SHORT", transaction_count=50, clock_skew_seconds=-400)
        totals = [
            {"local_date": week.date(), "dimension": "terminal", "key": sn, "total": 9} for sn in ("DOOR", "SHORT")
        ]
        await db.execute(insert(DailyTotal), totals)
        bram = await employ(db, "Evermint Bram")
        found = [{"host_employee_id": bram, "name": "Evermint Bram", "score": 90}]
        await mirror_person(db, "100", state="suggested")
        await db.execute(update(Binding).values(candidates=found))
        await stay(db, "100", "not_bound", week)
    await desk.look()
    opened = await desk.open()
    assert {kind: len(titles) for kind, titles in opened.items()} == {
        "sync_overdue": 1, "silence": 1, "access_terminal_used": 1, "terminal_skew": 1, "suggested": 1,
    }  # fmt: skip
    assert (await desk.the("access_terminal_used")).held_punches == 9
    await desk.help("access_terminal_used", "access")
    await desk.help("suggested")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Device.kind_mark).where(Device.sn == "DOOR")) == "access"
        await db.execute(update(Connection).values(status="paused"))
    await desk.look()
    assert set(await desk.open()) == {"terminal_skew"}


async def test_a_clock_that_is_silent_hides_what_its_terminals_miss_until_it_speaks_again(parts: Parts) -> None:
    desk = Desk(parts)
    week = NOW - timedelta(days=7)
    terminals = ("silent_terminal", "terminal_backlog")
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW, created_at=NOW - timedelta(days=90))
        await db.execute(insert(SyncRun).values(trigger="schedule", status="succeeded", finished_at=NOW))
        for sn in ("A", "B"):
            await mirror_terminal(db, sn, state="online", last_punch_at_utc=week, transaction_count=50)
            await db.execute(insert(DailyTotal).values(local_date=week.date(), dimension="terminal", key=sn, total=9))
        await mirror_person(db, "100")
        await stay(db, "100", "imported", week)
    await desk.look()
    assert set(await desk.open()) == {"silence"}
    async with parts.database.transaction() as db:
        await stay(db, "100", "imported", NOW - timedelta(minutes=5))
        await db.execute(update(Device).where(Device.sn == "A").values(last_punch_at_utc=NOW))
    await desk.look()
    assert await desk.of("silence") == []
    assert {kind: len(titles) for kind, titles in (await desk.open()).items()} == {
        "silent_terminal": 1, "terminal_backlog": 2,
    }  # fmt: skip
    assert (await desk.the("silent_terminal")).subject_id == "B"
    async with parts.database.transaction() as db:
        before = [one.last_seen_at for one in await db.scalars(select(Problem).where(Problem.kind.in_(terminals)))]
        await stay(db, "100", "imported", NOW)
    await desk.look()
    async with parts.database.transaction() as db:
        after = [one.last_seen_at for one in await db.scalars(select(Problem).where(Problem.kind.in_(terminals)))]
    assert after == before, "a punch of another terminal changes nothing about them"


@pytest.mark.parametrize("looked", [False, True])
async def test_accept_binds_only_whom_the_problem_named(parts: Parts, alice: Browser, looked: bool) -> None:
    """A pass suggests another employee; the problem says so only after the next look."""
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW, created_at=NOW)
        benn = await employ(db, "Benn Okri", "200")
        await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
        await bindings.match_all(db)
        await stay(db, "7", "not_bound", NOW - timedelta(days=7))
    await desk.look()
    url = f"/problems/{(await desk.the('suggested')).id}"
    pages = [(await alice.get(one)).text for one in ("/problems", url)]
    assert all(f'name="about" value="{benn}"' in page for page in pages)
    async with parts.database.transaction() as db:
        ben = await employ(db, "Ben Okri", "300")
        await bindings.match_all(db)
    if looked:
        await desk.look()
    refused = await alice.submit(f"{url}/remedy", {"about": str(benn)})
    assert refused.status_code == 409
    assert "changed meanwhile" in refused.text
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Binding.state)) == "suggested"
    await desk.look()
    assert (await alice.submit(f"{url}/remedy", {"about": str(ben)})).status_code == 303
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Binding.state)) == "bound"


async def test_accept_tells_two_employees_of_one_name_apart(parts: Parts) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW, created_at=NOW)
        first, other = await employ(db, "Ben Okri", "200"), await employ(db, "Ben Okri", "300")
        await mirror_person(db, "7", full_name="Okri, Ben", state="suggested", seen=1)
        await db.execute(update(Binding).values(candidates=[candidate(first)]))
        await stay(db, "7", "not_bound", NOW - timedelta(days=7))
    await desk.look()
    assert (await desk.the("suggested")).facts["suggested"] == first
    async with parts.database.transaction() as db:
        await db.execute(update(Binding).values(candidates=[candidate(other)]))
    with pytest.raises(Conflict, match="changed meanwhile"):
        await desk.help("suggested")
    await desk.look()
    await desk.help("suggested")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Binding.host_employee_id)) == other


def candidate(employee_id: int) -> dict[str, object]:
    return {"host_employee_id": employee_id, "name": "Ben Okri", "score": 90}
