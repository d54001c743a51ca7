"""Syncs punches: the live window, what the nightly check found, what was asked for, and the history, oldest first.

Which days those are is decided in windows.py, how one window is read in punch_windows.py.
"""

from datetime import date, timedelta
from typing import Any

from sqlalchemy import select

from app.clock import cursors, terminals
from app.clock.counts import Counts
from app.clock.cursors import CHECK, LIVE, PUNCHES, START, Position
from app.clock.models import ClockEmployee, Cursor, Device
from app.clock.nightly import compare_days, compare_total, remember
from app.clock.punch_windows import Known, TooLargeError, Window, WindowEnd, read_window
from app.clock.running import Running
from app.clock.windows import DAY, PAD, SLICE_PAGES, TOO_MANY, Span, gaps, live_first, slice_until


async def sync_punches(run: Running) -> None:
    """Everything about punches that is due in this run."""
    known = await _known(run)
    await _read_live(run, known)
    await compare_days(run)
    await _read_stretches(run, known, "check")
    while await compare_total(run):
        await _read_stretches(run, known, "check")
    await _read_stretches(run, known, "asked")
    await _plan_history(run)
    await _read_stretches(run, known, "backfill")
    if run.counts.get(PUNCHES, Counts()).created:
        async with run.writing(resource=PUNCHES) as step:
            await terminals.measure(step.db)


async def _known(run: Running) -> Known:
    async with run.parts.database.transaction(run.workspace) as db:
        people = set((await db.scalars(select(ClockEmployee.emp_code))).all())
        serials = set((await db.scalars(select(Device.sn))).all())
    return Known(people, serials)


async def _read_live(run: Running, known: Known) -> None:
    """The last days, open at the top, so that clocks that run ahead are seen."""
    first = live_first(run.today, run.horizon)
    async with run.writing(resource=PUNCHES, window=LIVE) as step:
        found = await cursors.read(step.db, PUNCHES, LIVE)
        if run.has_just_read(found):
            return
        position = _live_position(run, found, first)
        await cursors.write(
            step.db, PUNCHES, LIVE, kind="live", state="open", done_until=first, note=None, **position.columns()
        )
    digests = frozenset(found.digests) if found is not None else frozenset()
    window = Window(LIVE, first - PAD, None, run.horizon, known=digests)
    end = await read_window(run, known, window, position)
    if not end.complete:
        await _leave_open(run, LIVE, end.came, end.total)
        return
    reach, left = cursors.live_reach(found, run.horizon if end.everything else first, run.zone)
    async with run.writing(resource=PUNCHES, window=LIVE) as step:
        await cursors.write(
            step.db, PUNCHES, LIVE, kind="live", state="complete", starts_on=reach, covered_until=end.began_at,
            digests=end.digests, pending={"everything": end.everything}, **START.columns(),
        )  # fmt: skip
        if left is not None and left.days:
            await _keep_stretch(step.db, left)


def _live_position(run: Running, found: Cursor | None, first: date) -> Position:
    left_off = run.left_off(found) if found is not None and found.done_until == first else None
    return left_off or Position(began_at=run.now())


async def _keep_stretch(db: Any, span: Span) -> None:
    """What the live window had read before a pause that was longer than it is wide."""
    await cursors.write(
        db, PUNCHES, f"backfill:{span.first}", kind="backfill", state="complete",
        starts_on=span.first, ends_on=span.until - DAY, done_until=span.until,
    )  # fmt: skip


async def _plan_history(run: Running) -> None:
    """Writes down the stretches of history that nothing has read and nothing is going to."""
    async with run.writing(resource=PUNCHES) as step:
        rows = await cursors.read_all(step.db)
        planned = [
            Span(row.starts_on, row.ends_on + DAY)
            for row in rows
            if row.kind == "backfill" and row.state == "open" and row.starts_on and row.ends_on
        ]
        wanted = Span(run.horizon, live_first(run.today, run.horizon))
        for gap in gaps(wanted, [*cursors.known_spans(rows, run.zone), *planned]):
            await cursors.write(
                step.db, PUNCHES, f"backfill:{gap.first}", kind="backfill", state="open", slice_until=None, note=None,
                starts_on=gap.first, ends_on=gap.until - DAY, done_until=gap.first, **START.columns(),
            )  # fmt: skip


