"""A whole portal for the browser tests, in a process of its own:
demo staff, a simulated time clock, a worker, one sync done.

    python -m tests.browser.portal DATABASE_URL DATA_DIR

prints one line of JSON when it is ready: {"url", "clock_url"}. It ends with its input.
"""

import asyncio
import json
import os
import socket
import sys
import threading
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from sqlalchemy import update

from app import demo
from app.accounts.audit import COMMAND_LINE
from app.clock.sync import run as sync
from app.clock.sync import run_rows
from app.config import read_settings
from app.main import create_app
from app.parts import Parts, make_parts
from app.simulator import build_world, create_simulator, serving
from app.surveys.models import Survey
from app.worker_pace import Pace
from tests.compiled import keep_compiled_templates
from tests.host.signing_in import PASSWORD, give_password
from workers.settings import work

EMPLOYEES, DAYS, SEED = 30, 10, 7
# Who asks for work wakes the worker; it looks by itself only for what is due later.
CALM = Pace(look_s=1)


async def main(database_url: str, data_dir: Path) -> None:
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://localhost:{listening.getsockname()[1]}"  # a name: with an IP address alone there are no passkeys
    parts = _parts(database_url, data_dir, url)
    async with _clock() as clock_url:
        await _fill(parts, clock_url)
        server = uvicorn.Server(uvicorn.Config(create_app(parts), log_config=None, lifespan="off"))
        serve = asyncio.create_task(server.serve([listening]))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event to wait for
            await asyncio.sleep(0.01)
        sys.stdout.write(json.dumps({"url": url, "clock_url": clock_url}) + "\n")
        sys.stdout.flush()
        await asyncio.gather(serve, work(parts, pace=CALM))


def _parts(database_url: str, data_dir: Path, url: str) -> Parts:
    settings = read_settings({"MUSTER_DATA_DIR": str(data_dir), "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32"})
    return make_parts(replace(settings, base_url=url), database_url, pool_size=8)


def _clock() -> AbstractAsyncContextManager[str]:
    world = build_world(SEED, EMPLOYEES, DAYS, 4, datetime.now(UTC), demo.ZONE)
    return serving(create_simulator(world, "cloud"))


async def _fill(parts: Parts, clock_url: str) -> None:
    for short in ("alice", "bob", "vera", "nora", "eve"):
        await give_password(parts.database, short, PASSWORD)
    await demo.prepare(parts, employees=EMPLOYEES, seed_number=SEED, clock_url=clock_url, crowd=0)
    async with parts.database.transaction() as db:
        # The demo's surveys would open over every page that a test looks at; no person of the cast is a client.
        await db.execute(update(Survey).values(user_types=["client"]))
        run_id, _ = await run_rows.start_run(db, "command", {}, COMMAND_LINE)
    await sync.run(parts, "main", run_id)


def _end_with_the_input() -> None:
    with suppress(OSError):
        sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    keep_compiled_templates()
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
