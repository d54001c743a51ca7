"""The Sync Center: what it shows, what it does, its live events, and one run's page."""

import asyncio
import re
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import insert, select, update

from app.accounts.models import AuditEntry, Job
from app.clock import failure_words
from app.clock.codes import TcCode
from app.clock.mirror import cursors, missing_rows, shortfalls
from app.clock.mirror.shortfalls import Shortfall
from app.clock.models import ApiLog, ClockEmployee, Connection, Cursor, SetAside, SyncRun
from app.clock.pages.sync import cursor_words
from app.clock.pages.sync.run_words import STATUS_LABELS, described
from app.clock.punches import daily_totals
from app.clock.settings import ClockSettings, read_settings
from app.dates import day_words
from app.db.session import Database
from app.parts import Parts
from tests.clock import sync_rows
from tests.clock.mirrored import mirror_person, punch
from tests.clock.sync_rows import COUNTS, connected, run
from tests.conftest import Browser, SignIn
from tests.markup import unnamed_forms
from tests.serving import served

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
POSTS = (
    "start",
    "pause",
    "resume",
    "backfill",
    "start_over",
    "runs/1/stop",
    "disappearance/employees",
    "windows/accept",
    "windows/read_again",
)


async def runs_of(database: Database) -> list[SyncRun]:
    async with database.transaction() as db:
        return list(await db.scalars(select(SyncRun).order_by(SyncRun.id)))


async def test_history_shows_counts_and_the_code_with_its_meaning(
    parts: Parts, database: Database, vera: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "failed", error_code="TC-NET", error_message="No route to host.")
    text = (await vera.get("/clock_sync")).text
    assert f'href="/clock_sync/runs/{number}"' in text
    assert "No route to host." in text
    assert "Could not reach the server." in text
    assert "Start a run" not in text


