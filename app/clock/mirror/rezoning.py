"""What a change of the connection's zone does to mirrored punches. The request leaves one row (connection/saved.py);
the import rewrites the punches slice by slice, the newest days first,
and judges nothing before the last one has its new times.

A server in the building sends local times: they stay, and their instants are computed again. The cloud sends what
clocks in the zone we name show: the instants stay, and the local times follow. Offsets come from the same time-zone
data that reads rows; the database has its own, and the two need not be of one year.

Each punch has the number of the zone that its times are by (`zone_generation`). So each is rewritten once, either by a
slice or by a sync that reads it from the server meanwhile. A punch that missed two changes gets both, in their order.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Row, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import CLOCKS_APART, DAY
from app.clock.models import Connection, Punch, Rejudging, ZoneChange
from app.clock.punches import changes, daily_totals, marks

SLICE = 20_000
Kept = Literal["local_times", "instants"]
"""What a change of zone leaves as it is."""

Segment = tuple[datetime, timedelta]
"""The offsets, each with the naive instant from which it holds."""

_SECOND = timedelta(seconds=1)
_WROTE_ITS_OFFSET = r"punched_at_raw ~ '\:[0-9]{2}([.][0-9]+)? ?(Z|[+-][0-9]{2}\:?[0-9]{2}) *$'"
_CURRENT = "(SELECT zone_generation FROM clock_connections)"
# For statements that compare what is held with what the server has: times by an earlier zone tell nothing.
IS_CURRENT = f"zone_generation >= coalesce({_CURRENT}, 1)"
GENERATION = f"coalesce({_CURRENT}, 1)"
_THESE = "id = ANY(CAST(:ids AS bigint[])) AND zone_generation < :generation"
# In the order in which everything else holds punches.
_HOLD = text(f"SELECT id FROM clock_transactions WHERE {_THESE} ORDER BY id FOR UPDATE")
_REACH = text(
    f"""
    SELECT min(least(punched_at_local, punched_at_utc AT TIME ZONE 'UTC', uploaded_at_utc AT TIME ZONE 'UTC')),
           max(greatest(punched_at_local, punched_at_utc AT TIME ZONE 'UTC', uploaded_at_utc AT TIME ZONE 'UTC')),
           array_agg(DISTINCT local_date)
    FROM clock_transactions WHERE {_THESE}
    """
)
# A page of punches in the temporary table of punch_rows.py: those that are known; and where the server's ids began
# again, all of these people around these days, who are known by their instants.
_KNOWN_ON_PAGE = text(
    f"""
    SELECT array_agg(t.id) FROM incoming_punches i
    JOIN clock_transactions t ON t.id_generation = :generation AND t.remote_id = i.remote_id
    WHERE t.zone_generation < {GENERATION}
    """
)
_AROUND_PAGE = text(
    f"""
    SELECT array_agg(t.id) FROM
        (SELECT emp_code, min(local_date) - 2 AS first, max(local_date) + 2 AS last FROM incoming_punches GROUP BY emp_code) AS i
    JOIN clock_transactions t ON t.emp_code = i.emp_code AND t.local_date BETWEEN i.first AND i.last
    WHERE t.zone_generation < {GENERATION}
    """
)


def _offset(segments: str, moment: str) -> str:
    """The offset of the last segment that began by `moment`."""
    return (
        f"(SELECT s.shift FROM unnest(CAST(:{segments}_from AS timestamp[]), CAST(:{segments}_shift AS interval[]))"
        f" AS s (since, shift) WHERE s.since <= {moment} ORDER BY s.since DESC LIMIT 1)"
    )


_UPLOADED = "(uploaded_at_utc AT TIME ZONE 'UTC')"
_KEEP_LOCAL = text(
    f"""
    UPDATE clock_transactions SET
        punched_at_utc = (punched_at_local - {_offset("local", "punched_at_local")}) AT TIME ZONE 'UTC',
        uploaded_at_utc = ({_UPLOADED} + {_offset("old", _UPLOADED)}
            - {_offset("local", f"{_UPLOADED} + {_offset('old', _UPLOADED)}")}) AT TIME ZONE 'UTC',
        zone_generation = :generation, judge_at = {marks.DUE}, updated_at = now()
    WHERE {_THESE} AND NOT {_WROTE_ITS_OFFSET}
    """
)
_INSTANT = "(punched_at_utc AT TIME ZONE 'UTC')"
_KEEP_INSTANTS = text(
    f"""
    UPDATE clock_transactions SET
        punched_at_local = {_INSTANT} + {_offset("utc", _INSTANT)},
        local_date = CAST({_INSTANT} + {_offset("utc", _INSTANT)} AS date),
        zone_generation = :generation, judge_at = {marks.DUE}, updated_at = now()
    WHERE {_THESE}
    RETURNING local_date
    """
)


async def begin(db: AsyncSession, old: str, zone: str, kept: Kept) -> None:
    """Notes that the connection has another zone.
    Costs the same however many punches there are; asks for the import."""
    following = update(Connection).values(zone_generation=Connection.zone_generation + 1)
    generation = await db.scalar(following.returning(Connection.zone_generation))
    values = {"generation": generation, "old_zone": old, "zone": zone, "kept": kept}
    await db.execute(insert(ZoneChange).values(**values))
    await marks.ask_for_import(db)


async def rewrite_slice(db: AsyncSession) -> bool:
    """Rewrites the next punches. True while there may be more; False when none is left, or another import is at it."""
    oldest = select(func.min(ZoneChange.id)).where(changes.ZONE_IS_OPEN).scalar_subquery()
    held = select(ZoneChange.id).where(ZoneChange.id == oldest, changes.ZONE_IS_OPEN).with_for_update(skip_locked=True)
    if await db.scalar(held) is None:
        return False
    await changes.wait_for_judging(db)
    under_way = await _under_way(db)
    newest = under_way[-1]
    lags = Punch.zone_generation < newest.generation
    if newest.total is None:
        newest.total = await db.scalar(select(func.count()).select_from(Punch).where(lags)) or 0
    found = await _next(db, lags, newest.reached_day)
    if not found:
        await _finish(db, under_way)
        return False
    newest.reached_day = found[-1].local_date
    newest.rewritten += len(found)
    await _rewrite(db, [one.id for one in found], under_way)
    return True


async def rewrite_page(db: AsyncSession, generation: int) -> None:
    """Called before a page of punches is compared with the stored ones: gives those of the page that a current change
    has not reached their new times. `generation` is that of the server's ids."""
    under_way = await _under_way(db)
    if not under_way:
        return
    ids = await db.scalar(_KNOWN_ON_PAGE, {"generation": generation}) or []
    if generation > 1:
        ids += await db.scalar(_AROUND_PAGE) or []
    await _rewrite(db, ids, under_way)


