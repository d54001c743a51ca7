"""Figures over the whole mirror, for Dashboard and API: health, counts, outcomes, daily totals. Lists are in
punches/queries.py and bindings/queries.py."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import String, and_, func, literal, select, text, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.codes import BindingState
from app.clock.days import CLOCKS_APART, DAY
from app.clock.figures.completeness import complete_up_to
from app.clock.models import (
    Area,
    Binding,
    ClockEmployee,
    Connection,
    DailyTotal,
    Department,
    Device,
    Location,
    Position,
    Punch,
    StaleDay,
    SyncRun,
)
from app.clock.outcomes import Outcome
from app.clock.punches.day_counts import STALE_OUTCOMES, count_by_day
from app.clock.zones import zone_day
from app.texts import day, instant

COUNTED = {
    "employees": ClockEmployee,
    "devices": Device,
    "departments": Department,
    "positions": Position,
    "areas": Area,
    "locations": Location,
}
CODES = ("check_in", "check_out", "break_out", "break_in", "overtime_in", "overtime_out")
FIGURES = ("total", *CODES, "unknown", "employees", "terminals", "imported")
OUTCOME_DAYS = 30
# Beyond this number of punches, people and terminals are looked up one by one.
COUNTED_DIRECTLY = 20_000
_EACH = """
    SELECT (SELECT min({name}) FROM clock_transactions) AS {name}
    UNION ALL
    SELECT (SELECT min(t.{name}) FROM clock_transactions t WHERE t.{name} > {these}.{name}) FROM {these}
    WHERE {these}.{name} IS NOT NULL
