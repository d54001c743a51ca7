"""Settled punches on Attendance Transactions and in *Why?*:
who, when and why, the filter, and the acts on one and on many."""

import html
import re

import pytest
from sqlalchemy import select, update

from app.accounts.audit import SYSTEM
from app.accounts.models import AuditEntry
from app.clock.models import Punch
from app.clock.punches import daily_totals
from app.db.session import Database
from app.host import jobs as host_jobs
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.jobs import Claim
from app.parts import Parts
from app.web.long_acts import bulk
from tests.clock.mirror_store import when
from tests.clock.mirrored import connect, mirror_person, punch
from tests.clock.resolved import ada_works, id_of, import_all, then
from tests.conftest import Browser
from tests.host.pages.test_acts import begin

BULK = "/clock_transactions/bulk"
HTMX = {"HX-Request": "true"}


@pytest.fixture
async def ada(database: Database) -> int:
    """Three mornings without a clock-out, and a whole day."""
    return await ada_works(database, "I 08:00, I Tue 08:00, I Wed 08:00, I Thu 08:00, O Thu 17:00")


async def total(browser: Browser, query: str) -> int:
    text = (await browser.get(f"/clock_transactions?{query}")).text
    found = re.search(r'class="pager-count"[^>]*>.*?<strong>([\d,]+)</strong>', text, re.DOTALL)
    return int(found[1].replace(",", "")) if found else 0


async def settled(database: Database) -> list[tuple[str | None, str | None]]:
    async with database.transaction() as db:
        rows = select(Punch.settled_by, Punch.settled_note).where(Punch.settled_at_utc.is_not(None)).order_by(Punch.id)
        return [(by, note) for by, note in await db.execute(rows)]


async def test_one_is_settled_in_why_with_a_note_and_not_settled_again(
    database: Database, ada: int, bob: Browser
) -> None:
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:00')}"
    before = (await bob.get(url)).text
    assert "Mark as settled</button>" in before
    assert "Not settled</button>" not in before
    answer = await bob.submit(f"{url}/settle", {"note": " Sent <home> "}, headers=HTMX)
    assert answer.headers["HX-Trigger"] == "muster:changed"
    assert "1 punch is settled; nothing else changed." in answer.text
    assert "Settled by Bob Brandt: “Sent &lt;home&gt;”" in answer.text
    assert "Mark as settled</button>" not in answer.text
    assert await settled(database) == [("Bob Brandt", "Sent <home>")]
    answer = await bob.submit(f"{url}/unsettle", headers=HTMX)
    assert "1 punch needs a person again." in answer.text
    assert "Mark as settled</button>" in answer.text
    assert await settled(database) == []


async def test_an_outcome_that_the_page_did_not_show_is_not_settled(database: Database, bob: Browser) -> None:
    await ada_works(database, "I 08:00")
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:00')}"
    form = (await bob.get(url)).text.split(f'action="{url}/settle"')[1].split("</form>")[0]
    saw = re.findall(r'name="outcome" value="([^"]*)"', form)
    assert saw == ["only_one_punch"]
    await then(database, "O Tue 17:00")
    answer = await bob.submit(f"{url}/settle", {"note": "Went home", "outcome": saw[0]}, headers=HTMX)
    assert answer.status_code == 409
    assert "The punch is “Shift over 24 hours” now. Nothing was changed." in answer.text
    assert await settled(database) == []
    assert (await bob.submit(f"{url}/settle", {"outcome": "over_24h"}, headers=HTMX)).status_code == 200
    assert len(await settled(database)) == 1


async def test_who_only_looks_sees_who_settled_it(database: Database, ada: int, bob: Browser, vera: Browser) -> None:
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:00')}"
    await bob.submit(f"{url}/settle", {"note": "Sent home"})
    for address in (url, "/clock_transactions"):
        text = (await vera.get(address)).text
        assert "Settled by Bob Brandt: “Sent home”" in text
        assert "Not settled</button>" not in text


async def test_many_are_settled_after_a_question_with_a_field_for_a_note(
    database: Database, ada: int, bob: Browser
) -> None:
    form = {"action": "settle", "all": "1"}
    asked = html.unescape((await bob.submit(f"{BULK}?outcome=only_one_punch", form, headers=HTMX)).text)
    assert "Mark 3 punches as settled?" in asked
    assert 'name="note"' in asked
    agreed = {**form, "confirmed": "1", "number": "3", "note": "Old strike"}
    assert (await bob.submit(f"{BULK}?outcome=only_one_punch", agreed)).status_code == 303
    assert "3 punches are settled; nothing else changed." in (await bob.get("/clock_transactions")).text
    assert await settled(database) == [("Bob Brandt", "Old strike")] * 3
    asked = html.unescape((await bob.submit(BULK, {"action": "unsettle", "all": "1"}, headers=HTMX)).text)
    assert "Mark 3 punches as not settled?" in asked
    assert 'name="note"' not in asked
    await bob.submit(BULK, {"action": "unsettle", "all": "1", "confirmed": "1", "number": "3"})
    assert await settled(database) == []


