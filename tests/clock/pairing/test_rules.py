"""One row for each line of the pairing rules and each limit at its exact boundary (docs/rules.md, "Pairing",
"Outcome of a shift")."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from tests.clock.mirror_store import RULES, Store, when

# Taps, the records that stand afterwards, and the words of those that are not imported.
ROWS = {
    "a repeat tap at exactly ten seconds folds": (
        "I 08:00:00, I 08:00:10, O 17:00",
        ["Mon 08:00-17:00"],
        {"I 08:00:10": "repeat_tap"},
    ),
    "after eleven seconds it is a double tap": (
        "I 08:00:00, I 08:00:11, O 17:00",
        ["Mon 08:00-17:00"],
        {"I 08:00:11": "double_tap"},
    ),
    "a double tap at exactly five minutes folds": (
        "I 08:00, I 08:05, O 17:00",
        ["Mon 08:00-17:00"],
        {"I 08:05": "double_tap"},
    ),
    "a second later it stands": ("I 08:00, I 08:05:01, O 17:00", ["Mon 08:05:01-17:00"], {"I 08:00": "only_one_punch"}),
    "a chain of clock-outs folds up to five minutes and then begins again": (
        "I 08:00, O 17:00, O 17:04, O 17:08, O 17:12",
        ["Mon 08:00-17:00"],
        {"O 17:04": "double_tap", "O 17:08": "only_one_punch", "O 17:12": "double_tap"},
    ),
    "overtime folds repeat taps but no double taps": (
        "oi 18:00:00, oi 18:00:05, oo 20:00, oo 20:03",
        ["Mon 18:00-20:00 overtime"],
        {"oi 18:00:05": "repeat_tap", "oo 20:03": "only_one_punch"},
    ),
    "breaks fold too": (
        "I 08:00, bo 12:00, bo 12:02, bi 13:00, bi 13:00:04, O 17:00",
        ["Mon 08:00-17:00 [12:00-13:00]"],
        {"bo 12:02": "double_tap", "bi 13:00:04": "repeat_tap"},
    ),
    "a tap of another role with an effect ends a run": (
        "I 08:00, bo 12:00, bi 12:01, bo 12:02, bi 12:30, O 17:00",
        ["Mon 08:00-17:00 [12:00-12:01] [12:02-12:30]"],
        {},
    ),
    "an orphan break ends no run": (
        "I 08:00, O 17:00, bo 17:01, O 17:02",
        ["Mon 08:00-17:00"],
        {"bo 17:01": "only_one_punch", "O 17:02": "double_tap"},
    ),
    "an OUT exactly ten seconds after the opener is a slip": (
        "I 08:00:00, O 08:00:10, O 17:00",
        ["Mon 08:00-17:00"],
        {},
    ),
    "an OUT eleven seconds after it closes": ("I 08:00:00, O 08:00:11", ["Mon 08:00-08:00:11"], {}),
    "an IN exactly ten seconds before an OUT is a slip": (
        "I 08:00, I 17:00:00, O 17:00:10",
        ["Mon 08:00-17:00:10"],
        {},
    ),
    "an IN eleven seconds before one opens": (
        "I 08:00, I 17:00:00, O 17:00:11",
        ["Mon 17:00-17:00:11"],
        {"I 08:00": "only_one_punch"},
    ),
    "a slip IN needs a shift opened at most fourteen hours ago": (
        "I 08:00, I 22:00:00, O 22:00:05",
        ["Mon 08:00-22:00:05"],
        {},
    ),
    "a second more and it opens": (
        "I 08:00, I 22:00:01, O 22:00:05, O Tue 06:00",
        ["Mon 22:00:01-06:00"],
        {"I 08:00": "only_one_punch"},
    ),
    "an IN before an OUT with no shift open is no slip": ("I 17:00:00, O 17:00:11", ["Mon 17:00-17:00:11"], {}),
    "slips are slips in the overtime lane too": (
        "oi 18:00:00, oo 18:00:03, oi 19:59:58, oo 20:00",
        ["Mon 18:00-20:00 overtime"],
        {},
    ),
    "equal instants sort OUT before IN": (
        "I 08:00, I 12:00, O 12:00, O 17:00",
        ["Mon 08:00-12:00", "Mon 12:00-17:00"],
        {},
    ),
    "equal instants sort BREAK_OUT before BREAK_IN, and a break of no length is none": (
        "I 08:00, bi 12:00, bo 12:00, O 17:00",
        ["Mon 08:00-17:00"],
        {},
    ),
    "a second BREAK_OUT is inside": (
        "I 08:00, bo 12:00, bo 12:10, bi 13:00, O 17:00",
        ["Mon 08:00-17:00 [12:00-13:00]"],
        {},
    ),
    "a BREAK_IN without a break is inside": ("I 08:00, bi 12:00, O 17:00", ["Mon 08:00-17:00"], {}),
    "a break still open at the close is dropped": ("I 08:00, bo 12:00, O 17:00", ["Mon 08:00-17:00"], {}),
    "from 48 h on a shift is closed to every tap": (
        "I Mon 08:00, O Wed 08:00",
        [],
        {"I Mon 08:00": "only_one_punch", "O Wed 08:00": "only_one_punch"},
    ),
    "a second before it still takes one": (
        "I Mon 08:00, O Wed 07:59:59",
        [],
        {"I Mon 08:00": "over_24h", "O Wed 07:59:59": "over_24h"},
    ),
    "an ANY at exactly 30 min closes": ("a 08:00, a 08:30", ["Mon 08:00-08:30"], {}),
    "an ANY a second earlier is inside": (
        "a 08:00, a 08:29:59",
        [],
        dict.fromkeys(["a 08:00", "a 08:29:59"], "only_one_punch"),
    ),
    "an ANY soon after an IN is inside": ("I 08:00, a 08:29:59, O 17:00", ["Mon 08:00-17:00"], {}),
    "an ANY soon after the closing OUT is inside": ("I 08:00, O 17:00, a 17:29:59", ["Mon 08:00-17:00"], {}),
    "an ANY 30 min after it opens": ("I 08:00, O 17:00, a 17:30", ["Mon 08:00-17:00"], {"a 17:30": "only_one_punch"}),
    "an IN soon after an ANY opener joins it": ("a 08:00, I 08:29:59, O 17:00", ["Mon 08:00-17:00"], {}),
    "an IN 30 min after it opens again": (
        "a 08:00, I 08:30, O 17:00",
        ["Mon 08:30-17:00"],
        {"a 08:00": "only_one_punch"},
    ),
    "an ANY at exactly 14 h closes": ("a 08:00, a 22:00", ["Mon 08:00-22:00"], {}),
    "an ANY a second later opens": (
        "a 08:00, a 22:00:01",
        [],
        dict.fromkeys(["a 08:00", "a 22:00:01"], "only_one_punch"),
    ),
    "with a possible clock-out the shift may last longer than 14 h": (
        "a 08:00, a 16:00, a 23:00",
        ["Mon 08:00-23:00"],
        {},
    ),
    "an ANY eight hours after the last tap opens": (
        "a 08:00, a 12:00, a 20:00",
        ["Mon 08:00-12:00"],
        {"a 20:00": "only_one_punch"},
    ),
    "a second earlier it extends": ("a 08:00, a 12:00, a 19:59:59", ["Mon 08:00-19:59:59"], {}),
    "folds count as last taps": ("a 08:00, a 12:00, a 12:03, a 20:02", ["Mon 08:00-20:02"], {"a 12:03": "double_tap"}),
    "eight hours after it an OUT is an orphan": (
        "I 08:00, a 12:00, O 20:00",
        ["Mon 08:00-12:00"],
        {"O 20:00": "only_one_punch"},
    ),
    "an ANY that would make it longer than 24 h opens": (
        "a Mon 08:00, a Mon 15:00, a Mon 22:00, a Tue 05:00, a Tue 08:00:01",
        ["Mon 08:00-05:00"],
        {"a Tue 08:00:01": "only_one_punch"},
    ),
    "an ANY that makes it exactly 24 h long extends": (
        "a Mon 08:00, a Mon 15:00, a Mon 22:00, a Tue 05:00, a Tue 08:00",
        ["Mon 08:00-08:00"],
        {},
    ),
    "an IN closes the shift where an ANY can": (
        "I 08:00, a 12:00, I 13:00, O 17:00",
        ["Mon 08:00-12:00", "Mon 13:00-17:00"],
        {},
    ),
    "an OUT after an ANY closes at the OUT": ("I 08:00, a 16:00, O 17:00", ["Mon 08:00-17:00"], {}),
    "a break tap makes the ANY before it an inner one": (
        "I 08:00, a 12:00, bi 13:00, I 18:00, O 20:00",
        ["Mon 18:00-20:00"],
        dict.fromkeys(["I 08:00", "a 12:00", "bi 13:00"], "only_one_punch"),
    ),
    "a break continues over an undirected tap": (
        "I 08:00, bo 12:00, a 12:30, bi 13:00, O 17:00",
        ["Mon 08:00-17:00 [12:00-13:00]"],
        {},
    ),
    "an orphan OUT makes the undirected tap soon after it no clock-in": (
        "O 17:00, a 17:10, a Tue 06:00",
        [],
        dict.fromkeys(["O 17:00", "a 17:10", "a Tue 06:00"], "only_one_punch"),
    ),
    "an ANY that opens again ends the runs of the other roles": (
        "I 08:00, bi 22:01, a 22:03, bi 22:05, O 23:00",
        ["Mon 22:03-23:00"],
        dict.fromkeys(["I 08:00", "bi 22:01"], "only_one_punch"),
    ),
    "so does one that opens where no shift is open": (
        "bo 07:58, a 08:00, bo 08:01, bi 08:30, O 17:00",
        ["Mon 08:00-17:00 [08:01-08:30]"],
        {"bo 07:58": "only_one_punch"},
    ),
    "and a possible clock-out": ("I 08:00, bi 11:59, a 12:00, bi 12:01, O 17:00", ["Mon 08:00-17:00"], {}),
    "the lanes do not touch each other": (
        "I 08:00, oi 09:00, O 17:00, oo 18:00",
        ["Mon 08:00-17:00", "Mon 09:00-18:00 overtime"],
        {},
    ),
}


@pytest.mark.parametrize("line", ROWS)
def test_the_line_holds(line):
    taps, records, others = ROWS[line]
    store = Store(taps)
    store.judge()
    assert store.shown() == records
    assert store.outcomes() == dict.fromkeys(store.texts, "imported") | others


def test_a_clock_out_at_the_instant_of_the_clock_in_is_none():
    rules = replace(RULES, undirected_min_minutes=0, repeat_tap_seconds=0, double_tap_fix=False)
    store = Store("a 08:00, I 08:00, a 17:00", rules=rules)
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


@pytest.mark.parametrize(("later", "word"), [("", "only_one_punch"), (", O 17:00", "imported")])
def test_equal_taps_sort_by_remote_id_digits_first_and_as_numbers(later, word):
    store = Store(", ".join(["I 08:00"] * 6) + later)
    for number, remote in {1: "b", 2: "10", 3: "9", 4: "²", 5: "aa", 6: "09"}.items():
        store.punches[number] = replace(store.punches[number], remote_id=remote)
    judgement = store.judge()
    assert [verdict.punch_id for verdict in judgement.verdicts if verdict.punch_id <= 6] == [6, 3, 2, 5, 1, 4]
    assert [store.punches[n].outcome for n in (6, 3, 2, 5, 1, 4)] == [word, *["repeat_tap"] * 5]


def test_shifts_are_judged_by_clock_in_and_regular_before_overtime():
    judgement = Store("oi 08:00, oo 09:00, I 08:00, O 12:00, I 13:00, O 17:00").judge()
    assert [(one.kind, one.clock_in) for one in judgement.creates] == [
        ("regular", when("08:00")),
        ("overtime", when("08:00")),
        ("regular", when("13:00")),
    ]


@pytest.mark.parametrize(("direction", "roles"), [("in", "in"), ("out", "out"), ("undirected", "any")])
def test_a_terminals_direction_gives_the_role_whatever_the_code(direction, roles):
    store = Store(rules=replace(RULES, import_single_punches=True)).add("x 08:00, bo 12:00", direction=direction)
    judgement = store.judge()
    assert {tap.role for verdict in judgement.verdicts for tap in verdict.because.shift.taps} == {roles}
    assert {punch.code for punch in store.punches.values()} == {255, 2}


def test_the_workday_is_the_local_date_of_the_first_tap():
    store = Store("I Mon 23:30, O Tue 07:00", rules=replace(RULES, zone=ZoneInfo("Asia/Tokyo")))
    store.judge()
    assert store.records[1].workday.isoformat() == "2026-03-03"


@pytest.mark.parametrize(("taps", "word"), [("I 08:00", "I 08:00"), ("a 08:00", "a 08:00")])
def test_a_single_clock_in_becomes_an_open_record_when_the_setting_is_on(taps, word):
    store = Store(taps, rules=replace(RULES, import_single_punches=True))
    store.judge("Mon 09:00")
    assert store.outcome(word) == "awaiting"
    store.judge("Tue 08:00")
    assert store.shown() == ["Mon 08:00-"]
    assert store.outcome(word) == "imported"


def test_a_clock_out_that_comes_later_completes_the_open_record():
    store = Store("I 08:00", rules=replace(RULES, import_single_punches=True))
    store.judge("Tue 09:00")
    store.add("O 17:00").judge("Tue 10:00")
    assert store.shown() == ["Mon 08:00-17:00"]
    assert {punch.record_id for punch in store.punches.values()} == {1}


def test_a_lone_clock_out_is_never_imported():
    store = Store("O 17:00", rules=replace(RULES, import_single_punches=True))
    store.judge()
    assert store.outcome("O 17:00") == "only_one_punch"


@pytest.mark.parametrize(
    ("manual", "status", "kind", "outcome"),
    [
        (("07:00", "08:00"), "pending", "regular", "imported"),
        (("17:00", "18:00"), "pending", "regular", "imported"),
        (("16:59:59", "18:00"), "pending", "regular", "overlaps"),
        (("07:00", "08:00:01"), "rejected", "regular", "overlaps"),
        (("09:00", "10:00"), "approved", "overtime", "imported"),
        (("08:00", None), "pending", "regular", "overlaps"),
        (("16:59:59", None), "pending", "regular", "overlaps"),
        (("17:00", None), "pending", "regular", "imported"),
        (("07:59:59", None), "pending", "regular", "imported"),
    ],
)
def test_another_record_of_the_same_kind_stands_in_the_way(manual, status, kind, outcome):
    store = Store("I 08:00, O 17:00").add_manual("03:00", "05:00").add_manual(*manual, kind=kind, status=status)
    store.judge()
    assert set(store.outcomes().values()) == {outcome}


@pytest.mark.parametrize(
    ("taps", "manual", "status", "kind", "outcome"),
    [
        ("I 10:00", ("08:00", "17:00"), "pending", "regular", "overlaps"),
        ("O 10:00", ("08:00", "17:00"), "pending", "regular", "overlaps"),
        ("bo 10:00", ("08:00", "17:00"), "pending", "regular", "overlaps"),
        ("a 10:00", ("08:00", "17:00"), "pending", "regular", "overlaps"),
        ("I 10:00", ("08:00", "17:00"), "approved", "regular", "overlaps"),
        ("I 10:00", ("08:00", "17:00"), "rejected", "regular", "overlaps"),
        ("I 10:00", ("10:00", "17:00"), "pending", "regular", "overlaps"),
        ("I 10:00", ("08:00", "10:00"), "pending", "regular", "overlaps"),
        ("I 10:00", ("10:00:01", "17:00"), "pending", "regular", "awaiting"),
        ("I 10:00", ("08:00", "09:59:59"), "pending", "regular", "awaiting"),
        ("I 10:00", ("10:00", None), "pending", "regular", "overlaps"),
        ("I 10:00", ("09:59:59", None), "pending", "regular", "awaiting"),
        ("I 10:00", ("08:00", "17:00"), "pending", "overtime", "awaiting"),
        ("oi 10:00", ("08:00", "17:00"), "pending", "overtime", "overlaps"),
        ("I 10:00, bo 11:00", ("08:00", "10:30"), "pending", "regular", "awaiting"),
        ("I 10:00, bo 11:00", ("08:00", "11:00"), "pending", "regular", "overlaps"),
    ],
)
def test_half_a_shift_inside_a_record_made_by_hand_says_so_at_once(taps, manual, status, kind, outcome):
    store = Store(taps).add_manual(*manual, kind=kind, status=status)
    store.judge("12:00")
    assert set(store.outcomes().values()) == {outcome}
    assert (set(store.judge_at.values()) == {None}) == (outcome == "overlaps")


def test_a_fold_outside_the_record_leaves_its_shift_waiting():
    store = Store("I 10:00, I 10:03").add_manual("08:00", "10:02")
    store.judge("12:00")
    assert store.outcomes() == {"I 10:00": "awaiting", "I 10:03": "double_tap"}


def test_two_records_together_hold_no_shift():
    store = Store("I 10:00, bo 14:00").add_manual("08:00", "12:00").add_manual("12:00", "17:00")
    store.judge("15:00")
    assert set(store.outcomes().values()) == {"awaiting"}


def test_a_record_of_another_employee_or_of_the_import_settles_nothing():
    store = Store("I 10:00").add_manual("08:00", "17:00")
    store.edit_record(1, employee_id=2)
    store.judge("12:00")
    assert store.outcome("I 10:00") == "awaiting"
    store.edit_record(1, employee_id=1, source="clock")
    store.judge("12:00")
    assert store.outcome("I 10:00") == "awaiting"


def test_a_shift_with_a_record_of_its_own_waits_inside_another_one():
    store = Store("I 08:00, O 09:00").add_manual("10:00", "17:00")
    store.judge()
    store.edit_tap("I 08:00", "I 11:00")
    store.judge("12:00")
    assert store.outcome("I 11:00") == "awaiting"


def test_the_clock_out_that_comes_later_makes_it_a_whole_shift_again():
    store = Store("I 10:00").add_manual("08:00", "17:00")
    store.judge("12:00")
    store.add("O 18:00")
    judgement = store.judge("19:00")
    assert set(store.outcomes().values()) == {"overlaps"}
    assert {verdict.because.rule for verdict in judgement.verdicts} == {"overlaps"}


def test_a_deleted_record_stands_in_nobodys_way():
    store = Store("I 08:00, O 17:00").add_manual("09:00", "10:00")
    store.delete(1)
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


def test_the_day_written_and_the_day_the_record_had_must_both_be_open():
    store = Store("I Tue 00:02, O Tue 08:00")
    store.judge()
    store.add("I Mon 23:58")
    for locked in ("2026-03-02", "2026-03-03"):
        store.locked = {when(f"{locked} 00:00").date()}
        store.judge()
        assert store.outcome("I Mon 23:58") == "date_locked"
        assert store.shown() == ["Tue 00:02-08:00"]
    store.locked = set()
    store.judge()
    assert store.shown() == ["Mon 23:58-08:00"]


def test_shifts_of_one_instant_are_judged_by_remote_id_whatever_other_records_there_are():
    rules = replace(RULES, undirected_min_minutes=0, import_single_punches=True)
    store = Store("I 08:00, a 08:00, O 17:00", rules=rules).add_manual("06:00", "07:00").add_manual("20:00", "21:00")
    store.judge()
    assert store.outcomes() == {"I 08:00": "imported", "a 08:00": "overlaps", "O 17:00": "imported"}
    assert store.shown() == ["Mon 06:00-07:00", "Mon 08:00-17:00", "Mon 20:00-21:00"]
