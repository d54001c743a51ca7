"""What an operator and the match pass do to bindings: one verb for each act, with history and audit.

What each state means: docs/glossary.md, "Binding states". The decision order is in matching.py (pure), rows are read
and written in bindings/rows.py. Verbs take ids of mirrored people (`clock_employees`). They skip people whose state
does not allow the act; `OPEN_TO` has the states that do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.bindings import rows as binding_rows
from app.clock.bindings import transitions
from app.clock.bindings.accepting import Accepting, named_by, sort_out
from app.clock.bindings.code_states import BindingTransition, Code, Decision
from app.clock.bindings.match_pass import MatchResult, match_all, match_held
from app.clock.codes import BINDING_STATES, LINKED_STATES, BindingState
from app.clock.models import Binding, ClockEmployee
from app.clock.punches import rebinding
from app.errors import Conflict, Invalid, NotFound
from app.host.events import EmployeesChanged, Event, KioskChanged
from app.host.models import Employee

__all__ = ["MatchResult", "match_all"]  # of match_pass.py

LONGEST_REMARK = 2000
OPEN_TO: Mapping[str, frozenset[str]] = {
    "accept": frozenset({BindingState.AUTO_MATCHED, BindingState.SUGGESTED}),
    "reject": frozenset({BindingState.AUTO_MATCHED, BindingState.SUGGESTED}),
    "clear": LINKED_STATES,
    "ignore": frozenset(set(BindingState) - {BindingState.IGNORED}),
    "un_ignore": frozenset({BindingState.IGNORED}),
    "match_again": frozenset(set(BindingState) - LINKED_STATES - {BindingState.IGNORED} | {BindingState.AUTO_MATCHED}),
    "add": frozenset({BindingState.NOT_FOUND, BindingState.UNBOUND, BindingState.SUGGESTED}),
    "bind": frozenset(set(BindingState) - {BindingState.IGNORED}),
}
# What the buttons of the acts say.
LABELS: Mapping[str, str] = {
    "add": "Add as employee",
    "accept": "Accept",
    "reject": "Reject",
    "match_again": "Match again",
    "clear": "Clear",
    "ignore": "Ignore",
    "un_ignore": "Stop ignoring",
}


async def bind(db: AsyncSession, actor: Actor, clock_employee_id: int, host_employee_id: int) -> None:
    """Links a code to a host employee because a person says so. A code that is bound already gets the new employee.

    Raises NotFound for an unknown code or person, Conflict for an ignored code, a deleted person, or the same link
    again.
    """
    await binding_rows.hold(db)
    code = await one(db, clock_employee_id)
    person = await _bindable(db, host_employee_id)
    if code.state == BindingState.IGNORED:
        raise Conflict(f"The code {code.emp_code} is ignored. Stop ignoring it first.")
    if code.state == BindingState.BOUND and code.host_employee_id == person.id:
        raise Conflict(f"The code {code.emp_code} is bound to {person.name} already.")
    why = f"{actor.name} bound it to {person.name}."
    decision = Decision(BindingState.BOUND, why, "manual", person.id, candidates=transitions.kept(code, person.id))
    # A person who binds a pair undoes its earlier rejection.
    await carry_out(db, actor, "bind", [BindingTransition(code, decision, code.rejected - {person.id})])


async def accept(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> Accepting:
    """Confirms auto matches, and suggestions of one name. Leaves those that would give an employee a second code."""
    await binding_rows.hold(db)
    accepting = await foretell_accepting(db, clock_employee_ids)
    await carry_out(db, actor, "accept", [transitions.accepted(code, actor.name) for code in accepting.taken])
    return accepting


async def foretell_accepting(db: AsyncSession, clock_employee_ids: Iterable[int]) -> Accepting:
    """What `accept` would take and leave."""
    codes = await open_to(db, "accept", clock_employee_ids)
    return sort_out(codes, await binding_rows.codes_of(db, {named_by(code) for code in codes}))


async def accept_part(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> Accepting:
    """`accept` for one part of many codes. It also leaves a code whose employee another suggestion names, because that
    suggestion may be in another part."""
    await binding_rows.hold(db)
    codes = await open_to(db, "accept", clock_employee_ids)
    named = {named_by(code) for code in codes}
    claiming = {one.emp_code: one for one in [*await binding_rows.suggested_for(db, named), *codes]}
    found = sort_out(claiming.values(), await binding_rows.codes_of(db, named))
    chosen = {code.emp_code for code in codes}
    taken = tuple(code for code in found.taken if code.emp_code in chosen)
    await carry_out(db, actor, "accept", [transitions.accepted(code, actor.name) for code in taken])
    return Accepting(taken, found.left)


async def reject(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """Refuses auto matches and suggestions: unbound, and that pair is never proposed again. Returns the codes."""
    return await _for_each(db, actor, "reject", clock_employee_ids, transitions.rejected)


async def clear(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """Ends links. No automatic pass touches these codes until `match_again`. Returns the codes."""
    return await _for_each(db, actor, "clear", clock_employee_ids, transitions.cleared)


async def ignore(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """Leaves codes out on purpose, and ends their links. Returns the codes."""
    return await _for_each(db, actor, "ignore", clock_employee_ids, transitions.ignored)


async def un_ignore(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """Undoes `ignore`: the codes are unbound, and the next pass looks at them. Returns the codes."""
    return await _for_each(db, actor, "un_ignore", clock_employee_ids, transitions.unignored)


async def match_again(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """Decides codes again by the decision order, in this transaction; cleared ones too. Returns the codes. The names of
    other codes are left to the pass that it asks for.

    It skips codes that a person decided (bound, ignored) and codes that are missing on the server. Rejected pairs stay
    rejected.
    """
    codes = await _for_each(db, actor, "match_again", clock_employee_ids, transitions.unattempted)
    await match_held(db, by_name=set(codes))
    return codes


async def match_soon(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> list[str]:
    """`match_again` for a part of many: a pass that begins after all parts decides them."""
    codes = await _for_each(db, actor, "match_again", clock_employee_ids, transitions.unattempted)
    await ask_for_match(db)
    return codes


async def set_remarks(db: AsyncSession, actor: Actor, clock_employee_id: int, remarks: str | None) -> bool:
    """An operator's note, which no sync changes. Returns True when the note changed. Raises NotFound, Invalid."""
    remarks = (remarks or "").strip() or None
    if remarks and len(remarks) > LONGEST_REMARK:
        raise Invalid.at("remarks", f"At most {LONGEST_REMARK} characters; this has {len(remarks)}.")
    here = ClockEmployee.id == clock_employee_id
    before = (await db.execute(select(ClockEmployee.emp_code, ClockEmployee.remarks).where(here))).one_or_none()
    if before is None:
        raise NotFound
    if before.remarks == remarks:
        return False
    await db.execute(update(ClockEmployee).where(here).values(remarks=remarks))
    was, is_now = {"code": before.emp_code, "remarks": before.remarks}, {"code": before.emp_code, "remarks": remarks}
    await audit.record(db, actor, "binding.remarks", "clock_employee", clock_employee_id, before=was, after=is_now)
    return True


