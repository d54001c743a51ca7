"""A workspace in which everything grew: for so many punches a fifth as many records, a tenth as many audit entries,
answers and ratings, and runs, calls, jobs, rows set aside, problems, webhooks and mails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.problems import counting
from app.surveys.results import tally_marks
from tests.benchmarks import bench_lists, bench_results
from tests.benchmarks.bench_ledger import surveyed
from tests.benchmarks.bench_lists import DAYS, PEOPLE

SURVEYS, BUILDERS = 40, 3
_LARGE = (
    "main.clock_transactions main.attendance_records main.api_app_ratings main.survey_responses main.survey_answers"
    " main.survey_prompt_state main.clock_api_logs main.webhook_events main.webhook_attempts shared.audit_entries shared.jobs"
)
# Those of constraints stay.
_INDEXES = f"""
SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
WHERE i.indrelid::regclass IN ({", ".join(f"'{one}'::regclass" for one in _LARGE.split())}) AND NOT i.indisunique
"""
# Each with the place of the punches that it stands for; a day has as many as the punches of that day allow.
_HOST = """
INSERT INTO employees (id_number, id_number_key, name, department)
SELECT 'H' || n, 'h' || n, 'Person ' || n, 'Department ' || n % 12 FROM generate_series(0, :people - 1) AS n
"""
_BOUND = """
UPDATE clock_employee_bindings b SET state = 'bound', method = 'manual', host_employee_id = e.id
FROM employees e WHERE e.id_number = 'H' || (b.emp_code::int - 1000) AND b.emp_code::int % 25 > 0
"""
_IGNORED = "UPDATE clock_employee_bindings SET state = 'ignored' WHERE emp_code::int % 250 = 0 AND state = 'unbound'"
_RECORDS = """
INSERT INTO attendance_records (employee_id, workday, kind, clock_in, clock_out, status, source, edited_at, deleted_at, note)
SELECT e.id, at::date, CASE WHEN n % 20 = 0 THEN 'overtime' ELSE 'regular' END, at,
    CASE WHEN n % 1009 > 0 THEN at + interval '8 hours' END,
    CASE WHEN n % 503 = 0 THEN 'rejected' WHEN n > :records * 0.97 THEN 'pending' ELSE 'approved' END,
    CASE WHEN n % 301 = 0 THEN 'manual' ELSE 'clock' END, CASE WHEN n % 307 = 0 THEN at END, CASE WHEN n % 997 = 0 THEN at END,
    CASE WHEN n % 5003 = 0 THEN 'A note' END
FROM (SELECT n, CAST(:first AS date) + n * make_interval(secs => :apart) AS at FROM generate_series(1, :records) AS n) AS made
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS every FROM employees) AS e ON e.place = n % e.every
"""
_LOCKS = (
    "INSERT INTO day_locks (day, locked_by) SELECT CAST(:first AS date) + n, 'Alice' FROM generate_series(0, 299) AS n"
)
_AUDIT = """
INSERT INTO audit_entries (at, workspace, actor_id, actor_name, act, subject_type, subject_id, before, after)
SELECT CAST(:first AS date) + n * make_interval(secs => :apart), 'main', CASE WHEN n % 3 = 0 THEN 1 END,
    CASE WHEN n % 3 = 0 THEN 'B' ELSE 'System' END,
    CASE WHEN n % 10007 = 0 THEN 'person.deactivate' WHEN n % 3 = 0 THEN 'attendance.edit' ELSE 'attendance.import' END,
    'attendance', n::text, '{"a": 1}', '{"a": 2}'
FROM generate_series(1, CAST(:audit AS bigint)) AS n
"""
_RUNS = """
INSERT INTO clock_sync_runs (trigger, status, queued_at, started_at, finished_at, calls)
SELECT CASE WHEN n % 100 = 0 THEN 'manual' ELSE 'schedule' END, CASE WHEN n % 211 = 0 THEN 'failed' ELSE 'succeeded' END, at, at,
    at + interval '1 minute', 9
FROM (SELECT n, CAST(:first AS date) + n * make_interval(secs => :apart) AS at FROM generate_series(1, CAST(:runs AS bigint)) AS n) AS made
"""
_CALLS = """
INSERT INTO clock_api_logs (at, run_id, method, host, path, query, http_status, duration_ms, bytes, tc_code, excerpt)
SELECT CAST(:first AS date) + n * make_interval(secs => :apart), n / 10 + 1, 'GET', 'h', '/iclock/api/transactions/', 'page=' || n, 200, n % 900,
    9000, CASE WHEN n % 2003 = 0 THEN 'TC-RATE' END, ''
