"""Writes a page of punches: COPY into a temporary table, then one statement for each thing that may be true
of its rows.

The walk decides what a page is and when it is written. The caller's transaction also moves the cursor.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any
from weakref import WeakSet

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import rows as binding_rows
from app.clock.mirror import punch_edits, rezoning
from app.clock.mirror.counts import Counts
from app.clock.mirror.punch_edits import ANOTHER_PUNCH, EDITED, JOIN
from app.clock.parsing import ParsedPunch
from app.clock.punches import daily_totals, marks
from app.db.direct import driver
from app.db.session import after_commit

COLUMNS = (
    "remote_id", "emp_code", "terminal_sn", "terminal_alias", "punch_code", "verify_code", "punched_at_raw",
    "punched_at_local", "punched_at_utc", "uploaded_at_utc", "local_date", "temperature", "photo_ref", "remote_attendance",
)  # fmt: skip
_TYPES = (
    "text", "text", "text", "text", "int", "int", "text", "timestamp", "timestamptz", "timestamptz", "date",
    "double precision", "text", "boolean",
)  # fmt: skip
_NAMES = ", ".join(COLUMNS)
_TARGETS = [name for name in COLUMNS if name != "remote_id"]
_VALUES = {name: f"i.{name}" for name in COLUMNS} | {"temperature": "CAST(i.temperature AS numeric(5,2))"}
_OLD = ", ".join(f"t.{name}" for name in _TARGETS)
_NEW = ", ".join(_VALUES[name] for name in _TARGETS)

_CHANGED = f"(({_OLD}) IS DISTINCT FROM ({_NEW}) OR t.gone_at_utc IS NOT NULL)"

_MAKE = text(
    "CREATE TEMPORARY TABLE IF NOT EXISTS incoming_punches ("
    + ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, _TYPES, strict=True))
    + ") ON COMMIT DELETE ROWS"
)
_COMPARE = text(
    f"""
    SELECT array_agg(t.local_date) FILTER (WHERE {_CHANGED} AND NOT {ANOTHER_PUNCH}) AS left_days,
        array_agg(i.local_date) FILTER (WHERE {_CHANGED} AND NOT {ANOTHER_PUNCH}) AS reached_days,
        count(*) FILTER (WHERE {EDITED} AND NOT {ANOTHER_PUNCH}) AS edited,
        coalesce(array_agg(i.remote_id ORDER BY i.remote_id) FILTER (WHERE {ANOTHER_PUNCH}), '{{}}') AS others,
        count(*) FILTER (WHERE EXISTS (SELECT FROM clock_missing_punches m WHERE m.punch_id = t.id)) AS missed
    FROM {JOIN}
    """
)
_INSERT = text(
    f"""
    WITH fresh AS (
        INSERT INTO clock_transactions (id_generation, first_run_id, zone_generation, {_NAMES})
        SELECT :generation, :run_id, {rezoning.GENERATION}, {", ".join(_VALUES[name] for name in COLUMNS)} FROM incoming_punches i
        ON CONFLICT (id_generation, remote_id) DO NOTHING
        RETURNING local_date
    )
    SELECT array_agg(local_date) FROM fresh
    """
)
_FOUND_AGAIN = text(f"DELETE FROM clock_missing_punches m USING {JOIN} WHERE m.punch_id = t.id")
_UPDATE = text(
    f"""
    UPDATE clock_transactions t SET {", ".join(f"{name} = {_VALUES[name]}" for name in _TARGETS)}, updated_at = now(),
        {punch_edits.CHANGES}
    FROM incoming_punches i
    WHERE t.id_generation = :generation AND t.remote_id = i.remote_id AND {_CHANGED}
    """
)
# After the server's ids began again, a punch that is known under an old id is still the same punch. Several equal ones
# get their new ids in order. Selects the days of those that had been gone.
_SAME = "emp_code, punched_at_utc, coalesce(terminal_sn, ''), coalesce(punch_code, -1)"
_ADOPT = text(
    f"""
    WITH fresh AS (
        SELECT i.*, row_number() OVER (PARTITION BY {_SAME} ORDER BY remote_id) AS nth FROM incoming_punches i
        WHERE NOT EXISTS (SELECT 1 FROM clock_transactions t WHERE t.id_generation = :generation AND t.remote_id = i.remote_id)
    ), old AS (
        SELECT t.*, row_number() OVER (PARTITION BY {_SAME} ORDER BY id) AS nth FROM clock_transactions t
        WHERE id_generation < :generation
          AND (emp_code, punched_at_utc) IN (SELECT emp_code, punched_at_utc FROM fresh)
    ), adopted AS (
        UPDATE clock_transactions t SET id_generation = :generation, remote_id = fresh.remote_id, updated_at = now(),
            gone_at_utc = NULL, judge_at = CASE WHEN t.gone_at_utc IS NULL THEN t.judge_at ELSE {marks.DUE} END
        FROM fresh JOIN old
            ON (old.emp_code, old.punched_at_utc, coalesce(old.terminal_sn, ''), coalesce(old.punch_code, -1), old.nth)
            = (fresh.emp_code, fresh.punched_at_utc, coalesce(fresh.terminal_sn, ''), coalesce(fresh.punch_code, -1), fresh.nth)
        WHERE t.id = old.id
        RETURNING t.local_date, old.gone_at_utc IS NOT NULL AS was_gone
    )
    SELECT array_agg(DISTINCT local_date) FROM adopted WHERE was_gone
    """
)
_MAKE_PEOPLE = text(
    """
    INSERT INTO clock_employees (emp_code, absent_since) SELECT code, now() FROM unnest(CAST(:codes AS text[])) AS code
    ON CONFLICT DO NOTHING
    """
)
_MAKE_TERMINALS = text(
    """
    INSERT INTO clock_devices (sn, alias, absent_since)
    SELECT sn, alias, now() FROM unnest(CAST(:serials AS text[]), CAST(:aliases AS text[])) AS given (sn, alias)
    ON CONFLICT DO NOTHING
    """
)


# Connections that have the temporary table; a rollback drops it.
_prepared: WeakSet[Any] = WeakSet()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a page of punches goes. `by_instant`: the server gives its times in the zone that we name, so a punch is
    recognized by its instant."""

    run_id: int
    generation: int
    by_instant: bool


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What became of a page, and the ids of rows that were not written because they mean another punch
    than the known one."""

    counts: Counts = field(default_factory=Counts)
    others: Sequence[str] = ()


async def write_punches(db: AsyncSession, target: Target, punches: Sequence[ParsedPunch]) -> Mirrored:
    """Makes and updates rows; those that are there already, and repeats within the page, count as unchanged.

    Raises punch_edits.RestoredError, and then has written nothing that may stay.
    """
    distinct = {punch.remote_id: punch for punch in punches}
    if not distinct:
        return Mirrored()
    await _copy(db, distinct.values())
    page = asdict(target)
    await rezoning.rewrite_page(db, target.generation)
    back: list[date] = []
    if target.generation > 1:
        back = await db.scalar(_ADOPT, page) or []
    fresh: list[date] = (await db.execute(_INSERT, page)).scalar_one() or []
    left, reached, others = list[date](), list[date](), list[str]()
    if len(fresh) < len(distinct):
        left, reached, others = await _bring_up_to_date(db, page, len(distinct) - len(fresh))
    # Days are locked once, and after all punches. The import takes its locks in that order too, so the two never
    # deadlock.
    await daily_totals.mark_stale(db, [*back, *fresh, *left, *reached])
    created, updated = len(fresh), len(left)
    unchanged = len(punches) - created - updated - len(others)
    return Mirrored(Counts(created=created, updated=updated, unchanged=unchanged, set_aside=len(others)), others)


async def _bring_up_to_date(
    db: AsyncSession, page: dict[str, Any], known: int
) -> tuple[list[date], list[date], list[str]]:
    """Updates rows that were there already and differ now; rows that were just made equal what came. Returns the days
    on which the written rows were, the days on which they are now, and the ids of the rows that were not written."""
    left, reached, edited, others, missed = (await db.execute(_COMPARE, page)).one()
    if missed:
        await db.execute(_FOUND_AGAIN, page)
    if others:
        await punch_edits.set_aside(db, known, others)
    if edited:
        await punch_edits.remember(db, page)
    if left:
        await db.execute(_UPDATE, page)
    return left or [], reached or [], others


async def make_people(db: AsyncSession, codes: Sequence[str]) -> None:
    """People whom no listing named, each with an unbound binding: they can be bound like any other."""
    await db.execute(_MAKE_PEOPLE, {"codes": list(codes)})
    await binding_rows.make_some(db, codes, "First seen on a punch.")


async def make_terminals(db: AsyncSession, aliases: dict[str, str | None]) -> None:
    """Terminals that no listing named, by serial."""
    await db.execute(_MAKE_TERMINALS, {"serials": list(aliases), "aliases": list(aliases.values())})


async def _copy(db: AsyncSession, punches: Any) -> None:
    connection = driver(db)
    if connection not in _prepared:
        await db.execute(_MAKE)

        async def remember() -> None:
            _prepared.add(connection)

        after_commit(db, remember)
    records = [
        (
            punch.remote_id, punch.emp_code, punch.terminal_sn, punch.terminal_alias, punch.code, punch.verify,
            punch.punched_at_raw, punch.punched_at_local, punch.punched_at_utc, punch.uploaded_at_utc,
            punch.punched_at_local.date(), punch.temperature, punch.photo_ref, punch.is_attendance,
        )
        for punch in punches
    ]  # fmt: skip
    await connection.copy_records_to_table("incoming_punches", records=records, columns=COLUMNS)
