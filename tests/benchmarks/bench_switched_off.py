"""How long pages are away when the primary's machine loses its power:
`python -m tests.benchmarks.bench_switched_off [--times 10]`.

PostgreSQL 15 and its standby on loopback. At once the system confirms no packet to the primary and refuses none, and
the standby is promoted. Printed: the seconds until a page works again.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.standby.switched_off import portal

OK, LOOK_S = 200, 0.1


async def main(times: int) -> None:
    spent = sorted([await once() for _ in range(times)])
    print(f"a page again after: median {spent[times // 2]:.1f} s, at most {spent[-1]:.1f} s")


async def once() -> float:
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        async with portal(Path(folder)) as made:
            await made.status()
            began = time.monotonic()
            await made.switch_off()
            while await made.status() != OK:  # noqa: ASYNC110 - that is what is measured
                await asyncio.sleep(LOOK_S)
            spent = time.monotonic() - began
    print(f"{spent:.1f} s", flush=True)
    return spent


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=10)
    asyncio.run(main(parser.parse_args().times))
