"""Syncs punches: the live window, what the nightly check found, what was asked for, and the history, oldest first.

Which days those are is decided in clock/days.py, how one window is read in sync/punch_window.py. What of a stretch
stays incomplete is set apart, so that the rest is read; shortfalls.py counts how often.
"""

from datetime import date, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import DAY, PAD, DaySpan, gaps, live_first
from app.clock.mirror import cursors, gone, set_aside, terminal_skew
from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import CHECK, LIVE, PUNCHES, START, WalkPosition
from app.clock.mirror.gone import DaysRead
from app.clock.mirror.shortfalls import Shortfall, forgiven, pending_with
from app.clock.models import ClockEmployee, Cursor, Device
from app.clock.sync.count_check import compare_days, compare_total, remember
from app.clock.sync.punch_window import Known, PunchWindow, TooLargeError, WindowEnd, read_window
from app.clock.sync.run_state import RunState
from app.clock.sync.slice_length import SLICE_PAGES, TOO_MANY, slice_until


async def sync_punches(run: RunState) -> None:
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
            await terminal_skew.measure(step.db)


async def _known(run: RunState) -> Known:
    async with run.parts.database.transaction(run.workspace) as db:
        people = set((await db.scalars(select(ClockEmployee.emp_code))).all())
        serials = set((await db.scalars(select(Device.sn))).all())
    return Known(people, serials)


async def _read_live(run: RunState, known: Known) -> None:
    """The last days, open at the top, so that clocks that run ahead are seen."""
    first = live_first(run.today, run.horizon)
    async with run.writing(resource=PUNCHES, window=LIVE) as step:
        found = await cursors.read(step.db, PUNCHES, LIVE)
        if run.has_just_read(found) or _rests(run, found):
            return
        position = _live_position(run, found, first)
        await cursors.write(
            step.db, PUNCHES, LIVE, kind="live", state="open", done_until=first, note=None, **position.columns()
        )
    digests = frozenset(found.digests) if found is not None else frozenset()
    window = PunchWindow(LIVE, first - PAD, None, run.horizon, known=digests, forgiven=forgiven(found))
    end = await read_window(run, known, window, position)
    if not end.complete:
        await _leave_open(run, LIVE, end)
        return
    await _find_gone(run, window, end)
    reach, left = cursors.live_reach(found, run.horizon if end.everything else first, run.zone)
    async with run.writing(resource=PUNCHES, window=LIVE) as step:
        short = _short(run, end, await cursors.read(step.db, PUNCHES, LIVE)) if end.came < end.total else None
        pending = {**pending_with(None, short), **set_aside.pending_with(None, end.unreadable, run.run_id)}
        await cursors.write(
            step.db, PUNCHES, LIVE, kind="live", state="complete", starts_on=reach, covered_until=end.began_at,
            digests=end.digests, pending={**pending, "everything": end.everything}, **START.columns(),
        )  # fmt: skip
        if left is not None and left.days:
            await _keep_stretch(step.db, left)


def _live_position(run: RunState, found: Cursor | None, first: date) -> WalkPosition:
    left_off = run.left_off(found) if found is not None and found.done_until == first else None
    return left_off or WalkPosition(began_at=run.now())


async def _keep_stretch(db: AsyncSession, span: DaySpan) -> None:
    """Keeps the days that the live window had read before a pause that was longer than the window is wide."""
    await cursors.write(
        db, PUNCHES, f"backfill:{span.first}", kind="backfill", state="complete",
        starts_on=span.first, ends_on=span.until - DAY, done_until=span.until,
    )  # fmt: skip


async def _plan_history(run: RunState) -> None:
    """Writes down the stretches of history that nothing has read and nothing is going to."""
    async with run.writing(resource=PUNCHES) as step:
        rows = await cursors.read_all(step.db)
        planned = [
            DaySpan(row.starts_on, row.ends_on + DAY)
            for row in rows
            if row.kind == "backfill" and row.state == "open" and row.starts_on and row.ends_on
        ]
        wanted = DaySpan(run.horizon, live_first(run.today, run.horizon))
        for gap in gaps(wanted, [*cursors.known_spans(rows, run.zone), *planned]):
            await cursors.write(
                step.db, PUNCHES, f"backfill:{gap.first}", kind="backfill", state="open", slice_until=None, note=None,
                starts_on=gap.first, ends_on=gap.until - DAY, done_until=gap.first, **START.columns(),
            )  # fmt: skip


