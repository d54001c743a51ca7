"""Makes employees of mirrored people whom the host does not know, and binds their codes, in one act.

A code is left when an employee has its ID number, as in the match by ID number (matching.py). Inactive and deleted
employees count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.bindings import actions
from app.clock.bindings import rows as binding_rows
from app.clock.bindings.code_states import BindingTransition, Code, Decision
from app.clock.bindings.directory import number_key
from app.clock.codes import BindingState
from app.clock.models import ClockEmployee, Department, Position
from app.counting import count, some
from app.db.among import among
from app.host import events
from app.host.people import people
from app.host.people.people import LONGEST, EmployeeDetails
from app.texts import EMAIL, in_a_line, is_readable_line, visible

NAMED = 20
# Why a code stays as it is.
LEFT: Mapping[str, str] = {
    "known": "an employee has this ID number already, perhaps one who is inactive or deleted",
    "twins": "another code is the same ID number",
    "unfit": "the code can't be an ID number: it is too long, or is not one line of text",
    "suggested": "it has a suggestion: accept or reject it first",
}


@dataclass(frozen=True, slots=True)
class Adding:
    """`taken` become employees; the others stay. `known`: an employee has their ID number. `twins`: another code is the
    same ID number. `unfit`: their code can't be an ID number. `suggested`: an employee is suggested for them."""

    taken: tuple[Code, ...]
    known: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()

    @property
    def codes(self) -> list[str]:
        return [one.emp_code for one in self.taken]

    @property
    def left(self) -> list[str]:
        """A sentence for each reason why codes stay as they are."""
        return [f"{stay(codes)}: {LEFT[word]}." for word, codes in self._left.items() if codes]

    @property
    def why_left(self) -> dict[str, tuple[str, ...]]:
        """For each code that stays, the word of `LEFT`."""
        return {code: (word,) for word, codes in self._left.items() for code in codes}

    @property
    def _left(self) -> dict[str, tuple[str, ...]]:
        return {word: getattr(self, word) for word in LEFT}


def stay(codes: Sequence[str]) -> str:
    """How many codes stay, and which: the beginning of a sentence that says why."""
    return f"{count(len(codes), 'code stays as it is', 'codes stay as they are')} ({some(codes, NAMED)})"


def sort_out(codes: Iterable[Code], numbers: Collection[str], *, ignore_leading_zeros: bool) -> Adding:
    """`numbers` are the ID numbers of all employees. Pure."""
    held = {number_key(one, ignore_leading_zeros=ignore_leading_zeros) for one in numbers}
    by_key: dict[str, list[Code]] = defaultdict(list)
    for one in codes:
        by_key[number_key(one.emp_code, ignore_leading_zeros=ignore_leading_zeros)].append(one)
    fit = {key: [one for one in same if _is_fit(one)] for key, same in by_key.items()}
    return Adding(
        taken=tuple(same[0] for key, same in fit.items() if key not in held and len(same) == 1),
        known=_codes(same for key, same in fit.items() if key in held),
        twins=_codes(same for key, same in fit.items() if key not in held and len(same) > 1),
        unfit=_codes([one for one in same if not _is_fit(one)] for same in by_key.values()),
    )


def _is_fit(code: Code) -> bool:
    text = visible(code.emp_code)
    return 0 < len(text) <= LONGEST["id_number"] and is_readable_line(text)


def _codes(groups: Iterable[Iterable[Code]]) -> tuple[str, ...]:
    return tuple(one.emp_code for group in groups for one in group)


async def foretell(db: AsyncSession, clock_employee_ids: Iterable[int], *, suggested_too: bool = False) -> Adding:
    """What `add` would take and leave."""
    able = await actions.open_to(db, "add", clock_employee_ids)
    if suggested_too:
        return await _sorted_out(db, able)
    suggested = [one for one in await _alike(db, able) if one.state == BindingState.SUGGESTED]
    return _without_suggested(await _sorted_out(db, [*suggested, *able]), able)


async def _alike(db: AsyncSession, codes: Sequence[Code]) -> list[Code]:
    """Codes without an employee that may be the same ID number as one of these."""
    found = await binding_rows.alike(db, [one.emp_code for one in codes])
    return [one for one in found if one.state in actions.OPEN_TO["add"]]


