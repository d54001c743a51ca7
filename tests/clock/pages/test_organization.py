"""`/clock_organization`: trees with head counts, remarks, and units that point at nothing or at themselves."""

import json

import pytest
from sqlalchemy import insert, select

from app.accounts.models import AuditEntry
from app.clock.models import Area, ClockEmployee, Department, Device

URL = "/clock_organization"


@pytest.fixture
async def company(database):
    """Works holds Assembly and Paint; Assembly holds Night. Lost points nowhere, Ring and Rong at each other."""
    departments = [
        ("1", "Works", None), ("2", "Paint", "1"), ("3", "Assembly", "1"), ("4", "Night", "3"),
        ("5", "Lost", "99"), ("6", "Ring", "7"), ("7", "Rong", "6"), ("8", "Self", "8"),
    ]  # fmt: skip
    async with database.transaction("main") as db:
        await db.execute(
            insert(Department),
            [{"code": code, "name": name, "parent_code": parent} for code, name, parent in departments],
        )
        await db.execute(insert(Area), [{"code": "A", "name": "Hall"}])
        await db.execute(insert(Device), [{"sn": "T1", "area_code": "A"}, {"sn": "T2", "area_code": "A"}])
        people = [("10", "1"), ("11", "3"), ("12", "4"), ("13", "4"), ("14", "2")]
        await db.execute(
            insert(ClockEmployee),
            [
                {"emp_code": code, "full_name": code, "department_code": unit, "area_codes": ["A"]}
                for code, unit in people
            ],
        )


def names(text):
    return [
        line.split('aria-label="Remarks on ')[1].split('"')[0]
        for line in text.splitlines()
        if 'aria-label="Remarks on' in line
    ]


async def test_units_stand_behind_their_parents_and_none_is_left_out(bob, company):
    text = (await bob.get(URL)).text
    assert names(text) == ["Lost", "Ring", "Rong", "Self", "Works", "Assembly", "Night", "Paint"]
    assert 'data-depth="2"' in text


async def test_people_are_counted_here_and_below(bob, company):
    lines = (await bob.get(f"{URL}?export=jsonl")).text.splitlines()
    counts = {line.split('"tree":"')[1].split('"')[0]: line for line in lines}
    assert '"people":1,"people_below":5' in counts["Works"]
    assert '"people":1,"people_below":3' in counts["Assembly"]
    assert '"people":2,"people_below":2' in counts["Night"]
    assert '"people":0,"people_below":0' in counts["Ring"]


async def test_the_list_and_its_export_name_the_parent(bob, company):
    lines = (await bob.get(f"{URL}?export=jsonl")).text.splitlines()
    rows = {row["tree"]: row for row in map(json.loads, lines)}
    parents = {name: row["parent"] for name, row in rows.items()}
    assert parents == {
        "Works": None, "Paint": "1", "Assembly": "1", "Night": "3", "Lost": "99", "Ring": "7", "Rong": "6", "Self": "8",
    }  # fmt: skip
    assert 'title="Assembly">3</td>' in (await bob.get(URL)).text


async def test_the_parents_name_waits_in_the_column_chooser(bob, company):
    lines = (await bob.get(f"{URL}?export=csv")).text.splitlines()
    assert "Parent" in lines[0]
    assert "name" not in lines[0]


async def test_areas_count_people_and_terminals(bob, company):
    lines = (await bob.get(f"{URL}/areas?export=jsonl")).text
    assert '"people":5,"people_below":5,"terminals":2' in lines


async def test_remarks_stay_and_are_audited(bob, company, database):
    answer = await bob.submit(f"{URL}/departments/1/remarks", {"remarks": " The old hall ", "back": f"{URL}?q=w"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{URL}?q=w")
    async with database.transaction("main") as db:
        assert await db.scalar(select(Department.remarks).where(Department.id == 1)) == "The old hall"
        entry = (await db.execute(select(AuditEntry.before, AuditEntry.after))).one()
        assert tuple(entry) == ({"remarks": None}, {"remarks": "The old hall"})
    await bob.submit(f"{URL}/departments/1/remarks", {"remarks": "The old hall"})
    async with database.transaction("main") as db:
        assert len((await db.execute(select(AuditEntry.id))).all()) == 1


async def test_remarks_that_are_too_long_are_refused(bob, company):
    assert (await bob.submit(f"{URL}/departments/1/remarks", {"remarks": "x" * 1001})).status_code == 422


async def test_a_viewer_reads_and_cannot_write(vera, company):
    assert "Save the remarks" not in (await vera.get(URL)).text
    assert (await vera.submit(f"{URL}/departments/1/remarks", {"remarks": "x"})).status_code == 403


async def test_another_workspace_has_its_own(eve, company):
    assert "No departments yet" in (await eve.get(URL)).text
    assert (await eve.submit(f"{URL}/departments/1/remarks", {"remarks": "x"})).status_code == 404
    assert (await eve.get(f"{URL}/planets")).status_code == 404
