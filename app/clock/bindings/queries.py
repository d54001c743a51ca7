"""What Employees & Bindings reads besides its list: one person in full, and what an act would do before it is done.
No writes."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Text, case, cast, exists, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings.rows import DECIDED
from app.clock.codes import BindingState
from app.clock.models import (
    Binding,
    BindingChange,
    ClockEmployee,
    Connection,
    Department,
    Device,
    Position,
    Punch,
    Setting,
)
from app.clock.punches import waiting_counts
from app.db.among import among
from app.db.searching import contains, words_in
from app.errors import NotFound
from app.host.models import Employee

RECENT = 12
HISTORY = 30
MOST_HOSTS = 20
# Initials are in most names.
_WORD = re.compile(r"[^\W_]{2,}")
_CODES = (
    select(func.string_agg(Binding.emp_code, ", "))
    .where(Binding.host_employee_id == Employee.id)
    .scalar_subquery()
    .label("codes")
)
_HOSTS = select(Employee.id, Employee.name, Employee.id_number, Employee.department, Employee.active, _CODES).where(
    Employee.deleted_at.is_(None)
)
WAITS = text(waiting_counts.WAITS)
_HISTORY_HOST = select(Employee.name).where(Employee.id == BindingChange.host_employee_id).scalar_subquery()
_WAITING = select(func.count()).where(Punch.emp_code == ClockEmployee.emp_code, WAITS).scalar_subquery()
_ONE_COLUMNS: tuple[Any, ...] = (
    *ClockEmployee.__table__.c,
    Department.name.label("department"),
    Position.name.label("position"),
    Binding.id.label("binding_id"),
    *DECIDED,
    Binding.decided_by,
    Binding.decided_at,
    Binding.reason,
    Employee.name.label("host_name"),
    Employee.id_number.label("host_number"),
    Employee.active.label("host_active"),
    Employee.deleted_at.label("host_deleted_at"),
    _WAITING.label("waiting"),
    select(Connection.timezone).scalar_subquery().label("zone"),
    select(Connection.profile).scalar_subquery().label("profile"),
    select(Setting.value).where(Setting.name == "show_photos").scalar_subquery().label("show_photos"),
)
_IGNORES_ZEROS = exists().where(Setting.name == "ignore_leading_zeros", cast(Setting.value, Text) == "true")


def _number_key(number: ColumnElement[str]) -> ColumnElement[str]:
    """As app.clock.bindings.directory.number_key has it, of a number that is trimmed and in small letters."""
    bare = func.coalesce(func.nullif(func.ltrim(number, "0"), ""), func.right(number, 1))
    return case((_IGNORES_ZEROS, bare), else_=number)


CODE_KEY = _number_key(func.lower(func.btrim(ClockEmployee.emp_code)))
_HOLDERS = Employee.__table__.alias()
HOLDER_KEY = _number_key(_HOLDERS.c.id_number_key)
# An employee has the code as ID number, perhaps one who is inactive or deleted. One read of all ID numbers.
NUMBER_IS_TAKEN: ColumnElement[bool] = CODE_KEY.in_(select(HOLDER_KEY))


async def with_number(db: AsyncSession, emp_code: str) -> list[int]:
    """Locks the employees who have the code as ID number, those who are inactive or deleted, too. Returns their ids."""
    same = _number_key(_HOLDERS.c.id_number_key) == _number_key(func.lower(func.btrim(literal(emp_code))))
    return list(await db.scalars(select(_HOLDERS.c.id).where(same).order_by(_HOLDERS.c.id).with_for_update()))


def of_people(*columns: Any) -> Select[Any]:
    """These columns of mirrored people, and of their binding, department, position and host employee."""
    return (
        select(*columns)
        .select_from(ClockEmployee)
        .join(Binding, Binding.clock_employee_id == ClockEmployee.id)
        .outerjoin(Department, Department.code == ClockEmployee.department_code)
        .outerjoin(Position, Position.code == ClockEmployee.position_code)
        .outerjoin(Employee, Employee.id == Binding.host_employee_id)
    )


_ONE = of_people(*_ONE_COLUMNS)
_CHANGES_COLUMNS: tuple[Any, ...] = (
    BindingChange.at,
    BindingChange.from_state,
    BindingChange.to_state,
    BindingChange.method,
    BindingChange.decided_by,
    BindingChange.why,
    _HISTORY_HOST.label("host_name"),
)
_CHANGES: Select[Any] = select(*_CHANGES_COLUMNS).order_by(BindingChange.id.desc()).limit(HISTORY)
_PUNCHES_COLUMNS: tuple[Any, ...] = (
    Punch.id,
    Punch.punched_at_utc,
    Punch.punched_at_local,
    Punch.punch_code,
    Punch.import_outcome,
    Punch.host_attendance_id,
    func.coalesce(Device.alias, Punch.terminal_alias, Punch.terminal_sn).label("terminal"),
)
_PUNCHES: Select[Any] = (
    select(*_PUNCHES_COLUMNS)
    .select_from(Punch)
    .outerjoin(Device, Device.sn == Punch.terminal_sn)
    .order_by(Punch.punched_at_utc.desc(), Punch.id.desc())
    .limit(RECENT)
)
_REBINDING = text(
    """
    SELECT count(*) FILTER (WHERE r.employee_id <> :host) AS punches,
        count(DISTINCT r.id) FILTER (WHERE r.employee_id <> :host) AS records,
        count(*) FILTER (WHERE p.host_attendance_id IS NULL) AS waiting,
        (SELECT string_agg(DISTINCT e.name, ', ') FROM employees e WHERE e.id = ANY(array_agg(r.employee_id)) AND e.id <> :host) AS owners
    FROM clock_transactions p LEFT JOIN attendance_records r ON r.id = p.host_attendance_id WHERE p.emp_code = :code
    """
)
_ENDING = text(
    """
    SELECT count(*) AS links,
        coalesce(sum((SELECT count(*) FROM clock_transactions p
            WHERE p.emp_code = b.emp_code AND p.host_attendance_id IS NOT NULL)), 0)::bigint AS standing,
        coalesce(sum((SELECT count(*) FROM clock_transactions p
            WHERE p.emp_code = b.emp_code AND p.host_attendance_id IS NULL)), 0)::bigint AS waiting
    FROM clock_employee_bindings b
    WHERE b.clock_employee_id = ANY(CAST(:ids AS bigint[])) AND b.host_employee_id IS NOT NULL
    """
)


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a binding would do. `punches` belong to `records` of other people, the `owners`: they would show *Arrived
    after import*. `waiting` punches have no record and would be judged. `rivals` are codes that a pass linked to the
    same employee: they would become conflicts. `beside` are codes that a person bound to that employee."""

    punches: int
    records: int
    owners: str
    waiting: int
    rivals: Sequence[str]
    beside: Sequence[str]

    @property
    def needs_a_yes(self) -> bool:
        return bool(self.punches or self.rivals or self.beside)


