"""Outcome of a shift: the first row that applies, and what is written."""

from datetime import timedelta

from tests.clock.reading.roles import kind_of
from tests.clock.reading.world import Record, remote_order

DAY = timedelta(hours=24)


def order_of_judging(shift):
    first = shift.first()
    return (first.at, kind_of(first.role) == "overtime", remote_order(first.punch.remote_id))


def judge_shift(world, who, shift, now):
    lift_deletion(shift)
    record = record_that_says_so(who, shift)
    word = "imported" if record is not None else word_of(world, who, shift, now)
    # Settled from the start: the record by hand is the decision.
    covering = record_that_covers(world, who, shift) if word == "overlaps" else None
    if record is None and word == "imported" and has_news(shift):
        record = write(world, who, shift, records_of(shift))
    for tap in shift.taps:
        settle(tap, who, word, record)
        tap.punch.covered_by = covering
    for tap in shift.folds:
        if word != "imported" and leaves_an_old_hour(tap):
            settle(tap, who, word, None)
        else:
            settle_fold(tap, who)


def has_news(shift):
    return any(not tap.stands for tap in shift.taps) or any(leaves_an_old_hour(tap) for tap in shift.folds)


def leaves_an_old_hour(fold):
    """An edited punch that became a fold: its record has an hour that no punch gives now."""
    record = fold.punch.record_behind()
    return record is not None and not record.deleted


def record_that_says_so(who, shift):
    """The record that all edited taps of the shift left, if it has the hours of the shift already:
    there is nothing to write."""
    records = records_of(shift)
    if len(records) != 1 or shift.clock_in is None or any(tap.punch.lost_a_record for tap in shift.members()):
        return None
    (record,) = records
    if record.employee != who or record.kind != kind_of(shift.first().role) or not has_news(shift):
        return None
    clock_out = None if shift.clock_out is None else shift.clock_out.at
    says_so = (record.clock_in, record.clock_out, tuple(sorted(record.breaks))) == (
        shift.clock_in.at,
        clock_out,
        shift.written_breaks(),
    )
    return record if says_so and all(tap.stands or tap.punch.left is record for tap in shift.taps) else None


def word_of(world, who, shift, now):
    records = records_of(shift)
    rows = (
        ("attendance_deleted", lambda: is_deleted(shift) and not records),
        ("over_24h", lambda: is_over_24h(shift)),
        ("overlaps", lambda: record_that_covers(world, who, shift) is not None),
        ("awaiting", lambda: is_awaiting(world, shift, now)),
        ("only_one_punch", lambda: is_only_one_punch(world, shift)),
        ("record_decided", lambda: any(record.is_decided() for record in records)),
        ("record_edited", lambda: any(record.is_edited() for record in records)),
        ("arrived_late", lambda: is_late(who, shift, records)),
        ("date_locked", lambda: is_locked(world, shift, records)),
        ("overlaps", lambda: is_overlapped(world, who, shift, records)),
    )
    return next((word for word, applies in rows if applies()), "imported")


def records_of(shift):
    """A shift finds its record through any of its taps, folds and edited ones included. The earliest first."""
    through = [tap.punch.record if tap.stands else tap.punch.record_behind() for tap in shift.members()]
    found = {record.id: record for record in through if record is not None and not record.deleted}
    return sorted(found.values(), key=lambda record: (record.clock_in, record.id))


# The rows.


def lift_deletion(shift):
    """Retry on any tap that shows it lifts it for all taps of the shift as it is now."""
    if any(tap.punch.asked for tap in shift.members()):
        for tap in shift.members():
            tap.punch.lifted = tap.punch.lifted or tap.punch.lost_a_record


def is_deleted(shift):
    return any(tap.punch.lost_a_record and not tap.punch.lifted for tap in shift.members())


def is_over_24h(shift):
    both = shift.clock_in is not None and shift.clock_out is not None
    return both and shift.clock_out.at - shift.clock_in.at > DAY


