"""A sync run as pages show it: what it is doing now, how fast, how much of its budget is left, and what it brought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from app.clock import failure_words
from app.clock.failure_words import FailureWords
from app.clock.outcomes import OUTCOMES, Outcome, outcome_label
from app.clock.profiles import RESOURCES
from app.clock.settings import ClockSettings
from app.clock.sync.run_rows import OPEN
from app.dates import day_words
from app.web.formats import duration, number

RESOURCE_LABELS = {
    "departments": "Departments",
    "positions": "Positions",
    "areas": "Areas",
    "locations": "Locations",
    "devices": "Terminals",
    "employees": "People",
    "transactions": "Punches",
    "bindings": "Matching people",
    "import": "Importing into attendance",
    "rollup": "Counting days",
}
STATUS_LABELS = {
    "queued": "Waiting for a worker",
    "running": "Running",
    "succeeded": "Succeeded",
    "partial": "Partial",
    "truncated": "Truncated",
    "failed": "Failed",
}
TRIGGER_LABELS = {
    "schedule": "By schedule",
    "manual": "By hand",
    "resume": "Continues another run",
    "command": "By command",
}
COUNTS = ("fetched", "created", "updated", "unchanged", "missing", "set_aside")
LEVELS = {"succeeded": "success", "failed": "danger", "partial": "warning", "truncated": "info"}


@dataclass(frozen=True, slots=True)
class Described:
    """`resource` and `detail` say what is being done now; numbers are None when nothing is known. Seconds are whole."""

    id: int
    status: str
    status_label: str
    trigger: str
    by: str | None
    is_open: bool
    stopping: bool
    started_at: datetime | None
    finished_at: datetime | None
    took: str
    words: FailureWords | None
    message: str | None
    resource: str
    detail: str
    done: int | None
    total: int | None
    rows: int
    rows_per_s: float
    calls: int
    calls_budget: int
    seconds: int
    seconds_budget: int
    per_resource: Sequence[tuple[str, Mapping[str, int]]]
    outcomes: Sequence[tuple[str, str, str, int]]

    @property
    def level(self) -> str:
        """The level of the alert that says how the run ended."""
        return LEVELS.get(self.status, "info")

    @property
    def fetched(self) -> list[tuple[str, str]]:
        """How many rows of each resource were read so far."""
        return [(label, number(counts.get("fetched", 0))) for label, counts in self.per_resource]

    @property
    def seconds_left(self) -> int:
        return max(0, self.seconds_budget - self.seconds)


def described(run: Any, settings: ClockSettings, now: datetime) -> Described:
    """A row of runs in words, as it stands at `now`. `run`: a SyncRun, or a row with its columns."""
    progress, by_name = run.progress, run.resources
    until = run.finished_at or now
    seconds = max(0.0, (until - run.started_at).total_seconds()) if run.started_at else 0.0
    rows = progress.get("rows") or sum(one.get("fetched", 0) for one in by_name.values())
    name = str(progress.get("resource") or "")
    done, total = _share(name, progress, by_name)
    return Described(
        id=run.id,
        status=run.status,
        status_label=STATUS_LABELS[run.status],
        trigger=TRIGGER_LABELS[run.trigger],
        by=run.requested_by,
        is_open=run.status in OPEN,
        stopping=run.stop_requested and run.status in OPEN,
        started_at=run.started_at,
        finished_at=run.finished_at,
        took=duration(timedelta(seconds=seconds)) if run.started_at else "–",
        words=failure_words.words(run.error_code),
        message=run.error_message,
        resource=RESOURCE_LABELS.get(name, name.replace("_", " ").capitalize()),
        detail=_detail(progress, now.date()),
        done=done,
        total=total,
        rows=rows,
        rows_per_s=rows / seconds if seconds else 0.0,
        calls=progress.get("calls") or run.calls,
        calls_budget=progress.get("calls_budget") or settings.run_budget_calls,
        seconds=int(seconds),
        seconds_budget=int(run.request.get("budget_seconds") or settings.run_budget_seconds),
        per_resource=[(RESOURCE_LABELS[one], by_name[one]) for one in RESOURCES if one in by_name],
        outcomes=_outcomes(run.outcomes),
    )


def _share(name: str, progress: Mapping[str, Any], by_name: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """How much of a listing has come. Punches are read window by window,
    so their sum says nothing about one of them."""
    total = progress.get("total")
    if name == "import" and progress.get("of"):
        return progress.get("done", 0), progress["of"]
    if not total or name == "transactions" or name not in by_name:
        return None, None
    return min(by_name[name].get("fetched", 0), total), total


def _detail(progress: Mapping[str, Any], today: date) -> str:
    def day(kept: str) -> str:
        return day_words(date.fromisoformat(kept[:10]), today)

    parts = []
    if progress.get("page"):
        parts.append(f"page {progress['page']:,}")
    if progress.get("from"):
        until = progress.get("until")
        parts.append(f"from {day(progress['from'])}" + (f" to {day(until)}" if until else " on"))
    if progress.get("day"):
        parts.append(f"checking {day(progress['day'])}")
    if progress.get("total") and progress.get("resource") == "transactions":
        parts.append(f"{progress['total']:,} in this window")
    if (progress.get("walk") or 1) > 1:
        parts.append(f"walk {progress['walk']} over the same pages")
    return " · ".join(parts)


def _outcomes(counts: Mapping[str, int]) -> list[tuple[str, str, str, int]]:
    """(code, label, group, number), most first."""
    known = {one.value for one in Outcome}
    return [
        (code, outcome_label(code), OUTCOMES[Outcome(code)].group.value, number)
        for code, number in sorted(counts.items(), key=lambda item: -item[1])
        if code in known and number
    ]
