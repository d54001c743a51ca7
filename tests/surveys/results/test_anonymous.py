"""How results of an anonymous version are read: groups under their keys, few texts,
and a list that does not grow with the square."""

import random
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession

from app.parts import Parts
from app.surveys.anonymous.models import AnonymousResult
from app.surveys.authoring.stored import Stored
from app.surveys.results import anonymous, of_versions
from app.surveys.results.anonymous import MOST_TEXTS, AnonymousOutcome
from app.surveys.results.breakdowns import breakdown
from app.surveys.results.figures import AskedQuestion
from tests.surveys.anonymous.team import MOOD, WORDS, ask_crew, crew, end

MANY = 1_000


def row(key: UUID, grouped: str | None, choice: str, people: int, *, joined: bool = False) -> AnonymousResult:
    return AnonymousResult(question_key=key, grouped=grouped, joined=joined, choice=choice, people=people)


def test_a_department_that_is_called_others_keeps_its_figures() -> None:
    key = uuid4()
    rows = [
        row(key, "Others", "", 6),
        row(key, "Others", "Good", 6),
        row(key, None, "", 5, joined=True),
        row(key, None, "Bad", 5, joined=True),
        row(key, "", "", 9),
        row(key, "", "Good", 9),
    ]
    outcome = AnonymousOutcome(rows=rows)
    names, found = outcome.group_names({}), outcome.split()
    assert [(names[group or ""], people) for group, people in found.groups] == [
        ("Not known", 9),
        ("Others", 6),
        ("Others", 5),
    ]
    assert [found.of[group, key] for group, _ in found.groups] == [
        {"": 9, "Good": 9},
        {"": 6, "Good": 6},
        {"": 5, "Bad": 5},
    ]


def row_of(survey: Stored) -> Any:
    return SimpleNamespace(id=survey.id, anonymity="anonymous")


async def closed_with_texts(parts: Parts) -> tuple[Stored, list[AskedQuestion]]:
    """A version that was closed, with a choice in two groups and MANY texts of each group."""
    await crew(parts.database, ["A"] * 10)
    survey = await ask_crew(parts.database, questions=[MOOD, WORDS], split="department")
    await end(parts, survey)
    mood, words = (one.key for one in survey.questions)
    about = {"survey_id": survey.id, "version": 1, "joined": False}
    values: list[dict[str, Any]] = []
    for group, people in (("A", MANY), ("", MANY + 1)):
        counts = [(mood, "", people), (mood, "Good", people), (words, "", people)]
        texts = [(words, f"{group} {n}", 1) for n in range(MANY)]
        values += [
            {**about, "grouped": group, "question_key": key, "choice": choice, "people": number}
            for key, choice, number in [*counts, *texts]
        ]
    async with parts.database.transaction() as db:
        await db.execute(insert(AnonymousResult), values)
    return survey, [AskedQuestion(one.key, one.label, one.type, one.options) for one in survey.questions]


async def test_a_page_reads_few_of_many_texts(parts: Parts) -> None:
    survey, questions = await closed_with_texts(parts)
    async with parts.database.transaction() as db:
        found = await anonymous.read(db, survey.id, 1, questions)
    words = questions[1]
    assert len(found.rows) == 6
    assert found.answers == 2 * MANY + 2
    assert [*found.texts] == [words.key]
    assert len(found.texts[words.key]) == MOST_TEXTS
    assert all(said and people == 1 for said, people in found.texts[words.key])
    assert [one.people for one in found.breakdowns(questions)] == [2 * MANY + 1] * 2


async def test_a_comparison_of_versions_reads_no_texts(parts: Parts) -> None:
    survey, questions = await closed_with_texts(parts)
    async with parts.database.transaction() as db:
        found = await of_versions.read(db, row_of(survey), [1], questions)
    mood, words = (one.key for one in questions)
    assert found.choices == {(1, mood): {"": 2 * MANY + 1, "Good": 2 * MANY + 1}, (1, words): {"": 2 * MANY + 1}}


async def test_the_list_looks_at_each_answer_a_few_times(parts: Parts) -> None:
    survey, questions = await closed_with_texts(parts)
    statement = anonymous.listed(survey.id, 1, [one.key for one in questions])
    async with parts.database.transaction() as db:
        rows = (await db.execute(statement)).all()
        looked_at = await rows_looked_at(db, statement)
    assert {(one.grouped, one.answered) for one in rows} == {("A", MANY), ("", MANY + 1)}
    assert len(rows) == 2 * MANY + 2
    assert looked_at < 20 * len(rows)


async def rows_looked_at(db: AsyncSession, statement: Any) -> int:
    """By all parts of the plan together, those that a filter left out too."""
    sql = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    (plan,) = await db.scalar(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}".replace(":", "\\:")))
    return sum(
        (one["Actual Rows"] + one.get("Rows Removed by Filter", 0) + one.get("Rows Removed by Join Filter", 0))
        * one["Actual Loops"]
        for one in _parts(plan["Plan"])
    )


def _parts(plan: dict[str, Any]) -> Sequence[dict[str, Any]]:
    return [plan, *(deeper for one in plan.get("Plans", ()) for deeper in _parts(one))]


async def closed_with_numbers(
    parts: Parts, given: dict[tuple[str | None, bool], Counter[str]]
) -> tuple[Stored, AskedQuestion]:
    """A version that was closed, with the numbers that people of each group gave."""
    await crew(parts.database, ["A"] * 10)
    survey = await ask_crew(parts.database, questions=[{"label": "How many?", "type": "number"}], split="department")
    await end(parts, survey)
    question = AskedQuestion(survey.questions[0].key, "How many?", "number")
    values = [
        {
            "survey_id": survey.id, "version": 1, "question_key": question.key,
            "grouped": group, "joined": joined, "choice": choice, "people": people,
        }
        for (group, joined), counted in given.items()
        for choice, people in {"": counted.total(), **counted}.items()
    ]  # fmt: skip
    async with parts.database.transaction() as db:
        await db.execute(insert(AnonymousResult), values)
    return survey, question


@pytest.mark.parametrize("most", [3, 400])
async def test_numbers_are_counted_by_the_database_together_and_by_group(parts: Parts, most: int) -> None:
    """However many different ones there are, each result is what the pure breakdown makes of every single number."""
    dice = random.Random(most)
    groups = {"=A": ("A", False), "=": ("", False), "+": (None, True)}
    given = {group: Counter(str(dice.randrange(most)) for _ in range(200)) for group in groups.values()}
    survey, question = await closed_with_numbers(parts, given)
    together = sum(given.values(), Counter[str]())
    async with parts.database.transaction() as db:
        found = await anonymous.read(db, survey.id, 1, [question])
        versions = await of_versions.read(db, row_of(survey), [1, 2], [question])
    wanted = breakdown(question, {"": together.total(), **together})
    assert found.breakdowns([question]) == (wanted,)
    assert versions.breakdown(question, 1) == wanted
    assert versions.breakdown(question, 2).people == 0
    split = found.split()
    assert {key: split.breakdown(question, key) for key, _ in split.groups} == {
        key: breakdown(question, {"": given[group].total(), **given[group]}) for key, group in groups.items()
    }
    assert {row.choice for row in found.rows} == {""}
