"""What pages and API read of the mirror: rows as they are stored, joined with the names that belong to them.
No writes here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, any_, func, not_, select, text, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.clock.models import Area, Binding, ClockEmployee, Department, Device, Position, Punch
from app.clock.punches import week_counts
from app.clock.punches.day_counts import NOT_JUDGED, count_by_day
from app.clock.punches.punch_filter import PunchFilter, both
from app.db.among import among
from app.db.located import Counted, is_dense
from app.db.rows import plain, plan_each
from app.host.models import Employee

HOST_NAME = Employee.name.label("host_employee_name")
_AREAS_CHANGED_AT = (
    select(func.max(Area.updated_at)).where(Area.code == any_(ClockEmployee.area_codes)).scalar_subquery()
)
# The names that a row shows are part of it: a client that follows changes must see a renamed department too.
BINDING_CHANGED_AT = func.greatest(Binding.updated_at, ClockEmployee.updated_at, Employee.updated_at)
EMPLOYEE_CHANGED_AT = func.greatest(BINDING_CHANGED_AT, Department.updated_at, Position.updated_at, _AREAS_CHANGED_AT)
BINDING_COLUMNS = (
    Binding.id,
    Binding.emp_code,
    Binding.state,
    Binding.method,
    Binding.host_employee_id,
    HOST_NAME,
    Binding.candidates,
    Binding.decided_by,
    Binding.decided_at,
    BINDING_CHANGED_AT.label("changed_at"),
    ClockEmployee.full_name,
)
BINDINGS = (
    select(*BINDING_COLUMNS)
    .join(ClockEmployee, ClockEmployee.id == Binding.clock_employee_id)
    .outerjoin(Employee, Employee.id == Binding.host_employee_id)
)
EMPLOYEES = (
    select(
        *ClockEmployee.__table__.c,
        Department.name.label("department_name"),
        Position.name.label("position_name"),
        Binding.state,
        Binding.method,
        Binding.host_employee_id,
        HOST_NAME,
        Binding.decided_by,
        Binding.decided_at,
        EMPLOYEE_CHANGED_AT.label("changed_at"),
    )
    .join(Binding, Binding.clock_employee_id == ClockEmployee.id)
    .outerjoin(Department, Department.code == ClockEmployee.department_code)
    .outerjoin(Position, Position.code == ClockEmployee.position_code)
    .outerjoin(Employee, Employee.id == Binding.host_employee_id)
)
PUNCHES = (
    select(
        *Punch.__table__.c,
        ClockEmployee.full_name.label("employee_name"),
        ClockEmployee.id.label("clock_employee_id"),
        func.greatest(Punch.updated_at, ClockEmployee.named_at).label("changed_at"),
        func.coalesce(Device.alias, Punch.terminal_alias).label("alias"),
        Device.id.label("device_id"),
        Device.direction.label("terminal_direction"),
        Binding.state.label("binding_state"),
    )
    .outerjoin(ClockEmployee, ClockEmployee.emp_code == Punch.emp_code)
    .outerjoin(Binding, Binding.clock_employee_id == ClockEmployee.id)
    .outerjoin(Device, Device.sn == Punch.terminal_sn)
)
# Every row is stamped with the start of the transaction that writes it. One that has only read so far may write yet.
FEW = 20_000
_AROUND = text(
    """
    SELECT (SELECT count(*) FROM (SELECT FROM clock_transactions WHERE updated_at < :since LIMIT :few) AS one) AS before,
        (SELECT count(*) FROM (SELECT FROM clock_transactions WHERE updated_at >= :since LIMIT :few) AS other) AS after
    """
)


def by_time(of: type[Punch], *, newest_first: bool) -> tuple[ColumnElement[Any], ...]:
    """The order of the list."""
    columns = (of.local_date, of.punched_at_utc, of.id)
    return tuple(column.desc() if newest_first else column.asc() for column in columns)


@dataclass(frozen=True, slots=True)
class PunchPage:
    rows: Sequence[Any]
    total: int


async def punches_of_records(db: AsyncSession, record_ids: Sequence[int]) -> dict[int, list[int]]:
    """Ids of the punches behind attendance records, oldest first, by record."""
    found: dict[int, list[int]] = {}
    behind = select(Punch.host_attendance_id, Punch.id).where(among(Punch.host_attendance_id, record_ids))
    for record_id, punch_id in await db.execute(behind.order_by(Punch.punched_at_utc, Punch.id)):
        found.setdefault(record_id or 0, []).append(punch_id)
    return found


async def punch_page(db: AsyncSession, wanted: PunchFilter, *, page: int, per_page: int) -> PunchPage:
    """One page, newest first: one SELECT that counts and locates, one for the rows."""
    counted = await counted_by_day(db, wanted)
    rows = await located_rows(db, wanted, counted, newest_first=True, offset=(page - 1) * per_page, per_page=per_page)
    return PunchPage(rows, counted.total)


async def located_rows(
    db: AsyncSession, wanted: PunchFilter, counted: Counted, *, newest_first: bool, offset: int, per_page: int
) -> Sequence[Any]:
    """The rows of a page; `counted` is in the same order, so that only the page's own days are read,
    however deep it is."""
    if isinstance(counted, week_counts.ByWeek):
        counted, offset = await week_counts.narrowed(db, counted, offset, per_page)
    days, skip = counted.locate(offset, per_page)
    if not days:
        return []
    parts = [
        select(Punch.local_date, Punch.punched_at_utc, Punch.id)
        .where(part.condition(), _on(days))
        .order_by(*by_time(Punch, newest_first=newest_first))
        .limit(skip + per_page)
        .subquery()
        for part in wanted.by_index()
    ]
    found = aliased(Punch, parts[0] if len(parts) == 1 else union_all(*(select(part) for part in parts)).subquery())
    ids = select(found.id).order_by(*by_time(found, newest_first=newest_first)).limit(per_page).offset(skip)
    return await plain(db, PUNCHES.where(Punch.id.in_(ids)).order_by(*by_time(Punch, newest_first=newest_first)))


def _on(days: Sequence[date]) -> ColumnElement[bool]:
    """A range walks the index in order; single days far apart are looked up one by one."""
    first, last = min(days), max(days)
    within = Punch.local_date.between(first, last)
    return within if is_dense(days) else and_(within, Punch.local_date.in_(days))


async def counted_by_day(db: AsyncSession, wanted: PunchFilter) -> Counted:
    """How many punches a filter holds on each local day, newest first; of many people in each week.

    Afterwards PostgreSQL plans each statement of this transaction for its own values: a common plan for one code and
    for five hundred, or for a rare and a frequent outcome, suits neither.
    """
    await plan_each(db)
    either = replace(wanted, settled=None, open_of=())
    if either.countable and (wanted.settled is False or (wanted.open_of and wanted.settled is None)):
        of = None if wanted.settled is False else (*wanted.open_of, NOT_JUDGED)
        without = replace(either, settled=True, outcomes=both(either.outcomes, of))
        return (await _counted(db, either)).less(await _counted_fresh(db, without))
    return await _counted(db, wanted)


async def _counted(db: AsyncSession, wanted: PunchFilter) -> Counted:
    if wanted.countable:
        return await count_by_day(db, days=wanted.days, equal=wanted.equalities())
    if wanted.emp_codes is not None and wanted.is_of_people and not wanted.equalities():
        if wanted.other_codes is not None:
            return await week_counts.count_by_week_but(db, wanted.other_codes, wanted.days)
        return await week_counts.count_by_week(db, wanted.emp_codes, wanted.days)
    if wanted.other_codes is not None and wanted.is_of_people:
        everybody = await counted_by_day(db, replace(wanted, emp_codes=None, other_codes=None))
        return everybody.less(await _counted_fresh(db, replace(wanted, emp_codes=wanted.other_codes)))
    ever = replace(wanted, updated_since=None, renamed=())
    if wanted.updated_since is not None and ever.countable and await _are_few_before(db, wanted.updated_since):
        before = await _counted_fresh(db, replace(ever, other=not_(wanted.changed(wanted.updated_since))))
        return (await counted_by_day(db, ever)).less(before)
    return await _counted_fresh(db, wanted)


async def renamed_since(db: AsyncSession, since: datetime) -> tuple[str, ...]:
    """Codes of the people whose name changed since an instant:
    their punches show it, though nothing was written to them."""
    return tuple(await db.scalars(select(ClockEmployee.emp_code).where(ClockEmployee.named_at >= since)))


async def _are_few_before(db: AsyncSession, since: datetime) -> bool:
    """True when it is quicker to count what changed before an instant than what changed since: a client that begins to
    follow asks for everything."""
    before, after = (await db.execute(_AROUND, {"since": since, "few": FEW})).one()
    return bool(before < FEW <= after)


async def _counted_fresh(db: AsyncSession, wanted: PunchFilter) -> Counted:
    statement = select(Punch.local_date, func.count()).where(wanted.condition()).group_by(Punch.local_date)
    rows = await db.execute(statement.order_by(Punch.local_date.desc()))
    return Counted([(day, count) for day, count in rows])


async def punches_after(
    db: AsyncSession, wanted: PunchFilter, after: tuple[date, datetime, int] | None, *, per_page: int
) -> Sequence[Any]:
    """The rows that follow a cursor, newest first; one more than a page,
    so that the caller sees whether more follow."""
    condition = wanted.condition()
    if after is not None:
        condition = and_(condition, tuple_(Punch.local_date, Punch.punched_at_utc, Punch.id) < tuple_(*after))
    order = by_time(Punch, newest_first=True)
    ids = select(Punch.id).where(condition).order_by(*order).limit(per_page + 1)
    return await plain(db, PUNCHES.where(Punch.id.in_(ids)).order_by(*order))
