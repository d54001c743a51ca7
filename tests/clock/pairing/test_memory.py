"""What stands, what is remembered, and what a person's act changes (docs/rules.md)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.clock.pairing import judge as pairing
from app.clock.pairing.inputs import Case, PairingEmployee, TimeSpan, Unbound
from app.clock.pairing.use_punches import Use, UseRefusal, use_punches
from app.clock.pairing.verdicts import Rule
from tests.clock.mirror_store import FAR, RULES, Store, tap, when

BOB = PairingEmployee(2)


@pytest.mark.parametrize(
    ("who", "more", "outcome"),
    [
        (Unbound("conflict"), {"at": when("Wed 08:00"), "is_access": True}, "future_timestamp"),
        (Unbound("conflict"), {"is_access": True}, "access_terminal"),
        (Unbound("conflict"), {}, "not_bound"),
        (PairingEmployee(1, active=False), {"code": 255}, "employee_inactive"),
        (PairingEmployee(1), {"code": 255}, "no_direction"),
        (PairingEmployee(1), {"code": 255, "direction": "out"}, "awaiting"),
        (PairingEmployee(1), {"code": None}, "no_direction"),
        (PairingEmployee(1), {"code": -1}, "no_direction"),
        (PairingEmployee(1), {"code": 6}, "no_direction"),
    ],
)
def test_the_first_line_that_applies_gives_the_outcome(who, more, outcome):
    punch = replace(tap("I 08:00", 1), **more)
    judgement = pairing.judge(Case(who, [punch], [], RULES, when("Mon 12:00")))
    assert [verdict.outcome for verdict in judgement.verdicts] == [outcome]


def test_a_punch_exactly_one_day_ahead_is_no_future_timestamp():
    store = Store("I Tue 08:00")
    store.judge("Mon 08:00")
    assert store.outcome("I Tue 08:00") == "awaiting"
    assert Store("I Tue 08:00:01").judge("Mon 08:00").verdicts[0].outcome == "future_timestamp"


@pytest.mark.parametrize("who", [Unbound("unbound"), PairingEmployee(1, active=False)])
def test_no_clearing_of_a_binding_and_no_deactivation_takes_back_what_stands(who):
    store = Store("I 08:00, O 17:00, O 17:03")
    store.judge()
    before = dict(store.punches)
    store.who = who
    store.add("I Tue 08:00").judge()
    assert {n: store.punches[n] for n in before} == before
    assert store.outcome("I Tue 08:00") in {"not_bound", "employee_inactive"}


@pytest.mark.parametrize(
    ("who", "words", "rule"),
    [
        (Unbound("unbound"), ["imported", "imported", "double_tap"], Rule.STANDS),
        (PairingEmployee(1, active=False), ["imported", "imported", "double_tap"], Rule.STANDS),
        (PairingEmployee(2, active=False), ["arrived_late", "arrived_late", "double_tap"], Rule.LATE_OTHER_EMPLOYEE),
    ],
)
def test_a_punch_without_a_partner_changes_its_word_only_after_a_rebinding(who, words, rule):
    store = Store("I 08:00, O 17:00, O 17:03")
    store.judge()
    store.who = who
    judgement = store.judge()
    assert list(store.outcomes().values()) == words
    assert [verdict.because.rule for verdict in judgement.verdicts] == [rule, rule, Rule.STANDS]


@pytest.mark.parametrize("who", [Unbound("unbound"), PairingEmployee(1, active=False)])
def test_of_punches_that_do_not_pair_each_is_judged_or_waits_by_itself(who):
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.who = who
    store.add("I Tue 08:00, I Thu 08:00")
    judgement = store.judge(
        unread=[TimeSpan(when("Tue 07:00"), when("Tue 08:00"))], within=TimeSpan(when("12:00"), FAR)
    )
    assert [verdict.punch_id for verdict in judgement.verdicts] == [2, 4]
    assert judgement.unjudged == [3]


def test_a_record_deleted_while_the_terminal_was_a_door_reader_does_not_come_back_by_itself():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    for is_access, outcome in ((True, "access_terminal"), (False, "attendance_deleted")):
        store.punches = {n: replace(p, is_access=is_access) for n, p in store.punches.items()}
        store.judge()
        assert set(store.outcomes().values()) == {outcome}
    assert len(store.records) == 1


def test_a_new_tap_of_a_deleted_shift_shares_its_word_and_a_shift_of_its_own_does_not():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.judge()
    store.add("bo 12:00, bi 13:00").judge()
    assert set(store.outcomes().values()) == {"attendance_deleted"}
    store.add("I Tue 08:00, O Tue 17:00").judge()
    assert store.shown() == ["Tue 08:00-17:00"]


def test_retry_lifts_deletion_for_all_taps_until_each_belongs_to_a_record_again():
    store = Store("I 08:00, bo 12:00, bi 13:00, O 17:00")
    store.judge()
    store.delete(1)
    store.judge()
    store.locked = {when("08:00").date()}
    store.retry("bo 12:00")
    store.judge()
    assert set(store.outcomes().values()) == {"date_locked"}
    assert all(punch.lifted for punch in store.punches.values())
    store.locked = set()
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00 [12:00-13:00]"]
    assert not any(punch.retry or punch.lifted for punch in store.punches.values())
    store.delete(2)
    store.judge()
    assert set(store.outcomes().values()) == {"attendance_deleted"}


def test_retry_lifts_deletion_for_all_taps_also_when_a_rebinding_comes_before_the_next_judging():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.judge()
    store.retry("I 08:00")
    for text in ("I 08:00", "O 17:00"):
        store.mark(text, outcome=None)
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


@pytest.mark.parametrize("sign", ["I", "x"])
def test_retry_of_a_punch_that_never_had_a_record_is_done_once_it_was_judged(sign):
    store = Store(f"{sign} 08:00")
    store.retry(f"{sign} 08:00")
    store.judge()
    assert not store.punches[1].retry


def test_a_lifted_deletion_lifts_no_later_one_of_the_same_shift():
    rules = replace(RULES, import_single_punches=True)
    store = Store("I 08:00, I 12:00", rules=rules)
    store.judge()
    store.delete(1)
    store.judge()
    store.retry("I 08:00")
    store.rules = RULES
    store.judge()
    assert store.outcomes() == {"I 08:00": "only_one_punch", "I 12:00": "imported"}
    store.delete(2)
    store.punches = {number: replace(punch, direction="undirected") for number, punch in store.punches.items()}
    for _ in range(2):
        store.judge()
        assert set(store.outcomes().values()) == {"attendance_deleted"}
    store.retry("I 08:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-12:00"]


def test_a_lift_is_kept_while_the_tap_shows_another_word():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.judge()
    store.retry("I 08:00")
    store.judge("Mon 17:00")
    store.punches = {number: replace(punch, is_access=True) for number, punch in store.punches.items()}
    store.locked = {when("08:00").date()}
    store.judge()
    store.punches = {number: replace(punch, is_access=False) for number, punch in store.punches.items()}
    store.judge()
    store.locked = set()
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


def test_a_tap_whose_record_was_deleted_pairs_in_the_role_that_it_has_now():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.punches = {n: replace(p, direction="undirected") for n, p in store.punches.items()}
    store.judge()
    store.retry("I 08:00")
    store.judge()
    assert {punch.imported_role for punch in store.punches.values()} == {"any"}


def test_retry_on_a_new_tap_that_shares_the_word_lifts_it_too():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.add("bo 12:00").judge()
    store.retry("bo 12:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


def test_retry_on_a_punch_that_never_had_a_record_lifts_no_later_deletion():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.edit_record(1, clock_out=when("18:00"))
    store.add("bo 12:00")
    store.retry("bo 12:00")
    store.judge()
    assert store.outcome("bo 12:00") == "record_edited"
    store.delete(1)
    store.judge()
    assert set(store.outcomes().values()) == {"attendance_deleted"}


def test_a_tap_that_joins_a_standing_record_and_a_deleted_one_arrives_late():
    store = Store("a 08:00, a 12:00, a 21:00, a 23:00")
    store.judge()
    store.delete(2)
    store.judge()
    store.add("a 16:00").judge()
    assert store.outcomes() == {
        "a 08:00": "imported",
        "a 12:00": "imported",
        "a 16:00": "arrived_late",
        "a 21:00": "arrived_late",
        "a 23:00": "arrived_late",
    }
    store.delete(1)
    store.judge()
    assert set(store.outcomes().values()) == {"attendance_deleted"}


def test_an_edit_that_is_taken_back_is_none():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.edit_record(1, breaks=((when("10:00"), when("10:10")),))
    store.add("bo 12:00, bi 13:00").judge()
    assert store.outcome("bo 12:00") == "record_edited"
    store.edit_record(1, breaks=())
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00 [12:00-13:00]"]


@pytest.mark.parametrize("status", ["approved", "rejected", "auto_closed"])
def test_decided_comes_before_edited_and_edited_before_late_and_late_before_locked(status):
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.add("O 12:00")
    store.locked = {when("08:00").date()}
    store.edit_record(1, clock_in=when("07:00"), status=status)
    store.judge()
    assert store.outcome("O 12:00") == "record_decided"
    store.edit_record(1, status="pending")
    store.judge()
    assert store.outcome("O 12:00") == "record_edited"
    store.edit_record(1, clock_in=when("08:00"))
    store.judge()
    assert store.outcome("O 12:00") == "arrived_late"


def test_a_fold_that_comes_later_takes_the_record_of_the_tap_it_repeats_even_when_decided():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.decide(1)
    store.add("O 17:02").judge()
    assert (store.outcome("O 17:02"), store.record_of("O 17:02")) == ("double_tap", 1)


def test_a_fold_of_a_waiting_tap_gets_its_record_at_the_same_deadline():
    store = Store("I 08:00, I 08:02, O 17:00")
    store.punches.pop(3)
    judgement = store.judge("Mon 09:00")
    assert store.outcome("I 08:02") == "double_tap"
    assert {verdict.judge_at for verdict in judgement.verdicts} == {when("Tue 08:00")}


def test_a_setting_never_unfolds_a_fold_that_has_a_record_even_when_a_tap_arrives():
    store = Store("I 08:00, I 08:04, O 17:00")
    store.judge()
    store.rules = replace(RULES, double_tap_fix=False)
    store.add("bo 12:00, bi 13:00").judge()
    assert store.shown() == ["Mon 08:00-17:00 [12:00-13:00]"]
    assert store.outcome("I 08:04") == "double_tap"


def test_a_setting_unfolds_a_fold_without_a_record():
    store = Store("I 08:00, I 08:04")
    store.judge()
    assert store.outcome("I 08:04") == "double_tap"
    store.rules = replace(RULES, double_tap_fix=False)
    store.judge()
    assert store.outcome("I 08:04") == "only_one_punch"


def test_a_setting_never_folds_a_tap_that_was_imported_as_a_clock_in():
    store = Store("I 08:00, I 08:10, O 17:00")
    store.judge()
    store.rules = replace(RULES, double_tap_minutes=15)
    store.judge()
    assert store.shown() == ["Mon 08:10-17:00"]
    assert store.outcomes() == {"I 08:00": "only_one_punch", "I 08:10": "imported", "O 17:00": "imported"}


@pytest.mark.parametrize(
    "before", [None, "future_timestamp", "access_terminal", "not_bound", "employee_inactive", "no_direction"]
)
def test_a_tap_that_arrives_or_pairs_at_last_unfolds_what_is_now_too_far_away_and_that_counts_as_new(before):
    store = Store("I 08:04, I 08:08, O 17:00")
    store.judge()
    assert store.outcome("I 08:08") == "double_tap"
    store.add("I 08:00", outcome=before).judge()
    assert store.outcomes() == {
        "I 08:00": "only_one_punch",
        "I 08:04": "double_tap",
        "I 08:08": "arrived_late",
        "O 17:00": "imported",
    }
    assert store.record_of("I 08:08") is None
    assert store.record_of("I 08:04") == 1
    assert store.shown() == ["Mon 08:04-17:00"]


@pytest.mark.parametrize(
    ("terminal", "word"), [({"direction": "in"}, "double_tap"), ({"is_access": True}, "access_terminal")]
)
def test_an_unfolded_tap_is_what_its_terminal_says_now(terminal, word):
    store = Store("I 08:00, O 17:00, O 17:04")
    store.judge()
    store.mark("O 17:04", **terminal)
    store.add("I 17:02")
    for _ in range(2):
        store.judge()
        assert store.shown() == ["Mon 08:00-17:00"]
        assert (store.outcome("O 17:04"), store.record_of("O 17:04")) == (word, None)


def test_a_gone_punch_is_judged_too_where_an_arrival_unfolds_another():
    store = Store("I 08:00, O 17:00, O 17:04, I Tue 08:00")
    store.judge()
    store.mark("I Tue 08:00", gone=True)
    judgement = store.add("I 17:02").judge()
    assert sorted(verdict.punch_id for verdict in judgement.verdicts) == [1, 2, 3, 4, 5]


def test_an_unfolded_tap_begins_without_its_old_record():
    store = Store("I 08:00, O 17:00, O 17:04")
    store.judge()
    store.add("I 17:02").judge()
    assert store.shown() == ["Mon 08:00-17:00", "Mon 17:02-17:04"]
    assert set(store.outcomes().values()) == {"imported"}


def test_a_fold_with_a_record_stays_one_however_far_apart_double_taps_may_be():
    store = Store("I 08:00, I 12:00, O 17:00", rules=replace(RULES, double_tap_minutes=240))
    store.judge()
    store.rules = RULES
    store.add("bo 13:00, bi 14:00").judge()
    assert store.outcomes() == dict.fromkeys(store.texts, "imported") | {"I 12:00": "double_tap"}
    assert store.shown() == ["Mon 08:00-17:00 [13:00-14:00]"]


def test_a_setting_that_ends_a_run_unfolds_nothing_with_a_record():
    store = Store("I 08:00, O 08:01, I 08:04, O 17:00", rules=replace(RULES, repeat_tap_seconds=90))
    store.judge()
    assert store.outcome("I 08:04") == "double_tap"
    store.rules = RULES
    for taps in ("", "oi 12:00"):
        store.add(taps).judge()
        assert store.outcome("I 08:04") == "double_tap"


def test_a_fold_whose_first_tap_went_to_another_employee_stands_for_it_with_the_record():
    store = Store("I 08:00, I 08:04, O 17:00")
    store.judge()
    del store.punches[1]
    store.judge()
    assert {n: (p.outcome, p.record_id) for n, p in store.punches.items()} == {2: ("imported", 1), 3: ("imported", 1)}


def leave(store, *numbers):
    """The codes of these punches are bound to another employee from here on. Returns their punches."""
    return [store.punches.pop(number) for number in numbers]


def test_a_fold_whose_own_tap_left_stands_for_itself_and_repeats_no_older_tap():
    store = Store("a 12:29:59").add("a 13:00").add("a 13:00").add("a Tue 02:24")
    store.judge()
    assert [punch.outcome for punch in store.punches.values()] == [
        "imported", "imported", "repeat_tap", "only_one_punch",
    ]  # fmt: skip
    elsewhere = leave(store, 2)
    for number in (1, 2):  # judging twice changes nothing
        judgement = store.judge(elsewhere=elsewhere)
        assert store.shown() == ["Mon 12:29:59-13:00"], number
        assert not judgement.updates
        assert {n: (p.outcome, p.record_id) for n, p in store.punches.items()} == {
            1: ("imported", 1),
            3: ("imported", 1),
            4: ("only_one_punch", None),
        }


@pytest.mark.parametrize("active", [True, False])
def test_a_fold_that_left_its_own_tap_behind_shows_the_word_of_a_tap_of_another_employee(active):
    store = Store("I 08:00, O 17:00, O 17:02")
    store.judge()
    store.who = PairingEmployee(2, active=active)
    store.judge(elsewhere=leave(store, 1, 2))
    assert store.punches[3].outcome == "arrived_late"


def test_a_tap_with_a_record_of_its_own_is_not_the_one_that_a_fold_left_behind():
    store = Store("I 08:00, I 08:05")
    store.rules = replace(RULES, import_single_punches=True)
    store.judge()
    elsewhere = leave(store, 1)
    store.who = BOB
    store.add_manual("08:04")
    store.punches[3] = replace(elsewhere[0], id=3, at=when("08:04"), record_id=2)
    store.judge(elsewhere=elsewhere)
    assert store.punches[2].outcome == "arrived_late"


def test_a_fold_that_leaves_with_its_own_tap_stays_one():
    store = Store("I 08:00, O 17:00, O 17:02")
    store.judge()
    store.who = BOB
    store.judge(elsewhere=leave(store, 1))
    assert [punch.outcome for punch in store.punches.values()] == ["arrived_late", "double_tap"]


def test_a_fold_of_a_code_that_is_cleared_keeps_its_word_without_its_own_tap():
    store = Store("I 08:00, O 17:00, O 17:02")
    store.judge()
    store.who = Unbound()
    store.judge(elsewhere=leave(store, 1, 2))
    assert store.punches[3].outcome == "double_tap"


def test_using_the_punches_takes_a_fold_without_its_own_tap_for_a_tap():
    store = Store("I 08:00, O 17:00, O 17:02, bi 12:00")
    store.judge()
    linked = leave(store, 2)
    store.who = BOB
    store.judge(elsewhere=linked)
    found = use(store, "I 08:00", linked)
    assert isinstance(found, Use)
    assert store.shown() == ["Mon 08:00-17:02"]
    assert found.released == (2,)


def test_it_is_no_fold_of_a_tap_more_than_four_hours_before():
    store = Store("I 08:00, bo 09:00, bi 09:10, bo 14:00, bo 14:02, bi 14:30, O 17:00")
    store.judge()
    assert store.outcome("bo 14:02") == "double_tap"
    store.add("bi 16:00")
    del store.punches[4]
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00 [09:00-09:10] [14:02-14:30]"]


def test_a_tap_that_arrives_long_before_unfolds_too_and_what_it_unfolds_gets_its_own_record():
    rules = replace(RULES, import_single_punches=True)
    store = Store("I 18:00:00, O 18:00:05, I 18:04", rules=rules)
    store.judge()
    assert (store.outcome("I 18:04"), store.shown()) == ("double_tap", ["Mon 18:00-"])
    store.add("I 11:00").judge()  # now the OUT closes a shift, and the tap after it opens one
    assert set(store.outcomes().values()) == {"imported"}
    assert store.shown() == ["Mon 11:00-18:00:05", "Mon 18:04-"]


def test_an_unfolded_tap_without_a_record_counts_as_new_too():
    store = Store("I 08:00, I 08:03, I 08:06, O 17:00")
    store.judge()
    assert store.outcome("I 08:03") == "double_tap"
    store.add("O 08:02").judge()
    assert store.outcomes() == dict.fromkeys(store.texts, "imported") | {"I 08:06": "double_tap"}
    assert store.shown() == ["Mon 08:00-08:02", "Mon 08:03-17:00"]


def test_an_open_record_behind_the_end_of_the_shift_reaches_beyond_it():
    store = Store("a 10:10", rules=replace(RULES, import_single_punches=True))
    store.judge()
    assert store.shown() == ["Mon 10:10-"]
    store.add("I 08:00, O 10:00").judge()
    assert store.outcomes() == {"a 10:10": "imported", "I 08:00": "arrived_late", "O 10:00": "arrived_late"}


def test_an_open_record_at_the_end_of_the_shift_grows_into_it_and_covers_its_old_hours_no_more():
    store = Store("a 17:00", rules=replace(RULES, import_single_punches=True))
    store.judge()
    store.add_manual("21:00", "22:00")
    store.add("I 08:00, I 17:00, O 20:00, I 21:30, O 23:00").judge()
    assert store.shown() == ["Mon 08:00-17:00", "Mon 17:00-20:00", "Mon 21:00-22:00"]
    assert store.outcomes() == dict.fromkeys(store.texts, "imported") | {"I 21:30": "overlaps", "O 23:00": "overlaps"}


def test_an_imported_tap_continues_pairing_in_the_role_it_was_imported_with():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.punches = {n: replace(p, direction="in") for n, p in store.punches.items()}
    store.add("bo 12:00, bi 13:00").judge()
    assert store.shown() == ["Mon 08:00-17:00 [12:00-13:00]"]


def test_a_tap_that_joins_a_record_without_changing_it_writes_nothing_into_it():
    store = Store("I 08:00, bo 12:00, bi 13:00, O 17:00")
    store.judge()
    judgement = store.add("bi 15:00").judge()
    assert set(store.outcomes().values()) == {"imported"}
    assert not judgement.updates


def test_after_a_rebinding_a_new_tap_of_the_shift_arrives_late():
    store = Store("I 08:00, O 17:00, O 17:02")
    store.judge()
    store.who = BOB
    store.add("bo 12:00").judge()
    assert store.outcomes() == {
        "I 08:00": "arrived_late",
        "O 17:00": "arrived_late",
        "O 17:02": "double_tap",
        "bo 12:00": "arrived_late",
    }
    assert store.record_of("bo 12:00") is None
    assert store.record_of("O 17:02") == 1


def test_the_codes_of_one_employee_are_judged_together():
    store = Store("I 08:00").add("O 17:00", emp_code="200")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


def test_nothing_is_judged_whose_48_hours_before_were_not_read():
    store = Store("I Mon 08:00, O Mon 17:00, I Thu 08:00, O Thu 17:00")
    unread = [TimeSpan(when("Mon 06:00") - timedelta(hours=1), when("Mon 06:00"))]
    judgement = store.judge(unread=unread)
    assert sorted(judgement.unjudged) == [1, 2]
    assert store.shown() == ["Thu 08:00-17:00"]
    assert store.outcome("I Mon 08:00") is None
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00", "Thu 08:00-17:00"]


@pytest.mark.parametrize(
    ("start", "end", "waits"),
    [
        ("Mon 07:00", "Mon 08:00", False),
        ("Mon 07:00", "Mon 08:00:01", True),
        ("Wed 08:00", "Wed 09:00", True),
        ("Wed 08:00:01", "Wed 09:00", False),
    ],
)
def test_a_window_that_ends_48_hours_before_or_begins_after_it_is_far_enough(start, end, waits):
    punch = tap("I Wed 08:00", 1)
    unread = [TimeSpan(when(start), when(end))]
    judgement = pairing.judge(Case(PairingEmployee(1), [punch], [], RULES, FAR, unread=unread))
    assert (judgement.unjudged == [1]) is waits


def test_a_shift_waits_as_a_whole_for_the_window_inside_it():
    store = Store("I 08:00, O 17:00")
    judgement = store.judge(unread=[TimeSpan(when("12:00"), when("13:00"))])
    assert sorted(judgement.unjudged) == [1, 2]


# Use the punches.


def use(store, text, linked=()):
    found = use_punches(store.case(), store.texts[text], linked)
    if isinstance(found, Use):
        store._update(found.update)
        for number in found.delete:
            store.delete(number)
        for verdict in found.verdicts:
            store.punches[verdict.punch_id] = replace(
                store.punches[verdict.punch_id],
                outcome=verdict.outcome.value,
                record_id=verdict.record,
                imported_role=verdict.role,
            )
        for number in store.punches.keys() & set(found.released):
            store.punches[number] = replace(store.punches[number], outcome=None, record_id=None, imported_role=None)
    return found


def test_using_the_punches_makes_one_record_of_two():
    store = Store("a 08:00, a 12:00, a 21:00, a 23:00")
    store.judge()
    store.add("a 16:00").judge()
    use(store, "a 16:00")
    assert store.shown() == ["Mon 08:00-23:00"]
    store.judge()
    assert set(store.outcomes().values()) == {"imported"}
    assert {punch.record_id for punch in store.punches.values()} == {1}
    assert store.shown() == ["Mon 08:00-23:00"]


@pytest.mark.parametrize(
    ("come", "go", "kind", "beside"), [("I", "O", "regular", "overtime"), ("oi", "oo", "overtime", "regular")]
)
def test_using_the_punches_releases_taps_outside_the_shift(come, go, kind, beside):
    store = Store(f"{come} 08:00, {go} 17:00")
    store.judge()
    store.add_manual("09:00", "18:00", kind=beside)
    store.add(f"{come} 10:00").judge()
    found = use(store, f"{come} 10:00")
    assert found.released == (1,)
    assert (found.update.kind, found.update.clock_in) == (kind, when("10:00"))
    store.judge()
    assert store.outcomes() == {
        f"{come} 08:00": "only_one_punch",
        f"{go} 17:00": "imported",
        f"{come} 10:00": "imported",
    }


def test_using_the_punches_after_a_rebinding_gives_the_record_its_new_owner():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.who = BOB
    store.judge()
    use(store, "O 17:00")
    store.judge()
    assert set(store.outcomes().values()) == {"imported"}
    assert store.records[1].employee_id == BOB.id


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda store: store.decide(1), Rule.RECORD_DECIDED),
        (lambda store: store.edit_record(1, clock_out=when("18:00")), Rule.RECORD_EDITED),
        (lambda store: store.locked.add(when("08:00").date()), Rule.DATE_LOCKED),
        (lambda store: store.add_manual("11:00", "12:00"), Rule.OVERLAPS),
        (lambda store: store.delete(1), Rule.NOT_LATE),
    ],
)
def test_using_the_punches_is_refused_with_a_reason(spoil, rule):
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.add("I 10:00").judge()
    spoil(store)
    found = use(store, "I 10:00")
    assert isinstance(found, UseRefusal)
    assert found.because.rule is rule


def test_using_the_punches_is_refused_where_the_shift_could_be_no_record():
    store = Store("I 08:00, O 17:00")
    store.judge()
    clock_in = store.punches.pop(1)
    store.who = BOB
    store.judge()
    found = use(store, "O 17:00", linked=[clock_in])
    assert isinstance(found, UseRefusal)
    assert found.because.rule is Rule.ONLY_ONE_PUNCH


def test_taps_of_the_record_that_belong_to_another_employee_now_are_released_too():
    store = Store("I 08:00, O 17:00, bo 12:00, bi 12:30")
    store.judge()
    linked = [store.punches.pop(3), store.punches.pop(4)]
    store.who = BOB
    found = use_punches(store.case(), 1, linked)
    assert isinstance(found, Use)
    assert found.released == (3, 4)
    assert (found.update.employee_id, found.update.breaks) == (BOB.id, ())
