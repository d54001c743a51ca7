"""Acts on rows that are named: they are noted first, then carried out in slices. What an act does: its work.

Up to INLINE_LIMIT items are done in the transaction that asked; more are left to a job, which any worker can resume: an item that
has an answer is not touched again. So nothing here depends on how often a slice is tried.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, ScalarSelect, Select, TextualSelect, case, func, insert, literal, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.audit import Actor
from app.errors import Conflict, NotFound
from app.long_acts.models import LongAct, LongActItem

INLINE_LIMIT = 1000
SLICE = 200
DONE = "done"
NAMED = 200
# The jobs that carry acts out: on named items, and over a list.
NAMED_JOB, LISTED_JOB = "clock_long_act", "long_act"
_NOTE_ITEMS = text(
    "UPDATE clock_long_act_items i SET became = g.became, note = g.note"
    " FROM unnest(CAST(:ids AS bigint[]), CAST(:words AS text[]), CAST(:notes AS text[])) AS g (id, became, note)"
    " WHERE i.act_id = :act AND i.item_id = g.id"
)


class ItemOutcome(NamedTuple):
    """What became of one item: DONE, or why it was left. `note` says it in a sentence where the word is not enough."""

    became: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LongActWork:
    """What was asked, as its work needs it."""

    id: int
    kind: str
    emp_codes: tuple[str, ...]
    host_employee_id: int | None
    actor: Actor


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an act is: items by what became of them, None for those whose turn is to come.

    `listed`: the address of the list that the act is over, None where its items are named. `stops`: a person, `stopped_by`, ended
    it. `problem`: why it ended by itself. `counted` False: how many are meant is not known yet.
    """

    id: int
    kind: str
    actor_name: str
    begun_at: datetime
    finished_at: datetime | None
    counts: Mapping[str | None, int]
    listed: str | None = None
    stops: bool = False
    stopped_by: str | None = None
    problem: str | None = None
    counted: bool = True

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        return self.counts.get(DONE, 0)

    @property
    def looked_at(self) -> int:
        return self.total - self.counts.get(None, 0)

    @property
    def left(self) -> dict[str, int]:
        return {word: number for word, number in self.counts.items() if word not in (None, DONE)}


Work = Callable[[AsyncSession, LongActWork, Sequence[int]], Awaitable[Mapping[int, ItemOutcome]]]


async def note(
    db: AsyncSession,
    actor: Actor,
    kind: str,
    items: TextualSelect | Select[int],
    *,
    emp_codes: Iterable[str] = (),
    host_employee_id: int | None = None,
) -> LongActWork:
    """Writes down what is meant: the ids (`id`) that `items` selects now."""
    codes = sorted(emp_codes)
    values = {"kind": kind, "emp_codes": codes, "host_employee_id": host_employee_id}
    by = {"actor_id": actor.id, "actor_name": actor.name}
    act_id = (await db.execute(insert(LongAct).values(**values, **by).returning(LongAct.id))).scalar_one()
    rows = select(literal(act_id), items.subquery().c.id)
    await db.execute(insert(LongActItem).from_select([LongActItem.act_id, LongActItem.item_id], rows))
    return LongActWork(act_id, kind, tuple(codes), host_employee_id, actor)


async def start(db: AsyncSession, act: LongActWork, work: Work, most: int | None = None) -> Progress:
    """Does the act at once when it has at most `most` items (INLINE_LIMIT); otherwise queues the job that does it."""
    progress = await read(db, act.id)
    if progress.total > (INLINE_LIMIT if most is None else most):
        await request_job(db, NAMED_JOB, act.id)
        return progress
    await _step(db, act, work, INLINE_LIMIT)
    return await read(db, act.id)


async def request_job(db: AsyncSession, name: str, act_id: int) -> None:
    """Where the act's job waits or runs already, that one is enough."""
    await jobs.request(db, name, key=f"{name}:{act_id}", arguments={"act_id": act_id})


async def resume(db: AsyncSession, act_id: int, works: Mapping[str, Work]) -> bool:
    """The next slice. True while more is to do. Two workers at the same act wait for each other."""
    row = await db.scalar(select(LongAct).where(LongAct.id == act_id).with_for_update())
    if row is None or row.finished_at is not None:
        return False
    if row.stop_requested:
        await finish(db, act_id)
        return False
    actor = Actor(row.actor_id, row.actor_name)
    act = LongActWork(row.id, row.kind, tuple(row.emp_codes), row.host_employee_id, actor)
    return await _step(db, act, works[act.kind], SLICE)


