"""What people chose in several versions of a survey, for a comparison."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.results import anonymous, number_counts, tallies
from app.surveys.results.breakdowns import Breakdown, Spread, breakdown, spread_out
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope


@dataclass(frozen=True, slots=True)
class ChoicesByVersion:
    """By version and question: people by choice; for very many different numbers, their spreads instead."""

    choices: Mapping[tuple[int, UUID], Mapping[str, int]]
    spreads: Mapping[tuple[int, UUID], Spread]

    def breakdown(self, question: AskedQuestion, version: int) -> Breakdown:
        key = version, question.key
        spread = self.spreads.get(key)
        return spread_out(question, spread) if spread else breakdown(question, self.choices.get(key, {}))


async def read(
    db: AsyncSession, survey: Any, versions: Collection[int], questions: Sequence[AskedQuestion]
) -> ChoicesByVersion:
    """For any survey, a row of `surveys`."""
    found: dict[tuple[int, UUID], dict[str, int]] = defaultdict(dict)
    numbers = number_counts.asked_for(questions)
    if survey.anonymity == "anonymous":
        chosen = [one.key for one in questions if one.type not in ("free_text", "number")]
        rows = await anonymous.choices_by_version(db, survey.id, versions, chosen)
        counted = await anonymous.numbers_by_version(db, survey.id, versions, numbers)
    else:
        rows = (await db.execute(tallies.by_version(survey.id, versions, numbers))).all()
        counted = await number_counts.of_versions(db, TallyScope(survey.id), numbers, versions)
    for version, question, choice, people in rows:
        found[version, question][choice] = people
    few, spreads = number_counts.told_apart(counted)
    return ChoicesByVersion({**found, **few}, spreads)
