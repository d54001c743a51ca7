"""`/people/{id}`: from a name to the codes, the records, the responses and the account,
each only for who may open it there."""

import re
from html import unescape

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.accounts.models import Role
from app.db.session import Database
from app.host.models import Employee
from app.parts import Parts
from app.surveys.models import PersonKey
from tests.clock.mirrored import connect, mirror_person, punch
from tests.conftest import Browser
from tests.host.staff import hire, work
from tests.markup import squeezed
from tests.surveys.recording import lunch, record, user_id

# What a person with the permission alone sees of Ada beside her own data: the text, and the permission that shows it.
PARTS = {
    "clock.employees": 'href="/clock_employees/',
    "host.attendance": "November 2026",
    "surveys.view": "/surveys/response_modal/",
    "admin.users": "/admin/users/",
}


@pytest.fixture
async def ada(database: Database, parts: Parts) -> int:
    """Ada has a code with two punches, records of two months, an account and a response."""
    nora = await user_id(database, "nora")
    async with database.transaction() as db:
        employee = await hire(db)
        await db.execute(update(Employee).where(Employee.id == employee).values(user_id=nora))
        await connect(db, "Europe/Berlin")
        await mirror_person(db, "A-77", employee, full_name="Lovelace A.", state="auto_matched")
        await punch(db, "A-77", "I 2026-11-20 08:00, O 2026-11-20 17:00", zone="Europe/Berlin")
        await work(db, employee, "08:00 2026-10-30", "16:30 2026-10-30")
        await work(db, employee, "08:00 2026-11-02", "17:00 2026-11-02")
        await work(db, employee, "08:00 2026-11-03", "17:30 2026-11-03")
        await work(db, employee, "08:00 2026-11-04")
    await record(database, parts.keys, await lunch(database), nora)
    return employee


async def test_a_name_leads_to_everything(ada: int, alice: Browser) -> None:
    text = (await alice.get(f"/people/{ada}")).text
    for words in (
        *PARTS.values(),
        "A-77",
        "Lovelace A.",
        "Auto-matched",
        "2026-11-20 17:00:00",
        "/clock_transactions?emp_code=A-77",
    ):
        assert words in text, words
    assert "Lunch" in text
    assert "nora@example.org" in text


async def test_records_are_told_by_month_newest_first(ada: int, alice: Browser) -> None:
    text = (await alice.get(f"/people/{ada}")).text
    rows = [squeezed(row) for row in re.findall(r"(?s)<tr><td data-title>.*?</tr>", text)]
    cells = [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]
    assert cells == [
        ["November 2026", "3", "3", "18 h 30 min", "3 pending,1 still open"],
        ["October 2026", "1", "1", "8 h 30 min", "1 pending"],
    ]
    link = f"/attendance/people/{ada}?from=2026-11-01&amp;to=2026-11-30"
    assert f'href="{link}"' in text
    assert "18 h 30 min worked" in (await alice.get(unescape(link))).text


@pytest.mark.parametrize("permission", PARTS)
async def test_a_part_shows_only_to_who_may_open_it_there(
    database: Database, ada: int, bob: Browser, permission: str
) -> None:
    await only(database, "Operator", "host.people", permission)
    text = (await bob.get(f"/people/{ada}")).text
    assert [one for one, words in PARTS.items() if words in text] == [permission]


@pytest.mark.parametrize(
    ("module", "hidden"), [("module_clock", "clock.employees"), ("module_surveys", "surveys.view")]
)
async def test_a_part_goes_with_its_module(
    database: Database, ada: int, alice: Browser, module: str, hidden: str
) -> None:
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {module: False})
    text = (await alice.get(f"/people/{ada}")).text
    assert [one for one, words in PARTS.items() if words not in text] == [hidden]


async def test_an_erased_response_leads_to_no_person(database: Database, ada: int, alice: Browser) -> None:
    async with database.transaction() as db:
        await db.execute(update(PersonKey).values(erased_at=PersonKey.created_at, sealed_key=None))
    text = (await alice.get(f"/people/{ada}")).text
    assert PARTS["surveys.view"] not in text
    assert "No response to a survey yet." not in text
    assert "Erased. The responses stay in the ledger without a person." in text


async def test_a_person_without_anything_has_no_empty_tiles(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        grace = await hire(db, "Grace Hopper", "2")
    text = (await alice.get(f"/people/{grace}")).text
    assert "No attendance record yet." in text
    for absent in ("Time clock</h3>", "Surveys</h3>", "Account</h3>"):
        assert absent not in text


async def test_a_person_without_a_code_is_led_to_the_codes(database: Database, ada: int, alice: Browser) -> None:
    async with database.transaction() as db:
        grace = await hire(db, "Grace Hopper", "2")
    assert "/clock_employees?q=Grace+Hopper" in (await alice.get(f"/people/{grace}")).text


async def test_an_account_leads_to_its_person(database: Database, ada: int, alice: Browser, bob: Browser) -> None:
    nora = await user_id(database, "nora")
    assert f'href="/people/{ada}"' in (await alice.get(f"/admin/users/{nora}")).text
    await only(database, "Operator", "admin.users")
    assert "/people/" not in (await bob.get(f"/admin/users/{nora}")).text


async def test_each_part_costs_one_select(database: Database, ada: int, alice: Browser, selects: list[str]) -> None:
    selects.clear()
    assert (await alice.get(f"/people/{ada}")).status_code == 200
    assert len(selects) <= 9, selects


async def only(database: Database, role: str, *permissions: str) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == role).values(permissions=list(permissions)))
