"""How many replies a second a portal of two processes records, database included, beside a bare authenticated GET in
the same run; and a storm: 200 clients at once send the same reply of the same person, for a hundred people.

    python -m tests.benchmarks.bench_respond [--replies 6000] [--clients 64] [--people 100] [--storm 200]

The CPU per request is told too: it says the same on a busy machine.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import func, select

from app.db.session import Database
from app.surveys.models import Response
from tests.benchmarks.arena import arena
from tests.benchmarks.crowd import Portal, gather_people, lines, serving, settle, spread, token_of
from tests.surveys.drafted import LUNCH, published

RESPOND, FLOOR = "/v1/api/me/surveys/respond", "/v1/api/me/apps"
WANTED_PER_S = 300


def reply(survey: UUID, question: UUID, person: int) -> tuple[str, str, str, bytes]:
    told = {"survey": survey, "action": "answer", "answers": [{"question": question, "value": "Good"}]}
    return "POST", RESPOND, token_of(person), msgspec.json.encode(told)


async def measured(portal: Portal, clients: int, calls: list[Any], name: str) -> tuple[float, list[tuple[int, bytes]]]:
    """Prints, and returns requests a second and the answers."""
    before = portal.cpu_s()
    async with lines(portal, clients) as opened:
        answers, spent = await spread(opened, calls)
    rate, cpu_ms = len(calls) / spent, (portal.cpu_s() - before) * 1000 / len(calls)
    statuses = dict(Counter(status for status, _ in answers))
    print(f"{name:34} {rate:7.0f}/s  {clients} clients  web CPU {cpu_ms:.2f} ms a request  {statuses}")
    return rate, answers


async def storm(portal: Portal, call: Callable[[int], Any], people: list[int], clients: int) -> list[str]:
    """What went wrong: a status other than 200, or two receipts of one person."""
    calls = [call(person) for person in people for _ in range(clients)]
    _, answers = await measured(portal, clients, calls, "the same reply, many at once")
    wrong = [f"{status}: {body[:200]!r}" for status, body in answers if status != 200]
    for at, person in enumerate(people):
        mine = answers[at * clients : (at + 1) * clients]
        receipts = {msgspec.json.decode(body)["data"]["receipt"] for status, body in mine if status == 200}
        if len(receipts) != 1:
            wrong.append(f"person {person} has {len(receipts)} receipts")
    return wrong


async def rows(database: Database) -> int:
    async with database.transaction() as db:
        return await db.scalar(select(func.count()).select_from(Response)) or 0


async def main(replies: int, clients: int, people: int, at_once: int) -> None:
    async with arena() as database:
        async with database.transaction() as db:
            await gather_people(db, replies + people + clients)
            survey = await published(db, title="Lunch", questions=[LUNCH])
        await settle(database)
        question = survey.definition.questions[0].key
        assert question

        def call(person: int) -> Any:
            return reply(survey.uid, question, person)

        async with serving(database, workers=2) as portal:
            warm = range(replies + people + 1, replies + people + clients + 1)
            async with lines(portal, clients) as opened:
                await spread(opened, [call(person) for person in warm])
            floors = [("GET", FLOOR, token_of(person), b"") for person in range(1, replies + 1)]
            bare, _ = await measured(portal, clients, floors, "floor: GET me/apps")
            rate, _ = await measured(portal, clients, [call(one) for one in range(1, replies + 1)], "POST respond")
            print(
                f"respond is {rate / bare:.2f} of the floor; wanted {WANTED_PER_S}/s{'' if rate >= WANTED_PER_S else ': MISSED'}"
            )
            wrong = await storm(portal, call, list(range(replies + 1, replies + people + 1)), at_once)
        kept, expected = await rows(database), replies + people + clients
        print(f"{kept} rows of {expected} people; {len(wrong)} things wrong {wrong[:5]}")
        if wrong or kept != expected:
            raise SystemExit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replies", type=int, default=6000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--storm", type=int, default=200)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.replies, arguments.clients, arguments.people, arguments.storm))
