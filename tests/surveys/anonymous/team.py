"""A crowd that is asked anonymously: accounts with tokens, a survey of theirs, and what a closing leaves."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update

from app.accounts.models import ApiToken, User
from app.db.session import Database
from app.host.models import Employee
from app.jobs import Claim
from app.parts import Parts
from app.surveys import jobs as surveys_jobs
from app.surveys.anonymous.models import AnonymousResult
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey
from tests.surveys.calling import App
from tests.surveys.drafted import published

KIND = "client"
SOON = datetime(2999, 1, 1, tzinfo=UTC)
MOOD = {"label": "How is the mood?", "type": "single_choice", "options": ["Good", "Bad"]}
TICKS = {"label": "What helps?", "type": "multiple_choice", "options": ["Rest", "Pay", "Tea"]}
WORDS = {"label": "Why?", "type": "free_text"}


def token_of(number: int) -> str:
    return f"crew-token-{number:03}-of-a-test"


async def crew(database: Database, departments: Sequence[str | None]) -> list[int]:
    """An account with a token for each; the name of the department is that of their employee, None for no employee."""
    people = range(len(departments))
    async with database.transaction() as db:
        values = [
            {"name": f"Crew {n:03}", "email": f"crew{n:03}@example.org", "type": KIND, "workspace": "main"}
            for n in people
        ]
        ids = list(await db.scalars(insert(User).returning(User.id, sort_by_parameter_order=True), values))
        tokens = [
            {
                "user_id": ids[n],
                "name": "test",
                "token_hash": hashlib.sha256(token_of(n).encode()).digest(),
                "hint": "test",
                "scopes": ["me"],
            }
            for n in people
        ]
        await db.execute(insert(ApiToken), tokens)
        employed = [
            {
                "name": f"Crew {n:03}",
                "id_number": f"C{n:03}",
                "id_number_key": f"c{n:03}",
                "department": department,
                "user_id": ids[n],
            }
            for n, department in enumerate(departments)
            if department is not None
        ]
        if employed:
            await db.execute(insert(Employee), employed)
    return ids


async def ask_crew(database: Database, questions: Sequence[Any] = (MOOD, TICKS, WORDS), **fields: Any) -> Stored:
    """An anonymous survey for the crew, which is open."""
    asked: dict[str, Any] = {
        "title": "Team",
        "anonymity": "anonymous",
        "ends_at": SOON,
        "user_types": (KIND,),
        **fields,
    }
    async with database.transaction() as db:
        return await published(db, questions=list(questions), **asked)


def apps(browser: Any, number: int) -> list[App]:
    return [App(browser, token_of(n)) for n in range(number)]


async def end(parts: Parts, survey: Stored) -> None:
    """Lets its end pass, and runs the job."""
    async with parts.database.transaction() as db:
        await db.execute(
            update(Survey).where(Survey.id == survey.id).values(ends_at=datetime.now(UTC) - timedelta(seconds=1))
        )
    await run_job(parts)


async def run_job(parts: Parts) -> None:
    await surveys_jobs.close_anonymous(parts, Claim(0, 1, "main", "surveys_close", {}))


async def results(database: Database, survey: Stored, version: int = 1) -> dict[tuple[str, str | None, str], int]:
    """People by the label of the question, the group ("Others" for a joined one) and the answer."""
    labels = {one.key: one.label for one in survey.questions}
    async with database.transaction() as db:
        rows = await db.scalars(
            select(AnonymousResult).where(AnonymousResult.survey_id == survey.id, AnonymousResult.version == version)
        )
        return {
            (labels[one.question_key], "Others" if one.joined else one.grouped, one.choice): one.people for one in rows
        }
