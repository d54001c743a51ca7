"""Reads one window of punches: walks its pages until everything the server says there is has come, at most four times.

Which windows are read is decided in punch_sync.py, when one is complete in sync/window_completeness.py, how rows are
written in mirror/punch_rows.py.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import partial
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import CLOCKS_APART, DAY, asked_bounds
from app.clock.mirror import cursors, punch_edits
from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import PUNCHES, WalkPosition
from app.clock.mirror.punch_rows import Target, make_people, make_terminals, write_punches
from app.clock.mirror.rezoning import IS_CURRENT
from app.clock.parsing import Parsed, ParsedPunch, UnreadableRow
from app.clock.punches import daily_totals
from app.clock.remote import Page
from app.clock.sync.page_walk import to_the_end, walk_until_complete
from app.clock.sync.run_state import RunState, Step
from app.clock.sync.window_completeness import Next, Seen, WalkTally, next_step

_HELD = text(
    f"""
    SELECT count(*) FROM clock_transactions
    WHERE id_generation = :generation AND gone_at_utc IS NULL AND local_date >= :first AND punched_at_local >= :start
      AND (CAST(:until AS date) IS NULL OR local_date <= :until)
      AND (CAST(:end AS timestamp) IS NULL OR punched_at_local <= :end)
      AND (CAST(:emp_code AS text) IS NULL OR emp_code = :emp_code)
      AND {IS_CURRENT}
    """
)

# Counting takes whole weeks each time, so it waits for this many changed punches.
MANY = 20_000


class TooLargeError(Exception):
    """The first page says that the window holds more rows than one walk should read."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.total = total


@dataclass(slots=True)
class PunchWindow:
    """What is asked for: days from `first` to before `until` (None: open), of one person or of all.

    `key` is the cursor's; rows before `floor` are dropped. `known` are digests of pages that are already mirrored
    without a difference. `forgiven` rows may be missing.
    """

    key: str
    first: date
    until: date | None
    floor: date
    emp_code: str | None = None
    known: frozenset[bytes] = frozenset()
    most_rows: int | None = None
    forgiven: int = 0


@dataclass(slots=True)
class Known:
    """Codes and serials that have a row. Grows with people and terminals, never with punches."""

    people: set[str]
    terminals: set[str]


@dataclass(slots=True)
class PunchWalk:
    """The pages of one window on their way into the mirror. `digests` are those of pages that are mirrored as they are,
    by number; `unreadable` holds a hash of each row that was set aside."""

    run: RunState
    window: PunchWindow
    known: Known
    seen: Seen
    unreadable: set[int] = field(default_factory=set)
    digests: dict[int, bytes] = field(default_factory=dict)
    strays: bool = False
    _parsed: dict[int, Parsed[ParsedPunch]] = field(default_factory=dict)

    async def fetch(self, number: int) -> Page:
        """Reads the rows as well: that is done while the page before is being written."""
        start, end = asked_bounds(self.window.first, self.window.until)
        size = self.run.settings.page_size
        page = await self.run.remote.fetch_page(PUNCHES, number, size, start, end, emp_code=self.window.emp_code)
        if page.digest not in self.window.known:
            self._parsed[number] = self.run.parser.punches(page.rows)
        return page

    def wants_next(self, page: Page, position: WalkPosition) -> bool:
        """Notes the rows of the page. Returns True when the next page is wanted."""
        return self.seen.note(self._hashes(page), page.total, position.total or 0) and to_the_end(page, position)

    def _hashes(self, page: Page) -> set[int]:
        if page.digest in self.window.known:
            return {hash(str(row["id"])) for row in page.rows}
        parsed = self._parsed[page.number]
        unreadable = set(_hashes_of(parsed.set_aside))
        self.unreadable |= unreadable
        return unreadable | {hash(punch.remote_id) for punch in parsed.rows}

    async def held(self) -> int:
        """Rows that are ours, whichever run brought them, and those of this one that could not be read."""
        return len(self.unreadable) + await _held(self.run, self.window)

    async def write(self, page: Page, position: WalkPosition) -> None:
        """Writes the page, or only counts it when the very same page is mirrored already."""
        if page.digest in self.window.known:
            await self._count_only(page, position)
        else:
            await self._mirror(page, position)
            await _count_up(self.run)
        most = self.window.most_rows
        if page.number == 1 and most is not None and page.total > most and not self.strays:
            raise TooLargeError(page.total)

    async def _count_only(self, page: Page, position: WalkPosition) -> None:
        async with self.run.writing(**self._progress(position)) as step:
            step.count(PUNCHES, Counts(fetched=len(page.rows), unchanged=len(page.rows)))
            await cursors.move(step.db, PUNCHES, self.window.key, position)
        ends = self.run.parser.punches([*page.rows[:1], *page.rows[-1:]]).rows
        self.strays = self.strays or _has_strays(self.window, ends)
        self.digests[page.number] = page.digest

    async def _mirror(self, page: Page, position: WalkPosition) -> None:
        parsed = self._parsed.pop(page.number)
        self.strays = self.strays or _has_strays(self.window, parsed.rows)
        floor = datetime.combine(self.window.floor, time())
        wanted = [punch for punch in parsed.rows if punch.punched_at_local >= floor]
        if self.window.emp_code is not None:
            wanted = [punch for punch in wanted if punch.emp_code == self.window.emp_code]
        async with self.run.writing(**self._progress(position)) as step:
            new_people, new_terminals, others = await self._store(step, page, wanted, parsed.set_aside)
            await cursors.move(step.db, PUNCHES, self.window.key, position)
        self.known.people |= new_people
        self.known.terminals |= new_terminals
        self.digests.pop(page.number, None)
        if not parsed.set_aside and not others:
            self.digests[page.number] = page.digest

    async def _store(
        self, step: Step, page: Page, wanted: Sequence[ParsedPunch], aside: Sequence[UnreadableRow]
    ) -> tuple[set[str], set[str], Sequence[UnreadableRow]]:
        run = self.run
        target = Target(run.run_id, run.generation, by_instant=run.profile.name == "cloud")
        people = {punch.emp_code for punch in wanted} - self.known.people
        aliases = {
            punch.terminal_sn: punch.terminal_alias
            for punch in wanted
            if punch.terminal_sn is not None and punch.terminal_sn not in self.known.terminals
        }
        mirrored = await write_punches(step.db, target, wanted)
        if people:
            await make_people(step.db, sorted(people))
        if aliases:
            await make_terminals(step.db, aliases)
        others = run.parser.aside(page.rows, mirrored.others, punch_edits.ASIDE)
        await run.keep_aside(step, PUNCHES, [*aside, *others])
        step.count(PUNCHES, mirrored.counts + Counts(fetched=len(page.rows), set_aside=len(aside)))
        return people, set(aliases), others

    def _progress(self, position: WalkPosition) -> dict[str, Any]:
        return {
            "resource": PUNCHES,
            "window": self.window.key,
            "from": self.window.first.isoformat(),
            "until": self.window.until.isoformat() if self.window.until else None,
            "page": position.page,
            "total": position.total,
            "walk": position.walks + 1,
        }


