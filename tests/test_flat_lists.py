"""Lists and figures that read kept counts or an index, and not the rows of years: blocks and rows are counted."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.clock.punches import daily_totals
from app.db.session import Database
from app.host.pages import attendance_list
from app.surveys.results import of_version, of_versions, overview, queries
from app.surveys.results.tallies import TallyScope
from app.web import lists
from tests.benchmarks.explained import watch
from tests.clock.mirrored import connect, mirror_person
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.settled import settle
from tests.test_flat_reads import _MANY_RECORDS, _PUNCHES, _STAFF, DAYS, FIRST, MANY, blocks_of, responded

_CLOSED = """
INSERT INTO problems (kind, subject_type, subject_id, severity, title, facts, since, closed_at, closed_by, stands,
    updated_at)
SELECT 'only_one_punch', 'person_day', n::text, 'warning', 'Problem ' || n, '{}', at, at, 'itself', false, at - interval '1 day'
FROM (SELECT n, now() - (20000 - n) * interval '1 minute' AS at FROM generate_series(1, 20000) AS n) AS made
"""
_ENTRIES = """
INSERT INTO audit_entries (at, workspace, actor_name, act, subject_type, subject_id)
SELECT timestamptz '2026-01-01 00:00Z' + n * interval '10 minutes', 'main', 'System', 'attendance.import', 'attendance', n::text
FROM generate_series(0, 19999) AS n
"""
_DONE = """
INSERT INTO jobs (workspace, name, key, status, finished_at)
SELECT CASE n % 2 WHEN 0 THEN 'main' ELSE 'acme' END, CASE n % 3 WHEN 0 THEN 'clock_sync' ELSE 'clock_purge' END, n::text, 'done',
    CASE WHEN n > 4 THEN now() - n * interval '1 hour' END
