"""Whether an act asks for an import of what it marked, and whether judging that gives what judging everything would: a
difference is a missing mark, which only a *Retry* would cure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select

from app.accounts.models import Job
from app.clock.importing.batch import import_batch
from app.clock.models import Punch
from app.db.session import Database
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from tests.clock.mirrored import everything_due
from tests.clock.resolved import import_all


async def refuse(database: Database, codes: Sequence[str], now: datetime, done: Sequence[str]) -> None:
    """Imports what is marked. Fails where judging everything after that would change what is shown;
    `done` says what led there."""
    await import_all(database, now)
    async with database.transaction() as db:
        marked = await _seen(db)
        only_tried = await db.begin_nested()
        await everything_due(db)
        await import_batch(db, codes, now)
        everything = await _seen(db)
        await only_tried.rollback()
    assert marked == everything, _told(done, marked, everything)


async def refuse_unasked(database: Database, now: datetime, done: Sequence[str]) -> None:
    """Fails where punches are marked and no import was asked for: with the schedule off, nothing would follow."""
    async with database.transaction() as db:
        due = await db.scalar(select(func.count()).where(Punch.judge_at <= now))
        asked = (await db.execute(delete(Job).where(Job.name == "clock_import").returning(Job.id))).all()
    assert asked or not due, "\n".join([*done, "asked for no import"])


def _told(done: Sequence[str], marked: dict[str, Any], everything: dict[str, Any]) -> str:
    keys = sorted(key for key in marked.keys() | everything.keys() if marked.get(key) != everything.get(key))
    differences = [f"{key}: {marked.get(key)}, everything judged: {everything.get(key)}" for key in keys]
    return "\n".join([*done, *differences])


async def _seen(db: Any) -> dict[str, Any]:
    punches = await db.execute(
        select(Punch.punched_at_utc, Punch.emp_code, Punch.terminal_sn, Punch.punch_code, Punch.id,
               Punch.import_outcome, Punch.host_attendance_id)
    )  # fmt: skip
    records = await db.scalars(select(AttendanceRecord).execution_options(populate_existing=True))
    hours = {one.id: (one.employee_id, Hours.of(one), one.deleted_at is None) for one in records}
    found: dict[str, Any] = {
        f"punch {code}/{sn}/{number} {at:%d %H:%M:%S} ({key})": (word, hours.get(record))
        for at, code, sn, number, key, word, record in punches
    }
    return found | {"records": sorted(map(str, hours.values()))}