async def test_a_note_survives_when_the_question_is_asked_again(ada: int, bob: Browser) -> None:
    form = {"action": "settle", "all": "1", "confirmed": "1", "number": "99", "note": "Old strike"}
    asked = (await bob.submit(BULK, form, headers=HTMX)).text
    assert "Mark 3 punches as settled?" in asked
    assert 'value="Old strike"' in asked


async def test_a_note_that_is_too_long_is_refused(database: Database, ada: int, bob: Browser) -> None:
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:00')}"
    answer = await bob.submit(f"{url}/settle", {"note": "x" * 1001})
    assert answer.status_code == 422
    assert "A note has at most 1,000 characters. This one has 1,001." in answer.text
    assert await settled(database) == []


async def test_the_filter_splits_the_list_and_counts_exactly(database: Database, ada: int, bob: Browser) -> None:
    await bob.submit(f"/clock_transactions/{await id_of(database, 'Mon 08:00')}/settle")
    for _ in range(2):
        assert await total(bob, "settled=yes") == 1
        assert await total(bob, "settled=no") == 4
        assert await total(bob, "settled=no&outcome=only_one_punch") == 2
        assert await total(bob, "settled=no&q=Person") == 4
        assert await total(bob, "settled=yes&outcome=imported") == 0
        assert await total(bob, "group=needs_person") == 2
        assert await total(bob, "group=needs_person&group=good") == 4
        assert await total(bob, "group=needs_person&settled=yes") == 0
        assert await total(bob, "settled=no&group=good") == 2
        # The second time from the kept counts.
        await daily_totals.roll_up(database, "main")


async def test_a_covered_punch_names_its_record_in_the_list_and_in_why(
    database: Database, ada: int, bob: Browser
) -> None:
    async with database.transaction() as db:
        record = await attendance.add(db, SYSTEM, ada, Hours(when("07:00"), when("15:00")))
    await import_all(database)
    url = f"/clock_transactions/{await id_of(database, 'Mon 08:00')}"
    said = f"Settled by record {record}, made by hand"
    text = (await bob.get(url)).text
    assert said in text
    assert "Not settled</button>" not in text
    assert said in (await bob.get("/clock_transactions?settled=yes")).text
    assert (await bob.submit(BULK, {"action": "unsettle", "all": "1"})).status_code == 422


async def test_settled_punches_of_a_code_no_longer_wait_on_its_row(database: Database, bob: Browser) -> None:
    await ada_works(database, "I 08:00, I Tue 08:00")
    async with database.transaction() as db:
        await mirror_person(db, "200", full_name="Bea Byron")
        await db.execute(update(Punch).values(emp_code="200", import_outcome="not_bound"))
    assert "2 waiting punches of 200" in (await bob.get("/clock_employees?code=200")).text
    await bob.submit(f"/clock_transactions/{await id_of(database, 'Mon 08:00', '200')}/settle")
    text = html.unescape((await bob.get("/clock_employees?code=200")).text)
    (address,) = re.findall(r'href="(\S+)"\s+aria-label="1 waiting punches of 200"', text)
    assert await total(bob, address.partition("?")[2]) == 1


async def test_a_whole_filter_is_settled_by_a_job_in_slices_with_its_note_and_one_entry_of_the_audit_a_slice(
    database: Database, parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 3)
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "100", ", ".join(f"I {day} 08:00" for day in ("Mon", "Tue", "Wed", "Thu")))
        await db.execute(update(Punch).values(import_outcome="not_bound", judge_at=None))
    form = {"action": "settle", "all": "1", "note": "Visitors"}
    act_id = await begin(alice, "/clock_transactions/bulk?outcome=not_bound", form)
    await host_jobs.carry_on(parts, Claim(1, 1, "main", "long_act", {"act_id": act_id}))
    async with database.transaction() as db:
        settled = (await db.execute(select(Punch.settled_by, Punch.settled_note).distinct())).all()
        audited = (await db.execute(select(AuditEntry.subject_id, AuditEntry.after, AuditEntry.ip))).one()
    assert settled == [("Alice Ahn", "Visitors")]
    assert (audited.subject_id, audited.after["note"], audited.ip) == ("4 punches", "Visitors", "127.0.0.1")
    assert "4 punches were settled." in (await alice.get(f"/acts/{act_id}")).text


async def test_a_note_that_is_too_long_is_refused_before_a_job_begins(
    database: Database, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "100", "I 08:00")
        await db.execute(update(Punch).values(import_outcome="not_bound", judge_at=None))
    form = {"action": "settle", "all": "1", "note": "x" * 1001}
    assert (await alice.submit("/clock_transactions/bulk", form)).status_code == 422
