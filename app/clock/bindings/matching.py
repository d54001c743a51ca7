"""Who belongs to which clock code: the decision order, and every automatic transition of a binding. Pure.

What each state means, and in which order a pass looks: docs/glossary.md, "Binding states". bindings/actions.py reads
the rows, carries the changes out and writes the history. When two names are similar: similar_names.py.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from app.clock.bindings.code_states import BindingTransition, Code, Decision
from app.clock.bindings.directory import Directory, HostEmployee, SimilarEmployee
from app.clock.codes import BindingState
from app.counting import some

KEPT_CANDIDATES = 3
_UNDECIDED = (BindingState.NOT_FOUND, BindingState.SUGGESTED, BindingState.UNBOUND)
_GONE = "No longer in the server's list of people; the link is kept, so that old punches stay attributable."


def match(codes: Sequence[Code], host: Directory, *, by_name: Collection[str] | None = None) -> list[BindingTransition]:
    """One pass over all codes: what changes, and why. A second pass over its result changes nothing. With `by_name`,
    names of other undecided codes than these are not compared: such codes stay as they are, for a later pass, unless
    somebody whom they name has got or lost a code."""
    decided = _with_names(_before_names(codes, host), host, by_name)
    changes = [BindingTransition(code, _without_absent(code, decision)) for code, decision in decided]
    return [change for change in changes if _differs(change)]


def undecided(codes: Sequence[Code], host: Directory) -> set[str]:
    """The names that a pass must compare with all others."""
    return {code.name for code, decision in _before_names(codes, host) if decision.state == BindingState.NOT_FOUND}


def _before_names(codes: Sequence[Code], host: Directory) -> "Decided":
    return _settle_claims(_without_lost_links([(code, decide(code, host)) for code in codes], host))


def decide(code: Code, host: Directory) -> Decision:
    """What one code would be if no other code claimed the same employee. The first line that applies decides.

    An auto match of an absent person is still an auto match here, because claims are settled before absence. *Not
    found* means that the name is compared later, once it is known who is linked.
    """
    if code.state == BindingState.IGNORED or (code.state == BindingState.MISSING_REMOTE and code.absent):
        return _unchanged(code)
    if code.state == BindingState.MISSING_REMOTE:
        return _returned(code, host)
    if code.absent and code.listed and code.state in (BindingState.BOUND, BindingState.AUTO_MATCHED):
        return replace(_unchanged(code), state=BindingState.MISSING_REMOTE, resumes=code.state, why=_GONE)
    if code.state == BindingState.BOUND:
        return _unchanged(code)
    return _automatic(code, host)


def _without_absent(code: Code, decision: Decision) -> Decision:
    """A person who left the server's list can still be matched, so that their punches get an owner at once."""
    if decision.state != BindingState.AUTO_MATCHED or not (code.absent and code.listed):
        return decision
    return replace(
        decision, state=BindingState.MISSING_REMOTE, resumes=BindingState.AUTO_MATCHED, why=f"{decision.why} {_GONE}"
    )


def _automatic(code: Code, host: Directory) -> Decision:
    """States that no person has decided."""
    if not code.enabled:
        why = "Disabled on the server, or its attendance is switched off there."
        return Decision(BindingState.DISABLED, why, cleared=code.cleared)
    if code.cleared and code.state == BindingState.UNBOUND:
        return _unchanged(code)
    if code.cleared:
        return Decision(BindingState.UNBOUND, "Enabled on the server again; it was cleared by a person.", cleared=True)
    return _by_order(code, host)


def _returned(code: Code, host: Directory) -> Decision:
    """The person is listed again: the binding gets the state that it had, and an unconfirmed one is decided again."""
    back = replace(code, state=code.resumes or BindingState.BOUND, resumes=None)
    if back.state == BindingState.BOUND:
        return replace(_unchanged(back), why="Back in the server's list of people.")
    return decide(back, host)


