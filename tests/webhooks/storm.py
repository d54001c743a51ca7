"""Changes of many subjects by several writers, a receiver that fails three times in ten,
and a sender that is killed again and again."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import func, select

from app.accounts.audit import COMMAND_LINE
from app.db.session import Database
from app.secrets import KeyRing
from app.webhooks import endpoints, noting
from app.webhooks.kinds import ATTENDANCE_CHANGED
from app.webhooks.models import WebhookEvent, WebhookFact
from tests.fakes.liar import Heard, answer, lying
from tests.webhooks.receiving import HOOK, verified

ROOT = Path(__file__).parents[2]
WRITERS, CHANGES = 4, 2
FAILS = 0.3


@dataclass
class Storm:
    """`changed`: the time of the newest change of each subject. `arrived`: that of the newest event about it which was
    answered with 2xx; `calls` counts all."""

    changed: dict[int, datetime] = field(default_factory=dict)
    arrived: dict[int, datetime] = field(default_factory=dict)
    calls: int = 0
    kills: int = 0

    @property
    def lost(self) -> list[int]:
        return [
            one
            for one, at in self.changed.items()
            if self.arrived.get(one, datetime.min.replace(tzinfo=at.tzinfo)) < at
        ]


async def rage(database: Database, app_url: str, keys: str, *, subjects: int, kills: int) -> Storm:
    """Until everything was sent. The sender dies `kills` times, each time after its share of the calls."""
    storm, random = Storm(), Random(18)
    async with lying() as liar, _sending(app_url, keys) as start:
        async with database.transaction() as db:
            ring = KeyRing.from_text(keys)
            made = await endpoints.add(db, ring, COMMAND_LINE, liar.url + HOOK, [ATTENDANCE_CHANGED])
        liar.says(HOOK, _failing_sometimes(storm, random, made.secret))
        sender = await start()
        shares = (range(first, subjects, WRITERS) for first in range(WRITERS))
        writing = asyncio.gather(*(_write(database, storm, share) for share in shares))
        for number in range(1, kills + 1):
            while storm.calls < number * subjects // (kills + 1):  # noqa: ASYNC110 - another process brings it about
                await asyncio.sleep(0.01)
            os.kill(sender, signal.SIGKILL)
            storm.kills += 1
            sender = await start()
        await writing
        while await _left(database):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)
    return storm


def _failing_sometimes(storm: Storm, random: Random, secret: str) -> Any:
    def speak(heard: Heard) -> bytes:
        storm.calls += 1
        if random.random() < FAILS:
            return answer(status=503)
        told = verified(heard, secret)
        for one in told["data"]["ids"]:
            at = datetime.fromisoformat(told["timestamp"])
            storm.arrived[one] = max(at, storm.arrived.get(one, at))
        return answer(status=204, media_type=None)

    return speak


@asynccontextmanager
async def _sending(app_url: str, keys: str) -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """Gives what starts a sender, and returns its process id."""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.webhooks.mortal_sender", cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    stdin, stdout = parent.stdin, parent.stdout
    assert stdin is not None
    assert stdout is not None
    stdin.write(json.dumps({"database_url": app_url, "keys": keys}).encode() + b"\n")

    async def start() -> int:
        stdin.write(b"\n")
        return int(await stdout.readline())

    try:
        yield start
    finally:
        stdin.close()
        await parent.wait()


async def _write(database: Database, storm: Storm, subjects: range) -> None:
    """Each change is a transaction."""
    for _ in range(CHANGES):
        for one in subjects:
            async with database.transaction() as db:
                await noting.note(db, ATTENDANCE_CHANGED, [one])
                at: datetime = (await db.execute(select(func.now()))).scalar_one()
            storm.changed[one] = at


async def _left(database: Database) -> int:
    async with database.transaction() as db:
        waiting = select(func.count()).select_from(WebhookEvent).where(WebhookEvent.status == "waiting")
        facts = select(func.count()).select_from(WebhookFact)
        return (await db.scalar(waiting) or 0) + (await db.scalar(facts) or 0)
