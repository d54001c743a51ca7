"""A worker process for tests that kill one: `python -m tests.job_worker DATABASE_URL HEARTBEAT_S STALE_S LOG`.

Its jobs append a line to LOG when they start and when they end; the argument `work_s` says how long they take.
"""

import asyncio
import os
import sys
from pathlib import Path

import uvloop

from app.config import read_settings
from app.jobs import Claim
from app.parts import Parts, make_parts
from app.worker_pace import Pace
from workers.settings import work


async def main(url: str, beat_s: float, stale_s: float, log: Path) -> None:
    async def job(_: Parts, claim: Claim) -> None:
        write(log, f"start {claim.id} {claim.attempt} {os.getpid()}")
        await asyncio.sleep(claim.arguments.get("work_s", 0))
        write(log, f"end {claim.id} {claim.attempt} {os.getpid()}")

    parts = make_parts(read_settings(os.environ), url)
    await work(parts, functions={"clock_sync": job}, pace=Pace(look_s=beat_s, beat_s=beat_s, stale_s=stale_s))
    await parts.close()


def write(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `muster worker` does
        runner.run(main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])))
