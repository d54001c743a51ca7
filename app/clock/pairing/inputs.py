"""What pairing is told: punches, records, rules, and the role that a punch plays. Pure.

No pairing and no judging lives here.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Self
from zoneinfo import ZoneInfo

from app.clock.codes import BindingState, Direction, RecordKind
from app.clock.outcomes import Outcome

Breaks = tuple[tuple[datetime, datetime], ...]


class TapRole(StrEnum):
    """What a tap means for pairing (docs/rules.md, "Direction and role"). `rank` orders equal instants; it also names
    the row of the pairing table, so that the overtime lane follows the rows of IN and OUT."""

    rank: int

    def __new__(cls, value: str, rank: int) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.rank = rank
        return member

    BREAK_OUT = "break_out", 0
    BREAK_IN = "break_in", 1
    ANY = "any", 2
    OUT = "out", 3
    IN = "in", 4
    OT_OUT = "ot_out", 3
    OT_IN = "ot_in", 4


RANKS = 5
_BY_CODE = (TapRole.IN, TapRole.OUT, TapRole.BREAK_OUT, TapRole.BREAK_IN, TapRole.OT_IN, TapRole.OT_OUT)
ROLES = {role.value: role for role in TapRole}
OVERTIME_ROLES = (TapRole.OT_IN, TapRole.OT_OUT)

FOLDS = frozenset({Outcome.REPEAT_TAP.value, Outcome.DOUBLE_TAP.value})
# Lines 1-5 of the order of decisions: a punch with one of these words took no part in pairing when it was judged last.
UNPAIRED = frozenset(
    {
        Outcome.FUTURE_TIMESTAMP.value,
        Outcome.ACCESS_TERMINAL.value,
        Outcome.NOT_BOUND.value,
        Outcome.EMPLOYEE_INACTIVE.value,
        Outcome.NO_DIRECTION.value,
    }
)


@dataclass(frozen=True, slots=True)
class PairingPunch:
    """One mirrored row, with what the import remembers of it.

    `at` is an aware UTC instant. `direction` and `is_access` are its terminal's, as they are now; `says_access` is true
    where the server said of this punch alone that it does not count for attendance, and then `is_access` is too.
    `outcome` is None until the punch was judged (and again when its code comes to another employee while it has no
    record). `record_id` is `host_attendance_id`. `imported_role` is the role it was imported with; without a standing
    record it remembers that the punch's record was deleted. `retry`: a person asked for it again, and no judging has
    answered yet; `lifted`: an answered Retry says that the deleted record may be made again. `covered_by`: the record
    made by hand that held it. `edited_record` is the record that the punch left when it was edited on the server,
    `edited_from` the instant it had there. `gone`: the server no longer has the punch. `repeats` is the punch that a
    fold repeats; None also where an older release judged it.
    """

    id: int
    remote_id: str
    emp_code: str
    at: datetime
    code: int | None
    terminal_sn: str | None = None
    direction: str = Direction.BY_CODE.value
    is_access: bool = False
    outcome: str | None = None
    record_id: int | None = None
    imported_role: str | None = None
    covered_by: int | None = None
    retry: bool = False
    edited_record: int | None = None
    edited_from: datetime | None = None
    says_access: bool = False
    gone: bool = False
    repeats: int | None = None
    lifted: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What the import last wrote into a record; UTC instants."""

    clock_in: datetime
    clock_out: datetime | None
    breaks: Breaks = ()

    @property
    def instants(self) -> set[datetime | None]:
        return {self.clock_in, self.clock_out, *(at for one in self.breaks for at in one)}


@dataclass(frozen=True, slots=True)
class Record:
    """An attendance record of the host. `written` is None when the import never wrote it.
    Instants are UTC, `workday` local."""

    id: int
    employee_id: int
    kind: str
    workday: date
    clock_in: datetime
    clock_out: datetime | None
    breaks: Breaks = ()
    status: str = "pending"
    source: str = "clock"
    deleted: bool = False
    written: Written | None = None

    @property
    def decided(self) -> bool:
        return self.status != "pending"

    @property
    def edited(self) -> bool:
        """True when a person's times stand in it: clock-in, clock-out or a break is not what the import last wrote."""
        written = self.written
        return (
            written is None
            or (self.clock_in, self.clock_out) != (written.clock_in, written.clock_out)
            or sorted(self.breaks) != sorted(written.breaks)
        )


