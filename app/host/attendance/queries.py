"""What the attendance pages and the export read: records with their people, sums, and where a record came from."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import (
    ColumnElement,
    Date,
    Float,
    Row,
    Select,
    and_,
    any_,
    cast,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    true,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.counting import near
from app.db.among import among
from app.db.searching import contains
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord, DayLock, Employee

# How far back a page of one person goes.
MONTHS = 12
# Most records have no breaks, and a sub-select for each of them takes longer than all else.
_PAUSED: ColumnElement[float] = literal_column(
    "CASE WHEN attendance_records.breaks = '{}' THEN 0 ELSE"
    " (SELECT coalesce(sum(extract(epoch FROM upper(pause) - lower(pause))), 0)"
    " FROM unnest(attendance_records.breaks) AS pause) END",
    Float,
)
# Seconds, less the breaks; null while a record is open.
WORKED: ColumnElement[float] = (
    cast(func.extract("epoch", AttendanceRecord.clock_out - AttendanceRecord.clock_in), Float) - _PAUSED
)
LIVE = AttendanceRecord.deleted_at.is_(None)
RECORDS: Select[Any] = (
    select(
        *AttendanceRecord.__table__.columns,
        WORKED.label("worked_s"),
        Employee.name,
        Employee.id_number,
        Employee.department,
        DayLock.day.is_not(None).label("locked"),
    )
    .join(Employee, Employee.id == AttendanceRecord.employee_id)
    .outerjoin(DayLock, DayLock.day == AttendanceRecord.workday)
)
_SUMS: tuple[Any, ...] = (
    func.count().label("records"),
    func.count(AttendanceRecord.employee_id.distinct()).label("people"),
    func.coalesce(func.sum(WORKED).filter(AttendanceRecord.status != "rejected"), 0).label("worked_s"),
    func.count().filter(AttendanceRecord.status == "pending").label("pending"),
    func.count().filter(AttendanceRecord.clock_out.is_(None)).label("open"),
)
EXPORTED = (
    "id",
    "id_number",
    "name",
    "department",
    "workday",
    "kind",
    "status",
    "source",
    "clock_in",
    "clock_out",
    "breaks",
    "worked_hours",
    "note",
)


@dataclass(frozen=True, slots=True)
class SourceLink:
    """Something that a record came from. `permission` is what a person needs to open it."""

    label: str
    url: str
    permission: str


LinkProvider = Callable[[AsyncSession, int], Awaitable[Sequence[SourceLink]]]
_providers: list[LinkProvider] = []


def offer_links(provider: LinkProvider) -> None:
    """Registers who knows what a record came from; a second time changes nothing. Called by app.wiring."""
    if provider not in _providers:
        _providers.append(provider)


async def links_of(db: AsyncSession, record_id: int) -> list[SourceLink]:
    return [link for provider in _providers for link in await provider(db, record_id)]


def sums(which: ColumnElement[bool]) -> Select[Any]:
    """One row over the live records of `which`: how many records and people, seconds worked (without rejected records),
    pending and open records."""
    return (
        select(*_SUMS)
        .select_from(AttendanceRecord)
        .join(Employee, Employee.id == AttendanceRecord.employee_id)
        .where(LIVE, which)
    )


def sums_up_to(most: int, which: ColumnElement[bool], parts: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The sums of `which`, a condition that may name day locks too. Beyond `most` records the count stops at one more,
    and the other sums are 0. `parts` let through the same, each record once: an index has those of each."""
    some = union_all(*(keys(part) for part in parts)).limit(most + 1).subquery()
    number = select(func.count().label("records")).select_from(some).cte("counted")
    few = sums(which).outerjoin(DayLock, DayLock.day == AttendanceRecord.workday).where(number.c.records <= most)
    summed = few.lateral("summed")
    columns = [column for column in summed.c if column.name != "records"]
    return select(number.c.records, *columns).select_from(number.join(summed, true()))


def mention(text_: str) -> ColumnElement[bool]:
    """Records in which every word occurs in the person's name or ID number, or in the note. People are looked up first:
    their records and the few with a note are then found by indexes."""
    return or_(_of_people_with(text_), _noted(text_))