"""
_WITHIN = "t.local_date BETWEEN :first AND :last AND t.gone_at_utc IS NULL"
# An instant lies near its local date in every zone, so these bounds let PostgreSQL use the index on people and
# instants.
_NEAR = f"""t.punched_at_utc >= CAST(:first AS date) - interval '{CLOCKS_APART.days} days'
    AND t.punched_at_utc < CAST(:last AS date) + interval '{(CLOCKS_APART + DAY).days} days'"""
# Instants that belong to these days in every zone.
# A person with such a punch is found without a look at the days around.
_INNER = f"""t.punched_at_utc >= CAST(:first AS date) + interval '{(CLOCKS_APART + DAY).days} days'
    AND t.punched_at_utc < CAST(:last AS date) - interval '{CLOCKS_APART.days} days'"""
# Asks for the first instant in place of EXISTS, because the index has that order. For EXISTS, PostgreSQL with its
# default `random_page_cost` of 4 expects to find a punch of the person soon, and reads the table.
_PUNCHED = f"""(SELECT min(t.punched_at_utc) FROM clock_transactions t
    WHERE t.emp_code = people.emp_code AND {_WITHIN} AND {{near}}) IS NOT NULL"""
_SEEN = text(
    f"""
    WITH RECURSIVE people AS ({_EACH.format(name="emp_code", these="people")}),
        serials AS ({_EACH.format(name="terminal_sn", these="serials")})
    SELECT
        (SELECT count(*) FROM people
            WHERE {_PUNCHED.format(near=_INNER)} OR {_PUNCHED.format(near=_NEAR)}),
        (SELECT count(*) FROM serials
            WHERE EXISTS (SELECT FROM clock_transactions t WHERE t.terminal_sn = serials.terminal_sn AND {_WITHIN}))
    """
)


async def status(db: AsyncSession, now: datetime) -> dict[str, Any]:
    """The integration API's status; `last_sync` is the run's row or None."""
    connection = await db.get(Connection, 1)
    counts = await entity_counts(db)
    counts["transactions"] = (await count_by_day(db, days=(None, None), equal={})).total
    up_to, _ = await complete_up_to(db, now)
    latest = select(*SyncRun.__table__.c).where(SyncRun.status != "queued").order_by(SyncRun.id.desc()).limit(1)
    return {
        "connection": _connection(connection),
        "counts": counts,
        "bindings": await binding_counts(db),
        "outcomes": await outcome_counts(db, zone_day(connection, now) - timedelta(days=OUTCOME_DAYS - 1)),
        "complete_up_to": instant(up_to),
        "last_sync": (await db.execute(latest)).one_or_none(),
    }


def _connection(found: Connection | None) -> dict[str, Any]:
    if found is None:
        absent = ("profile", "timezone", "host", "last_success_at", "last_error_code", "last_error_at", "locked_until")
        return {"configured": False, "status": "not_configured", **dict.fromkeys(absent)}
    return {
        "configured": True,
        "status": found.status,
        "profile": found.profile,
        "timezone": found.timezone,
        "host": urlsplit(found.base_url).netloc,
        "last_success_at": instant(found.last_success_at),
        "last_error_code": found.last_error_code,
        "last_error_at": instant(found.last_error_at),
        "locked_until": instant(found.locked_until),
    }


async def entity_counts(db: AsyncSession) -> dict[str, int]:
    """Rows of every mirrored resource but punches, absent people included."""
    parts = [
        select(literal(name, String).label("name"), func.count().label("n")).select_from(table)
        for name, table in COUNTED.items()
    ]
    return dict((await db.execute(union_all(*parts))).all())


async def binding_counts(db: AsyncSession) -> dict[str, int]:
    """People in each of the nine states, zeros included."""
    rows = await db.execute(select(Binding.state, func.count()).group_by(Binding.state))
    found = dict(rows.all())
    return {state.value: found.get(state.value, 0) for state in BindingState}


async def outcome_counts(db: AsyncSession, since: date) -> dict[str, int]:
    """Judged punches by outcome from a local day on, zeros included; stale days are counted from the punches."""
    stale = select(StaleDay.local_date)
    kept = select(DailyTotal.key.label("outcome"), DailyTotal.total.label("n")).where(
        DailyTotal.dimension == "outcome", DailyTotal.local_date >= since, DailyTotal.local_date.not_in(stale)
    )
    fresh = STALE_OUTCOMES.where(StaleDay.local_date >= since).subquery()
    both = union_all(kept, select(fresh.c.outcome, fresh.c.n)).subquery()
    rows = await db.execute(select(both.c.outcome, func.sum(both.c.n)).group_by(both.c.outcome))
    found = {outcome: int(count) for outcome, count in rows}
    return {outcome.value: found.get(outcome.value, 0) for outcome in Outcome}


async def daily_totals(db: AsyncSession, first: date, last: date) -> dict[str, Any]:
    """`days` (one entry per day, zeros included) and `totals` of a range of local days."""
    wanted = select(DailyTotal.local_date, *(getattr(DailyTotal, name) for name in FIGURES)).where(
        DailyTotal.dimension == "all", DailyTotal.local_date.between(first, last)
    )
    found = {row.local_date: row._mapping for row in await db.execute(wanted)}  # noqa: SLF001 - its documented name
    days = [
        {"date": day(one), **_figures(found.get(one))}
        for one in (first + timedelta(days=n) for n in range((last - first).days + 1))
    ]
    totals: dict[str, int] = {name: sum(int(one[name] or 0) for one in days) for name in FIGURES}
    several = totals["total"] > COUNTED_DIRECTLY
    distinct = await (_distinct_among_many(db, first, last) if several else _distinct(db, first, last))
    for name, count in zip(("employees", "terminals"), distinct, strict=True):
        # Numbers of people can't be added up over days. Of purged days only the busiest is known.
        totals[name] = max(count, *(int(one[name] or 0) for one in days))
    return {"days": days, "totals": totals}


def _figures(row: Mapping[Any, Any] | None) -> dict[str, int]:
    return {name: row[name] if row is not None else 0 for name in FIGURES}


async def _distinct(db: AsyncSession, first: date, last: date) -> tuple[int, int]:
    within = and_(Punch.local_date.between(first, last), Punch.gone_at_utc.is_(None))
    counted = select(func.count(func.distinct(Punch.emp_code)), func.count(func.distinct(Punch.terminal_sn))).where(
        within
    )
    employees, terminals = (await db.execute(counted)).one()
    return employees, terminals


async def _distinct_among_many(db: AsyncSession, first: date, last: date) -> tuple[int, int]:
    """Counts people and terminals by one look into an index for each of them, however many punches they have."""
    given = {"first": first, "last": last}
    employees, terminals = (await db.execute(_SEEN, given)).one()
    return employees, terminals


async def area_names(db: AsyncSession) -> dict[str, str]:
    """Area code → name; a workspace has some dozens."""
    return dict((await db.execute(select(Area.code, Area.name))).all())
