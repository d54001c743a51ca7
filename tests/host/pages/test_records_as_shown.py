"""Records of attendance are decided and deleted as a page showed them: those that changed meanwhile are left."""

import pytest
from sqlalchemy import select

from app.db.session import Database
from app.host.attendance import records as attendance
from app.host.models import AttendanceRecord
from app.parts import Parts
from app.web.long_acts import bulk
from tests.conftest import Browser
from tests.host.pages.test_acts import carry_on
from tests.host.staff import ALICE, hire, hours, work
from tests.rendered_forms import asked_with

BULK = "/attendance/bulk"
ON_ALL_RECORDS = {"action": "approved", "all": "1"}


async def worked_on(database: Database, *days: str) -> list[int]:
    """Records of Ada, 08:00 to 17:00."""
    async with database.transaction() as db:
        ada = await hire(db)
        return [await work(db, ada, f"08:00 2026-11-{day}", f"17:00 2026-11-{day}") for day in days]


async def edit(database: Database, record_id: int, day: str) -> None:
    async with database.transaction() as db:
        await attendance.edit(db, ALICE, record_id, hours(f"02:00 2026-11-{day}", f"23:30 2026-11-{day}"))


async def pending(database: Database) -> list[int]:
    """The records that are neither decided nor deleted."""
    which = AttendanceRecord.status == "pending", AttendanceRecord.deleted_at.is_(None)
    async with database.transaction() as db:
        return list(await db.scalars(select(AttendanceRecord.id).where(*which).order_by(AttendanceRecord.id)))


@pytest.mark.parametrize(
    ("page", "act", "given"), [("", "decide", {"status": "approved"}), ("/delete", "delete", {})], ids=str
)
async def test_hours_that_the_page_did_not_show_are_neither_approved_nor_deleted(
    database: Database, bob: Browser, page: str, act: str, given: dict[str, str]
) -> None:
    (record_id,) = await worked_on(database, "20")
    url = f"/attendance/{record_id}"
    shown = asked_with((await bob.get(url + page)).text, f"{url}/{act}")
    await edit(database, record_id, "20")
    refused = await bob.submit(f"{url}/{act}", {**shown, **given})
    assert (refused.status_code, "changed since you opened it" in refused.text) == (409, True)
    assert await pending(database) == [record_id]
    again = asked_with((await bob.get(url + page)).text, f"{url}/{act}")
    assert (await bob.submit(f"{url}/{act}", {**again, **given})).status_code == 303
    assert await pending(database) == []


async def test_a_button_that_is_pressed_twice_says_that_the_record_is_approved_already(
    database: Database, bob: Browser
) -> None:
    (record_id,) = await worked_on(database, "20")
    url = f"/attendance/{record_id}/decide"
    shown = {**asked_with((await bob.get(f"/attendance/{record_id}")).text, url), "status": "approved"}
    assert [(await bob.submit(url, shown)).status_code for _ in range(2)] == [303, 303]
    assert "approved already" in (await bob.get("/attendance")).text


@pytest.mark.parametrize("action", ["approved", "delete"])
async def test_a_bulk_act_leaves_the_records_that_changed_after_its_question(
    database: Database, bob: Browser, action: str
) -> None:
    ids = await worked_on(database, "18", "19", "20")
    asked = await bob.submit(BULK, {"action": action, "id": [str(one) for one in ids]})
    await edit(database, ids[1], "19")
    assert (await bob.submit(BULK, asked_with(asked.text, BULK))).status_code == 303
    assert await pending(database) == [ids[1]]
    said = (await bob.get("/attendance")).text
    assert f"2 records were {action}" in said
    assert "1 record changed meanwhile and was left as it is." in said


async def test_a_job_leaves_the_records_that_changed_after_its_question(
    database: Database, parts: Parts, bob: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 1)
    ids = await worked_on(database, "18", "19", "20")
    asked = await bob.submit(BULK, ON_ALL_RECORDS)
    await edit(database, ids[1], "19")
    begun = (await bob.submit(BULK, asked_with(asked.text, BULK))).headers["location"]
    await carry_on(parts, int(begun.removeprefix("/acts/")))
    assert await pending(database) == [ids[1]]
    assert "2 records were approved. 1 stays: 1 changed meanwhile." in (await bob.get(begun)).text


async def test_when_the_question_was_shown_must_be_a_time(database: Database, bob: Browser) -> None:
    await worked_on(database, "20")
    asked = await bob.submit(BULK, ON_ALL_RECORDS)
    assert (await bob.submit(BULK, {**asked_with(asked.text, BULK), "seen": "lately"})).status_code == 422
