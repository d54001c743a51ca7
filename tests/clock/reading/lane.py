"""Pairing, taps in time order: the shifts of one lane, and which taps are folds."""

from datetime import timedelta

from tests.clock.reading.roles import ORDER_OF_EQUAL_INSTANTS, kind_of, plain, role_now
from tests.clock.reading.world import FOLDS, LINES_1_TO_5, remote_order

DAY = timedelta(hours=24)
REACH = timedelta(hours=48)
FARTHEST_FOLD = timedelta(hours=4)


class Tap:
    def __init__(self, world, punch):
        self.punch = punch
        self.at = punch.at
        self.stands = world.stands(punch)
        self.role = punch.role if self.stands else role_now(world, punch)
        # It takes part in this employee's pairing for the first time.
        self.is_new = not self.stands and (punch.word is None or punch.word in LINES_1_TO_5 or punch in world.unfolded)
        self.was_fold = punch.word in FOLDS and punch not in world.unfolded
        self.is_lone = is_lone(world, punch)
        self.fold_word = None  # when it is a fold
        self.repeats = None  # the tap it repeats
        self.is_kept = (
            False  # a fold that is one because it was one: it repeats a tap, and its own tap stays what it was
        )
        self.shift = None


def is_lone(world, punch):
    """A fold whose own tap is another employee's now, or no employee's, or no longer takes part:
    it stands for itself."""
    own = punch.repeats
    if own is None or punch.record is None:
        return False
    return world.employee_of(own) != world.employee_of(punch) or world.is_out(own)


class Shift:
    def __init__(self, first):
        self.taps = [first]
        self.folds = []
        self.clock_in = None
        self.clock_out = None
        self.possible_out = None
        self.break_open = None
        self.breaks = []
        self.ended_by_in = False
        first.shift = self

    def first(self):
        return self.taps[0]

    def members(self):
        return self.taps + self.folds

    def last_at(self):
        return max(tap.at for tap in self.members())

    def close_at_possible_out(self):
        if self.possible_out is not None:
            self.clock_out = self.possible_out

    def written_breaks(self):
        """A break still open is dropped, and one of no length is none."""
        return tuple((start, end) for start, end in self.breaks if start != end)


def shifts_and_unfolded(world, who, taps):
    taps.sort(key=lambda tap: (tap.at, ORDER_OF_EQUAL_INSTANTS[tap.role], remote_order(tap.punch.remote_id)))
    nothing_arrived = Lane(world, [Tap(world, tap.punch) for tap in taps if not tap.is_new], unfoldable=[])
    nothing_arrived.walk()
    lane = Lane(world, taps, unfoldable=nothing_arrived.folds)
    lane.walk()
    return lane.shifts, lane.unfolded


