"""Why a punch shows what it shows, as sentences for operators. Pure."""

from datetime import datetime, timedelta
from typing import NamedTuple

from app.clock.codes import BINDING_STATES, BindingState, punch_label
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import UNPAIRED, PairingPunch, Record, Rules, Unbound
from app.clock.pairing.shifts import DAY, Shift, ShiftEnd
from app.clock.pairing.verdicts import Judgement, Reason, Rule, Verdict
from app.clock.review.words import EFFECT_LABELS, ROLE_LABELS, LocalWords, length, span
from app.dates import day_words, local_exact

_GONE = "The server no longer has this punch."
_GONE_CHANGE = (
    "Edit the record by hand. Or delete it: Retry of its other punches then makes it again without this one."
    " Keep the record confirms it as it is."
)


class Explanation(NamedTuple):
    """The rule with its numbers, and what would change it."""

    sentence: str
    change: str


def explain(verdict: Verdict, judgement: Judgement, terminal: str = "") -> Explanation:
    """Times in the sentences are local to the connection's zone. `terminal` is what people call the punch's terminal;
    without it, the sentences give the serial number."""
    return Explanation(*_Sentences(verdict.punch, verdict.because, judgement, verdict.judge_at, terminal).say())


# The rules of punches that take no part in pairing.
ALONE = frozenset({Rule.ACCESS_PUNCH, *(Rule(word) for word in UNPAIRED)})


def explain_obstacle(outcome: Outcome, judgement: Judgement, punch: PairingPunch, terminal: str = "") -> str:
    """One of lines 1-5 of the order of decisions, where another of them came first."""
    rule = Rule.ACCESS_PUNCH if outcome is Outcome.ACCESS_TERMINAL and punch.says_access else Rule(outcome.value)
    return _Sentences(punch, Reason(rule), judgement, None, terminal).say()[0]


def explain_refusal(because: Reason, judgement: Judgement, punch: PairingPunch) -> str:
    """Why *Use the punches* was refused."""
    if because.rule is Rule.NOT_LATE:
        return "These punches no longer count as late arrivals. Reload the page."
    return _Sentences(punch, because, judgement, None).say()[0]


