"""Punches that were edited on the server: new taps of their shifts, which remember the record that they left."""

from dataclasses import replace
from datetime import timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.pairing.inputs import FOLDS, PairingEmployee
from app.clock.punches.marks import NEAR
from app.clock.review.sentences import explain
from tests.clock.mirror_store import RULES, Store, when
from tests.clock.pairing.random_taps import (
    ANY_RULES,
    changes_nothing_more,
    check_records,
    judge_window,
    seen,
    some_edits,
    some_punches,
    store_of,
)

# Taps that were imported, what they are edited to, the records that stand then,
# and the words of those that are not imported.
ROWS = {
    "a later clock-out brings the record up to date": (
        "I 08:00, O 17:00", {"O 17:00": "O 18:00"}, ["Mon 08:00-18:00"], {}),
    "so does an earlier one, whose old hour goes with it": (
        "I 08:00, O 17:00", {"O 17:00": "O 16:00"}, ["Mon 08:00-16:00"], {}),
    "and a clock-in either way": ("I 08:00, O 17:00", {"I 08:00": "I 09:00"}, ["Mon 09:00-17:00"], {}),
    "a shift that moved as a whole is one record, not two": (
        "I 08:00, O 17:00", {"I 08:00": "I Tue 08:00", "O 17:00": "O Tue 17:00"}, ["Tue 08:00-17:00"], {}),
    "a break moves": (
        "I 08:00, bo 12:00, bi 13:00, O 17:00", {"bi 13:00": "bi 12:30"}, ["Mon 08:00-17:00 [12:00-12:30]"], {}),
    "a clock-out that becomes a break leaves the shift without an end": (
        "I 08:00, O 17:00", {"O 17:00": "bo 17:00"}, ["Mon 08:00-17:00"], {"bo 17:00": "only_one_punch"}),
    "a clock-in on another day leaves its record alone": (
        "I 08:00, O 17:00, O Wed 17:00", {"I 08:00": "I Wed 08:00"}, ["Mon 08:00-17:00"],
        {"I Wed 08:00": "arrived_late", "O Wed 17:00": "arrived_late"}),
    "a clock-out that has nothing to close needs a person": (
        "I 08:00, O 12:00, I 13:00, O 17:00", {"O 12:00": "O 19:00"}, ["Mon 08:00-12:00", "Mon 13:00-17:00"],
        {"O 19:00": "only_one_punch"}),
    "a tap inside, moved to a day of its own, is free of its record": (
        "a 08:00, a 12:00, a 17:00, a Wed 17:00", {"a 12:00": "a Wed 08:00"}, ["Mon 08:00-17:00", "Wed 08:00-17:00"], {}),
    "taps around the old time are judged again": (
        "I 08:00, O 17:00, O 17:06", {"O 17:00": "O 07:00"}, ["Mon 08:00-17:06"], {"O 07:00": "only_one_punch"}),
    "a fold stands for itself once the tap that it repeats has moved": (
        "I 08:00, I 08:04", {"I 08:00": "I 07:00"}, [], {"I 07:00": "only_one_punch", "I 08:04": "only_one_punch"}),
    "a clock-out that becomes a double tap leaves the shift to the next one": (
        "I 08:00, O 17:00, O 17:10", {"O 17:00": "O 17:12"}, ["Mon 08:00-17:10"], {"O 17:12": "double_tap"}),
    "a clock-out that becomes a repeat of the clock-in leaves the shift without an end": (
        "a 08:00, a 17:00", {"a 17:00": "a 08:00:05"}, ["Mon 08:00-17:00"], {"a 08:00:05": "only_one_punch"}),
    "so does one that becomes a second clock-in": (
        "I 08:00, O 17:00", {"O 17:00": "I 08:03"}, ["Mon 08:00-17:00"], {"I 08:03": "only_one_punch"}),
    "a clock-in that becomes a repeat of the clock-out leaves it without a beginning": (
        "I 08:00, O 17:00", {"I 08:00": "O 17:02"}, ["Mon 08:00-17:00"], {"O 17:02": "only_one_punch"}),
    "a clock-out that becomes a double tap of its own fold": (
        "I 08:00, O 17:00, O 17:03", {"O 17:00": "O 17:06"}, ["Mon 08:00-17:03"], {"O 17:06": "double_tap"}),
    "a break that becomes a repeat of the clock-out goes from the record": (
        "I 08:00, bo 12:00, bi 13:00, O 17:00", {"bi 13:00": "O 17:00:05"}, ["Mon 08:00-17:00"], {"O 17:00:05": "repeat_tap"}),
    "a clock-out that becomes a double tap of another day's leaves its record to a person": (
        "I 08:00, O 17:00, I Tue 08:00, O Tue 17:00", {"O 17:00": "O Tue 17:03"}, ["Mon 08:00-17:00", "Tue 08:00-17:00"],
        {"O Tue 17:03": "arrived_late"}),
    "a fold that is edited and still repeats the same tap asks no person": (
        "I 08:00, O 17:00, O 17:03", {"O 17:03": "O 17:04"}, ["Mon 08:00-17:00"], {"O 17:04": "double_tap"}),
    "clock-in and clock-out that become overtime take their record along": (
        "I 08:00, O 17:00", {"I 08:00": "oi 08:00", "O 17:00": "oo 17:00"}, ["Mon 08:00-17:00 overtime"], {}),
    "an edit that is taken back changes nothing": (
        "I 08:00, O 17:00", {"O 17:00": "O 18:00", "O 18:00": "O 17:00"}, ["Mon 08:00-17:00"], {}),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_an_edited_punch_is_a_new_tap_of_its_shift(row):
    taps, edits, records, words = row
    store = Store(taps)
    store.judge()
    for text, to in edits.items():
        store.edit_tap(text, to)
    store.judge()
    assert store.shown() == records
    assert {text: outcome for text, outcome in store.outcomes().items() if outcome != "imported"} == words
    changes_nothing_more(store)


def decided(store):
    store.decide(1)


def corrected(store):
    store.edit_record(1, clock_out=when("17:30"))


def locked(store):
    store.locked.add(when("08:00").date())


def overlapped(store):
    store.add_manual("17:15", "18:30")


@pytest.mark.parametrize(
    ("blocked", "word"),
    [(decided, "record_decided"), (corrected, "record_edited"), (locked, "date_locked"), (overlapped, "overlaps")],
)
@pytest.mark.parametrize("edits", [("O 17:00",), ("I 08:00", "O 17:00")], ids=["one tap", "every tap"])
def test_a_record_that_may_not_be_written_gives_the_edited_taps_its_word(blocked, word, edits):
    store = Store("I 08:00, O 17:00")
    store.judge()
    blocked(store)
    before = dict(store.records)
    to = {"I 08:00": "I 09:00", "O 17:00": "O 18:00"}
    for text in edits:
        store.edit_tap(text, to[text])
    store.judge()
    assert store.records == before
    assert [store.outcome(to[text]) for text in edits] == [word] * len(edits)
    changes_nothing_more(store)


@pytest.mark.parametrize(
    ("blocked", "word"), [(decided, "record_decided"), (corrected, "record_edited"), (locked, "date_locked")]
)
def test_so_does_an_edited_tap_that_becomes_a_fold_until_nothing_is_in_the_way(blocked, word):
    store = Store("I 08:00, O 17:00, O 17:03")
    store.judge()
    before = dict(store.records)
    blocked(store)
    in_the_way = dict(store.records)
    store.edit_tap("O 17:00", "O 17:06")
    judgement = store.judge()
    assert store.records == in_the_way
    assert store.outcome("O 17:06") == word
    assert all(explain(verdict, judgement).sentence for verdict in judgement.verdicts)
    changes_nothing_more(store)
    store.records, store.locked = before, set()
    store.judge()
    assert (store.shown(), store.outcome("O 17:06")) == (["Mon 08:00-17:03"], "double_tap")
    changes_nothing_more(store)


def test_an_open_record_is_what_remains_where_single_punches_are_imported():
    store = Store("I 08:00, O 17:00", rules=replace(RULES, import_single_punches=True))
    store.judge()
    store.edit_tap("O 17:00", "I 08:03")
    store.judge()
    assert (store.shown(), store.outcome("I 08:03")) == (["Mon 08:00-"], "double_tap")
    changes_nothing_more(store)


def test_a_fold_whose_old_record_was_deleted_shows_its_own_word():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    store.edit_tap("O 17:00", "I 08:03")
    store.judge()
    assert store.outcomes() == {"I 08:00": "attendance_deleted", "I 08:03": "double_tap"}
    changes_nothing_more(store)


def test_once_nothing_is_in_the_way_the_record_is_brought_up_to_date():
    store = Store("I 08:00, O 17:00")
    store.judge()
    locked(store)
    store.edit_tap("O 17:00", "O 16:00")
    store.judge()
    store.locked.clear()
    store.judge()
    assert store.shown() == ["Mon 08:00-16:00"]
    assert store.outcome("O 16:00") == "imported"
    assert store.punches[store.texts["O 16:00"]].edited_record is None


@pytest.mark.parametrize("blocked", [decided, locked])
def test_a_record_that_says_so_already_takes_its_edited_tap_back(blocked):
    store = Store("I 08:00, bo 12:00, bi 13:00, O 17:00")
    store.judge()
    store.edit_record(1, clock_out=when("18:00"))
    blocked(store)
    store.edit_tap("O 17:00", "O 18:00")
    judgement = store.judge()
    assert set(store.outcomes().values()) == {"imported"}
    assert store.shown() == ["Mon 08:00-18:00 [12:00-13:00]"]
    assert all(explain(verdict, judgement).sentence for verdict in judgement.verdicts)
    changes_nothing_more(store)


def test_a_record_that_becomes_overtime_frees_its_regular_hours_at_once():
    store = Store("I 08:00, O 17:00")
    store.judge()
    for text, to in (("I 08:00", "oi 08:00"), ("O 17:00", "oo 17:00")):
        store.edit_tap(text, to)
    store.add("I 09:00, O 10:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00 overtime", "Mon 09:00-10:00"]
    changes_nothing_more(store)


def test_a_fold_has_the_record_of_the_tap_that_it_repeats_once_the_one_it_left_was_deleted():
    store = Store("I 08:00, O 12:00, I 13:00, O 17:00")
    store.judge()
    store.edit_tap("O 17:00", "O 12:03")
    store.judge()
    assert (store.outcome("O 12:03"), store.record_of("O 12:03")) == ("arrived_late", None)
    store.delete(2)
    store.judge()
    assert (store.outcome("O 12:03"), store.record_of("O 12:03")) == ("double_tap", store.record_of("O 12:00"))
    changes_nothing_more(store)


def test_a_deleted_record_is_not_made_again_by_an_edit():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    for text, to in (("I 08:00", "I 09:00"), ("O 17:00", "O 18:00")):
        store.edit_tap(text, to)
    store.judge()
    assert set(store.outcomes().values()) == {"attendance_deleted"}
    changes_nothing_more(store)
    store.retry("O 18:00")
    store.judge()
    assert store.shown() == ["Mon 09:00-18:00"]


def test_an_edited_tap_whose_code_was_bound_to_another_employee_arrives_late():
    store = Store("I 08:00, O 17:00", who=PairingEmployee(1))
    store.judge()
    store.who = PairingEmployee(2)
    for text, to in (("I 08:00", "I 09:00"), ("O 17:00", "O 18:00")):
        store.edit_tap(text, to)
    store.judge()
    assert set(store.outcomes().values()) == {"arrived_late"}
    assert store.shown() == ["Mon 08:00-17:00"]
    changes_nothing_more(store)


def test_a_tap_edited_twice_before_it_is_judged_remembers_the_first_hour():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.edit_tap("O 17:00", "O 16:00")
    store.edit_tap("O 16:00", "O 15:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-15:00"]


def test_a_record_that_an_edited_tap_left_no_longer_holds_up_its_new_shift_once_others_have_it():
    """The new shift comes before the one that brings the record up to date. One judging gives both."""
    store = Store("I 07:00, I 07:30, I 08:00, O 17:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]
    store.edit_tap("I 08:00", "I 06:00")
    store.edit_tap("I 07:00", "O 07:00")
    store.judge()
    assert store.shown() == ["Mon 06:00-07:00", "Mon 07:30-17:00"]
    changes_nothing_more(store)


@given(some_punches(), ANY_RULES, st.data())
@settings(max_examples=200, deadline=None)
def test_judging_twice_changes_nothing_whatever_was_edited(punches, rules, data):
    store = store_of(punches, rules)
    store.judge()
    for number, step, role in some_edits(data, punches):
        store.edit(number, at=store.punches[number].at + step, **role)
        if data.draw(st.booleans()):
            store.locked = {punches[0].at.date()} if data.draw(st.booleans()) else set()
            store.judge()
            check_records(store)
            changes_nothing_more(store)


@given(some_punches(most=6), ANY_RULES, st.data())
@settings(max_examples=100, deadline=None)
def test_while_nothing_is_written_an_edit_gives_what_the_edited_punches_would_have_given_at_once(punches, rules, data):
    edited, at_once = store_of(punches, rules), store_of(punches, rules)
    edited.locked = {punches[0].at.date() + timedelta(days=day) for day in range(-40, 60)}
    edited.judge()
    for number, step, role in some_edits(data, punches):
        for store in (edited, at_once):
            store.edit(number, at=store.punches[number].at + step, **role)
    edited.locked = set()
    edited.judge()
    at_once.judge()
    assert seen(edited) == seen(at_once)


@given(some_punches(most=16), ANY_RULES, st.data())
@settings(max_examples=200, deadline=None)
def test_judging_what_waits_around_the_old_time_and_the_edited_tap_gives_what_judging_everything_gives(
    punches, rules, data
):
    whole, windowed = store_of(punches, rules), store_of(punches, rules)
    left, edited = [], set()
    for store in (whole, windowed):
        store.judge()
    for number, step, role in some_edits(data, punches):
        before = windowed.punches[number].at
        left.append(before)
        edited.add(number)
        for store in (whole, windowed):
            store.edit(number, at=before + step, **role)
    waiting = [one for one in windowed.punches.values() if one.record_id is None or one.outcome in FOLDS]
    due = {one.at for one in waiting if any(abs(one.at - at) <= NEAR for at in left)}
    whole.judge()
    judge_window(windowed, due | {windowed.punches[number].at for number in edited})
    assert seen(windowed) == seen(whole)


def test_every_pair_of_edits_of_a_day_keeps_records_apart():
    taps = ("I 08:00", "bo 12:00", "bi 13:00", "O 17:00")
    moves = {"I 08:00": "I 12:30", "bo 12:00": "O 12:00", "bi 13:00": "I 13:00", "O 17:00": "O 12:45"}
    for pair in combinations(taps, 2):
        for rules in (RULES, replace(RULES, import_single_punches=True)):
            store = Store(", ".join(taps), rules=rules)
            store.judge()
            for text in pair:
                store.edit_tap(text, moves[text])
            store.judge()
            check_records(store)
            changes_nothing_more(store)
