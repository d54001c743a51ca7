"""All kinds of problems of the clock: their words, the page that each leads to, who may open it, and what helps."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote, urlencode

from app.clock.outcomes import Outcome
from app.clock.problems import (
    code_detectors,
    connection_detectors,
    day_detectors,
    day_remedies,
    mirror_detectors,
    remedies,
    terminal_detectors,
)
from app.clock.problems.code_facts import CODES
from app.clock.problems.connection_facts import CONNECTION
from app.clock.problems.day_facts import DAYS, SOON
from app.clock.problems.mirror_facts import MIRROR
from app.clock.problems.person_days import AWAITING, day_of
from app.clock.problems.terminal_facts import TERMINALS
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import Facts, ProblemKind, ProblemSource, Remedy

CRITICAL, WARNING, INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO
SYNC, TERMINAL = "clock.sync.view", "clock.devices"
PEOPLE, PUNCHES = "clock.employees", "clock.transactions"
# A person has as many problems of a kind as days.
DAYS_OF_PEOPLE = ("workday", "workdays")
# Of a list, whatever view the person opens it with.
EVERY_ROW = "view=all"
Detect = Callable[[Fact, datetime], Finding | None]


def _at(url: str) -> Callable[[str, Facts], str]:
    return lambda _subject, _facts: url


def _terminal(serial: str, _: Facts) -> str:
    return f"/clock_devices?serial={quote(serial, safe='')}" if serial else f"/clock_devices?{EVERY_ROW}"


def _run(_: str, facts: Facts) -> str:
    return f"/clock_sync/runs/{facts['run']}"


def _disappearance(resource: str, _: Facts) -> str:
    return f"/clock_sync/disappearance/{quote(resource, safe='')}"


def _directionless(serial: str, _: Facts) -> str:
    given = {"outcome": Outcome.NO_DIRECTION.value, "settled": "no", **({"terminal": serial} if serial else {})}
    return f"/clock_transactions?{urlencode(given)}"


def _single(serial: str, _: Facts) -> str:
    given = {"outcome": Outcome.ONLY_ONE_PUNCH.value, "settled": "no", "terminal": serial}
    return f"/clock_transactions?{urlencode(given)}"


def _code(_: str, facts: Facts) -> str:
    return f"/clock_employees?code={quote(facts['code'], safe='')}"


def _department(code: str, _: Facts) -> str:
    return f"/clock_employees?department={quote(code, safe='')}" if code else f"/clock_employees?{EVERY_ROW}"


def _day(outcome: str) -> Callable[[str, Facts], str]:
    def url(subject_id: str, facts: Facts) -> str:
        day = day_of(subject_id).isoformat()
        given = {"outcome": outcome, "settled": "no", "emp_code": facts["code"], "from": day, "to": day}
        return f"/clock_transactions?{urlencode(given)}"

    return url


def _of_day(kind: str, label: str, remedy: Remedy, outcome: str = "", severity: Severity = WARNING) -> ProblemKind:
    advice = day_detectors.WORDS[kind][2]
    detect = day_detectors.of_day(kind)
    return ProblemKind(
        kind, label, severity, PUNCHES, advice, _day(outcome or kind), detect, remedy, people=DAYS_OF_PEOPLE
    )


def _of_code(kind: str, label: str, advice: str, remedy: Remedy, severity: Severity = WARNING) -> ProblemKind:
    detect: Detect = getattr(code_detectors, kind)
    return ProblemKind(kind, label, severity, PEOPLE, advice, _code, detect, remedy)


_RUNS = (
    ProblemKind(
        "connection_failing", "Sync fails", WARNING, SYNC, "Look at the reason, fix it, and start a run.",
        _at("/clock_sync"), connection_detectors.connection_failing, remedies.START,
    ),
    ProblemKind(
        "connection_locked", "Connection locked", CRITICAL, SYNC, "Save the right password in Settings, and test it.",
        _at("/clock_sync"), connection_detectors.connection_locked, remedies.UNLOCK,
    ),
    ProblemKind(
        "sync_overdue", "Sync overdue", WARNING, SYNC, "See whether a run waits and a worker runs, then start a run.",
        _at("/clock_sync"), connection_detectors.sync_overdue, remedies.START,
    ),
    ProblemKind(
        "silence", "No punches come", WARNING, SYNC, "Look on the server whether it still receives punches.",
        _at("/clock_sync"), connection_detectors.silence,
    ),
    ProblemKind(
        "server_restored", "Server restored", WARNING, SYNC, "Start over from a date in the Sync Center.",
        _at("/clock_sync/start_over"), connection_detectors.server_restored, can_be_dismissed=False,
    ),
    ProblemKind(
        "rows_set_aside", "Rows set aside", WARNING, SYNC, "Put the rows right on the server, or dismiss this.",
        _run, connection_detectors.rows_set_aside,
    ),
)  # fmt: skip
_MIRROR = (
    ProblemKind(
        "people_gone", "Many gone from a list", WARNING, SYNC, "Say whether the list of the server is right.",
        _disappearance, mirror_detectors.people_gone, remedies.DECIDE_PEOPLE,
    ),
    ProblemKind(
        "punches_gone", "Many punches gone", WARNING, SYNC, "Say whether the server is right.",
        _disappearance, mirror_detectors.punches_gone, remedies.DECIDE_PUNCHES,
    ),
    ProblemKind(
        "slice_incomplete", "Days stay incomplete", WARNING, SYNC, "Look on the server, or accept the days as read.",
        _at("/clock_sync#cursors"), mirror_detectors.slice_incomplete, remedies.ACCEPT_DAYS,
    ),
)  # fmt: skip
_TERMINALS = (
    ProblemKind(
        "terminal_offline", "Terminal offline", WARNING, TERMINAL, "Look at its power and its network.",
        _terminal, terminal_detectors.terminal_offline,
    ),
    ProblemKind(
        "silent_terminal", "Terminal silent", WARNING, TERMINAL, "Make a punch there, and see whether it comes.",
        _terminal, terminal_detectors.silent_terminal,
    ),
    ProblemKind(
        "terminal_skew", "Terminal’s clock wrong", WARNING, TERMINAL, "Set the clock of the terminal.",
        _terminal, terminal_detectors.terminal_skew,
    ),
    ProblemKind(
        "terminal_backlog", "Terminal’s punches missing", WARNING, TERMINAL, "Read its days again in the Sync Center.",
        _terminal, terminal_detectors.terminal_backlog,
    ),
    ProblemKind(
        "no_direction", "No direction", WARNING, PUNCHES, "Set the direction of the terminal.",
        _directionless, terminal_detectors.no_direction, remedies.DIRECT,
    ),
    ProblemKind(
        "one_key", "One key only", WARNING, PUNCHES, "Read the terminal as undirected.",
        _single, terminal_detectors.one_key, remedies.UNDIRECT, can_be_dismissed=True,
    ),
    ProblemKind(
        "access_terminal_used", "Door reader used", INFO, TERMINAL, "Say whether it is a door or a clock.",
        _terminal, terminal_detectors.access_terminal_used, remedies.SET_KIND,
    ),
)  # fmt: skip
_CODES = (
    _of_code("conflict", "Conflict", "Bind the code to the right employee.", remedies.MATCH),
    _of_code("not_found", "Employee not found", "Add the person as an employee, or bind the code.", remedies.ADD),
    _of_code("unbound", "Code not bound", "Bind the code, or match it again.", remedies.MATCH),
    _of_code("suggested", "Match suggested", "Accept the match, or bind another employee.", remedies.ACCEPT, INFO),
    _of_code("code_disabled", "Disabled code used", "Enable the person on the server, or ignore the code.", remedies.IGNORE),
    ProblemKind(
        "department_unbound", "Department not bound", WARNING, PEOPLE, "Add or bind its people.",
        _department, code_detectors.department_unbound,
    ),
)  # fmt: skip
_DAYS = (
    _of_day("only_one_punch", "Only one punch", day_remedies.of_days("only_one_punch", "settle")),
    _of_day("overlaps", "Overlaps a record", day_remedies.of_days("overlaps", "settle")),
    _of_day("arrived_late", "Arrived after import", day_remedies.of_days("arrived_late", "keep", "use"), severity=INFO),
    _of_day("over_24h", "Shift over 24 hours", day_remedies.of_days("over_24h", "settle")),
    _of_day("future_timestamp", "Punch in the future", day_remedies.of_days("future_timestamp", "settle")),
    _of_day("employee_inactive", "Employee inactive", day_remedies.of_days("employee_inactive", "settle")),
    _of_day("attendance_deleted", "Record deleted", day_remedies.of_days("attendance_deleted", "settle", "retry")),
    _of_day(AWAITING, "Awaiting too long", day_remedies.of_days("awaiting", "retry"), "awaiting"),
)
SOURCE = ProblemSource(
    kinds=(*_RUNS, *_MIRROR, *_TERMINALS, *_CODES, *_DAYS),
    facts=(CONNECTION, MIRROR, TERMINALS, CODES, DAYS),
    by_time=SOON,
)
