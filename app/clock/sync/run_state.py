"""One run under way: its budget, its counters, and the transaction in which a page,
its cursor and the counters are written.

Which pages are read in which order is in sync/run.py; starting and closing the run's row is in sync/run_rows.py.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import call_log, lease
from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import WalkPosition
from app.clock.models import Cursor, SetAside
from app.clock.parsing import Parser, UnreadableRow
from app.clock.profiles import Profile
from app.clock.remote import RemoteClock
from app.clock.settings import ClockSettings
from app.counting import nearest
from app.outbound import CallRecord
from app.parts import Parts

Watch = Callable[[dict[str, Any]], None]
# Call records wait for the transaction of the next page. A run that has made so many calls without a page writes them
# without one.
_RECORDS_KEPT = 20
SHORTEST_INTERVAL = 15
# People come and go between pages: pages read hours apart are not one listing.
RESUMES_WITHIN = timedelta(hours=1)
# The last statement of every page: fence, counters and log in one trip. A stale holder updates no run and so writes
# nothing. The commit that follows need not wait for the disk: if the machine loses its power within a second, then
# rows, cursor and counters of the last pages are gone together, and the next run reads those pages again. A commit that
# builds on a page and does wait, such as attendance and the end of the run,
# takes everything before it to the disk as well.
_FINISH = text(
    f"""
    WITH kept AS (
        UPDATE clock_sync_lease SET expires_at = clock_timestamp() + :term
        WHERE id = 1 AND fence = :fence AND run_id IS NOT NULL RETURNING id
    ), logged AS (
        {call_log.INSERT_JSON}
    )
    UPDATE clock_sync_runs SET calls = :calls, resources = CAST(:resources AS jsonb), progress = CAST(:progress AS jsonb),
        findings = CAST(:findings AS jsonb)
    WHERE id = :run_id AND EXISTS (SELECT FROM kept)
    RETURNING stop_requested, set_config('synchronous_commit', 'off', true)
    """
)


class BudgetSpentError(Exception):
    """Time or calls of this run are used up; there is more to do."""


class StoppedError(Exception):
    """A person asked the run to end."""


@dataclass(slots=True)
class Budget:
    """What a run may take. `seconds` counts from now, `calls` every attempt, sign-ins included."""

    seconds: float
    calls: int
    made: int = 0
    _started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._started + self.seconds - time.monotonic())

    @property
    def spent(self) -> bool:
        return self.made >= self.calls or self.seconds_left <= 0


@dataclass(slots=True)
class Step:
    """One transaction of a run: what it adds to the counters is added with it or not at all."""

    db: AsyncSession
    counts: dict[str, Counts] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)

    def count(self, resource: str, counts: Counts) -> None:
        self.counts[resource] = self.counts.get(resource, Counts()) + counts


@dataclass(slots=True)
class RunState:
    """Everything that the steps of a run share. `generation` is that of the server's ids; `resumes`: this run continues
    one whose budget was spent. `newest_found` is the newest punch that was there when it began, `imported` what its own
    import made of punches that were there. `counted_up`: so many punches it had written when it last counted days."""

    parts: Parts
    workspace: str
    run_id: int
    fence: int
    settings: ClockSettings
    profile: Profile
    zone: ZoneInfo
    generation: int
    budget: Budget
    now: Callable[[], datetime]
    term: timedelta = lease.TERM
    watch: Watch | None = None
    resumes: bool = False
    newest_found: int = 0
    counted_up: int = 0
    imported: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counts] = field(default_factory=dict)
    findings: dict[str, Any] = field(default_factory=dict)
    stop_requested: bool = False
    _records: list[CallRecord] = field(default_factory=list)
    _remote: RemoteClock | None = None
    _parser: Parser | None = None

    @property
    def remote(self) -> RemoteClock:
        if self._remote is None:
            raise RuntimeError("this run has no client yet")
        return self._remote

    @property
    def parser(self) -> Parser:
        if self._parser is None:
            self._parser = Parser(self.profile, self.zone, self.remote.redactor)
        return self._parser

    @property
    def today(self) -> date:
        """The local date of the connection's zone."""
        return self.now().astimezone(self.zone).date()

    @property
    def horizon(self) -> date:
        return self.settings.horizon(self.today)

    def has_just_read(self, cursor: Cursor | None) -> bool:
        """True when a resumed run may skip what is complete. On a slow server it would never reach the history if the
        last days and all lists were read again each time."""
        return cursor is not None and cursor.state != "open" and self.was_just_here(cursor)

    def was_just_here(self, cursor: Cursor) -> bool:
        """True when a run that this one continues has tried this window."""
        interval = timedelta(minutes=max(self.settings.sync_interval_minutes, SHORTEST_INTERVAL))
        return self.resumes and self.now() - cursor.updated_at < interval

    def left_off(self, cursor: Cursor) -> WalkPosition | None:
        """Where the walk of an interrupted run continues; None when it starts over."""
        is_cut = cursor.state == "open" and cursor.page > 0
        return WalkPosition.of(cursor) if is_cut and self.now() - cursor.updated_at < RESUMES_WITHIN else None

    def use(self, remote: RemoteClock) -> None:
        self._remote = remote

    async def log(self, record: CallRecord) -> None:
        """Records one call. A failed one is written at once, because its step leaves no other trace."""
        self.budget.made += 1
        self._records.append(record)
        if record.tc_code is not None or len(self._records) >= _RECORDS_KEPT:
            await self.flush_log()

    async def flush_log(self) -> None:
        """Writes the calls down in a short transaction of their own."""
        records, self._records = self._records, []
        if not records:
            return
        try:
            async with self.parts.database.transaction(self.workspace) as db:
                await call_log.store(db, self.run_id, records)
        except BaseException:
            self._records[:0] = records
            raise

    def refuse_when_spent(self) -> None:
        """Raises StoppedError or BudgetSpentError where the next call may not be made."""
        if self.stop_requested:
            raise StoppedError
        if self.budget.spent:
            raise BudgetSpentError

    @asynccontextmanager
    async def writing(self, **progress: Any) -> AsyncIterator[Step]:
        """The transaction of one page. Raises LeaseLostError, and rolls back, when somebody else has taken over.

        Calls made so far go into it; when it fails, they are written later by themselves.
        """
        records, self._records = self._records, []
        try:
            async with self.parts.database.transaction(self.workspace) as db:
                step = Step(db, dict(self.counts), progress)
                yield step
                await self._finish(step, records)
        except BaseException:
            self._records[:0] = records
            raise
        self.counts = step.counts
        if self.watch is not None:
            self.watch(self._progress(step))

    async def renew(self) -> None:
        """Renews the lease alone. Raises LeaseLostError."""
        async with self.parts.database.transaction(self.workspace) as db:
            await lease.keep(db, self.fence, self.term)

    async def keep_aside(self, step: Step, resource: str, rows: Sequence[UnreadableRow]) -> None:
        """Stores rows that could not be read, redacted, with the reason."""
        if not rows:
            return
        values = [{"run_id": self.run_id, "resource": resource, "raw": row.raw, "reason": row.reason} for row in rows]
        await step.db.execute(insert(SetAside), values)

    async def _finish(self, step: Step, records: Sequence[CallRecord]) -> None:
        values = {
            "term": self.term,
            "fence": self.fence,
            "run_id": self.run_id,
            "calls": self.budget.made,
            "resources": _json({name: counts.plain() for name, counts in step.counts.items()}),
            "progress": _json(self._progress(step)),
            "findings": _json(self.findings),
            "records": _json(records),
        }
        found = (await step.db.execute(_FINISH, values)).one_or_none()
        if found is None:
            raise lease.LeaseLostError
        self.stop_requested = bool(found.stop_requested)

    def _progress(self, step: Step) -> dict[str, Any]:
        return {
            **step.progress,
            "rows": sum(counts.fetched for counts in step.counts.values()),
            "calls": self.budget.made,
            "calls_budget": self.budget.calls,
            "seconds_left": nearest(self.budget.seconds_left),
        }


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
