"""How quick the pages of figures are over a long ledger: p50 and p95 of Overview, Survey detail, Responses and one
response, with the ratio to a bare indexed SELECT of one page;
and how fast, and in how much memory, the ledger is exported.

    python -m tests.benchmarks.bench_results [--rows 1000000] [--rounds 20]

The rows are made by the database: one survey has most of them, over a year; the last SEALED rows are real ones with
evidence that opens. Counted up first, and the time of that is told too; a tail of LONGEST_TAIL rows is left to be
counted live. Splits are counted as the job does, up to LONGEST_REST rows before the head. On a machine that others use
too, the processor time is the figure: that of this process and of PostgreSQL together.
"""

import argparse
import asyncio
import resource
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import psutil
import uvicorn
from sqlalchemy import text

from app.config import Settings
from app.db.session import Database
from app.parts import Parts, make_parts
from app.surveys.results import queries, responses, splits, tally_marks
from app.web import sessions
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.bench_ledger import surveyed
from tests.benchmarks.bench_lists import p95, person, timed
from tests.surveys.recording import AT, VALUES, record

LIMIT_MS = 300
LARGEST_EXPORT_MIB = 200
WARMED_UP = 2
SURVEYS = 40
SEALED = 300
DAYS = 365
# Everybody answers the first survey; one in four rows is of another one.
_RESPONSES = """
INSERT INTO survey_responses (number, survey_id, version, wording_id, user_id, outcome, source, recorded_at, prompted, has_text,
    entry, row_hash)
SELECT n, s.id, 1, s.wording_id, n,
    CASE WHEN n % 50000 = 7 THEN 'declined' WHEN n % 9 = 0 THEN 'opted_out' ELSE 'answered' END, 'api',
    CAST(:first AS timestamptz) + n * make_interval(secs => :apart), n % 5 > 0, false,
    format('{"answers":[{"question":"%s","value":%s},{"question":"%s","value":"much"},{"question":"%s","value":"soup"}],'
        '"content_hash":"%s","evidence": null,"number":%s,"outcome":"answered","prompted": true,"questions":"%s",'
        '"recorded_at":"2026-01-01T00:00:00Z","source":"api","survey":"%s","user":%s,"version": 1}',
        s.keys[1], n % 5 + 1, s.keys[2], s.keys[3], s.content_hash, n, s.content_hash, s.uid, n),
    sha256(int8send(n))
FROM generate_series(1, CAST(:rows AS bigint)) AS n
JOIN one_survey s ON s.place = CASE WHEN n % 4 = 0 THEN (n / 4) % :surveys ELSE 0 END
"""
_ANSWERS = """
INSERT INTO survey_answers (number, question_key, choice)
SELECT r.number, s.keys[k], CASE k WHEN 1 THEN (r.number % 5 + 1)::text WHEN 2 THEN 'much' ELSE 'soup' END
FROM survey_responses r JOIN one_survey s ON s.id = r.survey_id CROSS JOIN generate_series(1, 3) AS k WHERE r.outcome = 'answered'
"""
_IMPRESSIONS = """
INSERT INTO survey_prompt_state (survey_id, version, user_id, impressions, first_shown_at, last_shown_at)
SELECT survey_id, 1, user_id, 1, recorded_at, recorded_at FROM survey_responses WHERE prompted
"""
_SURVEYS = """
CREATE TEMPORARY TABLE one_survey ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY s.id) - 1 AS place, s.id, s.uid, s.wording_id, s.content_hash,
    (SELECT array_agg(q.key ORDER BY q.position) FROM survey_questions q WHERE q.survey_id = s.id) AS keys
FROM surveys s
"""
# Accounts behind the first person numbers, in three user types, with an employee each in twenty departments.
MOST_ACCOUNTS = 150_000
_ACCOUNTS = """
INSERT INTO users (id, workspace, email, name, type)
SELECT n, 'main', format('person%s@example.com', n), format('Person %s', n), (ARRAY['staff', 'employee', 'client'])[n % 3 + 1]
FROM generate_series(1000, CAST(:accounts AS bigint)) AS n ON CONFLICT DO NOTHING
"""
_EMPLOYEES = """
INSERT INTO employees (name, id_number, id_number_key, department, user_id)
SELECT format('Person %s', n), n, n, format('Department %s', n % 20), n FROM generate_series(1000, CAST(:accounts AS bigint)) AS n
"""
_BARE = "SELECT * FROM survey_responses ORDER BY recorded_at DESC, number DESC LIMIT 50"