class _Sentences:
    """The sentences of one punch: what was decided, and what would change it."""

    def __init__(
        self,
        punch: PairingPunch,
        because: Reason,
        judgement: Judgement,
        until: datetime | None,
        terminal: str = "",
    ) -> None:
        self.punch = punch
        self.called = terminal or punch.terminal_sn
        self.because = because
        self.judgement = judgement
        self.rules: Rules = judgement.rules
        self.until = until or because.until
        self.today = judgement.now.astimezone(self.rules.zone).date()
        self.tell = LocalWords(self.rules.zone, punch.at, self.today)

    def say(self) -> tuple[str, str]:
        if not self.punch.gone:
            return self._said()
        if self.because.rule is Rule.GONE:
            return f"{_GONE} It no longer counts.", "If the server has it again, it is judged at once."
        return f"{_GONE} {self._said()[0]}", _GONE_CHANGE

    def _said(self) -> tuple[str, str]:
        if self.because.shift is None and self.because.rule is not Rule.STANDS:
            return self._alone()
        rule = self.because.rule
        if rule in {Rule.STANDS, Rule.IMPORTED}:
            return self._stands()
        if rule is Rule.FOLDED:
            return self._folded()
        if self.because.records:
            return self._about_records()
        return self._about_shift(self._shift)

    @property
    def _shift(self) -> Shift:
        assert self.because.shift is not None  # noqa: S101 -- the callers know
        return self.because.shift

    def _alone(self) -> tuple[str, str]:
        punch, terminal = self.punch, f"Terminal {self.called}" if self.called else "Its terminal"
        match self.because.rule:
            case Rule.FUTURE_TIMESTAMP:
                return (
                    (
                        f"The punch is stamped {local_exact(punch.at.astimezone(self.rules.zone), self.today)}, more than one day ahead of now"
                        f" ({self.tell.time(self.judgement.now)}): the terminal's clock was wrong."
                    ),
                    f"Time: it is judged again at {self.tell.time(self.until)}. Correct the terminal's clock for later punches.",
                )
            case Rule.ACCESS_TERMINAL | Rule.ACCESS_PUNCH as rule:
                return _about_door(terminal, rule)
            case Rule.EMPLOYEE_INACTIVE:
                return (
                    f"The host employee behind code {punch.emp_code} is deactivated or deleted.",
                    "Activating the employee, or binding the code to another one.",
                )
            case Rule.NO_DIRECTION:
                return (
                    (
                        f"{punch_label(punch.code) or 'No code'} does not say in or out, and the direction of"
                        f" {terminal[0].lower()}{terminal[1:]} is by code."
                    ),
                    "Setting the terminal's direction to in, out or undirected on the Devices page.",
                )
            case Rule.LATE_OTHER_EMPLOYEE:
                return self._about_records()
            case Rule.NOT_BOUND:
                return self._not_bound()
            case rule:
                raise _untold(rule)

    def _not_bound(self) -> tuple[str, str]:
        who = self.judgement.who
        state = BINDING_STATES[BindingState(who.state if isinstance(who, Unbound) else BindingState.UNBOUND)]
        return (
            f"Code {self.punch.emp_code} has no host employee. Its binding: {state.label}. {state.meaning}",
            "Binding the code on Employees & Bindings.",
        )

    def _stands(self) -> tuple[str, str]:
        change = "Deleting the record, or binding the code to another employee."
        numbers = " and ".join(self.tell.record(record) for record in self.because.records)
        shift = self.because.shift
        if shift is None:
            return f"The punch is part of {numbers}.", change
        if self.because.rule is Rule.IMPORTED:
            written = f"it joins {numbers}" if numbers else "a record is made"
            return f"The shift {self.tell.hours(shift)} is complete; {written}.{self._dropped_break(shift)}", change
        tap = next((each for each in shift.taps if each.punch.id == self.punch.id), None)
        effect = "" if tap is None else f" as {ROLE_LABELS[tap.role]} ({EFFECT_LABELS[tap.effect]})"
        return f"The punch is part of {numbers}{effect}.{self._dropped_break(shift)}", change

    def _dropped_break(self, shift: Shift) -> str:
        """A break still open at the close is in no record (docs/rules.md, "Pairing")."""
        if shift.break_open is None:
            return ""
        return f" The break that started at {self.tell.time(shift.break_open.at)} was never ended and is left out."

    def _folded(self) -> tuple[str, str]:
        tap = next(each for each in self._shift.folds if each.punch.id == self.punch.id)
        repeats = tap.repeats
        assert repeats is not None  # noqa: S101 -- a fold repeats a tap
        since = tap.at - repeats.at
        is_repeat = tap.word is Outcome.REPEAT_TAP
        limit = self.rules.repeat if is_repeat else timedelta(minutes=self.rules.double_tap_minutes)
        name = "Repeat tap within" if is_repeat else "Double tap within"
        told = f"{ROLE_LABELS[tap.role]} at {self.tell.time(tap.at)} repeats the one at {self.tell.time(repeats.at)}, {span(since)} before"
        change = f"A tap of another role between the two, or the setting “{name}”. A folded tap that has a record stays folded."
        if since > limit or (not is_repeat and not self.rules.double_tap_fix):
            return f"{told}; it was folded under an earlier setting and keeps its record.", change
        return f"{told}; up to {span(limit)} counts as one tap.", change

    def _about_shift(self, shift: Shift) -> tuple[str, str]:
        match self.because.rule:
            case Rule.ATTENDANCE_DELETED:
                return (
                    "The record of this shift was deleted, and there is no other record. Muster does not make it again by itself.",
                    "Retry makes it again.",
                )
            case Rule.OVER_24H:
                return (
                    f"The shift {self.tell.hours(shift)} is {span(length(shift))} long; the limit is {span(DAY)}.",
                    (
                        "A missing tap between the two that arrives later, or a corrected clock of the terminal. "
                        "Otherwise, add the hours by hand, then mark the punches as settled."
                    ),
                )
            case Rule.AWAITING_CLOSE:
                lacks = "no clock-in before it" if shift.is_orphan else "no clock-out"
                return (
                    f"The shift of {self.tell.time(shift.first.at)} has {lacks} yet; it waits {span(DAY)} from its first tap.",
                    f"The missing tap. Without it, the punch is judged again at {self.tell.time(self.until)}.",
                )
            case Rule.AWAITING_GAP:
                return (
                    (
                        f"The shift {self.tell.hours(shift)} ends at an undirected tap; one within {span(self.rules.shift_gap)} of"
                        f" the last, at {self.tell.time(shift.last_at)}, may still extend it."
                    ),
                    f"Time: it is judged again at {self.tell.time(self.until)}.",
                )
            case Rule.DATE_LOCKED:
                return self._locked()
            case Rule.ONLY_ONE_PUNCH:
                return self._only_one(shift)
            case rule:
                raise _untold(rule)

    def _only_one(self, shift: Shift) -> tuple[str, str]:
        if shift.is_orphan:
            return (
                (
                    f"{ROLE_LABELS[shift.first.role]} at {self.tell.time(shift.first.at)} has no clock-in within {span(2 * DAY)} before"
                    " it that is still open."
                ),
                "A clock-in that arrives later, or a record added by hand.",
            )
        ended = shift.ended_by
        if ended is not None and shift.end in {ShiftEnd.LATER_IN, ShiftEnd.LATER_ANY}:
            why = f"{ROLE_LABELS[ended.role]} at {self.tell.time(ended.at)} began a new shift"
        else:
            why = f"none came within {span(DAY)}"
        return (
            f"The shift that began at {self.tell.time(shift.first.at)} has no clock-out: {why}.",
            "A clock-out that arrives later, a record added by hand, or the setting “Import single punches”.",
        )

    def _locked(self) -> tuple[str, str]:
        workday = day_words(self.because.workday, self.today) if self.because.workday else "This day"
        return (
            f"{workday} is closed for attendance edits.",
            "Unlocking that day; it is judged again at once.",
        )

    def _about_records(self) -> tuple[str, str]:
        records = self.because.records
        first = self.tell.record(records[0])
        match self.because.rule:
            case Rule.DATE_LOCKED:
                return self._locked()
            case Rule.RECORD_DECIDED:
                status = records[0].status.replace("_", "-")
                return f"The punch would join {first}, which is {status}.", "Setting the record back to pending."
            case Rule.RECORD_EDITED:
                return (
                    f"The punch would join {first}; a person set its times{self._wrote(records[0])}.",
                    "Setting the record's times back to what the import wrote, or deleting the record and Retry.",
                )
            case Rule.COVERED:
                return (
                    f"The punch lies inside {first}, which was made by hand. That record is the decision.",
                    "Changing or deleting that record; the punch is judged again at once.",
                )
            case Rule.OVERLAPS:
                return (
                    f"{first[0].upper()}{first[1:]} covers part of {self.tell.hours(self._shift)}.",
                    "Changing or deleting that record.",
                )
            case Rule.LATE_TWO_RECORDS | Rule.LATE_OTHER_EMPLOYEE | Rule.LATE_BEYOND:
                return self._late(), "Use the punches, or Keep the record."
            case rule:
                raise _untold(rule)

    def _late(self) -> str:
        records = self.because.records
        first = self.tell.record(records[0])
        if self.because.rule is Rule.LATE_OTHER_EMPLOYEE:
            return f"The punches of this shift are in {first} of another employee, who had the code before."
        if self.because.rule is Rule.LATE_BEYOND:
            return (
                f"{first[0].upper()}{first[1:]} is longer than the shift would be now, {self.tell.hours(self._shift)}."
            )
        if len(records) == 1:
            return f"The shift {self.tell.hours(self._shift)} would join {first} and one that was deleted."
        return f"The shift {self.tell.hours(self._shift)} would join {' and '.join(self.tell.record(each) for each in records)}."

    def _wrote(self, record: Record) -> str:
        written = record.written
        if written is None:
            return ""
        return f", where the import wrote {self.tell.between(written.clock_in, written.clock_out)}"


def _untold(rule: Rule) -> AssertionError:
    return AssertionError(f"no sentence says what {rule} decided")


def _about_door(terminal: str, rule: Rule) -> tuple[str, str]:
    if rule is Rule.ACCESS_TERMINAL:
        return (
            f"{terminal} is a door reader, not an attendance clock.",
            "Marking the terminal as attendance on the Devices page.",
        )
    return (
        "The time clock marks this punch as not for attendance: it opened a door.",
        f"Marking {terminal[0].lower()}{terminal[1:]} as attendance on the Devices page: then all its punches count.",
    )
