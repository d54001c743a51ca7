"""How terminals are used, from the counts that are kept by day: it reads no punch. What it means: one_key.py."""

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import TOLD_DAYS
from app.clock.mirror.one_key import only_key, use_of

_CODES = ("check_in", "check_out", "break_out", "break_in", "overtime_in", "overtime_out")
SINCE = f"(now() - interval '{TOLD_DAYS - 1} days')::date"
DIRECTION = (
    """coalesce(d.direction, (SELECT value #>> '{}' FROM clock_settings WHERE name = 'default_direction'), 'by_code')"""
)
KIND = "coalesce(d.kind_mark, CASE WHEN d.remote_attendance IS FALSE THEN 'access' ELSE 'attendance' END)"
# For a FROM that calls the terminal `d`. Looked up for each day: the planner would read the counts of all terminals.
COUNTED = f"""
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(total), 0)::bigint AS punches, coalesce(sum(employees), 0)::bigint AS person_days,
            coalesce(sum(imported), 0)::bigint AS recorded,
            ARRAY[{", ".join(f"coalesce(sum({name}), 0)::bigint" for name in _CODES)}] AS codes
        FROM clock_analytics_daily WHERE dimension = 'terminal' AND key = d.sn AND local_date >= {SINCE}) AS used
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(there.single), 0)::bigint AS single
        FROM generate_series({SINCE}, now()::date + 1, interval '1 day') AS day CROSS JOIN LATERAL (
            SELECT sum(total - gone - settled) AS single FROM clock_transaction_counts
            WHERE local_date = day::date AND terminal_sn = d.sn AND import_outcome = 'only_one_punch' OFFSET 0) AS there) AS alone"""
# What one_key.py::use_of reads.
USE = """jsonb_build_object('kind', d.kind, 'direction', d.direction, 'punches', punches, 'codes', codes,
        'person_days', person_days, 'recorded', recorded, 'single', single, 'is_named', EXISTS (
            SELECT FROM problems WHERE kind = 'one_key' AND subject_type = 'terminal' AND subject_id = d.sn AND stands))"""
_OF_ONE = text(f"""
    SELECT d.name, {USE} AS uses
    FROM (SELECT sn, coalesce(nullif(d.alias, ''), sn) AS name, {KIND} AS kind, {DIRECTION} AS direction
        FROM clock_devices d WHERE sn = :serial) AS d {COUNTED}
    """)


class OneKeyTerminal(NamedTuple):
    """A terminal that sends one code only: what people call it, the code, and how many of its punches found no
    partner."""

    name: str
    code: int
    single: int


async def one_key(db: AsyncSession, serial: str) -> OneKeyTerminal | None:
    """None where `only_key` says so, and where the server does not list the terminal."""
    row = (await db.execute(_OF_ONE, {"serial": serial})).one_or_none()
    if row is None or (code := only_key(use_of(row.uses))) is None:
        return None
    return OneKeyTerminal(row.name, code, row.uses["single"])