@dataclass(frozen=True, slots=True)
class LinkEndCounts:
    """What ending links would do: `standing` punches stay in their records, `waiting` ones would say Not bound."""

    links: int
    standing: int
    waiting: int


async def person(db: AsyncSession, clock_employee_id: int) -> Row[Any]:
    """One mirrored person with the binding and the host employee behind it. Raises NotFound."""
    row: Row[Any] | None = (await db.execute(_ONE.where(ClockEmployee.id == clock_employee_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such mirrored person.")
    return row


async def changes(db: AsyncSession, binding_id: int) -> Sequence[Row[Any]]:
    """The binding's history, newest first."""
    rows: Sequence[Row[Any]] = (await db.execute(_CHANGES.where(BindingChange.binding_id == binding_id))).all()
    return rows


async def codes_of_host(db: AsyncSession, host_employee_id: int) -> Sequence[Row[Any]]:
    """The codes that stand for an employee: clock_employee_id, emp_code, full_name, state, last_punch_at, waiting,
    zone."""
    last = (
        select(Punch.punched_at_utc)
        .where(Punch.emp_code == ClockEmployee.emp_code, Punch.gone_at_utc.is_(None))
        .order_by(Punch.punched_at_utc.desc(), Punch.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    zone = select(Connection.timezone).scalar_subquery()
    statement = (
        select(
            Binding.clock_employee_id,
            Binding.emp_code,
            Binding.state,
            ClockEmployee.full_name,
            last.label("last_punch_at"),
            _WAITING.label("waiting"),
            func.coalesce(zone, "UTC").label("zone"),
        )
        .join(ClockEmployee, ClockEmployee.id == Binding.clock_employee_id)
        .where(Binding.host_employee_id == host_employee_id)
        .order_by(Binding.emp_code)
    )
    return (await db.execute(statement)).all()


async def knows_a_code(db: AsyncSession) -> bool:
    """True when any person of a clock was ever read."""
    return bool(await db.scalar(select(select(ClockEmployee.id).exists())))


async def recent_punches(db: AsyncSession, emp_code: str) -> Sequence[Row[Any]]:
    rows: Sequence[Row[Any]] = (await db.execute(_PUNCHES.where(Punch.emp_code == emp_code))).all()
    return rows


async def foretell(db: AsyncSession, emp_code: str, host_employee_id: int) -> Foretold:
    """What binding this code to this employee would do."""
    counts = (await db.execute(_REBINDING, {"code": emp_code, "host": host_employee_id})).one()
    others = await db.execute(
        select(Binding.emp_code, Binding.state)
        .where(Binding.host_employee_id == host_employee_id, Binding.emp_code != emp_code)
        .order_by(Binding.emp_code)
    )
    codes = others.all()
    rivals = [row.emp_code for row in codes if row.state == BindingState.AUTO_MATCHED]
    beside = [row.emp_code for row in codes if row.state != BindingState.AUTO_MATCHED]
    return Foretold(counts.punches, counts.records, counts.owners or "", counts.waiting, rivals, beside)


async def foretell_ending(db: AsyncSession, clock_employee_ids: Collection[int]) -> LinkEndCounts:
    """What clearing, ignoring or rejecting these people's links would do."""
    row = (await db.execute(_ENDING, {"ids": sorted(clock_employee_ids)})).one()
    return LinkEndCounts(row.links, row.standing, row.waiting)


async def waiting(db: AsyncSession, emp_codes: Collection[str]) -> int:
    """Punches that wait on these codes."""
    return await db.scalar(select(func.count()).select_from(Punch).where(among(Punch.emp_code, emp_codes), WAITS)) or 0


async def hosts_of(db: AsyncSession, host_employee_ids: Collection[int]) -> dict[int, Row[Any]]:
    """These host employees, by their ids; deleted ones are left out."""
    return {row.id: row for row in await db.execute(_HOSTS.where(among(Employee.id, host_employee_ids)))}


async def holders(db: AsyncSession, emp_code: str) -> Sequence[Row[Any]]:
    """Employees who have the code as ID number, those who left too: while there is one, none is added."""
    code = _number_key(func.lower(func.btrim(emp_code)))
    columns = (Employee.id, Employee.name, Employee.id_number, Employee.department, Employee.active)
    number = _number_key(Employee.__table__.c.id_number_key)
    wanted = select(*columns, Employee.deleted_at, _CODES).where(number == code)
    return (await db.execute(wanted.order_by(Employee.active.desc(), Employee.name, Employee.id))).all()


async def hosts_like(db: AsyncSession, words: str, most: int = MOST_HOSTS) -> Sequence[Row[Any]]:
    """Host employees to bind to, whose name, ID number or department holds every word; active ones first. If there are
    none: those whose name has the most of the words, because the clock may write a name in another way."""
    columns = (Employee.name, Employee.id_number, Employee.department)
    order = (Employee.active.desc(), Employee.name, Employee.id)
    found = (await db.execute(_HOSTS.where(contains(*columns)(words)).order_by(*order).limit(most))).all()
    if found:
        return found
    hits = words_in(_WORD.findall(words), Employee.name)
    return (await db.execute(_HOSTS.where(hits > 0).order_by(hits.desc(), *order).limit(most))).all()
