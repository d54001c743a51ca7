"""The types of events: what each tells, and where a program then reads what holds now. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

TEST = "webhook.test"


@dataclass(frozen=True, slots=True)
class EventType:
    """`ids` says what the ids are of; `numbered` ids are integers. `platform_only`: it happens only in `main`."""

    name: str
    label: str
    ids: str
    numbered: bool = True
    platform_only: bool = False


ATTENDANCE_CHANGED, ATTENDANCE_DELETED = "attendance.changed", "attendance.deleted"
OUTCOME_CHANGED, BINDING_CHANGED, SYNC_FINISHED = "punch.outcome_changed", "binding.changed", "sync.finished"
PROBLEM_OPENED, PROBLEM_CLOSED = "problem.opened", "problem.closed"
SURVEY_PUBLISHED, RESPONSE_RECORDED = "survey.published", "response.recorded"
RESPONSE_WITHDRAWN, RATING_RECORDED = "response.withdrawn", "rating.recorded"

TYPES: Mapping[str, EventType] = MappingProxyType(
    {
        one.name: one
        for one in (
            EventType(ATTENDANCE_CHANGED, "Attendance was recorded or changed", "records"),
            EventType(ATTENDANCE_DELETED, "Attendance was deleted", "records"),
            EventType(OUTCOME_CHANGED, "Punches got another outcome", "punches"),
            EventType(BINDING_CHANGED, "A clock code was bound, released or decided", "clock codes", numbered=False),
            EventType(SYNC_FINISHED, "A sync run ended", "runs"),
            EventType(PROBLEM_OPENED, "A problem opened", "problems"),
            EventType(PROBLEM_CLOSED, "A problem closed", "problems"),
            EventType(SURVEY_PUBLISHED, "A survey was published", "surveys", numbered=False),
            EventType(RESPONSE_RECORDED, "A response was recorded", "receipts of responses", numbered=False),
            EventType(RESPONSE_WITHDRAWN, "An agreement was withdrawn", "receipts of responses", numbered=False),
            EventType(RATING_RECORDED, "An app was rated", "ratings", platform_only=True),
        )
    }
)


def offered(*, on_platform: bool) -> Mapping[str, EventType]:
    """The types that can happen in the workspace."""
    return {name: one for name, one in TYPES.items() if on_platform or not one.platform_only}