def _by_order(code: Code, host: Directory) -> Decision:
    """Steps 2 and 3 of the decision order. A standing link to an employee who left comes after the kiosk's word."""
    for step in (_by_kiosk, _by_standing_link, _by_number):
        decision = step(code, host)
        if decision is not None:
            return _unless_rejected(code, decision)
    return Decision(BindingState.NOT_FOUND, _without_employee(code, host))


def _by_kiosk(code: Code, host: Directory) -> Decision | None:
    employee = host.by_id.get(host.kiosk.get(code.emp_code, 0))
    if employee is None or not employee.eligible:
        return None
    why = f"The kiosk knows the code {code.emp_code} as {employee.name}."
    return Decision(BindingState.AUTO_MATCHED, why, "kiosk", employee.id, candidates=(_sure(employee),))


def _by_standing_link(code: Code, host: Directory) -> Decision | None:
    """An employee who left keeps the link, so that a namesake who is hired later does not get their punches.

    Their kiosk code may be gone, because deleting a person frees it.
    So a link that the kiosk made needs no further proof.
    """
    employee = host.by_id.get(code.host_employee_id or 0)
    if code.state != BindingState.AUTO_MATCHED or employee is None or employee.eligible:
        return None
    if code.method != "kiosk" and host.key(employee.id_number) != host.key(code.emp_code):
        return None
    why = f"{employee.name} is inactive or deleted. The old link stays, and no other employee is matched."
    return Decision(BindingState.AUTO_MATCHED, why, code.method, employee.id, candidates=(_sure(employee),))


def _by_number(code: Code, host: Directory) -> Decision | None:
    found = [one for one in host.having(code.emp_code) if one.eligible]
    if not found:
        return None
    if len(found) == 1:
        why = f"Exactly one host employee has the ID number {code.emp_code}: {found[0].name}."
        return Decision(BindingState.AUTO_MATCHED, why, "id_number", found[0].id, candidates=(_sure(found[0]),))
    why = f"{len(found)} host employees share the ID number {code.emp_code}: {some(one.name for one in found)}."
    # All of them count, but an employee whom a person rejected is not proposed again.
    return Decision(
        BindingState.CONFLICT, why, candidates=tuple(_sure(one) for one in found if one.id not in code.rejected)
    )


def _unless_rejected(code: Code, decision: Decision) -> Decision:
    if decision.host_employee_id not in code.rejected:
        return decision
    return Decision(BindingState.UNBOUND, "A person rejected this match; it is not proposed again.", cleared=True)


def _without_employee(code: Code, host: Directory) -> str:
    """Begins the reason of a code that no ID number decided: the employees with the number have left."""
    left = host.having(code.emp_code)
    if not left:
        return f"No host employee has the ID number {code.emp_code}"
    if len(left) > 1:
        return f"The ID number {code.emp_code} belongs to people who left: {some(one.name for one in left)}"
    return f"The ID number {code.emp_code} belongs to {left[0].name}, who {'was deleted' if left[0].deleted else 'is inactive'}"


Decided = list[tuple[Code, Decision]]
Claims = Mapping[int, Sequence[str]]


def _without_lost_links(decided: Decided, host: Directory) -> Decided:
    """A standing link to an employee who left ends when another code has or claims them too.

    It does not become a conflict: the next pass skips people who left, and would forget it.
    """
    held, claims = _claims(decided)

    def kept_or_new(code: Code, decision: Decision) -> Decision:
        employee_id = decision.host_employee_id
        if decision.state != BindingState.AUTO_MATCHED or employee_id is None or host.by_id[employee_id].eligible:
            return decision
        if employee_id not in held and len(claims[employee_id]) == 1:
            return decision
        return _by_order(replace(code, host_employee_id=None), host)

    return [(code, kept_or_new(code, decision)) for code, decision in decided]


def _settle_claims(decided: Decided) -> Decided:
    """Two codes that would be matched to one employee become conflicts. So does a code that claims an employee with a
    standing link."""
    held, claims = _claims(decided)
    return [(code, _contested(decision, held, claims)) for code, decision in decided]


