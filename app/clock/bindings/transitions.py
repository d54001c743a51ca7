"""What each act of an operator makes of one binding, with the reason that its history shows. Pure.

`by` is the name of the operator.
"""

from app.clock.bindings.accepting import named_by
from app.clock.bindings.code_states import BindingTransition, Code, Decision
from app.clock.bindings.directory import SimilarEmployee
from app.clock.codes import BindingState


def accepted(code: Code, by: str) -> BindingTransition:
    why = f"{by} accepted it. {code.why or ''}".strip()
    return BindingTransition(
        code, Decision(BindingState.BOUND, why, code.method, named_by(code), candidates=code.candidates)
    )


def rejected(code: Code, by: str) -> BindingTransition:
    host_employee_id = named_by(code)
    name = next((one.name for one in code.candidates if one.host_employee_id == host_employee_id), "this match")
    why = f"{by} rejected {name}; it is not proposed again."
    return BindingTransition(
        code, Decision(BindingState.UNBOUND, why, cleared=True), code.rejected | {host_employee_id}
    )


def cleared(code: Code, by: str) -> BindingTransition:
    why = f"{by} cleared it; it stays cleared until “Match again”."
    return BindingTransition(code, Decision(BindingState.UNBOUND, why, cleared=True))


def ignored(code: Code, by: str) -> BindingTransition:
    return BindingTransition(code, Decision(BindingState.IGNORED, f"{by} left it out on purpose."))


def unignored(code: Code, by: str) -> BindingTransition:
    return BindingTransition(code, Decision(BindingState.UNBOUND, f"{by} stopped ignoring it."))


def unattempted(code: Code, by: str) -> BindingTransition:
    """An auto match keeps its link while it is decided again. It changes only if the decision order says so."""
    why = f"{by} asked to match again."
    if code.state == BindingState.AUTO_MATCHED:
        decision = Decision(code.state, "", code.method, code.host_employee_id, candidates=code.candidates)
        return BindingTransition(code, decision)
    if code.state == BindingState.DISABLED:
        return BindingTransition(code, Decision(code.state, why))
    return BindingTransition(code, Decision(BindingState.UNBOUND, why))


def kept(code: Code, host_employee_id: int) -> tuple[SimilarEmployee, ...]:
    """Keeps the candidates, to show what the choice was made from, as long as the chosen employee is among them."""
    return code.candidates if any(one.host_employee_id == host_employee_id for one in code.candidates) else ()
