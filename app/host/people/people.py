"""Employees: add, edit, deactivate, activate, delete, restore.
Reading a file of them: people_import; kiosk codes: kiosk."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor, AuditedChange
from app.accounts.models import User
from app.db.among import among
from app.db.locks import hold_name
from app.db.session import workspace_of
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.host import events
from app.host.models import Employee, KioskEnrolment
from app.texts import EMAIL, id_number_key, is_keepable_line, is_readable_line, visible

LONGEST = {"id_number": 50, "name": 200, "email": 254, "department": 100, "position": 100}
LABELS = {
    "id_number": "ID number",
    "name": "Name",
    "email": "E-mail",
    "department": "Department",
    "position": "Position",
}


@dataclass(frozen=True, slots=True)
class EmployeeDetails:
    """What is kept of a person. `user_id` is the account that the person signs in with, if any."""

    id_number: str
    name: str
    email: str | None = None
    department: str | None = None
    position: str | None = None
    active: bool = True
    user_id: int | None = None

    @classmethod
    def of(cls, row: Any) -> "EmployeeDetails":
        return cls(**{field.name: getattr(row, field.name) for field in fields(cls)})


def cleaned(details: EmployeeDetails) -> EmployeeDetails:
    """Trimmed, with None for an empty text and the e-mail in lower case. Raises Invalid with what is wrong."""
    texts: dict[str, Any] = {}
    for name in LONGEST:
        text = visible(getattr(details, name) or "")
        texts[name] = (text.lower() if name == "email" else text) or None
    found = [FieldError(name, problem) for name, text in texts.items() if (problem := _problem(name, text))]
    if found:
        raise Invalid(" ".join(f"{LABELS[one.field]}: {one.message}" for one in found), details=found)
    return EmployeeDetails(**texts, active=details.active, user_id=details.user_id)


def _problem(name: str, text: str | None) -> str | None:
    if text is None:
        return "This is needed." if name in ("id_number", "name") else None
    if len(text) > LONGEST[name]:
        return f"At most {LONGEST[name]} characters; this has {len(text)}."
    if not is_readable_line(text):
        return "The text has characters that can't be stored."
    if name == "email" and not EMAIL.fullmatch(text):
        return "Give an e-mail address such as ada@example.org."
    return None


async def hold_numbers(db: AsyncSession) -> None:
    """Keeps other transactions of this workspace from giving ID numbers until this one ends. Read numbers, and lock
    employees, only after it. Lock them with `key_share`, because those who hold an employee's attendance write records,
    and may be waited for."""
    await hold_name(db, "employees")


async def add(db: AsyncSession, actor: Actor, details: EmployeeDetails) -> int:
    """The new employee's id. ID numbers may be shared by several people. Raises Invalid."""
    details = cleaned(details)
    await hold_numbers(db)
    await _check_user(db, details.user_id)
    values = {**asdict(details), "id_number_key": id_number_key(details.id_number)}
    employee_id = (await db.execute(insert(Employee).values(values).returning(Employee.id))).scalar_one()
    await audit.record(db, actor, "employee.add", "employee", employee_id, after=asdict(details))
    await events.tell(db, events.EmployeesChanged((employee_id,)))
    return employee_id


async def add_many(
    db: AsyncSession, actor: Actor, details: Sequence[EmployeeDetails], act: str = "employee.add"
) -> list[int]:
    """The new employees' ids, in the same order, without an account. The caller tells `events.EmployeesChanged`."""
    if not details:
        return []
    rows = [{**asdict(one), "id_number_key": id_number_key(one.id_number)} for one in details]
    statement = insert(Employee).returning(Employee.id, sort_by_parameter_order=True)
    ids = list((await db.scalars(statement, rows)).all())
    changes = [AuditedChange(new_id, None, asdict(one)) for new_id, one in zip(ids, details, strict=True)]
    await audit.record_many(db, actor, act, "employee", changes)
    return ids


async def edit(db: AsyncSession, actor: Actor, employee_id: int, details: EmployeeDetails) -> bool:
    """True when anything changed. Raises Invalid, NotFound, and Conflict for a deleted employee."""
    details = cleaned(details)
    await hold_numbers(db)
    row = (
        await db.execute(select(Employee).where(Employee.id == employee_id).with_for_update(key_share=True))
    ).scalar_one_or_none()
    if row is None:
        raise NotFound
    if row.deleted_at is not None:
        raise Conflict(f"{row.name} was deleted. Restore them first.")
    if details.user_id != row.user_id:
        await _check_user(db, details.user_id)
    before, after = audit.changed_fields(asdict(EmployeeDetails.of(row)), asdict(details))
    if not after:
        return False
    values = {**asdict(details), "id_number_key": id_number_key(details.id_number), "updated_at": func.now()}
    await db.execute(update(Employee).where(Employee.id == employee_id).values(values))
    await audit.record(db, actor, "employee.edit", "employee", employee_id, before=before, after=after)
    await events.tell(db, events.EmployeesChanged((employee_id,)))
    return True


