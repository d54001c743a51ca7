"""The nouns of pairing: a tap on its way, and the shift that it ends up in. Pure.

The walk that makes them is in lanes.py.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import FOLDS, RANKS, UNPAIRED, Breaks, PairingPunch, TapRole

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
    """A punch on its way through pairing. `held`: line 0 holds it, it belongs to a record that stands. `fresh`: it took no part
    in pairing when it was judged last, so folding around it is decided again. `was_fold`: it was judged a fold last, and is not
    `lone` (its own tap went away). `let_go`: an arrival un-folded it, so all is paired once more with it as a new tap. `repeats` is the tap that a
    fold repeats; `kept` one is a fold since it was one, and still repeats the same tap."""

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
    """What pairing found around one first tap. `taps` are its taps in time order without folds; `last_at` counts folds too."""

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
