"""`attendance:*`: what the Attendance and Day locks pages do, and the export."""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import click

from app.commands import frame
from app.texts import guarded

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

STATUSES = ("approved", "rejected", "auto_closed")


@click.command("attendance:export")
@click.option("--from", "first", type=frame.DAY, help="First workday, YYYY-MM-DD.")
@click.option("--to", "last", type=frame.DAY, help="Last workday, included.")
@click.option("--format", "kind", type=click.Choice(("csv", "jsonl")), default="csv", show_default=True)
@frame.workspace_option
@frame.json_option
def attendance_export(*, first: date | None, last: date | None, kind: str, workspace: str, as_json: bool) -> None:
    """Write the records to standard output, with breaks, kind, status and source."""
    frame.refuse_backwards(first, last)
    rows = frame.in_transaction(lambda db: _rows(db, first, last), workspace)
    if as_json:
        frame.answer(rows, as_json=True)
    else:
        (_write_csv if kind == "csv" else _write_jsonl)(rows)


async def _rows(db: "AsyncSession", first: date | None, last: date | None) -> list[dict[str, Any]]:
    from app.host import zone
    from app.host.attendance import queries as attendance_queries

    where = await zone.of(db)
    found = await db.execute(attendance_queries.for_export(first, last))
    return [attendance_queries.exported(row, where) for row in found]


def _write_csv(rows: Sequence[dict[str, Any]]) -> None:
    from app.host.attendance.queries import EXPORTED

    writer = csv.DictWriter(sys.stdout, EXPORTED, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    # Here click handles a reader that stops early (`| head`); at the end of the process it does not.
    sys.stdout.flush()


def _cell(value: Any) -> Any:
    """Several breaks share one cell, as on the page."""
    if isinstance(value, list):
        return ", ".join(value)
    return guarded(value) if isinstance(value, str) else value


def _write_jsonl(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False))


@click.command("attendance:lock")
@click.argument("first", type=frame.DAY, metavar="FROM")
@click.argument("last", type=frame.DAY, metavar="TO")
@frame.workspace_option
@frame.json_option
def attendance_lock(*, first: date, last: date, workspace: str, as_json: bool) -> None:
    """Lock the days from FROM to TO against attendance edits."""
    from app.accounts.audit import COMMAND_LINE
    from app.host.attendance import day_locks

    days = frame.in_transaction(lambda db: day_locks.lock(db, COMMAND_LINE, first, last), workspace)
    _tell_days("locked", days, as_json=as_json)


@click.command("attendance:unlock")
@click.argument("first", type=frame.DAY, metavar="FROM")
@click.argument("last", type=frame.DAY, metavar="TO")
@frame.workspace_option
@frame.json_option
def attendance_unlock(*, first: date, last: date, workspace: str, as_json: bool) -> None:
    """Open the days from FROM to TO again."""
    from app.accounts.audit import COMMAND_LINE
    from app.host.attendance import day_locks

    days = frame.in_transaction(lambda db: day_locks.unlock(db, COMMAND_LINE, first, last), workspace)
    _tell_days("unlocked", days, as_json=as_json)


def _tell_days(word: str, days: Sequence[date], *, as_json: bool) -> None:
    several = "day was" if len(days) == 1 else "days were"
    frame.answer({word: [day.isoformat() for day in days]}, f"{len(days)} {several} {word}.", as_json=as_json)


@click.command("attendance:add")
@click.argument("id_number", metavar="EMPLOYEE_ID_NUMBER")
@click.argument("clock_in", metavar="IN", type=frame.INSTANT)
@click.argument("clock_out", metavar="OUT", type=frame.INSTANT)
@click.option("--kind", type=click.Choice(("regular", "overtime")), default="regular", show_default=True)
@click.option("--note")
@frame.workspace_option
@frame.json_option
def attendance_add(
    *,
    id_number: str,
    clock_in: datetime,
    clock_out: datetime,
    kind: str,
    note: str | None,
    workspace: str,
    as_json: bool,
) -> None:
    """Add a record by hand. Times without an offset are those of the workspace's zone."""
    from app.accounts.audit import COMMAND_LINE
    from app.host import zone
    from app.host.attendance import records as attendance
    from app.host.attendance.doubtful import refuse_future
    from app.host.attendance.hours import Hours
    from app.host.people import people

    async def add(db: "AsyncSession") -> int:
        where = await zone.of(db)
        hours = Hours(frame.to_utc(clock_in, where), frame.to_utc(clock_out, where), kind=kind)
        refuse_future(hours, datetime.now(UTC))
        employee_id = await people.one_with_id_number(db, id_number)
        return await attendance.add(db, COMMAND_LINE, employee_id, hours, note)

    record_id = frame.in_transaction(add, workspace)
    frame.answer({"id": record_id}, f"Record {record_id} was added.", as_json=as_json)


