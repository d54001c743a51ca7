"""What problems call people, terminals and departments, and that a new name shows at the next look."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from app.clock.models import Binding, Department, Device, Setting
from app.clock.problems.code_facts import CODES
from app.errors import Conflict
from app.host.models import Employee
from app.parts import Parts
from app.problems.models import Problem
from tests.benchmarks.explained import watch
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk

NOW = datetime.now(UTC).replace(microsecond=0)


async def unknown_code(parts: Parts, code: str) -> Desk:
    """Punches of a code that was not found."""
    async with parts.database.transaction() as db:
        await mirror_person(db, code, state="not_found", full_name="Lind N.")
        await stay(db, code, "not_bound", NOW)
    return Desk(parts)


@pytest.mark.parametrize(
    ("number", "more", "said", "way"),
    [
        ("4711", {"active": False}, "Nora Lind has the ID number 4711, but is inactive", "Activate and bind Nora Lind"),
        ("4711", {"deleted_at": NOW}, "Nora Lind has the ID number 4711, but was deleted", "Match again"),
        ("04711", {"active": False}, "No employee has the code 4711 (Lind N.)", "Add as employee"),
    ],
)
async def test_somebody_who_left_has_the_number(
    parts: Parts, number: str, more: dict[str, object], said: str, way: str
) -> None:
    desk = await unknown_code(parts, "4711")
    async with parts.database.transaction() as db:
        await employ(db, "Nora Lind", number, **more)
    await desk.look()
    problem = await desk.the("not_found")
    assert problem.title == said
    remedy = desk.remedy_of("not_found")
    assert remedy.label_for(problem.facts) == way
    if way != "Add as employee":
        assert "add" not in dict(remedy.choices_for(problem.facts))


async def test_of_those_who_left_only_who_has_a_number_that_waits_is_gathered(parts: Parts) -> None:
    await unknown_code(parts, "4711")
    async with parts.database.transaction() as db:
        for number in range(4701, 4721):
            await employ(db, f"Nora {number}", f"{number}", active=False)
        with watch(parts.database.engine) as found:
            (row,) = (await db.execute(CODES.select)).all()
    assert [one["name"] for one in row.facts["left"]] == ["Nora 4711"]
    (read,) = found.reads
    (gathered,) = [one for one in parts_of(read.plan) if one.get("Subplan Name") == "CTE leavers"]
    assert gathered["Actual Rows"] == 1


def parts_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(deeper for one in plan.get("Plans", ()) for deeper in parts_of(one))]


async def test_leading_zeros_count_as_the_setting_says(parts: Parts) -> None:
    desk = await unknown_code(parts, "0047")
    async with parts.database.transaction() as db:
        await employ(db, "Nora Lind", "47", active=False)
        db.add(Setting(name="ignore_leading_zeros", value=True))
    await desk.look()
    assert (await desk.the("not_found")).title == "Nora Lind has the ID number 0047, but is inactive"


async def test_the_code_is_bound_to_the_one_who_has_the_number(parts: Parts) -> None:
    desk = await unknown_code(parts, "4711")
    async with parts.database.transaction() as db:
        nora = await employ(db, "Nora Lind", "4711", active=False)
    await desk.look()
    await desk.help("not_found", "activate")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(Binding.host_employee_id)) == nora
        assert await db.scalar(select(Employee.active))
    assert await desk.of("not_found") == []


async def test_binding_that_would_change_others_is_left_to_the_page_that_asks(parts: Parts) -> None:
    desk = await unknown_code(parts, "4711")
    async with parts.database.transaction() as db:
        await mirror_person(db, "99", await employ(db, "Nora Lind", "4711", active=False))
    await desk.look()
    with pytest.raises(Conflict, match="Open its page"):
        await desk.help("not_found", "activate")


async def test_terminals_have_their_names_and_a_serial_number_where_one_repeats(parts: Parts) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        for sn, alias in (("A1", "Gate"), ("A2", "Gate"), ("B1", "Door")):
            await mirror_terminal(db, sn, alias=alias, state="offline", last_activity_at=NOW - timedelta(hours=3))
            await mirror_person(db, sn)
            await stay(db, sn, "only_one_punch", NOW, sn=sn)
    await desk.look()
    async with parts.database.transaction() as db:
        facts = await db.scalars(select(Problem.facts).where(Problem.kind == "only_one_punch"))
        assert {one["terminal_name"] for one in facts} == {"Gate (A1)", "Gate (A2)", "Door"}
    assert {title.partition(" has")[0] for title in await desk.of("terminal_offline")} == {
        "Terminal Gate (A1)", "Terminal Gate (A2)", "Terminal Door"
    }  # fmt: skip


async def test_a_new_name_shows_at_the_next_look(parts: Parts) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW)
        await mirror_terminal(db, "T1", alias="Gate", state="offline", last_activity_at=NOW - timedelta(hours=3))
        db.add(Department(code="ward", name="Ward"))
        bram = await employ(db, "Bram Evermint")
        await mirror_person(db, "100", bram, department_code="ward")
        await stay(db, "100", "only_one_punch", NOW)
        for code in ("200", "300"):
            await mirror_person(db, code, state="not_found", department_code="ward")
            for hours in range(6):
                await stay(db, code, "not_bound", NOW - timedelta(hours=hours))
    await desk.look()
    before = await desk.open()
    async with parts.database.transaction() as db:
        await db.execute(update(Employee).values(name="Bram Linden"))
        await db.execute(update(Device).values(alias="Door"))
        await db.execute(update(Department).values(name="Office"))
    await desk.look()
    said = str(before).replace("Bram Evermint", "Bram Linden").replace("Gate", "Door").replace("Ward", "Office")
    assert (str(await desk.open()), said == str(before)) == (said, False)
    assert set(before) == {"terminal_offline", "only_one_punch", "department_unbound"}
