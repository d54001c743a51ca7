"""The import: has due punches judged by the pairing core and carries its intents out,
a batch of people per transaction.

The rules are app.clock.pairing.judge's. What a batch does is in importing/batch.py,
what is read and written in importing/rows.py.
"""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import due as due_punches
from app.clock.importing import unbound
from app.clock.importing.batch import ImportCounts, import_batch, rehearse_batch
from app.clock.importing.due import DateSpan
from app.clock.importing.owners import OwnersChangedError, read_owners
from app.clock.mirror import gone, rezoning
from app.clock.pairing.inputs import PairingEmployee
from app.clock.punches import changes, daily_totals, rebinding, rejudging
from app.clock.punches.rejudging import RejudgedSlice
from app.faults import described
from app.problems import looking

__all__ = [
    "ImportCounts",
    "ImportFailedError",
    "OwnersChangedError",
    "import_due",
    "import_marked",
    "rehearse",
]

log = structlog.get_logger()

BATCH = 3000
# While the server writes one batch, the next one is judged: they are of different people.
PARALLEL = 2
# A changed rule is in no hurry: on two cores pages take 1.5 times as long beside one batch, 3.5 times beside two.
REJUDGED_AT_ONCE = 1
TRIES = 3
Open = Callable[[], AbstractAsyncContextManager[AsyncSession]]
Progress = Callable[[int, int], Awaitable[bool]]
Batch = Callable[[AsyncSession, Sequence[str], datetime], Awaitable[ImportCounts]]
Due = Sequence[tuple[str, int]]
T = TypeVar("T")


class ImportFailedError(Exception):
    """TC-IMPORT: a batch failed three times. Nothing of it was written, and the import ended."""

    code = "TC-IMPORT"


async def import_due(
    open_transaction: Open, *, now: datetime | None = None, progress: Progress | None = None
) -> ImportCounts:
    """Gives punches the times of a new zone, slice by slice (mirror/rezoning.py), and marks those of changed owners
    (rebinding.py). Then judges everything that is due, and after it, slice by slice, what changes of rules and
    terminals concern (rejudging.py). `progress(done, of)` is called after each batch of due punches, and then after
    each slice. When it returns False, that part of the work stops.
    At the end it asks for a look for problems, after a failure too.

    Raises ImportFailedError. Judging reads what surrounds the due punches, so its cost depends on what changed.
    """
    try:
        total = await _import_all(open_transaction, now, progress)
    except Exception:
        # When the database can't be reached, this fails too. The caller needs the first error.
        with suppress(Exception):
            await _ask_for_look(open_transaction)
        raise
    await _ask_for_look(open_transaction)
    return total


async def _ask_for_look(open_transaction: Open) -> None:
    async with open_transaction() as db:
        await looking.look_soon(db)


async def _import_all(open_transaction: Open, now: datetime | None, progress: Progress | None) -> ImportCounts:
    while await _with_retries(open_transaction, rezoning.rewrite_slice, given_up=False):
        # Counts the changed days after each slice. Otherwise pages would count them from the punches until the last
        # slice is done.
        await daily_totals.roll_up_in(open_transaction)
    while await _with_retries(open_transaction, rebinding.mark_slice, given_up=False):
        pass
    # Only changes that have begun by now. A later one would miss punches that another import is judging by the earlier
    # rules, because they have no outcome until it commits. It has asked for an import of its own. For the changes of
    # now, a due punch waits for the other import.
    async with open_transaction() as db:
        begun = await rejudging.under_way(db)
    total = await import_marked(open_transaction, now=now, progress=progress)
    next_slice = partial(_next_slice, begun=begun)
    while total.complete and (part := await _with_retries(open_transaction, next_slice, None)):
        judged = await _judge_slice(open_transaction, part, now, progress)
        # Here, too. The next slice changes only the last of these days again.
        await daily_totals.roll_up_in(open_transaction)
        total.add(judged)
        total.complete = judged.complete
    return total