async def _step(db: AsyncSession, act: LongActWork, work: Work, most: int) -> bool:
    waiting = select(LongActItem.item_id).where(LongActItem.act_id == act.id, LongActItem.became.is_(None))
    ids = list(await db.scalars(waiting.order_by(LongActItem.item_id).limit(most)))
    if ids:
        answers = await work(db, act, ids)
        words, notes = zip(*(answers[one] for one in ids), strict=True)
        await db.execute(_NOTE_ITEMS, {"act": act.id, "ids": ids, "words": list(words), "notes": list(notes)})
    if await db.scalar(waiting.limit(1)) is not None:
        return True
    await finish(db, act.id)
    return False


async def finish(db: AsyncSession, act_id: int, problem: str | None = None) -> None:
    await db.execute(update(LongAct).where(LongAct.id == act_id).values(finished_at=func.now(), problem=problem))


async def stop(db: AsyncSession, actor: Actor, act_id: int) -> None:
    """What was done stays; nothing more is. An act whose job failed for good gets one that ends it. Raises NotFound, and Conflict for an
    act that is over."""
    ended = (LongAct.id == act_id, LongAct.finished_at.is_(None), LongAct.stop_requested.is_(False))
    values = {"stop_requested": True, "stopped_by": actor.name}
    job = case((LongAct.list_query.is_(None), NAMED_JOB), else_=LISTED_JOB)
    name = await db.scalar(update(LongAct).where(*ended).values(values).returning(job))
    if name is None:
        await read(db, act_id)
        raise Conflict("This act is over, or it is being stopped already.")
    await request_job(db, name, act_id)
    await audit.record(db, actor, "long_act.stop", "long_act", act_id)


def newest(*kinds: str, url: str = "") -> ScalarSelect[int | None]:
    """The id of the newest act that is not finished, as a part of a list's own SELECT: one of these kinds, or over the list at
    `url`."""
    theirs = or_(LongAct.kind.in_(kinds), LongAct.arguments["url"].astext == url)
    return select(func.max(LongAct.id)).where(LongAct.finished_at.is_(None), theirs).scalar_subquery()


async def latest_of_code(db: AsyncSession, emp_code: str) -> Progress | None:
    """The newest act on what this code's punches made."""
    of_code = select(func.max(LongAct.id)).where(LongAct.emp_codes.contains([emp_code]))
    act_id = await db.scalar(of_code)
    return await read(db, act_id) if act_id is not None else None


async def read(db: AsyncSession, act_id: int) -> Progress:
    """Raises NotFound."""
    act = await db.scalar(select(LongAct).where(LongAct.id == act_id).execution_options(populate_existing=True))
    if act is None:
        raise NotFound("There is no such act.")
    return told_of(act, await _items(db, act) if act.list_query is None else _of_list(act))


def told_of(act: LongAct, counts: Mapping[str | None, int]) -> Progress:
    return Progress(
        act.id,
        act.kind,
        act.actor_name,
        act.begun_at,
        act.finished_at,
        counts,
        listed=act.arguments.get("url") if act.list_query is not None else None,
        stops=act.stop_requested,
        stopped_by=act.stopped_by,
        problem=act.problem,
        counted=act.list_query is None or act.total is not None,
    )


async def _items(db: AsyncSession, act: LongAct) -> Mapping[str | None, int]:
    items = select(LongActItem.became, func.count()).where(LongActItem.act_id == act.id).group_by(LongActItem.became)
    return {became: number for became, number in await db.execute(items)}  # noqa: C416 - rows are no pairs to the type checker


def _of_list(act: LongAct) -> Mapping[str | None, int]:
    """Rows that left the filter before their turn are missing from the counts. Once an act is over, no row waits for its turn."""
    counts: dict[str | None, int] = {}
    counts.update(act.counts)
    if act.finished_at is None or act.stop_requested or act.problem:
        counts[None] = max(0, (act.total or 0) - sum(act.counts.values()))
    return {word: number for word, number in counts.items() if number}


async def left(db: AsyncSession, act_id: int, most: int = NAMED) -> Sequence[Row[Any]]:
    """The first items that were left, with why."""
    columns: tuple[Any, ...] = (LongActItem.item_id, LongActItem.became, LongActItem.note)
    not_done = (LongActItem.act_id == act_id, LongActItem.became != DONE)
    return (await db.execute(select(*columns).where(*not_done).order_by(LongActItem.item_id).limit(most))).all()
