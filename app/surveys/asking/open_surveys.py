"""All surveys that a person may answer now; pacing does not matter: what *Questions for you* lists, and how many there
are.

Nothing here counts an impression: pacing limits interruptions, and these people came by themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Text, any_, bindparam, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Compiled, driver
from app.db.session import PLATFORM
from app.surveys.asking import opting_out
from app.surveys.asking import queue as asking
from app.surveys.asking.queue import NOW, Standing
from app.surveys.asking.respondent import Respondent, Transactions
from app.surveys.asking.situations import Situation
from app.surveys.item import Item
from app.surveys.ledger import people
from app.surveys.models import Response, Survey

_survey, _row = Survey.__table__, Response.__table__
# The answerable cases of pacing.CASES once more, for the number alone. A test compares both.
_NUMBERS: tuple[Any, ...] = (
    func.count().label("open"),
    func.count().filter(_survey.c.enforcement == text("'required'")).label("required"),
)
_COUNT = Compiled(
    select(*_NUMBERS).where(
        _survey.c.status == text("'published'"),
        _survey.c.deleted_at.is_(None),
        or_(_survey.c.starts_at.is_(None), _survey.c.starts_at <= NOW),
        or_(_survey.c.ends_at.is_(None), _survey.c.ends_at > NOW),
        or_(_survey.c.user_types == text("'{}'"), bindparam("type", type_=Text()) == any_(_survey.c.user_types)),
        or_(_survey.c.tenants == text("'{}'"), bindparam("workspace", type_=Text()) == any_(_survey.c.tenants)),
        ~opting_out.at_all(_survey, _row, people.number()),
    )
)


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page of what a person may answer now, most urgent first, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class OpenCount:
    """How many surveys a person may answer now, and how many of these are required."""

    open: int
    required: int


async def look_over(who: Respondent, within: Transactions, skip: int, most: int) -> OpenPage:
    """At most `most` of them, after the first `skip`. It notes nothing."""

    async def note_nothing(db: AsyncSession, first: Situation | None, others: Sequence[Situation]) -> None:
        """Only the titles are shown."""

    return await _page(who, within, datetime.now(UTC), (skip, most), note_nothing)


async def hand_out(who: Respondent, within: Transactions, skip: int, most: int) -> OpenPage:
    """The same, with a note that they were handed out to the person, which is not an impression."""
    now = datetime.now(UTC)

    async def note(db: AsyncSession, first: Situation | None, others: Sequence[Situation]) -> None:
        await note_handed_out(db, who, [one for one in (first, *others) if one], now)

    return await _page(who, within, now, (skip, most), note)


async def note_handed_out(db: AsyncSession, who: Respondent, some: Sequence[Situation], now: datetime) -> None:
    """So answers to these surveys later say that the person had them before."""
    news = [one for one in some if one.state.shown == "not_handed_out"]
    if news:
        await asking.hand_out(db, who.user_id, None, news, now)


async def _page(
    who: Respondent, within: Transactions, now: datetime, part: tuple[int, int], note: asking.Note
) -> OpenPage:
    skip, most = part
    total = 0

    def choose(known: Standing) -> Sequence[Situation]:
        nonlocal total
        every = asking.open_ones(who, known, now)
        total = len(every)
        return every[skip : skip + most]

    _, items = await asking.meet(who, within, now, choose, note)
    return OpenPage(items, total)


async def count(who: Respondent, within: Transactions) -> OpenCount:
    """One statement in each workspace that asks the person."""
    now = datetime.now(UTC)
    found = [] if who.on_platform else [await _count(within.db, who, now)]
    async with within.inside(PLATFORM) as db:
        found.append(await _count(db, who, now))
    return OpenCount(sum(one.open for one in found), sum(one.required for one in found))


async def _count(db: AsyncSession, who: Respondent, now: datetime) -> OpenCount:
    given = {"user": who.user_id, "type": who.caller.type, "workspace": who.workspace, "now": now}
    row = await _COUNT.row(driver(db), given)
    return OpenCount(row.open, row.required)
