"""A process whose children sync and are killed with -9 at random moments;
after each death it looks what the database holds.

Reads one JSON object from stdin: {database_url, owner_url, keys, kills, seed, ids, bug}. Ends with 0 when every look
was fine, with 3 and a sentence when something was lost, doubled or counted wrongly. Children are forked from a process
that has everything loaded, so that a death costs milliseconds.
"""

import asyncio
import gc
import hashlib
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import uvloop

from app.accounts.audit import COMMAND_LINE
from app.clock.mirror import cursors
from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import PUNCHES
from app.clock.sync import punch_window, run_rows
from app.clock.sync import run as sync
from app.clock.sync.run_state import RunState, Step
from app.config import read_settings
from app.parts import Parts, make_parts

NOW = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)
# Of what a first whole sync takes: so the hundred deaths are spread over several syncs on any machine.
LONGEST_LIFE, LONGEST_LIFE_S = 0.15, 0.3
# A run that continues passes over what was just read: so most deaths come while punches are written.
TRIGGERS = ("resume", "resume", "command")
TERM = timedelta(milliseconds=1)
CAUGHT = 3
TABLES = {
    "departments": "clock_departments", "positions": "clock_positions", "areas": "clock_areas",
    "locations": "clock_locations", "devices": "clock_devices", "employees": "clock_employees",
    "transactions": "clock_transactions",
}  # fmt: skip
# Whether somebody came past the lists: who is to die later need not read them again, which takes most of a life.
LISTED = "SELECT count(*) FROM clock_sync_cursors WHERE resource = 'transactions'"
WIPED = (
    *TABLES.values(), "clock_employee_bindings", "clock_binding_history", "clock_sync_cursors", "clock_sync_runs",
    "clock_api_logs", "clock_stale_days", "clock_analytics_daily", "clock_transaction_counts", "clock_set_aside",
)  # fmt: skip


class LostError(Exception):
    """The database does not hold what it should."""


def main() -> int:
    told = json.loads(sys.stdin.read())
    dice = random.Random(told["seed"])
    parts = _parts(told)
    began = time.monotonic()
    _sync_here(parts)
    longest_s = min(LONGEST_LIFE_S, LONGEST_LIFE * (time.monotonic() - began))
    kills = finished = 0
    gc.disable()  # else each child copies all that was loaded, by looking through it for what it could let go of
    with psycopg.connect(told["owner_url"], autocommit=True) as db:
        db.execute("SET search_path TO main, shared")
        _wipe(db)
        if told["bug"]:
            BUGS[told["bug"]]()
        while kills < told["kills"]:
            # One in four dies at birth or among the lists, the others once they write punches.
            after_s, trigger, young = dice.uniform(0, longest_s), dice.choice(TRIGGERS), dice.random() < 1 / 4
            died = _live_and_die(parts, after_s, trigger, young=young, lists=young or not _number(db, LISTED))
            kills += died
            try:
                _look(db)
                if not died:
                    finished += 1
                    _look_at_the_end(db, told["ids"])
                    _wipe(db)
            except LostError as error:
                sys.stdout.write(f"after {kills} kills: {error}")
                return CAUGHT
        while _live_and_die(parts, 120, "command", young=True, lists=True):
            pass
        _look(db)
        _look_at_the_end(db, told["ids"])
    sys.stdout.write(f"{kills} kills, {finished + 1} times to the end")
    return 0


def _parts(told: dict[str, Any]) -> Parts:
    named = {
        "MUSTER_DATA_DIR": "/nonexistent",
        "MUSTER_SECRET_KEYS": told["keys"],
        "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32",
    }
    return make_parts(read_settings(named), told["database_url"], pool_size=6)


def _sync_here(parts: Parts) -> None:
    """Once in this process, so that every child is born with warm caches; no connection is left open for it."""

    async def go() -> None:
        await _sync(parts, "command")
        await parts.close()

    _run(go())


