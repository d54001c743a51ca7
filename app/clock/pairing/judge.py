"""The walk over one employee's punches: outcomes and intents for records come out. Pure."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from operator import attrgetter

from app.clock.codes import RecordKind
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import (
    FOLDS,
    OVERTIME_ROLES,
    ROLES,
    UNPAIRED,
    Case,
    PairingEmployee,
    PairingPunch,
    Record,
    Rules,
    TapRole,
    TimeSpan,
    Unbound,
    is_unread,
    remembers_deletion,
    remote_order,
    role_now,
)
from app.clock.pairing.lanes import pair
from app.clock.pairing.lone_folds import lone_folds
from app.clock.pairing.shift_rules import ShiftJudge
from app.clock.pairing.shifts import AHEAD, REACH, Shift, Tap
from app.clock.pairing.verdicts import Judgement, Reason, Rule, Verdict

_AT = attrgetter("at")

# These outcomes have a rule of the same name.
_UNPAIRED = {Outcome(word): Reason(Rule(word)) for word in UNPAIRED}
_ACCESS_PUNCH = Reason(Rule.ACCESS_PUNCH)


def judge(case: Case) -> Judgement:
    """A verdict for each punch `within`, and the records to write. Raises KeyError when the case lacks a record that a
    punch of it belongs to."""
    who, now, within = case.who, case.now, case.within
    judgement = Judgement(who, case.rules, now)
    known = {record.id: record for record in case.records}
    punches, gone = part_gone(case.punches, known)
    judgement.verdicts += [_is_gone(punch) for punch in gone if _asked(punch.at, within)]
    lone = lone_folds(punches, case.elsewhere, case.rules)
    taps: list[Tap] = []
    for punch in punches:
        held = punch.record_id is not None and not known[punch.record_id].deleted
        word = None if held else _unpaired(punch, who, now)
        role = _role(punch, held=held)
        if word is None and role is not None and isinstance(who, PairingEmployee) and who.active:
            taps.append(Tap(punch, role, held=held, lone=punch.id in lone))
        elif _asked(punch.at, within):
            _settle_alone(judgement, punch, word, known, case.unread, lone=punch.id in lone)
    shifts = _shifts(in_time_order(taps), case.rules)
    let_go = {tap.punch.id for tap in taps if tap.let_go}
    if let_go:
        again = [released(punch) if punch.id in let_go else punch for punch in (*punches, *gone)]
        return judge(replace(case, punches=again))
    if taps:
        judging = ShiftJudge(judgement, known, case.locked_days, remembered=_remembers_anything(taps))
        _judge_shifts(judging, shifts, case)
    return judgement


def released(punch: PairingPunch) -> PairingPunch:
    """A fold that an arrival turned into a tap again. Like any new tap it goes through lines 1-5, with the role of now.
    It leaves its record."""
    role = punch.imported_role if punch.record_id is None else None
    return replace(punch, outcome=None, record_id=None, imported_role=role, repeats=None)


def find_lanes(case: Case, known: Mapping[int, Record], lone: Container[int] = ()) -> tuple[list[Tap], list[Tap]]:
    """The taps of both lanes in time order, as `judge` pairs them: regular, overtime. `known`: the case's records by
    id; `lone`: the ids of `lone_folds`."""
    punches, _ = part_gone(case.punches, known)
    taps = []
    for punch in punches:
        held = punch.record_id is not None and not known[punch.record_id].deleted
        role = _role(punch, held=held)
        if role is not None and (held or _unpaired(punch, case.who, case.now) is None):
            taps.append(Tap(punch, role, held=held, lone=punch.id in lone))
    return split_lanes(in_time_order(taps))


def part_gone(
    punches: Iterable[PairingPunch], known: Mapping[int, Record]
) -> tuple[list[PairingPunch], list[PairingPunch]]:
    """Punches that count, and those that do not: the server no longer has them,
    and they belong to no record that counts."""
    there: list[PairingPunch] = []
    gone: list[PairingPunch] = []
    for punch in punches:
        counts = not punch.gone or (punch.record_id is not None and not known[punch.record_id].deleted)
        (there if counts else gone).append(punch)
    return there, gone


def _is_gone(punch: PairingPunch) -> Verdict:
    """It keeps the word that it had, and what it remembers, for the day on which it comes back."""
    word = Outcome(punch.outcome or Outcome.AWAITING)
    because = Reason(Rule.GONE)
    return Verdict(
        punch,
        word,
        None,
        punch.imported_role,
        because,
        retry=punch.retry,
        lifted=punch.lifted,
        repeats=punch.repeats,
    )


def _role(punch: PairingPunch, *, held: bool) -> TapRole | None:
    """A tap whose record exists still pairs in the role it was imported with (line 0)."""
    return ROLES[punch.imported_role] if held and punch.imported_role is not None else role_now(punch)


def obstacles(punch: PairingPunch, who: PairingEmployee | Unbound, now: datetime) -> Iterator[Outcome]:
    """Lines 1-5 of the order of decisions, as far as they stop the punch; none when it is a tap.
    Each is one of UNPAIRED."""
    if punch.at > now and punch.at - now > AHEAD:
        yield Outcome.FUTURE_TIMESTAMP
    if punch.is_access:
        yield Outcome.ACCESS_TERMINAL
    if isinstance(who, Unbound):
        yield Outcome.NOT_BOUND
    elif not who.active:
        yield Outcome.EMPLOYEE_INACTIVE
    if role_now(punch) is None:
        yield Outcome.NO_DIRECTION


def _unpaired(punch: PairingPunch, who: PairingEmployee | Unbound, now: datetime) -> Outcome | None:
    """The first obstacle decides."""
    return next(obstacles(punch, who, now), None)


def _asked(at: datetime, within: TimeSpan | None) -> bool:
    return within is None or within.start <= at < within.end


def _settle_alone(
    judgement: Judgement,
    punch: PairingPunch,
    word: Outcome | None,
    known: Mapping[int, Record],
    unread: Sequence[TimeSpan],
    *,
    lone: bool,
) -> None:
    """A punch that takes no part in pairing: one of lines 1-5, or line 0 where there is no employee to pair for."""
    if unread and is_unread(punch.at, unread, REACH):
        judgement.unjudged.append(punch.id)
        return
    if word is None:
        judgement.verdicts.append(_stands_alone(judgement.who, punch, known, lone=lone))
        return
    remembers = remembers_deletion(punch, known)
    judgement.verdicts.append(
        Verdict(
            punch,
            word,
            None,
            punch.imported_role if remembers else None,
            _ACCESS_PUNCH if word is Outcome.ACCESS_TERMINAL and punch.says_access else _UNPAIRED[word],
            punch.at - AHEAD if word is Outcome.FUTURE_TIMESTAMP else None,
            retry=punch.retry and remembers,
            lifted=punch.lifted and remembers,
        )
    )


def _stands_alone(
    who: PairingEmployee | Unbound, punch: PairingPunch, known: Mapping[int, Record], *, lone: bool
) -> Verdict:
    """Line 0 without pairing: the punch keeps its word, except after a re-binding to another employee."""
    record = known[punch.record_id or 0]
    word = Outcome(punch.outcome or Outcome.IMPORTED)
    if isinstance(who, PairingEmployee) and (lone or punch.outcome not in FOLDS):
        word = Outcome.IMPORTED if record.employee_id == who.id else Outcome.ARRIVED_LATE
    rule = Rule.LATE_OTHER_EMPLOYEE if word is Outcome.ARRIVED_LATE else Rule.STANDS
    repeats = punch.repeats if word in FOLDS else None
    return Verdict(punch, word, record.id, punch.imported_role, Reason(rule, None, (record,)), repeats=repeats)


def in_time_order(taps: list[Tap]) -> list[Tap]:
    """By instant; equal instants by role, then remote id. For one server this order is complete. Other ties are ordered
    by text, so that the order of arrival never decides."""
    taps.sort(key=_AT)
    before = taps[0].at if taps else None
    for tap in taps[1:]:
        if tap.at == before:
            taps.sort(
                key=lambda tap: (tap.at, tap.rank, remote_order(tap.punch.remote_id), tap.punch.emp_code, tap.punch.id)
            )
            break
        before = tap.at
    return taps


def split_lanes(taps: list[Tap]) -> tuple[list[Tap], list[Tap]]:
    """Regular and overtime taps; each pairs in a lane of its own."""
    overtime = [tap for tap in taps if tap.role in OVERTIME_ROLES]
    if not overtime:
        return taps, overtime
    return [tap for tap in taps if tap.role not in OVERTIME_ROLES], overtime


def _judge_shifts(judging: ShiftJudge, shifts: list[Shift], case: Case) -> None:
    due = []
    for shift in shifts:
        if not _asked(shift.first.at, case.within):
            continue
        if case.unread and _waits_for_reading(shift, case.unread):
            judging.judgement.unjudged += [tap.punch.id for tap in (*shift.taps, *shift.folds)]
            continue
        due.append(shift)
    judging.judge(due)


def _shifts(taps: list[Tap], rules: Rules) -> list[Shift]:
    """The shifts of both lanes, in the order of judging."""
    regular, overtime = split_lanes(taps)
    found = pair(regular, RecordKind.REGULAR, rules)
    if overtime:
        found += pair(overtime, RecordKind.OVERTIME, rules)
    _in_order_of_judging(found)
    return found


def _in_order_of_judging(shifts: list[Shift]) -> None:
    """By clock-in, regular before overtime, then remote id.
    Lanes come in time order, so most often nothing is to be done."""
    if any(later.first.at <= shift.first.at for shift, later in pairwise(shifts)):
        shifts.sort(
            key=lambda shift: (
                shift.first.at,
                shift.kind is RecordKind.OVERTIME,
                remote_order(shift.first.punch.remote_id),
            )
        )


def _remembers_anything(taps: Sequence[Tap]) -> bool:
    return any(
        tap.punch.record_id is not None or tap.punch.imported_role is not None or tap.punch.edited_record is not None
        for tap in taps
    )


def _waits_for_reading(shift: Shift, unread: Sequence[TimeSpan]) -> bool:
    """A shift is judged as one: it waits when the 48 h before any of its taps were not read completely."""
    return any(is_unread(tap.at, unread, REACH) for tap in (*shift.taps, *shift.folds))
