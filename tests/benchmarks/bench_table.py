"""How fast the table of a survey is exported: responses a second of the clock and of this process's processor time, as
CSV, JSON Lines and Excel, and how much memory it takes more.
The survey has ten questions, of every type that is not sealed.

    python -m tests.benchmarks.bench_table [--rows 1000000] [--excel 100000] [--kept FOLDER]

On a machine that others use too, the processor time is the figure: the clock tells how many others there are.
"""

import argparse
import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import httpx
from sqlalchemy import text

from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from app.parts import make_parts
from tests.benchmarks import bench_results
from tests.benchmarks.arena import settings_in, site_of
from tests.benchmarks.bench_lists import person
from tests.surveys.drafted import published
from tests.surveys.recording import AT

MOST_MIB = 120
TEN = [
    {"label": "Stars?", "type": "star_rating"},
    {"label": "Would you recommend us?", "type": "nps"},
    {"label": "How many days a week?", "type": "number", "lowest": 0, "highest": 100, "places": 0},
    {"label": "How much?", "type": "scale", "options": ["1", "2", "3", "4", "5"]},
    {"label": "How well?", "type": "scale", "options": ["badly", "well"]},
    {"label": "Which?", "type": "single_choice", "options": ["soup", "salad"]},
    {"label": "Where?", "type": "single_choice", "options": ["at home", "in the office", "on the way"]},
    {"label": "What all?", "type": "multiple_choice", "options": ["rice", "bread", "beans"]},
    {"label": "Since when?", "type": "date"},
    {"label": "How was it?", "type": "matrix", "rows": ["Food", "Place"], "options": ["good", "bad"]},
]
# Answers in the order of TEN, as SQL over `n`.
_VALUES = (
    "n % 5 + 1", "n % 11", "n % 101", "to_jsonb((n % 5 + 1)::text)", "to_jsonb((ARRAY['badly', 'well'])[n % 2 + 1])",
    "to_jsonb((ARRAY['soup', 'salad'])[n % 2 + 1])", "to_jsonb((ARRAY['at home', 'in the office', 'on the way'])[n % 3 + 1])",
    "jsonb_build_array('rice', (ARRAY['bread', 'beans'])[n % 2 + 1])", "to_jsonb(DATE '2020-01-01' + (n % 2000)::int)",
    """jsonb_build_array(jsonb_build_object('row', 'Food', 'choice', (ARRAY['good', 'bad'])[n % 2 + 1]),
        jsonb_build_object('row', 'Place', 'choice', 'good'))""",
)  # fmt: skip
_ROWS = """
INSERT INTO survey_responses (number, survey_id, version, wording_id, user_id, outcome, source, recorded_at, prompted, has_text,
    entry, row_hash)
SELECT n, :survey, 1, :wording, 1000 + n, 'answered', 'api', CAST(:first AS timestamptz) + n * interval '20 seconds', true, false,
    jsonb_build_object('answers', jsonb_build_array({answers}), 'content_hash', 'x', 'evidence', NULL, 'number', n, 'outcome', 'answered',
        'prompted', true, 'questions', 'x', 'recorded_at', '2026-01-01T00:00:00Z', 'source', 'api', 'survey', 'x', 'user', n, 'version', 1)::text,
    sha256(int8send(n))
FROM generate_series(1, CAST(:rows AS bigint)) AS n
"""
_WATERED = "UPDATE sessions SET last_seen_at = now(), expires_at = now() + interval '2 hours'"


async def fill(database: Database, rows: int) -> str:
    """Returns the survey's uid."""
    async with database.transaction() as db:
        survey = await published(db, title="Ten", questions=TEN)
        keys = [str(one.key) for one in survey.questions]
        answers = ", ".join(
            f"jsonb_build_object('question', '{key}', 'value', {value})"
            for key, value in zip(keys, _VALUES, strict=True)
        )
        given = {"survey": survey.id, "wording": survey.wording_id, "first": AT - timedelta(days=300)}
        await db.execute(text(_ROWS.format(answers=answers)), {**given, "rows": rows})
        for statement in (bench_results._ACCOUNTS, bench_results._EMPLOYEES):
            await db.execute(text(statement), {"accounts": 1000 + min(rows, bench_results.MOST_ACCOUNTS)})
        moved = "UPDATE survey_ledger_head SET number = :n, row_hash = sha256(int8send(:n))"
        await db.execute(text(moved), {"n": rows})
        await person(db)
        return str(survey.uid)


async def export(client: httpx.AsyncClient, name: str, url: str) -> bool:
    """Reads it as it streams; returns whether it took more memory than it may."""
    before, began, worked, lines, size = bench_results._peak(), time.perf_counter(), _processor_s(), 0, 0
    async with client.stream("GET", url) as answer:
        answer.raise_for_status()
        async for chunk in answer.aiter_raw():
            lines += chunk.count(b"\n")
            size += len(chunk)
    seconds, worked, grown = time.perf_counter() - began, _processor_s() - worked, bench_results._peak() - before
    rates = f"{lines / seconds:9,.0f} a second, {lines / worked:9,.0f} a second of processor time"
    print(f"{name:12} {lines:9,} lines, {size / 1e6:6,.1f} MB in {seconds:5.1f} s, {rates}, peak +{grown:.0f} MiB", flush=True)  # fmt: skip
    return grown > MOST_MIB


def _processor_s() -> float:
    return time.process_time()


async def main(rows: int, excel: int, kept: Path | None) -> None:
    async with AsyncExitStack() as stack:
        folder = kept or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muster-bench-")))
        cluster = embedded.start(folder, durable=False)
        stack.callback(cluster.stop)
        await migrate(cluster.owner_url, embedded.APP_ROLE)
        database = Database(cluster.app_url)
        async with database.transaction() as db:
            uid = await db.scalar(text("SELECT uid::text FROM surveys"))
        uid = uid or await fill(database, rows)
        async with database.transaction() as db:
            await db.execute(text(_WATERED))
        await database.close()
        owner = Database(cluster.owner_url)
        await bench_results.settle(owner)
        await owner.close()
        settings = settings_in(str(folder))
        parts = make_parts(settings, cluster.app_url)
        stack.push_async_callback(parts.close)
        url = f"/surveys/responses?survey={uid}&shape=table"
        last = (AT - timedelta(days=300) + timedelta(seconds=20 * excel)).date()
        async with bench_results._served(site_of(parts), "session", settings) as client:
            client.headers["accept-encoding"] = "identity"
            missed = await export(client, "CSV", f"{url}&export=csv")
            missed += await export(client, "JSON Lines", f"{url}&export=jsonl")
            missed += await export(client, "Excel", f"{url}&export=xlsx&to={last - timedelta(days=1)}")
        print(f"{missed} took more memory than they may")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--excel", type=int, default=100_000)
    parser.add_argument("--kept", type=Path, help="a folder for the database, which the next run finds filled")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rows, arguments.excel, arguments.kept))
