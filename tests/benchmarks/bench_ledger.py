"""How fast the ledger takes rows and how fast it is verified: rows a second of one writer through `append` and of eight
at once, and of `verify` with its ratio to a bare streamed read of the same rows with one SHA-256 each;
and the peak memory.

    python -m tests.benchmarks.bench_ledger [ROWS] [--appended 1000] [--changed 1000]

ROWS (default 1000000) are made by the same pure functions and COPY; `verify` walks them together with what was
appended, and with CHANGED (default 1000) changes of agreements among the last rows.
"""

import argparse
import asyncio
import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sqlalchemy import text

from app.db.direct import driver
from app.db.session import Database
from app.secrets import KeyRing, new_key_text
from app.surveys.ledger import append as ledger
from app.surveys.ledger import chain, entries, evidence, verifying
from app.surveys.ledger.evidence import Evidence, Key
from app.surveys.ledger.walking import ChangeRow, ResponseRow
from tests.benchmarks.arena import arena
from tests.surveys.changing import agree, badges, change
from tests.surveys.drafted import Stored, published
from tests.surveys.recording import AT, EVERY_TYPE, VALUES, entry

PEOPLE = 5000
WRITERS = 8
BATCH = 20_000
LEAST_ROWS_A_SECOND = 20_000
RESPONSES = (
    "number", "survey_id", "version", "wording_id", "user_id", "outcome", "source", "recorded_at", "prompted", "has_text",
    "key_id", "sealed", "entry", "row_hash",
)  # fmt: skip
ANSWERS = ("number", "question_key", "choice")


@dataclass
class Head:
    """What `append` reads of the head and the wording."""

    number: int
    row_hash: bytes
    question_keys: list[str]


async def surveyed(database: Database, count: int) -> list[Stored]:
    async with database.transaction() as db:
        return [await published(db, title=f"Survey {n}", questions=EVERY_TYPE) for n in range(count)]


async def keyed(database: Database, keys: KeyRing) -> list[Key]:
    async with database.transaction() as db:
        connection = driver(db)
        return [await evidence.make_key(connection, "main", keys, person) for person in range(1, PEOPLE + 1)]


