"""Who belongs to which clock code: the decision order and every automatic transition of a binding, as a pure function.

Sources: spec time-clock "Match decision order"; decisions "Clock: bindings". It opens no session; app.clock.bindings reads
the rows, carries the changes out and writes the history.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz, process

SIMILAR = 88.0
KEPT_CANDIDATES = 3
HAS_HOST = frozenset({"bound", "auto_matched", "missing_remote"})
_WORDS = re.compile(r"[^\W_]+")


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
    """A mirrored person with the binding as it is. `listed`: some listing once held them; `absent`: the last one did not."""

    binding_id: int
    emp_code: str
    name: str
    enabled: bool
    absent: bool
    listed: bool
    state: str = "unbound"
    method: str | None = None
    host_employee_id: int | None = None
    cleared: bool = False
    resumes: str | None = None
    rejected: frozenset[int] = frozenset()
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a binding shall be, and the reason that the history shows."""

    state: str
    why: str
    method: str | None = None
    host_employee_id: int | None = None
    cleared: bool = False
    resumes: str | None = None
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    code: Code
    decision: Decision


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
    by_id = {one.id: one for one in employees}
    by_number: dict[str, list[HostEmployee]] = defaultdict(list)
    for one in by_id.values():
        by_number[number_key(one.id_number, ignore_leading_zeros=ignore_leading_zeros)].append(one)
    names = {one.id: folded_name(one.name) for one in by_id.values() if one.eligible}
    return Directory(by_id, by_number, kiosk, ignore_leading_zeros, {key: name for key, name in names.items() if name})


def match(codes: Sequence[Code], host: Directory) -> list[Change]:
    """One pass over all codes: what changes, and why. A second pass over its result changes nothing."""
    decided = _settle_claims([(code, decide(code, host)) for code in codes])
    return [Change(code, decision) for code, decision in decided if _differs(code, decision)]


def decide(code: Code, host: Directory) -> Decision:
    """What one code would be if no other code claimed the same employee. The first line that applies decides."""
    if code.state == "ignored" or (code.state == "missing_remote" and code.absent):
        return _unchanged(code)
    if code.state == "missing_remote":
        return _returned(code, host)
    if code.absent and code.listed and code.state in ("bound", "auto_matched"):
        why = "No longer in the server's list of people; the link is kept, so that old punches stay attributable."
        return replace(_unchanged(code), state="missing_remote", resumes=code.state, why=why)
    if code.state == "bound":
        return _unchanged(code)
    return _automatic(code, host)


def _automatic(code: Code, host: Directory) -> Decision:
    """States in which no person's word stands."""
    if not code.enabled:
        why = "Disabled on the server, or its attendance is switched off there."
        return Decision("disabled", why, cleared=code.cleared)
    if code.cleared:
        return Decision("unbound", "Enabled on the server again; it was cleared by a person.", cleared=True)
    return _by_order(code, host)


def _returned(code: Code, host: Directory) -> Decision:
    """Present again: the state it had, and an unconfirmed one is looked at again."""
    back = replace(code, state=code.resumes or "bound", resumes=None)
    if back.state == "bound":
        return replace(_unchanged(back), why="Back in the server's list of people.")
    return decide(back, host)


def _by_order(code: Code, host: Directory) -> Decision:
    """Steps 2 to 5 of the decision order."""
    for step in (_by_kiosk, _by_number):
        decision = step(code, host)
        if decision is not None:
            return _unless_rejected(code, decision)
    return _by_name(code, host)


def _by_kiosk(code: Code, host: Directory) -> Decision | None:
    employee = host.by_id.get(host.kiosk.get(code.emp_code, 0))
    if employee is None or not _may_match(code, employee):
        return None
    why = f"The kiosk knows the code {code.emp_code} as {employee.name}."
    return Decision("auto_matched", why, "kiosk", employee.id, candidates=(_sure(employee),))