def record_that_covers(world, who, shift):
    """Of half a shift, of which no tap belongs to a record: the earliest one made by a person that holds all of it."""
    if (shift.clock_in is not None and shift.clock_out is not None) or records_of(shift):
        return None
    kind = kind_of(shift.first().role)
    holding = [
        record
        for record in world.records.values()
        if (record.is_by_hand, record.employee, record.kind, record.deleted) == (True, who, kind, False)
        and all(record.clock_in <= tap.at <= (record.clock_out or record.clock_in) for tap in shift.members())
    ]
    return min(holding, key=lambda record: (record.clock_in, record.id), default=None)


def is_awaiting(world, shift, now):
    if shift.ended_by_in:
        return False
    if shift.clock_out is None or shift.clock_in is None:
        return now - shift.first().at < DAY
    closed_by_any = shift.clock_out.role == "ANY"
    return closed_by_any and now - shift.last_at() < timedelta(hours=world.settings.shift_gap_hours)


def is_only_one_punch(world, shift):
    if shift.clock_in is None:
        return True
    return shift.clock_out is None and not world.settings.import_single_punches


def is_late(who, shift, records):
    a_deleted_one = any(tap.punch.lost_a_record for tap in shift.members())
    if records and len(records) + a_deleted_one > 1:
        return True
    return any(record.employee != who or reaches_beyond(record, shift) for record in records)


def reaches_beyond(record, shift):
    """Of the hours that the import last wrote. An open record reaches as far as its breaks do. What an edited tap of
    the shift gave went with it."""
    moved = [tap.punch.left_at for tap in shift.members() if tap.punch.left is record]
    hours = [at for at in record.hours() if at not in moved]
    if any(at < shift.clock_in.at for at in hours):
        return True
    if shift.clock_out is None:
        return record.written[1] in hours
    return any(at > shift.clock_out.at for at in hours)


def is_locked(world, shift, records):
    days = {world.workday(shift.first().at), *(record.workday for record in records)}
    return not days.isdisjoint(world.locked)


def is_overlapped(world, who, shift, own):
    start = shift.clock_in.at
    end = None if shift.clock_out is None else shift.clock_out.at
    kind = kind_of(shift.first().role)
    return any(
        share_time(start, end, record.clock_in, record.clock_out)
        for record in world.records.values()
        if record.employee == who and record.kind == kind and not record.deleted and record not in own
    )


def share_time(start, end, other_start, other_end):
    """Half-open; an open one is its clock-in instant alone."""
    if end is None and other_end is None:
        return start == other_start
    if end is None:
        return other_start <= start < other_end
    if other_end is None:
        return start <= other_start < end
    return start < other_end and other_start < end


# What is written.


def write(world, who, shift, records):
    kind = kind_of(shift.first().role)
    clock_out = None if shift.clock_out is None else shift.clock_out.at
    if records:
        record = records[0]
        record.kind = kind
    else:
        number = len(world.records) + 1
        record = world.records[number] = Record(number, who, kind, None, None, None)
    record.write(shift.clock_in.at, clock_out, shift.written_breaks())
    record.workday = world.workday(shift.first().at)
    return record


def settle(tap, who, word, record):
    """Only new taps carry the word of the shift; what stands changes after a re-binding alone."""
    if tap.stands:
        tap.punch.show("imported" if tap.punch.record.employee == who else "arrived_late")
    else:
        tap.punch.show(word)
        tap.punch.join(record, tap.role)
    tap.punch.asked = False


def settle_fold(tap, who):
    """The record it already has, else that of the tap it repeats; but none of another employee's."""
    theirs = tap.repeats.punch.record
    if not tap.stands:
        tap.punch.join(theirs if theirs is not None and theirs.employee == who else None, tap.role)
    tap.punch.show(tap.fold_word)
    tap.punch.repeats = tap.punch.repeats if tap.is_kept else tap.repeats.punch
    tap.punch.asked = False
