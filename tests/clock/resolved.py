"""What the tests of why and resolutions share: Ada bound to 100, imports, and finding a punch by its local time."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import select

from app.clock.importing import import_due
from app.clock.models import Punch
from app.clock.review.why import Why, why
from app.db.session import Database
from app.host.models import AttendanceRecord
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch


async def ada_works(database: Database, taps: str, *, direction: str | None = None, now: datetime = FAR) -> int:
    """Ada's punches of code 100 at terminal T1 in UTC, imported; her employee id."""
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T1", alias="Gate", direction=direction)
        ada = await employ(db, "Ada Lovelace")
        await mirror_person(db, "100", ada)
    await then(database, taps, now=now)
    return ada


async def then(database: Database, taps: str, code: str = "100", now: datetime = FAR) -> None:
    """More taps, and a judging pass."""
    async with database.transaction() as db:
        await punch(db, code, taps)
    await import_all(database, now)


async def import_all(database: Database, now: datetime = FAR) -> None:
    await import_due.import_due(partial(database.transaction, "main"), now=now)


async def id_of(database: Database, local: str, code: str = "100") -> int:
    """`id_of(database, "Mon 08:00")`."""
    async with database.transaction() as db:
        found = await db.execute(
            select(Punch.id, Punch.punched_at_local).where(Punch.emp_code == code).order_by(Punch.id)
        )
        return next(punch_id for punch_id, at in found if local in (f"{at:%a %H:%M}", f"{at:%a %H:%M:%S}"))


async def why_of(database: Database, local: str, code: str = "100", now: datetime = FAR) -> Why:
    punch_id = await id_of(database, local, code)
    async with database.transaction() as db:
        return await why(db, punch_id, now)


async def records_of(database: Database) -> list[tuple[int, str]]:
    """(owner, `Mon 08:00-17:00`) of every record that stands, by clock-in."""
    async with database.transaction() as db:
        rows = await db.execute(
            select(AttendanceRecord.employee_id, AttendanceRecord.clock_in, AttendanceRecord.clock_out)
            .where(AttendanceRecord.deleted_at.is_(None))
            .order_by(AttendanceRecord.clock_in)
        )
        return [
            (owner, f"{_at(start):%a %H:%M}-{_at(end):%H:%M}" if end else f"{_at(start):%a %H:%M}-")
            for owner, start, end in rows
        ]


async def record_id(database: Database, place: int = 0) -> int:
    async with database.transaction() as db:
        return list(await db.scalars(select(AttendanceRecord.id).order_by(AttendanceRecord.clock_in)))[place]


def _at(instant: datetime) -> datetime:
    return instant.astimezone(UTC)


async def columns_of(database: Database, punch_id: int) -> Any:
    async with database.transaction() as db:
        return (await db.execute(select(*Punch.__table__.c).where(Punch.id == punch_id))).one()