@dataclass(frozen=True, slots=True)
class WindowEnd:
    """`complete`: everything the server counted came. `digests` are pages that are mirrored as they are. `everything`:
    rows of any day came, so this server ignores what it is asked for, and all that it has was read. `unreadable` rows
    were set aside. `ids` are hashes of the ids of everything that the server has here,
    None when this run alone does not know that."""

    complete: bool
    total: int
    came: int
    began_at: datetime | None
    digests: list[bytes]
    everything: bool = False
    unreadable: int = 0
    ids: AbstractSet[int] | None = None


async def read_window(run: RunState, known: Known, window: PunchWindow, position: WalkPosition) -> WindowEnd:
    """Walks the window on from `position` until it is complete, or sync/window_completeness.py gives up.
    All walks count together.

    Raises TooLargeError after the first page, and what `walk` raises.
    """
    walking = PunchWalk(run, window, known, Seen(position.page > 0, position.total, window.forgiven))
    tally, position = await walk_until_complete(run, position, walking)
    return _ended(walking, position, tally)


def _ended(walking: PunchWalk, position: WalkPosition, tally: WalkTally) -> WindowEnd:
    complete = next_step(tally) is Next.COMPLETE
    digests = [digest for _, digest in sorted(walking.digests.items())]
    everything = complete and walking.strays
    unreadable = len(walking.unreadable)
    ids = walking.seen.rows if complete and _knows_all(walking, tally) else None
    return WindowEnd(complete, tally.total, tally.seen, position.began_at, digests, everything, unreadable, ids)


def _knows_all(walking: PunchWalk, tally: WalkTally) -> bool:
    """True when each row was read by this run itself, and as what it was asked for."""
    read = not walking.seen.resumed and len(walking.seen.rows) >= tally.total
    return read and not walking.strays and not walking.unreadable


def _hashes_of(aside: Sequence[UnreadableRow]) -> Iterator[int]:
    """What tells unreadable rows apart: their text, and among equal ones of a page which of them it is."""
    times: Counter[str] = Counter()
    for row in aside:
        times[row.raw] += 1
        yield hash((row.raw, times[row.raw]))


def _has_strays(window: PunchWindow, punches: Sequence[ParsedPunch]) -> bool:
    """Rows that no way of reading the bounds explains."""
    start, end = asked_bounds(window.first, window.until)
    low, high = start - CLOCKS_APART, end + CLOCKS_APART if end is not None else None
    return any(punch.punched_at_local < low or (high and punch.punched_at_local > high) for punch in punches)


async def _held(run: RunState, window: PunchWindow) -> int:
    """Rows of ours within the bounds that were asked with: what came before a walk was cut is known
    from the table alone."""
    async with run.parts.database.transaction(run.workspace) as db:
        return await held(db, run.generation, window.first, window.until, window.emp_code)


async def held(db: AsyncSession, generation: int, first: date, until: date | None, emp_code: str | None = None) -> int:
    start, end = asked_bounds(first, until)
    values = {
        "generation": generation, "first": first - DAY, "start": start, "until": until, "end": end, "emp_code": emp_code
    }  # fmt: skip
    return (await db.scalar(_HELD, values)) or 0


async def _count_up(run: RunState) -> None:
    """Counts the changed days once many punches were written since this run last did. Until a day is counted up, each
    page counts its punches one by one."""
    counts = run.counts.get(PUNCHES, Counts())
    written = counts.created + counts.updated
    if written - run.counted_up >= MANY:
        await daily_totals.roll_up_in(partial(run.parts.database.transaction, run.workspace))
        run.counted_up = written
