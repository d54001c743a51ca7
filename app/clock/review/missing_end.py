"""The end that a shift lacks, where other punches of its day tell it. Pure."""

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from app.clock.pairing.inputs import PairingPunch, Record, TapRole, kind_of, role_now
from app.clock.pairing.shifts import Shift

_BREAKS = (TapRole.BREAK_OUT, TapRole.BREAK_IN)


def missing_end(
    shift: Shift, punches: Iterable[PairingPunch], records: Iterable[Record], zone: ZoneInfo
) -> datetime | None:
    """The clock-out of a shift without one: the last punch of its day that has no record, and comes before the next
    record. The clock-in of one without it: the first such punch, after the record before. `records` are those of the
    person. None where no punch tells it."""
    day = shift.first.at.astimezone(zone).date()
    members = {tap.punch.id for tap in (*shift.taps, *shift.folds)}
    free = sorted(
        one.at
        for one in punches
        if one.id not in members and _may_be_an_end(one, shift) and one.at.astimezone(zone).date() == day
    )
    ends = [at for one in records if one.kind == shift.kind for at in (one.clock_in, one.clock_out) if at is not None]
    if shift.is_orphan:
        begins = [at for at in ends if at <= shift.first.at]
        return next((at for at in free if at < shift.first.at and all(end < at for end in begins)), None)
    follows = [at for at in ends if at >= shift.last_at]
    return next((at for at in reversed(free) if at > shift.last_at and all(at < end for end in follows)), None)


def _may_be_an_end(punch: PairingPunch, shift: Shift) -> bool:
    role = role_now(punch)
    is_of_kind = role is None or (role not in _BREAKS and kind_of(role) is shift.kind)
    return is_of_kind and not (punch.gone or punch.is_access or punch.record_id is not None)