@click.command("attendance:edit")
@click.argument("record_id", metavar="ID", type=frame.ID)
@click.option("--in", "clock_in", type=frame.INSTANT)
@click.option("--out", "clock_out", type=frame.INSTANT)
@click.option("--note", help="Default: the note it has.")
@frame.workspace_option
@frame.json_option
def attendance_edit(
    *,
    record_id: int,
    clock_in: datetime | None,
    clock_out: datetime | None,
    note: str | None,
    workspace: str,
    as_json: bool,
) -> None:
    """Change the times of a record. Values that you leave out stay."""
    if clock_in is None and clock_out is None and note is None:
        raise click.UsageError("give --in, --out or --note")
    from app.accounts.audit import COMMAND_LINE
    from app.errors import NotFound
    from app.host import zone
    from app.host.attendance import records as attendance
    from app.host.attendance.doubtful import refuse_future
    from app.host.attendance.hours import Hours
    from app.host.models import AttendanceRecord

    async def edit(db: "AsyncSession") -> bool:
        record = await db.get(AttendanceRecord, record_id)
        if record is None or record.deleted_at is not None:
            raise NotFound("There is no such record.")
        where = await zone.of(db)
        times = {"clock_in": clock_in, "clock_out": clock_out}
        given: dict[str, Any] = {name: frame.to_utc(time, where) for name, time in times.items() if time is not None}
        hours = replace(Hours.of(record), **given)
        refuse_future(hours, datetime.now(UTC), Hours.of(record))
        kept = record.note if note is None else note
        edited = await attendance.edit(db, COMMAND_LINE, record_id, hours, kept, seen=record.updated_at)
        return edited.changed

    changed = frame.in_transaction(edit, workspace)
    sentence = f"Record {record_id} was changed." if changed else "Nothing changed."
    frame.answer({"id": record_id, "changed": changed}, sentence, as_json=as_json)


@click.command("attendance:decide")
@click.argument("record_id", metavar="ID", type=frame.ID)
@click.argument("status", type=click.Choice(STATUSES))
@frame.workspace_option
@frame.json_option
def attendance_decide(*, record_id: int, status: str, workspace: str, as_json: bool) -> None:
    """Approve, reject or close a record."""
    from app.accounts.audit import COMMAND_LINE
    from app.host.attendance import records as attendance

    changed = frame.in_transaction(lambda db: attendance.decide(db, COMMAND_LINE, [record_id], status), workspace)
    sentence = f"Record {record_id} is {status}." if changed else f"Record {record_id} was {status} already."
    frame.answer({"id": record_id, "status": status, "changed": bool(changed)}, sentence, as_json=as_json)


@click.command("attendance:delete")
@click.argument("record_id", metavar="ID", type=frame.ID)
@frame.workspace_option
@frame.json_option
def attendance_delete(*, record_id: int, workspace: str, as_json: bool) -> None:
    """Delete a record; its punches turn to “Attendance deleted”."""
    from app.accounts.audit import COMMAND_LINE
    from app.host.attendance import records as attendance

    frame.in_transaction(lambda db: attendance.remove(db, COMMAND_LINE, [record_id]), workspace)
    frame.answer({"id": record_id, "deleted": True}, f"Record {record_id} was deleted.", as_json=as_json)


COMMANDS = (
    attendance_export,
    attendance_lock,
    attendance_unlock,
    attendance_add,
    attendance_edit,
    attendance_decide,
    attendance_delete,
)
