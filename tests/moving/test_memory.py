"""A large tenant moves in as little memory as a small one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.cluster import TestCluster
from tests.moving.installations import TENANT, Installation, empty

_MEASURED = "import resource, sys; from app.cli import main\ntry: main()\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
ROWS = 250_000
# Kibibytes. The rows are a quarter of a gibibyte.
MORE = 48 * 1024


async def peak(here: Installation, *arguments: object) -> int:
    """The most memory that the command took, in kibibytes."""
    ended = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _MEASURED, *map(str, arguments),
        env={**os.environ, **here.muster().environment}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await ended.communicate()
    assert ended.returncode == 0, err.decode()
    return int(out.split()[-1])


@pytest.mark.slow
async def test_memory_does_not_grow_with_the_tenant(cluster: TestCluster, tmp_path: Path) -> None:
    peaks = []
    for rows in (0, ROWS):
        here, there = empty(cluster, tmp_path), empty(cluster, tmp_path)
        assert (await here.muster()("tenant:create", TENANT, "--name", "Acme")).code == 0
        here.run(
            "INSERT INTO clock_set_aside (run_id, resource, raw, reason)"
            " SELECT n, 'punches', repeat(md5(n::text), 32), 'test' FROM generate_series(1, %s) AS n",
            rows,
        )
        file = tmp_path / f"{rows}.muster"
        peaks.append((await peak(here, "tenant:export", TENANT, file), await peak(there, "tenant:import", file)))
        assert there.rows("SELECT count(*) FROM clock_set_aside") == [(rows,)]
        for one in (here, there):
            cluster.drop(one.urls)
    for small, large in zip(*peaks, strict=True):
        assert large - small < MORE, peaks
