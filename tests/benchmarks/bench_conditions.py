"""What pages and conditions cost: `me/surveys` and `respond` with ten questions, nine of them with a condition, against
the same ten without, in turns in one run. Wanted: at most 10 % more.

    python -m tests.benchmarks.bench_conditions [--surveys 200] [--people 4000] [--rounds 100] [--turns 8]
"""

import argparse
import asyncio
import tempfile
from typing import Any

import httpx

from app.db.session import Database
from app.parts import make_parts
from app.surveys.authoring.stored import Stored
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.crowd import gather_people, settle, token_of
from tests.benchmarks.turns import Call, Switch, both, switched
from tests.surveys.calling import QUEUE, RESPOND
from tests.surveys.drafted import published

PLAIN: list[dict[str, Any]] = [
    {"label": f"Question {number}?", "type": "single_choice", "options": ["Yes", "No"]} for number in range(1, 11)
]
CONDITIONAL = [PLAIN[0]] + [
    {**one, "show_if": {"question": number, "is": "in", "values": ["Yes"]}} for number, one in enumerate(PLAIN[1:], 1)
]
# The same surveys with their conditions and without, by turns.
# A process reads a survey again only when its revision is another.
_KEEP = "CREATE TABLE kept_details AS SELECT key, details FROM survey_questions"
_TAKE = "UPDATE survey_questions SET details = NULL", "UPDATE surveys SET needs = '{}', revision = revision + 1"
_GIVE = (
    "UPDATE survey_questions q SET details = k.details FROM kept_details k WHERE k.key = q.key",
    "UPDATE surveys SET needs = '{conditions}', revision = revision + 1",
)


async def publish(database: Database, surveys: int) -> tuple[Stored, Stored]:
    """Many with conditions for the queue, and one of each kind to answer."""
    async with database.transaction() as db:
        for number in range(surveys):
            await published(db, title=f"Survey {number}", enforcement="required", questions=CONDITIONAL)
        kinds = [await published(db, title="One to answer", questions=asked) for asked in (PLAIN, CONDITIONAL)]
    return kinds[0], kinds[1]


async def main(surveys: int, people: int, rounds: int, turns: int) -> None:
    async with arena() as database:
        async with database.transaction() as db:
            await gather_people(db, people)
        plain, conditional = await publish(database, surveys)
        await settle(database)
        with tempfile.TemporaryDirectory() as folder:
            parts = make_parts(settings_in(folder), database.url)
            transport = httpx.ASGITransport(app=site_of(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                await answer(client, plain, conditional, people, turns)
                await fetch(client, parts.database, rounds, turns)
            await parts.close()


async def answer(client: httpx.AsyncClient, plain: Stored, conditional: Stored, people: int, turns: int) -> None:
    def to(survey: Stored) -> Call:
        told = [{"question": str(one.key), "value": "Yes"} for one in survey.questions]
        body = {"survey": str(survey.uid), "action": "answer", "answers": told}

        async def call(person: int) -> None:
            headers = {"Authorization": f"Bearer {token_of(person)}"}
            (await client.post(RESPOND, json=body, headers=headers)).raise_for_status()

        return call

    await both("respond", (to(plain), to(conditional)), people, turns)


async def fetch(client: httpx.AsyncClient, database: Database, rounds: int, turns: int) -> None:
    async def call(person: int, _: int) -> None:
        headers = {"Authorization": f"Bearer {token_of(person)}"}
        answer = await client.get(f"{QUEUE}?can=conditions", headers=headers)
        if len(answer.raise_for_status().json()["data"]) != 5:
            raise SystemExit("the queue is not full")

    await switched("me/surveys", call, database, Switch((_KEEP,), _TAKE, _GIVE), rounds=rounds, turns=turns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--surveys", type=int, default=200)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--turns", type=int, default=8)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.surveys, arguments.people, arguments.rounds, arguments.turns))