@dataclass(frozen=True, slots=True)
class PairingEmployee:
    """A host employee; `active` is false when deactivated or deleted."""

    id: int
    active: bool = True


@dataclass(frozen=True, slots=True)
class Unbound:
    """A code with no host employee behind it, and the binding state that says why."""

    state: str = BindingState.UNBOUND.value


Who = PairingEmployee | Unbound


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings pairing depends on and the connection's zone."""

    zone: ZoneInfo
    repeat_tap_seconds: int = 10
    double_tap_fix: bool = True
    double_tap_minutes: int = 5
    shift_gap_hours: int = 8
    undirected_min_minutes: int = 30
    undirected_max_hours: int = 14
    import_single_punches: bool = False

    @property
    def repeat(self) -> timedelta:
        return timedelta(seconds=self.repeat_tap_seconds)

    @property
    def double(self) -> timedelta | None:
        """None when the auto-fix is off."""
        return timedelta(minutes=self.double_tap_minutes) if self.double_tap_fix else None

    @property
    def fold_limit(self) -> timedelta:
        """Two taps further apart than this do not fold."""
        return max(self.repeat, self.double or self.repeat)

    @property
    def shift_gap(self) -> timedelta:
        return timedelta(hours=self.shift_gap_hours)

    @property
    def undirected_min(self) -> timedelta:
        return timedelta(minutes=self.undirected_min_minutes)

    @property
    def undirected_max(self) -> timedelta:
        return timedelta(hours=self.undirected_max_hours)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Half-open, UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged together: the punches of all codes of one host employee, or those of one code without one, and
    everything that decides about them.

    `records`: those the punches belong to, of any owner and deleted or not, and every record of the employee that
    touches these hours. `unread`: windows not read completely; nothing within 48 h after one is judged. `elsewhere`:
    punches of these records whose codes are not this employee's now. `within`: the part that gets verdicts, from
    widening.py; the rest is context.
    """

    who: Who
    punches: Sequence[PairingPunch]
    records: Sequence[Record]
    rules: Rules
    now: datetime
    locked_days: Container[date] = ()
    unread: Sequence[TimeSpan] = ()
    elsewhere: Sequence[PairingPunch] = ()
    within: TimeSpan | None = None


def role_now(punch: PairingPunch) -> TapRole | None:
    """The role by code and terminal, as they are now; None when neither says one (`no_direction`)."""
    direction = punch.direction
    if direction == "by_code":
        code = punch.code
        return _BY_CODE[code] if code is not None and 0 <= code <= 5 else None  # noqa: PLR2004 -- the known codes are 0-5
    if direction == "undirected":
        return TapRole.ANY
    return TapRole.IN if direction == "in" else TapRole.OUT


def kind_of(role: TapRole) -> RecordKind:
    return RecordKind.OVERTIME if role in OVERTIME_ROLES else RecordKind.REGULAR


def remote_order(remote_id: str) -> tuple[bool, int, str, str]:
    """Remote ids that are all digits come first, as numbers (docs/rules.md, "Pairing")."""
    if not (remote_id.isascii() and remote_id.isdigit()):
        return (True, 0, remote_id, "")
    number = remote_id.lstrip("0")
    return (False, len(number), number, remote_id)


def is_unread(at: datetime, unread: Iterable[TimeSpan], reach: timedelta) -> bool:
    """True when the `reach` before an instant, or the instant itself,
    lies in a window that was not yet read completely."""
    return any(window.start <= at and window.end > at - reach for window in unread)


def left_behind(punch: PairingPunch, known: Mapping[int, Record]) -> Record | None:
    """The record that still holds the hour which this punch gave it before it was edited on the server."""
    if punch.edited_record is None:
        return None
    record = known[punch.edited_record]
    return record if record.written is not None and punch.edited_from in record.written.instants else None


def remembers_deletion(punch: PairingPunch, known: Mapping[int, Record]) -> bool:
    """True when the record that this punch was imported into was deleted.

    A punch whose record was deleted keeps `imported_role` when it loses `record_id`:
    nothing else leaves one without the other.
    """
    if punch.record_id is not None:
        return known[punch.record_id].deleted
    left = left_behind(punch, known)
    return punch.imported_role is not None or (left is not None and left.deleted)
