"""Which host employee stands behind a clock code, read and held for an import."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Binding
from app.clock.pairing.inputs import PairingEmployee, Unbound, Who
from app.db.among import among
from app.errors import Conflict
from app.host.attendance import records as attendance
from app.host.models import Employee

Owners = Mapping[str, Who]


class OwnedCodes(NamedTuple):
    """Codes whose punches are judged together: all of one host employee, or a single one without an employee."""

    who: Who
    codes: tuple[str, ...]


class OwnersChangedError(Conflict):
    """A binding changed while its owner was read or locked; begin again."""

    def __init__(self) -> None:
        super().__init__("A binding changed just now. Reload the page.")


async def held_owners(db: AsyncSession, codes: Sequence[str]) -> Owners:
    """Holds the employees behind the codes until the transaction ends: people and other imports wait.
    Raises OwnersChangedError."""
    before = await read_owners(db, codes)
    await attendance.hold(db, sorted({who.id for who in before.values() if isinstance(who, PairingEmployee)}))
    after = await read_owners(db, codes)
    if {code: _identity(who) for code, who in before.items()} != {code: _identity(who) for code, who in after.items()}:
        raise OwnersChangedError
    return after


def _identity(who: Who) -> int | None:
    return who.id if isinstance(who, PairingEmployee) else None


async def read_owners(db: AsyncSession, codes: Collection[str]) -> dict[str, Who]:
    """The owner of each code now: a host employee, or the binding state that says why there is none."""
    wanted = (
        select(Binding.emp_code, Binding.state, Employee.id, Employee.active, Employee.deleted_at)
        .outerjoin(Employee, Employee.id == Binding.host_employee_id)
        .where(among(Binding.emp_code, codes))
    )
    found: dict[str, Who] = dict.fromkeys(codes, Unbound())
    for code, state, employee_id, active, deleted_at in await db.execute(wanted):
        found[code] = PairingEmployee(employee_id, active and deleted_at is None) if employee_id else Unbound(state)
    return found


async def owned_codes(db: AsyncSession, owners: Owners) -> dict[str, OwnedCodes]:
    """For each of these codes, those that are judged together with it: others of the employee too.
    Raises OwnersChangedError where a code has left its employee since `owners` was read."""
    employees = {who.id: who for who in owners.values() if isinstance(who, PairingEmployee)}
    siblings = await codes_of_people(db, employees)
    if any(isinstance(who, PairingEmployee) and code not in siblings.get(who.id, ()) for code, who in owners.items()):
        raise OwnersChangedError
    together = {number: OwnedCodes(who, tuple(siblings[number])) for number, who in employees.items()}
    return {
        code: together[who.id] if isinstance(who, PairingEmployee) else OwnedCodes(who, (code,))
        for code, who in owners.items()
    }


async def codes_of_people(db: AsyncSession, employee_ids: Collection[int]) -> dict[int, list[str]]:
    """All codes of each host employee."""
    rows = await db.execute(
        select(Binding.host_employee_id, Binding.emp_code).where(among(Binding.host_employee_id, employee_ids))
    )
    found: dict[int, list[str]] = {}
    for employee_id, code in rows:
        found.setdefault(employee_id or 0, []).append(code)
    return found