async def _judge_slice(
    open_transaction: Open, part: RejudgedSlice, now: datetime | None, progress: Progress | None
) -> ImportCounts:
    """Not complete where a batch of it was left out: the next import begins with this slice again."""
    due = [(code, len(instants)) for code, instants in sorted(part.instants.items())]
    waiting = sum(number for _, number in due)
    work = _Work(open_transaction, max(now or part.now, part.now), progress, of=waiting, at_once=REJUDGED_AT_ONCE)
    judged = await work.judge(due, partial(import_batch, instants=part.instants))
    judged.complete = judged.complete and not work.left_out
    if judged.complete:
        await _with_retries(open_transaction, partial(rejudging.end_slice, part=part), None)
    return judged


async def import_marked(
    open_transaction: Open, *, now: datetime | None = None, progress: Progress | None = None, newest_found: int = 0
) -> ImportCounts:
    """Judges only what is due, and nothing while a change of zone is under way. Outcomes of punches with an id above
    `newest_found` are counted in `newer` as well. For `progress` and errors see `import_due`."""
    at = now or datetime.now(UTC)
    async with open_transaction() as db:
        if await changes.what_holds_back(db):
            return ImportCounts()
    await gone.carry_out(open_transaction, at)
    due = await _due(open_transaction, at)
    work = _Work(open_transaction, at, progress, of=sum(waiting for _, waiting in due))
    if work.of > due_punches.PORTION:
        # New punches are counted before they are judged. Otherwise pages would count them from the rows until the
        # import ends.
        await daily_totals.roll_up_in(open_transaction)
    if due and await work.settle_unbound(newest_found):
        due = await _due(open_transaction, at)
    if work.of > due_punches.PORTION:
        return await work.judge_portions(newest_found)
    return await work.judge(due, partial(import_batch, newest_found=newest_found))


async def rehearse(
    open_transaction: Open, *, now: datetime | None = None, progress: Progress | None = None
) -> ImportCounts:
    """What `import_due` would do; nothing is written."""
    at = now or datetime.now(UTC)
    due = await _due(open_transaction, at)
    return await _Work(open_transaction, at, progress, of=sum(waiting for _, waiting in due)).judge(due, rehearse_batch)


async def _next_slice(db: AsyncSession, begun: Sequence[int]) -> RejudgedSlice | None:
    return None if await changes.what_holds_back(db) else await rejudging.next_slice(db, begun)


async def _due(open_transaction: Open, now: datetime, within: DateSpan | None = None) -> Due:
    async with open_transaction() as db:
        return await due_punches.due_codes(db, now, within)


