"""What people are told while punches are judged again after a rule or a terminal changed:
three pages, the list, and the commands."""

import pytest
from sqlalchemy import func, select, update

from app.accounts.audit import SYSTEM
from app.clock.mirror import devices, rezoning
from app.clock.models import Connection, StaleDay
from app.clock.punches import rejudging
from app.clock.settings import write_settings
from app.db.session import Database
from tests.clock.resolved import ada_works, id_of, import_all
from tests.conftest import Browser, SignIn

ICON = "The next import judges it again"
PAGES = ("/clock_sync", "/clock_settings", "/clock_devices")


@pytest.fixture
async def changed(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lone clock-ins at a terminal named Gate, and rules that take such now; the newest counts as judged."""
    monkeypatch.setattr(rejudging, "SLICE", 1)
    await ada_works(database, "I 2024-01-01 08:00, I 2024-01-08 08:00, I 2024-01-15 08:00")
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"import_single_punches": "true"})
    async with database.transaction() as db:
        part = await rejudging.next_slice(db, await rejudging.under_way(db))
        assert part is not None
        await rejudging.end_slice(db, part)


@pytest.mark.usefixtures("changed")
async def test_three_pages_say_how_far_it_is_until_it_is_done(database: Database, alice: Browser) -> None:
    watched = (await alice.get("/clock_sync")).text
    assert "Punches judged by the new rules" in watched
    assert "1 of 3 punches" in watched
    for url in PAGES[1:]:
        assert "Punches judged by the new rules: 1 of 3" in (await alice.get(url)).text
    part = await alice.get("/clock_sync/rejudging", headers={"HX-Request": "true"})
    assert "1 of 3 punches" in part.text
    assert "<html" not in part.text
    await import_all(database)
    for url in PAGES:
        assert "Punches judged by the new rules" not in (await alice.get(url)).text
    assert not (await alice.get("/clock_sync/rejudging", headers={"HX-Request": "true"})).text.strip()


@pytest.mark.usefixtures("changed")
async def test_days_of_a_slice_are_counted_before_the_next_slice(database: Database) -> None:
    """Pages would count all of these days from their punches until the last slice,
    also those of people who only look."""
    await import_all(database)
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(StaleDay)) == 0


async def test_another_zone_is_told_on_the_same_pages_and_in_the_drawer(database: Database, alice: Browser) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await db.execute(update(Connection).values(timezone="Asia/Tokyo"))
        await rezoning.begin(db, "UTC", "Asia/Tokyo", "instants")
    for url in PAGES:
        assert "Punches that have the times of Asia/Tokyo" in (await alice.get(url)).text
    assert "The time zone changes to Asia/Tokyo" in (await alice.get("/clock_sync")).text
    drawer = (await alice.get(f"/clock_transactions/{await id_of(database, 'Mon 08:00')}")).text
    assert "The import judges nothing now" in drawer
    assert ICON in (await alice.get("/clock_transactions")).text


async def test_a_terminal_is_called_by_its_name(database: Database, alice: Browser) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await devices.set_kind(db, SYSTEM, "T1", "access")
    for url in PAGES:
        assert "Punches judged by what is set for Gate" in (await alice.get(url)).text
    assert "the import begins soon" in (await alice.get("/clock_devices")).text


@pytest.mark.usefixtures("changed")
async def test_the_list_marks_punches_whose_turn_is_to_come(database: Database, alice: Browser) -> None:
    assert (await alice.get("/clock_transactions")).text.count(f'title="{ICON}"') == 2
    await import_all(database)
    assert ICON not in (await alice.get("/clock_transactions")).text


@pytest.mark.usefixtures("changed")
async def test_only_who_may_see_the_sync_center_watches(visitor: Browser, sign_in: SignIn) -> None:
    assert (await visitor.get("/clock_sync/rejudging")).status_code == 303
    eve = await sign_in("eve")
    assert "of 3 punches" not in (await eve.get("/clock_sync/rejudging")).text
