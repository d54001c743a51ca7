"""Punches that the server has no more: without a record they take no part in pairing, with one they keep their word."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.review.sentences import explain
from tests.clock.mirror_store import Store
from tests.clock.pairing.random_taps import (
    ANY_RULES,
    changes_nothing_more,
    check_records,
    judge_window,
    memory,
    seen,
    some_edits,
    some_punches,
    store_of,
)


def test_a_gone_punch_without_a_record_takes_no_part_and_keeps_its_word():
    store = Store("I 08:00, I 09:00")
    store.judge()
    store.mark("I 09:00", gone=True)
    store.add("O 17:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]
    assert store.outcomes() == {"I 08:00": "imported", "I 09:00": "only_one_punch", "O 17:00": "imported"}
    changes_nothing_more(store)


def test_one_that_was_never_judged_waits_for_nothing():
    store = Store("I 08:00")
    store.mark("I 08:00", gone=True)
    (verdict,) = store.judge("09:00").verdicts
    assert (verdict.outcome, verdict.judge_at) == ("awaiting", None)
    changes_nothing_more(store)


def test_a_gone_punch_with_a_record_keeps_its_word_and_continues_pairing():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.mark("O 17:00", gone=True)
    store.add("bo 12:00, bi 13:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00 [12:00-13:00]"]
    assert set(store.outcomes().values()) == {"imported"}


def test_once_its_record_is_deleted_it_takes_no_part_and_retry_makes_the_record_without_it():
    store = Store("I 08:00, bo 12:00, bi 13:00, O 17:00")
    store.judge()
    store.mark("bi 13:00", gone=True)
    store.delete(1)
    store.judge()
    store.retry("O 17:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]
    assert store.record_of("bi 13:00") is None


def test_when_it_comes_back_it_is_judged_like_one_that_just_came():
    store = Store("I 08:00, O 17:00")
    store.mark("O 17:00", gone=True)
    store.judge()
    store.mark("O 17:00", gone=False, outcome=None)
    store.judge()
    assert store.shown() == ["Mon 08:00-17:00"]


def test_a_gone_punch_inside_a_record_made_by_hand_keeps_what_it_had():
    store = Store("I 10:00").add_manual("08:00", "17:00")
    store.judge()
    store.mark("I 10:00", gone=True)
    changes_nothing_more(store)
    assert store.punches[store.texts["I 10:00"]].covered_by == 1


def test_why_says_that_it_is_gone_and_what_to_do():
    store = Store("I 08:00, O 17:00, x 18:00")
    store.judge()
    for text in ("O 17:00", "x 18:00"):
        store.mark(text, gone=True)
    judgement = store.judge()
    told = {one.punch_id: explain(one, judgement) for one in judgement.verdicts}
    with_record, without = told[store.texts["O 17:00"]], told[store.texts["x 18:00"]]
    assert with_record.sentence.startswith("The server no longer has this punch. The punch is part of record 1")
    assert "Keep the record" in with_record.change
    assert without.sentence == "The server no longer has this punch. It no longer counts."


@given(some_punches(), ANY_RULES, st.data())
@settings(max_examples=150, deadline=None)
def test_judging_twice_changes_nothing_whatever_went_and_was_edited(punches, rules, data):
    store = store_of(punches, rules)
    store.judge()
    for number, step, role in some_edits(data, punches):
        punch = store.punches[number]
        if data.draw(st.booleans()):
            store.punches[number] = replace(punch, gone=not punch.gone, outcome=None if punch.gone else punch.outcome)
        else:
            store.edit(number, at=punch.at + step, **role)
        store.judge()
        check_records(store)
        changes_nothing_more(store)


@given(some_punches(), ANY_RULES, st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_gone_before_a_record_was_made_is_as_if_it_had_never_come(punches, rules, data):
    gone = {one.id for one in data.draw(st.lists(st.sampled_from(punches), max_size=4))}
    with_gone = store_of([replace(one, gone=one.id in gone) for one in punches], rules)
    without = store_of([one for one in punches if one.id not in gone], rules)
    with_gone.judge()
    without.judge()
    assert {number: one for number, one in seen(with_gone).items() if number not in gone} == seen(without)


@given(some_punches(most=20), ANY_RULES, st.data())
@settings(max_examples=100, deadline=None)
def test_judging_around_what_went_gives_what_judging_everything_gives(punches, rules, data):
    went = data.draw(st.lists(st.sampled_from(punches), min_size=1, max_size=3, unique=True))
    whole, windowed = store_of(punches, rules), store_of(punches, rules)
    for store in (whole, windowed):
        store.judge()
        for punch in went:
            store.punches[punch.id] = replace(store.punches[punch.id], gone=True)
    whole.judge()
    judge_window(windowed, [punch.at for punch in went])
    assert seen(windowed) == seen(whole)
    assert memory(windowed)[0].keys() == memory(whole)[0].keys()
