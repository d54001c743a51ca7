"""The result of one version of a survey: its figures, read and matched with its questions."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.models import WHOLE
from app.surveys.results import number_counts, tallies
from app.surveys.results.breakdowns import Results, results
from app.surveys.results.figures import AskedQuestion, Reading
from app.surveys.results.tallies import TallyScope
from app.surveys.results.tally_rows import ASKED


async def read(db: AsyncSession, *, scope: TallyScope, questions: Sequence[AskedQuestion]) -> Results:
    """Numbers are counted apart: with number questions, there is one statement more."""
    numbers = number_counts.asked_for(questions)
    figures = [tuple(row) for row in await db.execute(tallies.figures(scope, numbers))]
    counted = await number_counts.of_versions(db, scope, numbers)
    for (_, key), one in counted.items():
        figures += [(None, "", key, choice, people, 0) for choice, people in one.choices.items()]
    spreads = {key: one.spread for (_, key), one in counted.items() if not one.choices}
    return results(figures, questions, Reading(WHOLE, ASKED, scope.outcomes, scope.days), spreads)
