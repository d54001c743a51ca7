"""Fills the mirror directly, for tests that begin where the sync has ended:
a connection, people bound to employees, punches."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Binding, ClockEmployee, Connection, Device, Punch
from app.clock.punches.daily_totals import mark_stale
from app.host.models import AttendanceRecord, Employee
from app.texts import id_number_key
from tests.clock.mirror_store import CODES, when

_numbers = count(1)


async def connect(db: AsyncSession, zone: str = "UTC", **more: Any) -> None:
    fields = {"base_url": "http://127.0.0.1:1", "username": "u", "password": "sealed", "profile": "cloud"}
    await db.execute(insert(Connection).values(timezone=zone, status="healthy", **fields, **more))


async def employ(db: AsyncSession, name: str, id_number: str = "", **more: Any) -> int:
    number = id_number or f"H{next(_numbers)}"
    values = {"name": name, "id_number": number, "id_number_key": id_number_key(number), **more}
    return (await db.scalar(insert(Employee).values(**values).returning(Employee.id))) or 0


async def mirror_person(db: AsyncSession, code: str, host_employee_id: int | None = None, **more: Any) -> int:
    """A mirrored person; with an employee it is bound to them, else its state is `state` (unbound)."""
    state = more.pop("state", "bound" if host_employee_id else "unbound")
    person = {"emp_code": code, "full_name": more.pop("full_name", f"Person {code}"), **more}
    person_id = await db.scalar(insert(ClockEmployee).values(**person).returning(ClockEmployee.id))
    binding = {"clock_employee_id": person_id, "emp_code": code, "state": state, "host_employee_id": host_employee_id}
    binding["method"] = "manual" if host_employee_id else None
    return (await db.scalar(insert(Binding).values(**binding).returning(Binding.id))) or 0


async def mirror_terminal(db: AsyncSession, sn: str, **more: Any) -> None:
    await db.execute(insert(Device).values(sn=sn, **more))


async def punch(db: AsyncSession, code: str, taps: str, *, zone: str = "UTC", sn: str = "T1") -> None:
    """`punch(db, "100", "I 08:00, O 17:00")`, in the notation of mirror_store; `a` needs an undirected terminal."""
    where = ZoneInfo(zone)
    rows = []
    for tap in filter(None, (part.strip() for part in taps.split(","))):
        sign, _, moment = tap.partition(" ")
        at = when(moment, where)
        local = at.astimezone(where).replace(tzinfo=None)
        rows.append(
            {
                "id_generation": 1,
                "remote_id": str(next(_numbers)),
                "emp_code": code,
                "terminal_sn": sn,
                "punch_code": CODES[sign],
                "punched_at_raw": str(local),
                "punched_at_local": local,
                "punched_at_utc": at.astimezone(UTC),
                "local_date": local.date(),
            }
        )
    await db.execute(insert(Punch), rows)
    await mark_stale(db, {row["local_date"] for row in rows})


async def outcomes(db: AsyncSession, code: str | None = None) -> list[tuple[str, str | None]]:
    """(local time, outcome) of every punch, in time order."""
    wanted = select(Punch.punched_at_local, Punch.import_outcome).order_by(Punch.punched_at_utc, Punch.id)
    rows = await db.execute(wanted.where(Punch.emp_code == code) if code else wanted)
    return [(f"{at:%H:%M:%S}".removesuffix(":00"), outcome) for at, outcome in rows]


async def records(db: AsyncSession) -> Sequence[tuple[datetime, datetime | None]]:
    rows = await db.execute(
        select(AttendanceRecord.clock_in, AttendanceRecord.clock_out)
        .where(AttendanceRecord.deleted_at.is_(None))
        .order_by(AttendanceRecord.clock_in)
    )
    return [(start, end) for start, end in rows]


async def everything_due(db: AsyncSession) -> None:
    await db.execute(update(Punch).values(judge_at=func.clock_timestamp()))
