"""The last step of the set-up: which codes still need a person, and for how many of them an employee can be added."""

from dataclasses import dataclass

from sqlalchemy import exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import adding
from app.clock.bindings.queries import CODE_KEY, HOLDER_KEY, NUMBER_IS_TAKEN
from app.clock.codes import BindingState
from app.clock.models import Binding, ClockEmployee
from app.counting import count
from app.host.models import Employee
from app.long_acts.acts import INLINE_LIMIT

_NOT_FOUND = Binding.state == BindingState.NOT_FOUND.value
# A person who clears or rejects a link has decided, so its code is not counted.
_NEEDS = {
    "suggested": Binding.state == BindingState.SUGGESTED.value,
    "not_found": _NOT_FOUND,
    "conflict": Binding.state == BindingState.CONFLICT.value,
    "unbound": (Binding.state == BindingState.UNBOUND.value) & ~Binding.cleared,
    "disabled": Binding.state == BindingState.DISABLED.value,
}
_COUNTS = select(
    select(func.count())
    .select_from(ClockEmployee)
    .where(ClockEmployee.absent_since.is_(None))
    .scalar_subquery()
    .label("mirrored"),
    select(func.count()).select_from(Employee).where(Employee.deleted_at.is_(None)).scalar_subquery().label("here"),
    *(func.count().filter(condition).label(name) for name, condition in _NEEDS.items()),
).select_from(Binding)
_ALL_NOT_FOUND = select(Binding.clock_employee_id).where(_NOT_FOUND)
_TAKEN = select(func.count()).select_from(Binding).join(ClockEmployee).where(_NOT_FOUND, NUMBER_IS_TAKEN)
# A code with a suggestion can be the twin of one that was not found. Numbers that are taken are counted above.
_SAME = (
    select(CODE_KEY.label("key"), func.count().filter(_NOT_FOUND).label("number"))
    .select_from(Binding)
    .join(ClockEmployee)
    .where(or_(_NOT_FOUND, _NEEDS["suggested"]))
    .group_by(CODE_KEY)
    .having(func.count() > 1)
    .subquery()
)
_TWINS = select(func.coalesce(func.sum(_SAME.c.number), 0)).where(~exists().where(_SAME.c.key == HOLDER_KEY))
LIST = "/clock_employees?state="


@dataclass(frozen=True, slots=True)
class CodesLeft:
    """Codes for which the set-up has no button. `says` is a sentence without its end; `url` lists them."""

    number: int
    says: str
    url: str


@dataclass(frozen=True, slots=True)
class PeopleStep:
    """`mirrored` people are on the clock, `here` are employees. `addable`: codes that *Add as employee* would take."""

    mirrored: int
    here: int
    suggested: int
    addable: int
    left: tuple[CodesLeft, ...]
    disabled: int

    @property
    def is_done(self) -> bool:
        return not (self.suggested or self.addable or self.left)


async def read(db: AsyncSession) -> PeopleStep:
    row = (await db.execute(_COUNTS)).one()
    known, twins, unfit = await _not_addable(db, row.not_found)
    left = (
        _left(
            known,
            "has an ID number that an employee has already",
            "have an ID number that an employee has already",
            "not_found&number_taken=1",
        ),
        _left(twins, "is the same ID number as another code", "are the same ID number as another code", "not_found"),
        _left(unfit, "can't be an ID number", "can't be ID numbers", "not_found"),
        _left(row.conflict, "is in conflict", "are in conflict", "conflict"),
        _left(row.unbound, "is not decided", "are not decided", "unbound"),
    )
    return PeopleStep(
        mirrored=row.mirrored,
        here=row.here,
        suggested=row.suggested,
        addable=row.not_found - known - twins - unfit,
        left=tuple(one for one in left if one.number),
        disabled=row.disabled,
    )


async def _not_addable(db: AsyncSession, not_found: int) -> tuple[int, int, int]:
    """How many codes that were not found stay: their ID number is known, they are twins, they are unfit. Of very many,
    which a job adds, the database counts the first two, and the last is not looked at."""
    if not not_found:
        return 0, 0, 0
    if not_found > INLINE_LIMIT:
        return await db.scalar(_TAKEN) or 0, int(await db.scalar(_TWINS) or 0), 0
    found = await adding.foretell(db, await db.scalars(_ALL_NOT_FOUND))
    return len(found.known), len(found.twins), len(found.unfit)


def _left(number: int, is_one: str, are_many: str, states: str) -> CodesLeft:
    return CodesLeft(number, count(number, f"code {is_one}", f"codes {are_many}"), f"{LIST}{states}")
