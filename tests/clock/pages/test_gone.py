"""Punches that are gone from the server, as pages, exports and the integration API show them,
and what a person decides."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from app.accounts.models import AuditEntry
from app.clock.mirror import gone
from app.clock.models import Cursor, MissingPunch, Punch, StaleDay
from app.clock.punches import daily_totals
from app.db.session import Database
from app.parts import Parts
from tests.clock.api.test_routes import PUNCHES, Caller, caller
from tests.clock.mirrored import mirror_person, punch
from tests.clock.resolved import ada_works, id_of, import_all, record_id
from tests.clock.sync_rows import connected
from tests.conftest import Browser

__all__ = ["caller"]
URL = "/clock_sync/disappearance/transactions"
WENT = datetime(2026, 3, 4, 6, 0, tzinfo=UTC)


@pytest.fixture
async def day(database: Database) -> int:
    """Ada's imported day, whose clock-out is gone, and a tap without direction that is gone too; the clock-out's id."""
    await ada_works(database, "I 08:00, O 17:00, x 18:00")
    out = await id_of(database, "Mon 17:00")
    await go(database, out, await id_of(database, "Mon 18:00"))
    return out


async def go(database: Database, *ids: int) -> None:
    async with database.transaction() as db:
        await gone.mark(db, ids, WENT)
    await import_all(database)


def rows_of(text: str) -> str:
    return text.partition("<tbody>")[2].partition("</tbody>")[0]


async def test_the_list_says_which_punches_are_gone_and_finds_them(day: int, bob: Browser) -> None:
    text = (await bob.get("/clock_transactions")).text
    assert rows_of(text).count("Gone from the server</span>") == 2
    for word, number in (("all", 2), ("open", 1)):
        found = (await bob.get(f"/clock_transactions?gone={word}")).text
        assert rows_of(found).count("Gone from the server</span>") == number


async def test_totals_agree_with_the_list_before_and_after_the_rollup(
    database: Database, day: int, bob: Browser
) -> None:
    for _ in range(2):
        for query in ("", "?code=unknown", "?outcome=imported", "?terminal=T1"):
            text = (await bob.get(f"/clock_transactions{query}")).text
            number = rows_of(text).count("<tr>")
            assert f"of <strong>{number}</strong>" in text
        await daily_totals.roll_up(database, "main")
        async with database.transaction() as db:
            assert await db.scalar(select(func.count()).select_from(StaleDay)) == 0


async def test_why_says_what_to_do_and_keeping_the_record_settles_it(
    database: Database, day: int, bob: Browser, alice: Browser
) -> None:
    number = await record_id(database)
    text = (await bob.get(f"/clock_transactions/{day}")).text
    assert "The server no longer has this punch." in text
    assert f"record {number}" in text
    assert "Gone since" in text
    assert "Keep the record</button>" in text
    assert "Retry</button>" not in text
    assert (await bob.submit(f"/clock_transactions/{day}/keep")).status_code == 303
    await import_all(database)
    text = (await bob.get(f"/clock_transactions/{day}")).text
    assert "Settled by Bob Brandt" in text
    assert "Nothing has to change: a person settled this punch." in text
    assert "Keep the record" not in text.partition('id="main"')[2]
    assert "Not settled</button>" in text
    assert rows_of((await bob.get("/clock_transactions?gone=open")).text) == ""


async def test_acts_are_offered_for_one_that_left_its_record_before_it_went(database: Database, bob: Browser) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    out = await id_of(database, "Mon 17:00")
    left = {"host_attendance_id": None, "edited_record_id": await record_id(database), "import_outcome": "awaiting"}
    async with database.transaction() as db:
        await db.execute(update(Punch).where(Punch.id == out).values(**left))
    url = "/clock_transactions?outcome=awaiting"
    assert 'value="settle"' not in (await bob.get(url)).text
    async with database.transaction() as db:
        await gone.mark(db, [out], WENT)
    offered = (await bob.get(url)).text
    assert 'value="settle"' in offered
    assert 'value="use"' in offered
    bulk = {"action": "settle", "id": str(out), "confirmed": "1", "number": "1"}
    assert (await bob.submit("/clock_transactions/bulk?outcome=awaiting", bulk)).status_code == 303
    assert 'value="settle"' not in (await bob.get(url)).text


async def test_the_dashboard_counts_those_that_wait_for_a_person(database: Database, bob: Browser) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    out = await id_of(database, "Mon 17:00")
    async with database.transaction() as db:
        await db.execute(update(Punch).values(local_date=func.current_date()))
    await go(database, out)
    text = (await bob.get("/clock")).text
    assert "/clock_transactions?gone=open&amp;from=" in text
    assert "Gone from the server" in text


async def test_the_export_says_so_too(day: int, bob: Browser) -> None:
    text = (await bob.get("/clock_transactions?export=csv")).text
    assert "Imported, gone from the server" in text


async def question(parts: Parts, database: Database) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await mirror_person(db, "100", full_name="Ada")
        await punch(db, "100", ", ".join(f"I {hour:02}:00" for hour in range(12)))
        ids = list(await db.scalars(select(Punch.id)))
        await gone._ask(db, ids, 7, 1, WENT)


async def decision(bob: Browser, verdict: str, number: int = 12) -> int:
    return (await bob.submit(URL, {"verdict": verdict, "number": str(number), "run": "7"})).status_code


async def test_a_mass_is_shown_by_day_and_confirmed(parts: Parts, database: Database, bob: Browser) -> None:
    await question(parts, database)
    assert f'href="{URL}"' in (await bob.get("/clock_sync")).text
    text = (await bob.get(URL)).text
    assert "12 of 12 known punches of Mon 2 Mar 2026. So many" in text
    assert await decision(bob, "confirm", 11) == 409
    assert await decision(bob, "perhaps") == 422
    assert await decision(bob, "confirm") == 303
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).where(Punch.gone_at_utc.is_not(None))) == 12
        act = await db.scalar(select(AuditEntry.act).order_by(AuditEntry.id.desc()).limit(1))
        assert act == "clock.disappearance.confirm"
    await import_all(database)
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Cursor).where(Cursor.kind == "gone")) == 0
    assert (await bob.get(URL)).status_code == 404


async def test_more_than_a_thousand_are_marked_by_the_import(parts: Parts, database: Database, bob: Browser) -> None:
    await question(parts, database)
    async with database.transaction() as db:
        row: Any = (await db.execute(select(*Punch.__table__.c).limit(1))).mappings().one()
        copies = [{**row, "id": 10_000 + n, "remote_id": f"copy {n}"} for n in range(1500)]
        await db.execute(insert(Punch), copies)
        await db.execute(insert(MissingPunch), [{"punch_id": one["id"], "question": 7} for one in copies])
    assert await decision(bob, "confirm") == 303
    marked = select(func.count()).where(Punch.gone_at_utc.is_not(None))
    async with database.transaction() as db:
        assert await db.scalar(marked) == 1000
    await import_all(database)
    async with database.transaction() as db:
        assert await db.scalar(marked) == 1512


async def test_a_mass_that_is_refused_is_kept_and_may_be_decided_otherwise(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await question(parts, database)
    assert await decision(bob, "refuse") == 303
    assert "much shorter than before" not in (await bob.get("/clock_sync")).text
    assert "Refused by Bob Brandt" in (await bob.get(URL)).text
    assert await decision(bob, "confirm") == 303


async def test_only_those_who_may_run_a_sync_decide(
    parts: Parts, database: Database, vera: Browser, eve: Browser
) -> None:
    await question(parts, database)
    page = await vera.get(URL)
    assert page.status_code == 200
    assert "To decide you need the right" in page.text
    assert (await vera.submit(URL, {"verdict": "refuse", "number": "12", "run": "7"})).status_code == 403
    assert (await eve.get(URL)).status_code == 404


async def test_who_follows_the_api_hears_of_what_is_gone(database: Database, caller: Caller) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    since = (await caller.get(PUNCHES)).json()["meta"]["next_updated_since"]
    await go(database, await id_of(database, "Mon 17:00"))
    (row,) = await caller.data(PUNCHES, updated_since=since)
    assert (row["gone_at_utc"], row["import_outcome"]) == ("2026-03-04T06:00:00Z", "imported")
    assert [one["gone_at_utc"] for one in await caller.data(PUNCHES)] == ["2026-03-04T06:00:00Z", None]