async def _read_stretches(run: RunState, known: Known, kind: str) -> None:
    async with run.parts.database.transaction(run.workspace) as db:
        everything = await cursors.read_all(db)
    rows = [row for row in everything if row.kind == kind and row.state == "open" and row.window != CHECK]
    for row in sorted(rows, key=lambda row: Shortfall.of(row) is not None):
        rest = None if _rests(run, row) else row
        while rest is not None:
            rest = await _read_stretch(run, known, rest)


def _rests(run: RunState, row: Cursor | None) -> bool:
    """True when this run need not try a window again that stays incomplete. The run still reports it."""
    short = Shortfall.of(row)
    if row is None or short is None or row.state != "open" or row.page:
        return False
    done = row.kind != LIVE and short.rests(run.run_id, run.today)
    if done or run.was_just_here(row):
        _name(run, row.window, short)
        return True
    return False


async def _read_stretch(run: RunState, known: Known, row: Cursor) -> Cursor | None:
    """Slice by slice until the stretch is read. Returns what lies behind a slice that does not become complete."""
    if row.starts_on is None or row.ends_on is None:
        raise ValueError(f"the stretch {row.window} has no days")
    stretch = DaySpan(row.starts_on, row.ends_on + DAY)
    position, until = WalkPosition.of(row), row.slice_until
    first = max(row.done_until or stretch.first, min(_floor(run, row), stretch.until))
    rows_a_day: float | None = None
    while first < stretch.until:
        if until is None or until <= first:
            until, position = _slice_until(run, row, DaySpan(first, stretch.until), rows_a_day), START
            await _open_slice(run, row.window, until)
        part = DaySpan(first, until)
        window = _slice_window(run, row, stretch, part)
        read = await _read_slice(run, known, window, position)
        if isinstance(read, WindowEnd) and not read.complete:
            return await _set_apart(run, row, stretch, part, read)
        rows_a_day = read.total / part.days
        if isinstance(read, WindowEnd):
            if row.kind != "backfill":  # what history brings is here for the first time
                await _find_gone(run, window, read)
            first = stretch.until if read.everything else until
            await _close_slice(run, row.window, first, read.unreadable)
        until = None
    await _finish(run, row)
    return None


def _slice_until(run: RunState, row: Cursor, left: DaySpan, rows_a_day: float | None) -> date:
    """A slice that stayed incomplete is tried with the same days: other days would give other figures."""
    if rows_a_day is None and Shortfall.of(row) is not None:
        return left.until
    return slice_until(left.first, left.until, rows_a_day, run.settings.page_size)


def _slice_window(run: RunState, row: Cursor, stretch: DaySpan, part: DaySpan) -> PunchWindow:
    """A day more is asked for at the outer ends of a stretch; what was asked for has no more before its first day."""
    return PunchWindow(
        row.window,
        part.first - (PAD if part.first == stretch.first else timedelta()),
        part.until + (PAD if part.until == stretch.until else timedelta()),
        _floor(run, row),
        row.emp_code,
        most_rows=TOO_MANY * SLICE_PAGES * run.settings.page_size if part.days > 1 else None,
    )


def _floor(run: RunState, row: Cursor) -> date:
    """What was asked for is read before the history too, but not behind the purge: its punches would come back without
    their records and be judged against them."""
    if row.kind == "asked" and row.starts_on:
        return max(row.starts_on, run.settings.kept_from(run.today))
    return run.horizon


async def _read_slice(
    run: RunState, known: Known, window: PunchWindow, position: WalkPosition
) -> WindowEnd | TooLargeError:
    """Returns how the slice ended, or the error that says that it is too large."""
    try:
        return await read_window(run, known, window, position)
    except TooLargeError as error:
        return error


