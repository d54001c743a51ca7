"""What languages cost: `me/surveys` and `respond` with ten questions in four languages, read in German, against the
same ten in one language, in turns in one run. Wanted: at most 10 % more.

    python -m tests.benchmarks.bench_languages [--surveys 200] [--people 4000] [--rounds 100] [--turns 8]
"""

import argparse
import asyncio
import tempfile

import httpx
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.parts import make_parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.definition import Definition, QuestionDefinition, checked
from app.surveys.authoring.stored import Stored, load
from app.surveys.translations import QuestionTexts, SurveyTexts
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.crowd import gather_people, settle, token_of
from tests.benchmarks.turns import Call, Switch, both, switched
from tests.surveys.authored import ANN, NOW
from tests.surveys.calling import QUEUE, RESPOND

LANGUAGES = {"ar": ("نعم", "لا"), "de": ("Ja", "Nein"), "tr": ("Evet", "Hayır")}
# The same surveys with their translations and without, by turns.
# A process reads a survey again only when its revision is another.
_KEEP = (
    "CREATE TABLE kept_texts AS SELECT id, translations FROM surveys",
    "CREATE TABLE kept_question_texts AS SELECT key, translations FROM survey_questions",
)
_TAKE = (
    "UPDATE surveys SET translations = NULL, revision = revision + 1",
    "UPDATE survey_questions SET translations = NULL",
)
_GIVE = (
    "UPDATE surveys s SET translations = k.translations, revision = revision + 1 FROM kept_texts k WHERE k.id = s.id",
    "UPDATE survey_questions q SET translations = k.translations FROM kept_question_texts k WHERE k.key = q.key",
)


def ten_questions(title: str, languages: dict[str, tuple[str, str]]) -> Definition:
    """As they are asked, required, in these languages beside English."""
    questions = tuple(
        QuestionDefinition(
            None,
            f"Question {number}?",
            "single_choice",
            ("Yes", "No"),
            translations={tag: QuestionTexts(f"{number}?", options) for tag, options in languages.items()},
        )
        for number in range(1, 11)
    )
    texts = {tag: SurveyTexts(f"{title} {tag}", f"<p>{tag}</p>") for tag in languages}
    return checked(
        Definition(
            title=title,
            type="feedback",
            enforcement="required",
            message="<p>en</p>",
            questions=questions,
            translations=texts,
        )
    )


async def published(db: AsyncSession, definition: Definition) -> Stored:
    uid = await authoring.create(db, ANN, definition, "full")
    await authoring.publish(db, ANN, uid, NOW, "full")
    return await load(db, uid)


async def main(surveys: int, people: int, rounds: int, turns: int) -> None:
    async with arena() as database:
        async with database.transaction() as db:
            await gather_people(db, people)
            for number in range(surveys):
                await published(db, ten_questions(f"Survey {number}", LANGUAGES))
            plain = await published(db, ten_questions("One language", {}))
            several = await published(db, ten_questions("Four languages", LANGUAGES))
        await settle(database)
        with tempfile.TemporaryDirectory() as folder:
            parts = make_parts(settings_in(folder), database.url)
            transport = httpx.ASGITransport(app=site_of(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                await answer(client, (plain, several), people, turns)
                await fetch(client, parts.database, rounds, turns)
            await parts.close()


async def answer(client: httpx.AsyncClient, kinds: tuple[Stored, Stored], people: int, turns: int) -> None:
    def to(survey: Stored, value: str) -> Call:
        told = [{"question": str(one.key), "value": value} for one in survey.questions]
        body = {"survey": str(survey.uid), "action": "answer", "answers": told, "language": "de"}

        async def call(person: int) -> None:
            headers = {"Authorization": f"Bearer {token_of(person)}"}
            (await client.post(RESPOND, json=body, headers=headers)).raise_for_status()

        return call

    await both("respond", (to(kinds[0], "Yes"), to(kinds[1], "Ja")), people, turns)


async def fetch(client: httpx.AsyncClient, database: Database, rounds: int, turns: int) -> None:
    async def call(person: int, kind: int) -> None:
        headers = {"Authorization": f"Bearer {token_of(person)}", "Accept-Language": "de-AT, de;q=0.9, en;q=0.8"}
        rows = (await client.get(QUEUE, headers=headers)).raise_for_status().json()["data"]
        if len(rows) != 5 or {one.get("language", "") for one in rows} != {"de" if kind else ""}:
            raise SystemExit("the queue is not full, or in another language")

    await switched("me/surveys", call, database, Switch(_KEEP, _TAKE, _GIVE), rounds=rounds, turns=turns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--surveys", type=int, default=200)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--turns", type=int, default=8)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.surveys, arguments.people, arguments.rounds, arguments.turns))