def mentions(text_: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The same in two parts: the records of such people, and those that only a note mentions."""
    people = _of_people_with(text_)
    return people, and_(_noted(text_), not_(people))


def _noted(text_: str) -> ColumnElement[bool]:
    words = [or_(_of_people_with(word), contains(AttendanceRecord.note)(word)) for word in text_.split()]
    return and_(AttendanceRecord.note.is_not(None), *words)


def _of_people_with(words: str) -> ColumnElement[bool]:
    people = select(Employee.id).where(contains(Employee.name, Employee.id_number)(words)).correlate(None)
    return AttendanceRecord.employee_id == any_(func.array(people.scalar_subquery()))


def keys(which: ColumnElement[bool]) -> Select[Any]:
    """The ids of the records of `which`, as above. Joins that the condition does not use cost nothing."""
    return (
        select(AttendanceRecord.id)
        .outerjoin(Employee, Employee.id == AttendanceRecord.employee_id)
        .outerjoin(DayLock, DayLock.day == AttendanceRecord.workday)
        .where(LIVE, which)
    )


def by_month(employee_id: int) -> Select[Any]:
    """The sums of a person's live records for each of the newest MONTHS months that have one. `month` and `last` are
    its days."""
    month = cast(func.date_trunc("month", AttendanceRecord.workday), Date).label("month")
    last = cast(month + text("interval '1 month - 1 day'"), Date).label("last")
    days = func.count(AttendanceRecord.workday.distinct()).label("days")
    return (
        sums(AttendanceRecord.employee_id == employee_id)
        .add_columns(month, last, days)
        .group_by(month)
        .order_by(month.desc())
        .limit(MONTHS)
    )


def around_day(day: date) -> tuple[ColumnElement[Any], ...]:
    """Columns for a page of one day: who locked it, and the next days before and after it that have records."""
    locked_by = select(DayLock.locked_by).where(DayLock.day == day)
    earlier = select(func.max(AttendanceRecord.workday)).where(AttendanceRecord.workday < day, LIVE)
    later = select(func.min(AttendanceRecord.workday)).where(AttendanceRecord.workday > day, LIVE)
    return (
        locked_by.correlate(None).scalar_subquery().label("locked_by"),
        earlier.correlate(None).scalar_subquery().label("earlier"),
        later.correlate(None).scalar_subquery().label("later"),
    )


def of_person(employee_id: int) -> tuple[ColumnElement[Any], ...]:
    """Columns for a page of one person; `person_name` is null when there is no such person."""
    mine = Employee.__table__.alias("mine")
    return tuple(
        select(mine.c[name]).where(mine.c.id == employee_id).scalar_subquery().label(f"person_{name}")
        for name in ("name", "id_number", "active", "deleted_at")
    )


async def changeable(db: AsyncSession, ids: Sequence[int], status: str | None) -> list[int]:
    """Those of these records that are not on a locked day, and whose status differs from `status`, if one is given."""
    differs = AttendanceRecord.status != status if status else true()
    free = ~select(DayLock.day).where(DayLock.day == AttendanceRecord.workday).exists()
    return list(
        await db.scalars(select(AttendanceRecord.id).where(among(AttendanceRecord.id, ids), LIVE, differs, free))
    )


def for_export(first: date | None = None, last: date | None = None) -> Select[Any]:
    """The live records of workdays from `first` to `last`, both included, either open; in order. Rows: `exported`."""
    statement = RECORDS.where(LIVE).order_by(AttendanceRecord.workday, AttendanceRecord.id)
    if first:
        statement = statement.where(AttendanceRecord.workday >= first)
    return statement.where(AttendanceRecord.workday <= last) if last else statement


def exported(row: Row[Any], zone: ZoneInfo) -> dict[str, Any]:
    """A record as both exports write it: times with the zone's offset, breaks as `start/end`."""
    return {
        "id": row.id,
        "id_number": row.id_number,
        "name": row.name,
        "department": row.department,
        "workday": row.workday.isoformat(),
        "kind": row.kind,
        "status": row.status,
        "source": row.source,
        "clock_in": row.clock_in.astimezone(zone).isoformat(),
        "clock_out": row.clock_out.astimezone(zone).isoformat() if row.clock_out else None,
        "breaks": breaks(row, zone),
        "worked_hours": worked_hours(row),
        "note": row.note,
    }


def breaks(row: Any, zone: ZoneInfo) -> list[str]:
    """ISO 8601 intervals."""
    return [
        f"{out.astimezone(zone).isoformat()}/{back.astimezone(zone).isoformat()}" for out, back in Hours.of(row).breaks
    ]


def worked_hours(row: Any) -> float | None:
    worked = Hours.of(row).worked
    return None if worked is None else near(worked.total_seconds() / 3600, 4)