async def _under_way(db: AsyncSession) -> Sequence[ZoneChange]:
    return (await db.scalars(select(ZoneChange).where(changes.ZONE_IS_OPEN).order_by(ZoneChange.id))).all()


async def _next(db: AsyncSession, lags: ColumnElement[bool], reached: date | None) -> Sequence[Row[int, date]]:
    """The newest punches with times by an earlier zone. The day in which the last slice ended is read again: its
    rewritten punches are recognized by their generation."""
    newest_first = (Punch.local_date.desc(), Punch.punched_at_utc.desc(), Punch.id.desc())
    wanted = select(Punch.id, Punch.local_date).where(lags).order_by(*newest_first).limit(SLICE)
    if reached is not None:
        wanted = wanted.where(Punch.local_date <= reached)
    return (await db.execute(wanted)).all()


async def _finish(db: AsyncSession, under_way: Sequence[ZoneChange]) -> None:
    """All punches are due now, so any other change that had begun is done with this one."""
    now = await db.scalar(select(func.now()))
    for one in under_way:
        one.finished_at = now
    await db.execute(update(Rejudging).where(Rejudging.finished_at.is_(None)).values(finished_at=now))


async def _rewrite(db: AsyncSession, ids: Sequence[int], under_way: Sequence[ZoneChange]) -> None:
    for change in under_way:
        these = {"ids": list(ids), "generation": change.generation}
        await db.execute(_HOLD, these)
        first, last, days = (await db.execute(_REACH, these)).one()
        if first is None:
            continue
        # Beyond the first and the last time by as much as two clocks can differ.
        reach = first.replace(microsecond=0) - CLOCKS_APART, last.replace(microsecond=0) + CLOCKS_APART
        old, zone = ZoneInfo(change.old_zone), ZoneInfo(change.zone)
        if change.kept == "local_times":
            local, before = by_local_time(zone, *reach), by_instant(old, *reach)
            await db.execute(_KEEP_LOCAL, {**these, **_named("local", local), **_named("old", before)})
        # A time that came with its own offset is an instant already: its local time follows the zone.
        reached = await db.scalars(_KEEP_INSTANTS, {**these, **_named("utc", by_instant(zone, *reach))})
        await daily_totals.mark_stale(db, {*days, *reached})


def by_local_time(zone: ZoneInfo, first: datetime, last: datetime) -> list[Segment]:
    """Offsets by local time. A repeated hour counts as its first one, and a missing hour has the offset from before the
    gap."""
    return _segments(first, last, lambda moment: moment.replace(tzinfo=zone, fold=0).utcoffset() or timedelta())


def by_instant(zone: ZoneInfo, first: datetime, last: datetime) -> list[Segment]:
    """Offsets by UTC instant, written naive."""
    return _segments(first, last, lambda moment: moment.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta())


def _segments(first: datetime, last: datetime, offset_at: Callable[[datetime], timedelta]) -> list[Segment]:
    moment, offset = first, offset_at(first)
    found = [(moment, offset)]
    while moment < last:
        following = moment + DAY
        if offset_at(following) != offset:
            following = _change(moment, following, offset_at)
            offset = offset_at(following)
            found.append((following, offset))
        moment = following
    return found


def _change(before: datetime, after: datetime, offset_at: Callable[[datetime], timedelta]) -> datetime:
    """The second from which another offset holds."""
    offset = offset_at(before)
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0) if middle.replace(microsecond=0) > before else before + _SECOND
        before, after = (middle, after) if offset_at(middle) == offset else (before, middle)
    return after


def _named(name: str, segments: list[Segment]) -> dict[str, Any]:
    return {f"{name}_from": [since for since, _ in segments], f"{name}_shift": [shift for _, shift in segments]}
