"""Number questions: what the database counts is what the pure breakdown makes of every single number."""

import random
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Integer, Select, Text, Uuid, column, select, values

from app.db.session import Database
from app.surveys.decimals import written
from app.surveys.results import number_counts, of_version, of_versions, tally_marks
from app.surveys.results.breakdowns import MOST_BARS, RANGES, breakdown, spread_out
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope
from tests.surveys.ledger_rows import NOW, Placed, respond, survey

KINDS = (
    lambda dice: dice.randrange(5),
    lambda dice: dice.randrange(-40, 41),
    lambda dice: dice.randrange(0, 81) / 10,
    lambda dice: round(dice.uniform(-999_999_999, 999_999_999), 6),
    lambda dice: dice.choice([-999_999_999, 0.000001, 999_999_998.999999, 999_999_999]),
    lambda _: 7,
)


def question(key: UUID) -> AskedQuestion:
    return AskedQuestion(key, "How far?", "number")


def numbers(dice: random.Random, kind: Any) -> Counter[str]:
    return Counter(written(kind(dice)) for _ in range(dice.choice([1, 2, 3, 30, 90])))


def rows(given: Mapping[tuple[str, UUID], Counter[str]]) -> Select[Any]:
    """Each number in two rows, as what is kept and what came since."""
    every = [
        (part, key, choice, number)
        for (part, key), counted in given.items()
        for choice, people in counted.items()
        for number in (people - 1, 1)
    ]
    columns = column("part", Text), column("question_key", Uuid), column("choice", Text), column("people", Integer)
    return select(*values(*columns, name="given").data(every).c)


@pytest.mark.parametrize("seed", range(20))
async def test_the_database_counts_what_every_single_number_comes_to(database: Database, seed: int) -> None:
    dice = random.Random(seed)
    given = {(part, uuid4()): numbers(dice, kind) for part in ("a", "b") for kind in KINDS}
    async with database.transaction() as db:
        found = await number_counts.read(db, rows(given), MOST_BARS)
    assert found.keys() == given.keys()
    for (part, key), counted in given.items():
        one, asked = found[part, key], question(key)
        wanted = breakdown(asked, {"": counted.total(), **counted})
        assert (one.people, one.different) == (counted.total(), len(counted))
        assert one.spread.middle == wanted.middle
        assert one.choices == ({"": counted.total(), **counted} if len(counted) <= MOST_BARS else {})
        if not one.choices:
            assert spread_out(asked, one.spread) == wanted


async def test_of_very_many_numbers_a_few_rows_are_read(database: Database) -> None:
    given = rows({("a", uuid4()): Counter(str(number) for number in range(2_000))})
    async with database.transaction() as db:
        read = (await db.execute(number_counts._counted(given, MOST_BARS))).all()
    assert len(read) == RANGES
    assert sum(len(row.numbers or {}) for row in read) == MOST_BARS


async def test_answers_to_an_earlier_type_are_left_out(database: Database) -> None:
    key = uuid4()
    async with database.transaction() as db:
        found = await number_counts.read(db, rows({("a", key): Counter(["much", "", "1e5", "3", "-2.5"])}), MOST_BARS)
    assert found["a", key].choices == {"": 2, "3": 1, "-2.5": 1}


@pytest.mark.parametrize("most", [3, 60])
async def test_figures_of_a_version_and_of_several_have_the_numbers_kept_and_fresh(
    database: Database, most: int
) -> None:
    dice = random.Random(most)
    async with database.transaction() as db:
        placed = await survey(db, questions=[("How far?", "number", []), ("Which?", "single_choice", ["a", "b"])])
        given: dict[int, Counter[str]] = {1: Counter(), 2: Counter()}
        for user in range(60):
            version, far = dice.choice([1, 2]), str(dice.randrange(most))
            given[version][far] += 1
            await answer(db, placed, user, version, far)
            if user == 40:
                await tally_marks.count_up(db)
        asked = [question(placed.keys[0]), AskedQuestion(placed.keys[1], "Which?", "single_choice", ("a", "b"))]
        row = type("Row", (), {"id": placed.id, "anonymity": "named"})
        together = await of_versions.read(db, row, [1, 2, 3], asked)
        for version, counted in given.items():
            wanted = breakdown(asked[0], {"": counted.total(), **counted})
            (far, which) = (await of_version.read(db, scope=TallyScope(placed.id, version), questions=asked)).questions
            assert far == wanted == together.breakdown(asked[0], version)
            assert which.people == counted.total() == together.breakdown(asked[1], version).people
        assert together.breakdown(asked[0], 3).people == 0
        days = (NOW.date() + timedelta(days=1), None)
        later = await of_version.read(db, scope=TallyScope(placed.id, 1, days=days), questions=asked)
        assert later.questions[0] == breakdown(asked[0], {})


async def answer(db: Any, placed: Placed, user: int, version: int, far: str) -> None:
    await respond(db, placed, user, answers={placed.keys[0]: [far], placed.keys[1]: ["a"]}, version=version)
