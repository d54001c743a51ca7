"""Asking for a past range again, and starting over after the server's database was restored.
Reading is punch_sync.py's."""

from collections.abc import Sequence
from datetime import date, datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.clock.connection import lease
from app.clock.connection import saved as connection
from app.clock.mirror import cursors
from app.clock.mirror.cursors import PUNCHES, START
from app.clock.mirror.shortfalls import Shortfall, pending_with
from app.clock.models import Connection, Cursor
from app.clock.settings import EARLIEST, read_settings, write_settings
from app.clock.sync import run_rows
from app.clock.zones import zone_day
from app.errors import Invalid

LONGEST_YEARS = 10
LONGEST = LONGEST_YEARS * 366
# It is part of the name of a stretch, which an index holds.
LONGEST_CODE = 200


async def ask(
    db: AsyncSession, actor: audit.Actor, first: date, last: date, emp_codes: Sequence[str] = (), *, today: date
) -> list[str]:
    """Writes down that these local days (both inclusive) are to be read again, of some people or of all;
    the live cursor stays.

    Returns the names of the stretches, for `asked`. The current run or the next one reads them; the caller starts one.
    Raises Invalid for a wrong range or code, and for a range that lies behind the purge.
    """
    _check(first, last, today)
    _refuse_purged(last, (await read_settings(db)).kept_from(today))
    if not all(code.strip() and len(code) <= LONGEST_CODE for code in emp_codes):
        raise Invalid.at("emp_codes", f"A code has 1 to {LONGEST_CODE} characters.")
    await connection.required(db)
    windows = []
    codes: list[str | None] = [*dict.fromkeys(emp_codes)]
    for code in codes or [None]:
        window = f"asked:{first}:{last}" + (f":{code}" if code else "")
        # What stays incomplete rests until tomorrow, unless a person asks.
        # What they accepted as missing stays accepted.
        found = await cursors.read(db, PUNCHES, window)
        short = Shortfall.of(found)
        kept = short if short is not None and short.is_accepted else None
        await cursors.write(
            db, PUNCHES, window, kind="asked", state="open", starts_on=first, ends_on=last, done_until=first,
            slice_until=None, emp_code=code, note=None, pending=pending_with(found, kept), **START.columns(),
        )  # fmt: skip
        windows.append(window)
    after = {"from": first.isoformat(), "to": last.isoformat(), "emp_codes": list(emp_codes)}
    await audit.record(db, actor, "clock.backfill", "sync_cursor", windows[0], after=after)
    return windows


async def asked(db: AsyncSession) -> Sequence[Cursor]:
    """Every range that was asked for, newest first; `done_until` of `ends_on` is its progress."""
    return (await db.scalars(select(Cursor).where(Cursor.kind == "asked").order_by(Cursor.updated_at.desc()))).all()


async def start_over(db: AsyncSession, actor: audit.Actor, from_date: date, now: datetime) -> None:
    """The server's ids began again: everything from a local date on is read again under a new generation of ids.

    Punches that are known keep their row, their record and their outcome; they only get their new id.
    A run under way ends.
    """
    found = await connection.required(db)
    _check(from_date, from_date, zone_day(found, now))
    await lease.break_off(db)
    await cursors.start_over(db)
    await db.execute(update(Connection).values(id_generation=Connection.id_generation + 1))
    await write_settings(db, actor, {"history_start": from_date}, now)
    await audit.record(
        db, actor, "clock.start_over", "clock_connection", 1,
        before={"id_generation": found.id_generation},
        after={"id_generation": found.id_generation + 1, "from": from_date.isoformat()},
    )  # fmt: skip


async def queue(db: AsyncSession, actor: audit.Actor, trigger: str = "manual") -> tuple[int, bool]:
    """A run that reads punches alone, or the one that is there already."""
    return await run_rows.queue_run(db, trigger, {"resources": [PUNCHES]}, actor)


def _check(first: date, last: date, today: date) -> None:
    if first > last:
        sentence = "The range ends before it begins."
    elif first < EARLIEST or (last - first).days > LONGEST:
        sentence = f"The range is longer than {LONGEST_YEARS} years, or lies before {EARLIEST.year}."
    elif first > today:
        sentence = "The range begins in the future."
    else:
        return
    raise Invalid.at("from", sentence)


def _refuse_purged(last: date, kept_from: date) -> None:
    if last < kept_from:
        sentence = f"Punches before {kept_from} are not kept; raise retain_transactions_days to read them again."
        raise Invalid.at("to", sentence)
