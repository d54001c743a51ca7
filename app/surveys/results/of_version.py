"""The result of one version of a survey: its figures, read and matched with its questions."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import plan_each
from app.surveys.models import WHOLE
from app.surveys.results import kept_numbers, number_counts, tallies
from app.surveys.results.breakdowns import Results, results
from app.surveys.results.figures import AskedQuestion, Reading
from app.surveys.results.tallies import TallyScope
from app.surveys.results.tally_rows import ASKED


async def read(db: AsyncSession, *, scope: TallyScope, questions: Sequence[AskedQuestion]) -> Results:
    """Numbers are counted apart: with number questions, there are some statements more. `scope` names the version."""
    await plan_each(db)
    numbers, version = number_counts.asked_for(questions), scope.version or 0
    others = [one.key for one in questions if one.key not in numbers]
    figures = [tuple(row) for row in await db.execute(tallies.figures(scope, others))]
    counted = await kept_numbers.read(db, scope, [version], numbers)
    # Their people come from the statement of the numbers: another answer may have come since the first one.
    live = {key for _, key in counted.live}
    figures = [row for row in figures if row[2] not in live]
    for (_, key), one in counted.live.items():
        figures += [(None, "", key, choice, people, 0) for choice, people in one.choices.items()]
    spreads = {key: one.spread for (_, key), one in counted.live.items() if not one.choices}
    found = results(figures, questions, Reading(WHOLE, ASKED, scope.outcomes, scope.days), spreads)
    completed = tuple(counted.completed(version, one) for one in found.questions)
    return replace(found, questions=completed, due=bool(counted.due))
