"""Many people with tokens, many surveys, many responses, made in bulk;
and a portal of several processes to send them to.

The bulk responses are not chained: nothing that is measured here walks the chain.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.secrets import new_key_text
from tests.surveys.drafted import HOW_WAS_IT, LUNCH, published

_PEOPLE = """
INSERT INTO users (workspace, email, name, type)
SELECT 'main', 'p' || n || '@example.org', 'Person ' || n, 'employee' FROM generate_series(1, CAST(:people AS bigint)) AS n
"""
_TOKENS = """
INSERT INTO api_tokens (user_id, name, token_hash, hint, scopes, last_used_at)
SELECT id, 'bench', sha256(convert_to('token of ' || email, 'UTF8')), '0000', ARRAY['me'], now() + interval '1 day' FROM users
"""
# Everybody answered some of the surveys, one after the other in the list; each was shown as many more.
_RESPONSES = """
INSERT INTO survey_responses (number, survey_id, version, wording_id, user_id, outcome, source, recorded_at, prompted, has_text,
    entry, row_hash)
SELECT n, s.id, s.version, s.wording_id, u.id, 'answered', 'api', now() - make_interval(secs => CAST(:last AS bigint) - n), true, false, '{}',
    sha256(convert_to(n::text, 'UTF8'))
FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS n
JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS every FROM surveys) AS s
    ON s.place = ((n - 1) / CAST(:people AS bigint) + (n - 1) % CAST(:people AS bigint) * 7) % s.every
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM users) AS u ON u.place = (n - 1) % CAST(:people AS bigint)
"""
_STATES = """
INSERT INTO survey_prompt_state (survey_id, version, user_id, impressions, first_shown_at, last_shown_at)
SELECT survey_id, version, user_id, 1, recorded_at, recorded_at FROM survey_responses WHERE number % 2 = 0
ON CONFLICT DO NOTHING
"""
_SETTLED = ("users", "api_tokens", "surveys", "survey_questions", "survey_responses", "survey_prompt_state")


def token_of(person: int) -> str:
    return f"token of p{person}@example.org"


async def gather_people(db: AsyncSession, people: int) -> None:
    await db.execute(text(_PEOPLE), {"people": people})
    await db.execute(text(_TOKENS))


async def publish_many(db: AsyncSession, surveys: int) -> None:
    for number in range(surveys):
        enforcement = "required" if number % 50 == 0 else "optional"
        message = f"<p>{'What we would like to know. ' * 20}</p>"
        await published(
            db, title=f"Survey {number}", enforcement=enforcement, message=message, questions=[LUNCH, HOW_WAS_IT]
        )


async def let_answer(db: AsyncSession, people: int, first: int, last: int) -> None:
    """The responses from number `first` to `last`."""
    await db.execute(text(_RESPONSES), {"people": people, "first": first, "last": last})
    await db.execute(text(_STATES))
    await db.execute(text("UPDATE survey_ledger_head SET number = :last"), {"last": last})


async def settle(database: Database) -> None:
    """As autovacuum leaves the tables. Only their owner may."""
    owner = Database(owner_url(database))
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("SET search_path TO main, shared"))
        for table in _SETTLED:
            await alone.execute(text(f"VACUUM ANALYZE {table}"))
    await owner.close()


def owner_url(database: Database) -> str:
    return database.url.replace("muster_app", "muster_owner")


@dataclass(frozen=True)
class Portal:
    """A running `muster serve`."""

    port: int
    process: psutil.Process

    def cpu_s(self) -> float:
        """What its processes have spent so far."""
        family = [self.process, *self.process.children(recursive=True)]
        return sum(times.user + times.system for times in (one.cpu_times() for one in family))

    async def stop(self) -> None:
        """As an operator does; it continues for a while."""
        self.process.terminate()
        await asyncio.to_thread(psutil.wait_procs, [self.process], 60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def serving(database: Database, workers: int, port: int = 0) -> AsyncIterator[Portal]:
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        environment = {
            **os.environ,
            "MUSTER_DATABASE_URL": database.url,
            "MUSTER_OWNER_DATABASE_URL": owner_url(database),
            "MUSTER_SECRET_KEYS": new_key_text("bench"),
            "MUSTER_BASE_URL": f"http://127.0.0.1:{port}",
            "MUSTER_DATA_DIR": folder,
            "MUSTER_API_RATE": "0",
        }
        command = [sys.executable, "-m", "app", "serve", "--no-worker", "--port", str(port), "--workers", str(workers)]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - once, before anything is measured
        try:
            await _answering(port)
            yield Portal(port, psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(timeout=30)


async def _answering(port: int) -> None:
    for _ in range(600):
        try:
            line = Line(*await asyncio.open_connection("127.0.0.1", port))
        except OSError:
            await asyncio.sleep(0.1)
            continue
        await line.ask("GET", "/health/live", "")
        line.close()
        return
    raise SystemExit("the portal did not start")


@dataclass(frozen=True)
class Line:
    """One kept connection, at a cost that does not blur what is measured."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, method: str, path: str, token: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of the answer."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(answer[9:12]), await self.reader.readexactly(length)

    def close(self) -> None:
        self.writer.close()


@asynccontextmanager
async def lines(portal: Portal, count: int) -> AsyncIterator[list[Line]]:
    opened = [Line(*await asyncio.open_connection("127.0.0.1", portal.port)) for _ in range(count)]
    try:
        yield opened
    finally:
        for line in opened:
            line.close()


async def spread(opened: list[Line], calls: list[Any]) -> tuple[list[tuple[int, bytes]], float]:
    """Sends `calls` (arguments of Line.ask) over all lines at once, each once;
    answers in their order, and the seconds."""
    waiting = list(enumerate(calls))[::-1]
    answers: list[tuple[int, bytes]] = [(0, b"")] * len(calls)

    async def client(line: Line) -> None:
        while waiting:
            number, call = waiting.pop()
            answers[number] = await line.ask(*call)

    began = time.perf_counter()
    await asyncio.gather(*(client(line) for line in opened))
    return answers, time.perf_counter() - began
