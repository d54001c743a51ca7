"""What the import reads and writes: punches, owners, terminals, records in; verdicts and records out.
No rule lives here.

Rows go through the driver itself: an import reads and writes every punch once, and the ORM would double its price.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import asyncpg
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing.owners import OwnedCodes
from app.clock.mirror import devices
from app.clock.mirror.cursors import unread_spans
from app.clock.models import Device
from app.clock.pairing.inputs import FOLDS, PairingEmployee, PairingPunch, Record, Rules, TimeSpan, Written
from app.clock.punches.daily_totals import noting_outcomes
from app.clock.punches.of_records import punches_of_records
from app.clock.settings import ClockSettings, read_settings
from app.clock.zones import zone_name
from app.db.direct import driver
from app.host.attendance import imported
from app.host.attendance.hours import LONGEST, Hours
from app.host.attendance.imported import NewRecord
from app.webhooks import noting
from app.webhooks.kinds import OUTCOME_CHANGED

_PUNCHES = """
SELECT s.place, p.id, p.remote_id, p.emp_code, p.punched_at_utc, p.punch_code, p.terminal_sn, p.import_outcome,
       p.host_attendance_id, p.imported_role, p.covered_by_id, p.retry, p.edited_record_id, p.edited_from_utc, p.judge_at,
       p.remote_attendance, p.gone_at_utc IS NOT NULL, p.repeats_id, p.lifted
FROM unnest($1::int[], $2::text[], $3::timestamptz[], $4::timestamptz[]) AS s(place, code, first, last)
JOIN clock_transactions p ON p.emp_code = s.code AND p.punched_at_utc >= s.first AND p.punched_at_utc < s.last
"""
# The host bounds how long a record may be ($5), so older ones cannot reach into the hours asked for.
_RECORDS = """
WITH wanted AS (
    SELECT r.id FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS s(employee_id, first, last)
    JOIN attendance_records r ON r.employee_id = s.employee_id AND r.deleted_at IS NULL
     AND r.clock_in < s.last AND r.clock_in >= s.first - $5::interval
     AND coalesce(r.clock_out, r.clock_in) >= s.first
    UNION SELECT unnest($4::bigint[])
)
SELECT r.id, r.employee_id, r.kind, r.workday, r.clock_in, r.clock_out, r.breaks, r.status, r.source,
       r.deleted_at IS NOT NULL AS deleted, w.record_id IS NOT NULL AS written, w.clock_in AS written_in,
       w.clock_out AS written_out, w.breaks AS written_breaks
FROM wanted JOIN attendance_records r USING (id) LEFT JOIN clock_imported_records w ON w.record_id = r.id
"""
_HOLD = (
    "SELECT count(*) FROM (SELECT FROM clock_transactions WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE) AS held"
)
_TEMPORARY = """
CREATE TEMPORARY TABLE import_verdicts (
    id bigint, outcome text, record_id bigint, role text, covered_by bigint, retry boolean, lifted boolean,
    repeats_id bigint, judge_at timestamptz, seen timestamptz, news boolean
) ON COMMIT DROP
"""
# What a person settled stays settled while the outcome stays the same. It is compared here, so that a decision of a
# person during the import is not lost.
_SAME = "t.import_outcome IS NOT DISTINCT FROM v.outcome"
_SETTLED = f"""settled_at_utc = CASE
            WHEN {_SAME} AND t.settled_by IS NOT NULL THEN t.settled_at_utc
            WHEN v.covered_by IS NULL THEN NULL
            WHEN t.covered_by_id IS NULL THEN now()
            ELSE t.settled_at_utc END,
        settled_by = CASE WHEN {_SAME} THEN t.settled_by END,
        settled_note = CASE WHEN {_SAME} THEN t.settled_note END,
        covered_by_id = v.covered_by"""
# A mark that was set since we read must survive: it says that the facts have changed. All batches note their days in
# one order, so that two at the same time never deadlock.
_STORE = f"""
WITH stored AS (
    UPDATE clock_transactions t SET
        import_outcome = v.outcome,
        host_attendance_id = v.record_id,
        imported_at_utc = CASE
            WHEN v.record_id IS NULL THEN NULL
            WHEN t.host_attendance_id = v.record_id THEN coalesce(t.imported_at_utc, now())
            ELSE now() END,
        imported_role = v.role, {_SETTLED}, retry = v.retry, lifted = v.lifted,
        repeats_id = v.repeats_id,
        edited_record_id = CASE WHEN v.record_id IS NULL THEN t.edited_record_id END,
        edited_from_utc = CASE WHEN v.record_id IS NULL THEN t.edited_from_utc END,
        judge_at = CASE WHEN t.judge_at IS DISTINCT FROM v.seen THEN t.judge_at ELSE v.judge_at END,
        updated_at = CASE WHEN v.news THEN now() ELSE t.updated_at END
    FROM import_verdicts v WHERE t.id = v.id
    RETURNING t.local_date, v.news
)
{noting_outcomes("SELECT local_date FROM stored WHERE news")}
"""
_REMEMBER = """
INSERT INTO clock_imported_records (record_id, clock_in, clock_out, breaks, written_at) VALUES ($1, $2, $3, $4, now())
ON CONFLICT (record_id) DO UPDATE SET
    clock_in = excluded.clock_in, clock_out = excluded.clock_out, breaks = excluded.breaks, written_at = now()
