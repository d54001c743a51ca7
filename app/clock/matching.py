"""Who belongs to which clock code: the decision order and every automatic transition of a binding, as a pure function.

Sources: spec time-clock "Match decision order"; decisions "Clock: bindings". It opens no session; app.clock.bindings reads
the rows, carries the changes out and writes the history.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz, process

from app.clock.codes import BindingState
from app.texts import id_number_key

SIMILAR = 88.0
KEPT_CANDIDATES = 3
NAMED = 5
_WORDS = re.compile(r"[^\W_]+")
_GONE = "No longer in the server's list of people; the link is kept, so that old punches stay attributable."


@dataclass(frozen=True, slots=True)
class Candidate:
    host_employee_id: int
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class HostEmployee:
    """`eligible`: active and not deleted; others get no new match, and links that exist stay."""

    id: int
    id_number: str
    name: str
    eligible: bool


@dataclass(frozen=True, slots=True)
class Code:
    """A mirrored person with the binding as it is. `listed`: some listing once held them; `absent`: the last one did not.

    `why` is the reason as stored. `candidates` are in the order in which they were found; `rejected` are host employees.
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
    candidates: tuple[Candidate, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a binding shall be, and the reason that the history shows. An empty reason leaves the stored one."""

    state: str
    why: str
    method: str | None = None
    host_employee_id: int | None = None
    cleared: bool = False
    resumes: str | None = None
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one binding, by a pass or by a person. `rejected` None leaves the pairs that were rejected."""

    code: Code
    decision: Decision
    rejected: frozenset[int] | None = None

    @property
    def is_news(self) -> bool:
        """Whether the binding itself changes, and not only its candidates or the wording of its reason."""
        code, decision = self.code, self.decision
        return (code.state, code.method, code.host_employee_id, code.cleared) != (
            decision.state,
            decision.method,
            decision.host_employee_id,
            decision.cleared,
        )

    @property
    def moves(self) -> bool:
        """Whether another host employee, or nobody any more, stands behind the code."""
        return self.code.host_employee_id != self.decision.host_employee_id


@dataclass(frozen=True)
class Directory:
    """The host's people, indexed for the questions of one pass."""

    by_id: Mapping[int, HostEmployee]
    by_number: Mapping[str, Sequence[HostEmployee]]
    kiosk: Mapping[str, int]
    ignore_leading_zeros: bool
    sorted_names: Mapping[int, str] = field(default_factory=dict)


def directory(
    employees: Iterable[HostEmployee], kiosk: Mapping[str, int], *, ignore_leading_zeros: bool = False
) -> Directory:
    """`kiosk` maps an enrolled code to the host employee's id."""
    by_id = {one.id: one for one in sorted(employees, key=lambda one: one.id)}
    by_number: dict[str, list[HostEmployee]] = defaultdict(list)
    for one in by_id.values():
        by_number[number_key(one.id_number, ignore_leading_zeros=ignore_leading_zeros)].append(one)
    names = {one.id: folded_name(one.name) for one in by_id.values() if one.eligible}
    return Directory(by_id, by_number, kiosk, ignore_leading_zeros, {key: name for key, name in names.items() if name})


def match(codes: Sequence[Code], host: Directory) -> list[Change]:
    """One pass over all codes: what changes, and why. A second pass over its result changes nothing."""
    decided = _settle_claims(_without_lost_links([(code, decide(code, host)) for code in codes], host))
    changes = [Change(code, _without_absent(code, decision)) for code, decision in decided]
    return [change for change in changes if _differs(change)]


def decide(code: Code, host: Directory) -> Decision:
    """What one code would be if no other code claimed the same employee. The first line that applies decides.

    An auto match of somebody who is absent is still an auto match here: whether it claims an employee is asked first.
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
    """Somebody who left the server's list can still be found in the host: their punches become attributable at once."""
    if decision.state != BindingState.AUTO_MATCHED or not (code.absent and code.listed):
        return decision
    return replace(
        decision, state=BindingState.MISSING_REMOTE, resumes=BindingState.AUTO_MATCHED, why=f"{decision.why} {_GONE}"
    )


def _automatic(code: Code, host: Directory) -> Decision:
    """States in which no person's word stands."""
    if not code.enabled:
        why = "Disabled on the server, or its attendance is switched off there."
        return Decision(BindingState.DISABLED, why, cleared=code.cleared)
    if code.cleared and code.state == BindingState.UNBOUND:
        return _unchanged(code)
    if code.cleared:
        return Decision(BindingState.UNBOUND, "Enabled on the server again; it was cleared by a person.", cleared=True)
    return _by_order(code, host)


def _returned(code: Code, host: Directory) -> Decision:
    """Present again: the state it had, and an unconfirmed one is looked at again."""
    back = replace(code, state=code.resumes or BindingState.BOUND, resumes=None)
    if back.state == BindingState.BOUND:
        return replace(_unchanged(back), why="Back in the server's list of people.")
    return decide(back, host)


def _by_order(code: Code, host: Directory) -> Decision:
    """Steps 2 to 5 of the decision order. A link that stands with somebody who left comes after the kiosk's word."""
    for step in (_by_kiosk, _by_standing_link, _by_number):
        decision = step(code, host)
        if decision is not None:
            return _unless_rejected(code, decision)
    return _by_name(code, host)


def _by_kiosk(code: Code, host: Directory) -> Decision | None:
    employee = host.by_id.get(host.kiosk.get(code.emp_code, 0))
    if employee is None or not employee.eligible:
        return None
    why = f"The kiosk knows the code {code.emp_code} as {employee.name}."
    return Decision(BindingState.AUTO_MATCHED, why, "kiosk", employee.id, candidates=(_sure(employee),))


def _by_standing_link(code: Code, host: Directory) -> Decision | None:
    """Somebody who left keeps the link that they have: a namesake hired later does not take their punches over.

    Their kiosk code may be gone (deleting a person frees it), so a link that the kiosk made needs no further proof.
    """
    employee = host.by_id.get(code.host_employee_id or 0)
    if code.state != BindingState.AUTO_MATCHED or employee is None or employee.eligible:
        return None
    if code.method != "kiosk" and _key(employee.id_number, host) != _key(code.emp_code, host):
        return None
    why = f"{employee.name} is inactive or deleted; the link that was there stays, and nobody is matched anew."
    return Decision(BindingState.AUTO_MATCHED, why, code.method, employee.id, candidates=(_sure(employee),))


def _by_number(code: Code, host: Directory) -> Decision | None:
    found = [one for one in host.by_number.get(_key(code.emp_code, host), ()) if one.eligible]
    if not found:
        return None
    if len(found) == 1:
        why = f"Exactly one host employee has the ID number {code.emp_code}: {found[0].name}."
        return Decision(BindingState.AUTO_MATCHED, why, "id_number", found[0].id, candidates=(_sure(found[0]),))
    why = f"{len(found)} host employees share the ID number {code.emp_code}: {_some(one.name for one in found)}."
    # All of them count, but somebody whom a person rejected is not proposed again.
    return Decision(
        BindingState.CONFLICT, why, candidates=tuple(_sure(one) for one in found if one.id not in code.rejected)
    )


def _unless_rejected(code: Code, decision: Decision) -> Decision:
    if decision.host_employee_id not in code.rejected:
        return decision
    return Decision(BindingState.UNBOUND, "A person rejected this match; it is not proposed again.", cleared=True)


def _by_name(code: Code, host: Directory) -> Decision:
    candidates = similar(code, host)
    if not candidates:
        return Decision(
            BindingState.NOT_FOUND, f"No host employee has the ID number {code.emp_code}, and no name is similar."
        )
    best = candidates[0]
    if len(candidates) > 1 and candidates[1].score == best.score:
        why = f"No host employee has the ID number {code.emp_code}; several names are equally similar."
        return Decision(BindingState.NOT_FOUND, why, candidates=candidates)
    why = f"No host employee has the ID number {code.emp_code}; {best.name} is similar by name ({best.score:g} of 100)."
    return Decision(BindingState.SUGGESTED, why, "name", candidates=candidates)


def similar(code: Code, host: Directory) -> tuple[Candidate, ...]:
    """The best three host employees by folded name, from 88 of 100 on; a rejected one is never among them."""
    name = folded_name(code.name)
    if not name:
        return ()
    found = process.extract(name, host.sorted_names, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
    ranked = sorted((-round(score, 1), key) for _, score, key in found if key not in code.rejected)
    return tuple(Candidate(key, host.by_id[key].name, -score) for score, key in ranked[:KEPT_CANDIDATES])


Decided = list[tuple[Code, Decision]]
Claims = Mapping[int, Sequence[str]]


def _without_lost_links(decided: Decided, host: Directory) -> Decided:
    """A link that stands with somebody who left ends when another code has or claims them too.

    As a conflict it would be forgotten by the next pass, which finds nobody who left.
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
    """Two codes that would be matched to one employee become conflicts; so does one against a standing link."""
    held, claims = _claims(decided)
    return [(code, _contested(decision, held, claims)) for code, decision in decided]


def _claims(decided: Decided) -> tuple[Claims, Claims]:
    """The codes of each employee: those that have them whatever this pass says, and those that would be matched to them."""
    held: dict[int, list[str]] = defaultdict(list)
    claims: dict[int, list[str]] = defaultdict(list)
    for code, decision in decided:
        if decision.host_employee_id is not None:
            (claims if decision.state == BindingState.AUTO_MATCHED else held)[decision.host_employee_id].append(
                code.emp_code
            )
    return held, claims


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
        why = f"{len(codes)} codes would be matched to {name} ({_some(codes)}); a person must decide."
    else:
        return decision
    return Decision(BindingState.CONFLICT, why, candidates=decision.candidates)


def _differs(change: Change) -> bool:
    code, decision = change.code, change.decision
    if change.is_news or (code.resumes, code.candidates) != (decision.resumes, decision.candidates):
        return True
    return bool(decision.why) and decision.why != code.why


def _unchanged(code: Code) -> Decision:
    return Decision(
        code.state, "", code.method, code.host_employee_id, code.cleared, code.resumes, candidates=code.candidates
    )


def _sure(employee: HostEmployee) -> Candidate:
    return Candidate(employee.id, employee.name, 100.0)


def _some(names: Iterable[str]) -> str:
    """The first few, and that there are more."""
    listed = list(names)
    return ", ".join(listed[:NAMED]) + (" and others" if len(listed) > NAMED else "")


def _key(number: str, host: Directory) -> str:
    return number_key(number, ignore_leading_zeros=host.ignore_leading_zeros)


def number_key(number: str, *, ignore_leading_zeros: bool = False) -> str:
    """How a code compares with ID numbers: like these among themselves, without leading zeros where the setting says so."""
    key = id_number_key(number)
    return (key.lstrip("0") or key[-1:]) if ignore_leading_zeros else key


def folded_name(name: str) -> str:
    """A name without accents, case, punctuation and word order."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(sorted(_WORDS.findall(plain.casefold())))
