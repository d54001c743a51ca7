"""What the punches of a shift remember: records that stand, deleted ones, what a person asked for. Pure."""

from collections.abc import Iterable

from app.clock.pairing.inputs import UNPAIRED, PairingEmployee, Record, left_behind, remembers_deletion
from app.clock.pairing.shifts import Shift, Tap


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
