"""What a code with waiting punches lacks; each fact is a problem. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from app.counting import some
from app.problems.findings import Fact, Finding

Detector = Callable[[Fact, datetime], Finding]
NOT_IMPORTED = "Its punches do not become attendance."


def conflict(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        f"{_who(fact)} may be several employees, or an employee has several codes",
        f"{_candidates(fact)}{NOT_IMPORTED} Bind the code to the right employee, or give each employee an ID number of their own.",
    )


def not_found(fact: Fact, _: datetime) -> Finding:
    if left := fact.facts.get("left"):
        return _with_leaver(fact, left[0]) if len(left) == 1 else _with_leavers(fact, [one["name"] for one in left])
    return fact.found(
        f"No employee has the code {fact.subject_id}{_called(fact)}",
        f"{NOT_IMPORTED} Add the person as an employee, or bind the code.",
    )


def _with_leaver(fact: Fact, one: Mapping[str, object]) -> Finding:
    left, verb = ("was deleted", "Restore") if one["deleted"] else ("is inactive", "Activate")
    return fact.found(
        f"{one['name']} has the ID number {fact.subject_id}, but {left}",
        f"{NOT_IMPORTED} {verb} {one['name']} under People, or bind the code{_called(fact)} to another employee.",
    )


def _with_leavers(fact: Fact, names: Sequence[str]) -> Finding:
    return fact.found(
        f"Only employees who left have the ID number {fact.subject_id}{_called(fact)}",
        f"They are {some(names)}. {NOT_IMPORTED} Activate or restore the right one under People, or bind the code to another employee.",
    )


def unbound(fact: Fact, _: datetime) -> Finding:
    return fact.found(f"{_who(fact)} is bound to no employee", f"{NOT_IMPORTED} Bind the code, or match it again.")


def suggested(fact: Fact, _: datetime) -> Finding:
    names = fact.facts["candidates"]
    if len(names) == 1:
        return fact.found(
            f"{_who(fact)} may be {names[0]}", f"{NOT_IMPORTED} Accept the match, or bind another employee."
        )
    return fact.found(
        f"{_who(fact)} may be one of several employees", f"{_candidates(fact)}{NOT_IMPORTED} Bind the right one."
    )


def code_disabled(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        f"{_who(fact)} is disabled on the server, but punches",
        f"{NOT_IMPORTED} Enable the person on the server, bind the code, or ignore it.",
    )


def department_unbound(fact: Fact, _: datetime) -> Finding:
    """Without a name it is about the whole clock."""
    if not fact.subject_id:
        return fact.found("No person of the clock is bound", "No punch becomes attendance. Add or bind the people.")
    return fact.found(
        f"Most people of {fact.facts['name']} are not bound",
        "Their punches do not become attendance. Add or bind them.",
    )


def _who(fact: Fact) -> str:
    return f"Code {fact.subject_id}{_called(fact)}"


def _called(fact: Fact) -> str:
    return f" ({fact.facts['name']})" if fact.facts["name"] else ""


def _candidates(fact: Fact) -> str:
    names = fact.facts["candidates"]
    return f"They are {some(names)}. " if len(names) > 1 else ""
