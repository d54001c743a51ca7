"""The audit names people: also former ones, and never one who was erased. And it says by what a person acted."""

from typing import Any

import pytest
from sqlalchemy import delete, update

from app.accounts.audit import COMMAND_LINE, SYSTEM, Actor, record
from app.accounts.erased import ERASE, ERASED_PERSON
from app.accounts.models import User
from app.clock.models import Binding, ClockEmployee
from app.db.session import Database
from app.host.attendance import records
from app.host.pages.admin.audit_list import rows
from app.host.people import people
from app.host.people.people import EmployeeDetails
from tests.conftest import Browser
from tests.host.pages.admin.test_audit import entry
from tests.host.staff import ALICE, hire, hours, work
from tests.markup import squeezed

BOB, NORA = 2, 4
EVERY = "columns=at&columns=actor&columns=act&columns=code&columns=subject&columns=changes"


async def erase(database: Database, user_id: int, workspace: str = "main") -> None:
    async with database.transaction(workspace) as db:
        await record(db, SYSTEM, ERASE, "user", user_id, before={"keys": 1}, after={"keys": 0})


@pytest.fixture
async def nora(database: Database) -> int:
    """A person on the payroll with the account of Nora, and once with another name. Returns the employee's id."""
    async with database.transaction() as db:
        hired = await hire(db, "Nora Nemecek", "4", email="nora@private.example", user_id=NORA)
        await people.edit(
            db, ALICE, hired, EmployeeDetails("4", "Nora Nemo", email="nora@private.example", user_id=NORA)
        )
    return hired


async def test_what_an_act_was_done_to_has_the_name_of_the_person(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db, "Ada Lovelace")
        shift = await work(db, ada, "08:00", "16:00")
        clocked = ClockEmployee(emp_code="17", full_name="Bram Evermint")
        db.add(clocked)
        await db.flush()
        db.add(Binding(clock_employee_id=clocked.id, emp_code="17"))
        for kind, subject in (("user", BOB), ("clock_binding", "17"), ("clock_employee", clocked.id)):
            await record(db, COMMAND_LINE, "x", kind, subject)
    text = (await alice.get("/admin/audit")).text
    for label in (
        "User “Bob Brandt”",
        "Person “Ada Lovelace”",
        f"Record {shift} (Ada Lovelace)",
        "Code 17 (Bram Evermint)",
        f"Clock employee {clocked.id} (Bram Evermint)",
    ):
        assert f">{label}</a>" in text


async def test_former_people_keep_their_names(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        ada = await hire(db, "Ada Lovelace")
        await people.remove(db, ALICE, [ada])
    await entry(database, "user.create", subject_id=str(NORA), after={"name": "Nora Nemo"})
    await entry(database, "user.edit", subject_id=str(NORA), after={"type": "staff"})
    left = await entry(database, "role.add", actor_id=NORA, actor_name="Nora Nemo", subject_type="role")
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.id == BOB).values(active=False))
        await db.execute(delete(User).where(User.id == NORA))
    await entry(database, "user.deactivate", subject_id=str(BOB))
    text = (await alice.get("/admin/audit")).text
    assert text.count(">Person “Ada Lovelace”</a>") == 2
    assert ">User “Bob Brandt”</a>" in text
    assert text.count("User “Nora Nemo”") == 2, "the account is gone, its name was noted"
    assert "User “Nora Nemo”</a>" not in text
    assert "Nora Nemo" in (await alice.get(f"/admin/audit/{left}")).text


async def test_people_in_the_values_have_their_names_too_and_erased_ones_none(
    alice: Browser, database: Database, nora: int
) -> None:
    async with database.transaction() as db:
        ada, bram = await hire(db, "Ada Lovelace"), await hire(db, "Bram Evermint")
        await people.remove(db, ALICE, [bram])
    values: dict[str, Any] = {"subject_type": "attendance", "subject_id": "9"}
    moved = [
        await entry(database, "clock.move_record", **values, before={"employee_id": was}, after={"employee_id": now})
        for was, now in ((ada, bram), (nora, 987))
    ]
    linked = await entry(database, "employee.edit", subject_type="employee", before={"user_id": BOB}, after={})
    shown = [squeezed((await alice.get(f"/admin/audit/{one}")).text) for one in (*moved, linked)]
    for text, names in zip(
        shown, (("Ada Lovelace", "Bram Evermint"), ("Nora Nemo", "Person 987"), ("Bob",)), strict=True
    ):
        assert all(name in text for name in names)
    await erase(database, NORA)
    hidden = squeezed((await alice.get(f"/admin/audit/{moved[1]}")).text)
    assert "Nora" not in hidden
    assert ERASED_PERSON in hidden


