"""The sentence that an operator reads carries the rule's numbers, in local time, and says what would change it."""

import re
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from app.clock.pages.setting_fields import FORM
from app.clock.pairing import judge as pairing
from app.clock.pairing.inputs import Case, PairingEmployee, Unbound
from app.clock.pairing.use_punches import use_punches
from app.clock.pairing.verdicts import Rule
from app.clock.review.sentences import explain, explain_refusal
from app.clock.review.words import span
from tests.clock.mirror_store import FAR, RULES, Store, tap, when


def why(store, text, now=FAR):
    judgement = store.judge(now)
    verdict = next(each for each in judgement.verdicts if each.punch_id == store.texts[text])
    return explain(verdict, judgement)


def imported(taps="I 08:00, O 17:00"):
    store = Store(taps)
    store.judge()
    return store


@pytest.mark.parametrize(
    ("taps", "asked", "now", "sentence", "change"),
    [
        ("I 08:00", "I 08:00", "Mon 12:00", "has no clock-out yet; it waits 24 h", "judged again at Tue 3 Mar, 08:00"),
        ("O 17:00", "O 17:00", "Mon 18:00", "has no clock-in before it yet", "judged again at Tue 3 Mar, 17:00"),
        (
            "a 08:00, a 17:00",
            "a 17:00",
            "Mon 20:00",
            "08:00–17:00 ends at an undirected tap; one within 8 h",
            "Tue 3 Mar, 01:00",
        ),
        (
            "I 08:00, I 08:10",
            "I 08:00",
            FAR,
            "no clock-out: Check In at 08:10 began a new shift",
            "setting “Import single punches”",
        ),
        ("I 08:00", "I 08:00", FAR, "no clock-out: none came within 24 h", "A clock-out that arrives later"),
        ("O 17:00", "O 17:00", FAR, "Check Out at 17:00 has no clock-in within 48 h", "A clock-in that arrives later"),
        (
            "I 08:00, I 08:00:05",
            "I 08:00:05",
            FAR,
            "repeats the one at 08:00, 5 s before; up to 10 s counts",
            "setting “Repeat tap within”",
        ),
        (
            "I 08:00, I 08:04",
            "I 08:04",
            FAR,
            "4 min before; up to 5 min counts as one tap",
            "setting “Double tap within”",
        ),
        (
            "I Mon 08:00, O Tue 17:00",
            "O Tue 17:00",
            FAR,
            "Mon 2 Mar 2026, 08:00 – Tue 3 Mar 2026, 17:00 is 33 h long; the limit is 24 h",
            "missing tap",
        ),
        (
            "I Wed 08:00",
            "I Wed 08:00",
            "Mon 07:00",
            "stamped Wed 4 Mar, 08:00, more than one day ahead of now (Mon 2 Mar, 07:00)",
            "at Tue 3 Mar, 08:00",
        ),
        (
            "x 08:00",
            "x 08:00",
            FAR,
            "Unknown (255) does not say in or out, and the direction of terminal T1 is by code",
            "in, out or",
        ),
        ("I 08:00, O 17:00", "O 17:00", FAR, "The shift 08:00–17:00 is complete; a record is made", "Deleting"),
    ],
)
def test_the_rule_is_told_with_its_numbers(taps, asked, now, sentence, change):
    told = why(Store(taps), asked, now)
    assert sentence in told.sentence
    assert change in told.change
    labels = {field.label for field in FORM.fields.values()}
    assert set(re.findall("setting “(.+)”", told.change)) <= labels  # what the Settings page calls it


def test_what_stands_names_its_record_and_the_part_that_the_tap_plays():
    told = why(imported(), "O 17:00")
    assert told.sentence == "The punch is part of record 1 (08:00–17:00) as Check Out (clock-out)."


def spoiled(act, late="bo 12:00"):
    store = imported()
    act(store)
    return store.add(late)


