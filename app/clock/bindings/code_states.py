"""A clock code with its binding as it is, and what it becomes and why: matching.py and transitions.py decide. Pure."""

from dataclasses import dataclass

from app.clock.bindings.directory import SimilarEmployee
from app.clock.codes import BindingState


@dataclass(frozen=True, slots=True)
class Code:
    """A mirrored person with the binding as it is.
    `listed`: some listing once held them; `absent`: the last one did not.

    `why` is the reason as stored. `candidates` and `taken` are in the order in which they were found; `rejected` are
    host employees.
    """

    binding_id: int
    emp_code: str
    name: str
    enabled: bool
    absent: bool
    listed: bool
    state: str = BindingState.UNBOUND
    method: str | None = None
    host_employee_id: int | None = None
    cleared: bool = False
    resumes: str | None = None
    rejected: frozenset[int] = frozenset()
    candidates: tuple[SimilarEmployee, ...] = ()
    taken: tuple[SimilarEmployee, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a binding becomes, and the reason that the history shows. An empty reason leaves the stored one.

    `taken` are people with a similar name whom another code has: shown, and never suggested.
    """

    state: str
    why: str
    method: str | None = None
    host_employee_id: int | None = None
    cleared: bool = False
    resumes: str | None = None
    candidates: tuple[SimilarEmployee, ...] = ()
    taken: tuple[SimilarEmployee, ...] = ()


@dataclass(frozen=True, slots=True)
class BindingTransition:
    """What becomes of one binding, by a pass or by a person. `rejected` None leaves the pairs that were rejected."""

    code: Code
    decision: Decision
    rejected: frozenset[int] | None = None

    @property
    def is_news(self) -> bool:
        """True when the binding itself changes, and not only its candidates or the wording of its reason."""
        code, decision = self.code, self.decision
        return (code.state, code.method, code.host_employee_id, code.cleared) != (
            decision.state,
            decision.method,
            decision.host_employee_id,
            decision.cleared,
        )

    @property
    def moves(self) -> bool:
        """True when the code's host employee changed or is gone."""
        return self.code.host_employee_id != self.decision.host_employee_id
