"""Kiosk enrolments: one code, one person."""

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.host.events import KioskChanged
from app.host.models import KioskEnrolment
from app.host.people import kiosk, people
from tests.conftest import Browser
from tests.host.staff import ALICE, Ear, acts_on, hire


async def test_a_code_is_enrolled_trimmed_and_told(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db)
    ear.heard.clear()
    await kiosk.enrol(db, ALICE, " 0017 ", ada)
    kept = (await db.execute(select(KioskEnrolment.code, KioskEnrolment.employee_id))).all()
    assert kept == [("0017", ada)]
    assert ear.heard == [KioskChanged(("0017",))]
    assert (await acts_on(db, "employee", ada))[-1].after == {"code": "0017"}


async def test_a_person_may_have_several_codes(db: AsyncSession) -> None:
    ada = await hire(db)
    first, second = [await kiosk.enrol(db, ALICE, code, ada) for code in ("17", "18")]
    assert sorted(await kiosk.remove(db, ALICE, [first, second])) == ["17", "18"]


async def test_a_taken_code_is_refused_with_the_name_of_who_has_it(db: AsyncSession) -> None:
    await kiosk.enrol(db, ALICE, "17", await hire(db))
    with pytest.raises(Conflict, match="Ada Lovelace"):
        await kiosk.enrol(db, ALICE, "17", await hire(db, "Grace", "2"))


async def test_a_removed_code_is_free_again(db: AsyncSession, ear: Ear) -> None:
    enrolment = await kiosk.enrol(db, ALICE, "17", await hire(db))
    ear.heard.clear()
    assert await kiosk.remove(db, ALICE, [enrolment, 404]) == ["17"]
    assert await kiosk.remove(db, ALICE, [enrolment]) == []
    assert ear.heard == [KioskChanged(("17",))]
    await kiosk.enrol(db, ALICE, "17", await hire(db, "Grace", "2"))


@pytest.mark.parametrize("code", ["", "  ", "1" * 51, "1\x002"])
async def test_a_code_that_cannot_be_kept_is_refused(db: AsyncSession, code: str) -> None:
    with pytest.raises(Invalid):
        await kiosk.enrol(db, ALICE, code, await hire(db))


async def test_an_unknown_and_a_deleted_person_get_no_code(db: AsyncSession) -> None:
    with pytest.raises(NotFound):
        await kiosk.enrol(db, ALICE, "17", 404)
    ada = await hire(db)
    await people.remove(db, ALICE, [ada])
    with pytest.raises(Conflict, match="deleted"):
        await kiosk.enrol(db, ALICE, "17", ada)


async def test_a_code_is_enrolled_and_removed_in_the_browser(database: Database, bob: Browser) -> None:
    async with database.transaction() as db:
        await hire(db)
    answer = await bob.submit("/kiosk/enrol", {"code": "17", "employee": "1"})
    assert answer.status_code == 303
    shown = (await bob.get("/kiosk")).text
    assert "Ada Lovelace" in shown
    taken = await bob.submit("/kiosk/enrol", {"code": "17", "employee": "1"})
    assert taken.status_code == 422
    assert "taken: Ada Lovelace has this code" in taken.text
    assert "No employee has the ID number 9" in (await bob.submit("/kiosk/enrol", {"code": "18", "employee": "9"})).text
    question = await bob.submit("/kiosk/bulk", {"action": "remove", "all": "1"})
    assert "Remove 1 kiosk code?" in question.text
    await bob.submit("/kiosk/bulk", {"action": "remove", "all": "1", "confirmed": "1", "number": "1"})
    assert "1 code is free now." in (await bob.get("/kiosk")).text
    async with database.transaction() as db:
        assert (await db.scalars(select(KioskEnrolment))).all() == []


async def test_the_kiosk_page_needs_its_permission_and_shows_only_its_workspace(
    database: Database, visitor: Browser, vera: Browser, eve: Browser, alice: Browser
) -> None:
    async with database.transaction() as db:
        await kiosk.enrol(db, ALICE, "K17", await hire(db))
    for url in ("/kiosk", "/kiosk/enrol"):
        assert (await visitor.get(url)).status_code == 303
        assert (await vera.get(url)).status_code == 403
        assert "<html" not in (await alice.fragment(url)).text
    assert "K17" not in (await eve.get("/kiosk")).text
    assert (await vera.submit("/kiosk/enrol", {"code": "1", "employee": "1"})).status_code == 403
    assert (await vera.submit("/kiosk/bulk", {"action": "remove", "all": "1"})).status_code == 403