@pytest.mark.parametrize(
    ("act", "late", "sentence"),
    [
        (lambda s: s.decide(1, "auto_closed"), "bo 12:00", "would join record 1 (08:00–17:00), which is auto-closed."),
        (
            lambda s: s.edit_record(1, clock_out=when("18:00")),
            "bo 12:00",
            "would join record 1 (08:00–18:00); a person set its times, where the import wrote 08:00–17:00.",
        ),
        (lambda s: None, "I 10:00", "Record 1 (08:00–17:00) is longer than the shift would be now, 10:00–17:00."),
        (lambda s: s.locked.add(when("08:00").date()), "bo 12:00", "Mon 2 Mar 2026 is closed for attendance edits."),
        (lambda s: s.delete(1), "bo 12:00", "The record of this shift was deleted"),
    ],
)
def test_a_blocked_punch_names_what_blocks_it(act, late, sentence):
    assert sentence in why(spoiled(act, late), late).sentence


def test_an_overlap_names_the_other_record():
    store = Store("I 10:00, O 12:00").add_manual("09:00", "11:00")
    assert why(store, "I 10:00").sentence == "Record 1 (09:00–11:00) covers part of 10:00–12:00."


def test_a_covered_punch_names_the_record_made_by_hand():
    store = Store("I 10:00").add_manual("09:00", "11:00")
    assert why(store, "I 10:00") == (
        "The punch lies inside record 1 (09:00–11:00), which was made by hand. That record is the decision.",
        "Changing or deleting that record; the punch is judged again at once.",
    )


def test_late_punches_name_both_records_and_what_a_person_may_do():
    store = imported("a 08:00, a 12:00, a 21:00, a 23:00").add("a 16:00")
    told = why(store, "a 16:00")
    assert "would join record 1 (08:00–12:00) and record 2 (21:00–23:00)" in told.sentence
    assert told.change == "Use the punches, or Keep the record."


def test_after_a_rebinding_the_reason_is_the_other_employee():
    store = imported()
    store.who = PairingEmployee(2)
    assert "record 1 (08:00–17:00) of another employee" in why(store, "I 08:00").sentence


def test_an_unbound_code_names_its_binding_state():
    judgement = pairing.judge(Case(Unbound("not_found"), [tap("I 08:00", 1)], [], RULES, FAR))
    told = explain(judgement.verdicts[0], judgement)
    assert told.sentence.startswith("Code 100 has no host employee. Its binding: Not found.")


def test_a_door_reader_and_an_inactive_employee_are_named():
    door = Store().add("I 08:00", is_access=True)
    assert why(door, "I 08:00").sentence == "Terminal T1 is a door reader, not an attendance clock."
    assert (
        "behind code 100 is deactivated or deleted"
        in why(Store("I 08:00", who=PairingEmployee(1, active=False)), "I 08:00").sentence
    )


def test_a_punch_that_the_server_says_opened_a_door_is_named():
    told = why(Store().add("I 08:00", is_access=True, says_access=True), "I 08:00")
    assert told.sentence == "The time clock marks this punch as not for attendance: it opened a door."
    assert "Marking terminal T1 as attendance" in told.change


def test_a_fold_that_a_setting_no_longer_makes_says_so():
    store = imported("I 08:00, I 08:04, O 17:00")
    store.rules = replace(RULES, double_tap_fix=False)
    assert "folded under an earlier setting and keeps its record" in why(store, "I 08:04").sentence


def test_times_are_local():
    zone = ZoneInfo("America/Vancouver")
    store = Store("I 08:00, I 08:04", rules=replace(RULES, zone=zone), zone=zone)
    assert "at 08:04 repeats the one at 08:00" in why(store, "I 08:04").sentence


def test_a_refused_use_of_the_punches_says_why():
    store = imported().add("I 10:00")
    judgement = store.judge()
    store.decide(1)
    found = use_punches(store.case(), 3)
    assert "which is approved" in explain_refusal(found.because, judgement, store.punches[3])


def told(store, text, now=FAR):
    """The rule that decided about a punch, and its sentence."""
    judgement = store.judge(now)
    verdict = next(each for each in judgement.verdicts if each.punch_id == store.texts[text])
    return verdict.because.rule, explain(verdict, judgement).sentence


def refused():
    """What *Use the punches* says of a punch that is not late."""
    store = imported()
    judgement = store.judge()
    because = use_punches(Store("I 08:00").case(), 1).because
    return because.rule, explain_refusal(because, judgement, store.punches[1])


def gone():
    store = Store("I 08:00")
    store.mark("I 08:00", gone=True)
    return store


def rebound():
    store = imported()
    store.who = PairingEmployee(2)
    return store


