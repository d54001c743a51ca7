"""Puts the taps of one lane together to shifts, and folds repeat and double taps: the pairing table. Pure.

Which outcome a shift gets: shift_rules.py.
"""

from datetime import datetime, timedelta

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import RANKS, Rules
from app.clock.pairing.shifts import ANY, BREAK_IN, DAY, FOLDS_REACH, IN, OUT, REACH, Effect, Shift, ShiftEnd, Tap


def pair(taps: list[Tap], kind: RecordKind, rules: Rules) -> list[Shift]:
    """The shifts of one lane, in the order of their first taps. `taps` are in time order (docs/rules.md, "Pairing")."""
    return _walk(taps, kind, rules, _folded_without_arrivals(taps, kind, rules)).shifts


def _walk(taps: list[Tap], kind: RecordKind, rules: Rules, settled: frozenset[int]) -> "_Lane":
    lane = _Lane(taps, kind, rules, settled)
    for place, tap in enumerate(taps):
        if not lane.folds(tap):
            lane.leave_behind(tap.at)
            lane.step(place, tap)
    lane.end(None)
    return lane


def _folded_without_arrivals(taps: list[Tap], kind: RecordKind, rules: Rules) -> frozenset[int]:
    """The punches that would repeat the first tap of their run, if no tap had arrived. One of them that is not a fold
    now was un-folded by a tap; any other lost fold was un-folded by a setting, or by a tap that left (docs/rules.md,
    "Runs and folds")."""
    if not any(tap.was_fold for tap in taps) or not any(tap.fresh for tap in taps):
        return frozenset()
    before = [tap for tap in taps if not tap.fresh]
    kept = _walk(before, kind, rules, frozenset()).kept
    folded = frozenset(tap.punch.id for tap in before if tap.word is not None) - kept
    for tap in before:
        tap.word = tap.repeats = None
        tap.kept = False
    return folded


