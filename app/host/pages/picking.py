"""A person named in a form: `#12` as the search-as-you-type field posts it, or an ID number typed by hand."""

import re
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.errors import Conflict, NotFound
from app.host.models import Employee
from app.host.people import people

_PICKED = re.compile(r"#(\d{1,15})", re.ASCII)
_COLUMNS: tuple[Any, ...] = (Employee.id, Employee.name, Employee.id_number)


def picked_id(text: str) -> int | None:
    """The id in `#12`; None for anything else."""
    picked = _PICKED.fullmatch(text)
    return int(picked[1]) if picked else None


async def pick(db: AsyncSession, text: str) -> Row[Any]:
    """Id, name and ID number of the one who is meant.
    Raises NotFound, and Conflict when two people share an ID number."""
    picked = picked_id(text)
    employee_id = await people.one_with_id_number(db, text) if picked is None else picked
    statement = select(*_COLUMNS).where(Employee.id == employee_id, Employee.deleted_at.is_(None))
    row: Row[Any] | None = (await db.execute(statement)).one_or_none()
    if row is None:
        raise NotFound("There is no such person.")
    return row


async def name_picked(db: AsyncSession, text: str) -> str:
    """The name to show beside what was typed; "" when it matches no person yet."""
    try:
        return str((await pick(db, text)).name) if text else ""
    except (NotFound, Conflict):
        return ""