async def seen_everywhere(browser: Browser, database: Database, query: str = "") -> str:
    """All that the audit shows: list, exports and each entry."""
    pages = [(await browser.get(f"/admin/audit?{EVERY}&{query}")).text]
    pages += [(await browser.get(f"/admin/audit?{EVERY}&{query}&export={kind}")).text for kind in ("csv", "jsonl")]
    for number in range(1, 40):
        answer = await browser.get(f"/admin/audit/{number}")
        pages += [answer.text] if answer.status_code == 200 else []
    assert len(pages) > 8
    return "".join(pages)


async def test_an_erased_person_is_named_nowhere_in_the_audit(alice: Browser, database: Database, nora: int) -> None:
    async with database.transaction() as db:
        shift = await work(db, nora, "08:00", "16:00")
        noted = "Nora Nemo called, then NORA@example.org wrote"
        ada = await hire(db, "Ada Lovelace", "9", position="Nora Nemo's desk")
        await people.edit(db, Actor(NORA, "Nora Nemo"), ada, EmployeeDetails("9", "Ada Byron", position="Clerk"))
        await records.edit(db, Actor(NORA, "Nora Nemo", token="Nora's phone"), shift, hours("08:00", "15:00"), noted)
    await entry(
        database, "user.edit", subject_id=str(NORA), before={"name": "Nora Nemecek"}, after={"name": "Nora Nemo"}
    )
    await entry(database, "role.add", actor_id=NORA, actor_name="Nora Newman", subject_type="role", subject_id="1")
    await entry(
        database, "token.create", subject_type="token", subject_id="5", after={"owner": "nora nemo, Nora Newman"}
    )
    before = await seen_everywhere(alice, database)
    names = ("Nora Nemo", "Nora Nemecek", "Nora Newman", "nora@private.example", "NORA@example.org", "Nora&#39;s phone")
    assert [one for one in names if one not in before] == []
    await erase(database, NORA)
    text = await seen_everywhere(alice, database)
    assert "nora" not in text.casefold()
    assert f"Record {shift} ({ERASED_PERSON})" in text
    assert f"{ERASED_PERSON}, by an API token" in text
    assert f"{ERASED_PERSON} called, then {ERASED_PERSON} wrote" in text
    async with database.transaction() as db:
        told = [{**one, "before": None, "after": None} for one in (await db.execute(rows("main"))).mappings()]
    assert told
    assert "Nora" not in str(told), "the names do not even leave the database"
    page = " ".join((await alice.get(f"/people/{ada}")).text.partition("<main")[2].split())
    assert f"· {ERASED_PERSON} · <strong>Person edited</strong>" in page
    assert f"Position: {ERASED_PERSON}&#39;s desk → Clerk" in page
    assert "nora" not in page.casefold()


async def test_an_erased_person_is_found_by_number_and_not_by_name(
    alice: Browser, database: Database, nora: int
) -> None:
    await entry(database, "role.add", actor_id=NORA, actor_name="Nora Nemo", subject_type="role", subject_id="1")
    await erase(database, NORA)
    for name in ("actor=nora", "person=nora", "person=nemo", "person=nora%40example.org", "subject=nora"):
        assert "Nothing matches these filters" in squeezed((await alice.get(f"/admin/audit?{name}")).text), name
    for query, acts in (
        ("actor=erased+person", {"Role made"}),
        (f"person=user+{NORA}", {"Role made", "Person added", "Person edited", "Evidence of a person erased"}),
        (f"person=person+{nora}", {"Role made", "Person added", "Person edited", "Evidence of a person erased"}),
        (f"subject=person+{nora}", {"Person added", "Person edited"}),
    ):
        text = (await alice.fragment(f"/admin/audit?{query}")).text
        shown = {"Role made", "Person added", "Person edited", "Evidence of a person erased"}
        assert {act for act in shown if f">{act}</td>" in text} == acts, query


async def test_words_of_muster_stay_where_a_person_is_called_the_same(alice: Browser, database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.id == NORA).values(name="Viewer"))
    await erase(database, NORA)
    number = await entry(database, "user.edit", before={"roles": ["Viewer"]}, after={"roles": [], "name": "Viewers"})
    text = (await alice.get(f"/admin/audit/{number}")).text
    assert "<del>Viewer</del>" in text
    assert "<ins>Viewers</ins>" in text, "only whole words are names"


