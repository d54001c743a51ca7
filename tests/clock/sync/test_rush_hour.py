"""Punches arrive while the server's pages are read, newest first: the run succeeds, and finished days are judged."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.clock.figures import completeness as progress
from tests.clock.syncing import Site, site

UNJUDGED = "SELECT count(*) FROM clock_transactions WHERE import_outcome IS NULL AND local_date < :today"


@contextmanager
def busy(here: Site, every: int = 5) -> Iterator[list[int]]:
    """Lets one punch arrive before every fifth page of punches;
    collects the numbers of the pages that were asked for."""
    answer, asked = here.simulator.answer, list[int]()
    people = itertools.cycle(range(len(here.world.people)))

    def arriving(call, struck):
        if call.resource == "transactions":
            asked.append(int(call.query["page"]))
            if len(asked) % every == 0:
                here.world.punch(next(people), 0, here.world.now + len(asked), 0)
        return answer(call, struck)

    here.simulator.answer = arriving
    try:
        yield asked
    finally:
        here.simulator.answer = answer


@pytest.mark.parametrize("order", ["newest_first", "page_cap_50"])
async def test_every_run_of_a_rush_hour_succeeds_with_few_calls(parts, order):
    async with site(parts, "onprem", [order], employees=40, days=6) as here:
        await here.set(page_size=20)
        await here.sync_punches()
        for _ in range(3):
            here.let_pass(minutes=15)
            with busy(here) as asked:
                end = await here.sync(resources=["transactions"])
            assert (end.status, end.message) == ("succeeded", None)
            assert len(asked) <= 1.2 * max(asked)


async def test_shuffled_pages_newest_first_with_arrivals_need_no_quiet_moment(parts):
    faults = ["newest_first", "unstable_paging,at=transactions", "page_cap_50=20"]
    async with site(parts, "onprem", faults, employees=30, days=6) as here:
        for _ in range(3):
            here.let_pass(minutes=15)
            with busy(here):
                end = await here.sync(resources=["transactions"])
            assert (end.status, end.message) == ("succeeded", None)
        await here.sync(resources=["transactions"])
        await here.holds_everything()


async def test_what_arrives_meanwhile_holds_neither_the_point_in_time_nor_the_import_back(parts):
    async with site(parts, "onprem", ["newest_first"], employees=20, days=6) as here:
        await here.set(page_size=20)
        with busy(here):
            await here.sync()
        async with parts.database.transaction() as db:
            up_to, why = await progress.complete_up_to(db, here.now)
        assert (up_to, why) == (here.now, None)
        assert await here.scalar(UNJUDGED, today=here.now.date()) == 0


async def test_days_that_were_read_before_are_judged_while_a_later_walk_does_not_end(parts):
    async with site(parts, "onprem", employees=20, days=6) as here:
        await here.set(page_size=20)
        await here.sync(**{"import": False})
        here.faults("page_repeats,at=transactions")
        here.let_pass(hours=2)
        end = await here.sync()
        assert (end.status, end.code) == ("partial", "TC-TRUNCATED")
        assert await here.scalar(UNJUDGED, today=here.now.date()) == 0
