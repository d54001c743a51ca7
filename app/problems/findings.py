"""The facts by which a problem is found, and what is said of it then. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

# Kind, type of the subject, its id: at most one problem stands for them.
Key = tuple[str, str, str]


class Severity(StrEnum):
    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem as it is now. `title` is a sentence without numbers that grow:
    those are `held_punches` and `held_people`.

    `since` is when it began, None for now. `evidence` grows where there is something new, such as the id of the latest
    punch: it opens a dismissed problem again, and ends a snooze that lasts until something changes. `facts` is kept
    beside it; `department` and `terminal` in it serve the filters of these names.
    `quiet`: it is old, so it is told as a sum.
    """

    kind: str
    subject_type: str
    subject_id: str
    title: str
    detail: str
    held_punches: int
    held_people: int
    since: datetime | None
    evidence: int
    facts: Mapping[str, Any]
    quiet: bool = False

    @property
    def key(self) -> Key:
        return (self.kind, self.subject_type, self.subject_id)


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of what a module reads: it may be a problem, or not."""

    kind: str
    subject_type: str
    subject_id: str
    held_punches: int
    held_people: int
    since: datetime | None
    evidence: int
    facts: Mapping[str, Any]

    def found(self, title: str, detail: str = "", *, quiet: bool = False) -> Finding:
        """The finding that this fact is a problem. `detail` says more, and what to do."""
        return Finding(
            self.kind,
            self.subject_type,
            self.subject_id,
            title,
            detail,
            self.held_punches,
            self.held_people,
            self.since,
            self.evidence,
            self.facts,
            quiet,
        )