class Lane:
    """One walk over the taps. `unfoldable`: what would be a fold had nothing arrived;
    if it is none, an arrival un-folded it."""

    def __init__(self, world, taps, unfoldable):
        self.settings = world.settings
        self.repeat = timedelta(seconds=world.settings.repeat_tap_seconds)
        self.taps = taps
        self.unfoldable = unfoldable
        self.unfolded = []
        self.folds = []  # those of a run
        self.shifts = []
        self.shift = None  # the one that is open
        self.heads = {}  # role -> the first tap of its run
        self.last_out = None  # the last OUT that closed a shift, or was an orphan

    def walk(self):
        for number, tap in enumerate(self.taps):
            if not self.is_fold(tap, self.taps[:number]):
                self.heads[tap.role] = tap
                if self.has_effect(tap, self.taps[number + 1 :]):
                    self.heads = {role: head for role, head in self.heads.items() if role == tap.role}
        if self.shift is not None:
            self.end_shift()

    # Folds.

    def is_fold(self, tap, before):
        head = self.heads.get(tap.role)
        if tap.stands and tap.was_fold and not tap.is_lone:
            return self.is_still_fold(tap, head, before)
        if head is None or (tap.stands and not head.is_new) or self.fold_word(head, tap) is None:
            self.note_unfolded(tap)
            return False
        return self.fold(tap, head, self.fold_word(head, tap))

    def is_still_fold(self, tap, head, before):
        """One that has a record. Only an arrival un-folds it, never a setting."""
        if head is None and tap.punch not in self.unfoldable:
            own = self.last_with_its_record(tap, before)
            tap.is_kept = True
            return own is not None and self.put_to(tap, own, tap.punch.word)
        if head is None or (head.is_new and self.fold_word(head, tap) is None):
            self.unfolded.append(tap.punch)
            return False
        if head.is_new:
            return self.fold(tap, head, self.fold_word(head, tap))
        tap.is_kept = True
        return is_near(head, tap) and self.fold(tap, head, tap.punch.word)

    def note_unfolded(self, tap):
        """One without a record."""
        if tap.was_fold and not tap.stands and tap.punch in self.unfoldable:
            self.unfolded.append(tap.punch)

    def last_with_its_record(self, tap, before):
        same = [one for one in before if one.role == tap.role and one.repeats is None and is_near(one, tap)]
        same = [one for one in same if one.punch.record is tap.punch.record]
        return same[-1] if same else None

    def fold_word(self, head, tap):
        apart = tap.at - head.at
        double = timedelta(minutes=self.settings.double_tap_minutes)
        if apart <= self.repeat:
            return "repeat_tap"
        if kind_of(tap.role) == "regular" and self.settings.double_tap_fix and apart <= double:
            return "double_tap"
        return None

    def fold(self, tap, head, word):
        self.folds.append(tap.punch)
        return self.put_to(tap, head, word)

    def put_to(self, tap, head, word):
        tap.repeats, tap.fold_word, tap.shift = head, word, head.shift
        head.shift.folds.append(tap)
        return True

    # The table.

    def has_effect(self, tap, later):
        """Puts the tap to its shift, and says whether it had an effect."""
        if self.shift is not None and self.is_closed_to(tap):
            self.end_shift()
        if plain(tap.role) == "IN":
            return self.comes_in(tap, later)
        if plain(tap.role) == "OUT":
            return self.goes_out(tap)
        if tap.role == "ANY":
            return self.taps_undirected(tap)
        return self.takes_break(tap)

    def is_closed_to(self, tap):
        gap = timedelta(hours=self.settings.shift_gap_hours)
        if tap.at - self.shift.first().at >= REACH:
            return True
        return self.shift.possible_out is not None and tap.at - self.shift.last_at() >= gap

    def end_shift(self):
        self.shift.close_at_possible_out()
        self.shift = None

    def open(self, tap):
        self.shift = self.alone(tap)
        self.shift.clock_in = tap
        return True

    def alone(self, tap):
        shift = Shift(tap)
        self.shifts.append(shift)
        return shift

    def inside(self, tap, shift):
        shift.taps.append(tap)
        tap.shift = shift
        return False

    def comes_in(self, tap, later):
        if self.shift is None:
            return self.open(tap)
        if self.is_slip_in(tap, later) or self.joins_undirected_opener(tap):
            return self.inside(tap, self.shift)
        self.shift.ended_by_in = True
        self.end_shift()
        return self.open(tap)

    def is_slip_in(self, tap, later):
        if tap.at - self.shift.first().at > timedelta(hours=self.settings.undirected_max_hours):
            return False
        return any(plain(other.role) == "OUT" and other.at - tap.at <= self.repeat for other in later)

    def joins_undirected_opener(self, tap):
        return self.shift.first().role == "ANY" and self.is_soon(self.shift.first(), tap)

    def is_soon(self, earlier, tap):
        return tap.at - earlier.at < timedelta(minutes=self.settings.undirected_min_minutes)

    def goes_out(self, tap):
        if self.shift is None:
            self.last_out = tap
            self.alone(tap).clock_out = tap
            return True
        if tap.at - self.shift.first().at <= self.repeat:
            return self.inside(tap, self.shift)
        self.inside(tap, self.shift)
        self.shift.clock_out, self.shift.possible_out = tap, None
        self.last_out = tap
        self.end_shift()
        return True

    def takes_break(self, tap):
        shift = self.shift
        if shift is None:
            self.alone(tap)
            return False
        self.inside(tap, shift)
        was_possible_out, shift.possible_out = shift.possible_out, None
        if tap.role == "BREAK_OUT" and shift.break_open is None:
            shift.break_open = tap.at
            return True
        if tap.role == "BREAK_IN" and shift.break_open is not None:
            shift.breaks.append((shift.break_open, tap.at))
            shift.break_open = None
            return True
        return was_possible_out is not None

    def taps_undirected(self, tap):
        shift = self.shift
        if shift is None:
            out = self.last_out
            if out is not None and self.is_soon(out, tap) and tap.at - out.shift.first().at < REACH:
                return self.inside(tap, out.shift)
            return self.open(tap)
        worked = tap.at - shift.first().at
        if self.is_soon(shift.first(), tap) or not worked:
            return self.inside(tap, shift)
        if worked > (timedelta(hours=self.settings.undirected_max_hours) if shift.possible_out is None else DAY):
            self.end_shift()
            return self.open(tap)
        self.inside(tap, shift)
        shift.possible_out = tap
        return True


def is_near(earlier, tap):
    return tap.at - earlier.at <= FARTHEST_FOLD
