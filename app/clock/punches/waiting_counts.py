"""How many punches of each code wait for an employee behind it:
kept, so that a look for problems counts no punches of years.

Exact at any moment: weeks with a stale day, and those that a version before this one counted, are counted from the
punches in the same statement, in place of what is kept of them.
"""

from datetime import date

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# A punch that waits for an employee behind its code: the condition of the indexes `clock_transactions_waiting…`.
WAITS = """clock_transactions.gone_at_utc IS NULL AND clock_transactions.settled_at_utc IS NULL
    AND (clock_transactions.import_outcome IS NULL OR clock_transactions.import_outcome = 'not_bound')"""
# Selects emp_code and punches. Look-ups for each open week:
# the planner can't know how few there are, and would read all weeks.
WAITING = f"""
    WITH open AS MATERIALIZED (
        SELECT date_trunc('week', local_date)::date AS week FROM clock_stale_days
        UNION SELECT week FROM clock_person_counts WHERE waiting IS NULL
    )
    SELECT emp_code, sum(punches)::bigint AS punches FROM (
        SELECT emp_code, punches FROM clock_waiting_counts
        UNION ALL
        SELECT kept.emp_code, -kept.waiting FROM open CROSS JOIN LATERAL (
            SELECT emp_code, waiting FROM clock_person_counts k WHERE k.week = open.week AND waiting > 0 OFFSET 0) AS kept
        UNION ALL
        SELECT fresh.emp_code, fresh.punches FROM open CROSS JOIN LATERAL (
            SELECT emp_code, count(*) AS punches FROM clock_transactions
            WHERE local_date BETWEEN week AND week + 6 AND {WAITS} GROUP BY emp_code) AS fresh
    ) AS counted GROUP BY emp_code HAVING sum(punches) > 0"""
_NEVER_COUNTED = text("SELECT max(week) FROM clock_person_counts WHERE waiting IS NULL")


async def never_counted(db: AsyncSession) -> list[date]:
    """A day of the newest week of which a version before this one counted the punches alone, if there is any:
    weeks are counted whole."""
    week: date | None = await db.scalar(_NEVER_COUNTED)
    return [] if week is None else [week]
