"""When a window of punches is complete: a table of cases, and walks over servers that page in any order
while rows arrive."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.mirror.cursors import WalkPosition
from app.clock.remote import Page
from app.clock.sync.page_walk import to_the_end, walk_until_complete
from app.clock.sync.run_state import Budget
from app.clock.sync.window_completeness import LOOKS, WALKS, Next, Seen, WalkTally, next_step

CASES = [
    ("everything came", WalkTally(500, 500, 500, 1), Next.COMPLETE),
    ("an empty window", WalkTally(0, 0, 0, 1), Next.COMPLETE),
    ("more came than the server counts now", WalkTally(500, 499, 498, 1), Next.COMPLETE),
    ("as many as there were, and ten arrived", WalkTally(500, 500, 510, 1), Next.LOOK),
    ("ten arrived, and four of them came", WalkTally(504, 500, 510, 1, looks=1), Next.LOOK),
    ("the last look brought all of them", WalkTally(511, 500, 511, 1, looks=LOOKS), Next.COMPLETE),
    ("looks do not help", WalkTally(504, 500, 510, 1, looks=LOOKS), Next.WALK),
    ("nor do they after the last walk", WalkTally(504, 500, 510, WALKS, looks=LOOKS), Next.GIVE_UP),
    ("after the last walk looks are taken all the same", WalkTally(504, 500, 510, WALKS), Next.LOOK),
    ("rows that were there at first are missing", WalkTally(499, 500, 510, 1), Next.WALK),
    ("the total is one too high", WalkTally(499, 500, 500, 1), Next.WALK),
    ("the total is one too high for ever", WalkTally(499, 500, 500, WALKS), Next.GIVE_UP),
    ("one too high, and a person accepted that", WalkTally(499, 500, 500, 1, forgiven=1), Next.COMPLETE),
    ("one is accepted, two are missing", WalkTally(498, 500, 500, WALKS, forgiven=1), Next.GIVE_UP),
    ("one is accepted, and ten arrived", WalkTally(499, 500, 510, 1, forgiven=1), Next.LOOK),
    ("the total went down, and rows with it", WalkTally(495, 500, 500, 1), Next.WALK),
    ("the next page 1 says the smaller total", WalkTally(495, 500, 495, 1), Next.COMPLETE),
    ("a page repeated the one before", WalkTally(500, 500, 500, 1, repeated=True), Next.WALK),
    ("pages repeat for ever", WalkTally(40, 500, 500, WALKS, repeated=True), Next.GIVE_UP),
]


@pytest.mark.parametrize(("tally", "step"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_follows_a_walk(tally, step):
    assert next_step(tally) is step


@dataclass
class Endless:
    """The run that walks: no person stops it."""

    budget: Budget = field(default_factory=lambda: Budget(60, 1000))

    def refuse_when_spent(self):
        pass


@dataclass
class Server:
    """Rows in the order in which this server lists them. `arrivals` says for each call how many rows come in before it
    is answered, and where; `shuffles` for each call how the order changes; both end some time."""

    rows: list[int]
    size: int
    arrivals: list[list[float]] = field(default_factory=list)
    shuffles: list[int] = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)
    calls: int = 0
    most: int = 0

    async def fetch(self, number):
        if self.calls:
            self._let_arrive()
        self.calls += 1
        start = (number - 1) * self.size
        return Page("transactions", number, self.rows[start : start + self.size], len(self.rows), None, None)

    def _let_arrive(self):
        for place in self.arrivals.pop(0) if self.arrivals else ():
            self.rows.insert(round(place * len(self.rows)), 1_000_000 + self.most)
            self.most += 1
        if self.shuffles and self.rows:
            by = self.shuffles.pop(0) % len(self.rows)
            self.rows = self.rows[::-1] if by % 3 == 0 else [*self.rows[by:], *self.rows[:by]]

    async def write(self, page, position):
        pass

    def wants_next(self, page, position):
        return self.seen.note(set(page.rows), page.total, position.total or 0) and to_the_end(page, position)

    async def held(self):
        return len(self.seen.rows)


def walked(server):
    """(how it ended, what followed from it)."""
    tally, _ = asyncio.run(walk_until_complete(Endless(), WalkPosition(), server))
    return tally, next_step(tally)


PLACES = st.floats(0, 1)
ARRIVALS = st.lists(st.lists(PLACES, max_size=3), max_size=25)


@settings(max_examples=300)
@given(st.integers(0, 60), st.integers(1, 20), ARRIVALS, st.lists(st.integers(0, 100), max_size=40))
def test_a_complete_walk_has_seen_every_row_that_was_there_when_it_began(count, size, arrivals, shuffles):
    server = Server(list(range(count)), size, arrivals, shuffles)
    _, step = walked(server)
    if step is Next.COMPLETE:
        assert server.seen.rows >= set(range(count))


@settings(max_examples=200)
@given(st.integers(1, 400), st.integers(5, 60), st.integers(2, 9), st.sampled_from([0.0, 1.0]))
def test_rows_that_arrive_at_one_end_cost_no_second_walk(count, size, every, end):
    """Newest first or oldest first, one row every second to ninth call."""
    arrivals = [[end] if call % every == 0 else [] for call in range(1000)]
    server = Server(list(range(count)), size, arrivals)
    tally, step = walked(server)
    assert (step, tally.walks) == (Next.COMPLETE, 1)
    pages = -(-len(server.rows) // size)
    assert server.calls <= pages + LOOKS + server.most // size + 1


def test_more_arrivals_than_fit_a_page_are_read_from_the_front():
    arrivals = [[0.0]] * 100
    server = Server(list(range(150)), 10, arrivals)
    tally, step = walked(server)
    assert (step, tally.walks) == (Next.COMPLETE, 1)


def test_a_server_that_loses_rows_of_its_own_is_walked_to_the_end_again():
    class Slipping(Server):
        async def fetch(self, number):
            page = await super().fetch(number)
            lost = 2 if self.calls <= 12 and number > 1 else 0
            return Page("transactions", number, page.rows[lost:], page.total, None, None)

    tally, step = walked(Slipping(list(range(100)), 10))
    assert (step, tally.walks) == (Next.COMPLETE, 2)


def test_a_total_that_shrinks_meanwhile_is_believed_from_the_next_first_page_on():
    class Purging(Server):
        async def fetch(self, number):
            if self.calls == 3:
                del self.rows[-5:]
            return await super().fetch(number)

    server = Purging(list(range(95)), 10)
    tally, step = walked(server)
    assert (step, tally.total) == (Next.COMPLETE, 90)
    assert server.seen.rows == set(range(90))
    assert server.calls == 9 + 1


def test_a_page_cap_that_does_not_divide_the_rows_costs_nothing():
    server = Server(list(range(103)), 50)
    tally, step = walked(server)
    assert (step, server.calls, tally.seen) == (Next.COMPLETE, 3, 103)