async def id_of_code(db: AsyncSession, emp_code: str) -> int:
    """The mirrored person of a code, for commands. Raises NotFound."""
    found = await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == emp_code))
    if found is None:
        raise NotFound(f"No mirrored person has the code {emp_code}.")
    return found


async def refuse_unless_open(db: AsyncSession, act: str, clock_employee_id: int) -> Code:
    """For acts on one person: returns the code. Raises NotFound, or Conflict saying which state is in the way."""
    code = await one(db, clock_employee_id)
    if code.state not in OPEN_TO[act]:
        label = BINDING_STATES[BindingState(code.state)].label.lower()
        raise Conflict(f"The code {code.emp_code} is {label} now, so “{LABELS[act]}” is no longer possible.")
    return code


async def refuse_unless_about(db: AsyncSession, code: Code, host_employee_id: int) -> None:
    """For acts on the employee whom a page named: raises Conflict where the code is about another one by now. `code`
    is that of `refuse_unless_open`, read after app.clock.bindings.rows.hold."""
    now = named_by(code)
    if now == host_employee_id:
        return
    rows = await db.execute(select(Employee.id, Employee.name).where(Employee.id.in_([now, host_employee_id])))
    names = {row.id: row.name for row in rows}
    is_one, was_one = (names.get(one, "another employee") for one in (now, host_employee_id))
    changed = (
        f"The suggestion for code {code.emp_code} is {is_one} now, no longer {was_one}."
        if code.state == BindingState.SUGGESTED
        else f"The code {code.emp_code} belongs to {is_one} now, no longer to {was_one}."
    )
    raise Conflict(f"{changed} Nothing was changed. Reload the page, then decide again.")