async def _sorted_out(db: AsyncSession, codes: Iterable[Code]) -> Adding:
    numbers, ignore_leading_zeros = await binding_rows.id_numbers(db)
    each = {one.emp_code: one for one in codes}
    return sort_out(each.values(), numbers, ignore_leading_zeros=ignore_leading_zeros)


def _without_suggested(found: Adding, able: Iterable[Code]) -> Adding:
    """What was found of `able`. A code with a suggestion leaves only now: another code may be the same ID number."""
    suggested = tuple(one.emp_code for one in able if one.state == BindingState.SUGGESTED)
    theirs = {one.emp_code for one in able}.difference(suggested)
    known, twins, unfit = (
        tuple(one for one in left if one in theirs) for left in (found.known, found.twins, found.unfit)
    )
    return Adding(tuple(one for one in found.taken if one.emp_code in theirs), known, twins, unfit, suggested)


async def _hold(db: AsyncSession) -> None:
    await binding_rows.hold(db)
    await people.hold_numbers(db)


async def add(
    db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int], *, suggested_too: bool = False
) -> Adding:
    """Makes an employee of each code that no employee has, with what the clock says of the person, and binds it.

    A code with a suggestion stays, because its person is probably an employee already; and so does a code that is the
    same ID number. `suggested_too` takes both: a person looked at the suggestion.
    """
    await _hold(db)
    return await _add(db, actor, await foretell(db, clock_employee_ids, suggested_too=suggested_too))


async def add_one(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> Adding:
    """`add` from the page of one person, which shows the suggestion."""
    return await add(db, actor, clock_employee_ids, suggested_too=True)


async def add_part(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> Adding:
    """`add` for one part of many codes. It also leaves a code that is the same ID number as a code in another part."""
    await _hold(db)
    able = await actions.open_to(db, "add", clock_employee_ids)
    found = await _sorted_out(db, [*await _alike(db, able), *able])
    return await _add(db, actor, _without_suggested(found, able))


async def _add(db: AsyncSession, actor: Actor, adding: Adding) -> Adding:
    if adding.taken:
        on_clock = await _on_clock(db, adding.codes)
        details = [_details(code, on_clock[code.emp_code]) for code in adding.taken]
        ids = await people.add_many(db, actor, details)
        await events.tell(db, events.EmployeesChanged(tuple(ids)))
        changes = [_bound(code, new_id, actor) for code, new_id in zip(adding.taken, ids, strict=True)]
        await actions.carry_out(db, actor, "add", changes)
    return adding


def _bound(code: Code, employee_id: int, actor: Actor) -> BindingTransition:
    why = f"{actor.name} added the person as an employee."
    return BindingTransition(code, Decision(BindingState.BOUND, why, "manual", employee_id))


async def _on_clock(db: AsyncSession, codes: Collection[str]) -> Mapping[str, Any]:
    columns = (ClockEmployee.emp_code, ClockEmployee.full_name, ClockEmployee.email, Department.name, Position.name)
    found = (
        select(*columns)
        .outerjoin(Department, Department.code == ClockEmployee.department_code)
        .outerjoin(Position, Position.code == ClockEmployee.position_code)
        .where(among(ClockEmployee.emp_code, codes))
    )
    return {row[0]: row for row in await db.execute(found)}


def _details(code: Code, row: Any) -> EmployeeDetails:
    """As the clock has it, in one line and cut to what an employee can hold. A person without a name gets the code as
    name. A value that is not an e-mail address is left out."""
    _, name, email, department, position = row
    address = visible(in_a_line(email or "")).lower()
    details = EmployeeDetails(
        id_number=code.emp_code,
        name=_cut(name, "name") or code.emp_code,
        email=address if EMAIL.fullmatch(address) and len(address) <= LONGEST["email"] else None,
        department=_cut(department, "department"),
        position=_cut(position, "position"),
    )
    return people.cleaned(details)


def _cut(text: str | None, field: str) -> str | None:
    return visible(visible(in_a_line(text or ""))[: LONGEST[field]]) or None