def rows(keys: KeyRing, surveys: list[Stored], people: list[Key], count: int) -> Iterator[dict[str, Any]]:
    """Everybody answers one survey after the other, in full; the chain begins before the first."""
    head = Head(0, chain.BEFORE_THE_FIRST, [])
    for n in range(count):
        survey, person = surveys[n // PEOPLE], people[n % PEOPLE]
        head.question_keys = [str(one.key) for one in survey.questions]
        said = entry(survey, person.person, recorded_at=AT + timedelta(milliseconds=n))
        texts = {head.question_keys[-1]: str(VALUES[-1])}
        told = Evidence(ip=said.ip, browser=said.browser, texts=texts)
        sealed = evidence.seal(keys, survey.workspace, person, (survey.id, survey.version), told)
        line = entries.line_of(said, said.user_id, (head.question_keys, texts, sealed), head.number + 1)
        written = chain.written(line)
        row_hash = chain.row_hash(head.row_hash, written)
        place = {"number": line.number, "entry": written, "row_hash": row_hash}
        yield {
            **entries.row_of(said, line),
            "user_id": line.user,
            **place,
            "has_text": True,
            "key_id": person.id,
            "sealed": sealed,
        }
        head.number, head.row_hash = line.number, row_hash


async def fill(database: Database, keys: KeyRing, count: int) -> None:
    surveys = await surveyed(database, -(-count // PEOPLE))
    people = await keyed(database, keys)
    made = rows(keys, surveys, people, count)
    last: dict[str, Any] = {}
    for first in range(0, count, BATCH):
        batch = [next(made) for _ in range(min(BATCH, count - first))]
        choices = [
            (one["number"], question, choice)
            for one in batch
            for question, choice in zip(one["questions"], one["choices"], strict=True)
        ]
        async with database.transaction() as db:
            connection = driver(db)
            records = [tuple(one[name] for name in RESPONSES) for one in batch]
            await connection.copy_records_to_table("survey_responses", records=records, columns=RESPONSES)
            await connection.copy_records_to_table("survey_answers", records=choices, columns=ANSWERS)
        last = batch[-1]
        print(f"\r{last['number']:,} rows made", end="", flush=True)
    print()
    if last:
        async with database.transaction() as db:
            moved = text("UPDATE survey_ledger_head SET number = :number, row_hash = :row_hash")
            await db.execute(moved, {"number": last["number"], "row_hash": last["row_hash"]})


async def settle(owner: Database) -> None:
    """As autovacuum leaves the tables."""
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("SET search_path TO main"))
        for table in ("survey_responses", "survey_answers", "survey_changes", "survey_person_keys"):
            await alone.execute(text(f"VACUUM ANALYZE {table}"))


async def write(database: Database, keys: KeyRing, survey: Stored, people: range) -> None:
    for person in people:
        async with database.transaction() as db:
            await ledger.append(db, keys, entry(survey, person))


async def appended(database: Database, keys: KeyRing, count: int) -> None:
    """One transaction a row, as `respond` has it; the database waits for its disk at each commit."""
    (survey,) = await surveyed(database, 1)
    for name, first in (("first answers", 0), ("later answers", 0), (f"{WRITERS} writers", count)):
        if name == "later answers":
            (survey,) = await surveyed(database, 1)
        writers = WRITERS if first else 1
        each = count // writers
        began = time.perf_counter()
        await asyncio.gather(
            *(
                write(database, keys, survey, range(10**6 + first + n * each, 10**6 + first + (n + 1) * each))
                for n in range(writers)
            )
        )
        print(f"append, {name:16} {each * writers / (time.perf_counter() - began):8,.0f} rows a second")


async def changed(database: Database, keys: KeyRing, count: int) -> None:
    """Agreements that are withdrawn, one after the other."""
    survey = await badges(database)
    agreed = [await agree(database, keys, survey, person) for person in range(1, count + 1)]
    began = time.perf_counter()
    for one in agreed:
        await change(database, keys, one)
    print(f"change, one writer      {count / (time.perf_counter() - began):8,.0f} rows a second")


async def bare(database: Database) -> tuple[int, float]:
    """Rows, and seconds, of reading both tables and their choices through cursors,
    with one SHA-256 a row and nothing else."""
    count, began = 0, time.perf_counter()
    async with database.snapshot() as db:
        connection = driver(db)
        everything = verifying._FIRST, verifying._LAST
        choices = await connection.cursor(verifying._CHOICES, *everything)
        for statement, entry in ((verifying._RESPONSES, ResponseRow._fields), (verifying._CHANGES, ChangeRow._fields)):
            cursor = await connection.cursor(statement, *everything)
            at = entry.index("entry")
            while batch := await cursor.fetch(verifying.BATCH):
                await choices.fetch(verifying.BATCH * len(VALUES))
                for row in batch:
                    hashlib.sha256(row[at + 1] + row[at].encode()).digest()
                count += len(batch)
    return count, time.perf_counter() - began


def peak_mib() -> float:
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


async def one_row(database: Database, number: int) -> float:
    """Milliseconds of the median check of one row."""
    spent = []
    async with database.transaction() as db:
        for _ in range(50):
            began = time.perf_counter()
            if not await verifying.verified(db, number):
                raise SystemExit(f"row {number} does not fit")
            spent.append((time.perf_counter() - began) * 1000)
    return sorted(spent)[25]


@dataclass
class Walked:
    rows: int
    floor_s: float
    verify_s: float
    cpu_s: float
    memory_mib: float
    one_row_ms: float


def walk(url: str, keys: str) -> Walked:
    """Reads and verifies in a process of its own, whose memory nothing else has used."""
    return asyncio.run(_walk(url, KeyRing.from_text(keys)))


async def _walk(url: str, keys: KeyRing) -> Walked:
    database = Database(url)
    async with database.snapshot() as db:
        await db.execute(text("SELECT count(entry), count(sealed) FROM survey_responses"))  # warms the server's memory
    before = peak_mib()
    began, cpu = time.perf_counter(), time.process_time()
    verdict = await verifying.verify(database, keys, "main")
    spent, worked = time.perf_counter() - began, time.process_time() - cpu
    memory = peak_mib() - before
    total, floor = await bare(database)
    if not verdict.fits or verdict.rows != total:
        raise SystemExit(f"the ledger does not fit: {verdict}")
    walked = Walked(total, floor, spent, worked, memory, await one_row(database, max(1, total // 2)))
    await database.close()
    return walked


async def main(count: int, to_append: int, to_change: int) -> None:
    key_text = new_key_text("bench")
    keys = KeyRing.from_text(key_text)
    async with arena() as database:
        await fill(database, keys, count)
        await appended(database, keys, to_append)
        await changed(database, keys, to_change)
        owner = Database(database.url.replace("muster_app", "muster_owner"))
        await settle(owner)
        await owner.close()
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            done = await asyncio.get_running_loop().run_in_executor(alone, walk, database.url, key_text)
    rate = done.rows / done.verify_s
    print(f"bare read and SHA-256   {done.rows / done.floor_s:8,.0f} rows a second ({done.rows:,} rows)")
    print(
        f"verify                  {rate:8,.0f} rows a second, ratio {done.verify_s / done.floor_s:.2f},"
        f" {done.cpu_s / done.rows * 1e6:.0f} µs of this process a row, peak memory +{done.memory_mib:.0f} MiB"
    )
    print(f"verified, one row       {done.one_row_ms:8.2f} ms")
    print("MISSED" if rate < LEAST_ROWS_A_SECOND else "in the budget", f"of {LEAST_ROWS_A_SECOND:,} rows a second")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--appended", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=1000)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rows, arguments.appended, arguments.changed))
