"""Acts on rows that are named: they are noted first, then carried out in slices. What an act does: its work.

Up to INLINE_LIMIT items are done in the transaction that asked. More are left to a job, which any worker can resume: an
item that has a result is not touched again. So nothing here depends on how often a slice is tried.

A slice holds an advisory lock of its act all the time, and the act's row only at its end. So a person who stops or
joins an act never waits for a slice.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Select, TextualSelect, func, insert, literal, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.db.session import workspace_of
from app.errors import Conflict
from app.long_acts import act_jobs
from app.long_acts.act_jobs import NAMED_JOB, UNNAMED_JOB
from app.long_acts.models import LongAct, LongActItem
from app.long_acts.progress import Progress, items_of, read

INLINE_LIMIT = 1000
SLICE = 200
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('long act ' || :workspace || ' ' || :act, 0))")
_NOTE_ITEMS = text(
    "UPDATE clock_long_act_items i SET became = g.became, note = g.note"
    " FROM unnest(CAST(:ids AS bigint[]), CAST(:words AS text[]), CAST(:notes AS text[])) AS g (id, became, note)"
    " WHERE i.act_id = :act AND i.item_id = g.id"
)


class ItemOutcome(NamedTuple):
    """The result of one item: DONE, or why it was left. `note` explains it in a sentence if the word is not enough."""

    became: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LongActWork:
    """What a person asked for, in the form that the act's work needs."""

    id: int
    kind: str
    emp_codes: tuple[str, ...]
    host_employee_id: int | None
    actor: Actor


Items = TextualSelect | Select[int]
Work = Callable[[AsyncSession, LongActWork, Sequence[int]], Awaitable[Mapping[int, ItemOutcome]]]
# Selects (`id`) the items of an act that began without naming them: those up to the id that was the last one then.
Naming = Callable[[LongActWork, int], Items]


async def note(
    db: AsyncSession,
    actor: Actor,
    kind: str,
    items: Items,
    *,
    emp_codes: Iterable[str] = (),
    host_employee_id: int | None = None,
) -> LongActWork:
    """Stores the items that are meant: the ids (`id`) that `items` selects now."""
    act = await _write(db, actor, kind, emp_codes=sorted(emp_codes), host_employee_id=host_employee_id)
    await _name(db, act.id, items)
    return act


async def note_unnamed(
    db: AsyncSession, actor: Actor, kind: str, last: int, *, emp_codes: Iterable[str], host_employee_id: int | None
) -> LongActWork:
    """Leaves the naming of the items to the job too, when they are too many for a request. `last`: the last id that is
    meant."""
    codes = sorted(emp_codes)
    return await _write(db, actor, kind, emp_codes=codes, host_employee_id=host_employee_id, last_key=str(last))


async def _write(db: AsyncSession, actor: Actor, kind: str, **values: Any) -> LongActWork:
    by = {"actor_id": actor.id, "actor_name": actor.name}
    act_id = (await db.execute(insert(LongAct).values(kind=kind, **by, **values).returning(LongAct.id))).scalar_one()
    return LongActWork(act_id, kind, tuple(values["emp_codes"]), values["host_employee_id"], actor)


async def _name(db: AsyncSession, act_id: int, items: Items) -> None:
    rows = select(literal(act_id), items.subquery().c.id)
    named = insert(LongActItem).from_select([LongActItem.act_id, LongActItem.item_id], rows).returning(1)
    total = select(func.count()).select_from(named.cte())
    await db.execute(update(LongAct).where(LongAct.id == act_id).values(total=total.scalar_subquery()))


async def start(db: AsyncSession, act: LongActWork, work: Work, most: int | None = None) -> Progress:
    """Does the act at once when it has at most `most` items (INLINE_LIMIT); otherwise asks for the job that does it."""
    progress = await read(db, act.id)
    if not progress.counted or progress.total > (INLINE_LIMIT if most is None else most):
        await act_jobs.request_job(db, NAMED_JOB if progress.counted else UNNAMED_JOB, act.id)
        return progress
    await _step(db, act, work, INLINE_LIMIT)
    return await read(db, act.id)


