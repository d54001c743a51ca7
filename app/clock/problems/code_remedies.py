"""What the remedies of codes without an employee do: acts on bindings, by what the problem says."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import actions as bindings
from app.clock.bindings import adding, queries
from app.clock.bindings import rows as binding_rows
from app.clock.codes import BINDING_STATES, BindingState
from app.clock.models import Binding
from app.db.among import among
from app.errors import Conflict, Invalid
from app.host.people import people as employees
from app.problems.kinds import RemedyAsked, ShownProblem

CHANGED = "This is over, or has changed meanwhile. Reload the page."


async def _accept(asked: RemedyAsked, people: Sequence[int]) -> list[str]:
    """Leaves a code for which another employee is suggested than the problem says."""
    await binding_rows.hold(asked.db)
    said = {code: facts.get("suggested") for code, facts in zip(asked.subject_ids, asked.facts, strict=True)}
    which = select(Binding.clock_employee_id, Binding.emp_code, Binding.candidates)
    rows = await asked.db.execute(which.where(among(Binding.clock_employee_id, people)))
    same = [row[0] for row in rows if row.candidates and row.candidates[0]["host_employee_id"] == said[row.emp_code]]
    return (await bindings.accept(asked.db, asked.actor, same)).codes


def leavers(shown: ShownProblem) -> str:
    """The numbers of the employees who left and have the ID number: *Activate and bind* names one of them."""
    return "/".join(str(one["id"]) for one in shown.facts.get("left") or ())


def chosen(asked: RemedyAsked, acts: Sequence[str]) -> str:
    """Raises Invalid for an act that the remedy does not have."""
    act = asked.choice or acts[0]
    if act not in acts:
        raise Invalid("Choose one of the acts.")
    return act


async def _match_again(asked: RemedyAsked, people: Sequence[int]) -> list[str]:
    """Returns the codes that are in another state now."""
    before = await _states(asked.db, asked.subject_ids)
    if not await bindings.match_again(asked.db, asked.actor, people):
        raise Conflict(CHANGED)
    after = await _states(asked.db, asked.subject_ids)
    return [code for code, state in after.items() if state != before[code]]


async def _states(db: AsyncSession, codes: Collection[str]) -> dict[str, str]:
    which = select(Binding.emp_code, Binding.state).where(among(Binding.emp_code, codes))
    return {row.emp_code: row.state for row in await db.execute(which)}


async def still(asked: RemedyAsked) -> str:
    """What the code is in, after it was matched again."""
    which = select(Binding.state, Binding.candidates).where(Binding.emp_code == asked.subject_ids[0])
    row = (await asked.db.execute(which)).one()
    label = BINDING_STATES[BindingState(row.state)].label.lower()
    if row.state == BindingState.CONFLICT and len(row.candidates) > 1:
        return f"Still in conflict: {len(row.candidates)} employees fit."
    if row.state == BindingState.CONFLICT:
        return "Still in conflict: another code has this employee, or a suggestion names them."
    return f"Still {label}: no employee fits better than before."


async def _ignore(asked: RemedyAsked, people: Sequence[int]) -> list[str]:
    return await bindings.ignore(asked.db, asked.actor, people)


async def _activate(asked: RemedyAsked, people: Sequence[int]) -> list[str]:
    """Binds to the one employee who has the ID number, and is inactive: else the punches would say so and not count.
    Raises Conflict where another employee has the number by now, and where that would take over something of somebody
    else."""
    await binding_rows.hold(asked.db)
    code, employee_id = asked.subject_ids[0], asked.facts[0]["left"][0]["id"]
    is_bound = (await bindings.one(asked.db, people[0])).state == BindingState.BOUND
    if is_bound or await queries.with_number(asked.db, code) != [employee_id]:
        raise Conflict(CHANGED)
    if (await queries.foretell(asked.db, code, employee_id)).needs_a_yes:
        raise Conflict("Binding this code would change other codes or records. Open its page: it says which, and asks.")
    await employees.activate(asked.db, asked.actor, [employee_id])
    await bindings.bind(asked.db, asked.actor, people[0], employee_id)
    return [code]


async def _add(asked: RemedyAsked, people: Sequence[int]) -> list[str]:
    """Raises Conflict with the reason where no code can become an employee."""
    found = await adding.add(asked.db, asked.actor, people)
    if found.left and not found.taken:
        raise Conflict(" ".join(found.left))
    return found.codes


ON_CODES = {"add": _add, "activate": _activate, "accept": _accept, "match_again": _match_again, "ignore": _ignore}
