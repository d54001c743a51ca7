"""What a page, an API or a job reads does not grow with the rows stored: blocks are counted, never seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import housekeeping
from app.clock.bindings.queries import WAITS
from app.clock.figures import analytics, status
from app.clock.models import Punch
from app.clock.pages import transaction_filters
from app.clock.problems.code_facts import CODES
from app.clock.punches import daily_totals, day_counts, hour_counts, queries
from app.clock.punches.punch_filter import PunchFilter
from app.db.direct import driver
from app.db.session import Database
from app.host import jobs as host_jobs
from app.host.pages import attendance_list
from app.jobs import Claim
from app.parts import Parts
from app.problems import looking
from app.surveys.authoring.stored import load_all
from app.surveys.results import kept_numbers, of_version, of_versions, tally_marks
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope
from app.web import lists
from tests.benchmarks import bench_ledger, bench_results, bench_tenants
from tests.benchmarks.explained import Watch, watch
from tests.clock.mirrored import connect, mirror_person
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.host.staff import hire
from tests.settled import settle
from tests.surveys.ledger_rows import survey

FIRST, DAYS, MANY = date(2026, 3, 1), 20, 24_000
LAST = FIRST + timedelta(days=DAYS - 1)
# Of what is made below, one column for each that the figures look at. A thousandth is gone from the server.
_PUNCHES = """
INSERT INTO clock_transactions (id_generation, remote_id, emp_code, terminal_sn, punch_code, punched_at_raw, punched_at_local,
    punched_at_utc, uploaded_at_utc, local_date, import_outcome, gone_at_utc, judge_at)
SELECT 1, n::text, (n % 30)::text, 'T' || n % 4, 0, '', at, at AT TIME ZONE 'UTC',
    CASE n % 5 WHEN 0 THEN NULL ELSE at AT TIME ZONE 'UTC' + n % 5 * interval '100 seconds' END, at::date, 'imported',
    CASE WHEN n % 1000 = 0 THEN at AT TIME ZONE 'UTC' END, NULL
FROM (SELECT n, CAST(:first AS timestamp) + (n - 1) * :days / :many * interval '1 day' + n % 1440 * interval '1 minute' AS at
    FROM generate_series(1, :many) AS n) AS made
