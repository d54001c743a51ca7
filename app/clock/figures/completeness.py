"""How far the mirror is known to be complete, what holds it back, and what an operator should be warned of. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import saved as connection
from app.clock.days import CHECK_DAYS, DAY, LIVE_DAYS, DaySpan, gaps, live_first
from app.clock.mirror import absences, cursors, gone
from app.clock.mirror.devices import KIND
from app.clock.mirror.shortfalls import Shortfall
from app.clock.models import Connection, Cursor, Device, Punch
from app.clock.punches import changes
from app.clock.settings import ClockSettings, read_settings
from app.clock.zones import zone_words
from app.dates import day_words, days_words, local_time
from app.db.days import midnight

SATURDAY = 5


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


def is_silent(last: datetime | None, now: datetime, zone: ZoneInfo, silence_hours: int) -> bool:
    """Whether more than so many hours of working days have passed without a punch: a weekend is no silence."""
    if last is None:
        return True
    return _working_hours(last.astimezone(zone), now.astimezone(zone)) > silence_hours


def _working_hours(since: datetime, until: datetime) -> float:
    """Hours between two local times, Saturdays and Sundays left out. Longer than a month is as good as for ever."""
    since = max(since, until - timedelta(days=CHECK_DAYS))
    hours, day = 0.0, since.date()
    while day <= until.date():
        if day.weekday() < SATURDAY:
            begins = datetime.combine(day, time(), since.tzinfo)
            start, end = max(since, begins), min(until, begins + timedelta(days=1))
            hours += max(0.0, (end - start).total_seconds() / 3600)
        day += timedelta(days=1)
    return hours


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
    recent, here = now - timedelta(days=CHECK_DAYS), ZoneInfo(zone)
    today = now.astimezone(here).date()
    for sn, alias, state, last, skew, terminal_tz in rows:
        name = alias or sn
        silent = last is not None and recent < last < now - LIVE_DAYS * timedelta(hours=settings.silence_hours)
        if last is not None and silent and state != "offline":
            found.append(
                Warning(
                    "silent_terminal",
                    sn,
                    f"Terminal {name} has sent no punch since {local_time(last.astimezone(here), today)}.",
                )
            )
        # Punches arrive some seconds late anyway; only a clock that is ahead shows an arrival before the punch.
        if skew is not None and abs(skew) > settings.skew_warn_seconds:
            found.append(
                Warning("skew", sn, f"The clock of terminal {name} is {_off(skew)}.{_set_to(terminal_tz, zone)}")
            )
    return found


def _off(skew: int) -> str:
    way = "fast" if skew < 0 else "slow, or it uploads late"
    size = f"{abs(skew)} s" if abs(skew) < 120 else f"{abs(skew) // 60} min"  # noqa: PLR2004 - two minutes
    return f"{size} {way}"


def _set_to(terminal_tz: str | None, zone: str) -> str:
    """A zone that is set wrong is the usual reason for whole hours."""
    words = zone_words(terminal_tz)
    return f" Its time zone is set to {words}; its punches are read in {zone}." if words else ""


async def _offline_terminals(db: AsyncSession, now: datetime) -> list[tuple[str, datetime]]:
    """Listed attendance clocks that are offline, with their last activity. One that was switched off for a month holds nothing back."""
    recent = now - timedelta(days=CHECK_DAYS)
    rows = await db.execute(
        select(Device.sn, Device.alias, Device.last_activity_at)
        .where(
            Device.state == "offline",
            Device.absent_since.is_(None),
            Device.last_activity_at > recent,
            KIND == "attendance",
        )
        .order_by(Device.last_activity_at)
    )
    return [(alias or sn, since) for sn, alias, since in rows if since is not None]