async def _set_apart(run: RunState, row: Cursor, stretch: DaySpan, part: DaySpan, end: WindowEnd) -> Cursor | None:
    """Makes an incomplete slice a stretch of its own, and what lies behind it another one, which is returned. The days
    of a check stay together: they are compared as a whole."""
    parts = {"head": DaySpan(stretch.first, part.first), "gap": part, "rest": DaySpan(part.until, stretch.until)}
    names = {
        name: _stretch_name(row, span) if span.first > stretch.first else row.window for name, span in parts.items()
    }
    if row.kind == "check":
        await _leave_open(run, row.window, end)
        return None
    async with run.writing(resource=PUNCHES, window=row.window) as step:
        for name, span in parts.items():
            if span.days:
                await _write_part(step.db, row, names[name], span, is_read=name == "head")
    await _leave_open(run, names["gap"], end)
    async with run.parts.database.transaction(run.workspace) as db:
        return await cursors.read(db, PUNCHES, names["rest"]) if parts["rest"].days else None


def _stretch_name(row: Cursor, span: DaySpan) -> str:
    last = f":{span.until - DAY}" if row.kind == "asked" else ""
    return f"{row.kind}:{span.first}{last}" + (f":{row.emp_code}" if row.emp_code else "")


async def _write_part(db: AsyncSession, row: Cursor, window: str, span: DaySpan, *, is_read: bool) -> None:
    await cursors.write(
        db, PUNCHES, window, kind=row.kind, state="complete" if is_read else "open", emp_code=row.emp_code,
        starts_on=span.first, ends_on=span.until - DAY, done_until=span.until if is_read else span.first,
        slice_until=None, note=None, **START.columns(),
    )  # fmt: skip


async def _find_gone(run: RunState, window: PunchWindow, end: WindowEnd) -> None:
    """Our punches that the server no longer has. Not within a day of the bounds, which servers read differently, and
    not of one person's days: a punch may have gone to another person."""
    first = max(window.first + PAD, window.floor)
    until = window.until - PAD if window.until is not None else None
    ids = end.ids
    if ids is None or window.emp_code is not None or (until is not None and first >= until):
        return
    read = DaysRead(run.generation, first, until, lambda remote_id: hash(remote_id) in ids, len(ids))
    async with run.writing(resource=PUNCHES, window=window.key) as step:
        judged = await gone.settle(step.db, run.run_id, read, run.now())
        step.count(PUNCHES, Counts(missing=len(judged.gone)))
    if judged.doubted and PUNCHES not in run.findings.get("refused", ()):
        run.findings.setdefault("refused", []).append(PUNCHES)


async def _open_slice(run: RunState, window: str, until: date) -> None:
    async with run.writing(resource=PUNCHES, window=window) as step:
        await cursors.move(step.db, PUNCHES, window, WalkPosition(began_at=run.now()), slice_until=until)


async def _close_slice(run: RunState, window: str, done_until: date, unreadable: int) -> None:
    async with run.writing(resource=PUNCHES, window=window) as step:
        pending = set_aside.pending_with(await cursors.read(step.db, PUNCHES, window), unreadable, run.run_id)
        await cursors.move(
            step.db, PUNCHES, window, START, done_until=done_until, slice_until=None, note=None, pending=pending
        )


async def _finish(run: RunState, row: Cursor) -> None:
    if row.kind == "check":
        await remember(run, row)
        return
    async with run.writing(resource=PUNCHES, window=row.window) as step:
        pending = pending_with(await cursors.read(step.db, PUNCHES, row.window), None)
        await cursors.move(step.db, PUNCHES, row.window, START, state="complete", note=None, pending=pending)


async def _leave_open(run: RunState, window: str, end: WindowEnd) -> None:
    """The next run tries again from its beginning, unless a person accepts what came."""
    async with run.writing(resource=PUNCHES, window=window) as step:
        found = await cursors.read(step.db, PUNCHES, window)
        short = _short(run, end, found)
        if short.is_accepted:  # a person was quicker
            return
        _name(run, window, short)
        await cursors.move(
            step.db, PUNCHES, window, START, state="open", note=_note(short), pending=pending_with(found, short)
        )


def _short(run: RunState, end: WindowEnd, found: Cursor | None) -> Shortfall:
    today = Shortfall(end.came, end.total, run_id=run.run_id, noted_on=run.today.isoformat())
    return today.after(Shortfall.of(found))


def _name(run: RunState, window: str, short: Shortfall) -> None:
    run.findings.setdefault("incomplete", []).append(f"{window}: {_note(short)}")


def _note(short: Shortfall) -> str:
    return f"{short.sentence}; the server counts more than it gives."
