"""Order of decisions for one punch, and a judging pass over everything."""

from datetime import timedelta

from tests.clock.reading.lane import Tap, is_lone, shifts_and_unfolded
from tests.clock.reading.outcome import judge_shift, order_of_judging
from tests.clock.reading.roles import kind_of, role_now
from tests.clock.reading.world import FOLDS

REACH = timedelta(hours=48)


def judge_everything(world, now, unread=()):
    for punch in world.punches_of(None):
        if world.is_out(punch) or not waits_for_reading(punch, unread):
            judge_alone(world, punch, None, now)
    for who in world.everyone():
        judge_employee(world, who, now, unread)


def waits_for_reading(punch, unread):
    """Nothing is judged whose preceding 48 h lie in a window that was not yet read completely."""
    return any(start <= punch.at and end > punch.at - REACH for start, end in unread)


def judge_employee(world, who, now, unread):
    shifts = shifts_of(world, who, now)
    for punch in world.punches_of(who):
        waits = waits_for_reading(punch, unread) and not world.is_out(punch)
        if not pairs(world, punch, now) and not waits:
            judge_alone(world, punch, who, now)
    for shift in sorted(shifts, key=order_of_judging):
        if not any(waits_for_reading(tap.punch, unread) for tap in shift.members()):
            judge_shift(world, who, shift, now)
    world.unfolded = []


def shifts_of(world, who, now):
    """The shifts of both lanes. A tap that an arrival un-folded counts as a new one, so all is paired once more."""
    world.unfolded = []
    while True:
        taps = [Tap(world, punch) for punch in world.punches_of(who) if pairs(world, punch, now)]
        regular = shifts_and_unfolded(world, who, [tap for tap in taps if kind_of(tap.role) == "regular"])
        overtime = shifts_and_unfolded(world, who, [tap for tap in taps if kind_of(tap.role) == "overtime"])
        if not regular[1] + overtime[1]:
            return regular[0] + overtime[0]
        world.unfolded += regular[1] + overtime[1]


def pairs(world, punch, now):
    """What stands continues pairing, whatever lines 1 to 5 say of it now; but for someone inactive nothing pairs."""
    if world.stands(punch):
        return world.employee_of(punch) not in world.inactive
    if world.is_out(punch):
        return False
    return lines_1_to_5(world, punch, now) is None


def judge_alone(world, punch, who, now):
    """A punch that takes no part in pairing."""
    if world.stands(punch):
        keep_what_stands(world, punch, who)
    elif world.is_out(punch):
        keep_its_word(world, punch)
    else:
        punch.show(lines_1_to_5(world, punch, now))
        punch.join(None, None)
        punch.asked = punch.asked and punch.lost_a_record


def keep_what_stands(world, punch, who):
    """Line 0. Clearing a binding changes no word."""
    if who is not None and (punch.word not in FOLDS or is_lone(world, punch)):
        punch.show("imported" if punch.record.employee == who else "arrived_late")
    punch.asked = False


def keep_its_word(world, punch):
    """One that an arrival un-folded has no word to keep, and neither has one that was never judged."""
    if punch in world.unfolded:
        punch.release()
    covered_by = punch.covered_by
    punch.show(punch.word or "awaiting")
    punch.covered_by = covered_by


def lines_1_to_5(world, punch, now):
    who = world.employee_of(punch)
    if punch.at > now + timedelta(days=1):
        return "future_timestamp"
    if world.terminals[punch.terminal].is_door_reader:
        return "access_terminal"
    if who is None:
        return "not_bound"
    if who in world.inactive:
        return "employee_inactive"
    if role_now(world, punch) is None:
        return "no_direction"
    return None