FROM generate_series(1, 20000) AS n
"""


def _rows_from(index: str, node: dict[str, Any]) -> int:
    """How many rows a plan looks at in indexes whose name begins so."""
    looked_at = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    own = looked_at * node["Actual Loops"] if node.get("Index Name", "").startswith(index) else 0
    return int(own) + sum(_rows_from(index, below) for below in node.get("Plans", ()))


async def test_closed_problems_are_read_in_their_order(alice: Browser, database: Database, urls: DatabaseUrls) -> None:
    async with database.transaction() as db:
        await db.execute(text(_CLOSED))
    await settle(urls, "problems")
    with watch(database.engine) as found:
        page = (await alice.get("/problems?state=closed&page=2")).text
    assert page.index("Problem 19950") < page.index("Problem 19901")
    # All 20,000 lie in 450 blocks, and 10,001 of them are counted.
    assert blocks_of(found) < 700, found.worst and found.worst.told()


async def test_the_records_of_a_search_are_counted_from_an_index(
    alice: Browser, database: Database, urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as db:
        for statement in (_STAFF, _MANY_RECORDS):
            await db.execute(text(statement), {"many": 20_000})
    await settle(urls, "employees", "attendance_records")
    # Each once: some of these people's records have a note.
    assert "of <strong>20,000</strong>" in (await alice.get("/attendance?q=person")).text
    monkeypatch.setattr(attendance_list, "MOST_ADDED_UP", 2_000)
    with watch(database.engine) as found:
        page = (await alice.get("/attendance?q=person+1&page=2")).text
    assert "of <strong>2,000</strong> or more" in page
    # Of 138 people, who have 9,200 records.
    assert sum(_rows_from("attendance_records", read.plan) for read in found.reads) < 6_000


async def test_entries_of_some_days_of_the_audit_are_read_without_all_newer_ones(
    alice: Browser, database: Database, urls: DatabaseUrls
) -> None:
    async with database.shared_transaction() as db:
        await db.execute(text(_ENTRIES))
    await settle(urls, "audit_entries")
    with watch(database.engine) as found:
        page = (await alice.get("/admin/audit?from=2026-01-05&to=2026-01-20")).text
    assert "1–50 of <strong>2,304</strong>" in page
    newest_first = [page.index(f"/admin/audit/{number}") for number in _shown(page)]
    assert newest_first == sorted(newest_first)
    assert len(newest_first) == lists.DEFAULT_PER_PAGE
    assert sum(_rows_from("audit_entries", read.plan) for read in found.reads) < 3 * 2304


def _shown(page: str) -> list[int]:
    return sorted({int(one) for one in re.findall(r"/admin/audit/(\d+)", page)}, reverse=True)


async def test_when_each_kind_of_job_last_succeeded_is_found_without_all_jobs(
    alice: Browser, database: Database, urls: DatabaseUrls
) -> None:
    async with database.shared_transaction() as db:
        await db.execute(text(_DONE))
    await settle(urls, "jobs")
    with watch(database.engine) as found:
        told = (await alice.get("/metrics")).text
    ages = {
        line.split('"')[1]: round(float(line.split()[-1]) / 3600)
        for line in told.splitlines()
        if line.startswith("muster_job_done_age_seconds{")
    }
    # The workspace where it is longest ago; a job without an end is none.
    assert ages == {"clock_sync": 9, "clock_purge": 8}
    assert blocks_of(found) < 90, found.worst and found.worst.told()


async def test_the_punches_that_wait_for_each_person_are_taken_from_kept_counts(
    alice: Browser, database: Database, urls: DatabaseUrls
) -> None:
    async with database.transaction() as db:
        for code in range(30):
            await mirror_person(db, str(code))
        given = {"first": FIRST, "days": DAYS, "many": MANY}
        await db.execute(text(_PUNCHES.replace("'imported'", "CASE n % 7 WHEN 0 THEN 'imported' END")), given)
        await daily_totals.mark_stale(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await daily_totals.roll_up(database, "main")
    # One day waits to be counted again.
    async with database.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET import_outcome = 'not_bound' WHERE id % 7 = 0 AND local_date = :day"), {"day": FIRST})  # fmt: skip
        await daily_totals.mark_stale(db, [FIRST])
    tables = "clock_transactions", "clock_person_counts", "clock_waiting_counts", "clock_employees"
    await settle(urls, *tables, "clock_employee_bindings")
    with watch(database.engine) as found:
        page = (await alice.get("/clock_employees?waiting=1")).text
    async with database.transaction() as db:
        most = await db.scalar(
            text(
                """SELECT count(*) FROM clock_transactions WHERE gone_at_utc IS NULL
                AND (import_outcome IS NULL OR import_outcome = 'not_bound') GROUP BY emp_code ORDER BY 1 DESC LIMIT 1"""
            )
        )
    assert f">{most}<" in page
    assert "–30 of <strong>30</strong>" in page
    # 20,000 wait. Their entries lie close together, so rows tell more than blocks. Those of the open week are read
    # three times.
    assert sum(_rows_from("clock_transactions_waiting", read.plan) for read in found.reads) < 4 * 7 * MANY // DAYS


async def test_the_punches_of_ignored_codes_are_counted_by_week(
    alice: Browser, database: Database, urls: DatabaseUrls
) -> None:
    async with database.transaction() as db:
        await connect(db)
        for code in range(30):
            await mirror_person(db, str(code))
        await db.execute(text("UPDATE clock_employee_bindings SET state = 'ignored' WHERE emp_code::int < 10"))
        await db.execute(text(_PUNCHES), {"first": FIRST, "days": DAYS, "many": MANY})
        await daily_totals.mark_stale(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await daily_totals.roll_up(database, "main")
    await settle(urls, "clock_transactions", "clock_person_counts", "clock_employees", "clock_employee_bindings")
    for query, rows in (("ignored=only", MANY // 3), ("ignored=only&q=3", MANY // 30), ("ignored=only&emp_code=12", 0)):
        with watch(database.engine) as found:
            page = (await alice.get(f"/clock_transactions?{query}")).text
        assert f"of <strong>{rows:,}</strong>" in page or (rows == 0 and "No punches" in page), query
        # Those of a week are counted by day, to find the page in it.
        assert (
            sum(_rows_from("clock_transactions_", read.plan) for read in found.reads) < 0.8 * rows or rows < MANY // 3
        )


async def test_the_figures_of_a_survey_are_planned_for_their_values(database: Database) -> None:
    """A plan for any values, which PostgreSQL takes at the sixth call,
    reads all responses for the few after the mark."""
    (survey_id,) = await responded(database, 1)
    mode = text("SHOW plan_cache_mode")
    async with database.transaction() as db:
        uid = await db.scalar(text("SELECT uid FROM surveys WHERE id = :id"), {"id": survey_id})
        survey = await queries.survey(db, uid, None)
    for read in (
        lambda db: of_version.read(db, scope=TallyScope(survey_id, 1), questions=[]),
        lambda db: of_versions.read(db, survey, [1], []),
        lambda db: overview.read(db, datetime.now(UTC)),
    ):
        async with database.transaction() as db:
            await read(db)
            assert await db.scalar(mode) == "force_custom_plan"


@pytest.mark.parametrize(
    ("query", "rows"), [("q=msg_0000ab", 16), ("q=MSG_0000ab1", 1), ("q=2.example", 4), ("q=msg_0000ab&webhook=2", 0)]
)
async def test_calls_are_found_by_their_address_or_the_start_of_the_events_id(
    alice: Browser, database: Database, urls: DatabaseUrls, query: str, rows: int
) -> None:
    async with database.transaction() as db:
        await db.execute(text(_CALLS))
    await settle(urls, "webhook_events", "webhook_attempts", "webhook_endpoints")
    with watch(database.engine) as found:
        page = (await alice.get(f"/webhooks/log?{query}")).text
    assert f"of <strong>{rows}</strong>" in page if rows > 1 else page.count("/webhooks/log/") == rows
    # All 20,000 lie in 200 blocks and more. Of a webhook that is called rarely, more is read.
    assert "msg" not in query.lower() or blocks_of(found) < 450, found.worst and found.worst.told()


_CALLS = """
WITH endpoints AS (
    INSERT INTO webhook_endpoints (url, types, secret, made_by)
    SELECT 'https://' || n || '.example/', ARRAY['sync.finished'], '', '' FROM generate_series(1, 2) AS n RETURNING id, url
), events AS (
    INSERT INTO webhook_events (endpoint_id, message_id, type, ids, number, status, ended_at)
    SELECT e.id, 'msg_' || lpad(to_hex(n), 7, '0'), 'sync.finished', '{}', 1, 'delivered', now()
    FROM generate_series(1, 20000) AS n
    JOIN endpoints e ON e.url = CASE n % 4001 WHEN 0 THEN 'https://2.example/' ELSE 'https://1.example/' END
    RETURNING id, endpoint_id
)
INSERT INTO webhook_attempts (endpoint_id, event_id, attempt, duration_ms, delivered, http_status, sent)
SELECT endpoint_id, id, 1, 9, true, 204, '{}' FROM events
"""
