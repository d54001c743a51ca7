"""The outcome of one shift, line by line of its table, and what it writes. Pure."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import PairingEmployee, Record, Written, left_behind, remembers_deletion
from app.clock.pairing.overlaps import CoveredHours, holder
from app.clock.pairing.shifts import ANY, DAY, NO_PAST, Shift, ShiftEnd, ShiftPast, Tap
from app.clock.pairing.verdicts import CreateRecord, Judgement, Reason, Rule, UpdateRecord, Verdict

# What each rule of a shift makes of its punches.
_OUTCOMES = {
    Rule.STANDS: Outcome.IMPORTED,
    Rule.ATTENDANCE_DELETED: Outcome.ATTENDANCE_DELETED,
    Rule.OVER_24H: Outcome.OVER_24H,
    Rule.COVERED: Outcome.OVERLAPS,
    Rule.AWAITING_CLOSE: Outcome.AWAITING,
    Rule.AWAITING_GAP: Outcome.AWAITING,
    Rule.ONLY_ONE_PUNCH: Outcome.ONLY_ONE_PUNCH,
    Rule.RECORD_DECIDED: Outcome.RECORD_DECIDED,
    Rule.RECORD_EDITED: Outcome.RECORD_EDITED,
    Rule.LATE_TWO_RECORDS: Outcome.ARRIVED_LATE,
    Rule.LATE_OTHER_EMPLOYEE: Outcome.ARRIVED_LATE,
    Rule.LATE_BEYOND: Outcome.ARRIVED_LATE,
    Rule.DATE_LOCKED: Outcome.DATE_LOCKED,
    Rule.OVERLAPS: Outcome.OVERLAPS,
    Rule.IMPORTED: Outcome.IMPORTED,
}


class ShiftJudge:
    """Judges shifts in turn; what one writes is there for the next. `remembered` is false when no punch has a past."""

    def __init__(
        self, judgement: Judgement, known: dict[int, Record], locked_days: Container[date], *, remembered: bool
    ) -> None:
        assert isinstance(judgement.who, PairingEmployee)  # noqa: S101 -- only an employee's punches pair
        self.employee = judgement.who
        self.judgement = judgement
        self.rules = judgement.rules
        self.now = judgement.now
        self.known = known
        self.locked_days = locked_days
        self.remembered = remembered
        self.hours = {RecordKind.REGULAR: CoveredHours(), RecordKind.OVERTIME: CoveredHours()}
        self.by_hand: dict[RecordKind, list[Record]] = {RecordKind.REGULAR: [], RecordKind.OVERTIME: []}
        for record in sorted(known.values(), key=lambda record: (record.clock_in, record.id)):
            if record.employee_id == self.employee.id and not record.deleted:
                kind = RecordKind(record.kind)
                self.hours[kind].cover(record.id, record.clock_in, record.clock_out)
                if record.source == "manual":
                    self.by_hand[kind].append(record)

    def judge(self, shifts: Sequence[Shift]) -> None:
        """In this order. A shift waits while the record that one of its edited taps left is as it was: a later shift
        may bring that record up to date. What waits is judged again until nothing more is written."""
        waiting, written = shifts, -1
        while waiting and written != self._written():
            written = self._written()
            waiting = [shift for shift in waiting if not self._judge(shift, may_wait=True)]
        for shift in waiting:
            self._judge(shift, may_wait=False)

    def _written(self) -> int:
        return len(self.judgement.creates) + len(self.judgement.updates)

    def _judge(self, shift: Shift, *, may_wait: bool) -> bool:
        """False where the shift waits."""
        past = ShiftPast(shift, self.known) if self.remembered else NO_PAST
        if past.all_held or past.says_so_already(shift, self.employee):
            record = None if past.all_held else past.standing[0].id
            self._give(shift, past, Reason(Rule.STANDS, shift, tuple(past.standing)), record)
            return True
        reason, members = self._decide(shift, past), (*shift.taps, *shift.folds)
        if may_wait and reason.rule is not Rule.IMPORTED and _leave_a_stale_record(members, self.known):
            return False
        self._give(shift, past, reason, self._write(shift, past) if reason.rule is Rule.IMPORTED else None)
        return True

    # The decision, in the order of the page.

    def _decide(self, shift: Shift, past: "ShiftPast") -> Reason:
        if past.deleted and not past.standing and not past.lifted:
            return Reason(Rule.ATTENDANCE_DELETED, shift)
        clock_in, clock_out = shift.clock_in, shift.clock_out
        if clock_in is not None and clock_out is not None and clock_out.at - clock_in.at > DAY:
            return Reason(Rule.OVER_24H, shift)
        half = self._covered(shift, past) or self._waiting(shift)
        if half is not None:
            return half
        if clock_in is None or (clock_out is None and not self.rules.import_single_punches):
            return Reason(Rule.ONLY_ONE_PUNCH, shift)
        if past.standing:
            blocked = self._blocked_by_record(shift, past)
            if blocked is not None:
                return blocked
        return self._blocked_by_day(shift, past) or Reason(Rule.IMPORTED, shift, tuple(past.standing))

    def _covered(self, shift: Shift, past: "ShiftPast") -> Reason | None:
        """A person wrote these hours already, so the missing clock-in or clock-out needs no decision."""
        if past.standing or (shift.clock_in is not None and shift.clock_out is not None):
            return None
        record = holder(self.by_hand[shift.kind], [tap.at for tap in (*shift.taps, *shift.folds)])
        return None if record is None else Reason(Rule.COVERED, shift, (record,))

    def _waiting(self, shift: Shift) -> Reason | None:
        if shift.end is ShiftEnd.LATER_IN:
            return None
        if shift.clock_in is None or shift.clock_out is None:
            until, rule = shift.first.at + DAY, Rule.AWAITING_CLOSE
        elif shift.clock_out.rank == ANY:
            until, rule = shift.last_at + self.rules.shift_gap, Rule.AWAITING_GAP
        else:
            return None
        return Reason(rule, shift, until=until) if self.now < until else None

    def _blocked_by_record(self, shift: Shift, past: "ShiftPast") -> Reason | None:
        standing = past.standing
        if reason := kept_by_person(shift, standing):
            return reason
        # "two existing records (one may be deleted)": a tap that remembers a deleted record counts as the second one.
        if len(standing) > 1 or past.deleted:
            return Reason(Rule.LATE_TWO_RECORDS, shift, tuple(standing))
        if standing[0].employee_id != self.employee.id:
            return Reason(Rule.LATE_OTHER_EMPLOYEE, shift, tuple(standing))
        if reaches_beyond(standing[0], shift):
            return Reason(Rule.LATE_BEYOND, shift, tuple(standing))
        return None

    def _blocked_by_day(self, shift: Shift, past: "ShiftPast") -> Reason | None:
        workday = self._workday(shift)
        if reason := on_locked_day(shift, past.standing, workday, self.locked_days):
            return reason
        assert shift.clock_in is not None  # noqa: S101 -- only_one_punch came before
        clock_out = None if shift.clock_out is None else shift.clock_out.at
        own = past.standing[0].id if past.standing else None
        other = self.hours[shift.kind].overlapping(shift.clock_in.at, clock_out, besides=own)
        return None if other is None else Reason(Rule.OVERLAPS, shift, (self.known[other],))

    def _workday(self, shift: Shift) -> date:
        return shift.first.at.astimezone(self.rules.zone).date()

    # What an imported shift writes.

    def _write(self, shift: Shift, past: "ShiftPast") -> int:
        assert shift.clock_in is not None  # noqa: S101 -- only_one_punch came before
        before = past.standing[0] if past.standing else None
        key = before.id if before is not None else -1 - len(self.judgement.creates)
        clock_in, clock_out = shift.clock_in.at, None if shift.clock_out is None else shift.clock_out.at
        breaks, workday = shift.written_breaks(), self._workday(shift)
        punch_ids = tuple(tap.punch.id for tap in shift.taps if not tap.held)
        if before is None:
            self.judgement.creates.append(
                CreateRecord(key, self.employee.id, shift.kind, workday, clock_in, clock_out, breaks, punch_ids)
            )
        elif (before.kind, before.workday, before.clock_in, before.clock_out, tuple(sorted(before.breaks))) != (
            shift.kind.value,
            workday,
            clock_in,
            clock_out,
            breaks,
        ):
            self.judgement.updates.append(
                UpdateRecord(key, self.employee.id, shift.kind, workday, clock_in, clock_out, breaks, punch_ids)
            )
        self._remember(key, shift, before, workday)
        return key

    def _remember(self, key: int, shift: Shift, before: Record | None, workday: date) -> None:
        """What was just written stands in the way of the shifts judged after it."""
        assert shift.clock_in is not None  # noqa: S101 -- only_one_punch came before
        clock_in, clock_out = shift.clock_in.at, None if shift.clock_out is None else shift.clock_out.at
        if before is not None:
            self.hours[RecordKind(before.kind)].uncover(key)
        self.hours[shift.kind].cover(key, clock_in, clock_out)
        breaks = shift.written_breaks()
        written = Written(clock_in, clock_out, breaks)
        if before is not None:
            self.known[key] = replace(
                before,
                kind=shift.kind.value,
                workday=workday,
                clock_in=clock_in,
                clock_out=clock_out,
                breaks=breaks,
                written=written,
            )
        else:
            self.known[key] = Record(
                key, self.employee.id, shift.kind, workday, clock_in, clock_out, breaks, written=written
            )

    # The words that the punches of the shift carry.

    def _give(self, shift: Shift, past: "ShiftPast", reason: Reason, record: int | None) -> None:
        verdicts = self.judgement.verdicts
        outcome = _OUTCOMES[reason.rule]
        until = reason.until
        for tap in shift.taps:
            punch = tap.punch
            if tap.held:
                verdicts.append(self._held(tap))
            elif record is not None:
                verdicts.append(Verdict(punch, outcome, record, tap.role.value, reason))
            elif not self.remembered:
                verdicts.append(Verdict(punch, outcome, None, None, reason, until))
            else:
                verdicts.append(self._unwritten(tap, past, Verdict(punch, outcome, None, None, reason, until)))
        if shift.folds:
            self._give_folds(shift, past, reason, record)

    def _held(self, tap: Tap) -> Verdict:
        """Line 0: only a re-binding to another employee changes the word of a tap whose record stands."""
        record = self.known[tap.punch.record_id or 0]
        punch = tap.punch
        if record.employee_id != self.employee.id:
            late = Reason(Rule.LATE_OTHER_EMPLOYEE, tap.shift, (record,))
            return Verdict(punch, Outcome.ARRIVED_LATE, record.id, punch.imported_role, late)
        stands = Reason(Rule.STANDS, tap.shift, (record,))
        return Verdict(punch, Outcome.IMPORTED, record.id, punch.imported_role, stands)

    def _unwritten(self, tap: Tap, past: "ShiftPast", verdict: Verdict) -> Verdict:
        """What a punch without a record still remembers: a deleted record, and that a person asked for it again."""
        punch = tap.punch
        if remembers_deletion(punch, self.known):
            verdict.role, verdict.lifted = punch.imported_role, past.lifted or punch.lifted
        return verdict

    def _give_folds(self, shift: Shift, past: "ShiftPast", reason: Reason, record: int | None) -> None:
        """A fold shows its own word, with the record it has, else that of the tap it repeats. One that was edited on
        the server is a new tap of its shift as long as the record that it left keeps its old hour: it carries the word
        that keeps the record from being brought up to date."""
        folded = Reason(Rule.FOLDED, shift, reason.records, until=reason.until)
        for tap in shift.folds:
            assert tap.word is not None  # noqa: S101 -- a fold has a word
            assert tap.repeats is not None  # noqa: S101 -- and a tap that it repeats
            if record is None and _leave_a_stale_record((tap,), self.known):
                blocked = Verdict(tap.punch, _OUTCOMES[reason.rule], None, None, reason, reason.until)
                self.judgement.verdicts.append(self._unwritten(tap, past, blocked))
                continue
            if tap.held:
                own, role = tap.punch.record_id, tap.punch.imported_role
            else:
                own, role = self._record_repeated(tap.repeats, record), tap.role.value
            verdict = Verdict(tap.punch, tap.word, own, None if own is None else role, folded)
            own_tap = tap.punch.repeats if tap.kept else None
            verdict.repeats = tap.repeats.punch.id if own_tap is None else own_tap
            if own is None:
                verdict.judge_at = reason.until
                if self.remembered:
                    verdict = self._unwritten(tap, past, verdict)
            self.judgement.verdicts.append(verdict)

    def _record_repeated(self, repeated: Tap, record: int | None) -> int | None:
        """The record of an imported tap; one that was re-bound away is not (it shows `arrived_late`)."""
        if not repeated.held:
            return record
        standing = self.known[repeated.punch.record_id or 0]
        return standing.id if standing.employee_id == self.employee.id else None


def _leave_a_stale_record(taps: Iterable[Tap], known: Mapping[int, Record]) -> bool:
    left = (left_behind(tap.punch, known) for tap in taps)
    return any(record is not None and not record.deleted for record in left)


def reaches_beyond(record: Record, shift: Shift) -> bool:
    """True when the hours that the import last wrote reach beyond the shift as it would be now. An open record is its
    clock-in instant alone; a shift without clock-out has no end that such an instant could lie behind. Hours that a tap
    of the shift gave before it was edited on the server went with it."""
    written, clock_in, clock_out = record.written, shift.clock_in, shift.clock_out
    if written is None or clock_in is None:
        return True
    members = (*shift.taps, *shift.folds)
    kept = written.instants - {tap.punch.edited_from for tap in members if tap.punch.edited_record == record.id}
    if clock_out is None:
        return written.clock_out in kept - {None} or any(at < clock_in.at for at in kept if at is not None)
    return any(not clock_in.at <= at <= clock_out.at for at in kept if at is not None)


def kept_by_person(shift: Shift, standing: Iterable[Record]) -> Reason | None:
    """Records that a person decided or edited are never rewritten."""
    decided = tuple(record for record in standing if record.decided)
    if decided:
        return Reason(Rule.RECORD_DECIDED, shift, decided)
    edited = tuple(record for record in standing if record.edited)
    return Reason(Rule.RECORD_EDITED, shift, edited) if edited else None


def on_locked_day(
    shift: Shift, standing: Sequence[Record], workday: date, locked_days: Container[date]
) -> Reason | None:
    """Neither the day of the shift nor that of a record behind it may be locked."""
    for day in (workday, *(record.workday for record in standing)):
        if day in locked_days:
            return Reason(Rule.DATE_LOCKED, shift, tuple(standing), workday=day)
    return None
