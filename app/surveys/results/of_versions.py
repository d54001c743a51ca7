"""What people chose in several versions of a survey, for a comparison."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import plan_each
from app.surveys.results import anonymous, kept_numbers, number_counts, tallies
from app.surveys.results.breakdowns import Breakdown, Spread, breakdown, spread_out
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.kept_numbers import NO_NUMBERS, CountedNumbers
from app.surveys.results.number_counts import NumberCount
from app.surveys.results.tallies import AskedIn, TallyScope


@dataclass(frozen=True, slots=True)
class ChoicesByVersion:
    """By version and question: people by choice; for many different numbers, their spreads instead, and for very many
    what was counted in the background. It should count the versions in `due`."""

    choices: Mapping[AskedIn, Mapping[str, int]]
    spreads: Mapping[AskedIn, Spread]
    numbers: CountedNumbers = NO_NUMBERS

    @property
    def due(self) -> Collection[int]:
        return self.numbers.due

    def breakdown(self, question: AskedQuestion, version: int) -> Breakdown:
        key = version, question.key
        spread = self.spreads.get(key)
        found = spread_out(question, spread) if spread else breakdown(question, self.choices.get(key, {}))
        return self.numbers.completed(version, found)


async def read(
    db: AsyncSession, survey: Any, versions: Sequence[int], questions: Sequence[AskedQuestion]
) -> ChoicesByVersion:
    """For any survey, a row of `surveys`."""
    await plan_each(db)
    found: dict[AskedIn, dict[str, int]] = defaultdict(dict)
    numbers, kept = number_counts.asked_for(questions), NO_NUMBERS
    counted: Mapping[AskedIn, NumberCount]
    if survey.anonymity == "anonymous":
        chosen = [one.key for one in questions if one.type not in ("free_text", "number")]
        rows = await anonymous.choices_by_version(db, survey.id, versions, chosen)
        counted = await anonymous.numbers_by_version(db, survey.id, versions, numbers)
    else:
        others = [one.key for one in questions if one.key not in numbers]
        rows = (await db.execute(tallies.by_version(survey.id, versions, others))).all()
        kept = await kept_numbers.read(db, TallyScope(survey.id), versions, numbers)
        counted = kept.live
    for version, question, choice, people in rows:
        found[version, question][choice] = people
    few, spreads = number_counts.told_apart(counted)
    return ChoicesByVersion({**found, **few}, spreads, kept)