def _by_number(code: Code, host: Directory) -> Decision | None:
    key = number_key(code.emp_code, ignore_leading_zeros=host.ignore_leading_zeros)
    found = [one for one in host.by_number.get(key, ()) if _may_match(code, one)]
    if not found:
        return None
    if len(found) > 1:
        names = ", ".join(one.name for one in found[:5])
        why = f"{len(found)} host employees share the ID number {code.emp_code}: {names}."
        return Decision("conflict", why, candidates=tuple(_sure(one) for one in found))
    why = f"Exactly one host employee has the ID number {code.emp_code}: {found[0].name}."
    return Decision("auto_matched", why, "id_number", found[0].id, candidates=(_sure(found[0]),))


def _may_match(code: Code, employee: HostEmployee) -> bool:
    """A link that exists stays with an employee who left; nobody gets a new one."""
    return employee.eligible or (code.state == "auto_matched" and code.host_employee_id == employee.id)


def _unless_rejected(code: Code, decision: Decision) -> Decision:
    if decision.host_employee_id not in code.rejected:
        return decision
    return Decision("unbound", "A person rejected this match; it is not proposed again.", cleared=True)


def _by_name(code: Code, host: Directory) -> Decision:
    candidates = similar(code, host)
    if not candidates:
        return Decision("not_found", f"No host employee has the ID number {code.emp_code}, and no name is similar.")
    best = candidates[0]
    if len(candidates) > 1 and candidates[1].score == best.score:
        why = f"No host employee has the ID number {code.emp_code}; several names are equally similar."
        return Decision("not_found", why, candidates=candidates)
    why = f"No host employee has the ID number {code.emp_code}; {best.name} is similar by name ({best.score:g} of 100)."
    return Decision("suggested", why, "name", candidates=candidates)


def similar(code: Code, host: Directory) -> tuple[Candidate, ...]:
    """The best three host employees by folded name, from 88 of 100 on; a rejected one is never among them."""
    name = folded_name(code.name)
    if not name:
        return ()
    found = process.extract(name, host.sorted_names, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None)
    ranked = sorted((-round(score, 1), key) for _, score, key in found if key not in code.rejected)
    return tuple(Candidate(key, host.by_id[key].name, -score) for score, key in ranked[:KEPT_CANDIDATES])


def _settle_claims(decided: list[tuple[Code, Decision]]) -> list[tuple[Code, Decision]]:
    """Two codes that would be matched to one employee become conflicts; so does one against a standing link."""
    held: dict[int, str] = {}
    claims: Counter[int] = Counter()
    for code, decision in decided:
        if decision.host_employee_id is None:
            continue
        if decision.state == "auto_matched":
            claims[decision.host_employee_id] += 1
        else:
            held[decision.host_employee_id] = code.emp_code
    return [(code, _contested(decision, held, claims)) for code, decision in decided]


def _contested(decision: Decision, held: Mapping[int, str], claims: Mapping[int, int]) -> Decision:
    employee_id = decision.host_employee_id
    if decision.state != "auto_matched" or employee_id is None:
        return decision
    name = decision.candidates[0].name if decision.candidates else "The employee"
    if employee_id in held:
        why = f"{name} is linked to the code {held[employee_id]} already; a person must decide whether both are theirs."
    elif claims[employee_id] > 1:
        why = f"{claims[employee_id]} codes would be matched to {name}; a person must decide."
    else:
        return decision
    return Decision("conflict", why, candidates=decision.candidates)


def _differs(code: Code, decision: Decision) -> bool:
    now = (code.state, code.method, code.host_employee_id, code.cleared, code.resumes, code.candidates)
    then = (
        decision.state,
        decision.method,
        decision.host_employee_id,
        decision.cleared,
        decision.resumes,
        decision.candidates,
    )
    return now != then


def _unchanged(code: Code) -> Decision:
    return Decision(
        code.state, "", code.method, code.host_employee_id, code.cleared, code.resumes, candidates=code.candidates
    )


def _sure(employee: HostEmployee) -> Candidate:
    return Candidate(employee.id, employee.name, 100.0)


def number_key(number: str, *, ignore_leading_zeros: bool = False) -> str:
    """How ID numbers compare: trimmed and case-folded, without leading zeros where the setting says so."""
    key = number.strip().casefold()
    return (key.lstrip("0") or key[-1:]) if ignore_leading_zeros else key


def folded_name(name: str) -> str:
    """A name without accents, case, punctuation and word order."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join(sorted(_WORDS.findall(plain.casefold())))
