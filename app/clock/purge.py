"""Removes what is kept for a time only: old punches, API logs, rows set aside, runs that went well, acts on many
records, changes that all punches followed. Never a punch that waits, never a total,
never an act that is not finished."""

from datetime import date, datetime, timedelta

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import saved as connection
from app.clock.punches import daily_totals, day_counts, hour_counts, week_counts
from app.clock.settings import read_settings
from app.clock.zones import zone_day
from app.db.rows import affected
from app.db.session import Database

ROWS_AT_ONCE = 5000
DAYS_AT_ONCE = 7
# Each may have many thousand items.
ACTS_AT_ONCE = 10

# What waits is what the import is not done with: new, awaiting, or to be looked at again at some instant. What is gone
# from the server waits for nothing.
_JUDGED = (
    "judge_at IS NULL AND import_outcome IS NOT NULL AND (import_outcome <> 'awaiting' OR gone_at_utc IS NOT NULL)"
)
_DAYS = text(
    f"SELECT DISTINCT local_date FROM clock_transactions WHERE local_date < :before AND {_JUDGED}"
    " ORDER BY local_date LIMIT :days"
)
_FREEZE = text("UPDATE clock_analytics_daily SET frozen = true WHERE local_date = ANY(:days)")
_NOT_STALE = text("DELETE FROM clock_stale_days WHERE local_date = ANY(:days) RETURNING local_date")
_PUNCHES = text(f"DELETE FROM clock_transactions WHERE local_date = ANY(:days) AND {_JUDGED}")
_LOGS = text(
    "DELETE FROM clock_api_logs WHERE id IN (SELECT id FROM clock_api_logs WHERE at < :before ORDER BY at LIMIT :rows)"
)
_ASIDE = text(
    "DELETE FROM clock_set_aside WHERE id IN (SELECT id FROM clock_set_aside WHERE at < :before ORDER BY id LIMIT :rows)"
)
# A run of the schedule that succeeded tells nothing without its calls: what it brought is in the punches and totals.
# What failed, ended early or was partial stays, and so does what a person began, which the audit names,
# and the last good one.
_RUNS = text(
    """
    DELETE FROM clock_sync_runs WHERE id IN (
        SELECT id FROM clock_sync_runs
        WHERE trigger = 'schedule' AND status = 'succeeded' AND finished_at < :before
            AND id < (SELECT max(id) FROM clock_sync_runs WHERE status = 'succeeded')
        ORDER BY id LIMIT :rows)
    """
)
# What each record or punch became is in the audit; its items go with an act.
_ACTS = text(
    "DELETE FROM clock_long_acts WHERE id IN"
    " (SELECT id FROM clock_long_acts WHERE finished_at < :before ORDER BY id LIMIT :rows)"
)


def _finished(table: str) -> TextClause:
    """For changes whose punches all followed: nothing refers to them."""
    some = f"SELECT id FROM {table} WHERE finished_at < :before ORDER BY id LIMIT :rows"
    return text(f"DELETE FROM {table} WHERE id IN ({some})")


async def purge(database: Database, workspace: str, now: datetime) -> dict[str, int]:
    """How many rows went, by table. Some days or rows per transaction, so that no other work waits for it; safe to kill
    at any point."""
    async with database.transaction(workspace) as db:
        settings = await read_settings(db, now)
        found = await connection.load(db)
    today = zone_day(found, now)
    gone = {"transactions": 0, "api_logs": 0, "set_aside": 0, "sync_runs": 0, "long_acts": 0, "changes": 0}
    if settings.retain_transactions_days:
        gone["transactions"] = await _purge_punches(database, workspace, settings.kept_from(today))
    before = now - timedelta(days=settings.retain_api_logs_days)
    kept_for_a_time = (
        ("api_logs", _LOGS, ROWS_AT_ONCE),
        ("set_aside", _ASIDE, ROWS_AT_ONCE),
        ("sync_runs", _RUNS, ROWS_AT_ONCE),
        ("long_acts", _ACTS, ACTS_AT_ONCE),
        ("changes", _finished("clock_rejudgings"), ROWS_AT_ONCE),
        ("changes", _finished("clock_zone_changes"), ROWS_AT_ONCE),
        ("changes", _finished("clock_owner_changes"), ACTS_AT_ONCE),
    )
    for name, statement, rows in kept_for_a_time:
        while True:
            async with database.transaction(workspace) as db:
                deleted = affected(await db.execute(statement, {"before": before, "rows": rows}))
            gone[name] += deleted
            if deleted < rows:
                break
    return gone


async def _purge_punches(database: Database, workspace: str, horizon: date) -> int:
    gone = 0
    while True:
        async with database.transaction(workspace) as db:
            days = list((await db.scalars(_DAYS, {"before": horizon, "days": DAYS_AT_ONCE})).all())
            if not days:
                return gone
            # Counts are kept by week. A rollup that counts one of them waits.
            week = week_counts.week_of(days[0])
            gone += await _purge_days(db, [day for day in days if week_counts.week_of(day) == week])


async def _purge_days(db: AsyncSession, days: list[date]) -> int:
    """Counts the days a last time, freezes their totals, and takes the punches."""
    await daily_totals.hold_weeks(db, days)
    stale = list((await db.scalars(_NOT_STALE, {"days": days})).all())
    await daily_totals.count_days(db, stale)
    await db.execute(_FREEZE, {"days": days})
    deleted = affected(await db.execute(_PUNCHES, {"days": days}))
    await day_counts.recount(db, days)
    await week_counts.recount(db, days)
    await hour_counts.recount(db, days)
    return deleted
