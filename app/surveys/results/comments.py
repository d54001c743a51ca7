"""What people wrote: free texts of one version, newest first, searched and narrowed by the other answers of those
people.

Texts are sealed under the key of each person, so a search opens them one by one. It reads MOST_READ at most and says
where it stopped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, exists, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.models import Answer, Response
from app.surveys.results import queries
from app.surveys.results.tallies import TallyScope

PER_PAGE = 25
STEP = 200
MOST_READ = 2000
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CommentSearch:
    """`scope` names survey and version, and may name an answer. `question`: only the texts of one question. `before`:
    below this number of the ledger. `text` is what must occur in them, "" for anything."""

    scope: TallyScope
    question: UUID | None = None
    text: str = ""
    before: int | None = None

    def matching(self, texts: Texts) -> Texts:
        """The matching texts, by question id."""
        wanted = self.text.casefold()
        return {
            key: text
            for key, text in texts.items()
            if (self.question is None or key == str(self.question)) and wanted in text.casefold()
        }


@dataclass(frozen=True, slots=True)
class FoundComments:
    """Rows of the ledger with their matching texts. `older` is where the next page begins, None at the end; `is_cut`:
    the search stopped after MOST_READ responses."""

    rows: Sequence[tuple[Any, Texts]]
    older: int | None
    is_cut: bool = False


async def find(db: AsyncSession, wanted: CommentSearch, texts_of: Callable[[Any], Texts]) -> FoundComments:
    """One page. `texts_of` opens the texts of a row. It looks for one more than a page, to know if there are older
    ones."""
    found: list[tuple[Any, Texts]] = []
    before = wanted.before
    for _ in range(MOST_READ // STEP):
        rows = await _rows(db, wanted, before)
        for row in rows:
            before = row.number
            if texts := wanted.matching(texts_of(row)):
                found.append((row, texts))
            if len(found) > PER_PAGE:
                return FoundComments(found[:PER_PAGE], found[PER_PAGE - 1][0].number)
        if len(rows) < STEP:
            return FoundComments(found, None)
    return FoundComments(found, before, is_cut=True)


async def _rows(db: AsyncSession, wanted: CommentSearch, before: int | None) -> Sequence[Any]:
    answered = exists(
        select(Answer.number).where(Answer.number == Response.number, Answer.question_key == wanted.question)
    )
    which = and_(
        wanted.scope.responses(),
        Response.has_text,
        queries.not_erased(),
        answered if wanted.question else true(),
        Response.number < before if before is not None else true(),
    )
    newest = select(Response.number).where(which).order_by(Response.number.desc()).limit(STEP)
    return list(await db.execute(queries.ROWS.where(Response.number.in_(newest)).order_by(Response.number.desc())))
