"""How fast the queue answers at 200 surveys, 100,000 people and a million responses: p50 and p95 of the whole request
in milliseconds, its statements, and the ratio to a bare indexed SELECT in the same run; first over few responses, then
over all, since it must not depend on them. Then `me/surveys/count` beside it in the same run:
its p95 is at most 0.6 of the queue's.

    python -m tests.benchmarks.bench_queue [--surveys 200] [--people 100000] [--responses 1000000] [--rounds 200]
"""

import argparse
import asyncio
import statistics
import tempfile
import time

import httpx
from sqlalchemy import select

from app.accounts.models import User
from app.db.session import Database
from app.parts import make_parts
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.bench_lists import p95, timed
from tests.benchmarks.crowd import gather_people, let_answer, publish_many, settle, token_of
from tests.surveys.calling import QUEUE, by_transaction, statements

LIMIT_MS = 25
COUNT, MOST_OF_QUEUE = f"{QUEUE}/count", 0.6
FEW = 10_000


async def floor(database: Database, rounds: int) -> float:
    """Milliseconds of a bare SELECT of one person: no call can be faster."""
    async with database.transaction() as db:
        one = select(User.id).where(User.email == "p1@example.org")
        return statistics.median(await timed(rounds, lambda: db.execute(one)))


async def measure(  # noqa: PLR0917 - what is called, how often, and what it is held against
    client: httpx.AsyncClient, database: Database, rounds: int, bare: float, name: str, url: str = QUEUE
) -> float:
    """p95 in milliseconds. Each call is another person's, as in life."""
    person = 1

    async def call() -> None:
        nonlocal person
        person += 37
        answer = await client.get(url, headers={"Authorization": f"Bearer {token_of(person)}"})
        if answer.status_code != httpx.codes.OK:
            raise SystemExit(f"{url} answered {answer.status_code}: {answer.text}")

    began = time.process_time()
    spent = await timed(rounds, call)
    cpu_ms = (time.process_time() - began) * 1000 / (rounds + 2)
    with statements(database) as sent:
        await call()
    print(
        f"{name:20} p50 {statistics.median(spent):6.1f} ms  p95 {p95(spent):6.1f}  ratio {statistics.median(spent) / bare:5.1f}  "
        f"web CPU {cpu_ms:.1f} ms  statements {by_transaction(sent)}{'  MISSED' if p95(spent) > LIMIT_MS else ''}"
    )
    return p95(spent)


async def main(surveys: int, people: int, responses: int, rounds: int) -> None:
    async with arena() as database:
        async with database.transaction() as db:
            await gather_people(db, people)
            await publish_many(db, surveys)
            await let_answer(db, people, 1, min(FEW, responses))
        await settle(database)
        bare = await floor(database, rounds)
        print(f"{surveys} surveys, {people} people; floor: a bare SELECT of one of them {bare:.1f} ms")
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_in(folder)
            parts = make_parts(settings, database.url)
            transport = httpx.ASGITransport(app=site_of(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                await measure(client, parts.database, rounds, bare, f"{min(FEW, responses)} responses")
                async with database.transaction() as db:
                    await let_answer(db, people, FEW + 1, responses)
                await settle(database)
                queue = await measure(client, parts.database, rounds, bare, f"{responses} responses")
                count = await measure(client, parts.database, rounds, bare, "their number", COUNT)
            await parts.close()
        if queue > LIMIT_MS:
            print(f"p95 is over {LIMIT_MS} ms")
        print(f"number to queue, p95: {count / queue:.2f}{'  MISSED' if count > MOST_OF_QUEUE * queue else ''}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--surveys", type=int, default=200)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.surveys, arguments.people, arguments.responses, arguments.rounds))
