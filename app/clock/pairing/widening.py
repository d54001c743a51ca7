"""Which span an importer reads around changed punches, and which part of it is judged. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from operator import attrgetter

from app.clock.pairing.inputs import FOLDS, Case, Rules, TimeSpan, Unbound
from app.clock.pairing.judge import find_lanes
from app.clock.pairing.shifts import ANY, FOLDS_REACH, IN, OUT, REACH, Tap

_AT = attrgetter("at")
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class JudgingWindow:
    """`within` goes into `judge`. While it is None, more must be read: all punches of the employee in `reading`."""

    reading: TimeSpan
    within: TimeSpan | None


def clusters(changed: Iterable[datetime], rules: Rules) -> list[TimeSpan]:
    """Changed instants in groups that are read and judged one by one: a late punch of last year costs no year."""
    apart = 2 * (REACH + 2 * margin(rules))
    found: list[TimeSpan] = []
    for at in sorted(changed):
        if found and at - found[-1].end <= apart:
            found[-1] = TimeSpan(found[-1].start, at + _MOMENT)
        else:
            found.append(TimeSpan(at, at + _MOMENT))
    return found


def first_reading(changed: TimeSpan, rules: Rules) -> TimeSpan:
    """What to read first: 48 h to both sides, and a little more to see where shifts begin."""
    reach = REACH + 2 * margin(rules)
    return TimeSpan(changed.start - reach, changed.end + reach)


def margin(rules: Rules) -> timedelta:
    """Two taps further apart than this neither fold nor join as inner taps or slips."""
    return max(rules.fold_limit, rules.undirected_min, FOLDS_REACH) + _MOMENT


def widen(case: Case, changed: TimeSpan, reading: TimeSpan) -> JudgingWindow:
    """Looks for instants on both sides of `changed` at which pairing starts afresh, whatever happened before.

    The case has all punches of the employee in `reading`. `changed` covers the instants of
    punches that came, went, or were touched. Call it again with what was read while `within` is None: it ends, at the
    latest, where 48 h hold no tap.
    """
    if isinstance(case.who, Unbound) or not case.who.active:
        return JudgingWindow(reading, changed)
    lanes = find_lanes(case, {record.id: record for record in case.records})
    edges = _Edges([lane for lane in lanes if lane], reading, case.rules)
    left, right = edges.before(changed.start), edges.after(changed.end)
    if left is not None and right is not None:
        return JudgingWindow(reading, TimeSpan(left, right))
    length = reading.end - reading.start
    wider = TimeSpan(
        reading.start if left is not None else reading.start - length,
        reading.end if right is not None else reading.end + length,
    )
    return JudgingWindow(wider, None)


class _Edges:
    """Instants at which both lanes start afresh: nothing before one is open to a tap after it, and no tap after it
    depends on one before. Each comes with its evidence, the stretch that must not have changed
    since the last judging."""

    def __init__(self, lanes: list[list[Tap]], reading: TimeSpan, rules: Rules) -> None:
        self.lanes = lanes
        self.reading = reading
        self.margin = margin(rules)
        self.repeat = rules.repeat
        # After this long an ANY tap opens a shift, whether the open one has a possible clock-out or not.
        self.night = max(rules.undirected_max + _MOMENT, rules.shift_gap, self.margin)
        self.instants = sorted({tap.at for lane in lanes for tap in lane})

    def before(self, change: datetime) -> datetime | None:
        latest = change - self.margin
        place = bisect_left(self.instants, latest)
        for instant in (latest, *reversed(self.instants[:place])):
            if instant - self.reading.start < self.margin:
                return None
            evidence = self._evidence(instant)
            if evidence is not None and evidence.end <= latest:
                return instant
        return None

    def after(self, change: datetime) -> datetime | None:
        earliest = change + self.margin
        for instant in (*self.instants[bisect_left(self.instants, earliest) :], self.reading.end):
            evidence = self._evidence(instant)
            if evidence is not None and evidence.start > change and evidence.end <= self.reading.end:
                return instant
        return None

    def _evidence(self, instant: datetime) -> TimeSpan | None:
        """None when one of the lanes may continue across this instant."""
        start = instant - self.margin
        end = instant
        if not self.lanes and instant - self.reading.start < REACH:
            return None
        for lane in self.lanes:
            seen = self._lane_evidence(lane, instant)
            if seen is None:
                return None
            start, end = min(start, seen.start), max(end, seen.end)
        return TimeSpan(start, end)

    def _lane_evidence(self, lane: Sequence[Tap], instant: datetime) -> TimeSpan | None:
        place = bisect_left(lane, instant, key=_AT)
        quiet = self._quiet(lane, place, instant)
        if quiet >= REACH:
            return TimeSpan(instant - REACH, instant)
        if place > 0 and quiet > self.margin and self._closes(lane, place - 1):
            return TimeSpan(lane[place - 1].at - self.margin, instant)
        return self._opener_evidence(lane, place) if place < len(lane) else None

    def _quiet(self, lane: Sequence[Tap], place: int, instant: datetime) -> timedelta:
        """How long no tap came before the instant, as far as was read."""
        return instant - (lane[place - 1].at if place > 0 else self.reading.start)

    def _closes(self, lane: Sequence[Tap], place: int) -> bool:
        """True when this is an OUT after which certainly no shift is open."""
        tap = lane[place]
        return tap.rank == OUT and not _folded(tap) and self._quiet(lane, place, tap.at) > self.margin

    def _opener_evidence(self, lane: Sequence[Tap], place: int) -> TimeSpan | None:
        tap = lane[place]
        quiet = self._quiet(lane, place, tap.at)
        if _folded(tap) or quiet <= self.margin:
            return None
        soon = tap.at + self.repeat
        if tap.rank == IN:
            return None if self._may_slip(lane, place, soon) else TimeSpan(tap.at - self.margin, soon + _MOMENT)
        if tap.rank == ANY and quiet >= self.night:
            return TimeSpan(tap.at - self.night, tap.at)
        return None

    def _may_slip(self, lane: Sequence[Tap], place: int, soon: datetime) -> bool:
        """True when an OUT follows at once: while a shift is open, this IN is then a slip."""
        rest = islice(lane, place + 1, None)
        return any(later.rank == OUT for later in takewhile(lambda later: later.at <= soon, rest))


def _folded(tap: Tap) -> bool:
    """A fold with a record stays a fold when a setting changes, so distance alone does not say
    that it opens a shift."""
    return tap.held and tap.punch.outcome in FOLDS
