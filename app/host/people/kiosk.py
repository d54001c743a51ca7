"""Kiosk enrolments: which code a person punches with. A code belongs to one person; a person may have several."""

from collections.abc import Iterable

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor, AuditedChange
from app.db.among import among
from app.errors import Conflict, Invalid, NotFound
from app.host import events
from app.host.models import Employee, KioskEnrolment
from app.texts import is_readable_line, visible

LONGEST = 50


def cleaned(code: str) -> str:
    """The code as it is kept. Raises Invalid."""
    text = visible(code)
    if not text or len(text) > LONGEST or not is_readable_line(text):
        raise Invalid.at("code", f"Give a code of 1 to {LONGEST} characters.")
    return text


async def enrol(db: AsyncSession, actor: Actor, code: str, employee_id: int) -> int:
    """The id of the new enrolment. Raises Invalid, NotFound, and Conflict when the code is taken
    or the person deleted."""
    code = cleaned(code)
    person = (
        await db.execute(select(Employee).where(Employee.id == employee_id).with_for_update(key_share=True))
    ).scalar_one_or_none()
    if person is None:
        raise NotFound("There is no such person.")
    if person.deleted_at is not None:
        raise Conflict(f"{person.name} was deleted. Restore them first.")
    values = {"code": code, "employee_id": employee_id}
    statement = insert(KioskEnrolment).values(values).on_conflict_do_nothing().returning(KioskEnrolment.id)
    enrolment_id = await db.scalar(statement)
    if enrolment_id is None:
        raise Conflict(f"The code {code} is taken: {await _holder(db, code)} has this code. Remove it there first.")
    await audit.record(db, actor, "kiosk.enrol", "employee", employee_id, after={"code": code})
    await events.tell(db, events.KioskChanged((code,)))
    return enrolment_id


async def remove(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[str]:
    """Removes enrolments. Returns the codes that are free now."""
    chosen = delete(KioskEnrolment).where(among(KioskEnrolment.id, ids))
    gone = chosen.returning(KioskEnrolment.code, KioskEnrolment.employee_id)
    rows = (await db.execute(gone)).all()
    if not rows:
        return []
    changes = [AuditedChange(row.employee_id, {"code": row.code}, None) for row in rows]
    await audit.record_many(db, actor, "kiosk.remove", "employee", changes)
    codes = [row.code for row in rows]
    await events.tell(db, events.KioskChanged(tuple(codes)))
    return codes


async def _holder(db: AsyncSession, code: str) -> str:
    name = select(Employee.name).join(KioskEnrolment, KioskEnrolment.employee_id == Employee.id)
    return await db.scalar(name.where(KioskEnrolment.code == code)) or "somebody"