async def resume(
    db: AsyncSession, act_id: int, works: Mapping[str, Work], namings: Mapping[str, Naming] | None = None
) -> bool:
    """Does the next slice. True while there is more. Two workers at the same act wait for each other."""
    await hold(db, act_id)
    row = await db.scalar(select(LongAct).where(LongAct.id == act_id).execution_options(populate_existing=True))
    if row is None or row.finished_at is not None:
        return False
    if row.stop_requested:
        await finish(db, act_id)
        return False
    actor = Actor(row.actor_id, row.actor_name)
    act = LongActWork(row.id, row.kind, tuple(row.emp_codes), row.host_employee_id, actor)
    if row.last_key is not None and row.total is None:
        await _name(db, act_id, (namings or {})[act.kind](act, int(row.last_key)))
        return True
    return await _step(db, act, works[act.kind], SLICE)


async def hold(db: AsyncSession, act_id: int) -> None:
    """Until the end of the transaction, no other slice of this act runs."""
    await db.execute(_ALONE, {"workspace": workspace_of(db), "act": str(act_id)})


async def _step(db: AsyncSession, act: LongActWork, work: Work, most: int) -> bool:
    waiting = select(LongActItem.item_id).where(LongActItem.act_id == act.id, LongActItem.became.is_(None))
    ids = list(await db.scalars(waiting.order_by(LongActItem.item_id).limit(most)))
    if ids:
        answers = await work(db, act, ids)
        words, notes = zip(*(answers[one] for one in ids), strict=True)
        await db.execute(_NOTE_ITEMS, {"act": act.id, "ids": ids, "words": list(words), "notes": list(notes)})
        await _count(db, act.id, ids, Counter(words))
    if await db.scalar(waiting.limit(1)) is not None:
        return True
    await finish(db, act.id)
    return False


async def _count(db: AsyncSession, act_id: int, ids: Sequence[int], became: Counter[str]) -> None:
    """Adds a slice to the counts. A worker of an older version writes only items, so after such a worker all items are
    counted."""
    row = await at_the_end(db, act_id)
    if row.total is None or row.reached != await _last_before(db, act_id, ids[0]):
        items = await items_of(db, act_id)
        row.total, row.counts = sum(items.values()), {word: number for word, number in items.items() if word}
    else:
        row.counts = dict(Counter(row.counts) + became)
    row.reached = str(ids[-1])
    await db.flush()


async def _last_before(db: AsyncSession, act_id: int, item_id: int) -> str | None:
    """The item before this one with a result: items get their results in the order of their ids."""
    before = (LongActItem.act_id == act_id, LongActItem.item_id < item_id)
    last = await db.scalar(select(func.max(LongActItem.item_id)).where(*before))
    return None if last is None else str(last)


async def at_the_end(db: AsyncSession, act_id: int) -> LongAct:
    """The act as it is now, locked for the short rest of the slice."""
    newest = select(LongAct).where(LongAct.id == act_id).with_for_update().execution_options(populate_existing=True)
    return (await db.scalars(newest)).one()


async def finish(db: AsyncSession, act_id: int, problem: str | None = None) -> None:
    await db.execute(update(LongAct).where(LongAct.id == act_id).values(finished_at=func.now(), problem=problem))


async def stop(db: AsyncSession, actor: Actor, act_id: int) -> None:
    """Ends the act; what was done stays done. Raises NotFound, and Conflict for an act that has ended."""
    ended = (LongAct.id == act_id, LongAct.finished_at.is_(None), LongAct.stop_requested.is_(False))
    values = {"stop_requested": True, "stopped_by": actor.name}
    name = await db.scalar(update(LongAct).where(*ended).values(values).returning(act_jobs.JOB_OF_ACT))
    if name is None:
        await read(db, act_id)
        raise Conflict("This act is over, or it is being stopped already.")
    await act_jobs.request_stop(db, name, act_id)
    await audit.record(db, actor, "long_act.stop", "long_act", act_id)
