"""The nightly check: the server's counts of the last 31 days, and of everything, against the rows held.

It only finds days to read again; punch_sync.py reads them. What differed before and was read completely is remembered:
servers that misread the filter count differently every night.
"""

from datetime import date, datetime, time, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import CHECK_DAYS, DAY, DaySpan, check_is_due, days_to_check, gaps, halves, live_first
from app.clock.mirror import cursors
from app.clock.mirror.cursors import CHECK, LIVE, PUNCHES, START
from app.clock.mirror.shortfalls import explains
from app.clock.models import Cursor
from app.clock.punches import changes
from app.clock.sync.run_state import RunState

SMALLEST = 7
KEPT = 400
_HELD = text(
    "SELECT count(*) FROM clock_transactions WHERE id_generation = :generation AND gone_at_utc IS NULL"
    " AND local_date >= :first"
    " AND (CAST(:until AS date) IS NULL OR local_date < :until)"
)


async def compare_days(run: RunState) -> None:
    """Counts each of the last 31 days; those that differ become stretches to read. Continues where a run was
    interrupted.

    The cursor's page says how many days back it has come: on the first day more of them are read from run to run.
    """
    async with run.parts.database.transaction(run.workspace) as db:
        rows = await cursors.read_all(db)
        if await changes.what_moves_times(db):
            return  # some punches still lie on the days of the zone before
    if any(row.kind == LIVE and (row.pending or {}).get("everything") for row in rows):
        return  # this server ignores what it is asked for: its counts say nothing, and the live walk reads all there is
    found = next((row for row in rows if row.window == CHECK), None)
    now_local = run.now().astimezone(run.zone)
    if found is None or found.state != "open" or found.ends_on != run.today:
        if not check_is_due(now_local, found.ends_on if found is not None else None):
            return
        found = await _begin(run, found)
    for day in days_to_check(run.today, cursors.known_spans(rows, run.zone)):
        back = (run.today - day).days
        if back > found.page:
            await _compare(run, DaySpan(day, day + DAY), page=back)


async def compare_total(run: RunState) -> bool:
    """Counts everything since the horizon; where that differs, older days are searched by halves.

    Returns True when there are days to read now. Does nothing before all history is read, because the counts differ
    until then.
    """
    async with run.parts.database.transaction(run.workspace) as db:
        if await changes.what_moves_times(db):
            return False
        rows = await cursors.read_all(db)
    found = next((row for row in rows if row.window == CHECK), None)
    if found is None or found.state != "open" or found.ends_on != run.today:
        return False
    wanted = DaySpan(run.horizon, live_first(run.today, run.horizon))
    reading = any(row.kind == CHECK and row.window != CHECK and row.state == "open" for row in rows)
    if reading or gaps(wanted, cursors.known_spans(rows, run.zone)):
        return False
    everything = DaySpan(run.horizon, date.max)
    theirs = await _theirs(run, everything)
    async with run.parts.database.transaction(run.workspace) as db:
        ours = await _held(db, run.generation, everything)
        remembered = await _explained(db, everything, theirs, ours)
    if not remembered:
        older = DaySpan(run.horizon, max(run.horizon, run.today - CHECK_DAYS * DAY))
        if older.days and await _search(run, older):
            return True
    await _remember(run, everything, theirs, ours, state="complete")
    return False


async def remember(run: RunState, row: Cursor) -> None:
    """The days of a check have been read to the end: if the counts still differ, this difference is accepted."""
    if row.starts_on is None or row.ends_on is None:
        return
    span = DaySpan(row.starts_on, row.ends_on + DAY)
    async with run.parts.database.transaction(run.workspace) as db:
        ours = await _held(db, run.generation, span)
    await _remember(run, span, (row.pending or {}).get("theirs", -1), ours, drop=row.window)


async def _begin(run: RunState, found: Cursor | None) -> Cursor:
    async with run.writing(resource=PUNCHES, window=CHECK) as step:
        await cursors.write(
            step.db, PUNCHES, CHECK, kind="check", state="open", ends_on=run.today,
            pending=(found.pending if found is not None else None) or {}, **START.columns(),
        )  # fmt: skip
        fresh = await cursors.read(step.db, PUNCHES, CHECK)
    if fresh is None:
        raise AssertionError("unreachable: it was just written")
    return fresh


async def _search(run: RunState, span: DaySpan) -> bool:
    """Halves what differs until it is a week or less; those become stretches to read."""
    if span.days <= SMALLEST:
        return await _compare(run, span, page=None)
    theirs = await _theirs(run, span)
    async with run.parts.database.transaction(run.workspace) as db:
        if await _explained(db, span, theirs, await _held(db, run.generation, span)):
            return False
    found = [await _search(run, half) for half in halves(span)]
    return any(found)


async def _compare(run: RunState, span: DaySpan, page: int | None) -> bool:
    """Compares one span. When it differs in a new way, notes that it is to be read, and returns True."""
    theirs = await _theirs(run, span)
    async with run.writing(resource=PUNCHES, window=CHECK, day=span.first.isoformat()) as step:
        ours = await _held(step.db, run.generation, span)
        remembered = await _explained(step.db, span, theirs, ours)
        if not remembered:
            await cursors.write(
                step.db, PUNCHES, f"check:{span.first}", kind="check", state="open", slice_until=None,
                starts_on=span.first, ends_on=span.until - DAY, done_until=span.first, **START.columns(),
                note=f"The server counts {theirs}, {ours} are held.", pending={"theirs": theirs},
            )  # fmt: skip
        if page is not None:
            await cursors.write(step.db, PUNCHES, CHECK, kind="check", page=page)
    return not remembered


async def _theirs(run: RunState, span: DaySpan) -> int:
    run.refuse_when_spent()
    open_top = span.until == date.max
    end = None if open_top else datetime.combine(span.until, time()) - timedelta(seconds=1)
    return await run.remote.count(PUNCHES, datetime.combine(span.first, time()), end)


async def _explained(db: AsyncSession, span: DaySpan, theirs: int, ours: int) -> bool:
    """True when the counts are equal, differ just as they did when these days were last read to the end, or differ by
    what a person has accepted."""
    if theirs == ours:
        return True
    rows = await cursors.read_all(db)
    found = next((row for row in rows if row.window == CHECK), None)
    remembered = ((found.pending if found is not None else None) or {}).get(_name(span)) == [theirs, ours]
    return remembered or explains(rows, span, theirs - ours)


async def _remember(
    run: RunState, span: DaySpan, theirs: int, ours: int, *, drop: str | None = None, **values: Any
) -> None:
    async with run.writing(resource=PUNCHES, window=CHECK) as step:
        found = await cursors.read(step.db, PUNCHES, CHECK)
        oldest = (run.today - KEPT * DAY).isoformat()
        kept = {name: pair for name, pair in ((found.pending if found else None) or {}).items() if name >= oldest}
        pending = {**kept, _name(span): [theirs, ours]}
        await cursors.write(step.db, PUNCHES, CHECK, kind="check", pending=pending, **values)
        if drop is not None:
            await cursors.drop(step.db, drop)


async def _held(db: AsyncSession, generation: int, span: DaySpan) -> int:
    values = {"generation": generation, "first": span.first, "until": None if span.until == date.max else span.until}
    return (await db.scalar(_HELD, values)) or 0


def _name(span: DaySpan) -> str:
    return f"{span.first}/{span.days}"
