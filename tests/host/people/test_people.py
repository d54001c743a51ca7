"""Employees: what the verbs do, refuse, remember and tell."""

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.host.events import EmployeesChanged, KioskChanged
from app.host.models import KioskEnrolment
from app.host.people import kiosk, people
from app.host.people.people import EmployeeDetails
from tests.host.staff import ALICE, Ear, acts_on, employee_of, hire


async def test_adding_keeps_trimmed_details_and_says_so(db: AsyncSession, ear: Ear) -> None:
    details = EmployeeDetails(" A17 ", " Ada Lovelace ", email="ADA@Example.org ", department=" ", position="Analyst")
    employee_id = await people.add(db, ALICE, details)
    kept = await employee_of(db, employee_id)
    assert (kept.id_number, kept.id_number_key, kept.name) == ("A17", "a17", "Ada Lovelace")
    assert (kept.email, kept.department, kept.position, kept.active) == ("ada@example.org", None, "Analyst", True)
    assert ear.heard == [EmployeesChanged((employee_id,))]
    (act,) = await acts_on(db, "employee", employee_id)
    assert (act.act, act.actor_name, act.before) == ("employee.add", "Alice Ahn", None)
    assert act.after is not None
    assert act.after["name"] == "Ada Lovelace"


async def test_two_people_may_share_an_id_number(db: AsyncSession) -> None:
    await hire(db, "Ada", "7")
    await hire(db, "Grace", " 7 ")
    with pytest.raises(Conflict, match="share"):
        await people.one_with_id_number(db, "7")


async def test_an_id_number_is_found_whatever_its_case_and_spaces(db: AsyncSession) -> None:
    ada = await hire(db, "Ada", "Straße-9")
    assert await people.one_with_id_number(db, " STRASSE-9") == ada
    with pytest.raises(NotFound):
        await people.one_with_id_number(db, "9")


@pytest.mark.parametrize(
    ("details", "field"),
    [
        (EmployeeDetails("", "Ada"), "id_number"),
        (EmployeeDetails("1", " "), "name"),
        (EmployeeDetails("1", "A" * 201), "name"),
        (EmployeeDetails("1", "Ada\x00"), "name"),
        (EmployeeDetails("1", "Ada", email="nonsense"), "email"),
        (EmployeeDetails("1", "Ada", user_id=9999), "user_id"),
    ],
)
async def test_what_cannot_be_kept_is_refused_at_its_field(
    db: AsyncSession, details: EmployeeDetails, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await people.add(db, ALICE, details)
    assert [one.field for one in refused.value.details] == [field]


async def test_an_account_of_another_workspace_cannot_be_linked(db: AsyncSession) -> None:
    eve = await db.scalar(select(User.id).where(User.email == "eve@example.org"))
    bob = await db.scalar(select(User.id).where(User.email == "bob@example.org"))
    with pytest.raises(Invalid):
        await hire(db, user_id=eve)
    assert (await employee_of(db, await hire(db, user_id=bob))).user_id == bob


async def test_an_edit_keeps_before_and_after_of_what_changed_alone(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db, department="Mill")
    ear.heard.clear()
    assert await people.edit(db, ALICE, ada, EmployeeDetails("1", "Ada King", department="Mill"))
    assert (await employee_of(db, ada)).name == "Ada King"
    act = (await acts_on(db, "employee", ada))[-1]
    assert (act.before, act.after) == ({"name": "Ada Lovelace"}, {"name": "Ada King"})
    assert ear.heard == [EmployeesChanged((ada,))]


async def test_an_edit_that_changes_nothing_leaves_no_trace(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db)
    ear.heard.clear()
    assert not await people.edit(db, ALICE, ada, EmployeeDetails("1", "Ada Lovelace"))
    assert len(await acts_on(db, "employee", ada)) == 1
    assert ear.heard == []


async def test_editing_an_unknown_or_deleted_person_is_refused(db: AsyncSession) -> None:
    with pytest.raises(NotFound):
        await people.edit(db, ALICE, 404, EmployeeDetails("1", "Ada"))
    ada = await hire(db)
    await people.remove(db, ALICE, [ada])
    with pytest.raises(Conflict, match="Restore"):
        await people.edit(db, ALICE, ada, EmployeeDetails("1", "Ada"))


async def test_deactivating_changes_only_who_is_active(db: AsyncSession, ear: Ear) -> None:
    ada, grace = await hire(db), await hire(db, "Grace", "2", active=False)
    ear.heard.clear()
    assert await people.deactivate(db, ALICE, [grace, ada, 404]) == [ada]
    assert await people.deactivate(db, ALICE, [ada]) == []
    assert ear.heard == [EmployeesChanged((ada,))]
    assert await people.activate(db, ALICE, [ada, grace]) == [ada, grace]


async def test_deleting_frees_the_kiosk_codes_and_restoring_does_not_bring_them_back(
    db: AsyncSession, ear: Ear
) -> None:
    ada = await hire(db)
    await kiosk.enrol(db, ALICE, "17", ada)
    ear.heard.clear()
    assert await people.remove(db, ALICE, [ada]) == [ada]
    assert set(ear.heard) == {KioskChanged(("17",)), EmployeesChanged((ada,))}
    assert (await acts_on(db, "employee", ada))[-1].before == {"deleted": False, "kiosk_codes": ["17"]}
    assert await people.restore(db, ALICE, [ada]) == [ada]
    assert (await employee_of(db, ada)).deleted_at is None
    assert (await db.scalars(select(KioskEnrolment))).all() == []
    assert await people.remove(db, ALICE, [ada]) == [ada]
    # She has none by now, so the history has no word of codes.
    assert (await acts_on(db, "employee", ada))[-1].before == {"deleted": False}


async def test_no_person_of_another_workspace_is_reached(database: Database) -> None:
    async with database.transaction("globex") as theirs:
        eves = await hire(theirs, "Greta Globex")
    async with database.transaction() as ours:
        assert await people.remove(ours, ALICE, [eves]) == []
        with pytest.raises(NotFound):
            await people.edit(ours, ALICE, eves, EmployeeDetails("1", "Mallory"))