async def on_host_event(db: AsyncSession, event: Event) -> None:
    """Listens for changes of people and kiosk codes: they change who is eligible, and so perhaps every match."""
    match event:
        case EmployeesChanged(employee_ids=ids):
            await rebinding.mark_people(db, ids)
        case KioskChanged():
            pass
        case _:
            return
    await ask_for_match(db)


async def ask_for_match(db: AsyncSession) -> None:
    """Asks for a match pass soon after this transaction, unless there are no codes. A running pass does not count,
    because it may have read already."""
    if await db.scalar(select(Binding.id).limit(1)) is None:
        return
    await jobs.request_after(db, "clock_match")


async def _for_each(
    db: AsyncSession, actor: Actor, act: str, ids: Iterable[int], becomes: Callable[[Code, str], BindingTransition]
) -> list[str]:
    await binding_rows.hold(db)
    codes = await open_to(db, act, ids)
    await carry_out(db, actor, act, [becomes(code, actor.name) for code in codes])
    return [code.emp_code for code in codes]


async def open_to(db: AsyncSession, act: str, ids: Iterable[int]) -> list[Code]:
    """Those of these mirrored people whose state allows the act."""
    return [code for code in await binding_rows.read_some(db, list(ids)) if code.state in OPEN_TO[act]]


async def carry_out(db: AsyncSession, actor: Actor, act: str, changes: Sequence[BindingTransition]) -> None:
    """Writes what an act decided, with history and audit, and asks for a match pass where a binding changed. Call
    app.clock.bindings.rows.hold first."""
    await binding_rows.write(db, actor.name, changes)
    rows = [audit.AuditedChange(one.code.emp_code, _before(one.code), _after(one)) for one in changes]
    await audit.record_many(db, actor, f"binding.{act}", "clock_binding", rows)
    if any(change.is_news for change in changes):
        await ask_for_match(db)


def _before(code: Code) -> dict[str, Any]:
    return {"state": code.state, "method": code.method, "host_employee_id": code.host_employee_id}


def _after(change: BindingTransition) -> dict[str, Any]:
    decision = change.decision
    return {"state": decision.state, "method": decision.method, "host_employee_id": decision.host_employee_id}


async def one(db: AsyncSession, clock_employee_id: int) -> Code:
    """Raises NotFound."""
    found = await binding_rows.read_some(db, [clock_employee_id])
    if not found:
        raise NotFound
    return found[0]


async def _bindable(db: AsyncSession, host_employee_id: int) -> Any:
    """The employee to bind a code to. An inactive one is allowed, so that old punches get an owner."""
    statement = select(Employee.id, Employee.name, Employee.deleted_at).where(Employee.id == host_employee_id)
    person = (await db.execute(statement)).one_or_none()
    if person is None:
        raise NotFound("There is no such person.")
    if person.deleted_at is not None:
        raise Conflict(f"{person.name} was deleted. Restore them first.")
    return person
