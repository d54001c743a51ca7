"""What a failover costs: `python -m tests.benchmarks.bench_failover [--times 20]`.

A primary and a synchronous standby (PostgreSQL 15 on loopback), one web process and one worker over both. People answer
surveys, a supervisor decides records, a worker syncs with the simulator. Then the primary is killed with all its
processes and the standby promoted, again and again; the killed one becomes the next standby. Web process and worker are
never restarted. Prints for each failover the seconds from the kill until pages, receipts and decisions work and fail no
more, and at the end what of all that was acknowledged is gone.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.standby.servers import Pair, pair
from tests.standby.work import Work, working

# So that the sync takes longer than all failovers: answers of the simulator, of 20 punches each.
EMPLOYEES, DAYS, SLOW_S = 100, 200, 0.2
AT_WORK_S, PATIENCE_S = 3, 600


async def main(times: int) -> None:
    with pair() as servers, tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        async with working(servers, Path(folder), employees=EMPLOYEES, days=DAYS, slow_s=SLOW_S) as (work, here):
            seconds = []
            for number in range(1, times + 1):
                await work.add(surveys=20, records=200)
                await work.sync()  # joins the run that is there; a job gives up after some deaths, as anywhere
                await _until_at_work(work)
                syncing = await here.scalar("SELECT count(*) FROM clock_sync_runs WHERE status = 'running'")
                seconds.append(await _fail_over(servers, work))
                told = ", ".join(f"{what} {after:.2f} s" for what, after in seconds[-1].items())
                print(f"{number:3}: {told}{'' if syncing else ', while nothing was synced'}", flush=True)
                await asyncio.to_thread(servers.join)
            await work.pause()
            lost, heard = await work.lost(), work.heard
            told = await work.muster("ledger:verify")
            print(f"ledger:verify: {told.out.strip() or told.err.strip()}")
            for what, acknowledged in (
                ("receipts", heard.receipts),
                ("decisions", heard.decided),
                ("punches", heard.punches),
            ):
                print(f"{what}: {len(acknowledged)} acknowledged, {len(lost[what])} lost")
            for what in seconds[0]:
                after = sorted(one[what] for one in seconds)
                print(f"{what} again after: median {after[len(after) // 2]:.2f} s, at most {after[-1]:.2f} s")


async def _until_at_work(work: Work) -> None:
    """Some of everything is done between two failovers, and a sync is under way."""
    heard = work.heard
    before = len(heard.receipts), len(heard.decided), len(heard.punches)
    await asyncio.sleep(AT_WORK_S)
    async with asyncio.timeout(PATIENCE_S):
        while not all(
            now > then
            for now, then in zip((len(heard.receipts), len(heard.decided), len(heard.punches)), before, strict=True)
        ):
            work.refuse_broken()
            await asyncio.sleep(0.05)


async def _fail_over(servers: Pair, work: Work) -> dict[str, float]:
    killed = time.monotonic()
    await asyncio.to_thread(servers.fail_over)
    return await work.answered_again(killed, time.monotonic())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    asyncio.run(main(parser.parse_args().times))
