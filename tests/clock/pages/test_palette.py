"""What the clock adds to the host's pages: the palette finds codes and terminals, a record leads to its punches."""

from functools import partial

import pytest
from sqlalchemy import select

from app.clock.importing import import_due
from app.db.session import Database
from app.host.models import AttendanceRecord
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch
from tests.conftest import Browser


@pytest.fixture
async def day(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "4711", await employ(db, "Ada"), full_name="Ada Ångström")
        await mirror_terminal(db, "SN77", alias="Gate")
        await punch(db, "4711", "I 08:00, O 17:00", sn="SN77")
    await import_due.import_due(partial(database.transaction, "main"), now=FAR)


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize(("asked", "found"), [("4711", "/clock_employees/1"), ("gate", "/clock_devices/1")])
async def test_the_palette_finds_codes_and_terminals(vera: Browser, asked: str, found: str) -> None:
    answer = await vera.fragment("/palette", params={"q": asked})
    assert f'href="{found}"' in answer.text


@pytest.mark.usefixtures("day")
async def test_the_palette_shows_nothing_of_the_clock_to_who_may_not_see_it(eve: Browser) -> None:
    assert "/clock_employees/1" not in (await eve.fragment("/palette", params={"q": "4711"})).text


@pytest.mark.usefixtures("day")
async def test_a_record_leads_to_its_punches(vera: Browser, database: Database) -> None:
    async with database.transaction() as db:
        record_id = await db.scalar(select(AttendanceRecord.id))
    assert "its 2 punches" in (await vera.get(f"/attendance/{record_id}")).text