@dataclass
class _Work:
    """One import under way; `of` is how many punches were due when it began. `left_out`: a batch was not judged, since
    its owners change all the time or a change holds the import back."""

    open_transaction: Open
    now: datetime
    progress: Progress | None
    of: int
    at_once: int = PARALLEL
    done: int = 0
    left_out: bool = False
    total: ImportCounts = field(default_factory=ImportCounts)
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def settle_unbound(self, newest_found: int) -> int:
        """Judges the punches of unbound codes without the pairing core. Returns how many."""
        rolled_up = 0
        async with aclosing(unbound.find(self.open_transaction, self.now)) as found:
            async for ids in found:
                cut = bisect_right(ids, newest_found)
                before = self.total.judged
                for part, is_newer in ((ids[:cut], False), (ids[cut:], True)):
                    if part:
                        self.total.add(await self._settle(part, is_newer=is_newer))
                if not await self._may_continue(self.total.judged - before):
                    break
                rolled_up = await self._roll_up_after(rolled_up)
        return self.done

    async def _roll_up_after(self, before: int) -> int:
        """Counts the changed days once enough punches were judged since `before` punches were."""
        if self.done - before < due_punches.PORTION:
            return before
        await daily_totals.roll_up_in(self.open_transaction)
        return self.done

    async def judge_portions(self, newest_found: int) -> ImportCounts:
        """The rest, some weeks at a time, the newest first. The changed days are counted before each portion: a page
        that asks for an outcome counts the punches of one portion, and not those of all years."""
        async with self.open_transaction() as db:
            days = await due_punches.due_days(db, self.now)
        for within in due_punches.portions(days):
            await daily_totals.roll_up_in(self.open_transaction)
            due = await _due(self.open_transaction, self.now, within)
            await self.judge(due, partial(import_batch, newest_found=newest_found, within=within))
            if not self.total.complete:
                break
        return self.total

    async def _settle(self, ids: Sequence[int], *, is_newer: bool) -> ImportCounts:
        async def settle(db: AsyncSession) -> tuple[int, int]:
            return await unbound.settle(db, ids, self.now) if await changes.may_judge(db) else (0, 0)

        judged, number = await _with_retries(self.open_transaction, settle, (0, 0))
        news = Counter({unbound.NOT_BOUND: number} if number else {})
        return ImportCounts(judged, news, news if is_newer else Counter())

    async def judge(self, due: Due, batch: Batch) -> ImportCounts:
        """The rest, person by person."""
        if not due or not self.total.complete:
            return self.total
        async with self.open_transaction() as db:
            batches = iter(await _batches(db, due))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.at_once):
                    group.create_task(self._judge_some(batches, batch))
        except BaseExceptionGroup as several:  # the first error; the others were cancelled
            first = several.exceptions[0]
            raise first from first.__cause__
        return self.total

    async def _judge_some(self, batches: Iterator[tuple[Sequence[str], int]], batch: Batch) -> None:
        """Judges one batch after the other, until none is left or the import is stopped."""
        for codes, waiting in batches:
            if not self.total.complete:
                return
            judged = await self._judge_batch(batch, codes)
            self.left_out = self.left_out or not judged.complete
            self.total.add(judged)
            await self._may_continue(waiting)

    async def _judge_batch(self, batch: Batch, codes: Sequence[str]) -> ImportCounts:
        async def attempt(db: AsyncSession) -> ImportCounts:
            return await batch(db, codes, self.now)

        return await _with_retries(self.open_transaction, attempt, ImportCounts(complete=False))

    async def _may_continue(self, done: int) -> bool:
        async with self.telling:
            self.done += done
            if self.progress is not None and not await self.progress(self.done, self.of):
                self.total.complete = self.done >= self.of
                return False
            return True


async def _batches(db: AsyncSession, due: Sequence[tuple[str, int]]) -> list[tuple[list[str], int]]:
    """Codes in groups of about BATCH due punches; all codes of one employee are in one group."""
    who = await read_owners(db, [code for code, _ in due])
    groups: dict[object, list[tuple[str, int]]] = {}
    for code, waiting in due:
        owner = who[code]
        groups.setdefault(owner.id if isinstance(owner, PairingEmployee) else code, []).append((code, waiting))
    batches: list[tuple[list[str], int]] = []
    for group in groups.values():
        waiting = sum(number for _, number in group)
        if not batches or batches[-1][1] + waiting > BATCH:
            batches.append(([], 0))
        codes, before = batches[-1]
        batches[-1] = ([*codes, *(code for code, _ in group)], before + waiting)
    return batches


async def _with_retries(open_transaction: Open, attempt: Callable[[AsyncSession], Awaitable[T]], given_up: T) -> T:
    """What `attempt` returns, or `given_up` where owners change all the time. Raises ImportFailedError."""
    moved = failed = 0
    while True:
        try:
            async with open_transaction() as db:
                return await attempt(db)
        except OwnersChangedError:
            moved += 1
            if moved > TRIES * TRIES:
                return given_up
        except Exception as error:  # the same fault would break this batch again: three times is TC-IMPORT
            failed += 1
            cause = described(error)
            log.warning("a batch of the import failed", attempt=failed, error=cause)
            if failed == TRIES:
                raise ImportFailedError(f"The attendance import failed {TRIES} times ({cause}).") from error
