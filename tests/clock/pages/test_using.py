"""Use the punches over a selection and a whole filter in the browser:
the question with its numbers, what stays, and who may."""

import re
from typing import Any

import pytest

from app.accounts.audit import COMMAND_LINE
from app.clock.bindings import actions as bindings
from app.clock.pages import punch_acts
from app.clock.review import long_work
from app.db.session import Database
from app.host.attendance import day_locks
from app.long_acts import acts as long_acts
from tests.clock.mirror_store import when
from tests.clock.mirrored import employ, outcomes
from tests.clock.resolved import ada_works, id_of, import_all
from tests.conftest import Browser

URL = "/clock_transactions/bulk?outcome=arrived_late"
ALL = {"action": "use", "all": "1"}


@pytest.fixture
async def rebound(database: Database) -> int:
    """Ben's id: the code was Ada's, with records on Monday and Tuesday, and is his."""
    await ada_works(database, "I Mon 08:00, O Mon 17:00, I Tue 08:00, O Tue 17:00")
    async with database.transaction() as db:
        ben = await employ(db, "Ben")
        await bindings.bind(db, COMMAND_LINE, await bindings.id_of_code(db, "100"), ben)
    await import_all(database)
    return ben


async def words(database: Database) -> list[str | None]:
    async with database.transaction() as db:
        return [word for _, word in await outcomes(db)]


async def lock_tuesday(database: Database) -> None:
    day = when("Tue 00:00").date()
    async with database.transaction() as db:
        await day_locks.lock(db, COMMAND_LINE, day, day)


@pytest.mark.usefixtures("rebound")
async def test_the_whole_filter_is_used_after_saying_how_many(database: Database, bob: Browser) -> None:
    asked = (await bob.submit(URL, ALL, headers={"HX-Request": "true"})).text
    assert "Use 4 punches?" in asked
    assert "4 punches are used." in asked
    assert await words(database) == ["arrived_late"] * 4
    done = await bob.submit(URL, {**ALL, "confirmed": "1", "number": "4"})
    assert done.headers["location"] == "/clock_transactions"
    assert "4 punches were used." in (await bob.get("/clock_transactions")).text
    assert await words(database) == ["imported"] * 4


@pytest.mark.usefixtures("rebound")
async def test_what_stays_is_said_before_and_listed_after(database: Database, bob: Browser) -> None:
    await lock_tuesday(database)
    asked = (await bob.submit(URL, ALL)).text
    assert "2 punches are used. 2 stay: 2 on a locked day." in asked
    done = await bob.submit(URL, {**ALL, "confirmed": "1", "number": "4"})
    page = (await bob.get(done.headers["location"])).text
    assert "2 punches were used. 2 stay: 2 on a locked day." in page
    tuesday = [await id_of(database, f"Tue {at}") for at in ("08:00", "17:00")]
    assert re.findall(r'href="/clock_transactions/(\d+)"', page) == [str(one) for one in tuesday]
    assert await words(database) == ["imported"] * 2 + ["arrived_late"] * 2


@pytest.mark.usefixtures("rebound")
async def test_a_selection_that_can_not_be_used_is_refused_with_the_reason(database: Database, bob: Browser) -> None:
    await lock_tuesday(database)
    chosen: dict[str, Any] = {"action": "use", "id": [str(await id_of(database, "Tue 08:00"))]}
    refused = await bob.submit(URL, chosen)
    assert refused.status_code == 409
    assert "These punches can&#39;t be used. 1 stays: 1 on a locked day." in refused.text


async def test_nothing_late_is_nothing_to_use(database: Database, bob: Browser) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    assert (await bob.submit("/clock_transactions/bulk", ALL)).status_code == 422


@pytest.mark.usefixtures("rebound")
async def test_many_are_left_to_a_job_whose_progress_the_list_shows(
    database: Database, bob: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_acts, "INLINE_LIMIT", 1)
    monkeypatch.setattr(punch_acts, "INLINE_LIMIT", 1)
    assert "A job does it; a page shows its progress" in (await bob.submit(URL, ALL)).text
    done = await bob.submit(URL, {**ALL, "confirmed": "1", "number": "4"})
    link = done.headers["location"]
    assert "0 of 4 punches" in (await bob.get(link)).text
    watched = f"/acts/{link.rpartition('/')[2]}"
    assert f'hx-get="{watched}" hx-trigger="load"' in (await bob.get("/clock_transactions")).text
    assert (await bob.get(watched)).headers["location"] == link
    await long_work.carry_on(database.transaction, int(link.rpartition("/")[2]))
    assert "4 punches were used." in (await bob.fragment(link)).text
    assert watched not in (await bob.get("/clock_transactions")).text


@pytest.mark.usefixtures("rebound")
async def test_who_may(vera: Browser, eve: Browser, visitor: Browser, bob: Browser, database: Database) -> None:
    await lock_tuesday(database)
    link = (await bob.submit(URL, {**ALL, "confirmed": "1", "number": "4"})).headers["location"]
    assert (await vera.submit(URL, ALL)).status_code == 403
    assert (await vera.get(link)).status_code == 200
    assert (await eve.get(link)).status_code == 404
    assert (await visitor.get(link)).headers["location"].startswith("/sign-in")
    assert (await bob.get(link.replace("transactions", "employees"))).status_code == 404
