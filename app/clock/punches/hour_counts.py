"""At what hours of the week people punch, and how late the server had it:
counted by day, so that a chart of a year reads no punches.

Exact at any moment: days that changed since the last rollup, and those that were never counted, are counted from the
punches in the same statement. Days of which only outcomes changed keep their hours, also in the rollup.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.punches.week_counts import week_around

# How long after the tap the server had it: upper bounds in seconds. A tap that arrived after exactly a minute is within
# it. After a change of them a migration empties the table, and all days are counted again.
LATE_BOUNDS = (60, 300, 3600, 86_400)
NOT_SAID = -1
_BOUNDS = f"CAST(ARRAY[{', '.join(f'{bound} + 1e-6' for bound in LATE_BOUNDS)}] AS float8[])"
# A bucket is an hour of the week, as 100 × ISO weekday + hour; or how late, below 100.
_IS_HOUR = 100
# Not `extract`, which computes in decimals: for a day of many punches that takes twice as long.
_HOUR = f"{_IS_HOUR} * date_part('isodow', punched_at_local)::int + date_part('hour', punched_at_local)::int"
_LATE = f"""CASE WHEN uploaded_at_utc IS NULL THEN {NOT_SAID}
    ELSE width_bucket(greatest(date_part('epoch', uploaded_at_utc - punched_at_utc), 0), {_BOUNDS}) END"""
_COUNTED = f"""SELECT coalesce(hour, late) AS bucket, sum(punches)::int AS total
    FROM (SELECT {_HOUR} AS hour, {_LATE} AS late, count(*) AS punches
        FROM clock_transactions WHERE local_date = {{day}} GROUP BY 1, 2) AS both_counted
    GROUP BY GROUPING SETS ((hour), (late))"""
_READ = text(
    f"""
    SELECT bucket, local_date >= :first AS shown, sum(total)::bigint AS punches FROM (
        WITH fresh AS MATERIALIZED (
            SELECT day FROM unnest(CAST(:days AS date[])) AS day
            WHERE day IN (SELECT local_date FROM clock_stale_days WHERE NOT outcomes_only)
                OR NOT EXISTS (SELECT FROM clock_hour_counts WHERE local_date = day)
        )
        SELECT local_date, bucket, total FROM clock_hour_counts
        WHERE local_date BETWEEN :since AND :last AND local_date NOT IN (SELECT day FROM fresh)
        UNION ALL
        SELECT fresh.day, counted.bucket, counted.total
        FROM fresh CROSS JOIN LATERAL ({_COUNTED.format(day="fresh.day")}) AS counted
    ) AS both_kinds
    GROUP BY 1, 2
    """
)
_FORGET = text("DELETE FROM clock_hour_counts WHERE local_date = ANY(:days)")
_COUNT = text(
    f"""
    INSERT INTO clock_hour_counts (local_date, bucket, total)
    SELECT day, bucket, total FROM unnest(CAST(:days AS date[])) AS day
    CROSS JOIN LATERAL ({_COUNTED.format(day="day")}) AS counted
    """
)
# Days that were counted by a version that kept no hours. Of a frozen one nearly all punches are purged.
_NEVER_COUNTED = text(
    """
    SELECT max(local_date) FROM clock_analytics_daily d
    WHERE dimension = 'all' AND key = '' AND NOT frozen AND total + gone > 0
        AND NOT EXISTS (SELECT FROM clock_hour_counts h WHERE h.local_date = d.local_date)
    """
)


@dataclass(frozen=True, slots=True)
class HourCounts:
    """`hours`: (ISO weekday, hour) → punches. `late`: punches by the place of their bound, NOT_SAID where the server
    does not say; `late_before` the same of the days before."""

    hours: dict[tuple[int, int], int]
    late: dict[int, int]
    late_before: dict[int, int]


async def read(db: AsyncSession, first: date, last: date, since: date) -> HourCounts:
    """Counts the days from `first` to `last`, and how late punches of the days from `since` to `first` were;
    one SELECT."""
    found = HourCounts({}, {}, {})
    # The days are listed here and not by generate_series: the driver reads the calendar's last day as infinity.
    days = [since + timedelta(days=n) for n in range((last - since).days + 1)]
    for bucket, shown, punches in await db.execute(_READ, {"first": first, "last": last, "since": since, "days": days}):
        if bucket < _IS_HOUR:
            (found.late if shown else found.late_before)[bucket] = punches
        elif shown:
            found.hours[divmod(bucket, _IS_HOUR)] = punches
    return found


async def recount(db: AsyncSession, days: Sequence[date]) -> None:
    """Counts the given local days again; part of the rollup, in its transaction."""
    await db.execute(_FORGET, {"days": list(days)})
    await db.execute(_COUNT, {"days": list(days)})


async def never_counted(db: AsyncSession) -> list[date]:
    """The days of the newest week in which the hours of some day were never counted."""
    newest: date | None = await db.scalar(_NEVER_COUNTED)
    if newest is None:
        return []
    monday, _ = week_around(newest)
    return [monday + timedelta(days=n) for n in range((newest - monday).days + 1)]