async def _read_stretches(run: Running, known: Known, kind: str) -> None:
    async with run.parts.database.transaction(run.workspace) as db:
        everything = await cursors.read_all(db)
    rows = [row for row in everything if row.kind == kind and row.state == "open" and row.window != CHECK]
    for row in rows:
        await _read_stretch(run, known, row)


async def _read_stretch(run: Running, known: Known, row: Cursor) -> None:
    """Slice by slice until the stretch is read, or a slice does not become complete."""
    if row.starts_on is None or row.ends_on is None:
        raise ValueError(f"the stretch {row.window} has no days")
    stretch = Span(row.starts_on, row.ends_on + DAY)
    position, until = Position.of(row), row.slice_until
    first = max(row.done_until or stretch.first, min(_floor(run, row), stretch.until))
    rows_a_day: float | None = None
    while first < stretch.until:
        if until is None or until <= first:
            until, position = slice_until(first, stretch.until, rows_a_day, run.settings.page_size), START
            await _open_slice(run, row.window, until)
        part = Span(first, until)
        read = await _read_slice(run, known, _slice_window(run, row, stretch, part), position)
        if read is None:
            return
        rows_a_day = read.total / part.days
        if isinstance(read, WindowEnd):
            first = stretch.until if read.everything else until
            await _close_slice(run, row.window, first)
        until = None
    await _finish(run, row)


def _slice_window(run: Running, row: Cursor, stretch: Span, part: Span) -> Window:
    """A day more is asked for at the outer ends of a stretch; what was asked for has no more before its first day."""
    return Window(
        row.window,
        part.first - (PAD if part.first == stretch.first else timedelta()),
        part.until + (PAD if part.until == stretch.until else timedelta()),
        _floor(run, row),
        row.emp_code,
        most_rows=TOO_MANY * SLICE_PAGES * run.settings.page_size if part.days > 1 else None,
    )


def _floor(run: Running, row: Cursor) -> date:
    """What was asked for is read before the history too, but not behind the purge: its punches would come back without
    their records and be judged against them."""
    if row.kind == "asked" and row.starts_on:
        return max(row.starts_on, run.settings.kept_from(run.today))
    return run.horizon


async def _read_slice(
    run: Running, known: Known, window: Window, position: Position
) -> WindowEnd | TooLargeError | None:
    """How it ended, that it proved too large, or None when it did not become complete."""
    try:
        end = await read_window(run, known, window, position)
    except TooLargeError as error:
        return error
    if not end.complete:
        await _leave_open(run, window.key, end.came, end.total)
        return None
    return end


async def _open_slice(run: Running, window: str, until: date) -> None:
    async with run.writing(resource=PUNCHES, window=window) as step:
        await cursors.move(step.db, PUNCHES, window, Position(began_at=run.now()), slice_until=until)


async def _close_slice(run: Running, window: str, done_until: date) -> None:
    async with run.writing(resource=PUNCHES, window=window) as step:
        await cursors.move(step.db, PUNCHES, window, START, done_until=done_until, slice_until=None, note=None)


async def _finish(run: Running, row: Cursor) -> None:
    if row.kind == "check":
        await remember(run, row)
        return
    async with run.writing(resource=PUNCHES, window=row.window) as step:
        await cursors.move(step.db, PUNCHES, row.window, START, state="complete", note=None)


async def _leave_open(run: Running, window: str, came: int, total: int) -> None:
    """The next run tries again from its beginning."""
    note = f"{came} of {total} punches came; the server's pages differ from walk to walk."
    run.findings.setdefault("incomplete", []).append(f"{window}: {note}")
    async with run.writing(resource=PUNCHES, window=window) as step:
        await cursors.move(step.db, PUNCHES, window, START, note=note)
