"""Bindings as rows: read for a decision, and written with their history. After a change of owner their punches are
marked, to be judged again.

No rule lives here: what an operator may do is in bindings/actions.py, what a pass decides in matching.py. All writers
of bindings hold one lock of the workspace, so that a pass never overwrites what a person decided while it ran.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

import msgspec
from sqlalchemy import Text, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings.code_states import BindingTransition, Code
from app.clock.bindings.directory import HostEmployee, SimilarEmployee
from app.clock.codes import BindingState
from app.clock.models import Binding, ClockEmployee
from app.clock.punches import rebinding
from app.clock.settings import read_settings
from app.db.among import among
from app.db.session import workspace_of
from app.host.models import Employee, KioskEnrolment
from app.webhooks import noting
from app.webhooks.kinds import BINDING_CHANGED

FIRST_MIRRORED = "First mirrored."
_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended('clock bindings ' || :workspace, 0))")
_MAKE = """
    WITH made AS (
        INSERT INTO clock_employee_bindings (clock_employee_id, emp_code)
        SELECT id, emp_code FROM clock_employees e
        WHERE NOT EXISTS (SELECT 1 FROM clock_employee_bindings b WHERE b.clock_employee_id = e.id)
        {of_some} ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO clock_binding_history (binding_id, to_state, decided_by, why)
    SELECT id, 'unbound', 'Muster', :why FROM made
"""
_MAKE_MISSING = text(_MAKE.format(of_some=""))
_MAKE_SOME = text(_MAKE.format(of_some="AND e.emp_code = ANY(CAST(:codes AS text[]))"))
# What a decision reads of a binding, and writes.
DECIDED = (
    Binding.state, Binding.method, Binding.host_employee_id, Binding.cleared, Binding.resumes, Binding.candidates, Binding.taken,
    Binding.rejected,
)  # fmt: skip
_READ = select(
    Binding.id,
    Binding.clock_employee_id,
    Binding.emp_code,
    *DECIDED,
    Binding.reason,
    ClockEmployee.full_name,
    ClockEmployee.active,
    ClockEmployee.absent_since,
    ClockEmployee.seen,
).join(ClockEmployee, ClockEmployee.id == Binding.clock_employee_id)
_GIVEN = """jsonb_to_recordset(CAST(:rows AS jsonb)) AS g (
    id bigint, state text, method text, host_employee_id bigint, cleared boolean, resumes text, candidates jsonb,
    taken jsonb, rejected jsonb, why text, is_news boolean, from_state text, history_host bigint)"""
_WRITE = text(
    f"""
    UPDATE clock_employee_bindings b SET
        state = g.state, method = g.method, host_employee_id = g.host_employee_id, cleared = g.cleared,
        resumes = g.resumes, candidates = g.candidates, taken = g.taken, rejected = g.rejected,
        reason = coalesce(nullif(g.why, ''), b.reason),
        decided_by = CASE WHEN g.is_news THEN :by ELSE b.decided_by END,
        decided_at = CASE WHEN g.is_news THEN now() ELSE b.decided_at END,
        updated_at = now()
    FROM {_GIVEN} WHERE b.id = g.id
    """
)
_REMEMBER = text(
    f"""
    INSERT INTO clock_binding_history (binding_id, from_state, to_state, method, host_employee_id, decided_by, why)
    SELECT g.id, g.from_state, g.state, g.method, g.history_host, :by, g.why FROM {_GIVEN} WHERE g.is_news ORDER BY g.id
    """
)


async def hold(db: AsyncSession) -> None:
    """Keeps other transactions from changing bindings of this workspace until this one ends. Read only after it."""
    await db.execute(_HOLD, {"workspace": workspace_of(db)})


async def make_missing(db: AsyncSession) -> None:
    """A binding for every mirrored person who has none."""
    await db.execute(_MAKE_MISSING, {"why": FIRST_MIRRORED})


async def make_some(db: AsyncSession, codes: Collection[str], why: str) -> None:
    """The same for the people of these codes; `why` is what their history begins with."""
    await db.execute(_MAKE_SOME, {"codes": list(codes), "why": why})


async def read_all(db: AsyncSession) -> list[Code]:
    return [_code(row) for row in await db.execute(_READ.order_by(Binding.id))]


async def read_some(db: AsyncSession, clock_employee_ids: Collection[int]) -> list[Code]:
    """The bindings of these mirrored people, in the order of their codes."""
    chosen = _READ.where(among(Binding.clock_employee_id, clock_employee_ids))
    return [_code(row) for row in await db.execute(chosen.order_by(Binding.emp_code))]


def _code(row: Any) -> Code:
    return Code(
        binding_id=row.id,
        emp_code=row.emp_code,
        name=row.full_name,
        enabled=row.active,
        absent=row.absent_since is not None,
        listed=row.seen > 0,
        state=row.state,
        method=row.method,
        host_employee_id=row.host_employee_id,
        cleared=row.cleared,
        resumes=row.resumes,
        rejected=frozenset(row.rejected),
        candidates=tuple(SimilarEmployee(**one) for one in row.candidates),
        taken=tuple(SimilarEmployee(**one) for one in row.taken),
        why=row.reason,
    )


async def codes_of(db: AsyncSession, host_employee_ids: Collection[int]) -> dict[int, list[str]]:
    """The codes that have these host employees now, in order."""
    linked = select(Binding.host_employee_id, Binding.emp_code).where(
        among(Binding.host_employee_id, host_employee_ids)
    )
    found: dict[int, list[str]] = {}
    for employee_id, code in await db.execute(linked.order_by(Binding.emp_code)):
        found.setdefault(employee_id or 0, []).append(code)
    return found


async def suggested_for(db: AsyncSession, host_employee_ids: Collection[int]) -> list[Code]:
    """The suggestions whose one name is one of these host employees."""
    named = Binding.candidates[0]["host_employee_id"].as_integer()
    chosen = _READ.where(Binding.state == BindingState.SUGGESTED.value, among(named, host_employee_ids))
    return [_code(row) for row in await db.execute(chosen.order_by(Binding.emp_code))]


async def alike(db: AsyncSession, emp_codes: Collection[str]) -> list[Code]:
    """All codes that may be the same ID number as one of these: they differ in leading zeros and capitals at most."""
    keys = {one.lstrip("0").lower() for one in emp_codes}
    chosen = _READ.where(among(func.lower(func.ltrim(Binding.emp_code, "0"), type_=Text), keys))
    return [_code(row) for row in await db.execute(chosen.order_by(Binding.emp_code))]


async def read_host(db: AsyncSession) -> tuple[list[HostEmployee], dict[str, int], bool]:
    """The people to whom a code may belong, their kiosk codes, and whether leading zeros of ID numbers count. People
    who left are among them: they keep their links, and their ID number gets no other match."""
    deleted = Employee.deleted_at.is_not(None)
    people = await db.execute(
        select(Employee.id, Employee.id_number, Employee.name, Employee.active & ~deleted, deleted)
    )
    kiosk = await db.execute(select(KioskEnrolment.code, KioskEnrolment.employee_id))
    settings = await read_settings(db)
    return (
        [HostEmployee(*row) for row in people],
        {row.code: row.employee_id for row in kiosk},
        settings.ignore_leading_zeros,
    )


async def id_numbers(db: AsyncSession) -> tuple[list[str], bool]:
    """The ID numbers of all employees, deleted ones too, and whether leading zeros of them are ignored."""
    numbers = await db.scalars(select(Employee.id_number))
    return list(numbers), (await read_settings(db)).ignore_leading_zeros


async def write(db: AsyncSession, by: str, changes: Sequence[BindingTransition]) -> None:
    """Writes bindings and their history, and marks the punches whose owner changed, to be judged again. `by` is who
    decided."""
    if not changes:
        return
    given = {"rows": msgspec.json.encode([_row(change) for change in changes]).decode(), "by": by}
    await db.execute(_WRITE, given)
    await db.execute(_REMEMBER, given)
    await noting.note(db, BINDING_CHANGED, sorted({change.code.emp_code for change in changes if change.is_news}))
    moved = [change for change in changes if change.moves]
    if moved:
        await rebinding.mark_moved(db, [_move(change) for change in moved])


def _move(change: BindingTransition) -> rebinding.Move:
    return rebinding.Move(change.code.emp_code, change.code.host_employee_id, change.decision.host_employee_id)


def _row(change: BindingTransition) -> dict[str, Any]:
    code, decision = change.code, change.decision
    return {
        "id": code.binding_id,
        "state": decision.state,
        "method": decision.method,
        "host_employee_id": decision.host_employee_id,
        "cleared": decision.cleared,
        "resumes": decision.resumes,
        "candidates": [asdict(one) for one in decision.candidates],
        "taken": [asdict(one) for one in decision.taken],
        "rejected": sorted(code.rejected if change.rejected is None else change.rejected),
        "why": decision.why,
        "is_news": change.is_news,
        "from_state": code.state,
        # When a link ended, the history says whose.
        "history_host": decision.host_employee_id or code.host_employee_id,
    }