async def fill(database: Database, parts: Parts, rows: int) -> str:
    """Returns the uid of the survey that has most of the rows."""
    surveys = await surveyed(database, SURVEYS)
    first = AT.replace(year=AT.year - 1)
    given = {"rows": rows, "surveys": SURVEYS, "first": first, "apart": DAYS * 86400 / rows}
    async with database.transaction() as db:
        await db.execute(text(_SURVEYS))
        given["accounts"] = min(rows, MOST_ACCOUNTS)
        made = {"accounts": _ACCOUNTS, "employees": _EMPLOYEES}
        made |= {"rows": _RESPONSES, "answers": _ANSWERS, "impressions": _IMPRESSIONS}
        for name, statement in made.items():
            began = time.perf_counter()
            await db.execute(text(statement), {key: one for key, one in given.items() if f":{key}" in statement})
            print(f"{name} made in {time.perf_counter() - began:.0f} s", flush=True)
        await db.execute(
            text("UPDATE survey_ledger_head SET number = :n, row_hash = sha256(int8send(:n))"), {"n": rows}
        )
    return str(surveys[0].uid)


async def count_up(database: Database) -> None:
    began, moved, steps = time.perf_counter(), tally_marks.STEP, 0
    while moved >= tally_marks.STEP:
        async with database.transaction() as db:
            moved = await tally_marks.count_up(db)
            steps += 1
    print(f"counted up in {time.perf_counter() - began:.1f} s, {steps} steps", flush=True)


async def keep_splits(database: Database, uid: str) -> None:
    """Then moves their mark back: as many rows as may be are counted live by each reader, a second time."""
    async with database.transaction() as db:
        survey = await queries.survey(db, UUID(uid), 1)
        _, questions = responses.definition(survey, 1)
        for split in ("type", "department", "language"):
            began = time.perf_counter()
            await splits.keep(db, survey.id, 1, split, questions)
            print(f"split by {split} counted in {time.perf_counter() - began:.1f} s", flush=True)
        back = "UPDATE survey_splits SET figures = jsonb_set(figures, '{head}', to_jsonb((figures ->> 'head')::bigint - :rest))"
        await db.execute(text(back), {"rest": splits.LONGEST_REST})


async def settle(owner: Database) -> None:
    """As autovacuum leaves the tables."""
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("SET search_path TO main"))
        for table in (
            "shared.users",
            "employees",
            "survey_people",
            "survey_responses",
            "survey_answers",
            "survey_prompt_state",
            "survey_tallies",
        ):
            await alone.execute(text(f"VACUUM ANALYZE {table}"))


def pages(uid: str, receipt: str) -> dict[str, str]:
    day = f"{AT.year}-03-02"
    detail, ledger = f"/surveys/view/{uid}", "/surveys/responses"
    return {
        "overview": "/surveys/overview",
        "detail": detail,
        "detail, a month": f"{detail}?from={day}&to={AT.year}-04-01",
        "detail, rare outcome": f"{detail}?outcome=declined",
        "detail, split by type": f"{detail}?split=type",
        "detail, by department": f"{detail}?split=department",
        "detail, by language": f"{detail}?split=language",
        "versions": f"{detail}/versions",
        "comments": f"{detail}/comments",
        "surveys": "/surveys/list",
        "response": f"/surveys/response_modal/{receipt}",
        "responses": ledger,
        "last page": f"{ledger}?page=9999999",
        "deep page": f"{ledger}?page=9000",
        "oldest first, deep": f"{ledger}?sort=when&page=9000",
        "one survey, deep": f"{ledger}?survey={uid}&page=5000",
        "rare outcome": f"{ledger}?outcome=declined",
        "survey and rare outcome": f"{ledger}?survey={uid}&outcome=declined",
        "a month, deep": f"{ledger}?from={day}&to={AT.year}-04-01&page=900",
        "version that is none": f"{ledger}?version=7",
        "one person": f"{ledger}?user=1042",
        "searched person": f"{ledger}?q=b%40example",
        "table": f"{ledger}?survey={uid}&shape=table",
    }