"""
_HOURS = """
SELECT extract(isodow FROM punched_at_local)::int, extract(hour FROM punched_at_local)::int, count(*)
FROM clock_transactions WHERE local_date BETWEEN :first AND :last GROUP BY 1, 2
"""
_CHOICES = """
INSERT INTO survey_tallies (survey_id, version, day, outcome, question_key, choice, people)
SELECT :survey, 1, CAST(:first AS date) + n % 20, 'answered', :key, {choice}, count(*) FROM generate_series(1, :many) AS n GROUP BY 3, 6
"""
_AUDIT = """
INSERT INTO audit_entries (workspace, actor_name, act, subject_type, subject_id, after)
SELECT 'main', 'System', 'attendance.edit', 'attendance', n::text, '{}' FROM generate_series(1, :many) AS n
"""


@pytest.fixture
async def mirror(database: Database, urls: DatabaseUrls) -> Database:
    """MANY punches of thirty people at four terminals, counted up;
    then one more, of a day that waits to be counted again."""
    async with database.transaction() as db:
        await db.execute(text(_PUNCHES), {"first": FIRST, "days": DAYS, "many": MANY})
        await daily_totals.mark_stale(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await daily_totals.roll_up(database, "main")
    async with database.transaction() as db:
        at = datetime(2026, 3, 4, 7, 30)
        row = ("more", 1, "31", "T9", "", at, at.replace(tzinfo=UTC), at.date())
        names = "remote_id id_generation emp_code terminal_sn punched_at_raw punched_at_local punched_at_utc local_date"
        await driver(db).copy_records_to_table("clock_transactions", records=[row], columns=names.split())
        await daily_totals.mark_stale(db, [at.date()])
    await settle(urls, "clock_transactions", "clock_hour_counts", "clock_analytics_daily", "clock_transaction_counts")
    return database


def blocks_of(found: Watch) -> int:
    assert found.reads, "nothing was read at all"
    return found.blocks


async def test_the_hours_of_a_range_are_read_from_kept_counts_and_are_those_of_its_punches(mirror: Database) -> None:
    async with mirror.transaction() as db:
        with watch(mirror.engine) as found:
            shape = await analytics.shape(db, FIRST + timedelta(days=5), LAST, FIRST)
        given = {"first": FIRST + timedelta(days=5), "last": LAST}
        plain = {(weekday, hour): n for weekday, hour, n in await db.execute(text(_HOURS), given)}
    assert shape.hours == plain
    assert sum(one.punches for one in shape.late) == sum(plain.values())
    assert sum(one.punches for one in shape.late_before) == MANY // DAYS * 5 + 1
    # The one day that waits to be counted again is read, and 20 days would be 20 times as many.
    assert blocks_of(found) < 200


async def test_while_an_import_changes_outcomes_of_all_days_the_totals_of_lists_come_from_kept_counts(
    mirror: Database, urls: DatabaseUrls, subtests: pytest.Subtests
) -> None:
    await daily_totals.roll_up(mirror, "main")
    async with mirror.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET import_outcome = 'overlaps' WHERE id % 7 = 0"))
        await daily_totals.mark_outcomes(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await settle(urls, "clock_stale_days")
    codes = (0, day_counts.UNKNOWN)
    for wanted in (
        PunchFilter(),
        PunchFilter(terminal_sn="T1"),
        PunchFilter(punch_codes=(0,)),
        PunchFilter(terminal_sn="T1", punch_codes=codes),
        PunchFilter(emp_codes=("7",)),
    ):
        with subtests.test(str(wanted)):
            async with mirror.transaction() as db:
                plain = await queries._counted_fresh(db, wanted)
                with watch(mirror.engine) as found:
                    assert (await queries.counted_by_day(db, wanted)).total == plain.total > 0
                hours = await hour_counts.read(db, FIRST, LAST, FIRST)
                assert sum(hours.hours.values()) == MANY + 1
            # The punches lie in more than 500.
            assert blocks_of(found) < 60, found.worst and found.worst.told()


@pytest.mark.parametrize("days", [1, 2])
async def test_a_part_of_a_week_is_counted_once_for_some_people_without_the_days_around_it(
    mirror: Database, days: int
) -> None:
    first = FIRST + timedelta(days=10)
    span = first, first + timedelta(days=days - 1)
    wanted = PunchFilter(emp_codes=tuple(str(code) for code in range(12)), days=span)
    async with mirror.transaction() as db:
        plain = await queries._counted_fresh(db, wanted)
        with watch(mirror.engine) as found:
            counted = await queries.counted_by_day(db, wanted)
            page = await queries.located_rows(db, wanted, counted, newest_first=True, offset=0, per_page=5)
    assert len(page) == 5
    assert counted.total == plain.total == MANY // DAYS * 12 // 30 * days
    # 18 hours at both ends, the longest offset from UTC. Whole days would be five.
    assert sum(one.rows for one in found.reads) < plain.total * (days + 2) / days


@pytest.mark.parametrize("outcomes", [("",), ("", "awaiting", "overlaps")])
async def test_while_days_wait_to_be_counted_what_is_not_judged_yet_is_read_without_what_is(
    mirror: Database, urls: DatabaseUrls, outcomes: tuple[str, ...]
) -> None:
    async with mirror.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET import_outcome = NULL WHERE id % 20 = 0"))
        await daily_totals.mark_stale(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await settle(urls, "clock_transactions", "clock_stale_days")
    wanted = PunchFilter(outcomes=outcomes)
    async with mirror.transaction() as db:
        with watch(mirror.engine) as found:
            counted = await queries.counted_by_day(db, wanted)
            page = await queries.located_rows(db, wanted, counted, newest_first=True, offset=500, per_page=50)
    assert len(page) == 50
    assert counted.total == MANY // 20 + 1
    assert sum(one.rows for one in found.reads) < MANY // 4
    # All punches lie in more than 500.
    assert blocks_of(found) < 350, found.worst and found.worst.told()


async def test_days_that_an_older_version_counted_get_their_hours_by_and_by(mirror: Database) -> None:
    async with mirror.transaction() as db:
        before = await hour_counts.read(db, FIRST, LAST, FIRST)
        await db.execute(text("DELETE FROM clock_hour_counts"))
        assert await hour_counts.read(db, FIRST, LAST, FIRST) == before
    await daily_totals.roll_up(mirror, "main")
    async with mirror.transaction() as db:
        assert await hour_counts.read(db, FIRST, LAST, FIRST) == before
        assert await db.scalar(text("SELECT count(DISTINCT local_date) FROM clock_hour_counts")) == DAYS
        assert await hour_counts.never_counted(db) == []
    assert await daily_totals.roll_up(mirror, "main") == 0


async def test_people_and_terminals_of_many_punches_are_looked_up_one_by_one(mirror: Database) -> None:
    async with mirror.transaction() as db:
        with watch(mirror.engine) as found:
            totals = (await status.daily_totals(db, FIRST, LAST))["totals"]
        assert totals["total"] > status.COUNTED_DIRECTLY
        for first, last in ((FIRST, LAST), (FIRST, FIRST), (LAST, date.max)):
            plain = await status._distinct(db, first, last)
            assert await status._distinct_among_many(db, first, last) == plain
    assert (totals["employees"], totals["terminals"]) == (31, 5)
    assert blocks_of(found) < 600


async def test_settled_punches_are_taken_from_kept_counts_whatever_groups_are_asked(
    mirror: Database, subtests: pytest.Subtests
) -> None:
    days = {"first": FIRST + timedelta(days=2), "last": FIRST + timedelta(days=2)}
    changed = (
        "UPDATE clock_transactions SET import_outcome = {} WHERE local_date BETWEEN :first AND :last AND id % 7 = {}"
    )
    async with mirror.transaction() as db:
        for place, outcome in enumerate(("'overlaps'", "'awaiting'", "NULL", "'overlaps', settled_at_utc = now()")):
            await db.execute(text(changed.format(outcome, place)), days)
        await daily_totals.count_days(db, [days["first"]])
        for groups in (["waiting", "needs_person"], ["needs_person", "good"], ["needs_person"]):
            with subtests.test(str(groups)):
                wanted = transaction_filters._of_groups(groups)
                plain = await queries._counted_fresh(db, wanted)
                with watch(mirror.engine) as found:
                    assert await queries.counted_by_day(db, wanted) == plain
                assert plain.total > 0
                assert blocks_of(found) < 250


async def test_days_with_punches_that_are_gone_are_taken_from_the_totals_too(
    mirror: Database, urls: DatabaseUrls, subtests: pytest.Subtests
) -> None:
    async with mirror.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET terminal_sn = 'T' || id % 300"))
        await daily_totals.count_days(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    await settle(urls, "clock_transactions", "clock_analytics_daily", "clock_transaction_counts")
    for wanted in (
        PunchFilter(),
        PunchFilter(terminal_sn="T7"),
        PunchFilter(outcomes=("imported",)),
        PunchFilter(punch_codes=(0,)),
        PunchFilter(punch_codes=(day_counts.UNKNOWN,)),
    ):
        with subtests.test(str(wanted)):
            async with mirror.transaction() as db:
                assert await db.scalar(text("SELECT count(*) FROM clock_analytics_daily WHERE gone > 0")) == DAYS
                plain = await queries._counted_fresh(db, wanted)
                with watch(mirror.engine) as found:
                    assert await queries.counted_by_day(db, wanted) == plain
            # The counts of all days by terminal would be 6,000 rows. The day that waits to be counted again is read.
            assert blocks_of(found) < 400, found.worst and found.worst.told()


async def test_the_rare_punches_of_some_people_are_counted_without_those_of_others(
    mirror: Database, urls: DatabaseUrls
) -> None:
    async with mirror.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET import_outcome = 'overlaps' WHERE id % 4 = 0"))
    await settle(urls, "clock_transactions")
    wanted = PunchFilter(emp_codes=("3", "6"), outcomes=("overlaps",))
    async with mirror.transaction() as db:
        with watch(mirror.engine) as found:
            counted = await queries.counted_by_day(db, wanted)
        assert counted.total == await db.scalar(
            text("SELECT count(*) FROM clock_transactions WHERE emp_code IN ('3', '6') AND id % 4 = 0")
        )
    assert counted.total > 300
    # Of 6,000 punches with that outcome.
    assert blocks_of(found) < 45, found.worst and found.worst.told()


async def test_a_deep_page_of_the_audit_names_only_what_it_shows(
    alice: Browser, database: Database, urls: DatabaseUrls
) -> None:
    async with database.shared_transaction() as db:
        await db.execute(text(_AUDIT), {"many": 10_000})
    await settle(urls, "audit_entries")
    with watch(database.engine) as found:
        page = await alice.get("/admin/audit?page=150")
    assert "7,451–7,500 of" in page.text
    # Were all entries before it named, it would be several blocks for each of 7,500.
    assert blocks_of(found) < 3000


@pytest.mark.parametrize(
    ("view", "most"),
    [
        ("/admin/tenants", 4000),
        ("/admin/tenants?page=6", 4000),
        ("/admin/tenants?state=deactivated", 2500),
        ("/admin/tenants?state=no_administrator", 12_000),
        ("/admin/users?page=8", 1800),
        ("/admin/users?q=user4710", 1800),
        ("/admin/users?role=Administrator", 200),
        ("/palette?q=user4710", 900),
    ],
)
async def test_tenants_and_users_are_read_without_the_accounts_of_all(
    alice: Browser, database: Database, urls: DatabaseUrls, view: str, most: int
) -> None:
    """300 tenants with 20,000 accounts, 400 of them the platform's.
    To look at each would be thousands of blocks more."""
    await bench_tenants.fill(database, 300, 20_000, share=50)
    owner = Database(urls.owner)
    await bench_tenants.settle(owner)
    await owner.close()
    with watch(database.engine) as found:
        answer = await alice.get(view)
    assert answer.status_code == 200
    assert len(found.reads) < 12
    assert (read := blocks_of(found)) < most, read


_RECORDS = """
INSERT INTO attendance_records (employee_id, workday, kind, clock_in, clock_out, status, source)
SELECT e.id, at::date, 'regular', at, at + interval '8 hours', 'approved', 'clock'
FROM (SELECT id FROM employees LIMIT 1) AS e, generate_series(1, :many) AS n,
    LATERAL (SELECT timestamptz '2026-01-01 08:00Z' + n * interval '9 hours') AS made (at)