FROM generate_series(1, CAST(:calls AS bigint)) AS n
"""
_ASIDE = """
INSERT INTO clock_set_aside (run_id, resource, raw, reason, at)
SELECT n, 'transactions', '{}', 'It has no time.', CAST(:first AS date) + n * make_interval(secs => :apart)
FROM generate_series(1, CAST(:aside AS bigint)) AS n
"""
_JOBS = """
INSERT INTO jobs (workspace, name, key, status, attempt, created_at, due_at, started_at, finished_at)
SELECT CASE WHEN n % 2 = 0 THEN 'main' ELSE 'acme' END, 'clock_sync', n::text, CASE WHEN n % 1009 = 0 THEN 'failed' ELSE 'done' END, 1, at, at, at, at
FROM (SELECT n, CAST(:first AS date) + n * make_interval(secs => :apart) AS at FROM generate_series(1, CAST(:jobs AS bigint)) AS n) AS made
"""
_APPS = "INSERT INTO applications (name, status) SELECT 'App ' || n, 'published' FROM generate_series(1, 20) AS n"
_RATINGS = """
INSERT INTO api_app_ratings (application_id, user_id, rating, platform, rated_at, rated_on)
SELECT a.id, n, n % 5 + 1, 'web', at, at::date
FROM (SELECT n, CAST(:first AS date) + n * make_interval(secs => :apart) AS at FROM generate_series(1, CAST(:ratings AS bigint)) AS n) AS made
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM applications) AS a ON a.place = n % 20
"""
# Most were closed in the last 90 days. One in a hundred is open.
_PROBLEMS = """
INSERT INTO problems (kind, subject_type, subject_id, severity, title, held_punches, held_people, facts, since, closed_at, closed_by,
    stands)
SELECT CASE WHEN n % 50 = 0 THEN 'overlaps' ELSE 'only_one_punch' END, 'person_day', 'e' || n || '/2026-11-22',
    CASE WHEN n % 50 = 0 THEN 'critical' ELSE 'warning' END, 'Horvat ' || n || ': one punch', 1 + n % 3, 1,
    jsonb_build_object('code', n::text, 'name', 'Horvat ' || n, 'department', 'Department ' || n % 40, 'terminal', 'T' || n % 20),
    at, CASE WHEN n % 100 > 0 THEN at + interval '1 hour' END, CASE WHEN n % 100 > 0 THEN 'person' END, n % 100 = 0
