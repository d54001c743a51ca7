"""What holds for any taps at all, and that judging a window gives what judging everything would."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import PairingPunch
from app.clock.review.sentences import explain
from tests.clock.pairing.random_taps import (
    ANY_RULES,
    START,
    changes_nothing_more,
    check_records,
    judge_window,
    memory,
    seen,
    some_punches,
    some_records_by_hand,
    store_of,
)


@st.composite
def some_undirected_weeks(draw):
    """Taps of people who only ever touch one undirected terminal:
    where a shift begins depends on what came long before."""
    gaps = draw(st.lists(st.sampled_from([2, 4, 7, 8, 9, 12, 13, 14, 15, 16, 20, 26]), min_size=10, max_size=30))
    at, made = START, []
    for number, gap in enumerate(gaps, 1):
        at += timedelta(hours=gap, seconds=draw(st.integers(0, 1)))
        made.append(PairingPunch(number, str(number), "100", at, 255, "T1", "undirected"))
    return made


@given(some_punches(), ANY_RULES, some_records_by_hand(), st.data())
@settings(max_examples=150, deadline=None)
def test_while_nothing_is_written_the_order_of_arrival_never_matters(punches, rules, by_hand, data):
    at_once = store_of(punches, rules, by_hand)
    at_once.judge()
    shuffled = data.draw(st.permutations(punches))
    cut = data.draw(st.integers(0, len(punches)))
    in_parts = store_of(shuffled[:cut], rules, by_hand)
    # An early pass writes nothing while every day is locked.
    in_parts.locked = {START.date() + timedelta(days=day) for day in range(60)}
    in_parts.judge()
    assert len(in_parts.records) == len(by_hand)
    in_parts.locked = set()
    in_parts.punches |= {punch.id: punch for punch in shuffled[cut:]}
    in_parts.judge()
    assert seen(in_parts) == seen(at_once)


@given(some_punches(), ANY_RULES, some_records_by_hand(), st.data())
@settings(max_examples=200, deadline=None)
def test_judging_twice_changes_nothing_whatever_came_before(punches, rules, by_hand, data):
    store = store_of([], rules, by_hand)
    for part in parts(data, punches):
        store.punches |= {punch.id: punch for punch in part}
        store.judge()
        changes_nothing_more(store)


def parts(data, punches):
    order = data.draw(st.permutations(punches))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=3)))
    return [order[a:b] for a, b in pairwise([0, *cuts, len(order)])]


@given(
    some_punches(),
    ANY_RULES,
    some_records_by_hand(),
    st.data(),
    st.sampled_from([timedelta(0), timedelta(hours=9), timedelta(days=3)]),
)
@settings(max_examples=200, deadline=None)
def test_every_punch_has_exactly_one_outcome_and_no_record_overlaps_another(punches, rules, by_hand, data, later):
    store = store_of([], rules, by_hand)
    now = max(punch.at for punch in punches) + later
    for part in parts(data, punches):
        store.punches |= {punch.id: punch for punch in part}
        judgement = store.judge(now)
        counted = Counter(verdict.punch_id for verdict in judgement.verdicts)
        assert counted == dict.fromkeys(store.punches, 1)
        check_records(store)
        check_punches(store, judgement)
        for verdict in judgement.verdicts:
            why = explain(verdict, judgement)
            assert why.sentence.endswith(".")
            assert why.change.endswith(".")


def check_punches(store, judgement):
    for punch in store.punches.values():
        linked = punch.record_id is not None
        assert linked == (punch.outcome == "imported") or punch.outcome in {"repeat_tap", "double_tap"}
        assert linked == (punch.imported_role is not None)
    for verdict in judgement.verdicts:
        waits = verdict.outcome in {Outcome.AWAITING, Outcome.FUTURE_TIMESTAMP}
        assert waits == (verdict.judge_at is not None) or verdict.outcome in {"repeat_tap", "double_tap"}
        assert verdict.judge_at is None or verdict.judge_at > judgement.now


@given(some_punches(), ANY_RULES, ANY_RULES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_changed_setting_terminal_or_lock_never_takes_back_what_stands(punches, rules, others, access):
    store = store_of(punches, rules)
    store.judge()
    stood = {number: punch for number, punch in store.punches.items() if punch.record_id is not None}
    records = dict(store.records)
    store.rules = others
    store.locked = {START.date()}
    if access:
        store.punches = {n: replace(p, is_access=True, direction="out") for n, p in store.punches.items()}
    store.judge()
    for number, punch in stood.items():
        after = store.punches[number]
        assert (after.record_id, after.imported_role) == (punch.record_id, punch.imported_role)
        assert after.outcome == punch.outcome
    assert all(store.records[number] == record or not access for number, record in records.items())
    for number, record in records.items():
        grown = store.records[number]
        assert grown.clock_in <= record.clock_in
        assert record.clock_out is None or grown.clock_out >= record.clock_out


@given(some_punches(), ANY_RULES, st.sampled_from([timedelta(hours=h) for h in (0, 5, 12, 30)]))
@settings(max_examples=100, deadline=None)
def test_at_its_deadline_a_waiting_punch_is_judged_again_and_time_alone_changes_nothing_before(punches, rules, later):
    store = store_of(punches, rules)
    now = punches[0].at + later
    judgement = store.judge(now)
    deadlines = [verdict.judge_at for verdict in judgement.verdicts if verdict.judge_at is not None]
    before = memory(store)
    if deadlines:
        store.judge(min(deadlines) - timedelta(microseconds=1))
        assert memory(store) == before
        due = {v.punch_id for v in judgement.verdicts if v.judge_at == min(deadlines) and v.outcome == "awaiting"}
        store.judge(min(deadlines))
        assert all(store.punches[number].outcome != "awaiting" for number in due)
    else:
        store.judge()
        assert memory(store) == before


@given(some_punches(most=26), ANY_RULES, some_records_by_hand(), st.data())
@settings(max_examples=250, deadline=None)
def test_judging_the_window_around_changed_punches_gives_what_judging_everything_gives(punches, rules, by_hand, data):
    check_windows(parts(data, punches), rules, by_hand)


@given(some_undirected_weeks(), ANY_RULES, st.data())
@settings(max_examples=150, deadline=None)
def test_so_it_does_for_undirected_taps_whose_shifts_hang_together(punches, rules, data):
    late = data.draw(st.lists(st.sampled_from(punches), max_size=2, unique=True))
    check_windows([[punch for punch in punches if punch not in late], *([punch] for punch in late)], rules)


@given(some_punches(most=20), ANY_RULES, st.data())
@settings(max_examples=200, deadline=None)
def test_so_it_does_when_punches_go_to_another_employee_or_change_their_role(punches, rules, data):
    touched = data.draw(st.lists(st.sampled_from(punches), min_size=1, max_size=3, unique=True))
    directions = data.draw(st.lists(st.sampled_from([None, "in", "out", "undirected"]), min_size=3, max_size=3))
    whole, windowed = store_of(punches, rules), store_of(punches, rules)
    for store in (whole, windowed):
        store.judge()
        for punch, direction in zip(touched, directions, strict=False):
            known = store.punches.pop(punch.id)
            if direction is not None:
                store.punches[punch.id] = replace(known, direction=direction)
    whole.judge()
    judge_window(windowed, [punch.at for punch in touched])
    assert seen(windowed) == seen(whole)


def check_windows(groups, rules, by_hand=()):
    whole, windowed = store_of([], rules, by_hand), store_of([], rules, by_hand)
    for part in groups:
        for store in (whole, windowed):
            store.punches |= {punch.id: punch for punch in part}
        whole.judge()
        judge_window(windowed, [punch.at for punch in part])
        assert seen(windowed) == seen(whole)