"""


async def test_hours_are_added_up_for_some_records_and_not_for_all_that_there_are(
    alice: Browser, database: Database, urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as db:
        await hire(db)
        await db.execute(text(_RECORDS), {"many": 3000})
    await settle(urls, "attendance_records")
    with watch(database.engine) as added_up:
        assert "24,000 h 00 min worked" in (await alice.get("/attendance")).text
    monkeypatch.setattr(attendance_list, "MOST_ADDED_UP", 2999)
    with watch(database.engine) as found:
        page = (await alice.get("/attendance")).text
    assert "of <strong>2,999</strong> or more: narrow the filter to reach the rest; hours are added up for" in page
    assert "worked" not in page.partition("pager")[2].partition("</nav>")[0]
    assert blocks_of(found) < blocks_of(added_up)
    assert " h 00 min worked" in (await alice.get("/attendance?from=2026-01-03&to=2026-01-03")).text


# A few among very many, each of which somebody looks for by a filter. They are stored in the order of their time, as in
# life: a join by itself has one order or another, depending on what the database knows of the people.
_MANY_RECORDS = """
INSERT INTO attendance_records (employee_id, workday, kind, clock_in, clock_out, status, source, edited_at, note)
SELECT e.id, at::date, CASE n % 4001 WHEN 0 THEN 'overtime' ELSE 'regular' END, at,
    CASE n % 4003 WHEN 0 THEN NULL ELSE at + interval '1 minute' END, CASE n % 4007 WHEN 0 THEN 'pending' ELSE 'approved' END,
    CASE n % 4013 WHEN 0 THEN 'manual' ELSE 'clock' END, CASE n % 4019 WHEN 0 THEN at END, CASE n % 4021 WHEN 0 THEN 'Nora swapped' END
