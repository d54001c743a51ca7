"""Kill a sync with -9 anywhere, a hundred times: nothing is lost, nothing is there twice, and the counters say so.

The same look at the database must catch two bugs that are planted on purpose: without that, it would prove nothing.
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from app.simulator.rows import hex_id
from tests.clock.syncing import Site, site
from tests.cluster import DatabaseUrls
from tests.conftest import KEYS
from tests.faults.mortal import CAUGHT, NOW, digest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


async def run_mortal(here: Site, urls: DatabaseUrls, *, kills: int, bug: str = "") -> tuple[int, str]:
    """(exit code, what it said) of the process that lets its children die."""
    table = here.world.punches
    told = {
        "database_url": urls.app,
        "owner_url": urls.owner,
        "keys": KEYS,
        "kills": kills,
        "seed": 20261120,
        "ids": digest(hex_id(number) for number in table.number),
        "bug": bug,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.faults.mortal", cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate(json.dumps(told).encode())
    return process.returncode or 0, said.decode()


async def test_a_hundred_kills_lose_nothing_and_double_nothing(parts, urls):
    async with site(parts, employees=25, days=12, now=NOW) as here:
        await here.set(page_size=40, history_start="2026-11-01")
        code, said = await run_mortal(here, urls, kills=100)
        assert code == 0, said
        assert said.startswith("100 kills"), said


@pytest.mark.parametrize("bug", ["cursor before rows", "rows before counters"])
async def test_a_planted_bug_is_caught_by_the_same_look(parts, urls, bug):
    async with site(parts, employees=25, days=12, now=NOW) as here:
        await here.set(page_size=40, history_start="2026-11-01")
        code, said = await run_mortal(here, urls, kills=100, bug=bug)
        assert code == CAUGHT, said
        assert "kills:" in said
