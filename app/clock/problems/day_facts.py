"""Facts about a person's punches of one day that a person must decide. What they mean: day_detectors.py."""

from sqlalchemy import Boolean, literal_column
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.problems.fact_selects import SINCE, TERMINAL_NAMES, sql_facts
from app.clock.problems.person_days import AWAITING, IS_OF_NO_TERMINAL, KINDS, OUTCOMES
from app.problems import looking
from app.problems.events import ProblemsMoved

# A shift is decided after a day at most, and then it is judged again.
LONGEST_WAIT = "interval '48 hours'"
# A punch that waits will have waited for too long within an hour.
SOON = literal_column(
    f"""EXISTS (SELECT FROM clock_transactions WHERE import_outcome = 'awaiting' AND gone_at_utc IS NULL
        AND updated_at < now() - {LONGEST_WAIT} + interval '1 hour'
        AND local_date BETWEEN {SINCE} AND (now() - {LONGEST_WAIT})::date + 2)""",
    Boolean,
)
_WORDS = ", ".join(f"'{one.value}'" for one in OUTCOMES)
# The day, and who it is, are in the id: an object that is built of texts alone costs a fifth,
# and there may be thousands of them.
_COLUMNS = "emp_code, local_date, punched_at_utc, id, terminal_sn"
_NAMED = f"""
    WITH punches AS (
        SELECT import_outcome AS kind, {_COLUMNS} FROM clock_transactions
        WHERE import_outcome IN ({_WORDS}) AND settled_at_utc IS NULL AND gone_at_utc IS NULL AND local_date >= {SINCE}
            AND {IS_OF_NO_TERMINAL}
        UNION ALL
        SELECT '{AWAITING}', {_COLUMNS} FROM clock_transactions
        WHERE import_outcome = 'awaiting' AND gone_at_utc IS NULL AND updated_at < now() - {LONGEST_WAIT}
            AND local_date BETWEEN {SINCE} AND (now() - {LONGEST_WAIT})::date + 1
    ), days AS (
        SELECT p.kind, coalesce('e' || b.host_employee_id, 'c' || p.emp_code) AS who, p.local_date, b.host_employee_id,
            min(p.emp_code) AS code, count(*) AS punches, min(p.punched_at_utc) AS since, max(p.id) AS newest,
            min(p.terminal_sn) AS terminal
        FROM punches p LEFT JOIN clock_employee_bindings b ON b.emp_code = p.emp_code
        GROUP BY p.kind, who, p.local_date, b.host_employee_id
    ), terminals AS MATERIALIZED ({TERMINAL_NAMES})
    SELECT kind, who, local_date, punches, since, newest, coalesce(h.name, nullif(e.full_name, ''), 'Code ' || days.code) AS name,
        days.code, coalesce(d.name, e.department_code) AS department, terminal, coalesce(t.name, terminal) AS terminal_name
    FROM days LEFT JOIN terminals t ON t.sn = terminal LEFT JOIN employees h ON h.id = host_employee_id LEFT JOIN clock_employees e ON e.emp_code = days.code
    LEFT JOIN clock_departments d ON d.code = e.department_code
    """


async def on_problems(db: AsyncSession, moved: ProblemsMoved) -> None:
    """At the next look, a terminal that sends one key only takes the place of its days, or gives it back."""
    if any(one.kind == "one_key" for one in (*moved.opened, *moved.closed)):
        await looking.look_soon(db)


DAYS = sql_facts(
    KINDS,
    f"""
    SELECT kind, 'person_day', who || '/' || local_date, punches, 1, since, newest, jsonb_object(
        ARRAY['name', 'code', 'department', 'terminal', 'terminal_name'], ARRAY[name, code, department, terminal, terminal_name])
    FROM ({_NAMED}) AS named
    """,
    few=False,
    mark=f"""
    SELECT coalesce(sum(hash_record_extended(
        ROW(kind, who, local_date, punches, newest, name, code, department, terminal, terminal_name), 0)), 0)
    FROM ({_NAMED}) AS named
    """,
)