async def deactivate(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """Punches that still wait will say "Employee inactive"; links, records and kiosk codes stay.
    Returns whom it changed."""
    found = among(Employee.id, ids) & Employee.active & Employee.deleted_at.is_(None)
    changed = await _set(db, found, active=False)
    changes = [AuditedChange(one, {"active": True}, {"active": False}) for one in changed]
    return await _tell(db, actor, "employee.deactivate", changed, changes)


async def activate(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """Waiting punches of these people are judged again. Returns whom it changed."""
    found = among(Employee.id, ids) & ~Employee.active & Employee.deleted_at.is_(None)
    changed = await _set(db, found, active=True)
    changes = [AuditedChange(one, {"active": False}, {"active": True}) for one in changed]
    return await _tell(db, actor, "employee.activate", changed, changes)


async def remove(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """Soft delete: attendance records and links stay, kiosk codes become free. Returns whom it changed."""
    found = among(Employee.id, ids) & Employee.deleted_at.is_(None)
    changed = await _set(db, found, deleted_at=func.now())
    freed = await _free_codes(db, changed)
    changes = []
    for one in changed:
        had = {"deleted": False, "kiosk_codes": freed.get(one, [])}
        changes.append(AuditedChange(one, *audit.changed_fields(had, {"deleted": True, "kiosk_codes": []})))
    codes = tuple(code for several in freed.values() for code in several)
    if codes:
        await events.tell(db, events.KioskChanged(codes))
    return await _tell(db, actor, "employee.delete", changed, changes)


async def restore(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """Undoes a deletion; kiosk codes must be enrolled again. Returns whom it changed."""
    found = among(Employee.id, ids) & Employee.deleted_at.is_not(None)
    changed = await _set(db, found, deleted_at=None)
    changes = [AuditedChange(one, {"deleted": True}, {"deleted": False}) for one in changed]
    return await _tell(db, actor, "employee.restore", changed, changes)


async def one_with_id_number(db: AsyncSession, id_number: str) -> int:
    """The one employee who is not deleted and has this ID number. Raises NotFound, and Conflict when two share it."""
    if not is_keepable_line(id_number):
        raise NotFound("No employee has this ID number.")
    key = id_number_key(id_number)
    statement = select(Employee.id).where(Employee.id_number_key == key, Employee.deleted_at.is_(None)).limit(2)
    found = (await db.scalars(statement)).all()
    if not found:
        raise NotFound(f"No employee has the ID number {id_number}.")
    if len(found) > 1:
        raise Conflict(f"Two people share the ID number {id_number}; use the page, where you can choose one.")
    return found[0]


async def _set(db: AsyncSession, which: ColumnElement[bool], **values: Any) -> list[int]:
    # Locked in one order, so that two bulk acts never wait for each other.
    ids = select(Employee.id).where(which).order_by(Employee.id).with_for_update(key_share=True)
    locked = (await db.scalars(ids)).all()
    await db.execute(update(Employee).where(among(Employee.id, locked)).values(**values, updated_at=func.now()))
    return list(locked)


async def _free_codes(db: AsyncSession, employee_ids: Sequence[int]) -> dict[int, list[str]]:
    theirs = among(KioskEnrolment.employee_id, employee_ids)
    gone = await db.execute(
        delete(KioskEnrolment).where(theirs).returning(KioskEnrolment.employee_id, KioskEnrolment.code)
    )
    freed: dict[int, list[str]] = {}
    for employee_id, code in gone:
        freed.setdefault(employee_id, []).append(code)
    return freed


async def _tell(
    db: AsyncSession, actor: Actor, act: str, changed: list[int], changes: Sequence[AuditedChange]
) -> list[int]:
    if changed:
        await audit.record_many(db, actor, act, "employee", changes)
        await events.tell(db, events.EmployeesChanged(tuple(changed)))
    return changed


async def _check_user(db: AsyncSession, user_id: int | None) -> None:
    if user_id is None:
        return
    theirs = select(User.id).where(User.id == user_id, User.workspace == workspace_of(db))
    if await db.scalar(theirs) is None:
        raise Invalid.at("user_id", "There is no such account in this workspace.")
