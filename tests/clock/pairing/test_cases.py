"""The worked cases of docs/rules.md, and what the table there leaves open."""

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from app.clock.pairing.inputs import PairingEmployee
from tests.clock.mirror_store import RULES, Store, when
from tests.clock.pairing.rules_page import played, worked_cases

SAME = "imported"
CASES = worked_cases()


def test_the_page_has_its_cases():
    assert len(CASES) >= 48
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_worked_case_gives_its_records_and_its_words(case):
    store = played(case)
    assert store.shown() == list(case.records)
    assert store.outcomes() == dict.fromkeys(store.texts, SAME) | case.words


@pytest.mark.parametrize("case", [case for case in CASES if case.taps], ids=[case.name for case in CASES if case.taps])
def test_what_no_record_was_made_of_has_none(case):
    store = played(case)
    left_out = {"only_one_punch", "over_24h", "no_direction"}
    for text, outcome in store.outcomes().items():
        if text != "I 08:04":  # case 6: the fold of a tap without a record
            assert (store.record_of(text) is None) == (outcome in left_out)


def test_case_6_the_fold_of_a_tap_without_a_record_has_none():
    store = Store("I 08:00, I 08:04, I 08:08, O 17:00")
    store.judge()
    assert store.record_of("I 08:04") is None
    assert store.record_of("I 08:08") == store.record_of("O 17:00") == 1


@pytest.mark.parametrize(
    ("now", "outcome"),
    [("Mon 17:01", "awaiting"), ("Tue 16:59:59", "awaiting"), ("Tue 17:00", "only_one_punch")],
)
def test_case_11_an_orphan_waits_a_day_for_what_may_still_arrive(now, outcome):
    store = Store("O 17:00")
    store.judge(now)
    assert store.outcome("O 17:00") == outcome


@pytest.mark.parametrize(
    ("now", "outcome"),
    [("Mon 12:00", "awaiting"), ("Tue 07:59:59", "awaiting"), ("Tue 08:00", "only_one_punch")],
)
def test_case_12_an_open_shift_waits_a_day(now, outcome):
    store = Store("I 08:00")
    judgement = store.judge(now)
    assert store.outcome("I 08:00") == outcome
    deadline = when("Tue 08:00") if outcome == "awaiting" else None
    assert [verdict.judge_at for verdict in judgement.verdicts] == [deadline]


@pytest.mark.parametrize(
    ("now", "outcome"),
    [("Mon 20:00", "awaiting"), ("Tue 00:59:59", "awaiting"), ("Tue 01:00", "imported")],
)
def test_case_14_an_undirected_clock_out_waits_for_the_shift_gap(now, outcome):
    store = Store("a 08:00, a 17:00")
    judgement = store.judge(now)
    assert store.outcomes() == {"a 08:00": outcome, "a 17:00": outcome}
    assert {verdict.judge_at for verdict in judgement.verdicts} == {
        when("Tue 01:00") if outcome == "awaiting" else None
    }


def test_case_19_a_decided_record_is_never_rewritten():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.decide(1)
    store.add("bo 12:00").judge()
    assert store.outcomes() == {"I 08:00": SAME, "O 17:00": SAME, "bo 12:00": "record_decided"}
    assert store.record_of("bo 12:00") is None


def test_case_22a_a_tap_that_joins_two_records_arrives_late():
    store = Store("a 08:00, a 12:00, a 21:00, a 23:00")
    store.judge()
    assert store.shown() == ["Mon 08:00-12:00", "Mon 21:00-23:00"]
    store.add("a 16:00").judge()
    assert store.outcome("a 16:00") == "arrived_late"
    assert store.record_of("a 16:00") is None
    assert store.shown() == ["Mon 08:00-12:00", "Mon 21:00-23:00"]


def test_case_22e_an_earlier_clock_in_makes_the_first_its_double_tap():
    store = Store("I 08:04, O 17:00")
    store.judge()
    store.add("I 08:00").judge()
    assert store.outcomes() == {"I 08:04": "double_tap", "O 17:00": SAME, "I 08:00": SAME}
    assert store.shown() == ["Mon 08:00-17:00"]
    assert {store.record_of(text) for text in store.texts} == {1}


def test_case_24_a_deleted_record_comes_back_only_when_a_person_retries():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.delete(1)
    for _ in range(3):
        store.judge()
        assert set(store.outcomes().values()) == {"attendance_deleted"}
        assert store.record_of("I 08:00") is None
        assert store.shown() == []
    store.retry("O 17:00")
    store.judge()
    assert set(store.outcomes().values()) == {SAME}
    assert store.shown() == ["Mon 08:00-17:00"]
    assert not any(punch.retry or punch.lifted for punch in store.punches.values())


def test_case_25_after_a_rebinding_the_record_stays_with_its_owner_until_a_person_resolves_it():
    store = Store("I 08:00, O 17:00")
    store.judge()
    store.who = PairingEmployee(2)
    store.judge()
    assert set(store.outcomes().values()) == {"arrived_late"}
    assert {store.record_of(text) for text in store.texts} == {1}
    assert store.records[1].employee_id == 1
    store.who = PairingEmployee(1)
    store.judge()
    assert set(store.outcomes().values()) == {SAME}


@pytest.mark.parametrize(
    ("taps", "hours", "day"),
    [
        ("I 2013-11-02 22:00, O 2013-11-03 06:00", 9, "2013-11-02"),
        ("I 2013-03-09 22:00, O 2013-03-10 06:00", 7, "2013-03-09"),
    ],
)
def test_case_26_a_night_of_changed_clocks_has_its_real_hours(taps, hours, day):
    zone = ZoneInfo("America/Vancouver")
    store = Store(taps, rules=replace(RULES, zone=zone), zone=zone)
    store.judge()
    (record,) = store.records.values()
    assert record.clock_out - record.clock_in == timedelta(hours=hours)
    assert record.workday.isoformat() == day


def test_case_27_a_punch_two_days_ahead_is_judged_anew_when_time_has_passed():
    store = Store("I Wed 08:00, O Wed 17:00")
    judgement = store.judge("Mon 08:00")
    assert set(store.outcomes().values()) == {"future_timestamp"}
    assert [verdict.judge_at for verdict in judgement.verdicts] == [when("Tue 08:00"), when("Tue 17:00")]
    store.judge("Tue 08:00")
    assert store.outcomes() == {"I Wed 08:00": "awaiting", "O Wed 17:00": "future_timestamp"}
    store.judge("Wed 18:00")
    assert set(store.outcomes().values()) == {SAME}
