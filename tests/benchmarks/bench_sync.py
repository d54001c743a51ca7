"""How fast and how small a sync is: `python -m tests.benchmarks.bench_sync [PUNCHES…]` (default 100000 1000000).

The simulator runs in a process of its own, and so does each measured sync, so that its peak memory is its own. Prints
punches a second, the share of a bare COPY and INSERT of the same rows in the same run, the peak memory of each size,
and what a run costs that finds nothing new: our own processor time, and the time on the wall. Of the first run it
prints each step after the mirror, with the processor time of the server's sessions beside our own:
on a busy machine that says more than the wall.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import uvloop
from sqlalchemy import text

from app.accounts.audit import COMMAND_LINE
from app.clock.connection import saved as connection
from app.clock.connection.connection_form import ConnectionForm
from app.clock.settings import write_settings
from app.clock.sync import after_mirror, run_rows
from app.clock.sync import run as sync
from app.clock.sync.run_state import RunState
from app.config import read_settings
from app.db.migrate import migrate
from app.parts import Parts, make_parts
from app.secrets import Secret, new_key_text
from app.simulator import PASSWORD, USERNAME
from tests.cluster import open_cluster

ZONE = "Europe/Berlin"
PUNCHES_A_PERSON_AND_DAY = 2.81
DAYS = 200


def main() -> None:
    if sys.argv[1:2] == ["measure"]:
        if profile := os.environ.get("BENCH_PROFILER"):
            import cProfile

            cProfile.runctx("asyncio.run(_measure(*sys.argv[2:]))", globals(), locals(), f"{profile}.{sys.argv[2]}")
        else:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as the commands and workers do
                runner.run(_measure(*sys.argv[2:]))
        return
    sizes = [int(size) for size in sys.argv[1:]] or [100_000, 1_000_000]
    with open_cluster() as cluster:
        template = cluster.make_template("bench", lambda url: asyncio.run(_migrate(url, cluster.app_role)))
        for size in sizes:
            urls = cluster.clone(template)
            try:
                _bench(size, urls.app)
            finally:
                cluster.drop(urls)


async def _migrate(owner_url: str, app_role: str) -> None:
    await migrate(owner_url, app_role, workspaces=["main"])


def _bench(size: int, database_url: str) -> None:
    profile = os.environ.get("BENCH_PROFILE", "onprem")
    employees = max(1, round(size / DAYS / PUNCHES_A_PERSON_AND_DAY))
    port = 9_700 + os.getpid() % 200
    simulator = subprocess.Popen(
        [sys.executable, "-m", "app.simulator", "--port", str(port), "--profile", profile, "--employees", str(employees),
         "--days", str(DAYS), "--zone", ZONE],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said = "".join(simulator.stdout.readline() for _ in range(2)) if simulator.stdout else ""
        print(f"\n{size:,} punches wanted;{said.splitlines()[-1]}")
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "MUSTER_DATA_DIR": folder, "MUSTER_SECRET_KEYS": new_key_text("bench"),
                           "MUSTER_OUTBOUND_ALLOW": f"127.0.0.1/32:{port}"}  # fmt: skip
            for stage in ("first", "nothing-new", "bare"):
                subprocess.run(
                    [sys.executable, "-m", "tests.benchmarks.bench_sync", "measure", stage, database_url, str(port),
                     profile],
                    env=environment, check=True, cwd=Path(__file__).parents[2],
                )  # fmt: skip
    finally:
        simulator.terminate()
        simulator.wait()


async def _measure(stage: str, database_url: str, port: str, profile: str) -> None:
    parts = make_parts(read_settings(os.environ), database_url)
    try:
        match stage:
            case "first":
                await _connect(parts, f"http://127.0.0.1:{port}", profile)
                await _first(parts)
            case "bare":
                await _bare(parts)
            case _:
                await _nothing_new(parts)
    finally:
        await parts.close()


async def _connect(parts: Parts, address: str, profile: str) -> None:
    start = (datetime.now(UTC) - timedelta(days=DAYS + 10)).date()
    async with parts.database.transaction() as db:
        await connection.save(
            db, parts.keys, COMMAND_LINE, ConnectionForm(address, USERNAME, profile, ZONE, Secret(PASSWORD))
        )
        await write_settings(
            db, COMMAND_LINE, {"history_start": start, "run_budget_calls": 100_000, "run_budget_seconds": 7200}
        )


async def _first(parts: Parts) -> None:
    marks: list[tuple[float, float]] = []

    def watch(progress: dict[str, Any]) -> None:
        if progress.get("resource") == "transactions":
            marks.append((time.perf_counter(), time.process_time()))

    after_mirror.STEPS = tuple(_measured(parts, step) for step in after_mirror.STEPS)
    started, cpu = time.perf_counter(), time.process_time()
    end = await _run(parts, watch)
    took = time.perf_counter() - started
    assert end.status == "succeeded", end
    mirrored = end.resources["transactions"]
    punches = mirrored["created"]
    mirror_s = marks[-1][0] - marks[0][0]
    print(f"  first sync: {punches:,} punches in {mirror_s:.1f} s = {punches / mirror_s:,.0f} punches/s "
          f"({mirrored['fetched']:,} rows fetched); own processor time {marks[-1][1] - marks[0][1]:.1f} s")  # fmt: skip
    print(f"  whole run with totals: {took:.1f} s, own processor time {time.process_time() - cpu:.1f} s, "
          f"the server's {await _server_s(parts):.1f} s")  # fmt: skip
    print(f"  peak memory of the sync's process: {_peak_mib():.0f} MiB")


def _measured(parts: Parts, step: after_mirror.Step) -> after_mirror.Step:
    async def measured(run: RunState) -> None:
        started, cpu, server = time.perf_counter(), time.process_time(), await _server_s(parts)
        await step(run)
        print(f"  {step.__name__}: {time.perf_counter() - started:.1f} s, own processor time "
              f"{time.process_time() - cpu:.1f} s, the server's {await _server_s(parts) - server:.1f} s")  # fmt: skip

    return measured


async def _server_s(parts: Parts) -> float:
    """Processor time of our sessions so far; nan where the server runs elsewhere."""
    async with parts.database.transaction() as db:
        rows = await db.scalars(text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()"))
        pids = rows.all()
    found = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    if not found or any("postgres" not in one.name() for one in found):
        return float("nan")
    return sum(times.user + times.system for times in (one.cpu_times() for one in found))


async def _bare(parts: Parts) -> None:
    """The same rows once more, without server, parsing, cursors and counters: COPY of 500, one INSERT, commit."""
    from app.clock.mirror import punch_rows
    from app.clock.parsing import ParsedPunch

    async with parts.database.transaction() as db:
        rows = (
            await db.execute(text(f"SELECT {', '.join(punch_rows.COLUMNS)} FROM clock_transactions ORDER BY id"))
        ).all()
    await _empty(parts)
    pages = [
        [
            ParsedPunch(
                remote_id=row.remote_id, emp_code=row.emp_code, punched_at_raw=row.punched_at_raw,
                punched_at_local=row.punched_at_local, punched_at_utc=row.punched_at_utc, code=row.punch_code,
                verify=row.verify_code, terminal_sn=row.terminal_sn, terminal_alias=row.terminal_alias,
                temperature=float(row.temperature) if row.temperature is not None else None,
                uploaded_at_utc=row.uploaded_at_utc, photo_ref=row.photo_ref,
            )
            for row in rows[at : at + 500]
        ]
        for at in range(0, len(rows), 500)
    ]  # fmt: skip
    started = time.perf_counter()
    for page in pages:
        async with parts.database.transaction() as db:
            await punch_rows._copy(db, page)
            await db.execute(punch_rows._INSERT, {"generation": 1, "run_id": 1})
    took = time.perf_counter() - started
    print(f"  bare COPY and INSERT of the same rows: {len(rows) / took:,.0f} punches/s ({took:.1f} s)")


async def _empty(parts: Parts) -> None:
    async with parts.database.transaction() as db:
        await db.execute(text("DELETE FROM clock_transactions"))


async def _nothing_new(parts: Parts) -> None:
    for name in ("first again", "and again"):
        started, cpu = time.perf_counter(), time.process_time()
        end = await _run(parts, None)
        assert end.resources["transactions"]["created"] < 50, end  # the simulator's time continues
        print(f"  nothing new ({name}): own processor time {time.process_time() - cpu:.2f} s, on the wall "
              f"{time.perf_counter() - started:.2f} s, {end.resources['transactions']['fetched']:,} rows looked at")  # fmt: skip


async def _run(parts: Parts, watch: Any) -> run_rows.RunEnd:
    async with parts.database.transaction() as db:
        run_id, _ = await run_rows.start_run(db, "command", {}, COMMAND_LINE)
    return await sync.run(parts, "main", run_id, watch=watch)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
