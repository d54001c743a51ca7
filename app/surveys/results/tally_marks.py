"""The marks up to which the tallies have counted: moving them towards the head of the ledger,
and counting surveys again.

Reading what is counted, and what comes after the marks: tallies.py.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, ColumnElement, Row, and_, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Compiled, driver
from app.surveys.models import KeptNumbers, LedgerChange, LedgerHead, PromptState, Response, Tally, TallyMark
from app.surveys.results.tally_rows import COLUMNS, COUNTS, change_rows, impression_rows, response_rows

# Every reader counts so many live, in some milliseconds.
LONGEST_TAIL = 2000
# Rows that one transaction counts, in about a second.
STEP = 50_000
# After so long, impressions of slow transactions, or of servers whose clock is behind, have arrived.
SETTLED = timedelta(minutes=10)
MARK = select(TallyMark.number).scalar_subquery()
CHANGES_MARK = select(TallyMark.changes_number).scalar_subquery()
HEAD = select(LedgerHead.number).scalar_subquery()
SHOWN_UNTIL = select(TallyMark.shown_until).scalar_subquery()


async def is_due(db: AsyncSession) -> bool:
    """True when so much came after the mark that readers would notice."""
    return bool((await _DUE.row(driver(db), {"longest": LONGEST_TAIL})).due)


def _due() -> ColumnElement[bool]:
    longest = bindparam("longest", type_=BigInteger)
    settled = (
        select(PromptState.survey_id)
        .where(PromptState.first_shown_at >= SHOWN_UNTIL, PromptState.first_shown_at < func.now() - SETTLED)
        .limit(longest + 1)
        .subquery()
    )
    impressions = select(func.count()).select_from(settled).scalar_subquery()
    tail = select(LedgerHead.number - CHANGES_MARK).scalar_subquery()
    return (tail > longest) | (impressions > longest)


_DUE = Compiled(select(_due().label("due")))


async def count_up(db: AsyncSession) -> int:
    """Moves the mark by up to STEP rows towards the head, and over the settled impressions. Returns how many rows.

    Two at once go one after the other. The ledger has no gaps and its head is written with the row, so every row up to
    the head that is read here is committed.
    """
    mark = await _locked(db)
    until = max(mark.shown_until, mark.now - SETTLED)
    head = await db.scalar(select(LedgerHead.number)) or 0
    number = min(head, mark.number + STEP)
    await _keep(
        db,
        and_(Response.number > mark.number, Response.number <= number),
        and_(LedgerChange.number > mark.changes_number, LedgerChange.number <= number),
        and_(PromptState.first_shown_at >= mark.shown_until, PromptState.first_shown_at < until),
    )
    await db.execute(update(TallyMark).values(number=number, changes_number=number, shown_until=until))
    return int(number - mark.number)


async def recount(db: AsyncSession, survey_ids: Collection[int]) -> None:
    """Counts surveys again up to the mark, in the transaction that put rows of theirs under a tombstone."""
    mark = await _locked(db)
    for counted in (Tally, KeptNumbers):
        await db.execute(delete(counted).where(counted.survey_id.in_(survey_ids)))
    await _keep(
        db,
        and_(Response.survey_id.in_(survey_ids), Response.number <= mark.number),
        and_(Response.survey_id.in_(survey_ids), LedgerChange.number <= mark.changes_number),
        and_(PromptState.survey_id.in_(survey_ids), PromptState.first_shown_at < mark.shown_until),
    )


async def hold(db: AsyncSession) -> None:
    """Until the transaction ends, the tallies stay as they are: nothing is added, and nothing is counted again."""
    await db.execute(select(TallyMark.id).with_for_update(read=True))


async def _locked(db: AsyncSession) -> Row[int, int, datetime, datetime]:
    return (
        await db.execute(
            select(
                TallyMark.number, TallyMark.changes_number, TallyMark.shown_until, func.now().label("now")
            ).with_for_update()
        )
    ).one()


async def _keep(
    db: AsyncSession, responses: ColumnElement[bool], changes: ColumnElement[bool], impressions: ColumnElement[bool]
) -> None:
    for counted in (
        *response_rows(and_(responses, COUNTS)),
        *change_rows(and_(changes, COUNTS)),
        impression_rows(impressions),
    ):
        statement = insert(Tally).from_select(COLUMNS, counted)
        added = {name: getattr(Tally, name) + statement.excluded[name] for name in ("people", "unprompted")}
        await db.execute(statement.on_conflict_do_update(index_elements=COLUMNS[:6], set_=added))
