"""The nouns of pairing: a tap on its way, the shift that it ends up in, and what its punches remember. Pure.

The walk that makes them is in lanes.py.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import (
    FOLDS,
    RANKS,
    UNPAIRED,
    Breaks,
    PairingEmployee,
    PairingPunch,
    Record,
    TapRole,
    left_behind,
    remembers_deletion,
)

REACH: Final = timedelta(hours=48)
DAY: Final = timedelta(hours=24)
# A punch further in the future than this comes from a wrong clock.
AHEAD: Final = timedelta(days=1)
# A tap longer before cannot be the one that a fold with a record repeats: no setting folds further.
FOLDS_REACH: Final = timedelta(hours=4)

# Rows of the pairing table, by Role.rank: the overtime lane uses those of OUT and IN.
BREAK_OUT, BREAK_IN, ANY, OUT, IN = range(RANKS)


class Effect(StrEnum):
    """What a tap does in its shift."""

    CLOCK_IN = "clock_in"
    CLOCK_OUT = "clock_out"
    BREAK_START = "break_start"
    BREAK_END = "break_end"
    INNER = "inner"
    SLIP = "slip"
    ORPHAN = "orphan"
    FOLD = "fold"


class ShiftEnd(StrEnum):
    """Why a shift takes no more taps."""

    OUT = "out"
    LATER_IN = "later_in"
    LATER_ANY = "later_any"
    GAP = "gap"
    REACH = "reach"


class Tap:
    """A punch on its way through pairing. `held`: line 0 holds it, it belongs to a record that stands. `fresh`: it took
    no part in pairing when it was judged last, so folding around it is decided again. `was_fold`: it was judged a fold
    last, and is not `lone` (its own tap went away). `let_go`: an arrival un-folded it, so all is paired once more with
    it as a new tap. `repeats` is the tap that a fold repeats;
    `kept` one is a fold since it was one, and still repeats the same tap."""

    __slots__ = (
        "at",
        "effect",
        "fresh",
        "held",
        "kept",
        "let_go",
        "punch",
        "rank",
        "repeats",
        "role",
        "shift",
        "was_fold",
        "word",
    )

    def __init__(self, punch: PairingPunch, role: TapRole, *, held: bool, lone: bool = False) -> None:
        self.punch = punch
        self.at: datetime = punch.at
        self.role = role
        self.rank = role.rank
        self.held = held
        self.let_go = False
        self.kept = False
        outcome = punch.outcome
        self.fresh = outcome is None or outcome in UNPAIRED
        self.was_fold = outcome in FOLDS and not lone
        self.effect: Effect
        self.word: Outcome | None = None
        self.repeats: Tap | None = None
        self.shift: Shift


class Shift:
    """What pairing found around one first tap. `taps` are its taps in time order without folds;
    `last_at` counts folds too."""

    __slots__ = (
        "break_open",
        "breaks",
        "clock_in",
        "clock_out",
        "end",
        "ended_by",
        "first",
        "folds",
        "kind",
        "last_at",
        "taps",
    )

    def __init__(self, first: Tap, kind: RecordKind) -> None:
        self.first = first
        self.kind = kind
        self.clock_in: Tap | None = None
        self.clock_out: Tap | None = None
        self.taps = [first]
        self.folds: list[Tap] = []
        self.breaks: list[tuple[datetime, datetime]] = []
        self.break_open: Tap | None = None
        self.end: ShiftEnd | None = None
        self.ended_by: Tap | None = None
        self.last_at = first.at
        first.shift = self

    @property
    def is_orphan(self) -> bool:
        return self.clock_in is None

    def take(self, tap: Tap, effect: Effect) -> None:
        tap.shift = self
        tap.effect = effect
        self.taps.append(tap)
        self.last_at = tap.at

    def written_breaks(self) -> Breaks:
        return tuple(self.breaks)


class ShiftPast:
    """What the taps of a shift, folds included, remember: records that stand, a deleted one, and whether a person asked
    again."""

    __slots__ = ("all_held", "deleted", "lifted", "standing")

    def __init__(self, shift: Shift, known: dict[int, Record]) -> None:
        members = (*shift.taps, *shift.folds)
        # A fold that was edited on the server takes an hour of its record along.
        self.all_held = all(tap.held for tap in shift.taps) and not any(
            left_behind(tap.punch, known) for tap in shift.folds
        )
        self.standing = standing_records(members, known)
        gone = [tap for tap in members if not tap.held and remembers_deletion(tap.punch, known)]
        self.deleted = bool(gone)
        # Retry on any tap that shows `attendance_deleted` lifts it for all of the shift, for each until it belongs to a
        # record again.
        asked = any(tap.punch.retry and (tap.punch.outcome not in UNPAIRED or tap in gone) for tap in members)
        self.lifted = asked or (self.deleted and all(tap.punch.lifted for tap in gone))

    def says_so_already(self, shift: Shift, employee: PairingEmployee) -> bool:
        """True when the record that all of the shift's edited taps were in has exactly its hours: then nothing new
        joins it."""
        if len(self.standing) != 1 or self.deleted or shift.clock_in is None:
            return False
        record, clock_out = self.standing[0], shift.clock_out
        return (
            all(tap.held or tap.punch.edited_record == record.id for tap in shift.taps)
            and (record.employee_id, record.kind) == (employee.id, shift.kind)
            and (record.clock_in, record.clock_out) == (shift.clock_in.at, None if clock_out is None else clock_out.at)
            and tuple(sorted(record.breaks)) == shift.written_breaks()
        )


def standing_records(members: Iterable[Tap], known: dict[int, Record]) -> list[Record]:
    """The records that stand behind these taps, earliest first: a tap that was edited on the server counts with the
    record that still has its old hour."""
    behind = [known[tap.punch.record_id or 0] if tap.held else left_behind(tap.punch, known) for tap in members]
    found = {record.id: record for record in behind if record is not None and not record.deleted}
    return sorted(found.values(), key=lambda record: (record.clock_in, record.id))


class _Nothing(ShiftPast):
    __slots__ = ()

    def __init__(self) -> None:
        self.all_held = self.deleted = self.lifted = False
        self.standing = []


NO_PAST = _Nothing()
