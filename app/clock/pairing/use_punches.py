"""What *Use the punches* does to a punch that arrived late. Pure.

It only says what to write.

*Keep the record* needs no rule: it marks the punch as settled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import Case, PairingEmployee, PairingPunch, Record, kind_of
from app.clock.pairing.judge import find_lanes, released
from app.clock.pairing.lanes import pair
from app.clock.pairing.lone_folds import lone_folds
from app.clock.pairing.overlaps import CoveredHours
from app.clock.pairing.shift_rules import kept_by_person, on_locked_day
from app.clock.pairing.shifts import DAY, Shift, Tap, standing_records
from app.clock.pairing.verdicts import Reason, Rule, UpdateRecord, Verdict


@dataclass(frozen=True, slots=True)
class Use:
    """What to write: the record that becomes the shift (and its new owner's), records to delete, and what the taps
    become. `released` punches lose record, role and outcome, and are judged again;
    they may be of another employee now."""

    update: UpdateRecord
    delete: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    released: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UseRefusal:
    because: Reason


def use_punches(case: Case, punch_id: int, linked: Sequence[PairingPunch] = ()) -> Use | UseRefusal:
    """Resolves the shift that this punch is in, as it is now.

    The case is an employee's; `linked`: punches that belong to its records but to other employees now.
    """
    who, rules = case.who, case.rules
    assert isinstance(who, PairingEmployee)  # noqa: S101 -- only an employee's punches pair
    known = {record.id: record for record in case.records}
    shift = _shift_of(punch_id, case, known, linked)
    standing = [] if shift is None else standing_records((*shift.taps, *shift.folds), known)
    if shift is None or not standing:
        return UseRefusal(Reason(Rule.NOT_LATE, shift))
    workday = shift.first.at.astimezone(rules.zone).date()
    refused = _refused(shift, standing, workday, case) or _overlapping(shift, standing, who, known)
    if refused is not None:
        return UseRefusal(refused)
    members = {tap.punch.id for tap in (*shift.taps, *shift.folds)}
    gone = {record.id for record in standing}
    loose = {
        each.id for each in (*case.punches, *linked) if each.record_id in gone or each.edited_record in gone
    } - members
    return Use(
        update=_update(shift, standing[0], who, workday),
        delete=tuple(record.id for record in standing[1:]),
        verdicts=_verdicts(shift, standing[0]),
        released=tuple(sorted(loose)),
    )


def _shift_of(punch_id: int, case: Case, known: Mapping[int, Record], linked: Sequence[PairingPunch]) -> Shift | None:
    """Paired once more whenever a fold is let go, as `judge` does."""
    for lane in find_lanes(case, known, lone_folds(case.punches, linked, case.rules)):
        mine = next((tap for tap in lane if tap.punch.id == punch_id), None)
        if mine is None:
            continue
        pair(lane, kind_of(mine.role), case.rules)
        let_go = {tap.punch.id for tap in lane if tap.let_go}
        if not let_go:
            return mine.shift
        again = [released(punch) if punch.id in let_go else punch for punch in case.punches]
        return _shift_of(punch_id, replace(case, punches=again), known, linked)
    return None


def _refused(shift: Shift, standing: list[Record], workday: date, case: Case) -> Reason | None:
    """The page names decided, edited and locked; a shift that no record could hold is refused as well."""
    clock_in, clock_out = shift.clock_in, shift.clock_out
    if clock_in is None or (
        clock_out is None and not case.rules.import_single_punches and standing[0].clock_out is not None
    ):
        return Reason(Rule.ONLY_ONE_PUNCH, shift)
    if clock_out is not None and clock_out.at - clock_in.at > DAY:
        return Reason(Rule.OVER_24H, shift)
    return kept_by_person(shift, standing) or on_locked_day(shift, standing, workday, case.locked_days)


def _overlapping(shift: Shift, standing: list[Record], who: PairingEmployee, known: dict[int, Record]) -> Reason | None:
    own = {record.id for record in standing}
    hours = CoveredHours()
    for record in known.values():
        others = record.employee_id == who.id and record.kind == shift.kind and not record.deleted
        if others and record.id not in own:
            hours.cover(record.id, record.clock_in, record.clock_out)
    clock_out = None if shift.clock_out is None else shift.clock_out.at
    other = hours.overlapping(shift.first.at, clock_out, besides=None)
    return None if other is None else Reason(Rule.OVERLAPS, shift, (known[other],))


def _update(shift: Shift, earliest: Record, who: PairingEmployee, workday: date) -> UpdateRecord:
    return UpdateRecord(
        earliest.id,
        who.id,
        shift.kind,
        workday,
        shift.first.at,
        None if shift.clock_out is None else shift.clock_out.at,
        shift.written_breaks(),
        tuple(tap.punch.id for tap in shift.taps),
    )


def _verdicts(shift: Shift, earliest: Record) -> tuple[Verdict, ...]:
    because = Reason(Rule.IMPORTED, shift, (earliest,))
    return tuple(_verdict(tap, earliest, because) for tap in (*shift.taps, *shift.folds))


def _verdict(tap: Tap, earliest: Record, because: Reason) -> Verdict:
    repeats = None if tap.repeats is None else tap.repeats.punch.id
    return Verdict(tap.punch, tap.word or Outcome.IMPORTED, earliest.id, tap.role.value, because, repeats=repeats)
