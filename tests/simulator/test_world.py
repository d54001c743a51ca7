"""The world behind the server: made from a seed, and moving on."""

import time
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.simulator import build_world
from app.simulator.days import UNDIRECTED
from app.simulator.punches import PunchTable
from tests.simulator.visitor import NOW, ZONE, small_world


def everything(world):
    return [world.punches[index] for index in range(len(world.punches))]


def test_the_same_seed_makes_the_same_world():
    assert everything(small_world()) == everything(small_world())
    assert small_world().people == small_world().people


def test_another_seed_makes_another_world():
    assert everything(build_world(8, 40, 7, 8, NOW, ZONE)) != everything(small_world())


def test_more_people_only_add_to_those_who_are_there():
    assert small_world(employees=60).people[:40] == small_world(employees=40).people


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 5 * 86400), st.integers(1, 86400))
def test_moving_on_leads_to_the_world_that_would_have_been_built_later(ahead, further):
    first_day = NOW.date() - timedelta(days=4)
    moved = build_world(7, 12, 4, 8, NOW, ZONE)
    moved.advance(moved.now + ahead)
    moved.advance(moved.now + further)
    later = NOW + timedelta(seconds=ahead + further)
    days = (later.astimezone(moved.zone).date() - first_day).days
    assert everything(moved) == everything(build_world(7, 12, days, 8, later, ZONE))


def test_a_server_started_again_later_gives_the_same_punch_the_same_id():
    """Else every restart of the demo would look like a restored database."""
    first = {punch.number: punch for punch in everything(small_world(days=9))}
    later = {punch.number: punch for punch in everything(build_world(7, 90, 6, 8, NOW + timedelta(days=1), ZONE))}
    shared = first.keys() & later.keys()
    assert len(shared) > 400
    assert all(first[number] == later[number] for number in shared)
    since = min(punch.punched for punch in later.values()) + 86400
    assert {number for number, punch in first.items() if punch.punched > since} <= later.keys()


def test_ids_fit_any_json_reader():
    world = build_world(7, 30, 3, 8, datetime(2080, 1, 1, tzinfo=UTC), ZONE)
    world.punch(0, 0, world.now, 0)
    assert 0 < max(world.punches.number) < 2**53


def test_punches_are_sorted_by_their_time_and_numbered_in_order_of_arrival():
    punches = everything(small_world(employees=100, days=20))
    assert punches == sorted(punches)
    arrivals = [punch.punched + punch.delay for punch in sorted(punches, key=lambda punch: punch.number)]
    assert arrivals == sorted(arrivals)
    assert len({punch.number for punch in punches}) == len(punches)


def test_nothing_has_arrived_before_it_could():
    world = small_world(employees=100, days=20)
    assert max(punch.punched + punch.delay for punch in everything(world)) <= world.now


def test_realistic_days_have_all_that_a_mirror_must_cope_with():
    world = small_world(employees=300, days=28)
    punches = everything(world)
    codes = Counter(punch.code for punch in punches)
    assert set(codes) == {0, 1, 2, 3, 4, 5, UNDIRECTED}
    assert {punch.verify for punch in punches} >= {0, 1, 2, 15, 20}
    assert {world.terminals[punch.terminal].habit for punch in punches} == {
        "coded", "in", "out", "undirected", "one_code", "door",
    }  # fmt: skip
    assert any(punch.delay < 0 for punch in punches), "a clock that is fast"
    assert any(punch.delay > 86400 for punch in punches), "a terminal that was offline"
    assert {0, 255} < {punch.heat for punch in punches}
    assert has_repeat_taps(punches)
    assert has_forgotten_taps(world, punches)
    assert any(person.last_name is None for person in world.people)
    assert any(person.code.startswith("00") for person in world.people)
    assert any(not person.code.isdecimal() for person in world.people)
    assert any(not person.attendance for person in world.people)
    hours = {datetime.fromtimestamp(punch.punched, UTC).hour for punch in punches}
    assert hours == set(range(24)), "something arrives at any hour"


def has_repeat_taps(punches):
    last = {}
    for punch in punches:
        before = last.get((punch.person, punch.code), 0)
        if 0 < punch.punched - before < 10:
            return True
        last[punch.person, punch.code] = punch.punched
    return False


def has_forgotten_taps(world, punches):
    coded = [punch for punch in punches if world.people[punch.person].style == 0]
    per_code = Counter(punch.code for punch in coded)
    return per_code[0] != per_code[1]


def test_a_lone_terminal_serves_everybody():
    world = build_world(7, 30, 5, 1, NOW, ZONE)
    assert len(world.punches) > 100
    assert set(world.punches.terminal) == {0}


def test_a_world_without_people_is_empty_and_moves_on():
    world = build_world(7, 0, 5, 1, NOW, ZONE)
    assert len(world.punches) == world.advance(world.now + 86400) == 0


def test_wall_clock_hours_stay_when_the_clocks_change():
    """Berlin, 30 March 2025: the night shift begins before and the day's people come after the change, by the clock."""
    world = build_world(7, 200, 6, 8, datetime(2025, 4, 3, tzinfo=UTC), ZONE)
    starts = Counter()
    for punch in everything(world):
        local = datetime.fromtimestamp(punch.punched, world.zone)
        if punch.code == 0 and world.people[punch.person].rota == 1:
            starts[local.date()] += 1
            assert 4 <= local.hour <= 9 or world.people[punch.person].style, local
    assert datetime(2025, 3, 30).date() in starts


def test_a_late_row_is_put_where_it_belongs():
    world = small_world()
    middle = world.punches.punched[len(world.punches) // 2]
    number = world.punch(0, 0, middle, 0)
    assert everything(world) == sorted(everything(world))
    index = world.punches.find(number)
    assert index is not None
    assert world.punches[index].punched == middle


def test_windows_include_both_bounds():
    table = PunchTable()
    world = small_world()
    times = world.punches.punched
    low, high = world.punches.window(times[5], times[20])
    assert list(times[low:high]) == [instant for instant in times if times[5] <= instant <= times[20]]
    assert table.window(None, None) == (0, 0)
    assert world.punches.window(times[20], times[5])[0] == world.punches.window(times[20], times[5])[1]


@pytest.mark.slow
def test_a_large_world_is_built_compactly():
    begun = time.perf_counter()
    world = build_world(7, 2000, 30, 8, NOW, ZONE)
    took = time.perf_counter() - begun
    print(f"\n{len(world.punches):,} punches in {took:.1f} s, {len(world.punches) / took:,.0f} a second")  # noqa: T201 -- for a person who looks, with -s
    assert len(world.punches) > 150_000
    size = sum(len(column) * column.itemsize for column in world.punches.columns)
    assert size / len(world.punches) < 48
