"""A sync from end to end, against the simulator over HTTP and real PostgreSQL."""

import pytest

from tests.clock.syncing import site


@pytest.mark.parametrize("profile", ["cloud", "onprem"])
async def test_a_first_sync_mirrors_everything_there_is(parts, profile):
    async with site(parts, profile) as here:
        end = await here.sync()
        assert (end.status, end.code) == ("succeeded", None)
        await here.holds_everything()
        counts = await here.rows("SELECT count(*) FROM clock_employees WHERE absent_since IS NULL")
        assert counts[0][0] == here.listed_people()
        assert await here.scalar("SELECT count(*) FROM clock_employee_bindings WHERE state <> 'unbound'") == len(
            here.world.people
        )
        assert await here.scalar("SELECT count(*) FROM clock_devices") == len(here.world.terminals)
        for table in ("departments", "positions", "areas"):
            assert await here.scalar(f"SELECT count(*) FROM clock_{table}") == len(getattr(here.world, table))
        assert end.resources["transactions"]["created"] == await here.punches()
        assert (await here.connection()).status == "healthy"
