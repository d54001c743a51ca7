"""The primary is killed in the middle of the work and its standby promoted: all that was acknowledged is there, and the
processes continue by themselves. How fast: tests/benchmarks/bench_failover.py."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.standby.servers import Pair
from tests.standby.work import working

pytestmark = pytest.mark.slow
PATIENCE_S = 300


async def test_nothing_that_was_acknowledged_is_lost_and_the_processes_continue(servers: Pair, tmp_path: Path) -> None:
    async with working(servers, tmp_path, employees=20, days=20, slow_s=0.05) as (work, here):
        await work.add(surveys=30, records=400)
        run = await work.sync()
        async with asyncio.timeout(PATIENCE_S):
            while len(work.heard.punches) < 100 or len(work.heard.receipts) < 50 or len(work.heard.decided) < 5:
                work.refuse_broken()
                await asyncio.sleep(0.02)
        assert (await here.row(run)).status == "running", "the server is to die in the middle of it"

        killed = time.monotonic()
        await asyncio.to_thread(servers.fail_over)
        again = await work.answered_again(killed, time.monotonic())
        assert set(again) == {"page", "receipt", "decision"}
        assert any(work.heard.failed_at.values()), "meanwhile requests were told to come again"

        here.faults()
        async with asyncio.timeout(PATIENCE_S):
            while await here.scalar("SELECT count(*) FROM clock_sync_runs WHERE status IN ('queued', 'running')"):
                work.refuse_broken()
                await asyncio.sleep(0.1)
        await work.pause()
        assert await work.lost() == {"receipts": [], "decisions": [], "punches": []}
        await here.holds_everything()
        for arguments in (("ledger:verify",), ("doctor",)):
            told = await work.muster(*arguments)
            assert told.code == 0, told.out + told.err
