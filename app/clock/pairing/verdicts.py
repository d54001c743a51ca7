"""What judging returns: a verdict for each punch, intents for records, and the reasons for both. Pure.

No rule lives here.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import Breaks, PairingEmployee, PairingPunch, Record, Rules, Unbound
from app.clock.pairing.shifts import Shift


class Rule(StrEnum):
    """The line that decided (docs/rules.md, "Order of decisions"). Most have the name of their outcome. `arrived_late`
    has three rules, `access_terminal`, `awaiting` and `overlaps` have two. Line 0 has its own, and so have folds and
    punches that are gone from the server. `not_late` belongs to no outcome:
    it refuses *Use the punches* when the punches no longer count as late.
    """

    STANDS = "stands"
    GONE = "gone"
    FUTURE_TIMESTAMP = "future_timestamp"
    ACCESS_TERMINAL = "access_terminal"
    ACCESS_PUNCH = "access_punch"
    NOT_BOUND = "not_bound"
    EMPLOYEE_INACTIVE = "employee_inactive"
    NO_DIRECTION = "no_direction"
    FOLDED = "folded"
    ATTENDANCE_DELETED = "attendance_deleted"
    OVER_24H = "over_24h"
    COVERED = "covered"
    AWAITING_CLOSE = "awaiting_close"
    AWAITING_GAP = "awaiting_gap"
    ONLY_ONE_PUNCH = "only_one_punch"
    RECORD_DECIDED = "record_decided"
    RECORD_EDITED = "record_edited"
    LATE_TWO_RECORDS = "late_two_records"
    LATE_OTHER_EMPLOYEE = "late_other_employee"
    LATE_BEYOND = "late_beyond"
    DATE_LOCKED = "date_locked"
    OVERLAPS = "overlaps"
    IMPORTED = "imported"
    NOT_LATE = "not_late"


class Reason:
    """The facts of one decision, shared by the punches it was made for;
    sentences are made of them only when someone asks."""

    __slots__ = ("records", "rule", "shift", "until", "workday")

    def __init__(
        self,
        rule: Rule,
        shift: Shift | None = None,
        records: tuple[Record, ...] = (),
        *,
        until: datetime | None = None,
        workday: date | None = None,
    ) -> None:
        self.rule = rule
        self.shift = shift
        self.records = records
        self.until = until
        self.workday = workday


@dataclass(slots=True)
class Verdict:
    """What becomes of one punch: the columns to store, and why.

    `record` is the id of a record, or, below zero, the `key` of a CreateRecord of the same judgement. `role` goes into
    `imported_role`. `judge_at` is the UTC instant at which only time changes the outcome, None when it is settled. (Not
    frozen: a frozen one takes three times as long to make, and an import makes one for every punch.)
    """

    punch: PairingPunch
    outcome: Outcome
    record: int | None
    role: str | None
    because: Reason
    judge_at: datetime | None = None
    retry: bool = False
    lifted: bool = False
    repeats: int | None = None

    @property
    def punch_id(self) -> int:
        return self.punch.id

    @property
    def covered_by(self) -> int | None:
        """The record made by hand that holds the punch, which settles it. A punch that is gone keeps what it had."""
        if self.because.rule is Rule.GONE:
            return self.punch.covered_by
        return self.because.records[0].id if self.because.rule is Rule.COVERED else None

    @property
    def is_news(self) -> bool:
        """True when a stored column other than `judge_at` and `repeats` changes."""
        punch = self.punch
        return (self.outcome, self.record, self.role, self.retry, self.covered_by, self.lifted) != (
            punch.outcome,
            punch.record_id,
            punch.imported_role,
            punch.retry,
            punch.covered_by,
            punch.lifted,
        )


@dataclass(frozen=True, slots=True)
class CreateRecord:
    """A record to make. `key` is below zero and unique in its judgement; instants are UTC, `workday` is local."""

    key: int
    employee_id: int
    kind: RecordKind
    workday: date
    clock_in: datetime
    clock_out: datetime | None
    breaks: Breaks
    punch_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """What a record becomes; `employee_id` differs from the record's only when *Use the punches* moves it
    to its new owner."""

    record_id: int
    employee_id: int
    kind: RecordKind
    workday: date
    clock_in: datetime
    clock_out: datetime | None
    breaks: Breaks
    punch_ids: tuple[int, ...]


@dataclass(slots=True)
class Judgement:
    """The whole answer for one employee, or for one code without one. `unjudged` punches keep what they have: a window
    before them was not read completely."""

    who: PairingEmployee | Unbound
    rules: Rules
    now: datetime
    verdicts: list[Verdict] = field(default_factory=list)
    creates: list[CreateRecord] = field(default_factory=list)
    updates: list[UpdateRecord] = field(default_factory=list)
    unjudged: list[int] = field(default_factory=list)
