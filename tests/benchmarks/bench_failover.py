"""What a failover costs: `python -m tests.benchmarks.bench_failover [--times 20]`.

A primary and a synchronous standby (PostgreSQL 15 on loopback), one web process and one worker over both. People answer
surveys, a supervisor decides records, a worker syncs with the simulator. Then the primary is killed with all its
processes and the standby promoted, again and again; the killed one becomes the next standby. Web process and worker are
never restarted. Prints for each failover the seconds from the kill until pages, receipts, decisions and the import of
punches work and fail no more, what was acknowledged since the last one, how much of all that was acknowledged is gone,
and the load of the machine; at the end the sums, and every status of an answer.
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

from tests.standby.servers import Pair, pair
from tests.standby.work import Work, working

# So that the sync takes longer than all failovers: answers of the simulator, of 20 punches each.
EMPLOYEES, DAYS, SLOW_S = 100, 200, 0.2
AT_WORK_S, PATIENCE_S = 3, 600


async def main(times: int) -> bool:
    """True when something was lost."""
    lost_any = False
    with pair() as servers, tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        async with working(servers, Path(folder), employees=EMPLOYEES, days=DAYS, slow_s=SLOW_S) as (work, here):
            seconds, before = [], work.heard.numbers()
            for number in range(1, times + 1):
                await work.add(surveys=20, records=200)
                await work.sync()  # joins the run that is there; a job gives up after some deaths, as anywhere
                await _until_at_work(work)
                syncing = await here.scalar("SELECT count(*) FROM clock_sync_runs WHERE status = 'running'")
                again, lost = await _fail_over(servers, work)
                seconds.append(again)
                lost_any |= any(lost.values())
                now = work.heard.numbers()
                told = ", ".join(f"{what} {after:.2f} s" for what, after in again.items())
                new = ", ".join(f"{now[what] - before[what]} {what} ({len(lost[what])} lost)" for what in now)
                syncs = "" if syncing else "; nothing was synced"
                print(f"{number:3}: {told}; {new}; load {os.getloadavg()[0]:.1f}{syncs}", flush=True)
                before = now
            await work.pause()
            lost = await work.lost()
            verified = await work.muster("ledger:verify")
            print(f"ledger:verify: {verified.out.strip() or verified.err.strip()}")
            for what, acknowledged in work.heard.numbers().items():
                print(f"{what}: {acknowledged} acknowledged, {len(lost[what])} lost")
            for what in seconds[0]:
                after = sorted(one[what] for one in seconds)
                print(f"{what} again after: median {after[len(after) // 2]:.2f} s, at most {after[-1]:.2f} s")
            print(
                "answers:", ", ".join(f"{number} of {status}" for status, number in sorted(work.heard.statuses.items()))
            )
            return lost_any or any(lost.values())


async def _until_at_work(work: Work) -> None:
    """Some of everything is done between two failovers, and a sync is under way."""
    before = work.heard.numbers()
    await asyncio.sleep(AT_WORK_S)
    async with asyncio.timeout(PATIENCE_S):
        while not all(now > before[what] for what, now in work.heard.numbers().items()):
            work.refuse_broken()
            await asyncio.sleep(0.05)


async def _fail_over(servers: Pair, work: Work) -> tuple[dict[str, float], dict[str, list[object]]]:
    """Seconds from the kill until each kind of work was done again, and what was lost by it."""
    killed = time.monotonic()
    await asyncio.to_thread(servers.fail_over)
    promoted = time.monotonic()
    seconds = await work.answered_again(killed, promoted)
    await asyncio.to_thread(servers.join)
    async with asyncio.timeout(PATIENCE_S):
        seconds["import"] = await work.imported_again(killed, promoted)
    return seconds, await work.lost()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    if asyncio.run(main(parser.parse_args().times)):
        raise SystemExit("something that was acknowledged is lost")