def _claims(decided: Decided) -> tuple[Claims, Claims]:
    """For each employee: the codes that have them whatever this pass decides,
    and the codes that would be matched to them."""
    held: dict[int, list[str]] = defaultdict(list)
    claims: dict[int, list[str]] = defaultdict(list)
    for code, decision in decided:
        if decision.host_employee_id is not None:
            (claims if decision.state == BindingState.AUTO_MATCHED else held)[decision.host_employee_id].append(
                code.emp_code
            )
    return held, claims


def _with_names(decided: Decided, host: Directory, by_name: Collection[str] | None) -> Decided:
    """Step 4, for the codes that nothing else decided. It comes after the claims, because an employee with a code is
    never suggested."""
    held, claims = _claims(decided)
    linked = {**claims, **held}

    def completed(code: Code, decision: Decision) -> Decision:
        if decision.state != BindingState.NOT_FOUND:
            return decision
        if by_name is not None and code.emp_code not in by_name and _may_stay(code, linked):
            return _unchanged(code)
        return _by_name(code, decision.why, host, linked)

    return [(code, completed(code, decision)) for code, decision in decided]


def _may_stay(code: Code, linked: Claims) -> bool:
    """True for an undecided code while each employee that it suggests is without a code, and each that it names as
    taken has one."""
    suggested_are_free = all(one.host_employee_id not in linked for one in code.candidates)
    taken_have_a_code = all(one.host_employee_id in linked for one in code.taken)
    return code.state in _UNDECIDED and suggested_are_free and taken_have_a_code


def _by_name(code: Code, number: str, host: Directory, linked: Claims) -> Decision:
    """`number` says why the ID number decided nothing; `linked` maps people to the codes that have them."""
    found = [one for one in host.similar(code.name) if one.host_employee_id not in code.rejected]
    free = tuple(one for one in found if one.host_employee_id not in linked)[:KEPT_CANDIDATES]
    taken = tuple(one for one in found if one.host_employee_id in linked)[:KEPT_CANDIDATES]
    beside = "".join(
        f" {one.name} has a similar name, but belongs to the code {min(linked[one.host_employee_id])}." for one in taken
    )
    if not free:
        why = (
            f"{number}, and no employee without a code has a similar name."
            if taken
            else f"{number}, and no name is similar."
        )
        return Decision(BindingState.NOT_FOUND, why + beside, taken=taken)
    best = free[0]
    if len(free) > 1 and free[1].score == best.score:
        why = f"{number}; several names are equally similar."
        return Decision(BindingState.NOT_FOUND, why + beside, candidates=free, taken=taken)
    why = f"{number}; {best.name} is similar by name ({best.score:g} of 100)."
    return Decision(BindingState.SUGGESTED, why + beside, "name", candidates=free, taken=taken)


def _contested(decision: Decision, held: Claims, claims: Claims) -> Decision:
    employee_id = decision.host_employee_id
    if decision.state != BindingState.AUTO_MATCHED or employee_id is None:
        return decision
    name = decision.candidates[0].name
    if employee_id in held:
        holder = min(held[employee_id])
        why = f"{name} is linked to the code {holder} already; a person must decide whether both are theirs."
    elif len(claims[employee_id]) > 1:
        codes = sorted(claims[employee_id])
        why = f"{len(codes)} codes would be matched to {name} ({some(codes)}); a person must decide."
    else:
        return decision
    return Decision(BindingState.CONFLICT, why, candidates=decision.candidates)


def _differs(change: BindingTransition) -> bool:
    code, decision = change.code, change.decision
    stored = (code.resumes, code.candidates, code.taken)
    if change.is_news or stored != (decision.resumes, decision.candidates, decision.taken):
        return True
    return bool(decision.why) and decision.why != code.why


def _unchanged(code: Code) -> Decision:
    return Decision(
        code.state, "", code.method, code.host_employee_id, code.cleared, code.resumes, code.candidates, code.taken
    )


def _sure(employee: HostEmployee) -> SimilarEmployee:
    return SimilarEmployee(employee.id, employee.name, 100.0)
