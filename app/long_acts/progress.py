"""How far acts are, the results of their rows, and the rows that they left. Nothing here changes an act."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, ScalarSelect, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.errors import NotFound
from app.long_acts.act_jobs import has_job
from app.long_acts.models import LongAct, LongActItem

DONE = "done"
NAMED = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an act is: items by result, None for those that are still waiting.

    `listed`: the address of the list that the act is over, None when its items are named. `stops`: a person,
    `stopped_by`, ended it. `problem`: why it ended by itself. `counted` is False while the number of rows is unknown.
    `job_failed`: it has not ended, and no job carries it out.
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
    job_failed: bool = False

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


def newest(*kinds: str, url: str = "") -> ScalarSelect[int | None]:
    """The id of the newest act that is not finished, as a part of a list's own SELECT: one of these kinds, or over the
    list at `url`."""
    theirs = or_(LongAct.kind.in_(kinds), LongAct.arguments["url"].astext == url)
    return select(func.max(LongAct.id)).where(LongAct.finished_at.is_(None), theirs).scalar_subquery()


async def are_there(db: AsyncSession, *, over: bool) -> bool:
    """True when an act is current, or with `over` when any act is still stored."""
    which = [] if over else [LongAct.finished_at.is_(None)]
    return await db.scalar(select(LongAct.id).where(*which).limit(1)) is not None


async def newest_of_all(db: AsyncSession, kinds: Collection[str], most: int, *, over: bool) -> list[Progress]:
    """The newest acts of these kinds: the current ones, in one statement, or with `over` the ended ones too."""
    which = [] if over else [LongAct.finished_at.is_(None)]
    rows = await db.execute(_acts(db).where(LongAct.kind.in_(kinds), *which).order_by(LongAct.id.desc()).limit(most))
    return [await _exact(db, row) if over else _told(row) for row in rows.all()]


async def latest_of_code(db: AsyncSession, emp_code: str) -> Progress | None:
    """The newest act on records of this code's punches."""
    of_code = select(func.max(LongAct.id)).where(LongAct.emp_codes.contains([emp_code]))
    act_id = await db.scalar(of_code)
    return await read(db, act_id) if act_id is not None else None


async def read(db: AsyncSession, act_id: int) -> Progress:
    """Raises NotFound."""
    row = (await db.execute(_acts(db).where(LongAct.id == act_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such act.")
    return await _exact(db, row)


async def some(db: AsyncSession, act_ids: Collection[int]) -> list[Progress]:
    """Those that exist, in one statement."""
    rows = await db.execute(_acts(db).where(among(LongAct.id, act_ids)))
    return [_told(row) for row in rows]


def _acts(db: AsyncSession) -> Select[LongAct, bool]:
    """The columns that `_told` takes."""
    return select(LongAct, has_job(db)).execution_options(populate_existing=True)


async def _exact(db: AsyncSession, row: Row[LongAct, bool]) -> Progress:
    return _told(row, await items_of(db, row[0].id) if _items_alone_tell(row[0]) else None)


def _items_alone_tell(act: LongAct) -> bool:
    """True before the first slice, and for an act that a worker of an older version carried out or ended."""
    if act.list_query is not None or act.last_key is not None:
        return False
    is_complete = act.finished_at is not None and not act.stop_requested and act.problem is None
    return not act.counts or act.total is None or (is_complete and sum(act.counts.values()) != act.total)


def _told(row: Row[LongAct, bool], items: Mapping[str | None, int] | None = None) -> Progress:
    """`items`: the counts of its items, when the act does not store them."""
    act, is_carried_out = row
    return Progress(
        act.id,
        act.kind,
        act.actor_name,
        act.begun_at,
        act.finished_at,
        _kept(act) if items is None else items,
        listed=act.arguments.get("url") if act.list_query is not None else None,
        stops=act.stop_requested,
        stopped_by=act.stopped_by,
        problem=act.problem,
        counted=act.total is not None or items is not None,
        job_failed=act.finished_at is None and not is_carried_out,
    )


async def items_of(db: AsyncSession, act_id: int) -> Mapping[str | None, int]:
    """How many items have which result; None: those that are still waiting."""
    items = select(LongActItem.became, func.count()).where(LongActItem.act_id == act_id).group_by(LongActItem.became)
    return {became: number for became, number in await db.execute(items)}  # noqa: C416 - rows are no pairs to the type checker


def _kept(act: LongAct) -> Mapping[str | None, int]:
    """The counts lack rows that left the filter before their turn. When an act has ended, no row is waiting."""
    counts: dict[str | None, int] = {}
    counts.update(act.counts)
    if act.finished_at is None or act.stop_requested or act.problem:
        counts[None] = max(0, (act.total or 0) - sum(act.counts.values()))
    return {word: number for word, number in counts.items() if number}


async def left(db: AsyncSession, act_id: int, most: int = NAMED) -> Sequence[Row[Any]]:
    """The first items that were left, with the reasons."""
    columns: tuple[Any, ...] = (LongActItem.item_id, LongActItem.became, LongActItem.note)
    not_done = (LongActItem.act_id == act_id, LongActItem.became != DONE)
    return (await db.execute(select(*columns).where(*not_done).order_by(LongActItem.item_id).limit(most))).all()