FROM generate_series(1, :many) AS n JOIN employees e ON e.id_number = 'P' || n % 300,
    LATERAL (SELECT timestamptz '2026-01-01 08:00Z' + n * interval '10 minutes') AS made (at)
ORDER BY n
"""
_STAFF = """
INSERT INTO employees (id_number, id_number_key, name) SELECT 'P' || n, 'p' || n, 'Person ' || n
FROM generate_series(0, least(299, :many)) AS n
"""
_RARE_ACTS = """
INSERT INTO audit_entries (workspace, actor_name, act, subject_type, subject_id)
SELECT 'main', 'System', CASE n % 4001 WHEN 0 THEN 'person.deactivate' ELSE 'attendance.import' END, 'attendance', n::text
FROM generate_series(1, CAST(:many AS int)) AS n
"""
_RARE_JOBS = """
INSERT INTO jobs (workspace, name, key, status, finished_at)
SELECT 'main', CASE n % 4003 WHEN 0 THEN 'clock_purge' ELSE 'clock_sync' END, n::text,
    CASE n % 4001 WHEN 0 THEN 'failed' ELSE 'done' END, now() FROM generate_series(1, CAST(:many AS int)) AS n
"""
_RARE_CODES = """
INSERT INTO clock_api_logs (method, host, path, query, http_status, duration_ms, bytes, tc_code, excerpt)
SELECT 'GET', 'h', '/', '', 200, 9, 9, CASE n % 4001 WHEN 0 THEN 'TC-RATE' END, '' FROM generate_series(1, CAST(:many AS int)) AS n
"""
# Of the second webhook, and a test of it.
_RARE_CALLS = """
WITH endpoints AS (
    INSERT INTO webhook_endpoints (url, types, secret, made_by)
    SELECT 'https://' || n || '.example/', ARRAY['sync.finished'], '', '' FROM generate_series(1, 2) AS n RETURNING id, url
), events AS (
    INSERT INTO webhook_events (endpoint_id, message_id, type, ids, number, status, ended_at)
    SELECT e.id, 'msg_' || n, CASE n % 4007 WHEN 0 THEN 'webhook.test' ELSE 'sync.finished' END, '{}', 1, 'delivered', now()
    FROM generate_series(1, CAST(:many AS int)) AS n JOIN endpoints e ON e.url = CASE n % 4001 WHEN 0 THEN 'https://2.example/' ELSE 'https://1.example/' END
    RETURNING id, endpoint_id
)
INSERT INTO webhook_attempts (endpoint_id, event_id, attempt, duration_ms, delivered, http_status, sent)
SELECT endpoint_id, id, 1, 9, id % 4003 > 0, 204, '{}' FROM events
"""
RARE = {
    "/attendance?status=pending": 4,
    "/attendance?kind=overtime": 4,
    "/attendance?source=manual": 4,
    "/attendance?open=1": 4,
    "/attendance?edited=1": 4,
    "/attendance?q=nora+swapped": 4,
    "/attendance?q=nora+person": 4,
    "/admin/audit?act=person.deactivate": 4,
    "/admin/jobs?status=failed": 4,
    "/admin/jobs?name=clock_purge": 4,
    "/clock_logs?code=TC-RATE": 4,
    "/webhooks/log?result=failed": 4,
    "/webhooks/log?type=webhook.test": 4,
    "/webhooks/log?webhook=2": 4,
}


@pytest.fixture
async def long_lists(database: Database, urls: DatabaseUrls) -> None:
    async with database.transaction() as db:
        for statement in (_STAFF, _MANY_RECORDS, _RARE_ACTS, _RARE_JOBS, _RARE_CODES, _RARE_CALLS):
            await db.execute(text(statement), {"many": 20_000})
    logs = "clock_api_logs", "webhook_events", "webhook_attempts"
    await settle(urls, "employees", "attendance_records", "audit_entries", "jobs", *logs)


@pytest.mark.usefixtures("long_lists")
async def test_the_few_rows_of_a_rare_filter_are_found_by_an_index(alice: Browser, database: Database) -> None:
    wrong = {}
    for url, rows in RARE.items():
        with watch(database.engine) as found:
            page = (await alice.get(url)).text
        # All 20,000 rows lie in 200 blocks and more.
        if f"–{rows} of <strong>{rows}</strong>" not in page or blocks_of(found) > 150:
            wrong[url] = found.worst and found.worst.told()
    assert not wrong, "\n".join(f"{url}\n{told}" for url, told in wrong.items())


@pytest.mark.usefixtures("long_lists")
# PostgreSQL 15 looks for the person behind each row of the audit through all 300 people of the test,
# which lie in 4 blocks.
@pytest.mark.parametrize(("url", "most"), [("/admin/audit", 550), ("/admin/jobs", 500), ("/attendance", 500)])
async def test_a_long_list_is_neither_counted_nor_read_to_its_end(
    alice: Browser, database: Database, monkeypatch: pytest.MonkeyPatch, url: str, most: int
) -> None:
    monkeypatch.setattr(lists, "FEW", 100)
    monkeypatch.setattr(lists, "MOST_LISTED", 200)
    monkeypatch.setattr(attendance_list, "MOST_ADDED_UP", 200)
    with watch(database.engine) as found:
        page = (await alice.get(f"{url}?page=300")).text
    assert "151–200 of <strong>200</strong> or more" in page
    assert "All 200 or more rows of this filter" in page
    assert "Excel takes up to 100,000 rows. If there are more, use CSV, or narrow the filter." in page
    assert ('data-amount="200 or more"' in page) is (url != "/admin/audit")
    assert "Page 4 of 4" in page
    assert blocks_of(found) < most


@pytest.mark.usefixtures("long_lists")
async def test_a_long_list_is_sorted_only_as_an_index_has_it(
    alice: Browser, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "FEW", 100)
    monkeypatch.setattr(lists, "MOST_LISTED", 200)
    with watch(database.engine) as found:
        page = (await alice.get("/admin/jobs?sort=attempt")).text
    assert "too many to sort like this" in page
    assert 'name="sort" value="-created_at"' in page
    assert blocks_of(found) < 150
    assert 'name="sort" value="attempt"' in (await alice.get("/admin/jobs?sort=attempt&status=failed")).text


async def test_housekeeping_takes_a_slice_at_a_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "SLICE", 40)
    async with database.shared_transaction() as db:
        await db.execute(text(_RARE_JOBS), {"many": 100})
        await db.execute(text("UPDATE jobs SET finished_at = now() - interval '31 days'"))
    sizes = []

    @asynccontextmanager
    async def counted() -> AsyncIterator[AsyncSession]:
        async with database.shared_transaction() as db:
            before = await db.scalar(text("SELECT count(*) FROM jobs"))
            yield db
            sizes.append(before - await db.scalar(text("SELECT count(*) FROM jobs")))

    await housekeeping.tidy(counted, jobs.OVER)
    assert [size for size in sizes if size] == [40, 40, 20]


async def test_sweeps_that_are_over_are_found_without_all_other_jobs(parts: Parts, urls: DatabaseUrls) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(text(_RARE_JOBS), {"many": MANY})
        old = "UPDATE jobs SET workspace = 'w' || id % 3001, status = 'done', finished_at = now() - interval '2 days'"
        await db.execute(text(old))
        await db.execute(text("UPDATE jobs SET name = :sweep WHERE id % 2000 = 0"), {"sweep": looking.JOB})
    await settle(urls, "jobs", "sessions")
    with watch(parts.database.engine) as found:
        await host_jobs.tidy(parts, Claim(1, 1, "main", "housekeeping", {}))
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(text("SELECT count(*) FROM jobs")) == MANY - 12
    assert blocks_of(found) < 150, found.worst and found.worst.told()


async def test_what_keeps_punches_from_counting_is_counted_once_before_there_are_statistics(database: Database) -> None:
    """As after a first sync: the database takes the new punches for few.
    Each person's would be read for every other person."""
    async with database.transaction() as db:
        await connect(db)
        for code in range(30):
            await mirror_person(db, str(code))
        await db.execute(text(_PUNCHES.replace("'imported'", "NULL")), {"first": FIRST, "days": DAYS, "many": MANY})
        await daily_totals.mark_stale(db, [FIRST + timedelta(days=n) for n in range(DAYS)])
    # The days are noted as the transaction ends.
    async with database.transaction() as db:
        with watch(database.engine) as once:
            await db.execute(select(func.count()).select_from(Punch).where(WAITS))
        with watch(database.engine) as found:
            assert (await db.execute(CODES.select)).all()
    # Without statistics each of the four weeks is looked for among all that wait; 30 people would be 30 times.
    assert blocks_of(found) < 6 * blocks_of(once)