FROM (SELECT n, now() - n * make_interval(secs => :apart / 5) AS at FROM generate_series(1, CAST(:problems AS bigint)) AS n) AS made
"""
_CHANGES = """
INSERT INTO problem_changes (problem_id, at, what) SELECT id, since, 'opened' FROM problems
UNION ALL SELECT id, closed_at, 'closed' FROM problems WHERE closed_at IS NOT NULL
"""
_WEBHOOKS = """
INSERT INTO webhook_endpoints (url, types, active, secret, made_by)
SELECT 'https://' || n || '.example/', ARRAY['punch.outcome_changed'], n = 1, '', 'B' FROM generate_series(1, 2) AS n
"""
# Of the last 30 days. Nearly all are of the first webhook; nothing waits.
_EVENTS = """
INSERT INTO webhook_events (endpoint_id, message_id, type, ids, number, at, status, attempts, ended_at)
SELECT CASE WHEN n % 10007 = 0 THEN 2 ELSE 1 END, 'msg_' || n, 'punch.outcome_changed', ARRAY[n::text], 1, at, 'delivered', 1, at
FROM (SELECT n, now() - n * make_interval(secs => :apart / 15) AS at FROM generate_series(1, CAST(:events AS bigint)) AS n) AS made
"""
_ATTEMPTS = """
INSERT INTO webhook_attempts (endpoint_id, event_id, attempt, started_at, duration_ms, delivered, http_status, sent)
SELECT endpoint_id, id, 1, at, 40, id % 1009 > 0, CASE WHEN id % 1009 > 0 THEN 204 ELSE 500 END, '{}' FROM webhook_events ORDER BY at
"""
_MAILS = """
INSERT INTO outgoing_mails (workspace, kind, message_key, user_id, status, created_at, due_at, expires_at, ended_at)
SELECT 'main', 'problem', gen_random_uuid()::text, NULL, 'sent', at, at, at + interval '1 day', at
FROM (SELECT n, now() - n * make_interval(secs => :apart / 15) AS at FROM generate_series(1, CAST(:mails AS bigint)) AS n) AS made
"""
# What an import leaves of a punch: most are of a record, some were settled, some are gone from the server.
_IMPORTED = {
    "host_attendance_id": "CASE WHEN n % 31 > 0 AND n % 53 > 0 AND n % 1009 > 0 AND n <= :punches * 0.995 THEN 1 + n / 5 END",
    "settled_at_utc": "CASE WHEN n % 2018 = 0 THEN at AT TIME ZONE 'UTC' END",
    "gone_at_utc": "CASE WHEN n % 90001 = 0 THEN at AT TIME ZONE 'UTC' END",
    "uploaded_at_utc": "at AT TIME ZONE 'UTC' + interval '20 seconds'",
    "updated_at": "at AT TIME ZONE 'UTC'",
    "first_run_id": "1 + n / 1000",
}


async def fill(database: Database, owner: Database, punches: int, today: date) -> str:
    """The year until today. Returns the uid of the survey that has most of the answers."""
    first = today - timedelta(days=DAYS)
    async with _without_indexes(owner):
        await bench_lists.write(database, punches, first, _IMPORTED)
        async with database.transaction() as db:
            await _grow(db, first, punches)
            uid = await _answer(database, db, first, punches // 10)
    await bench_lists.count(database, first)
    while await _count_up(database) >= tally_marks.STEP:
        pass
    return uid


@asynccontextmanager
async def _without_indexes(owner: Database) -> AsyncIterator[None]:
    """Rows are written many times as fast without them, and they are built from sorted rows afterwards."""
    async with owner.engine.begin() as db:
        found = (await db.execute(text(_INDEXES))).all()
        for name, _ in found:
            await db.execute(text(f"DROP INDEX {name}"))
    yield
    waiting = [definition for _, definition in found]

    async def build() -> None:
        async with owner.engine.begin() as db:
            await db.execute(text("SET LOCAL maintenance_work_mem = '512MB'"))
            while waiting:
                await db.execute(text(waiting.pop()))

    await asyncio.gather(*(build() for _ in range(BUILDERS)))


async def _grow(db: AsyncSession, first: date, punches: int) -> None:
    parts = {
        "records": (5, _RECORDS),
        "audit": (10, _AUDIT),
        "runs": (1000, _RUNS),
        "calls": (100, _CALLS),
        "aside": (1000, _ASIDE),
        "jobs": (100, _JOBS),
        "ratings": (10, _RATINGS),
        "problems": (100, _PROBLEMS),
        "events": (50, _EVENTS),
        "mails": (100, _MAILS),
    }
    await db.execute(text(_HOST), {"people": PEOPLE})
    for statement in (_BOUND, _IGNORED, _APPS, _WEBHOOKS):
        await db.execute(text(statement))
    await db.execute(text(_LOCKS), {"first": first})
    for name, (part, statement) in parts.items():
        number = punches // part
        given = {"first": first, name: number, "apart": DAYS * 86400 / number}
        await db.execute(text(statement), {key: one for key, one in given.items() if f":{key}" in statement})
    for statement in (_CHANGES, _ATTEMPTS):
        await db.execute(text(statement))
    await counting.count_again(db, ["only_one_punch", "overlaps"])


async def _answer(database: Database, db: AsyncSession, first: date, answers: int) -> str:
    surveys = await surveyed(database, SURVEYS)
    given = {"rows": answers, "surveys": SURVEYS, "first": first, "apart": DAYS * 86400 / answers}
    await db.execute(text(bench_results._SURVEYS))
    for statement in (bench_results._RESPONSES, bench_results._ANSWERS, bench_results._IMPRESSIONS):
        await db.execute(text(statement), {name: one for name, one in given.items() if f":{name}" in statement})
    moved = "UPDATE survey_ledger_head SET number = :n, row_hash = sha256(int8send(:n))"
    await db.execute(text(moved), {"n": answers})
    return str(surveys[0].uid)


async def _count_up(database: Database) -> int:
    async with database.transaction() as db:
        return await tally_marks.count_up(db)


async def settle(owner: Database) -> None:
    """As autovacuum leaves all tables."""
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("VACUUM ANALYZE"))
