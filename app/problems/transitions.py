"""Decides which problems open, change and close, from what was found. Pure.

A finding meets at most one problem that stands for its subject, else one that left lately:

| the finding meets | what happens |
|---|---|
| an open problem that says the same | nothing |
| an open problem that says something else | it changes |
| a dismissed one, without new evidence | it stays dismissed |
| a dismissed one, with new evidence | it opens again |
| one that closed by itself less than LATELY ago | it opens again, and continues |
| one that was dismissed and left less than LATELY ago | like a dismissed one that stands |
| none of these | a new problem opens |

A problem that stands, for which nothing was found: an open one closes by itself, a dismissed one is over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.problems.findings import Finding, Key

LATELY: Final = timedelta(hours=1)
# The end of a snooze that lasts until there is new evidence.
UNTIL_IT_CHANGES: Final = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownProblem:
    """A stored one. It is open while `closed_at` is None. `left_at` is when it ceased to stand, None when it stands;
    `seen_at` when a look last found something new in it."""

    id: int
    kind: str
    subject_type: str
    subject_id: str
    title: str
    detail: str
    held_punches: int
    held_people: int
    evidence: int
    facts: Mapping[str, Any]
    opened_at: datetime
    closed_at: datetime | None = None
    closed_by: str | None = None
    left_at: datetime | None = None
    snoozed_until: datetime | None = None

    @property
    def key(self) -> Key:
        return (self.kind, self.subject_type, self.subject_id)

    @property
    def dismissed(self) -> bool:
        return self.closed_by == "person"


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a stored problem says from now on. `note` is for its history, "" for nothing worth a line;
    `wakes`: its snooze ends."""

    problem: KnownProblem
    finding: Finding
    note: str = ""
    wakes: bool = False


@dataclass(slots=True)
class Merged:
    """`returning` are dismissed problems that left lately and stand again, still dismissed;
    `over` dismissed ones that leave."""

    opening: list[Finding]
    opening_again: list[Renewal]
    changing: list[Renewal]
    returning: list[Renewal]
    closing: list[KnownProblem]
    over: list[KnownProblem]

    @property
    def changes_nothing(self) -> bool:
        return not any((self.opening, self.opening_again, self.changing, self.returning, self.closing, self.over))


def merge(
    findings: Iterable[Finding], standing: Iterable[KnownProblem], left: Iterable[KnownProblem], now: datetime
) -> Merged:
    """`standing` are the problems that stand, of the kinds that were looked for; problems that are known to be
    unchanged may be missing. `left` are problems that ceased to stand lately, of subjects for which something was
    found. Of several findings for one subject the first one counts."""
    merged = Merged([], [], [], [], [], [])
    by_key: dict[Key, Finding] = {}
    for finding in findings:
        by_key.setdefault(finding.key, finding)
    stands = {problem.key: problem for problem in standing}
    lately = _latest(left, now)
    for key, finding in by_key.items():
        if (problem := stands.get(key)) is not None:
            _meet(merged, problem, finding)
        elif (problem := lately.get(key)) is not None:
            _meet_again(merged, problem, finding)
        else:
            merged.opening.append(finding)
    gone = sorted((one for key, one in stands.items() if key not in by_key), key=lambda one: one.id)
    merged.closing = [one for one in gone if one.closed_at is None]
    merged.over = [one for one in gone if one.closed_at is not None]
    return merged


def _latest(left: Iterable[KnownProblem], now: datetime) -> dict[Key, KnownProblem]:
    """For each subject the problem that left last, if that was lately."""
    recent = [one for one in left if one.left_at is not None and now - one.left_at < LATELY]
    return {one.key: one for one in sorted(recent, key=lambda one: (one.left_at, one.id))}


def _meet(merged: Merged, problem: KnownProblem, finding: Finding) -> None:
    if problem.closed_at is None:
        if differs(problem, finding):
            merged.changing.append(Renewal(problem, finding, _note(problem, finding), _wakes(problem, finding)))
    elif finding.evidence > problem.evidence:
        merged.opening_again.append(Renewal(problem, finding))


def _meet_again(merged: Merged, problem: KnownProblem, finding: Finding) -> None:
    still_dismissed = problem.dismissed and finding.evidence <= problem.evidence
    (merged.returning if still_dismissed else merged.opening_again).append(Renewal(problem, finding))


def differs(problem: KnownProblem, finding: Finding) -> bool:
    """True when what is stored no longer says what was found."""
    return (
        problem.title,
        problem.detail,
        problem.held_punches,
        problem.held_people,
        problem.evidence,
        problem.facts,
    ) != (
        finding.title,
        finding.detail,
        finding.held_punches,
        finding.held_people,
        finding.evidence,
        dict(finding.facts),
    )


def _wakes(problem: KnownProblem, finding: Finding) -> bool:
    return problem.snoozed_until == UNTIL_IT_CHANGES and finding.evidence > problem.evidence


def _note(problem: KnownProblem, finding: Finding) -> str:
    """A new title is worth a line. More held punches are not, because every run may bring some."""
    return finding.title if finding.title != problem.title else ""
