"""What one version of a survey came to: its figures, read and set against its questions."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.models import WHOLE
from app.surveys.results import tallies
from app.surveys.results.breakdowns import Results, results
from app.surveys.results.figures import AskedQuestion, Reading
from app.surveys.results.tallies import ASKED, TallyScope


async def read(db: AsyncSession, *, scope: TallyScope, questions: Sequence[AskedQuestion]) -> Results:
    figures = [tuple(row) for row in await db.execute(tallies.figures(scope))]
    return results(figures, questions, Reading(WHOLE, ASKED, scope.outcomes, scope.days))
