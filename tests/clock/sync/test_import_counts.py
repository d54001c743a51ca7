"""What a run says its import came to, while other imports take its punches."""

import asyncio

from app.clock.importing import import_due
from app.clock.sync import after_mirror
from tests.clock.syncing import Site, site


async def of_run(here: Site, run_id: int) -> dict[str, int]:
    return dict((await here.row(run_id)).outcomes)


async def in_the_table(here: Site, run_id: int) -> dict[str, int]:
    counts = "SELECT import_outcome, count(*) FROM clock_transactions WHERE first_run_id = :run GROUP BY 1"
    return {row[0]: row[1] for row in await here.rows(counts, run=run_id)}


async def import_now(here: Site) -> import_due.ImportCounts:
    return await import_due.import_due(here.parts.database.transaction, now=here.now)


async def test_punches_that_another_import_took_are_counted_with_the_run_that_brought_them(parts, monkeypatch):
    async with site(parts) as here:

        async def another_import(_):
            assert (await import_now(here)).judged

        match, *rest = after_mirror.STEPS
        monkeypatch.setattr(after_mirror, "STEPS", (match, another_import, *rest))
        end = await here.sync()
        counts = await of_run(here, end.run_id)
        assert counts == await in_the_table(here, end.run_id)
        assert sum(counts.values()) == await here.punches()


async def test_imports_beside_a_run_neither_lose_nor_double_its_counts(parts):
    async with site(parts, employees=20) as here:
        await here.set(page_size=40)
        over = asyncio.Event()

        async def keep_importing():
            while not over.is_set():
                await import_now(here)

        beside = [asyncio.create_task(keep_importing()) for _ in range(2)]
        try:
            end = await here.sync()
        finally:
            over.set()
            await asyncio.gather(*beside)
        assert end.status == "succeeded"
        assert await of_run(here, end.run_id) == await in_the_table(here, end.run_id)


async def test_what_its_own_import_made_of_older_punches_counts_too(parts):
    async with site(parts) as here:
        first = await here.sync(**{"import": False})
        assert await of_run(here, first.run_id) == {}
        older = await here.punches()
        here.let_pass(hours=20)
        second = await here.sync()
        counts = await of_run(here, second.run_id)
        assert sum(counts.values()) == await here.punches() > older


async def test_the_counts_are_fixed_when_the_run_ends(parts):
    async with site(parts) as here:
        end = await here.sync()
        before = await of_run(here, end.run_id)
        await here.scalar("UPDATE clock_transactions SET import_outcome = NULL, judge_at = now() RETURNING 1")
        await import_now(here)
        here.let_pass(hours=1)
        await here.sync()
        assert await of_run(here, end.run_id) == before
