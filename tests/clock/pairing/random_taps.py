"""Any taps at all, what is edited of them, and what must hold for a store that judged them:
shared by the property tests."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import strategies as st

from app.clock.pairing import judge as pairing
from app.clock.pairing import widening
from app.clock.pairing.inputs import Case, PairingPunch, Record, TimeSpan
from tests.clock.mirror_store import ALICE, FAR, RULES, Store, when

START = when("08:00")
# Steps that fall on and around every limit of the page, and a few of no meaning.
SECONDS = (0, 3, 10, 11, 60, 240, 300, 301, 600, 1799, 1800, 8 * 3600 - 1, 14 * 3600 + 1, 24 * 3600 + 1)
HOURS = (1, 4, 8, 9, 11, 14, 24, 40, 48, 60)
STEPS = st.sampled_from((*SECONDS, *(hours * 3600 for hours in HOURS)))
BY_CODE = [("by_code", code) for code in (0, 0, 1, 1, 2, 3, 4, 5, 255)]
SIGNS = st.sampled_from([*BY_CODE, ("undirected", 0), ("undirected", 0), ("in", 9), ("out", 9)])
VARIANTS = [
    RULES,
    replace(RULES, double_tap_fix=False),
    replace(RULES, import_single_punches=True),
    replace(RULES, double_tap_minutes=15, repeat_tap_seconds=60, shift_gap_hours=4),
    replace(RULES, undirected_min_minutes=0, undirected_max_hours=10, repeat_tap_seconds=0),
]
ANY_RULES = st.sampled_from(VARIANTS)


@st.composite
def some_punches(draw, most=12):
    steps = draw(st.lists(st.tuples(STEPS, SIGNS), min_size=1, max_size=most))
    ids = draw(st.permutations(range(1, len(steps) + 1)))
    at, made = START, []
    for number, (step, (direction, code)) in zip(ids, steps, strict=True):
        at += timedelta(seconds=step)
        made.append(PairingPunch(number, str(number), "100", at, code, "T1", direction))
    return made


def store_of(punches, rules, by_hand=()):
    store = Store(rules=rules)
    store.punches = {punch.id: punch for punch in punches}
    store.records = {record.id: record for record in by_hand}
    return store


@st.composite
def some_records_by_hand(draw):
    """None, one or two records of regular hours that a person made, some of them open."""
    found, at = [], START
    for number in range(1, 1 + draw(st.integers(0, 2))):
        at += timedelta(hours=draw(st.sampled_from(HOURS)))
        end = draw(st.sampled_from([None, at + timedelta(hours=4), at + timedelta(hours=9)]))
        found.append(Record(number, ALICE.id, "regular", at.date(), at, end, source="manual"))
        at = end or at + timedelta(seconds=1)
    return found


def seen(store):
    return {
        number: (p.outcome, p.record_id and show(store.records[p.record_id])) for number, p in store.punches.items()
    }


def show(record):
    return record.kind, record.clock_in, record.clock_out, record.breaks, record.workday


def some_edits(data, punches):
    numbers = data.draw(st.lists(st.sampled_from([one.id for one in punches]), min_size=1, max_size=4))
    for number in numbers:
        direction, code = data.draw(SIGNS)
        step = timedelta(seconds=data.draw(STEPS) * data.draw(st.sampled_from([-1, 0, 1])))
        yield number, step, {"direction": direction, "code": code}


def memory(store):
    return {n: (p.outcome, p.record_id, p.imported_role) for n, p in store.punches.items()}, store.records


def changes_nothing_more(store):
    before = memory(store)
    judgement = store.judge()
    assert not judgement.creates
    assert not judgement.updates
    assert not any(verdict.is_news for verdict in judgement.verdicts)
    assert memory(store) == before


def check_records(store):
    for kind in ("regular", "overtime"):
        rows = sorted((r for r in store.records.values() if r.kind == kind), key=lambda r: r.clock_in)
        for row, following in pairwise(rows):
            assert (row.clock_out or row.clock_in + timedelta(microseconds=1)) <= following.clock_in
        for row in rows:
            assert row.clock_out is None or row.clock_in < row.clock_out <= row.clock_in + timedelta(hours=24)
            inside = [moment for pair in row.breaks for moment in pair]
            assert sorted(set(inside)) == inside
            assert not inside or (row.clock_in <= inside[0] and (row.clock_out is None or inside[-1] <= row.clock_out))


def judge_window(store, changed):
    """What the importer does: read, widen until whole, judge the part."""
    for cluster in widening.clusters(changed, store.rules):
        window = widening.JudgingWindow(widening.first_reading(cluster, store.rules), None)
        for _ in range(40):
            span = window.reading
            read = [punch for punch in store.punches.values() if span.start <= punch.at < span.end]
            records = list(store.records.values())
            window = widening.widen(Case(ALICE, read, records, store.rules, FAR), cluster, span)
            if window.within is not None:
                break
        assert window.within is not None
        near = {number for punch in read for number in (punch.record_id, punch.edited_record)}
        known = [r for r in records if r.id in near or touches(r, span)]
        judgement = pairing.judge(Case(ALICE, read, known, store.rules, FAR, within=window.within))
        store.apply(judgement)


def touches(record, span: TimeSpan):
    return record.clock_in < span.end and (record.clock_out or record.clock_in) >= span.start