async def responded(database: Database, surveys: int) -> list[int]:
    """The ids of published surveys that have MANY responses together, none of them counted."""
    found = await bench_ledger.surveyed(database, surveys)
    given = {"rows": MANY, "surveys": surveys, "first": datetime(2026, 3, 1, tzinfo=UTC), "apart": 60}
    async with database.transaction() as db:
        await db.execute(text(bench_results._SURVEYS))
        await db.execute(text(bench_results._RESPONSES), given)
        await db.execute(text("UPDATE survey_ledger_head SET number = :many, row_hash = sha256('')"), {"many": MANY})
    return [one.id for one in found]


LEDGER = ("survey_responses", "survey_tallies", "survey_tombstones", "survey_tally_mark", "survey_ledger_head")


async def test_the_responses_to_a_survey_are_counted_without_reading_them(
    database: Database, urls: DatabaseUrls
) -> None:
    (survey_id,) = await responded(database, 1)
    async with database.transaction() as db:
        assert await tally_marks.count_up(db) == MANY
    await settle(urls, *LEDGER)
    async with database.transaction() as db:
        with watch(database.engine) as found:
            (stored,) = await load_all(db, [survey_id])
    assert stored.responses == MANY
    # All rows lie in 900 blocks, and their smallest index in 100.
    assert blocks_of(found) < 60


