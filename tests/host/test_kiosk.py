"""Kiosk enrolments: one code, one person."""

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import Conflict, Invalid, NotFound
from app.host import kiosk, people
from app.host.events import KioskChanged
from app.host.models import KioskEnrolment
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


async def test_nobody_and_somebody_deleted_get_no_code(db: AsyncSession) -> None:
    with pytest.raises(NotFound):
        await kiosk.enrol(db, ALICE, "17", 404)
    ada = await hire(db)
    await people.remove(db, ALICE, [ada])
    with pytest.raises(Conflict, match="deleted"):
        await kiosk.enrol(db, ALICE, "17", ada)
