"""What lies behind many punches that do not count: terminals whose punches never count, and departments, or a whole clock, of which no
person is bound. Reads only.

A list of outcomes names symptoms, punch by punch; one setting or one binding act is the remedy for all of them.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings.queries import WAITS
from app.clock.codes import LINKED_STATES, BindingState, Outcome
from app.clock.figures.dashboard import PERSON_DAYS
from app.clock.figures.thresholds import FEWEST
from app.clock.mirror.devices import KIND
from app.clock.models import Binding, ClockEmployee, DailyTotal, Department, Device, Punch
from app.clock.punches import settled

_LEFT_OUT = (BindingState.IGNORED.value, BindingState.DISABLED.value, BindingState.MISSING_REMOTE.value)


@dataclass(frozen=True, slots=True)
class Cause:
    """`kind` is "terminal", "department" or "clock", `subject` its serial number or code. `punches` are those of the last thirty days
    for a terminal, and else those that wait, of so many `people`."""

    kind: str
    subject: str
    name: str
    punches: int
    people: int = 0


async def causes(db: AsyncSession, today: date) -> list[Cause]:
    """Those with most punches first."""
    since = today - timedelta(days=PERSON_DAYS - 1)
    return sorted([*await _terminals(db, since), *await _people(db)], key=lambda one: -one.punches)


async def _terminals(db: AsyncSession, since: date) -> list[Cause]:
    """Attendance clocks of which no punch became attendance, and whose punches say neither in nor out."""
    total = func.sum(DailyTotal.total)
    rows = await db.execute(
        select(Device.sn, Device.alias, total)
        .join(Device, Device.sn == DailyTotal.key)
        .where(
            DailyTotal.dimension == "terminal",
            DailyTotal.local_date >= since,
            Device.absent_since.is_(None),
            KIND == "attendance",
        )
        .group_by(Device.sn, Device.alias)
        .having(func.sum(DailyTotal.imported) == 0, total >= FEWEST, _has_no_direction(since))
    )
    return [Cause("terminal", sn, alias or sn, int(punches)) for sn, alias, punches in rows]


def _has_no_direction(since: date) -> ColumnElement[bool]:
    return (
        select(Punch.id)
        .where(
            Punch.terminal_sn == Device.sn,
            Punch.local_date >= since,
            Punch.import_outcome == Outcome.NO_DIRECTION.value,
            Punch.gone_at_utc.is_(None),
            settled.OPEN,
        )
        .exists()
    )


async def _people(db: AsyncSession) -> list[Cause]:
    """One line for the whole clock where it says what the lines of several departments would."""
    departments = await _departments(db)
    whole = await _whole_clock(db) if len(departments) > 1 else None
    return [whole] if whole else departments


async def _departments(db: AsyncSession) -> list[Cause]:
    """Departments of which no person is linked, though punches wait for them."""
    rows = await db.execute(
        _UNLINKED.add_columns(Department.code, Department.name)
        .join(Department, Department.code == ClockEmployee.department_code)
        .group_by(Department.code, Department.name)
    )
    return [Cause("department", code, name or code, int(punches), people) for people, punches, code, name in rows]


async def _whole_clock(db: AsyncSession) -> Cause | None:
    """None where one person of the clock is linked."""
    found = (await db.execute(_UNLINKED)).one_or_none()
    return Cause("clock", "", "", int(found.punches), found.people) if found else None


# Counted once, and not for each person: after a first sync the database has no statistics yet, and takes the punches for few.
_WAITING = (
    select(Punch.emp_code, func.count().label("punches"))
    .where(WAITS)
    .group_by(Punch.emp_code)
    .cte("waiting")
    .prefix_with("MATERIALIZED")
)
_PUNCHES = func.coalesce(func.sum(_WAITING.c.punches), 0)
_LINKED = func.count().filter(Binding.state.in_([state.value for state in LINKED_STATES]))
# People of whom none is linked, though punches wait for them.
_UNLINKED = (
    select(func.count().label("people"), _PUNCHES.label("punches"))
    .select_from(ClockEmployee)
    .join(Binding, Binding.clock_employee_id == ClockEmployee.id)
    .outerjoin(_WAITING, _WAITING.c.emp_code == ClockEmployee.emp_code)
    .where(ClockEmployee.absent_since.is_(None), Binding.state.not_in(_LEFT_OUT))
    .having(_LINKED == 0, func.count() > 1, _PUNCHES >= FEWEST)
)