async def test_an_operator_of_the_platform_who_was_erased_is_not_named_in_a_tenant(
    eve: Browser, database: Database
) -> None:
    number = await entry(
        database,
        "role.add",
        workspace="globex",
        actor_id=BOB,
        actor_name="Bob Brandt",
        subject_type="role",
        after={"note": "for Bob Brandt"},
    )
    assert "Bob Brandt" in (await eve.get("/admin/audit")).text
    await erase(database, BOB)
    assert "Brandt" not in (await eve.get("/admin/audit")).text
    assert "Brandt" not in (await eve.get(f"/admin/audit/{number}")).text


async def test_a_person_of_another_workspace_lends_no_name(eve: Browser, database: Database) -> None:
    await entry(database, "user.edit", workspace="globex", subject_id=str(BOB))
    await entry(database, "token.revoke", workspace="globex", subject_type="token", subject_id="1")
    text = (await eve.get("/admin/audit")).text
    assert f"An account that no longer exists here, number {BOB}" in text
    assert "Brandt" not in text


async def test_an_account_that_is_gone_has_the_name_under_which_it_acted(alice: Browser, database: Database) -> None:
    await entry(database, "user.sign_out", subject_id="286", actor_id=286, actor_name="Olga Old")
    await entry(database, "user.sign_out", subject_id="286", actor_id=286, actor_name="Olga Orr")
    about = await entry(database, "employee.edit", subject_type="employee", subject_id="1", after={"user_id": 286})
    text = (await alice.get("/admin/audit")).text
    assert "User “Olga Orr”" in text
    assert "no longer exists" not in text
    assert "Olga Orr" in (await alice.get(f"/admin/audit/{about}")).text
    await erase(database, 286)
    for address in ("/admin/audit", f"/admin/audit/{about}"):
        assert "Olga" not in (await alice.get(address)).text, address


async def test_an_account_without_any_name_is_said_to_be_gone(alice: Browser, database: Database) -> None:
    await entry(database, "user.sign_out", subject_id="286")
    about = await entry(database, "employee.edit", subject_type="employee", subject_id="1", after={"user_id": 287})
    said = "An account that no longer exists here, number"
    assert f"{said} 286" in (await alice.get("/admin/audit")).text
    assert f"{said} 287" in (await alice.get(f"/admin/audit/{about}")).text
    found = await alice.get(f"/admin/audit?subject={said} 286".replace(" ", "+"))
    assert f"{said} 286" in found.text


async def test_a_person_is_found_with_all_that_they_did_and_that_was_done_to_them(
    alice: Browser, database: Database, nora: int
) -> None:
    async with database.transaction() as db:
        await work(db, nora, "08:00", "16:00")
        await hire(db, "Ada Lovelace", "9")
    await entry(database, "role.add", actor_id=NORA, actor_name="Nora Nemo", subject_type="role", subject_id="1")
    await entry(database, "user.edit", subject_id=str(NORA))
    await entry(database, "user.create", subject_id=str(BOB))
    hers = {"Role made", "User edited", "Record added by hand", "Person added", "Person edited"}
    for query in ("nemo", "NORA+nemo", "nora%40example", f"user+{NORA}", f"User+{NORA}", f"person+{nora}"):
        text = (await alice.fragment(f"/admin/audit?person={query}")).text
        assert {act for act in (*hers, "User made") if f">{act}</td>" in text} == hers, query
        assert text.count(">Person added</td>") == 1, query
    assert "Nothing matches these filters" in squeezed((await alice.get("/admin/audit?person=user+98")).text)
    found = (await alice.fragment("/admin/audit?subject=nemo")).text
    assert ">Role made</td>" not in found
    assert ">Record added by hand</td>" in found


async def test_an_act_by_an_api_token_names_the_token(alice: Browser, token: object, visitor: Browser) -> None:
    text = await token("bob", "me")  # type: ignore[operator]
    ended = await visitor.delete("/v1/api/auth/token", headers={"Authorization": f"Bearer {text}"})
    assert ended.status_code == 200
    for query in ("", "?by=token", "?actor=test"):
        assert "Bob Brandt, by the API token “test”" in (await alice.get(f"/admin/audit{query}")).text
    assert "by the API token" not in (await alice.get("/admin/audit?by=person")).text


async def test_names_cost_no_statement_a_row(alice: Browser, database: Database, selects: list[str]) -> None:
    async with database.transaction() as db:
        for number in range(30):
            await work(db, await hire(db, f"Ada {number}", str(number)), "08:00", "16:00")
    await erase(database, NORA)
    selects.clear()
    text = (await alice.get("/admin/audit")).text
    assert text.count("(Ada ") >= 20
    assert len(selects) == 3
