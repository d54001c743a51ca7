"""Acts on all rows of a list under a filter: a job walks through the keys of the list, slice by slice, each in a
transaction of its own.

A request only stores the filter, so it costs the same for any number of rows. The position of the walk is saved
together with the slice's changes: when a worker is killed, another one continues there, and nothing is done twice.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Select, delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts import tenants
from app.accounts.audit import Actor
from app.db.session import workspace_of
from app.errors import Invalid, Refusal
from app.long_acts.act_jobs import LISTED_JOB, request_again, request_job
from app.long_acts.acts import ItemOutcome, at_the_end, finish, hold
from app.long_acts.models import LongAct, LongActItem
from app.long_acts.progress import DONE
from app.parts import Parts
from app.texts import instant, is_keepable_line, whole

# So many of the rows that were left are stored by name.
MOST_LEFT = 1000
CHANGED = "changed"
REFUSED = "refused"
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('long acts ' || :workspace, 0))")


class SliceOutcome(NamedTuple):
    """The result of a slice: how many rows the act changed, and which it left, with the reasons."""

    done: int
    left: Mapping[Any, ItemOutcome] = {}


@dataclass(frozen=True, slots=True)
class MeantRows:
    """`keys` selects the keys of the rows under the filter that the act would change, in any order; `carry_out` changes
    some of them."""

    keys: Select[Any]
    key: ColumnElement[Any] | InstrumentedAttribute[Any]
    carry_out: Callable[[Sequence[Any]], Awaitable[SliceOutcome]]
    at_once: int


class ListAct(Protocol):
    """A kind of act over a list. `opened` raises Refusal when the person no longer has the right."""

    async def opened(self, parts: Parts, workspace: str, db: AsyncSession, act: LongAct) -> MeantRows: ...


# As `ListAct.opened`.
Open = Callable[[AsyncSession, LongAct], Awaitable[MeantRows]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for: `query` is the filter in the address, `url` the list's address. `what` is for the
    work, and `by` is who asked from where, for the audit. Keys beyond `last` are not meant; `total` None: it must be
    counted. `seen`: when the person saw the question, None when no page asked."""

    kind: str
    url: str
    query: str
    last: Any
    total: int | None
    what: Mapping[str, Any] = field(default_factory=dict)
    by: Mapping[str, Any] = field(default_factory=dict)
    seen: datetime | None = None


async def begin(db: AsyncSession, actor: Actor, asked: Asked) -> int:
    """Stores what is meant and asks for the job. Returns the act's id. When the same act is current, that one begins
    again at the list's first row and includes new rows."""
    await db.execute(_ONE_BY_ONE, {"workspace": workspace_of(db)})
    same = (
        LongAct.kind == asked.kind,
        LongAct.list_query == asked.query,
        LongAct.arguments["url"].astext == asked.url,
        LongAct.arguments["what"] == dict(asked.what),
    )
    is_open = (LongAct.finished_at.is_(None), LongAct.stop_requested.is_(False), LongAct.actor_id == actor.id)
    act = await db.scalar(select(LongAct).where(*same, *is_open).with_for_update())
    if act is None:
        arguments = {"url": asked.url, "what": dict(asked.what), "by": dict(asked.by)}
        who = {"actor_id": actor.id, "actor_name": actor.name}
        act = LongAct(kind=asked.kind, list_query=asked.query, arguments=arguments, emp_codes=[], counts={}, **who)
        db.add(act)
    else:
        await _forget_left(db, act)
    now: datetime = (await db.execute(select(func.now()))).scalar_one()
    act.arguments = {**act.arguments, "asked_at": instant(now), "seen_at": instant(asked.seen or now)}
    act.last_key, act.reached = _told(asked.last), None
    act.total = None if asked.total is None else asked.total + sum(act.counts.values())
    await db.flush()
    await request_job(db, LISTED_JOB, act.id)
    return act.id


def asked_at(act: LongAct) -> datetime:
    """When it was begun, or begun again. Acts of older versions stored only the first time."""
    told = act.arguments.get("asked_at")
    return datetime.fromisoformat(told) if told else act.begun_at


def seen_at(act: LongAct) -> datetime:
    """When the person saw the question that they answered: rows that changed since are left."""
    told = act.arguments.get("seen_at")
    return datetime.fromisoformat(told) if told else asked_at(act)


async def _forget_left(db: AsyncSession, act: LongAct) -> None:
    """The rows that were left are tried once more."""
    await db.execute(delete(LongActItem).where(LongActItem.act_id == act.id))
    act.counts = {word: number for word, number in act.counts.items() if word == DONE}