# A punch that each rule decides about.
DECIDED = {
    Rule.STANDS: lambda: told(imported(), "O 17:00"),
    Rule.GONE: lambda: told(gone(), "I 08:00"),
    Rule.FUTURE_TIMESTAMP: lambda: told(Store("I Wed 08:00"), "I Wed 08:00", "Mon 07:00"),
    Rule.ACCESS_TERMINAL: lambda: told(Store().add("I 08:00", is_access=True), "I 08:00"),
    Rule.ACCESS_PUNCH: lambda: told(Store().add("I 08:00", is_access=True, says_access=True), "I 08:00"),
    Rule.NOT_BOUND: lambda: told(Store("I 08:00", who=Unbound("not_found")), "I 08:00"),
    Rule.EMPLOYEE_INACTIVE: lambda: told(Store("I 08:00", who=PairingEmployee(1, active=False)), "I 08:00"),
    Rule.NO_DIRECTION: lambda: told(Store("x 08:00"), "x 08:00"),
    Rule.FOLDED: lambda: told(Store("I 08:00, I 08:04"), "I 08:04"),
    Rule.ATTENDANCE_DELETED: lambda: told(spoiled(lambda s: s.delete(1)), "bo 12:00"),
    Rule.OVER_24H: lambda: told(Store("I Mon 08:00, O Tue 17:00"), "O Tue 17:00"),
    Rule.COVERED: lambda: told(Store("I 10:00").add_manual("09:00", "11:00"), "I 10:00"),
    Rule.AWAITING_CLOSE: lambda: told(Store("I 08:00"), "I 08:00", "Mon 12:00"),
    Rule.AWAITING_GAP: lambda: told(Store("a 08:00, a 17:00"), "a 17:00", "Mon 20:00"),
    Rule.ONLY_ONE_PUNCH: lambda: told(Store("I 08:00"), "I 08:00"),
    Rule.RECORD_DECIDED: lambda: told(spoiled(lambda s: s.decide(1)), "bo 12:00"),
    Rule.RECORD_EDITED: lambda: told(spoiled(lambda s: s.edit_record(1, clock_out=when("18:00"))), "bo 12:00"),
    Rule.LATE_TWO_RECORDS: lambda: told(imported("a 08:00, a 12:00, a 21:00, a 23:00").add("a 16:00"), "a 16:00"),
    Rule.LATE_OTHER_EMPLOYEE: lambda: told(rebound(), "I 08:00"),
    Rule.LATE_BEYOND: lambda: told(imported().add("I 10:00"), "I 10:00"),
    Rule.DATE_LOCKED: lambda: told(spoiled(lambda s: s.locked.add(when("08:00").date())), "bo 12:00"),
    Rule.OVERLAPS: lambda: told(Store("I 10:00, O 12:00").add_manual("09:00", "11:00"), "I 10:00"),
    Rule.IMPORTED: lambda: told(Store("I 08:00, O 17:00"), "O 17:00"),
    Rule.NOT_LATE: refused,
}


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_has_its_sentence(rule):
    """A new rule needs a punch here that it decides about, and its sentence in review/sentences.py."""
    decided, sentence = DECIDED[rule]()
    assert decided is rule
    assert sentence.endswith(".")


def test_no_two_rules_have_the_same_sentence():
    sentences = [decide()[1] for decide in DECIDED.values()]
    assert len(set(sentences)) == len(sentences)


def test_a_break_without_an_end_is_noted():
    note = "The break that started at 12:00 was never ended and is left out."
    store = Store("I 08:00, bo 12:00, O 17:00")
    assert why(store, "bo 12:00").sentence == f"The shift 08:00–17:00 is complete; a record is made. {note}"
    assert why(store, "bo 12:00").sentence == (
        f"The punch is part of record 1 (08:00–17:00) as Break Out (starts a break). {note}"
    )
    assert "break" not in why(imported("I 08:00, bo 12:00, bi 13:00, O 17:00"), "O 17:00").sentence


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(seconds=5), "5 s"),
        (timedelta(minutes=4, seconds=3), "4 min 3 s"),
        (timedelta(hours=9, minutes=30, seconds=7), "9 h 30 min"),
        (timedelta(0), "0 s"),
    ],
)
def test_a_length_of_time_reads_well(length, text):
    assert span(length) == text
