"""A worker with the jobs of all modules for tests that kill one: `python -m tests.clock.clock_worker DATABASE_URL`."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import uvloop

from app.config import read_settings
from app.parts import make_parts
from app.worker_pace import Pace
from tests.cluster import DatabaseUrls
from tests.conftest import KEYS
from workers.settings import work

PATIENCE_S = 60


def start_worker(urls: DatabaseUrls) -> "subprocess.Popen[bytes]":
    """Takes over the job of a dead one after a second and a half."""
    environment = {**os.environ, "MUSTER_SECRET_KEYS": KEYS}
    return subprocess.Popen([sys.executable, "-m", "tests.clock.clock_worker", urls.app], env=environment)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not await is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def main(url: str) -> None:
    parts = make_parts(read_settings(os.environ), url)
    await work(parts, pace=Pace(look_s=0.3, beat_s=0.3, stale_s=1.5))
    await parts.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `muster worker` does
        runner.run(main(sys.argv[1]))
