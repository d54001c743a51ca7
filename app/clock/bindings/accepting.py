"""Which of the chosen matches are accepted, and why the others are not. Pure.

Accepting never gives an employee a second code.
A person binds a second code by hand, after a question that names the first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.clock.bindings.code_states import Code
from app.counting import some

NAMED = 20


@dataclass(frozen=True, slots=True)
class Left:
    """Codes that stay as they are because they all name one employee;
    `holders` are the codes that have this employee."""

    codes: tuple[str, ...]
    name: str
    holders: tuple[str, ...] = ()

    def __str__(self) -> str:
        stay = "stays as it is" if len(self.codes) == 1 else "stay as they are"
        because = self.held or f"each of them names {self.name}"
        return f"{some(self.codes, NAMED)} {stay}: {because}."

    @property
    def held(self) -> str:
        return f"{self.name} has the code {some(self.holders)}" if self.holders else ""

    @property
    def why(self) -> tuple[str, str]:
        """In a word, and in a sentence for one of the codes."""
        if self.holders:
            return "held", f"{self.held}."
        return "claimed", f"{some(self.codes, NAMED)} all name {self.name}."


@dataclass(frozen=True, slots=True)
class Accepting:
    taken: tuple[Code, ...]
    left: tuple[Left, ...]

    @property
    def codes(self) -> list[str]:
        """The codes that are bound."""
        return [one.emp_code for one in self.taken]

    @property
    def why_left(self) -> dict[str, tuple[str, str]]:
        """For each code that stays, the reason."""
        return {code: left.why for left in self.left for code in left.codes}


def sort_out(codes: Iterable[Code], linked: Mapping[int, Sequence[str]]) -> Accepting:
    """`linked` maps the employees that the codes name to the codes that have them now."""
    claims: dict[int, list[Code]] = defaultdict(list)
    for code in codes:
        claims[named_by(code)].append(code)
    taken: list[Code] = []
    left: list[Left] = []
    for employee_id, claiming in claims.items():
        holders = linked.get(employee_id, ())
        free = [one for one in claiming if _may_have(one, claiming, holders)]
        taken += free
        others = tuple(one.emp_code for one in claiming if one not in free)
        if others:
            left.append(Left(others, _name(claiming[0]), tuple(one for one in holders if one not in others)))
    return Accepting(tuple(taken), tuple(left))


def _may_have(code: Code, claiming: Sequence[Code], holders: Sequence[str]) -> bool:
    """True when no other code has the employee, and no other code claims a free one."""
    return list(holders) == [code.emp_code] or (not holders and len(claiming) == 1)


def named_by(code: Code) -> int:
    """The employee whom an auto match or a suggestion is about."""
    return code.host_employee_id or code.candidates[0].host_employee_id


def _name(code: Code) -> str:
    """As the candidates have it; an auto match keeps its employee among them."""
    return next((one.name for one in code.candidates if one.host_employee_id == named_by(code)), "this employee")