@pytest.mark.parametrize("status", ["queued", "running"])
async def test_the_history_says_no_figures_of_a_run_in_progress(
    parts: Parts, database: Database, vera: Browser, status: str
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await run(db, status)
    answer = await vera.get("/clock_sync", headers={"HX-Request": "true", "HX-Target": "sync_runs-results"})
    row = answer.text.partition("<tbody>")[2].partition("</tbody>")[0]
    said = set(re.findall(r">([^<>]+)<", row))
    assert STATUS_LABELS[status] in said
    assert not {"Under way", "500"} & said
    async with database.transaction() as db:
        await db.execute(update(SyncRun).values(status="succeeded", finished_at=datetime.now(UTC)))
    row = (await vera.get("/clock_sync")).text.partition("<tbody>")[2].partition("</tbody>")[0]
    assert {"Succeeded", "500"} <= set(re.findall(r">([^<>]+)<", row))


async def test_strangers_sign_in_and_viewers_may_only_look(parts: Parts, visitor: Browser, sign_in: SignIn) -> None:
    await connected(parts)
    vera, nora = await sign_in("vera"), await sign_in("nora")
    assert (await visitor.get("/clock_sync")).headers["location"].startswith("/sign-in")
    for url in ("", "/runs/1", "/now/1", "/live/1", "/disappearance/employees"):
        assert (await nora.get(f"/clock_sync{url}")).status_code == 403
    for url in POSTS:
        assert (await vera.submit(f"/clock_sync/{url}")).status_code == 403
    assert (await vera.get("/clock_sync/start_over")).status_code == 403


async def test_another_workspaces_run_does_not_exist_here(parts: Parts, database: Database, eve: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "running")
    for url in ("runs", "now", "live"):
        assert (await eve.get(f"/clock_sync/{url}/{number}")).status_code == 404
    assert (await eve.submit(f"/clock_sync/runs/{number}/stop")).status_code == 404


async def test_each_form_with_a_field_has_a_name(parts: Parts, bob: Browser) -> None:
    await connected(parts)
    text = (await bob.get("/clock_sync")).text
    assert 'action="/clock_sync/backfill"' in text
    assert unnamed_forms(text) == []


async def test_htmx_gets_the_history_alone(parts: Parts, bob: Browser) -> None:
    await connected(parts)
    text = (await bob.fragment("/clock_sync?status=failed")).text
    assert 'id="sync_runs-results"' in text
    assert "<html" not in text
    assert "Schedule" not in text


async def test_the_history_is_filtered_and_exported(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await run(db, "succeeded")
        failed = await run(db, "failed", error_code="TC-AUTH")
    lines = (await bob.get("/clock_sync?code=TC-AUTH&export=jsonl")).text.splitlines()
    assert len(lines) == 1
    assert f'"id":{failed}' in lines[0].replace(" ", "")


async def test_a_run_is_started_queued_and_joined(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    answer = await bob.submit("/clock_sync/start", {"resources": ["areas", "employees"]})
    assert answer.headers["location"] == "/clock_sync"
    (started,) = await runs_of(database)
    assert (started.trigger, started.requested_by) == ("manual", "Bob Brandt")
    assert started.request == {"resources": ["areas", "employees"]}
    async with database.shared_transaction() as db:
        assert (await db.scalar(select(Job.arguments))) == {"run_id": started.id}
    await bob.submit("/clock_sync/start")
    assert len(await runs_of(database)) == 1
    assert "in progress already" in (await bob.get("/clock_sync")).text


async def test_an_unknown_resource_is_refused_at_its_field(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    answer = await bob.submit("/clock_sync/start", {"resources": ["horses"]})
    assert answer.status_code == 422
    assert "Choose from the list." in answer.text
    assert await runs_of(database) == []


async def test_a_locked_connection_starts_nothing(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await db.execute(update(Connection).values(status="locked"))
    assert (await bob.submit("/clock_sync/start")).status_code == 409
    assert await runs_of(database) == []


async def test_stopping_asks_the_run_and_says_so(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "running")
    assert (await bob.submit(f"/clock_sync/runs/{number}/stop")).status_code == 303
    (stopping,) = await runs_of(database)
    assert stopping.stop_requested
    assert "It stops after this page." in (await bob.get(f"/clock_sync/now/{number}")).text


async def test_pausing_and_resuming(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    await bob.submit("/clock_sync/pause")
    paused = (await bob.get("/clock_sync")).text
    assert "Resume syncing" in paused
    assert '/clock_sync/start"' not in paused
    assert (await bob.submit("/clock_sync/start")).status_code == 409
    await bob.submit("/clock_sync/resume")
    assert "Pause syncing" in (await bob.get("/clock_sync")).text


async def test_a_backfill_is_written_down_and_a_run_asked_for(parts: Parts, database: Database, bob: Browser) -> None:
    await connected(parts)
    asked = {"from": "2026-01-05", "to": "2026-01-10", "emp_codes": " 7, 007 ,7"}
    assert (await bob.submit("/clock_sync/backfill", asked)).status_code == 303
    async with database.transaction() as db:
        windows = (await db.scalars(select(Cursor.emp_code).where(Cursor.kind == "asked").order_by("window"))).all()
        await db.execute(update(Cursor).where(Cursor.emp_code == "7").values(done_until=date(2026, 1, 8)))
    assert windows == ["007", "7"]
    assert [one.request for one in await runs_of(database)] == [{"resources": ["transactions"]}]
    text = (await bob.get("/clock_sync")).text
    assert 'max="6" value="3"' in text


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"from": "2026-02-30", "to": "2026-03-01"}, "Give a date such as"),
        ({"from": "2026-03-02", "to": "2026-03-01"}, "ends before it begins"),
        ({"from": "2199-01-01", "to": "2199-01-02"}, "begins in the future"),
        ({"from": "2026-01-01", "to": "2026-01-02", "emp_codes": ",".join(map(str, range(101)))}, "At most 100 codes"),
    ],
)
async def test_a_range_that_is_none_is_refused(parts: Parts, bob: Browser, asked: dict[str, str], message: str) -> None:
    await connected(parts)
    answer = await bob.submit("/clock_sync/backfill", asked)
    assert answer.status_code == 422
    assert message in answer.text


async def test_a_disappearance_is_shown_with_names_and_confirmed(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        for number in range(12):
            await mirror_person(db, f"{number:03}", full_name=f"Gone <{number}>", seen=1)
        await mirror_person(db, "900", full_name="Still Here", seen=2)
        await sync_rows.disappearance(db, 12)
    assert "/clock_sync/disappearance/employees" in (await bob.get("/clock_sync")).text
    text = (await bob.get("/clock_sync/disappearance/employees")).text
    assert text.count("Gone &lt;") == 12
    assert "Still Here" not in text
    stale = {"verdict": "confirm", "number": "11", "run": "7"}
    assert (await bob.submit("/clock_sync/disappearance/employees", stale)).status_code == 409
    assert (await bob.submit("/clock_sync/disappearance/employees", {**stale, "number": "12"})).status_code == 303
    async with database.transaction() as db:
        present = (await db.scalars(select(ClockEmployee.emp_code).where(ClockEmployee.absent_since.is_(None)))).all()
    assert present == ["900"]
    assert (await bob.get("/clock_sync/disappearance/employees")).status_code == 404


async def test_a_refused_disappearance_marks_no_person_and_asks_no_more(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await mirror_person(db, "1", seen=1)
        await sync_rows.disappearance(db, 1)
    verdict = {"verdict": "refuse", "number": "1", "run": "7"}
    assert (await bob.submit("/clock_sync/disappearance/employees", verdict)).status_code == 303
    async with database.transaction() as db:
        assert await missing_rows.pending(db) == []
        assert await db.scalar(select(ClockEmployee.absent_since)) is None
    assert "much shorter than before" not in (await bob.get("/clock_sync")).text
    assert "Refused by Bob Brandt" in (await bob.get("/clock_sync/disappearance/employees")).text


async def test_starting_over_says_the_number_and_wants_the_words(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await punch(db, "1", "I 2026-01-05 08:00, O 2026-01-05 17:00, I 2026-01-04 08:00")
        await daily_totals.mark_stale(db, [date(2026, 1, 4), date(2026, 1, 5)])
        await cursors.write(db, "transactions", "live", kind="live", state="complete")
    first = await bob.submit("/clock_sync/start_over", {"from": "2026-01-05"})
    assert (first.status_code, "<strong>2</strong>" in first.text) == (200, True)
    halfway = await bob.submit("/clock_sync/start_over", {"from": "2026-01-05", "confirmed": "1", "typed": "yes"})
    assert halfway.status_code == 200
    done = {"from": "2026-01-05", "confirmed": "1", "typed": "start over"}
    assert (await bob.submit("/clock_sync/start_over", done)).status_code == 303
    async with database.transaction() as db:
        assert await db.scalar(select(Connection.id_generation)) == 2
        assert (await db.scalars(select(Cursor))).all() == []
        assert (await read_settings(db)).history_start.isoformat() == "2026-01-05"
        acts = (await db.scalars(select(AuditEntry.act))).all()
    assert "clock.start_over" in acts
    assert len(await runs_of(database)) == 1


async def test_a_runs_page_shows_counts_rows_set_aside_and_calls(
    parts: Parts, database: Database, alice: Browser, vera: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        findings = {"conflicts": ["007"], "refused": ["employees"], "incomplete": ["live: 3 of 5 punches came."]}
        number = await run(
            db, "partial", error_code="TC-SHAPE", outcomes={"imported": 40, "not_bound": 2}, findings=findings
        )
        await db.execute(
            insert(SetAside).values(
                run_id=number, resource="transactions", raw='{"emp_code":"<b>' + "x" * 900, reason="No time."
            )
        )
        call = {"at": NOW, "run_id": number, "method": "GET", "host": "h", "path": "/web/att/", "query": "page=1",
                "http_status": 200, "body_code": "ZBSY0000", "duration_ms": 1234, "bytes": 99, "excerpt": "{}"}  # fmt: skip
        await db.execute(insert(ApiLog).values(call))
    text = (await vera.get(f"/clock_sync/runs/{number}")).text
    for words in ("494", "Imported", "&lt;b&gt;", "No time.", "/web/att/", "ZBSY0000", "state=conflict", "3 of 5"):
        assert words in text
    assert f"/clock_logs?run={number}" in text
    assert (await alice.get("/clock_sync/runs/999999")).status_code == 404


async def test_the_days_that_a_run_reads_name_their_year_only_where_it_is_another(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    this_year = datetime.now(UTC).year
    read = {
        "resource": "transactions",
        "from": f"{this_year - 1}-12-30T00:00:00",
        "until": f"{this_year}-01-02T00:00:00",
    }
    async with database.transaction() as db:
        await run(db, "running", progress=read)
    first = day_words(date(this_year - 1, 12, 30), None)
    last = day_words(date(this_year, 1, 2), date(this_year, 1, 1))
    assert f"from {first} to {last}" in (await bob.get("/clock_sync")).text
    assert str(this_year) not in last


async def test_events_follow_the_run_hold_no_transaction_and_end_with_it(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "running", progress={"resource": "employees", "page": 3, "total": 5000})
    stream = asyncio.create_task(bob.get(f"/clock_sync/live/{number}"))
    held = []
    for _ in range(5):
        await asyncio.sleep(0.25)
        held.append(database.engine.pool.checkedout())  # type: ignore[attr-defined]
    assert not stream.done()
    assert 0 in held
    async with database.transaction() as db:
        await db.execute(update(SyncRun).values(status="succeeded", finished_at=datetime.now(UTC)))
    answer = await asyncio.wait_for(stream, 5)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "event: run" in answer.text
    assert "page 3" in answer.text
    assert 'hx-select="#sync-page"' in answer.text
    assert answer.text.rstrip().endswith("data: over")


async def test_an_event_says_when_a_worker_takes_the_run_so_that_the_history_follows(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "queued")
    page = (await bob.get("/clock_sync")).text
    assert re.search(r'hx-trigger="sse:begun" hx-select="#sync_runs-results" hx-target="#sync_runs-results"', page)
    stream = asyncio.create_task(bob.get(f"/clock_sync/live/{number}"))
    for status in ("running", "succeeded"):
        await asyncio.sleep(1.5)
        async with database.transaction() as db:
            await db.execute(update(SyncRun).values(status=status))
    answer = await asyncio.wait_for(stream, 5)
    events = re.findall(r"event: (\w+)", answer.text)
    assert events.count("begun") == 1
    assert events.index("begun") > events.index("run")
    assert "sse:begun" not in (await bob.get("/clock_sync")).text


async def test_a_server_with_open_events_shuts_down_promptly(
    app: Any, parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        number = await run(db, "running")
    async with served(app, grace_s=1) as (url, _), httpx.AsyncClient(cookies=bob.cookies) as client:
        request = client.build_request("GET", f"{url}/clock_sync/live/{number}", headers={"cookie": _cookie(bob)})
        answer = await client.send(request, stream=True)
        assert answer.status_code == 200
        lines = answer.aiter_lines()
        assert await anext(lines) == "event: run"
        began = time.monotonic()
    assert time.monotonic() - began < 5


def _cookie(browser: Browser) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)


def test_a_run_in_words() -> None:
    settings = ClockSettings(NOW.date(), run_budget_seconds=600)
    row = SyncRun(
        id=3, status="running", trigger="manual", requested_by="Bob", queued_at=NOW, started_at=NOW, finished_at=None,
        stop_requested=False, error_code=None, error_message=None, calls=4, request={"budget_seconds": 60},
        resources={"employees": COUNTS}, outcomes={"imported": 2, "not_bound": 9, "strange": 1}, findings={},
        progress={"resource": "employees", "page": 1, "total": 2000, "rows": 500, "calls": 6, "calls_budget": 50},
    )  # fmt: skip
    run = described(row, settings, NOW + timedelta(seconds=10))
    assert (run.done, run.total, run.rows, run.rows_per_s) == (500, 2000, 500, 50.0)
    assert (run.calls, run.calls_budget, run.seconds_left) == (6, 50, 50)
    assert [outcome[0] for outcome in run.outcomes] == ["not_bound", "imported"]


def test_every_code_says_what_to_do() -> None:
    assert set(failure_words.ALL) == {code.value for code in TcCode}
    assert all(words.meaning and words.advice for words in failure_words.ALL.values())


def test_stretches_say_how_many_of_their_days_are_read() -> None:
    day = NOW.date()
    row = Cursor(
        resource="transactions", window="asked:x", kind="asked", state="open", starts_on=day, done_until=day,
        ends_on=day + timedelta(days=9), page=0, updated_at=NOW,
    )  # fmt: skip
    (stretch,) = cursor_words.stretches([row])
    assert (stretch.done, stretch.days) == (0, 10)
    row.state = "complete"
    assert cursor_words.stretches([row])[0].done == 10


async def short_of_one(database: Database, window: str, runs: int = 3) -> None:
    short = Shortfall(499, 500, runs)
    async with database.transaction() as db:
        await cursors.write(
            db, cursors.PUNCHES, window, kind="backfill", state="open", starts_on=date(2026, 1, 1),
            ends_on=date(2026, 1, 7), pending=shortfalls.pending_with(None, short), note="499 of 500 punches came",
        )  # fmt: skip


async def test_days_that_stay_incomplete_are_accepted_and_read_again(
    parts: Parts, database: Database, bob: Browser, vera: Browser
) -> None:
    await connected(parts)
    await short_of_one(database, "backfill:2026-01-01")
    assert "Accept as read" in (await bob.get("/clock_sync")).text
    assert "Accept as read" not in (await vera.get("/clock_sync")).text
    answer = await bob.submit("/clock_sync/windows/accept", {"window": "backfill:2026-01-01"})
    assert answer.headers["location"] == "/clock_sync#cursors"
    text = (await vera.get("/clock_sync")).text
    assert "499 of 500 punches came. Accepted as read by Bob" in text
    assert len(await runs_of(database)) == 1
    await bob.submit("/clock_sync/windows/read_again", {"window": "backfill:2026-01-01"})
    text = (await bob.get("/clock_sync")).text
    assert "Accepted as read by" not in text
    assert "Not complete" in text


async def test_all_days_that_stay_incomplete_are_accepted_at_once(
    parts: Parts, database: Database, bob: Browser
) -> None:
    await connected(parts)
    windows = ["backfill:2026-01-01", "backfill:2026-02-01"]
    for window in windows:
        await short_of_one(database, window)
    assert "Accept all 2 as read" in (await bob.get("/clock_sync")).text
    await bob.submit("/clock_sync/windows/accept", {"window": windows})
    assert (await bob.get("/clock_sync")).text.count("Accepted as read by Bob") == 2


async def test_figures_that_changed_or_do_not_exist_are_not_accepted(
    parts: Parts, database: Database, bob: Browser, eve: Browser
) -> None:
    await connected(parts)
    await short_of_one(database, "backfill:2026-01-01", runs=2)
    assert "Accept as read" not in (await bob.get("/clock_sync")).text
    assert (await bob.submit("/clock_sync/windows/accept", {"window": "backfill:2026-01-01"})).status_code == 409
    assert (await bob.submit("/clock_sync/windows/accept", {"window": "backfill:1999-01-01"})).status_code == 404
    assert (await bob.submit("/clock_sync/windows/accept")).status_code == 422
    assert (await bob.submit("/clock_sync/windows/read_again", {"window": "backfill:2026-01-01"})).status_code == 409
    assert (await eve.submit("/clock_sync/windows/accept", {"window": "backfill:2026-01-01"})).status_code == 404
