"""Each detector over a table of facts: what it says, or that nothing is wrong."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.clock.problems.source import SOURCE
from app.problems.findings import Fact

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)  # a Wednesday
HOST, ZONE = {"host": "clock.example.org"}, {"zone": "Europe/Berlin"}
GATE = {"name": "Gate 2", "terminal": "A1", **ZONE}
SYNC = {
    "minutes": 15,
    "budget_seconds": 600,
    "changed": "2026-11-01T08:00:00+00:00",
    "not_before": None,
    "began": None,
    **ZONE,
}
CODE = {"name": "Bram Evermint", "code": "1007", "person": 7, "department": "Ward", "candidates": []}
NORA = {"id": 3, "name": "Nora Lind", "deleted": False}
DAY = {"name": "Evermint Bram", "code": "1007", "department": "Ward", "terminal": "A1"}
KINDS = {one.name: one for one in SOURCE.kinds}


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


def iso(**span: float) -> str:
    return ago(**span).isoformat()


def backlog(first: str | None, **last: float) -> dict[str, Any]:
    return {**speaks(**last), "history_start": "2026-08-01", "first_day": first}


def speaks(**last: float) -> dict[str, Any]:
    """A terminal of a clock whose last punch came so long ago: half an hour, if nothing else is said."""
    return {**GATE, "hours": 24, "last_of_clock": iso(**(last or {"minutes": 30}))}


def uses(person_days: int) -> dict[str, Any]:
    """A terminal whose 200 punches all say Check In, and all found no partner."""
    counted = {"punches": 200, "codes": [200, 0, 0, 0, 0, 0], "recorded": 0, "single": 200}
    return {"kind": "attendance", "direction": "by_code", "person_days": person_days, **counted}


# Kind, facts, what else the row has; the title, or None where nothing is wrong.
CASES: list[tuple[str, Mapping[str, Any], dict[str, Any], str | None]] = [
    ("connection_failing", {**HOST, "code": "TC-NET", "message": "Timed out."}, {}, "The sync with clock.example.org fails: Could not reach the server"),
    ("connection_failing", {**HOST, "code": "TC-IMPORT", "message": "It broke."}, {}, "The last run failed: The attendance import failed repeatedly"),
    ("connection_failing", {**HOST, "code": None, "message": "Odd."}, {}, "The sync with clock.example.org fails: Odd"),
    ("connection_failing", {**HOST, "code": None, "message": None}, {}, "The sync with clock.example.org fails: it says no reason"),
    ("connection_locked", {**HOST, **ZONE, "until": iso(hours=-1)}, {}, "The connection to clock.example.org is locked after refused sign-ins"),
    ("sync_overdue", SYNC, {"since": ago(minutes=59)}, None),
    ("sync_overdue", SYNC, {"since": ago(minutes=61)}, "No sync has worked since Wed 25 Nov, 11:59"),
    ("sync_overdue", {**SYNC, "minutes": 60}, {"since": ago(hours=3)}, None),
    ("sync_overdue", {**SYNC, "minutes": 60}, {"since": ago(hours=3, minutes=1)}, "No sync has worked since Wed 25 Nov, 09:59"),
    ("sync_overdue", {**SYNC, "minutes": 0}, {"since": ago(days=9)}, None),
    ("sync_overdue", SYNC, {}, "No sync has worked yet"),
    ("sync_overdue", {**SYNC, "changed": iso(minutes=5)}, {"since": ago(days=9)}, None),
    ("sync_overdue", {**SYNC, "not_before": iso(hours=-2)}, {"since": ago(hours=9)}, None),
    ("sync_overdue", {**SYNC, "began": iso(minutes=30)}, {"since": ago(hours=9)}, None),
    ("sync_overdue", {**SYNC, "began": iso(hours=2)}, {"since": ago(hours=9)}, "No sync has worked since Wed 25 Nov, 04:00"),
    ("silence", {**ZONE, "hours": 24}, {"since": ago(hours=24)}, None),
    ("silence", {**ZONE, "hours": 24}, {"since": ago(hours=25)}, "No punch has come since Tue 24 Nov, 12:00, although the server answers"),
    ("silence", {**ZONE, "hours": 24}, {}, "No punch has come at all, although the server answers"),
    ("server_restored", HOST, {}, "The database of clock.example.org was restored, and its ids started over"),
    ("rows_set_aside", {"rows": 3, "run": 9}, {}, "Rows of the server could not be read"),
    ("people_gone", {"missing": 40, "known": 90, "listed": 50, "run": 9}, {"subject_id": "employees"}, "The server no longer lists many people"),
    ("punches_gone", {"missing": 40, "known": 90, "first": "2026-11-01", "last": "2026-11-03", "run": 9}, {}, "The server no longer has many punches"),
    ("slice_incomplete", {"came": 8, "total": 9, "first": "2026-11-01", "last": "2026-11-03"}, {}, "Punches of 1 – 3 Nov are missing: the server counts more than it gives"),
    ("slice_incomplete", {"came": 8, "total": 9, "first": "2026-11-01", "last": None}, {}, "Punches of the last days are missing: the server counts more than it gives"),
    ("terminal_offline", GATE, {"since": ago(hours=23)}, "Terminal Gate 2 has been offline since Tue 24 Nov, 14:00"),
    ("terminal_offline", GATE, {"since": ago(days=32)}, None),
    ("terminal_offline", GATE, {}, None),
    ("silent_terminal", speaks(), {"since": ago(hours=71)}, None),
    ("silent_terminal", speaks(hours=25), {"since": ago(hours=73)}, None),
    ("silent_terminal", {**GATE, "hours": 24, "last_of_clock": None}, {"since": ago(hours=73)}, None),
    ("silent_terminal", speaks(), {"since": ago(hours=73)}, "Terminal Gate 2 has sent no punch since Sun 22 Nov, 12:00"),
    ("silent_terminal", speaks(), {"since": ago(days=32)}, None),
    ("terminal_skew", {**GATE, "seconds": 60, "warn_seconds": 60, "terminal_tz": None}, {}, None),
    ("terminal_skew", {**GATE, "seconds": -61, "warn_seconds": 60, "terminal_tz": "8"}, {}, "The clock of terminal Gate 2 is wrong"),
    ("terminal_backlog", backlog("2026-09-02"), {"held_punches": 10}, "The server counts more punches of terminal Gate 2 than it gives"),
    ("terminal_backlog", backlog("2026-09-02"), {"held_punches": 9}, None),
    ("terminal_backlog", backlog("2026-09-02", hours=25), {"held_punches": 10}, None),
    ("terminal_backlog", backlog("2026-09-01"), {"held_punches": 9000}, None),
    ("terminal_backlog", backlog(None), {"held_punches": 10}, "The server counts more punches of terminal Gate 2 than it gives"),
    ("no_direction", {**GATE, "listed": True, "counts": False}, {}, "No punch of terminal Gate 2 counts: they say neither in nor out"),
    ("no_direction", {**GATE, "listed": True, "counts": True}, {}, "Some punches of terminal Gate 2 say neither in nor out"),
    ("no_direction", {**GATE, "listed": False, "counts": True}, {}, "Punches of terminal Gate 2, which the server does not list, say neither in nor out"),
    ("no_direction", {"name": None, "listed": False, "counts": False}, {"subject_id": ""}, "Punches of no terminal say neither in nor out"),
    ("one_key", {**GATE, "uses": uses(person_days=100)}, {"held_punches": 200}, "Terminal Gate 2 sends one key only"),
    ("one_key", {**GATE, "uses": uses(person_days=200)}, {"held_punches": 200}, None),
    ("access_terminal_used", GATE, {}, "The server says that terminal Gate 2 only opens a door"),
    ("conflict", CODE, {}, "Code 1007 (Bram Evermint) may be several employees, or an employee has several codes"),
    ("not_found", CODE, {}, "No employee has the code 1007 (Bram Evermint)"),
    ("not_found", {**CODE, "left": [NORA]}, {}, "Nora Lind has the ID number 1007, but is inactive"),
    ("not_found", {**CODE, "left": [{**NORA, "deleted": True}]}, {}, "Nora Lind has the ID number 1007, but was deleted"),
    ("not_found", {**CODE, "left": [NORA, NORA]}, {}, "Only employees who left have the ID number 1007 (Bram Evermint)"),
    ("unbound", {**CODE, "name": None}, {}, "Code 1007 is bound to no employee"),
    ("suggested", {**CODE, "candidates": ["Evermint B."]}, {}, "Code 1007 (Bram Evermint) may be Evermint B."),
    ("suggested", {**CODE, "candidates": ["Evermint B.", "Bram E."]}, {}, "Code 1007 (Bram Evermint) may be one of several employees"),
    ("code_disabled", CODE, {}, "Code 1007 (Bram Evermint) is disabled on the server, but punches"),
    ("department_unbound", {"name": "Ward"}, {"subject_id": "4"}, "Most people of Ward are not bound"),
    ("department_unbound", {}, {"subject_id": ""}, "No person of the clock is bound"),
    ("only_one_punch", DAY, {}, "Evermint Bram: one punch on Sun 22 Nov"),
    ("only_one_punch", DAY, {"held_punches": 2}, "Evermint Bram: clock-in or clock-out is missing on Sun 22 Nov"),
    ("overlaps", DAY, {"held_punches": 2}, "Evermint Bram: punches of Sun 22 Nov lie in another record"),
    ("arrived_late", DAY, {}, "Evermint Bram: a punch of Sun 22 Nov arrived after the import"),
    ("over_24h", DAY, {"held_punches": 2}, "Evermint Bram: punches of Sun 22 Nov would make a shift of more than 24 hours"),
    ("future_timestamp", DAY, {}, "Evermint Bram: a punch lies in the future, on Sun 22 Nov"),
    ("employee_inactive", DAY, {}, "Evermint Bram: punched on Sun 22 Nov, but is inactive"),
    ("attendance_deleted", DAY, {}, "Evermint Bram: the record of Sun 22 Nov was deleted"),
    ("awaiting_too_long", DAY, {}, "Evermint Bram: a punch of Sun 22 Nov has been awaiting its judging for more than 48 hours"),
]  # fmt: skip


def fact(kind: str, facts: Mapping[str, Any], more: Mapping[str, Any]) -> Fact:
    given: dict[str, Any] = {"subject_id": "1007" if "code" in kind or facts == CODE else "e7/2026-11-22"}
    if "candidates" in facts:
        given["subject_id"] = "1007"
    usual = {"subject_type": "", "held_punches": 1, "held_people": 1, "since": None, "evidence": 1}
    return Fact(**{"kind": kind, "facts": facts, **usual, **given, **more})


@pytest.mark.parametrize(("kind", "facts", "more", "title"), CASES)
def test_a_fact_is_a_problem_or_not(
    kind: str, facts: Mapping[str, Any], more: Mapping[str, Any], title: str | None
) -> None:
    detect = KINDS[kind].detect
    assert detect is not None
    found = detect(fact(kind, facts, more), NOW)
    assert (found.title if found else None) == title
    if found:
        assert found.detail
        assert found.facts == {name: value for name, value in facts.items() if name not in {"last_of_clock", "uses"}}


@pytest.mark.parametrize(("day", "quiet"), [("2026-11-26", False), ("2026-11-22", False), ("2026-11-21", True)])
def test_an_old_day_is_told_as_a_sum(day: str, quiet: bool) -> None:
    detect = KINDS["only_one_punch"].detect
    assert detect is not None
    found = detect(fact("only_one_punch", DAY, {"subject_id": f"e7/{day}"}), NOW)
    assert found is not None
    assert found.quiet is quiet


def test_every_kind_has_a_case_and_leads_to_a_page() -> None:
    assert {kind for kind, *_ in CASES} == set(KINDS) == {name for one in SOURCE.facts for name in one.kinds}
    leads = {kind: KINDS[kind].url(fact(kind, facts, more).subject_id, facts) for kind, facts, more, _ in CASES}
    assert all(url.startswith("/clock") for url in leads.values())
    assert leads["only_one_punch"] == (
        "/clock_transactions?outcome=only_one_punch&settled=no&emp_code=1007&from=2026-11-22&to=2026-11-22"
    )
    # A list of the clock that no terminal, code or department narrows: all of it, past a default view.
    assert KINDS["silent_terminal"].url("", {}) == "/clock_devices?view=all"
    assert KINDS["department_unbound"].url("", {}) == "/clock_employees?view=all"
    assert leads["rows_set_aside"] == "/clock_sync/runs/9"
