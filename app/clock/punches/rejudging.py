"""A change that concerns very many punches: the request leaves a row that says so, and the import judges them slice by
slice, newest first.

Only punches that were judged and have no record are meant: the import has those that wait for their first judging
anyway, and those of a record stay. They get no mark: to write each of them would cost as much as to judge it, and most
keep their outcome. Only those that follow days which are not fully read get one: they cannot be judged yet. An import
that is stopped, or a worker that dies, is followed by one that begins again with the slice that was under way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, insert, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.clock.models import OwnerChange, OwnerChangeCode, Punch, Rejudging, ZoneChange
from app.db.among import among

SLICE = 20_000
_OPEN = Rejudging.finished_at.is_(None)
# As the index clock_transactions_unsettled has it.
JUDGED_BEFORE = and_(Punch.host_attendance_id.is_(None), Punch.import_outcome.is_not(None))
_PLACE = tuple_(Punch.local_date, Punch.punched_at_utc, Punch.id)
# For a page's own SELECT: the changes under way, as `awaits` takes them.
_JUDGED = (
    select(
        func.jsonb_agg(
            func.jsonb_build_array(
                Rejudging.terminal_sn,
                Rejudging.reached_day,
                func.extract("epoch", Rejudging.reached_at),
                Rejudging.reached_id,
            )
        )
    )
    .where(_OPEN)
    .scalar_subquery()
)
_ZONE = select(func.max(ZoneChange.generation)).where(ZoneChange.finished_at.is_(None)).scalar_subquery()
# A page shows the hourglass for so many codes at most.
_SOME_CODES = (
    select(OwnerChangeCode.emp_code)
    .join(OwnerChange, OwnerChange.id == OwnerChangeCode.change_id)
    .where(OwnerChange.finished_at.is_(None))
    .limit(1000)
    .subquery()
)
_CODES = select(func.jsonb_agg(_SOME_CODES.c.emp_code)).scalar_subquery()
CHANGES = func.jsonb_build_object("judged", _JUDGED, "zone", _ZONE, "codes", _CODES)


@dataclass(frozen=True, slots=True)
class RejudgedSlice:
    """Some punches of a change: their instants by code. `behind_id` is where the slice before ended, and `last` is the
    place of the last punch of this one. `now` is when it was read."""

    change_id: int
    behind_id: int | None
    last: tuple[date, datetime, int]
    instants: Mapping[str, Sequence[datetime]]
    now: datetime


def is_joined() -> ColumnElement[bool]:
    """True when a later change that waits concerns the same punches, or all. The later one then judges them, by the
    rules of that time. A later change that an import has begun with does not count: it has judged some punches without
    this change."""
    later = aliased(Rejudging)
    same = or_(later.terminal_sn.is_(None), later.terminal_sn == Rejudging.terminal_sn)
    return exists().where(later.id > Rejudging.id, later.finished_at.is_(None), later.total.is_(None), same)


async def begin(db: AsyncSession, terminals: Sequence[str | None]) -> None:
    """Notes that the rules changed (None), or direction or kind of terminals. Costs the same however many punches there
    are. marks.py asks for the import."""
    if terminals:
        await db.execute(insert(Rejudging), [{"terminal_sn": one} for one in terminals])


def awaits(changes: Mapping[str, Any] | None, row: Any) -> bool:
    """True when a change under way (CHANGES) has not reached this punch yet. `row` has the columns of Punch. Pure."""
    changes = changes or {}
    if row.zone_generation < (changes.get("zone") or 0):
        return True
    if row.host_attendance_id is not None or row.import_outcome is None:
        return False
    if row.emp_code in (changes.get("codes") or ()):
        return True
    place = (row.local_date.isoformat(), row.punched_at_utc.timestamp(), row.id)
    return any(
        terminal in (None, row.terminal_sn) and (reached[-1] is None or place < tuple(reached))
        for terminal, *reached in changes.get("judged") or ()
    )


async def under_way(db: AsyncSession) -> Sequence[int]:
    """The changes that are not carried out yet."""
    return (await db.scalars(select(Rejudging.id).where(_OPEN))).all()


async def next_slice(db: AsyncSession, changes: Sequence[int]) -> RejudgedSlice | None:
    """The next punches of the oldest of these changes. None when none of them is left, or when another import asks at
    the same time."""
    await db.execute(update(Rejudging).where(_OPEN, is_joined()).values(finished_at=func.now()))
    these = (_OPEN, among(Rejudging.id, changes))
    oldest = select(Rejudging).where(*these).order_by(Rejudging.id).limit(1).with_for_update(skip_locked=True)
    while change := await db.scalar(oldest):
        if found := await _found(db, change):
            return found
        change.finished_at = await db.scalar(select(func.now()))
        await db.flush()
    return None


async def _found(db: AsyncSession, change: Rejudging) -> RejudgedSlice | None:
    meant = [JUDGED_BEFORE]
    if change.terminal_sn is not None:
        meant.append(Punch.terminal_sn == change.terminal_sn)
    if change.total is None:
        change.total = await db.scalar(select(func.count()).select_from(Punch).where(*meant)) or 0
    if change.reached_id is not None:
        meant.append(tuple_(change.reached_day, change.reached_at, change.reached_id) > _PLACE)
    newest_first = (Punch.local_date.desc(), Punch.punched_at_utc.desc(), Punch.id.desc())
    columns = (Punch.local_date, Punch.punched_at_utc, Punch.id, Punch.emp_code)
    found = (await db.execute(select(*columns).where(*meant).order_by(*newest_first).limit(SLICE))).all()
    if not found:
        return None
    instants: dict[str, list[datetime]] = {}
    for _, at, _, code in found:
        instants.setdefault(code, []).append(at)
    day, at, last_id, _ = found[-1]
    now = (await db.execute(select(func.clock_timestamp()))).scalar_one()
    return RejudgedSlice(change.id, change.reached_id, (day, at, last_id), instants, now)


async def keep(db: AsyncSession, ids: Sequence[int]) -> None:
    """Marks what could not be judged, since the days before it are not fully read:
    the import that follows their reading judges it."""
    await db.execute(update(Punch).where(among(Punch.id, ids), JUDGED_BEFORE).values(judge_at=func.clock_timestamp()))


async def end_slice(db: AsyncSession, part: RejudgedSlice) -> None:
    """Notes that all of it was judged. Where another import noted it first, or a later change joined this one,
    nothing is left to note."""
    day, at, last_id = part.last
    number = sum(map(len, part.instants.values()))
    reached = {
        "reached_day": day,
        "reached_at": at,
        "reached_id": last_id,
        "marked": Rejudging.marked + number,
        "judged": Rejudging.marked + number,
    }
    still = (Rejudging.id == part.change_id, _OPEN, Rejudging.reached_id.is_not_distinct_from(part.behind_id))
    await db.execute(update(Rejudging).where(*still).values(reached).execution_options(synchronize_session=False))
