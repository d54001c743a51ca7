"""What a change of the connection's zone does to mirrored punches, each in one statement. When it happens: connection/saved.py.

A server in the building sends local times: they stay, and their instants are computed again. The cloud sends what clocks in
the zone we name show: the instants stay, and the local times follow. Offsets come from the same time-zone data that reads
rows; the database has its own, and the two need not be of one year.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import CLOCKS_APART, DAY
from app.clock.punches import daily_totals, marks

Segment = tuple[datetime, timedelta]
"""From when on (naive) which offset holds."""

_SECOND = timedelta(seconds=1)
_WROTE_ITS_OFFSET = r"punched_at_raw ~ '\:[0-9]{2}([.][0-9]+)? ?(Z|[+-][0-9]{2}\:?[0-9]{2}) *$'"
_DAYS = text("SELECT DISTINCT local_date FROM clock_transactions")
_REACH = text(
    """
    SELECT min(least(punched_at_local, punched_at_utc AT TIME ZONE 'UTC', uploaded_at_utc AT TIME ZONE 'UTC')),
           max(greatest(punched_at_local, punched_at_utc AT TIME ZONE 'UTC', uploaded_at_utc AT TIME ZONE 'UTC'))
    FROM clock_transactions
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
        judge_at = {marks.DUE}, updated_at = now()
    WHERE NOT {_WROTE_ITS_OFFSET}
    """
)
_INSTANT = "(punched_at_utc AT TIME ZONE 'UTC')"
_KEEP_INSTANT = f"""
    UPDATE clock_transactions SET
        punched_at_local = {_INSTANT} + {_offset("utc", _INSTANT)},
        local_date = CAST({_INSTANT} + {_offset("utc", _INSTANT)} AS date),
        judge_at = {marks.DUE}, updated_at = now()
"""
_KEEP_EVERY_INSTANT = text(_KEEP_INSTANT)
_KEEP_WRITTEN_INSTANTS = text(f"{_KEEP_INSTANT} WHERE {_WROTE_ITS_OFFSET}")


async def keep_local_times(db: AsyncSession, old: str, zone: str) -> None:
    """Computes the instants of all punches from their local times, which are now said to be in `zone`.

    A time that came with its own offset is an instant already: its local time follows the zone.
    """
    reach = await _reach(db)
    if reach is None:
        return
    left = await _days(db)
    local, before = by_local_time(ZoneInfo(zone), *reach), by_instant(ZoneInfo(old), *reach)
    await db.execute(_KEEP_LOCAL, {**_named("local", local), **_named("old", before)})
    await db.execute(_KEEP_WRITTEN_INSTANTS, _named("utc", by_instant(ZoneInfo(zone), *reach)))
    await daily_totals.mark_stale(db, left | await _days(db))


async def keep_instants(db: AsyncSession, zone: str) -> None:
    """Writes the local times of all punches again, as clocks in `zone` showed them."""
    reach = await _reach(db)
    if reach is None:
        return
    left = await _days(db)
    await db.execute(_KEEP_EVERY_INSTANT, _named("utc", by_instant(ZoneInfo(zone), *reach)))
    await daily_totals.mark_stale(db, left | await _days(db))


def by_local_time(zone: ZoneInfo, first: datetime, last: datetime) -> list[Segment]:
    """Offsets by local time: the first of a repeated hour, and for a missing one what held before the gap."""
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


async def _days(db: AsyncSession) -> set[date]:
    return set(await db.scalars(_DAYS))


async def _reach(db: AsyncSession) -> tuple[datetime, datetime] | None:
    """What the segments have to cover, wider than any time held by as much as two clocks can differ."""
    first, last = (await db.execute(_REACH)).one()
    if first is None:
        return None
    return first.replace(microsecond=0) - CLOCKS_APART, last.replace(microsecond=0) + CLOCKS_APART


def _named(name: str, segments: list[Segment]) -> dict[str, Any]:
    return {f"{name}_from": [since for since, _ in segments], f"{name}_shift": [shift for _, shift in segments]}
