"""How far the mirror is known to be complete, and what holds it back. Reads only."""

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import saved as connection
from app.clock.days import DAY, DaySpan, gaps, live_first
from app.clock.figures.thresholds import is_offline
from app.clock.mirror import cursors
from app.clock.mirror.devices import KIND
from app.clock.mirror.shortfalls import Shortfall
from app.clock.models import Cursor, Device
from app.clock.punches import changes
from app.clock.settings import ClockSettings, read_settings
from app.dates import day_words, days_words, local_time
from app.db.days import midnight


async def complete_up_to(db: AsyncSession, now: datetime) -> tuple[datetime | None, str | None]:
    """Returns the instant before which nothing is known to be missing, and a sentence that says what holds it back.

    There is no such instant without a connection, before the first read, and while the zone changes, because some
    punches still have their earlier times. There is no sentence when the last sync read everything there was. The
    instant may move back: when a terminal went offline, or a nightly check found a day that differs.
    """
    found = await connection.load(db)
    if found is None:
        return None, "There is no connection yet."
    if held_back := await changes.what_moves_times(db):
        return None, held_back
    zone = ZoneInfo(found.timezone)
    settings = await read_settings(db, now)
    rows = await cursors.read_all(db)
    offline = await _offline_terminals(db, now)
    return judge(rows, offline, settings, zone, now)


def judge(
    rows: Sequence[Cursor],
    offline: Sequence[tuple[str, datetime]],
    settings: ClockSettings,
    zone: ZoneInfo,
    now: datetime,
) -> tuple[datetime | None, str | None]:
    """What `complete_up_to` returns, from the cursors of punches, and from terminals with the instant since when they
    are offline. Pure."""
    live = next((row for row in rows if row.kind == cursors.LIVE), None)
    if live is None or live.covered_until is None:
        return None, "Nothing was read yet."
    limits: list[tuple[datetime, str | None]] = [(live.covered_until, None)]
    if live.state == "open" and live.note:
        limits.append((live.covered_until, live.note))
    today = now.astimezone(zone).date()
    horizon = settings.horizon(today)
    unread = gaps(DaySpan(horizon, live_first(today, horizon)), cursors.known_spans(rows, zone))
    limits += [(midnight(gap.first, zone), _why_not_read(gap, rows, today)) for gap in unread[:1]]
    limits += [
        (midnight(row.starts_on, zone), f"{day_words(row.starts_on, today)} is to be read again: {row.note}")
        for row in rows
        if row.kind == "check" and row.window != cursors.CHECK and row.state == "open" and row.starts_on
    ]
    limits += [
        (since, f"Terminal {name} is offline since {local_time(since.astimezone(zone), today)}.")
        for name, since in offline
    ]
    # Of two equal instants the one with a reason counts.
    return min(limits, key=lambda limit: (limit[0], limit[1] is None))


def _why_not_read(gap: DaySpan, rows: Sequence[Cursor], today: date) -> str:
    tried = next(
        (row for row in rows if row.kind == "backfill" and row.state == "open" and row.starts_on == gap.first), None
    )
    short = Shortfall.of(tried)
    if tried is None or short is None:
        return f"History of {days_words(gap.first, gap.until - DAY, today)} has not been read yet."
    days = days_words(gap.first, tried.ends_on or gap.until - DAY, today)
    return f"History of {days} is incomplete: {short.sentence}."


async def _offline_terminals(db: AsyncSession, now: datetime) -> list[tuple[str, datetime]]:
    """Listed attendance clocks that are offline, with their last activity.
    One that was switched off for a month holds nothing back."""
    rows = await db.execute(
        select(Device.sn, Device.alias, Device.state, Device.last_activity_at, KIND)
        .where(Device.state == "offline", Device.absent_since.is_(None))
        .order_by(Device.last_activity_at)
    )
    return [
        (alias or sn, since) for sn, alias, state, since, kind in rows if since and is_offline(state, since, kind, now)
    ]
