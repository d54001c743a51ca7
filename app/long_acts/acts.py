"""Acts on rows that are named: they are noted first, then carried out in slices. What an act does: its work.

Up to INLINE_LIMIT items are done in the transaction that asked; more are left to a job, which any worker can resume: an item that
has an answer is not touched again. So nothing here depends on how often a slice is tried.

A slice holds an advisory lock of its act, and the act's row only at its end. So a person who stops or joins an act never waits for
a slice.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, ScalarSelect, Select, TextualSelect, case, func, insert, literal, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.audit import Actor
from app.db.session import workspace_of
from app.errors import Conflict, NotFound
from app.long_acts.models import LongAct, LongActItem

INLINE_LIMIT = 1000
SLICE = 200
DONE = "done"
NAMED = 200
# The jobs that carry acts out: on named items, on items that the job names first, and over a list. A worker of an
# older version would take NAMED_JOB, find no item where they are still to be named, and end the act with nothing done. It leaves a
# job alone whose name it does not know.
NAMED_JOB, UNNAMED_JOB, LISTED_JOB = "clock_long_act", "clock_unnamed_act", "long_act"
_JOB = case(
    (LongAct.list_query.is_not(None), LISTED_JOB), (LongAct.last_key.is_not(None), UNNAMED_JOB), else_=NAMED_JOB
)
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('long act ' || :workspace || ' ' || :act, 0))")
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


Items = TextualSelect | Select[int]
Work = Callable[[AsyncSession, LongActWork, Sequence[int]], Awaitable[Mapping[int, ItemOutcome]]]
# Selects (`id`) what an act means that was begun without naming its items: those up to the id that was the last one then.
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
    """Writes down what is meant: the ids (`id`) that `items` selects now."""
    act = await _write(db, actor, kind, emp_codes=sorted(emp_codes), host_employee_id=host_employee_id)
    await _name(db, act.id, items)
    return act


async def note_unnamed(
    db: AsyncSession, actor: Actor, kind: str, last: int, *, emp_codes: Iterable[str], host_employee_id: int | None
) -> LongActWork:
    """Leaves even the naming of the items to the job, where they are too many for a request. `last`: the last id that is meant."""
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
    """Does the act at once when it has at most `most` items (INLINE_LIMIT); otherwise queues the job that does it."""
    progress = await read(db, act.id)
    if not progress.counted or progress.total > (INLINE_LIMIT if most is None else most):
        await request_job(db, NAMED_JOB if progress.counted else UNNAMED_JOB, act.id)
        return progress
    await _step(db, act, work, INLINE_LIMIT)
    return await read(db, act.id)


async def request_job(db: AsyncSession, name: str, act_id: int) -> bool:
    """False where the act's job waits or runs already: that one is enough."""
    return await jobs.request(db, name, key=f"{name}:{act_id}", arguments={"act_id": act_id}) is not None


async def resume(
    db: AsyncSession, act_id: int, works: Mapping[str, Work], namings: Mapping[str, Naming] | None = None
) -> bool:
    """The next slice. True while more is to do. Two workers at the same act wait for each other."""
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
        await _count(db, act.id, Counter(words))
    if await db.scalar(waiting.limit(1)) is not None:
        return True
    await finish(db, act.id)
    return False


async def _count(db: AsyncSession, act_id: int, became: Counter[str]) -> None:
    row = await at_the_end(db, act_id)
    row.counts = dict(Counter(row.counts) + became)
    await db.flush()


async def at_the_end(db: AsyncSession, act_id: int) -> LongAct:
    """The act as it is now, locked for the little that is left of the slice."""
    newest = select(LongAct).where(LongAct.id == act_id).with_for_update().execution_options(populate_existing=True)
    return (await db.scalars(newest)).one()


async def finish(db: AsyncSession, act_id: int, problem: str | None = None) -> None:
    await db.execute(update(LongAct).where(LongAct.id == act_id).values(finished_at=func.now(), problem=problem))


async def stop(db: AsyncSession, actor: Actor, act_id: int) -> None:
    """What was done stays; nothing more is. Raises NotFound, and Conflict for an act that is over."""
    ended = (LongAct.id == act_id, LongAct.finished_at.is_(None), LongAct.stop_requested.is_(False))
    values = {"stop_requested": True, "stopped_by": actor.name}
    name = await db.scalar(update(LongAct).where(*ended).values(values).returning(_JOB))
    if name is None:
        await read(db, act_id)
        raise Conflict("This act is over, or it is being stopped already.")
    if not await request_job(db, name, act_id):
        # The job that runs may be at its last attempt, and fail before it sees this. This one ends the act in any case.
        await jobs.request(db, name, key=f"{name}:{act_id}:stop", arguments={"act_id": act_id})
    await audit.record(db, actor, "long_act.stop", "long_act", act_id)


def newest(*kinds: str, url: str = "") -> ScalarSelect[int | None]:
    """The id of the newest act that is not finished, as a part of a list's own SELECT: one of these kinds, or over the list at
    `url`."""
    theirs = or_(LongAct.kind.in_(kinds), LongAct.arguments["url"].astext == url)
    return select(func.max(LongAct.id)).where(LongAct.finished_at.is_(None), theirs).scalar_subquery()


async def newest_of_all(db: AsyncSession, most: int, *, over: bool) -> list[Progress]:
    """The newest acts of the workspace, in one statement: those under way, or with `over` those that ended too."""
    which = [] if over else [LongAct.finished_at.is_(None)]
    rows = await db.scalars(select(LongAct).where(*which).order_by(LongAct.id.desc()).limit(most))
    return [told_of(one, counted(one)) for one in rows]


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
    return told_of(act, await _items(db, act) if _was_not_counted(act) else counted(act))


def _was_not_counted(act: LongAct) -> bool:
    """True before its first slice, and for an act that a worker of an older version carried out."""
    return act.list_query is None and act.last_key is None and not act.counts


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
        counted=act.total is not None or _was_not_counted(act),
    )


async def _items(db: AsyncSession, act: LongAct) -> Mapping[str | None, int]:
    items = select(LongActItem.became, func.count()).where(LongActItem.act_id == act.id).group_by(LongActItem.became)
    return {became: number for became, number in await db.execute(items)}  # noqa: C416 - rows are no pairs to the type checker


def counted(act: LongAct) -> Mapping[str | None, int]:
    """As the act keeps it. Rows that left the filter before their turn are missing from the counts. Once an act is over, no row waits for its turn."""
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
