"""Webhooks: seconds from a fact to the receiver, with a real worker process, at most 15 s; what noting a change costs a
workspace without an endpoint, beside a floor of the same run; and changes of 10,000 subjects to a receiver that fails
30 % of the time, by a sender that is killed five times.

    python -m tests.benchmarks.bench_webhooks [--rounds 10] [--subjects 10000]
"""

import argparse
import asyncio
import os
import statistics
import time

from sqlalchemy import delete, text

from app.accounts.audit import COMMAND_LINE
from app.db.session import Database
from app.secrets import KeyRing, new_key_text
from app.webhooks import endpoints, noting
from app.webhooks.kinds import ATTENDANCE_CHANGED
from app.webhooks.models import WebhookEndpoint
from tests.benchmarks.arena import arena
from tests.benchmarks.bench_beside import a_worker_is_there, until, worker
from tests.fakes.liar import answer, lying
from tests.webhooks.receiving import HOOK
from tests.webhooks.storm import rage

MOST_S = 15
NOTES = 500
KILLS = 5


async def measure_arrival(database: Database, keys: str, rounds: int) -> None:
    spent = []
    async with lying() as liar:
        liar.says(HOOK, answer(status=204, media_type=None))
        async with database.transaction() as db:
            await endpoints.add(db, KeyRing.from_text(keys), COMMAND_LINE, liar.url + HOOK, [ATTENDANCE_CHANGED])
        async with worker(database, MUSTER_SECRET_KEYS=keys, MUSTER_OUTBOUND_ALLOW="127.0.0.1/32"):
            await until(database, a_worker_is_there)
            for number in range(rounds):
                began = time.perf_counter()
                async with database.transaction() as db:
                    await noting.note(db, ATTENDANCE_CHANGED, [number])
                while len(liar.heard) <= number:
                    await asyncio.sleep(0.01)
                    if time.perf_counter() - began > 10 * MOST_S:
                        raise SystemExit("no event came")
                spent.append(time.perf_counter() - began)
    missed = "  MISSED" if max(spent) > MOST_S else ""
    print(f"fact to receiver  median {statistics.median(spent):5.2f} s  worst {max(spent):5.2f} s{missed}")
    async with database.transaction() as db:
        await db.execute(delete(WebhookEndpoint))


async def measure_noting(database: Database) -> None:
    """Without an endpoint: in one transaction, by turns with a statement that asks nothing."""
    floor, notes = [], []
    async with database.transaction() as db:
        for number in range(NOTES):
            began = time.perf_counter()
            await db.execute(text("SELECT 1"))
            between = time.perf_counter()
            await noting.note(db, ATTENDANCE_CHANGED, [number])
            floor.append(between - began)
            notes.append(time.perf_counter() - between)
    a, b = statistics.median(floor) * 1000, statistics.median(notes) * 1000
    print(f"noting without an endpoint {b:.2f} ms, SELECT 1 {a:.2f} ms: {b / a:.1f} times")


async def measure_storm(database: Database, keys: str, subjects: int) -> None:
    began = time.perf_counter()
    storm = await rage(database, database.url, keys, subjects=subjects, kills=KILLS)
    spent = time.perf_counter() - began
    lost = f"  LOST {len(storm.lost)}" if storm.lost else ""
    print(
        f"storm: {len(storm.arrived):,} of {subjects:,} subjects arrived with their newest state, {storm.calls:,} calls,"
        f" {storm.kills} kills, {spent:.0f} s{lost}"
    )


async def main(rounds: int, subjects: int) -> None:
    keys = new_key_text("bench")
    async with arena() as database:
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        await measure_noting(database)
        await measure_arrival(database, keys, rounds)
        await measure_storm(database, keys, subjects)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--subjects", type=int, default=10_000)
    given = parser.parse_args()
    asyncio.run(main(given.rounds, given.subjects))
