"""The filters of the punch list, and what the value of each narrows it to."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, literal, select

from app.clock.codes import PUNCH_LABELS, BindingState
from app.clock.models import Binding, ClockEmployee, Punch
from app.clock.outcomes import GROUP_LABELS, OUTCOMES, OutcomeGroup
from app.clock.punches.day_counts import NOT_JUDGED, UNKNOWN
from app.clock.punches.punch_filter import PunchFilter
from app.clock.review import decisions, settling
from app.db.searching import contains
from app.texts import whole
from app.web.list_spec import Filter

UNJUDGED = "unjudged"
_BY_GROUP = sorted(OUTCOMES.items(), key=lambda one: list(GROUP_LABELS).index(one[1].group))
OUTCOME_OPTIONS = {**{outcome.value: words.label for outcome, words in _BY_GROUP}, UNJUDGED: "Not judged yet"}
OUTCOME_GROUPS = {**{outcome.value: GROUP_LABELS[words.group] for outcome, words in _BY_GROUP}, UNJUDGED: "Not judged"}
COUNTED_DAYS = 30
GROUP_OPTIONS = {group.value: label for group, label in GROUP_LABELS.items()}
CODE_OPTIONS = {**{str(code): label for code, label in PUNCH_LABELS.items()}, "unknown": "Unknown"}


def _outcomes(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(NOT_JUDGED if word == UNJUDGED else word for word in words)


def _in_group(group: str) -> list[str]:
    return [outcome.value for outcome, words in OUTCOMES.items() if words.group == group]


def _of_groups(groups: Sequence[str]) -> PunchFilter:
    """A punch that is not judged yet is in the group Waiting. One that is settled needs no person."""
    found = tuple(outcome for group in groups for outcome in _in_group(group))
    outcomes = (*found, NOT_JUDGED) if OutcomeGroup.WAITING in groups else found
    if OutcomeGroup.NEEDS_PERSON not in groups:
        return PunchFilter(outcomes=outcomes)
    if len(groups) == 1:
        return PunchFilter(outcomes=outcomes, settled=False)
    return PunchFilter(outcomes=outcomes, open_of=tuple(_in_group(OutcomeGroup.NEEDS_PERSON)))


def _codes(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(UNKNOWN if word == "unknown" else int(word) for word in words)


def _late(word: str) -> PunchFilter:
    return PunchFilter(outcomes=(decisions.LATE,), settled=word == "kept")


IGNORED_CODES = select(Binding.emp_code).where(Binding.state == BindingState.IGNORED.value)


def _ignored(word: str) -> ColumnElement[bool]:
    return Punch.emp_code.in_(IGNORED_CODES) if word == "only" else Punch.emp_code.not_in(IGNORED_CODES)


def _gone(word: str) -> ColumnElement[bool]:
    return settling.GONE_WAITS if word == "open" else Punch.gone_at_utc.is_not(None)


def _record(text: str) -> ColumnElement[bool]:
    number = whole(text, 18)
    return Punch.host_attendance_id == literal(-1 if number is None else number, BigInteger)


def _matching_codes(text: str) -> Select[Any]:
    """Codes of the people whom a search for a name or a code means."""
    return select(ClockEmployee.emp_code).where(means(text))


def means(text: str) -> ColumnElement[bool]:
    """True for a person whom a search for a name or a code means."""
    return contains(ClockEmployee.full_name, ClockEmployee.emp_code)(text)


# What the value of a filter narrows the list to. A page takes all of them together, since the kept counts know their
# fields; exports and bulk acts take the condition of each.
NARROWING: dict[str, Callable[[Any], PunchFilter]] = {
    "q": lambda text: PunchFilter(other=Punch.emp_code.in_(_matching_codes(text))),
    "": lambda days: PunchFilter(days=days),
    "outcome": lambda words: PunchFilter(outcomes=_outcomes(words)),
    "group": _of_groups,
    "terminal": lambda sn: PunchFilter(terminal_sn=sn),
    "code": lambda words: PunchFilter(punch_codes=_codes(words)),
    "emp_code": lambda code: PunchFilter(emp_codes=(code,)),
    "record": lambda text: PunchFilter(other=_record(text)),
    "settled": lambda word: PunchFilter(settled=word == "yes"),
    "late": _late,
    "ignored": lambda word: PunchFilter(other=_ignored(word)),
    "gone": lambda word: PunchFilter(other=_gone(word)),
}


def _filter(name: str, label: str, **more: Any) -> Filter:
    return Filter(name, label, lambda value: NARROWING[name](value).condition(), **more)


SEARCH = _filter("q", "Search", placeholder="Name or code of a person")
IGNORED = _filter(
    "ignored", "Ignored codes", kind="select", options={"without": "Without them", "only": "Only these"}, advanced=True
)
FILTERS = (
    SEARCH,
    _filter("", "Days", kind="range"),
    _filter(
        "outcome",
        "Imported",
        kind="multi",
        options=OUTCOME_OPTIONS,
        groups=OUTCOME_GROUPS,
        note=f"Punches of the last {COUNTED_DAYS} days",
    ),
    _filter("group", "Group", kind="multi", options=GROUP_OPTIONS),
    _filter("terminal", "Terminal", kind="select", verbatim=True),
    _filter("code", "Punch", kind="multi", options=CODE_OPTIONS),
    _filter("emp_code", "Code, exactly", advanced=True, verbatim=True),
    _filter("record", "Record number", advanced=True),
    _filter(
        "settled",
        "Settled",
        kind="select",
        options={"no": "No", "yes": "Yes"},
        advanced=True,
    ),
    _filter(
        "late",
        "Arrived after import",
        kind="select",
        options={"open": "Waits for a person", "kept": "Record kept"},
        advanced=True,
    ),
    IGNORED,
    _filter(
        "gone",
        "Gone from the server",
        kind="select",
        options={"open": "Waits for a person", "all": "All that are gone"},
        advanced=True,
    ),
)
