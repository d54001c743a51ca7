"""How far the mirror is known to be complete, what holds it back, and what an operator should be warned of. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import saved as connection
from app.clock.days import DAY, DaySpan, gaps, live_first
from app.clock.figures.thresholds import is_offline, is_silent, is_silent_terminal, is_skewed, skew_words, zone_hint
from app.clock.mirror import absences, cursors, gone
from app.clock.mirror.devices import KIND
from app.clock.mirror.shortfalls import Shortfall
from app.clock.models import Connection, Cursor, Device, Punch
from app.clock.punches import changes
from app.clock.settings import ClockSettings, read_settings
from app.dates import day_words, days_words, local_time
from app.db.days import midnight


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the field's own word
    """`kind` is silence, silent_terminal, skew, offline, disappearance or gone_punches; `subject` a serial or resource, or empty."""

    kind: str
    subject: str
    sentence: str


async def complete_up_to(db: AsyncSession, now: datetime) -> tuple[datetime | None, str | None]:
    """(the instant before which nothing is known to be missing, what holds it back).

    While the zone changes there is no such instant: some punches still have their earlier times.

    None when there is no connection or nothing was read; the sentence is None when the last sync read everything there was.
    It may move back: when a terminal went offline, or a nightly check found a day that differs.
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
    """The same from what was read: cursors of punches, and terminals with the instant since when they are offline. Pure."""
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
    # Of equal instants the one with a reason counts.
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


async def warnings(db: AsyncSession, now: datetime) -> list[Warning]:
    """What should be looked at, most urgent first: silence, disappearance, offline and silent terminals, skew."""
    found = await connection.load(db)
    if found is None or found.last_success_at is None:
        return []
    settings = await read_settings(db, now)
    zone = ZoneInfo(found.timezone)
    today = now.astimezone(zone).date()
    return [
        *await _silence(db, found, settings, now),
        *(
            Warning("disappearance", row.resource, absences.sentence(row.resource, row.pending or {}))
            for row in await absences.pending(db)
        ),
        *await _gone(db),
        *(
            Warning("offline", name, f"Terminal {name} is offline since {local_time(since.astimezone(zone), today)}.")
            for name, since in await _offline_terminals(db, now)
        ),
        *await _terminals(db, settings, found.timezone, now),
    ]


async def _gone(db: AsyncSession) -> list[Warning]:
    asked = await gone.undecided(db)
    return [Warning("gone_punches", "", asked.note or "")] if asked else []


async def _silence(db: AsyncSession, found: Connection, settings: ClockSettings, now: datetime) -> list[Warning]:
    """A feed that says nothing while every call succeeds (docs/clock-servers.md, "Habits of real servers")."""
    newest = (
        select(Punch.punched_at_utc)
        .where(Punch.punched_at_utc <= now + timedelta(hours=1), Punch.local_date <= now.date() + DAY)
        .order_by(Punch.local_date.desc(), Punch.punched_at_utc.desc())
        .limit(1)
    )
    last = await db.scalar(newest)
    zone = ZoneInfo(found.timezone)
    if not is_silent(last, now, zone, settings.silence_hours):
        return []
    since = f"since {local_time(last.astimezone(zone), now.astimezone(zone).date())}" if last else "at all"
    return [Warning("silence", "", f"No punch has come {since}, although the server answers.")]


_TERMINAL = (
    Device.sn, Device.alias, Device.state, Device.last_punch_at_utc, Device.clock_skew_seconds, Device.terminal_tz,
)  # fmt: skip


async def _terminals(db: AsyncSession, settings: ClockSettings, zone: str, now: datetime) -> list[Warning]:
    rows = await db.execute(select(*_TERMINAL).where(Device.absent_since.is_(None)))
    found: list[Warning] = []
    here = ZoneInfo(zone)
    today = now.astimezone(here).date()
    for sn, alias, state, last, skew, terminal_tz in rows:
        name = alias or sn
        if last is not None and is_silent_terminal(last, state, now, settings.silence_hours):
            found.append(
                Warning(
                    "silent_terminal",
                    sn,
                    f"Terminal {name} has sent no punch since {local_time(last.astimezone(here), today)}.",
                )
            )
        if skew is not None and is_skewed(skew, settings.skew_warn_seconds):
            hint = zone_hint(terminal_tz, zone)
            found.append(Warning("skew", sn, f"The clock of terminal {name} is {skew_words(skew)}. {hint}".strip()))
    return found


async def _offline_terminals(db: AsyncSession, now: datetime) -> list[tuple[str, datetime]]:
    """Listed attendance clocks that are offline, with their last activity. One that was switched off for a month holds nothing back."""
    rows = await db.execute(
        select(Device.sn, Device.alias, Device.state, Device.last_activity_at, KIND)
        .where(Device.state == "offline", Device.absent_since.is_(None))
        .order_by(Device.last_activity_at)
    )
    return [
        (alias or sn, since) for sn, alias, state, since, kind in rows if since and is_offline(state, since, kind, now)
    ]
