"""Troubles of a server and its people, through the simulator:
each shows once, says what to do, the remedy works, and it closes."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text, update

from app.accounts.audit import COMMAND_LINE
from app.clock.bindings import actions as bindings
from app.clock.models import ClockEmployee, Connection, Device, Punch
from app.errors import Conflict
from app.parts import Parts
from app.problems.kinds import RemedyAsked
from app.secrets import Secret
from app.simulator import PASSWORD
from tests.clock.clock_worker import until
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk
from tests.clock.resolved import ada_works, import_all
from tests.clock.syncing import site
from tests.conftest import Browser

NOW = datetime.now(UTC).replace(microsecond=0)
WAITS_FOR_A_ROW = text(
    "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


async def test_a_terminal_is_unplugged_and_rows_cannot_be_read(parts: Parts) -> None:
    desk = Desk(parts)
    async with site(parts, days=3, now=NOW) as here:
        terminal = here.world.terminals[1]
        terminal.state = 0
        here.world.changed()
        here.faults("bad_row")
        await desk.after(here.sync())
        await desk.after(here.sync())
        offline, aside = await desk.the("terminal_offline"), await desk.the("rows_set_aside")
        assert offline.title.startswith(f"Terminal {terminal.alias} has been offline since ")
        assert offline.subject_id == terminal.serial
        assert aside.title == "Rows of the server could not be read"
        assert "dismiss" in aside.detail
        await desk.dismiss("rows_set_aside")
        await desk.after(here.sync())
        assert await desk.of("rows_set_aside") == []
        terminal.state = 1
        here.world.changed()
        here.faults()
        await desk.after(here.sync())
        assert await desk.of("terminal_offline", "rows_set_aside") == []


async def test_a_clock_refuses_the_password(parts: Parts) -> None:
    desk, now = Desk(parts), datetime.now(UTC).replace(microsecond=0)  # NOW may be longer ago than a lock lasts
    async with site(parts, days=3, now=now) as here:
        await desk.after(here.sync())
        here.faults("signin_401")
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(tokens=None))
        await here.save(password=Secret("wrong"))
        await desk.after(here.sync())
        failing = await desk.the("connection_failing")
        assert failing.title.endswith(" fails: Credentials rejected")
        assert "save the right password" in failing.detail
        while (await here.connection()).status != "locked":
            await desk.after(here.sync())
        assert set(await desk.open()) & {"connection_failing", "connection_locked", "sync_overdue"} == {
            "connection_locked"
        }
        with pytest.raises(Conflict, match="can be tried again"):
            await desk.help("connection_locked")
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(locked_until=now - timedelta(hours=1)))
        await desk.help("connection_locked")
        assert await desk.of("connection_locked", "connection_failing") == [failing.title]
        here.faults()
        await here.save(password=Secret(PASSWORD))
        await desk.after(here.sync())
        assert await desk.of("connection_locked", "connection_failing") == []


async def test_two_people_share_an_id_number(parts: Parts) -> None:
    desk = Desk(parts)
    async with site(parts, days=3, now=NOW) as here:
        code = here.world.people[0].code
        async with parts.database.transaction() as db:
            first = await employ(db, "Evermint Bram", code)
            await employ(db, "Evermint Bruno", code)
        await desk.after(here.sync())
        await desk.after(here.sync())
        conflict = await desk.the("conflict")
        assert conflict.subject_id == code
        assert "Evermint Bram, Evermint Bruno" in conflict.detail
        assert conflict.held_punches > 0
        async with parts.database.transaction() as db:
            person = await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == code))
            assert person
            await bindings.bind(db, COMMAND_LINE, person, first)
        await desk.look()
        assert await desk.of("conflict") == []


async def test_days_of_people_wait_for_a_decision(parts: Parts) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        await mirror_terminal(db, "T1", alias="Gate 2", state="offline", last_activity_at=NOW - timedelta(hours=3))
        bram = await employ(db, "Evermint Bram")
        await mirror_person(db, "100", bram)
        await mirror_person(db, "200", bram)
        for code in ("100", "200"):
            await stay(db, code, "only_one_punch", NOW - timedelta(days=2))
        await stay(db, "100", "only_one_punch", NOW - timedelta(days=70))
        await stay(db, "100", "awaiting", NOW - timedelta(days=4), updated_at=NOW - timedelta(hours=47))
        await stay(db, "100", "awaiting", NOW - timedelta(days=5), updated_at=NOW - timedelta(hours=49))
        await stay(db, "100", "no_direction", NOW - timedelta(days=3))
        await stay(db, "100", "imported", NOW)
    await desk.look()
    one = await desk.the("only_one_punch")
    assert (one.subject_id, one.held_punches, one.held_people) == (f"e{bram}/{(NOW - timedelta(days=2)).date()}", 2, 1)
    assert one.facts == {
        "name": "Evermint Bram", "code": "100", "department": None, "terminal": "T1", "terminal_name": "Gate 2"
    }  # fmt: skip
    assert (await desk.the("awaiting_too_long")).subject_id == f"e{bram}/{(NOW - timedelta(days=5)).date()}"
    assert (await desk.the("no_direction")).title == "No punch of terminal Gate 2 counts: they say neither in nor out"
    await desk.help("only_one_punch")
    await desk.help("no_direction", "undirected")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Device.direction)) == "undirected"
        await db.execute(update(Device).values(state="online"))
    await desk.look()
    assert set(await desk.open()) == {"awaiting_too_long", "no_direction"}


async def test_what_became_of_punches_that_were_used_is_told(parts: Parts, alice: Browser) -> None:
    desk = Desk(parts)
    days = [(NOW - timedelta(days=ago)).date() for ago in (4, 3, 2)]
    await ada_works(parts.database, ", ".join(f"I {day} 08:00, O {day} 17:00" for day in days))
    async with parts.database.transaction() as db:
        ben = await employ(db, "Ben")
        await bindings.bind(db, COMMAND_LINE, await bindings.id_of_code(db, "100"), ben)
    await import_all(parts.database)
    await desk.look()
    *two, last = await desk.all_of("arrived_late")
    said = await alice.submit(f"/problems/{last.id}/remedy", {"choice": "use"}, follow_redirects=True)
    assert "Use the punches: done. 2 punches were judged again: 2 × Imported. The problem is closed." in said.text
    async with parts.database.transaction() as db:
        asked = RemedyAsked(parts, db, COMMAND_LINE, [one.subject_id for one in two], [{}, {}], "use")
        await desk.remedy_of("arrived_late").do(asked)
    assert asked.notes == ["4 punches were used."]


async def test_a_punch_that_changed_meanwhile_is_left_and_told(parts: Parts) -> None:
    """An import gives it another outcome while the remedy settles the punches of the day."""
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        bram = await employ(db, "Evermint Bram")
        for code in ("100", "200"):
            await mirror_person(db, code, bram)
            await stay(db, code, "only_one_punch", NOW - timedelta(days=2))
    await desk.look()
    problem, remedy = await desk.the("only_one_punch"), desk.remedy_of("only_one_punch")

    async def press() -> list[str]:
        async with parts.database.transaction() as db:
            asked = RemedyAsked(parts, db, COMMAND_LINE, [problem.subject_id], [problem.facts])
            await remedy.do(asked)
            return asked.notes

    async with parts.database.transaction() as db:
        await db.execute(update(Punch).where(Punch.emp_code == "200").values(import_outcome="overlaps"))
        pressed = asyncio.create_task(press())
        await until(lambda: db.scalar(WAITS_FOR_A_ROW))
    assert await pressed == ["1 punch has changed meanwhile. Nothing was done about it."]
    async with parts.database.transaction() as db:
        settled = select(Punch.emp_code).where(Punch.settled_at_utc.is_not(None))
        assert list(await db.scalars(settled)) == ["100"]


@pytest.mark.parametrize("bulk", [False, True])
async def test_a_problem_that_holds_more_than_the_page_showed_is_asked_about_again(
    parts: Parts, alice: Browser, bulk: bool
) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        bram = await employ(db, "Evermint Bram")
        await mirror_person(db, "100", bram)
        await stay(db, "100", "only_one_punch", NOW - timedelta(days=2))
    await desk.look()
    number = (await desk.the("only_one_punch")).id
    ticked = {"action": "remedy", "id": str(number)}
    asked = (await alice.submit("/problems/bulk", ticked)).text if bulk else (await alice.get("/problems")).text
    shown = dict(re.findall(r'name="(about|held|number)" value="([^"]*)"', asked))
    async with parts.database.transaction() as db:
        await stay(db, "100", "only_one_punch", NOW - timedelta(days=2, hours=1))
    await desk.look()
    if bulk:
        again = await alice.submit("/problems/bulk", {**ticked, **shown, "confirmed": "1"})
        assert 'name="held"' in again.text
    else:
        again = await alice.submit(f"/problems/{number}/remedy", shown)
        assert (again.status_code, "changed meanwhile" in again.text) == (409, True)
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Punch.id).where(Punch.settled_at_utc.is_not(None))) is None


async def test_most_people_of_a_department_are_one_problem(parts: Parts) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        bram = await employ(db, "Evermint Bram")
        await mirror_person(db, "100", bram, department_code="ward")
        for code in ("200", "300", "400"):
            await mirror_person(db, code, state="not_found", department_code="ward")
        await mirror_person(db, "500", state="disabled", department_code="ward")
        for code in ("200", "300", "500"):
            for hours in range(6):
                await stay(db, code, "not_bound", NOW - timedelta(hours=hours))
    await desk.look()
    assert {kind: len(titles) for kind, titles in (await desk.open()).items()} == {"not_found": 2, "code_disabled": 1}
    async with parts.database.transaction() as db:
        await stay(db, "400", "not_bound", NOW)
    await desk.look()
    department = await desk.the("department_unbound")
    assert (department.title, department.held_punches, department.held_people) == (
        "Most people of ward are not bound",
        13,
        3,
    )
    assert set(await desk.open()) == {"department_unbound", "code_disabled"}
    await desk.help("code_disabled")
    async with parts.database.transaction() as db:
        await db.execute(update(Punch).where(Punch.emp_code == "400").values(settled_at_utc=NOW, settled_by="B"))
        await db.execute(update(Punch).where(Punch.emp_code == "300").values(settled_at_utc=NOW, settled_by="B"))
    await desk.look()
    assert await desk.of("department_unbound", "code_disabled", "not_found") == [
        "No employee has the code 200 (Person 200)"
    ]
    await desk.help("not_found", "add")
    assert await desk.of("not_found") == []
