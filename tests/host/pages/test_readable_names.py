"""Names that reverse what stands beside them, or of which nothing is seen, are refused.
Where one is stored, pages show it without that."""

import re

import pytest
from sqlalchemy import select, update

from app.accounts import accounts
from app.clock.models import ClockEmployee
from app.db.session import Database
from app.errors import Invalid
from app.host.models import Employee
from tests.clock.mirrored import connect, mirror_person
from tests.conftest import Browser
from tests.host.staff import ALICE, hire

TURNED = "Ada\u202egnp.exe"


@pytest.mark.parametrize(
    ("url", "name", "others"),
    [
        ("/people/add", "name", {"id_number": "9", "active": "1"}),
        ("/people/add", "department", {"id_number": "9", "name": "Ada", "active": "1"}),
        ("/apps/add", "name", {"platforms": "web", "description": "x"}),
        ("/admin/roles/new", "name", {"permissions": "host.people"}),
        ("/admin/users/new", "name", {"email": "eve@example.org", "type": "staff"}),
    ],
)
async def test_a_name_that_turns_what_follows_is_refused_at_its_field(
    alice: Browser, url: str, name: str, others: dict[str, str]
) -> None:
    answer = await alice.submit(url, {**others, name: TURNED})
    assert answer.status_code == 422
    said = re.search(rf'id="f-{name}-error">.*?</svg>([^<]*)', answer.text)
    assert said
    assert "can&#39;t be stored" in said[1]


@pytest.mark.parametrize("name", ["\u3164", "\u200b\u2060", "\u2800"])
async def test_a_name_of_which_nothing_is_seen_is_none(alice: Browser, database: Database, name: str) -> None:
    """Its link could not be seen."""
    answer = await alice.submit("/people/add", {"id_number": "9", "name": name, "active": "1"})
    assert answer.status_code == 422
    assert "This is needed." in answer.text
    async with database.transaction() as db:
        with pytest.raises(Invalid, match="Give a name"):
            await accounts.create(db, ALICE, accounts.NewUser("eve@example.org", name, "staff"))


async def test_pages_show_a_stored_name_without_the_turn_and_forms_keep_it(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
        await db.execute(update(Employee).values(name=TURNED))
    for url in ("/people", f"/people/{ada}"):
        page = (await alice.get(url)).text
        assert "Adagnp.exe" in page
        assert "\u202e" not in page
    form = (await alice.get(f"/people/{ada}/edit")).text
    assert f'value="{TURNED}"' in form
    assert "\u202e" not in form.replace(f'value="{TURNED}"', "")


async def test_a_turned_name_from_the_time_clock_is_mirrored_and_added_without_the_turn(
    alice: Browser, database: Database
) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "7", full_name=TURNED)
        person = await db.scalar(select(ClockEmployee.id))
    for url in ("/clock_employees", f"/clock_employees/{person}"):
        page = (await alice.get(url)).text
        assert "Adagnp.exe" in page
        assert "\u202e" not in page
    await alice.submit(f"/clock_employees/{person}/add", {})
    async with database.transaction() as db:
        assert await db.scalar(select(Employee.name)) == "Ada gnp.exe"
