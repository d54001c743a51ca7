"""Answers to number questions, counted by the database in the same memory for any number of answers: few different
numbers one by one, many as a summary."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Numeric, Select, Subquery, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.counting import mean
from app.surveys.results import tallies
from app.surveys.results.breakdowns import MOST_BARS, RANGES, Middle, Spread, halfway
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import AskedIn, TallyScope

K = TypeVar("K")
# In an earlier version a question may have had another type.
_NUMBER = r"^-?\d+(\.\d+)?$"


@dataclass(frozen=True, slots=True)
class NumberCount:
    """What one part of the people gave: `different` numbers, and their summary. When these are few, `choices` has the
    people who gave each, and under '' all of them; otherwise it is empty."""

    different: int
    choices: Mapping[str, int]
    spread: Spread

    @property
    def people(self) -> int:
        return self.spread.middle.people


def asked_for(questions: Iterable[AskedQuestion]) -> list[UUID]:
    return [one.key for one in questions if one.type == "number"]


def told_apart(counted: Mapping[K, NumberCount]) -> tuple[dict[K, dict[str, int]], dict[K, Spread]]:
    """People by choice where different numbers are few, and the spreads of the others."""
    few = {key: dict(one.choices) for key, one in counted.items() if one.choices}
    return few, {key: one.spread for key, one in counted.items() if not one.choices}


async def of_versions(db: AsyncSession, scope: TallyScope, asked: Collection[AskedIn]) -> dict[AskedIn, NumberCount]:
    """By version and question. No statement when none is asked for."""
    return await read(db, _by_version(tallies.answers(scope, asked)), MOST_BARS) if asked else {}


async def up_to_the_mark(db: AsyncSession, scope: TallyScope, asked: Collection[AskedIn]) -> dict[AskedIn, NumberCount]:
    """The same without what came after the mark of the tallies."""
    return await read(db, _by_version(tallies.kept_answers(scope, asked)), MOST_BARS) if asked else {}


def _by_version(answers: Select[Any]) -> Select[Any]:
    given = answers.subquery().c
    return select(given.version.label("part"), given.question_key, given.choice, given.people)


async def read(db: AsyncSession, given: Select[Any], most: int) -> dict[tuple[Any, UUID], NumberCount]:
    """By part and question. `given` has part, question_key, choice and people, not summed; up to `most` different
    numbers count as few."""
    rows: dict[tuple[Any, UUID], list[Any]] = defaultdict(list)
    for row in await db.execute(_counted(given, most)):
        rows[row.part, row.question_key].append(row)
    return {key: _count(found, most) for key, found in rows.items()}


def _counted(given: Select[Any], most: int) -> Select[Any]:
    """A row for each range with people. With an even number of people the median lies between `lower` and `upper`."""
    placed = _placed(given)
    one = placed.c
    place = func.least(func.div((one.value - one.lowest) * RANGES, one.highest - one.lowest), RANGES - 1)
    keys = one.part, one.question_key, case((one.highest > one.lowest, place), else_=0).label("range")
    return select(
        *keys,
        func.sum(one.people).label("people"),
        func.sum(one.people * one.value).label("total"),
        func.count().label("different"),
        func.min(one.value).label("lowest"),
        func.max(one.value).label("highest"),
        func.bool_and(one.value == func.trunc(one.value)).label("is_whole"),
        func.min(one.value).filter(one.upto > func.div(one.everybody - 1, 2)).label("lower"),
        func.min(one.value).filter(one.upto > func.div(one.everybody, 2)).label("upper"),
        func.jsonb_object_agg(one.choice, one.people).filter(one.place <= most).label("numbers"),
    ).group_by(*keys)


def _placed(given: Select[Any]) -> Subquery:
    """Each different number with its place, and how many people have it or a lower one."""
    every = given.subquery()
    keys = every.c.part, every.c.question_key, every.c.choice
    people = func.sum(every.c.people)
    value = case((every.c.choice.regexp_match(_NUMBER), cast(every.c.choice, Numeric)))
    summed = select(*keys, value.label("value"), people.label("people")).group_by(*keys).having(people > 0).subquery()
    one, part = summed.c, (summed.c.part, summed.c.question_key)
    return (
        select(
            *one,
            func.row_number().over(partition_by=part, order_by=one.value).label("place"),
            func.sum(one.people).over(partition_by=part, order_by=one.value, rows=(None, 0)).label("upto"),
            func.sum(one.people).over(partition_by=part).label("everybody"),
            func.min(one.value).over(partition_by=part).label("lowest"),
            func.max(one.value).over(partition_by=part).label("highest"),
        )
        .where(one.value.is_not(None))
        .subquery()
    )


def _count(rows: Sequence[Any], most: int) -> NumberCount:
    people, different = sum(int(row.people) for row in rows), sum(row.different for row in rows)
    lower, upper = (min(one for row in rows if (one := getattr(row, name)) is not None) for name in ("lower", "upper"))
    ranges = [0] * RANGES
    for row in rows:
        ranges[int(row.range)] = int(row.people)
    middle = Middle(
        people,
        mean(sum((row.total for row in rows), Decimal(0)), people) or Decimal("0.00"),
        halfway(lower, upper),
        min(row.lowest for row in rows),
        max(row.highest for row in rows),
    )
    each = {choice: number for row in rows for choice, number in (row.numbers or {}).items()}
    spread = Spread(middle, tuple(ranges), is_whole=all(row.is_whole for row in rows))
    return NumberCount(different, {"": people, **each} if different <= most else {}, spread)