@pytest.mark.usefixtures("long_lists")
async def test_an_export_reads_its_first_rows_without_sorting_all(alice: Browser, parts: Parts) -> None:
    with watch(parts.exports.engine) as found:
        rows = (await alice.get("/attendance?export=csv")).text
    assert rows.count("\n") == 20_001
    assert "Sort " not in (plan := found.worst.told() if found.worst else ""), plan


async def test_responses_after_the_mark_are_read_once_for_all_surveys_of_an_act(
    database: Database, urls: DatabaseUrls
) -> None:
    ids = await responded(database, 20)
    await settle(urls, *LEDGER)
    async with database.transaction() as db:
        with watch(database.engine) as one:
            await load_all(db, ids[:1])
        with watch(database.engine) as every:
            found = await load_all(db, ids)
    assert sum(survey.responses for survey in found) == MANY
    assert blocks_of(every) < 2 * blocks_of(one), every.worst and every.worst.told()


async def test_tombstones_of_the_demo_cost_other_surveys_nothing(database: Database, urls: DatabaseUrls) -> None:
    first, *_ = await responded(database, 2)
    async with database.transaction() as db:
        await tally_marks.count_up(db)
        removed = (
            "INSERT INTO survey_tombstones SELECT number FROM survey_responses WHERE survey_id <> :first LIMIT 3000"
        )
        await db.execute(text(removed), {"first": first})
    await settle(urls, *LEDGER)
    async with database.transaction() as db:
        with watch(database.engine) as found:
            await load_all(db, [first])
    assert blocks_of(found) < 60, found.worst and found.worst.told()