async def carry_on(
    open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]], act_id: int, open_act: Open
) -> None:
    """Does one slice after the other until none is left. It can be killed anywhere and run twice."""
    more = True
    while more:
        async with open_transaction() as db:
            more = await resume(db, act_id, open_act)


async def resume(db: AsyncSession, act_id: int, open_act: Open) -> bool:
    """Does the next slice. True while there is more. Two workers at the same act wait for each other. The act of a
    deactivated tenant continues once the tenant is active again."""
    await hold(db, act_id)
    act = await db.scalar(select(LongAct).where(LongAct.id == act_id).execution_options(populate_existing=True))
    if act is None or act.finished_at is not None:
        return False
    if act.stop_requested:
        await finish(db, act_id)
        return False
    if not await tenants.hold_active(db, workspace_of(db)):
        await request_again(db, LISTED_JOB, act_id)
        return False
    try:
        rows = await open_act(db, act)
        meant = _meant(act, rows)
    except Refusal as refused:
        await finish(db, act_id, refused.message)
        return False
    return await _step(db, act, rows, meant)


def _meant(act: LongAct, rows: MeantRows) -> Select[Any]:
    return rows.keys if act.last_key is None else rows.keys.where(rows.key <= key_of(act.last_key, rows.key))


async def _step(db: AsyncSession, act: LongAct, rows: MeantRows, meant: Select[Any]) -> bool:
    seen = _stand(act)
    if act.total is None:
        total = await db.scalar(select(func.count()).select_from(meant.order_by(None).subquery())) or 0
        act = await at_the_end(db, act.id)
        act.total = total if act.total is None and _stand(act) == seen else act.total
        return True
    if act.reached is not None:
        meant = meant.where(rows.key > key_of(act.reached, rows.key))
    keys = list(await db.scalars(meant.order_by(rows.key).limit(rows.at_once)))
    outcome = await _carried_out(db, rows, keys) if keys else SliceOutcome(0)
    act = await at_the_end(db, act.id)
    if _stand(act) != seen:
        # Begun again meanwhile: it starts over, and tries the rows that were left once more.
        await _note(db, act, SliceOutcome(outcome.done), outcome.done)
        return True
    if not keys:
        await finish(db, act.id)
        return False
    await _note(db, act, outcome, len(keys))
    act.reached = _told(keys[-1])
    return True


def _stand(act: LongAct) -> tuple[str | None, str | None]:
    """Which beginning the walk belongs to, and how far it is."""
    return act.arguments.get("asked_at"), act.reached


async def _carried_out(db: AsyncSession, rows: MeantRows, keys: Sequence[Any]) -> SliceOutcome:
    """Changes the whole slice. If that is refused, it tries one row after the other, so that one refusal does not stop
    other rows."""
    try:
        async with db.begin_nested():
            return await rows.carry_out(keys)
    except Refusal as refused:
        if len(keys) == 1:
            return SliceOutcome(0, {keys[0]: ItemOutcome(REFUSED, refused.message)})
    each = [await _carried_out(db, rows, [key]) for key in keys]
    return SliceOutcome(sum(one.done for one in each), {key: why for one in each for key, why in one.left.items()})


async def _note(db: AsyncSession, act: LongAct, outcome: SliceOutcome, number: int) -> None:
    became = Counter({DONE: outcome.done})
    became.update(why.became for why in outcome.left.values())
    became[CHANGED] += max(0, number - became.total())
    before = Counter(act.counts)
    act.counts = {word: many for word, many in (before + became).items() if many}
    named = sum(many for word, many in before.items() if word not in (DONE, CHANGED))
    items = [
        {"act_id": act.id, "item_id": key, "became": why.became, "note": why.note}
        for key, why in list(outcome.left.items())[: max(0, MOST_LEFT - named)]
        if isinstance(key, int)
    ]
    if items:
        await db.execute(insert(LongActItem), items)


def _told(key: Any) -> str | None:
    return key if key is None else str(key)


def key_of(told: str, column: ColumnElement[Any] | InstrumentedAttribute[Any]) -> Any:
    """A stored key, in the type of the list's key. Raises Invalid for text that can't be a key."""
    key = whole(told, 18) if column.type.python_type is int else told
    if key is None or not is_keepable_line(told):
        raise Invalid("The last row that this act means can't be read. Reload the list, then begin the act again.")
    return key
