"""Who is asked now: the queue of one caller over both workspaces, impressions, and what the web prompt shows.

The caller's own workspace comes first, then the platform, one transaction after the other.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, DateTime, bindparam, case, func, null, or_, select
from sqlalchemy.dialects.postgresql import ARRAY, Insert, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Compiled, driver
from app.db.session import PLATFORM
from app.surveys import languages_shown
from app.surveys.asking import items, pacing, situations
from app.surveys.asking.respondent import Respondent, Transactions
from app.surveys.asking.situations import Published, Situation
from app.surveys.item import Item
from app.surveys.models import PromptState
from app.surveys.words import DEFAULT_SNOOZE_HOURS, MOST_IN_QUEUE

# Per workspace: the first of the queue if it is there, and the rest of the queue that is there.
Note = Callable[[AsyncSession, Situation | None, Sequence[Situation]], Awaitable[None]]

_first = insert(PromptState).values(
    survey_id=bindparam("survey"),
    version=bindparam("version"),
    user_id=bindparam("user"),
    impressions=1,
    first_shown_at=bindparam("now"),
    last_shown_at=bindparam("now"),
    shown_in=bindparam("session"),
)
_KEY = [PromptState.survey_id, PromptState.version, PromptState.user_id]


def _again(more: Insert) -> dict[str, Any]:
    return {
        "impressions": PromptState.impressions + more.excluded.impressions,
        "first_shown_at": func.coalesce(PromptState.first_shown_at, more.excluded.first_shown_at),
        "last_shown_at": func.greatest(PromptState.last_shown_at, more.excluded.last_shown_at),
        "handed_out_at": func.coalesce(PromptState.handed_out_at, more.excluded.handed_out_at),
    }


def _each(name: str) -> ColumnElement[int]:
    return func.unnest(bindparam(name, type_=ARRAY(BigInteger)))


_COUNT = Compiled(_first.on_conflict_do_update(index_elements=_KEY, set_=_again(_first)))
NOW = bindparam("now", type_=DateTime(timezone=True))
_out = select(
    _each("surveys").label("survey"), _each("versions").label("version"), _each("impressions").label("impressions")
).subquery("out")
_counted = case((_out.c.impressions > 0, NOW), else_=null())
_behind = case((_out.c.impressions == 0, NOW), else_=null())
_handed_out = insert(PromptState).from_select(
    ["survey_id", "version", "user_id", "impressions", "first_shown_at", "last_shown_at", "handed_out_at"],
    select(
        _out.c.survey,
        _out.c.version,
        bindparam("user", type_=BigInteger),
        _out.c.impressions,
        _counted,
        _counted,
        _behind,
    ),
)
_HAND_OUT = Compiled(_handed_out.on_conflict_do_update(index_elements=_KEY, set_=_again(_handed_out)))
# Once per sign-in. Sessions are numbered, and an older one that shows it again counts nothing. A snooze starts this
# again.
_COUNT_ONCE = _first.on_conflict_do_update(
    index_elements=_KEY,
    set_={**_again(_first), "shown_in": _first.excluded.shown_in},
    where=or_(
        func.coalesce(PromptState.shown_in, 0) < _first.excluded.shown_in,
        PromptState.snoozed_until > PromptState.last_shown_at,
    ),
)
_put_off = insert(PromptState).values(
    survey_id=bindparam("survey"),
    version=bindparam("version"),
    user_id=bindparam("user"),
    snoozed_until=bindparam("until"),
)
_still = PromptState.snoozed_until > bindparam("now")
_SNOOZE = _put_off.on_conflict_do_update(
    index_elements=_KEY,
    set_={"snoozed_until": case((_still, PromptState.snoozed_until), else_=_put_off.excluded.snoozed_until)},
).returning(PromptState.snoozed_until)


@dataclass(frozen=True, slots=True)
class Pending:
    """The first surveys of the queue, most urgent first; `total` counts all that may be shown, before this call's
    impression."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Current:
    """What the prompt shows, None when nothing is waiting. It is `number` of `total`, including those that were
    answered; `open` counts what the person may answer now, without pacing."""

    item: Item | None
    number: int
    total: int
    open: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Every published survey of both workspaces, as it stands for the caller; `line` is what may be shown, in order."""

    situations: tuple[Situation, ...]
    line: tuple[Situation, ...]


async def pending(who: Respondent, within: Transactions) -> Pending:
    """The caller's queue. Counts one impression of its first survey, and notes that the others were handed out behind
    it."""
    now = datetime.now(UTC)

    async def note(db: AsyncSession, first: Situation | None, others: Sequence[Situation]) -> None:
        news = [one for one in others if one.state.shown == "not_handed_out"]
        if news:
            await hand_out(db, who.user_id, first, news, now)
        elif first:
            await count_impression(db, who.user_id, first, now)

    known, items = await meet(who, within, now, lambda known: known.line[:MOST_IN_QUEUE], note)
    return Pending(items, len(known.line))


async def current(who: Respondent, within: Transactions, *, counting: bool = True) -> Current:
    """What the prompt of this browser session shows.

    It stays until the person acts on it, and counts one impression per sign-in; an optional survey waits behind a
    required one.
    """
    now, session = datetime.now(UTC), who.session_id

    async def note(db: AsyncSession, first: Situation | None, _: Sequence[Situation]) -> None:
        if first and counting and not pacing.is_in_view(first.state, session):
            await count_sign_in(db, who.user_id, first, now, session)

    known, items = await meet(who, within, now, lambda known: _in_view(who, known, now) or known.line[:1], note)
    answerable = len(open_ones(who, known, now))
    if not items:
        return Current(None, 0, 0, answerable)
    others = [one for one in known.line if one.offer.uid != items[0].survey]
    acted_on = sum(_acted_on(one, session) for one in known.situations)
    return Current(items[0], acted_on + 1, acted_on + 1 + len(others), answerable)


def open_ones(who: Respondent, known: Standing, now: datetime) -> list[Situation]:
    """Every survey that the caller may answer now and their app can show, in the order of the queue, without pacing."""
    shown = _shown_by(who, known.situations)
    return _in_order([one for one in shown if pacing.is_answerable(one.offer, one.state, who.caller, now)])


async def count_impression(db: AsyncSession, user_id: int, shown: Situation, now: datetime) -> None:
    """Adds one; others may count at the same time."""
    await _COUNT.row(driver(db), {**_key(user_id, shown), "now": now, "session": None})


async def hand_out(
    db: AsyncSession, user_id: int, first: Situation | None, behind: Sequence[Situation], now: datetime
) -> None:
    """One statement counts an impression of the first, and notes that the others were handed out behind it; others may
    count at the same time. Rows are taken in one order, so that two calls at once never wait for each other."""
    rows = sorted(
        [(one.id, one.offer.version, 0) for one in behind] + ([(first.id, first.offer.version, 1)] if first else [])
    )
    surveys, versions, impressions = zip(*rows, strict=True)
    given = {"surveys": surveys, "versions": versions, "impressions": impressions}
    await _HAND_OUT.row(driver(db), {**given, "user": user_id, "now": now})


async def count_sign_in(db: AsyncSession, user_id: int, shown: Situation, now: datetime, session: int) -> None:
    """Adds one, unless this browser session has counted already; remembers that the session shows this survey."""
    await db.execute(_COUNT_ONCE, {**_key(user_id, shown), "now": now, "session": session})


async def note_language(db: AsyncSession, met: Situation, item: Item) -> None:
    """Notes the language if the person is the first to see this version in it. From then on its texts are content."""
    if item.is_first_in:
        await languages_shown.note(db, met.id, item.version, item.language)


async def snooze(db: AsyncSession, user_id: int, asked: Situation, now: datetime) -> datetime:
    """Puts it off and returns until when. If it is put off already, the same instant."""
    until = now + timedelta(hours=asked.offer.snooze_hours or DEFAULT_SNOOZE_HOURS)
    deadline: datetime | None = await db.scalar(_SNOOZE, {**_key(user_id, asked), "until": until, "now": now})
    return deadline or until


async def meet(
    who: Respondent, within: Transactions, now: datetime, choose: Callable[[Standing], Sequence[Situation]], note: Note
) -> tuple[Standing, tuple[Item, ...]]:
    """Reads both workspaces, and the words of what was chosen; notes the choice where the survey was written."""
    found: dict[int, Item] = {}
    own = None if who.on_platform else await _read(who, within.db, now)
    async with within.inside(PLATFORM) as db:
        platform = await _read(who, db, now)
        known = _known(who, now, *(one for one in (own, platform) if one))
        chosen = choose(known)
        found |= await _present(db, chosen, (PLATFORM, who.languages), note)
    if not who.on_platform:
        found |= await _present(within.db, chosen, (who.workspace, who.languages), note)
    return known, tuple(found[id(one)] for one in chosen if id(one) in found)


async def _present(
    db: AsyncSession, chosen: Sequence[Situation], where: tuple[str, tuple[str, ...]], note: Note
) -> dict[int, Item]:
    """The words of the surveys of this workspace, in the person's languages. A survey that was removed meanwhile is
    missing, and nothing is noted."""
    workspace, languages = where
    here = [one for one in chosen if one.offer.workspace == workspace]
    words = await items.read(db, [one.id for one in here], languages)
    there = [one for one in here if one.id in words]
    first = there[0] if there and there[0] is chosen[0] else None
    await note(db, first, [one for one in there if one is not first])
    for one in there:
        await note_language(db, one, words[one.id])
    return {id(one): words[one.id] for one in there}


async def _read(who: Respondent, db: AsyncSession, now: datetime) -> Published:
    return await situations.published(db, who.user_id, now, who.gap_hours)


def _known(who: Respondent, now: datetime, *read: Published) -> Standing:
    every = tuple(chain.from_iterable(part.situations for part in read))
    gap = situations.gap(who.gap_hours, *read)
    caller = who.caller
    # Lists, not generators: with two hundred surveys, generators take a tenth of the whole call.
    asked = [one for one in _shown_by(who, every) if pacing.is_promptable(one.offer, one.state, caller, now, gap)]
    return Standing(every, tuple(_in_order(asked)))


def _shown_by(who: Respondent, some: Sequence[Situation]) -> Sequence[Situation]:
    """The surveys that their app, or the portal, can show."""
    return some if who.can is None else [one for one in some if not one.offer.needs or who.can_show(one.offer.needs)]


def _in_order(some: Sequence[Situation]) -> list[Situation]:
    by_uid = {one.offer.uid: one for one in some}
    return [by_uid[offer.uid] for offer in pacing.queue([one.offer for one in by_uid.values()])]


def _in_view(who: Respondent, known: Standing, now: datetime) -> Sequence[Situation]:
    """What this session shows already and may still be answered; pacing no longer matters for it."""
    shown = [one for one in known.situations if pacing.is_in_view(one.state, who.session_id)]
    no_gap = pacing.Gap()
    still = [one for one in shown if pacing.judge(one.offer, one.state, who.caller, now, no_gap).answerable]
    first = known.line[0].offer if known.line else None
    return [one for one in still if not pacing.gives_way(one.offer, first)][:1]


def _acted_on(one: Situation, session: int) -> bool:
    return one.state.shown_in == session and (one.state.outcome is not None or pacing.is_put_off(one.state))


def _key(user_id: int, asked: Situation) -> dict[str, int]:
    return {"survey": asked.id, "version": asked.offer.version, "user": user_id}
