"""What a change of the connection's zone does to mirrored punches, each in one statement. When it happens: connection.py.

A server in the building sends local times: they stay, and their instants are computed anew. The cloud sends what clocks in
the zone we name show: the instants stay, and the local times follow.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# PostgreSQL takes the second of a repeated hour; ours is the first (design: decisions, "Clock: connection").
_FIRST_OF_REPEATED = """
    CASE WHEN ((u - interval '1 hour') AT TIME ZONE :zone) = {local} THEN u - interval '1 hour'
         WHEN ((u - interval '30 minutes') AT TIME ZONE :zone) = {local} THEN u - interval '30 minutes'
         ELSE u END
"""
_WROTE_ITS_OFFSET = r"punched_at_raw ~ ':[0-9]{2}(\.[0-9]+)? ?(Z|[+-][0-9]{2}:?[0-9]{2}) *$'"
_NOTE_DAYS = text(
    "INSERT INTO clock_stale_days (local_date) SELECT DISTINCT local_date FROM clock_transactions ON CONFLICT DO NOTHING"
)
_KEEP_LOCAL = text(
    f"""
    UPDATE clock_transactions AS punch SET
        punched_at_utc = fresh.instant,
        uploaded_at_utc = (punch.uploaded_at_utc AT TIME ZONE :old) AT TIME ZONE :zone,
        judge_at = clock_timestamp(), updated_at = now()
    FROM (
        SELECT id, {_FIRST_OF_REPEATED.format(local="punched_at_local")} AS instant
        FROM (SELECT id, punched_at_local, punched_at_local AT TIME ZONE :zone AS u FROM clock_transactions
              WHERE NOT {_WROTE_ITS_OFFSET}) AS guess
    ) AS fresh
    WHERE punch.id = fresh.id
    """.replace(":[0-9]", r"\:[0-9]").replace(":?[0-9]", r"\:?[0-9]")
)
_KEEP_INSTANT = """
    UPDATE clock_transactions SET
        punched_at_local = punched_at_utc AT TIME ZONE :zone,
        local_date = CAST(punched_at_utc AT TIME ZONE :zone AS date),
        judge_at = clock_timestamp(), updated_at = now()
"""
_KEEP_EVERY_INSTANT = text(_KEEP_INSTANT)
_KEEP_WRITTEN_INSTANTS = text(
    f"{_KEEP_INSTANT} WHERE {_WROTE_ITS_OFFSET}".replace(":[0-9]", r"\:[0-9]").replace(":?[0-9]", r"\:?[0-9]")
)


async def keep_local_times(db: AsyncSession, old: str, zone: str) -> None:
    """Computes the instants of all punches from their local times, which are now said to be in `zone`."""
    await db.execute(_NOTE_DAYS)
    await db.execute(_KEEP_LOCAL, {"old": old, "zone": zone})
    await db.execute(_KEEP_WRITTEN_INSTANTS, {"zone": zone})
    await db.execute(_NOTE_DAYS)


async def keep_instants(db: AsyncSession, zone: str) -> None:
    """Writes the local times of all punches anew, as clocks in `zone` showed them."""
    await db.execute(_NOTE_DAYS)
    await db.execute(_KEEP_EVERY_INSTANT, {"zone": zone})
    await db.execute(_NOTE_DAYS)
