"""Short ways to say who works here and when, for the tests of people and attendance."""

from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.accounts.models import AuditEntry
from app.host import events
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord, Employee
from app.host.people import people
from app.host.people.people import EmployeeDetails

ALICE = Actor(1, "Alice Ahn")


def at(clock: str, day: str = "2026-11-20") -> datetime:
    """An instant in UTC: `08:00`, or `22:00 2026-11-19`."""
    clock, _, other = clock.partition(" ")
    return datetime.fromisoformat(f"{other or day}T{clock}").replace(tzinfo=UTC)


def hours(clock_in: str, clock_out: str | None = None, *breaks: tuple[str, str], kind: str = "regular") -> Hours:
    pauses = tuple((at(out), at(back)) for out, back in breaks)
    return Hours(at(clock_in), at(clock_out) if clock_out else None, pauses, kind)


async def hire(db: AsyncSession, name: str = "Ada Lovelace", id_number: str = "1", **details: object) -> int:
    return await people.add(db, ALICE, EmployeeDetails(id_number, name, **details))  # type: ignore[arg-type]


async def work(db: AsyncSession, employee_id: int, *span: str, kind: str = "regular") -> int:
    return await attendance.add(db, ALICE, employee_id, hours(*span, kind=kind))


async def record_of(db: AsyncSession, record_id: int) -> AttendanceRecord:
    statement = select(AttendanceRecord).where(AttendanceRecord.id == record_id)
    return (await db.scalars(statement.execution_options(populate_existing=True))).one()


async def employee_of(db: AsyncSession, employee_id: int) -> Employee:
    statement = select(Employee).where(Employee.id == employee_id)
    return (await db.scalars(statement.execution_options(populate_existing=True))).one()


async def acts_on(db: AsyncSession, subject_type: str, subject_id: object) -> list[AuditEntry]:
    """The audit of one subject, oldest first."""
    statement = select(AuditEntry).where(
        AuditEntry.subject_type == subject_type, AuditEntry.subject_id == str(subject_id)
    )
    return list(await db.scalars(statement.order_by(AuditEntry.id)))


class Ear:
    """A listener that remembers what it was told."""

    def __init__(self) -> None:
        self.heard: list[events.Event] = []

    async def __call__(self, db: AsyncSession, event: events.Event) -> None:
        self.heard.append(event)
