"""Day locks: days whose attendance can no longer be changed, by hand or by an import. Edits wait for a lock in
progress."""

from collections.abc import Iterable
from datetime import date, timedelta

from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.counting import count
from app.dates import day_words
from app.db.session import workspace_of
from app.errors import Conflict, FieldError, Invalid
from app.host import events
from app.host.attendance.hours import WRONG_YEAR, YEARS
from app.host.models import DayLock, DayLockChange

MOST_DAYS = 731
_LOCKING = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_EDITING = text("SELECT pg_advisory_xact_lock_shared(hashtextextended(:key, 0))")


class DayLocked(Conflict):
    """Somebody tried to change an attendance record of a locked day."""


async def lock(db: AsyncSession, actor: Actor, first: date, last: date) -> list[date]:
    """Locks the days from `first` to `last`, both included; returns those that were open. Raises Invalid.

    Waits for edits in progress, so that none lands in a day that is locked by then.
    """
    check_lock(first, last)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    await db.execute(_LOCKING, {"key": _key(db)})
    rows = [{"day": day, "locked_by": actor.name} for day in days]
    statement = insert(DayLock).values(rows).on_conflict_do_nothing().returning(DayLock.day)
    changed = sorted(await db.scalars(statement))
    await _tell(db, actor, changed, locked=True)
    return changed


async def unlock(db: AsyncSession, actor: Actor, first: date, last: date) -> list[date]:
    """Opens the days from `first` to `last`, both included; returns those that were locked. Raises Invalid.

    Waits for edits and imports in progress, because punches of these days are then marked to be judged again. Any year
    is allowed, because earlier versions locked days without checking the year.
    """
    check_unlock(first, last)
    await db.execute(_LOCKING, {"key": _key(db)})
    statement = delete(DayLock).where(DayLock.day.between(first, last)).returning(DayLock.day)
    changed = sorted(await db.scalars(statement))
    await _tell(db, actor, changed, locked=False)
    return changed


async def unlock_days(db: AsyncSession, actor: Actor, days: Iterable[date]) -> list[date]:
    """Opens exactly these days; returns those that were locked. Each stretch of days without a gap is one `unlock`, and
    so one act of the audit. Raises Invalid beyond MOST_DAYS."""
    wanted = sorted(set(days))
    check_number(len(wanted))
    return [day for first, last in stretches(wanted) for day in await unlock(db, actor, first, last)]


def stretches(days: Iterable[date]) -> list[tuple[date, date]]:
    """First and last day of every stretch without a gap, of ascending days."""
    found: list[tuple[date, date]] = []
    for day in days:
        if found and day - found[-1][1] == timedelta(days=1):
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found


async def locked(db: AsyncSession, days: Iterable[date]) -> set[date]:
    """The locked ones among the days."""
    wanted = set(days)
    return set(await db.scalars(select(DayLock.day).where(DayLock.day.in_(wanted)))) if wanted else set()


async def begin_edit(db: AsyncSession) -> None:
    """Holds off locking and unlocking until this transaction ends. Call it before reading which days are locked."""
    await db.execute(_EDITING, {"key": _key(db)})


async def refuse_locked(db: AsyncSession, days: Iterable[date]) -> None:
    """Raises DayLocked when one of the days is locked. `begin_edit` comes before."""
    closed = sorted(await locked(db, days))
    if closed:
        others = len(closed) - 1
        day = day_words(closed[0], None)
        which = f"{day} and {count(others, 'more day', 'more days')} are" if others else f"{day} is"
        raise DayLocked(f"{which} locked. Unlock {'them' if others else 'it'} under Day Locks first.")


async def _tell(db: AsyncSession, actor: Actor, days: list[date], *, locked: bool) -> None:
    if not days:
        return
    noted = insert(DayLockChange).values([{"day": day, "changed_at": func.now()} for day in days])
    await db.execute(noted.on_conflict_do_update(index_elements=[DayLockChange.day], set_={"changed_at": func.now()}))
    before, after = ("open", "locked") if locked else ("locked", "open")
    await audit.record(
        db,
        actor,
        "attendance.lock" if locked else "attendance.unlock",
        "days",
        f"{days[0]}..{days[-1]}",
        before={"state": before, "days": len(days)},
        after={"state": after, "days": len(days)},
    )
    await events.tell(db, events.DaysChanged(tuple(days), locked=locked))


def check_lock(first: date, last: date) -> None:
    """Raises Invalid when this is not a range of days that may be locked at once,
    or lies outside the years of attendance."""
    check_unlock(first, last)
    strange = [FieldError(name, WRONG_YEAR) for name, day in (("from", first), ("to", last)) if day.year not in YEARS]
    if strange:
        raise Invalid(WRONG_YEAR, details=strange)


def check_unlock(first: date, last: date) -> None:
    """Raises Invalid when this is not a range of days, or is longer than may be changed at once."""
    if first > last:
        raise Invalid("The first day is after the last day.", details=[FieldError("to", "Choose a later day.")])
    check_number((last - first).days + 1)


def check_number(number: int) -> None:
    """Raises Invalid when these are more days than may be changed at once."""
    if number > MOST_DAYS:
        raise Invalid.at("to", f"At most {MOST_DAYS} days at once; these are {number:,}.")


def _key(db: AsyncSession) -> str:
    return f"day-locks:{workspace_of(db)}"