async def test_very_many_different_numbers_cost_a_survey_s_page_a_few_blocks(
    database: Database, urls: DatabaseUrls
) -> None:
    """Each of MANY people gave another number, on one of twenty days."""
    async with database.transaction() as db:
        placed = await survey(db, questions=[("How far?", "number", []), ("Which?", "single_choice", ["a", "b"])])
        given = {"survey": placed.id, "first": FIRST, "many": MANY}
        far, which = placed.keys
        for key, choice in ((far, "n::text"), (which, "'a'"), (far, "''"), (which, "''")):
            await db.execute(text(_CHOICES.format(choice=choice)), {**given, "key": key})
    asked = [
        AskedQuestion(placed.keys[0], "How far?", "number"),
        AskedQuestion(placed.keys[1], "Which?", "single_choice", ("a", "b")),
    ]
    await settle(urls, "survey_tallies")
    for waits in (True, False):
        async with database.transaction() as db:
            with watch(database.engine) as found:
                read = await of_version.read(db, scope=TallyScope(placed.id, 1), questions=asked)
            row = type("Row", (), {"id": placed.id, "anonymity": "named"})
            with watch(database.engine) as compared:
                await of_versions.read(db, row, [1], asked)
            assert [one.people for one in read.questions] == [MANY, MANY]
            assert read.questions[0].waits is waits
            await kept_numbers.keep(db, placed.id, 1, [far])
        # All rows lie in 300 blocks. Some of one index are read to see that there are very many.
        for one in (found, compared):
            assert blocks_of(one) < 120, one.worst and one.worst.told()
    middle = read.questions[0].middle
    assert middle
    assert (middle.people, middle.median) == (MANY, (MANY + 1) / 2)
