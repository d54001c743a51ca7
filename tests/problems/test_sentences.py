"""What the host's problems and those of the ledger say: the title, what to do, and where it leads.
Those of the clock: tests/clock/problems."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.host.problem_kinds import keys
from app.host.problem_kinds.host_source import PROBLEMS as HOST
from app.problems.findings import Fact, Finding
from app.surveys.ledger.verifying import LedgerVerdict
from app.surveys.problem_kinds import ledger

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
KINDS = {one.name: one for one in (*HOST.kinds, *ledger.PROBLEMS.kinds)}
JOB = {"job": 7, "name": "housekeeping", "error": "The disk is full."}
HOOK = {"url": "https://example.org/…", "off": None}


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


# Kind, facts, since when; the title or None where nothing is wrong, words that say what to do, and the page.
CASES: list[tuple[str, Mapping[str, Any], datetime | None, str | None, str, str]] = [
    ("import_failed", {**JOB, "name": "clock_import"}, None, "The job “Import punches into attendance” failed", "The disk is full. Retry it, or", "/admin/jobs/7"),
    ("job_failed", JOB, None, "The job “Remove expired sessions, links and jobs” failed", "The disk is full. Retry it, or open the job to see more.", "/admin/jobs/7"),
    ("job_failed", {**JOB, "error": "OSError: no space left"}, None, "The job “Remove expired sessions, links and jobs” failed", "OSError: no space left. Retry it, or", "/admin/jobs/7"),
    ("job_failed", {**JOB, "name": "long_act", "act": "12"}, None, "The job “Act on all rows of a list” failed in act 12", "The disk is full. Retry it, or", "/admin/jobs/7"),
    ("job_failed", {**JOB, "name": "of_another_version", "error": None}, None, "The job “of_another_version” failed", "It did not say why. Retry it", "/admin/jobs/7"),
    ("webhook_failing", HOOK, None, "Webhook 9 to https://example.org/… fails", "The webhook's log says what came back.", "/webhooks/9"),
    ("webhook_failing", {**HOOK, "off": "The receiver answered 410: it wants no more events."}, None, "Webhook 9 to https://example.org/… was switched off", "it wants no more events", "/webhooks/9"),
    ("worker_gone", {}, None, "No worker is running", "Start `muster worker`", "/admin/jobs"),
    ("worker_gone", {}, ago(seconds=10), None, "", ""),
    ("queue_stuck", {}, ago(minutes=14), None, "", ""),
    ("queue_stuck", {}, None, None, "", ""),
    ("queue_stuck", {}, ago(minutes=16), "Work has waited for more than 15 minutes", "If looks for problems fail, Jobs says why. If long jobs take all places, start one more worker", "/admin/jobs"),
    ("backup_overdue", {"expected_hours": 26}, ago(hours=26), None, "", ""),
    ("backup_overdue", {"expected_hours": 1}, ago(hours=2), "The backup is overdue", "No backup has called Muster for more than 1 hour. Look at the program", "/admin/backups"),
    ("mail_failing", {"failures": 4, "error": "It was away."}, None, None, "", ""),
    ("mail_failing", {"failures": 5, "error": "It was away."}, None, "No mail leaves", "The last 5 attempts failed. The last reason: It was away.", "/admin/jobs?name=send_mail"),
    ("ledger_shrunk", {"noted": 1234}, None, "The ledger has lost rows", "noted at row 1,234", "/help/operate#prove-the-ledger"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_fact_is_a_problem_or_not(case: tuple[str, Mapping[str, Any], datetime | None, str | None, str, str]) -> None:
    kind, facts, since, title, says, page = case
    detect = KINDS[kind].detect
    assert detect is not None
    found = detect(Fact(kind, "", "9", 0, 0, since, 1, facts), NOW)
    assert (found.title if found else None) == title
    if found:
        assert says in found.detail
        assert KINDS[kind].url("9", facts) == page


def test_what_jobs_find_says_what_to_do() -> None:
    (missing,) = keys.found_in([f"main: a.{number}" for number in range(5)])
    assert missing.title == "A secret key is missing"
    assert "main: a.0; main: a.1; main: a.2 and 2 more. Put the key" in missing.detail
    verdict = LedgerVerdict(8, "", 9, "its column recorded_at does not say what its entry says")
    (broken,) = ledger.found_in(verdict)
    assert broken.title == "The ledger is broken"
    assert broken.detail.startswith(
        "Row 9 is broken: its column recorded_at does not say what its entry says. The 8 rows before it fit. Keep the database as it is"
    )


def test_every_kind_has_a_case_an_advice_and_a_page() -> None:
    told: list[Finding] = [*keys.found_in(["a"]), *ledger.found_in(LedgerVerdict(0, "", 1, "does not fit"))]
    assert {kind for kind, *_ in CASES} | {one.kind for one in told} == set(KINDS)
    for one in KINDS.values():
        assert one.advice.endswith("."), one.name
        assert one.remedy or one.detect, f"{one.name} closes neither by a remedy nor by a look"