def _run(work: Coroutine[Any, Any, None]) -> None:
    """In a loop as the worker has it."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


async def _sync(parts: Parts, trigger: str, grown_up: Callable[[], None] = lambda: None, *, lists: bool = True) -> None:
    def watch(progress: dict[str, Any]) -> None:
        if progress.get("resource") == PUNCHES:
            grown_up()

    async with parts.database.transaction() as db:
        request = {"import": False} if lists else {"import": False, "resources": [PUNCHES]}
        run_id, _ = await run_rows.start_run(db, trigger, request, COMMAND_LINE)
    while True:
        end = await sync.run(parts, "main", run_id, term=TERM, now=lambda: NOW, watch=watch)
        if end.status != "running":
            break
    if end.status not in ("succeeded", "truncated"):
        raise LostError(f"the run ended {end}")


def _live_and_die(parts: Parts, after_s: float, trigger: str, *, young: bool, lists: bool) -> bool:
    """Whether the child had to be killed; False when it came to its end before. The time counts from birth when it dies
    young, else from when it came to the punches. Without `lists` it reads nothing but those."""
    hears, tells = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _run(_sync(parts, trigger, lambda: _tell(tells), lists=lists))
            code = 0
        finally:
            os._exit(code)
    os.close(tells)
    try:
        if not young:
            select.select([hears], [], [], 120)  # readable too when the child has ended
        return _kill_after(child, after_s)
    finally:
        os.close(hears)


def _tell(tells: int) -> None:
    os.write(tells, b"!")


def _kill_after(child: int, after_s: float) -> bool:
    deadline = time.monotonic() + after_s
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status:
                raise RuntimeError("a sync failed by itself")
            return False
        if time.monotonic() >= deadline:
            break
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _look(db: psycopg.Connection[Any]) -> None:
    """What must hold at any moment: counters and rows agree, and no cursor is ahead of the rows."""
    _await_orphans(db)
    counted = {name: Counts() for name in TABLES}
    for (resources,) in db.execute("SELECT resources FROM clock_sync_runs").fetchall():
        for name, counts in resources.items():
            counted[name] += Counts(**counts)
    for name, table in TABLES.items():
        held = _number(db, f"SELECT count(*) FROM {table}")
        counts = counted[name]
        if counts.created != held:
            raise LostError(f"{name}: {counts.created} counted as created, {held} held")
        if counts.fetched != counts.created + counts.updated + counts.unchanged:
            raise LostError(f"{name}: the counters do not add up: {counts}")
    open_walks = db.execute(
        "SELECT done_until, slice_until, rows_seen, kind, starts_on, ends_on FROM clock_sync_cursors"
        " WHERE resource = 'transactions' AND page > 0 AND walks = 0 AND kind <> 'check'"
    ).fetchall()
    for done_until, slice_until, seen, *_ in open_walks:
        until = slice_until + timedelta(days=1) if slice_until else None
        held = _number(
            db,
            "SELECT count(*) FROM clock_transactions WHERE local_date >= %s AND (%s::date IS NULL OR local_date <= %s)",
            [done_until - timedelta(days=2), until, until],
        )
        if held < seen:
            raise LostError(f"the cursor has seen {seen} punches of its window, {held} are held")
    bound = _number(db, "SELECT count(*) FROM clock_employee_bindings")
    if bound != _number(db, "SELECT count(*) FROM clock_employees"):
        raise LostError("somebody has no binding")


def _await_orphans(db: psycopg.Connection[Any]) -> None:
    """The dead child's server process may still be finishing a statement;
    what it does then is part of what is looked at."""
    for _ in range(2000):
        others = _number(
            db,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND application_name = 'muster'",
        )
        if not others:
            return
        time.sleep(0.002)
    raise RuntimeError("connections of a dead process stay")


def _look_at_the_end(db: psycopg.Connection[Any], ids: str) -> None:
    rows = [remote_id for (remote_id,) in db.execute("SELECT remote_id FROM clock_transactions").fetchall()]
    if len(rows) != len(set(rows)) or digest(rows) != ids:
        raise LostError(f"at the end {len(rows)} punches are held, and not exactly those of the server")
    days = _number(db, "SELECT coalesce(sum(total), 0) FROM clock_analytics_daily WHERE dimension = 'all'")
    if days != len(rows):
        raise LostError(f"the daily totals say {days}, {len(rows)} punches are held")


def digest(ids: Any) -> str:
    """One word for a set of ids."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _number(db: psycopg.Connection[Any], statement: str, values: Any = None) -> int:
    row = db.execute(statement, values).fetchone()
    return int(row[0]) if row else 0


def _wipe(db: psycopg.Connection[Any]) -> None:
    _await_orphans(db)
    db.execute(f"TRUNCATE {', '.join(WIPED)} CASCADE")
    db.execute("DELETE FROM shared.jobs")


# Between the two halves of a planted bug: on a quick machine the gap is else so short that no kill may fall into it.
SLOW_DISK_S = 0.1


def _cursor_before_rows() -> None:
    """The bug this test exists for: the cursor is committed, and then the page is written."""
    write = punch_window.PunchWalk.write

    async def write_late(self: Any, page: Any, position: Any) -> None:
        async with self.run.parts.database.transaction(self.run.workspace) as db:
            await cursors.move(db, PUNCHES, self.window.key, position)
        await asyncio.sleep(SLOW_DISK_S)
        await write(self, page, position)

    punch_window.PunchWalk.write = write_late  # type: ignore[method-assign]


def _rows_before_counters() -> None:
    """Its twin: the page is committed, and then it is counted."""

    @asynccontextmanager
    async def writing(self: Any, **progress: Any) -> Any:
        async with self.parts.database.transaction(self.workspace) as db:
            step = Step(db, dict(self.counts), progress)
            yield step
        await asyncio.sleep(SLOW_DISK_S)
        async with self.parts.database.transaction(self.workspace) as db:
            step.db = db
            await self._finish(step, [])
        self.counts = step.counts
        self.watch(progress)

    RunState.writing = writing  # type: ignore[method-assign]


BUGS = {"cursor before rows": _cursor_before_rows, "rows before counters": _rows_before_counters}

if __name__ == "__main__":
    sys.exit(main())