async def measure(client: httpx.AsyncClient, database: Database, wanted: dict[str, str], rounds: int) -> int:
    async with database.transaction() as db:
        bare = p95(await timed(rounds, lambda: db.execute(text(_BARE))))
        server = psutil.Process(await db.scalar(text("SELECT pg_backend_pid()"))).parent()
    print(f"floor: a bare SELECT of 50 rows p95 {bare:.1f} ms")
    missed = 0
    for name, url in wanted.items():
        answer = await client.get(url)
        if answer.status_code != httpx.codes.OK:
            raise SystemExit(f"{url} answered {answer.status_code}")
        worked = _worked_ms(server)
        spent = await timed(rounds, lambda url=url: client.get(url))  # type: ignore[misc]
        worked = (_worked_ms(server) - worked) / (rounds + WARMED_UP)
        late = p95(spent) > LIMIT_MS
        missed += late
        middle = spent[len(spent) // 2]
        print(f"{name:26} p50 {middle:7.1f} ms  p95 {p95(spent):7.1f} ms  ratio {p95(spent) / bare:5.1f}  processor {worked:6.1f} ms{'  MISSED' if late else ''}", flush=True)  # fmt: skip
    return missed


async def export(client: httpx.AsyncClient, name: str, url: str) -> int:
    """Reads it as it streams; returns whether it took more memory than it may."""
    before, began, lines = _peak(), time.perf_counter(), 0
    async with client.stream("GET", url) as answer:
        async for chunk in answer.aiter_bytes():
            lines += chunk.count(b"\n")
    seconds, grown = time.perf_counter() - began, _peak() - before
    print(f"export, {name:18} {lines:,} lines, {lines / seconds:,.0f} a second, peak +{grown:.0f} MiB", flush=True)
    return grown > LARGEST_EXPORT_MIB


def _worked_ms(server: Any) -> float:
    """Processor time of this process and of the server's connections."""
    own, theirs = time.process_time(), [one.cpu_times() for one in server.children()]
    return 1000 * (own + sum(one.user + one.system for one in theirs))


def _peak() -> float:
    """Of this process, in MiB; Linux tells KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main(rows: int, rounds: int) -> None:
    async with arena() as database:
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_in(folder)
            parts = make_parts(settings, database.url)
            uid = await fill(database, parts, rows)
            await count_up(database)
            (fresh,) = await surveyed(database, 1)
            for number in range(SEALED):
                done = await record(database, parts.keys, fresh, rows + number, *VALUES)
            owner = Database(database.url.replace("muster_app", "muster_owner"))
            await settle(owner)
            await owner.close()
            await keep_splits(database, uid)
            async with database.transaction() as db:
                session, _ = await person(db)
            missed = await _measured(parts, session, pages(uid, done.receipt), str(fresh.uid), rounds)
            await parts.close()
        print(f"{missed} missed")


@asynccontextmanager
async def _served(site: Any, session: str, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(site, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event to wait for
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    async with httpx.AsyncClient(base_url=url, headers={"host": "testserver"}, timeout=600) as client:
        client.headers["cookie"] = f"{sessions.cookie_name(settings)}={session}"
        yield client
    server.should_exit = True
    await serving


async def _measured(parts: Parts, session: str, wanted: dict[str, str], sealed: str, rounds: int) -> int:
    site = site_of(parts)
    # The transport of the pages keeps a whole answer in memory; an export is read over a real socket.
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=site), base_url=BASE_URL) as client:
        client.cookies.set(sessions.cookie_name(parts.settings), session)
        missed = await measure(client, parts.database, wanted, rounds)
    async with _served(site, session, parts.settings) as client:
        missed += await export(client, "opened evidence", f"/surveys/responses?export=csv&survey={sealed}")
        missed += await export(client, "everything", "/surveys/responses?export=jsonl")
        one = wanted["table"]
        missed += await export(client, "table, CSV", f"{one}&export=csv")
        missed += await export(client, "table, JSON Lines", f"{one}&export=jsonl")
        missed += await export(client, "table, Excel", f"{one}&export=xlsx&to={AT.year - 1}-12-31")
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rows, arguments.rounds))