"""


class Terminal(NamedTuple):
    """How the punches of a terminal count. `direction` is "" when it was never set. `is_marked`: a person said whether
    it is a door reader, and that word goes before what the server says of single punches."""

    direction: str = ""
    is_access: bool = False
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """What every decision of one transaction shares."""

    rules: Rules
    settings: ClockSettings
    terminals: Mapping[str, Terminal]
    unread: Sequence[TimeSpan]

    def terminal(self, serial: str | None) -> Terminal:
        """With the default direction when none was set; an unknown terminal is an attendance clock."""
        found = self.terminals.get(serial or "", Terminal())
        return found if found.direction else found._replace(direction=self.settings.default_direction)


@dataclass(frozen=True, slots=True)
class Read:
    """Punches and records of one span, and the mark that each punch had when it was read. `elsewhere`: punches of the
    same records as the folds among them, of codes that now belong to another employee or to none."""

    punches: list[PairingPunch] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    elsewhere: list[PairingPunch] = field(default_factory=list)
    judge_at: dict[int, datetime | None] = field(default_factory=dict)


class JudgedPunch(NamedTuple):
    """What is stored of one punch, in the columns of `_TEMPORARY`. `seen` is the mark that it had when it was judged.
    `news`: something other than the mark changes."""

    id: int
    outcome: str
    record_id: int | None
    role: str | None
    covered_by: int | None
    retry: bool
    lifted: bool
    repeats_id: int | None
    judge_at: datetime | None
    seen: datetime | None
    news: bool


async def read_world(db: AsyncSession, now: datetime) -> World:
    settings = await read_settings(db, now)
    zone = ZoneInfo(await zone_name(db))
    found = await db.execute(select(Device.sn, Device.direction, devices.KIND, Device.kind_mark))
    terminals = {
        sn: Terminal(direction or "", kind == "access", mark is not None) for sn, direction, kind, mark in found
    }
    return World(rules_of(settings, zone), settings, terminals, await unread_spans(db, settings, zone, now))


def rules_of(settings: ClockSettings, zone: ZoneInfo) -> Rules:
    """The settings that pairing depends on."""
    return Rules(
        zone=zone,
        repeat_tap_seconds=settings.repeat_tap_seconds,
        double_tap_fix=settings.double_tap_fix,
        double_tap_minutes=settings.double_tap_minutes,
        shift_gap_hours=settings.shift_gap_hours,
        undirected_min_minutes=settings.undirected_min_minutes,
        undirected_max_hours=settings.undirected_max_hours,
        import_single_punches=settings.import_single_punches,
    )


async def read_spans(db: AsyncSession, world: World, asked: Sequence[tuple[OwnedCodes, TimeSpan]]) -> list[Read]:
    """For each of them: every punch of the codes in the span, and every record that matters to them."""
    connection = driver(db)
    found = [Read() for _ in asked]
    places = [(place, code, span.start, span.end) for place, (owned, span) in enumerate(asked) for code in owned.codes]
    terminal = cache(world.terminal)  # few terminals, many punches
    for row in await connection.fetch(_PUNCHES, *_columns(places, 4)):
        read = found[row[0]]
        here = terminal(row[6])
        refused = row[15] is False and not here.is_marked
        read.punches.append(
            PairingPunch(
                row[1], row[2], row[3], row[4], row[5], row[6], here.direction, here.is_access or refused, row[7], row[8],
                row[9], row[10], row[11], row[12], row[13], refused, row[16], row[17], row[18],
            )
        )  # fmt: skip
        read.judge_at[row[1]] = row[14]
    await _read_records(connection, asked, found)
    await _read_elsewhere(connection, asked, found)
    return found


async def _read_records(
    connection: asyncpg.Connection, asked: Sequence[tuple[OwnedCodes, TimeSpan]], found: Sequence[Read]
) -> None:
    touching = [(who.id, span.start, span.end) for (who, _), span in asked if isinstance(who, PairingEmployee)]
    held = {record_id for read in found for record_id in _behind(read)}
    rows = await connection.fetch(_RECORDS, *_columns(touching, 3), sorted(held), LONGEST)
    by_id = {row["id"]: _record(row) for row in rows}
    by_employee: dict[int, list[Record]] = {}
    for record in by_id.values():
        by_employee.setdefault(record.employee_id, []).append(record)
    for ((who, _), span), read in zip(asked, found, strict=True):
        ids = _behind(read)
        read.records.extend(by_id[one] for one in ids)
        if isinstance(who, PairingEmployee):
            read.records.extend(one for one in by_employee.get(who.id, ()) if one.id not in ids and _touches(one, span))


async def _read_elsewhere(
    connection: asyncpg.Connection, asked: Sequence[tuple[OwnedCodes, TimeSpan]], found: Sequence[Read]
) -> None:
    folded = [{one.record_id for one in read.punches if one.outcome in FOLDS} - {None} for read in found]
    ids = set().union(*folded)
    if not ids:
        return
    taps = await punches_of_records(connection, ids)
    for ((_, codes), _), read, records in zip(asked, found, folded, strict=True):
        read.elsewhere.extend(one for one in taps if one.record_id in records and one.emp_code not in codes)


def _behind(read: Read) -> set[int]:
    """Records that punches belong to, and those that they left when they were edited on the server."""
    ids = {one.record_id for one in read.punches} | {one.edited_record for one in read.punches}
    return {one for one in ids if one is not None}


def _touches(record: Record, span: TimeSpan) -> bool:
    return not record.deleted and record.clock_in < span.end and (record.clock_out or record.clock_in) >= span.start


def _record(row: Any) -> Record:
    written = None
    if row["written"]:
        written = Written(row["written_in"], row["written_out"], _pairs(row["written_breaks"]))
    return Record(
        row["id"], row["employee_id"], row["kind"], row["workday"], row["clock_in"], row["clock_out"], _pairs(row["breaks"]),
        row["status"], row["source"], row["deleted"], written,
    )  # fmt: skip


def _pairs(ranges: Iterable[Any]) -> tuple[tuple[datetime, datetime], ...]:
    return tuple((one.lower, one.upper) for one in ranges)


async def create_records(db: AsyncSession, records: Sequence[NewRecord]) -> list[int]:
    """Returns the ids of the new records. Notes what was written, so that a person's correction is recognized later."""
    ids = await imported.create_records(db, records)
    rows = [
        (record_id, one.hours.clock_in, one.hours.clock_out, _ranges(one.hours))
        for record_id, one in zip(ids, records, strict=True)
    ]
    columns = ["record_id", "clock_in", "clock_out", "breaks"]
    await driver(db).copy_records_to_table("clock_imported_records", records=rows, columns=columns)
    return ids


async def update_record(db: AsyncSession, record_id: int, hours: Hours, workday: date) -> None:
    await imported.update_record(db, record_id, hours, workday)
    await driver(db).execute(_REMEMBER, record_id, hours.clock_in, hours.clock_out, _ranges(hours))


async def hold_punches(db: AsyncSession, ids: Sequence[int]) -> None:
    """Locks these punches in one order, so that two imports of unbound punches never deadlock. Punches of employees
    need no lock of their own: the import holds their attendance."""
    if ids:
        await driver(db).execute(_HOLD, ids)


async def store_verdicts(db: AsyncSession, rows: Sequence[JudgedPunch]) -> None:
    if not rows:
        return
    connection = driver(db)
    await connection.execute(_TEMPORARY)
    await connection.copy_records_to_table("import_verdicts", records=rows, columns=JudgedPunch._fields)
    await connection.execute(_STORE)
    await connection.execute("DROP TABLE import_verdicts")
    await noting.note(db, OUTCOME_CHANGED, [row.id for row in rows if row.news])


def _ranges(hours: Hours) -> list[Any]:
    return [asyncpg.Range(out, back) for out, back in hours.breaks]


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
