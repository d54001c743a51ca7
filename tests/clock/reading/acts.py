"""What people and the server do between two passes, as far as it touches punches at once."""

from tests.clock.reading.one_punch import shifts_of
from tests.clock.reading.outcome import (
    is_locked,
    is_only_one_punch,
    is_over_24h,
    is_overlapped,
    records_of,
    settle_fold,
    write,
)
from tests.clock.reading.world import FOLDS, LINES_1_TO_5


def bind(world, code, who):
    """What has no record comes to its new employee like a punch that arrives."""
    world.bindings[code] = who
    for punch in world.punches.values():
        waits = punch.emp_code == code and not world.stands(punch) and punch.word not in LINES_1_TO_5
        waits = waits and not punch.gone
        if waits and who is not None:
            punch.show(None)


def delete(world, record):
    """Deleting a record turns its taps at once."""
    record.deleted = True
    for punch in world.punches.values():
        if punch.record is record:
            punch.join(None, None)
            punch.lost_a_record, punch.lifted = True, False
            punch.show(punch.word if punch.word in FOLDS else "attendance_deleted")
        elif punch.record_behind() is record:
            punch.lost_a_record, punch.lifted = True, False


def retry(world, punch):
    """It matters on a tap that shows `attendance_deleted`, or would but for lines 1 to 5."""
    hides_it = punch.lost_a_record and punch.word in LINES_1_TO_5
    punch.asked = not world.stands(punch) and (punch.word == "attendance_deleted" or hides_it)


def use_the_punches(world, punch, now):
    """The earliest record becomes what the shift now is; nothing where it is refused."""
    who = world.employee_of(punch)
    shift = next((one for one in shifts_of(world, who, now) if punch in [tap.punch for tap in one.members()]), None)
    records = [] if shift is None else records_of(shift)
    if records and not is_refused(world, who, shift, records):
        carry_out(world, who, shift, records)
    world.unfolded = []


def is_refused(world, who, shift, records):
    if any(record.is_decided() or record.is_edited() for record in records) or is_locked(world, shift, records):
        return True
    is_open_already = shift.clock_in is not None and records[0].clock_out is None
    if is_over_24h(shift) or (is_only_one_punch(world, shift) and not is_open_already):
        return True
    return is_overlapped(world, who, shift, records)


def carry_out(world, who, shift, records):
    for record in records[1:]:
        record.deleted = True
    members = [tap.punch for tap in shift.members()]
    for punch in world.punches.values():
        if (punch.record in records or punch.left in records) and punch not in members:
            punch.release()
    records[0].employee = who
    write(world, who, shift, records)
    for tap in shift.members():
        tap.punch.join(records[0], tap.role)
        tap.stands, tap.is_kept = True, False
    for tap in shift.taps:
        tap.punch.show("imported")
    for tap in shift.folds:
        settle_fold(tap, who)


# What the server does.


def edit_on_server(world, punch, at, code):
    """It counts as a new tap of its shift, which finds the record that the punch was in."""
    if world.stands(punch):
        punch.left, punch.left_at = punch.record, punch.at
        punch.record = punch.role = None
    punch.at, punch.code = at, code
    punch.gone = False
    punch.show(None)


def change_person_on_server(world, punch, emp_code):
    """A change of binding: what stands keeps its record."""
    is_new = not world.stands(punch)
    punch.emp_code, punch.gone = emp_code, False
    if is_new:
        punch.show(None)


def delete_on_server(punch):
    punch.gone = True


def find_again_on_server(world, punch):
    """Without a record it is judged like a new one."""
    punch.gone = False
    if not world.stands(punch):
        punch.show(None)