class _Lane:
    """The state of one walk over a lane: the open shift, the shift that an OUT closed last,
    and the first tap of each role's run."""

    def __init__(self, taps: list[Tap], kind: RecordKind, rules: Rules, settled: frozenset[int]) -> None:
        self.taps = taps
        self.kind = kind
        self.settled = settled
        self.kept: set[int] = set()
        self.shifts: list[Shift] = []
        self.open: Shift | None = None
        self.closed: Shift | None = None
        self.runs: list[Tap | None] = [None] * RANKS
        # By role and record, of taps that stand.
        self.latest: dict[tuple[int, int | None], Tap] = {}
        self.repeat = rules.repeat
        # Double taps are not looked for in the overtime lane (line 7).
        self.double = rules.double if kind is RecordKind.REGULAR else None
        self.fold_limit = rules.fold_limit
        self.gap = rules.shift_gap
        self.undirected_min = rules.undirected_min
        self.undirected_max = rules.undirected_max

    # Folding, lines 6 and 7 of the order of decisions.

    def folds(self, tap: Tap) -> bool:
        """True when the tap repeats the first tap of its role's run; then it joins that tap's shift as a fold."""
        anchor = self.runs[tap.rank]
        if tap.held:
            word, anchor = self._held_word(tap, anchor)
        elif anchor is not None:
            word = self._word(tap.at - anchor.at)
        else:
            word = None
        if word is None and tap.was_fold and (tap.punch.id in self.settled or (tap.held and _is_fresh(anchor))):
            tap.let_go = True
        if word is None or anchor is None:
            return False
        shift = anchor.shift
        tap.word, tap.repeats, tap.shift, tap.effect = word, anchor, shift, Effect.FOLD
        shift.folds.append(tap)
        shift.last_at = max(shift.last_at, tap.at)
        return True

    def _word(self, since: timedelta) -> Outcome | None:
        if since > self.fold_limit:
            return None
        if since <= self.repeat:
            return Outcome.REPEAT_TAP
        return Outcome.DOUBLE_TAP if self.double is not None and since <= self.double else None

    def _held_word(self, tap: Tap, anchor: Tap | None) -> tuple[Outcome | None, Tap | None]:
        """Folding of a tap with a record is decided again only by a tap that arrived, never by a setting.

        docs/rules.md, "Runs and folds".
        """
        if anchor is not None and anchor.fresh:
            return self._word(tap.at - anchor.at), anchor
        if not tap.was_fold or (anchor is None and tap.punch.id in self.settled):
            return None, None
        if anchor is None:  # a setting changed what the taps between do: it repeats the tap that it was folded into
            anchor = self._imported_before(tap)
        if anchor is None or tap.at - anchor.at > FOLDS_REACH:
            return None, None
        tap.kept = True
        return Outcome(tap.punch.outcome or ""), anchor

    def _imported_before(self, tap: Tap) -> Tap | None:
        """The last tap of this role that has the same record."""
        before = self.latest.get((tap.rank, tap.punch.record_id))
        if before is not None:
            self.kept.add(tap.punch.id)
        return before

    # The pairing table.

    def step(self, place: int, tap: Tap) -> None:
        if tap.rank == IN:
            effective = self._in(place, tap)
        elif tap.rank == OUT:
            effective = self._out(tap)
        elif tap.rank == ANY:
            effective = self._any(tap)
        else:
            effective = self._break(tap)
        # A tap that stands starts a run; one that has an effect also ends the runs of the other roles.
        if effective:
            self.runs = [None] * RANKS
        self.runs[tap.rank] = tap
        if tap.held:
            self.latest[tap.rank, tap.punch.record_id] = tap

    def _in(self, place: int, tap: Tap) -> bool:
        shift = self.open
        if shift is not None:
            since = tap.at - shift.first.at
            if since <= self.undirected_max and self._out_follows(place, tap.at):
                shift.take(tap, Effect.SLIP)
                return False
            if shift.first.rank == ANY and since < self.undirected_min:
                shift.take(tap, Effect.INNER)
                return False
            self.end(ShiftEnd.LATER_IN, tap)
        self._opens(tap)
        return True

    def _out(self, tap: Tap) -> bool:
        shift = self.open
        if shift is None:
            self.closed = self._orphan(tap)
            return True
        if tap.at - shift.first.at <= self.repeat:
            shift.take(tap, Effect.SLIP)
            return False
        if shift.clock_out is not None:
            shift.clock_out.effect = Effect.INNER
        shift.take(tap, Effect.CLOCK_OUT)
        shift.clock_out = tap
        self.closed = shift
        self.end(ShiftEnd.OUT)
        return True

    def _any(self, tap: Tap) -> bool:
        shift = self.open
        if shift is None:
            # An orphan OUT counts as the OUT that closed its own shift.
            # Otherwise it would turn the tap after it into a clock-in.
            closed = self.closed
            if closed is not None and self._soon_after_out(closed, tap.at):
                closed.take(tap, Effect.INNER)
                return False
            self._opens(tap)
            return True
        since = tap.at - shift.first.at
        if since < self.undirected_min or not since:
            shift.take(tap, Effect.INNER)
            return False
        if since > (self.undirected_max if shift.clock_out is None else DAY):
            self.end(ShiftEnd.LATER_ANY, tap)
            self._opens(tap)
            return True
        if shift.clock_out is not None:
            shift.clock_out.effect = Effect.INNER
        shift.take(tap, Effect.CLOCK_OUT)
        shift.clock_out = tap
        return True

    def _break(self, tap: Tap) -> bool:
        shift = self.open
        if shift is None:
            self._orphan(tap)
            return False
        continues = shift.clock_out is not None
        if shift.clock_out is not None:
            shift.clock_out.effect = Effect.INNER
            shift.clock_out = None
        started = shift.break_open
        if (started is None) == (tap.rank == BREAK_IN):
            shift.take(tap, Effect.INNER)
            return continues
        if started is None:
            shift.take(tap, Effect.BREAK_START)
            shift.break_open = tap
            return True
        shift.take(tap, Effect.BREAK_END)
        shift.break_open = None
        if started.at < tap.at:
            shift.breaks.append((started.at, tap.at))
        return True

    def _soon_after_out(self, closed: Shift, at: datetime) -> bool:
        out = closed.clock_out
        return out is not None and at - out.at < self.undirected_min and at - closed.first.at < REACH

    def _out_follows(self, place: int, at: datetime) -> bool:
        """True when an OUT comes after this tap, within the time of a repeat tap."""
        limit = at + self.repeat
        for place_after in range(place + 1, len(self.taps)):
            later = self.taps[place_after]
            if later.at > limit:
                return False
            if later.rank == OUT:
                return True
        return False

    def _opens(self, tap: Tap) -> None:
        shift = Shift(tap, self.kind)
        shift.clock_in = tap
        tap.effect = Effect.CLOCK_IN
        self.shifts.append(shift)
        self.open, self.closed = shift, None

    def _orphan(self, tap: Tap) -> Shift:
        shift = Shift(tap, self.kind)
        tap.effect = Effect.ORPHAN
        if tap.rank == OUT:
            shift.clock_out = tap
        self.shifts.append(shift)
        return shift

    def leave_behind(self, at: datetime) -> None:
        """Ends the open shift when a tap at this instant is beyond its reach."""
        shift = self.open
        if shift is None:
            return
        if at - shift.first.at >= REACH:
            self.end(ShiftEnd.REACH)
        elif shift.clock_out is not None and at - shift.last_at >= self.gap:
            self.end(ShiftEnd.GAP)

    def end(self, why: ShiftEnd | None, by: Tap | None = None) -> None:
        """The open shift takes no more taps (None: the taps ran out). A break still open is left out of it."""
        shift = self.open
        if shift is None:
            return
        shift.end, shift.ended_by = why, by
        self.open = None


def _is_fresh(anchor: Tap | None) -> bool:
    return anchor is not None and anchor.fresh
