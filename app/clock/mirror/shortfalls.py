"""Windows of punches that stay incomplete: the server counts more than it gives. Notes in how many runs the same number
was missing; after three of them a person may accept the window as read.

The figures lie in the window's cursor. punch_sync.py reads the windows, sync/count_check.py asks what was accepted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Self

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.clock.days import DAY, DaySpan
from app.clock.mirror import cursors
from app.clock.mirror.cursors import LIVE, PUNCHES, START
from app.clock.models import Cursor
from app.errors import Conflict, NotFound
from app.problems import looking
from app.texts import is_keepable_line

RUNS = 3
_KEY = "short"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """`came` of `total` punches, the same number missing in `runs` runs,
    the last of them `run_id` on the local day `noted_on`."""

    came: int
    total: int
    runs: int = 1
    run_id: int = 0
    noted_on: str = ""
    accepted_by: str | None = None
    accepted_at: str | None = None

    @property
    def missing(self) -> int:
        return self.total - self.came

    @property
    def is_accepted(self) -> bool:
        return self.accepted_by is not None

    @property
    def may_be_accepted(self) -> bool:
        return self.runs >= RUNS and not self.is_accepted

    @property
    def accepted_on(self) -> datetime | None:
        return datetime.fromisoformat(self.accepted_at) if self.accepted_at else None

    @property
    def sentence(self) -> str:
        return f"{self.came:,} of {self.total:,} punches came"

    @classmethod
    def of(cls, cursor: Cursor | None) -> Self | None:
        """None when nothing is missing, or it is not known yet."""
        found = ((cursor.pending if cursor is not None else None) or {}).get(_KEY)
        return cls(**found) if found else None

    def after(self, before: "Shortfall | None") -> "Shortfall":
        """This shortfall with what was noted before: it stays accepted while the same number is missing."""
        if before is None or before.missing != self.missing:
            return self
        runs = before.runs + (before.run_id != self.run_id)
        return replace(self, runs=runs, accepted_by=before.accepted_by, accepted_at=before.accepted_at)

    def rests(self, run_id: int, today: date) -> bool:
        """True when this run need not read the window: it has done so, or a person may decide and it was read today."""
        return self.run_id == run_id or (self.runs >= RUNS and self.noted_on == today.isoformat())


def pending_with(cursor: Cursor | None, short: Shortfall | None) -> dict[str, Any]:
    """The cursor's `pending` with these figures, or without any."""
    rest = {name: value for name, value in ((cursor.pending if cursor else None) or {}).items() if name != _KEY}
    fields = {name: getattr(short, name) for name in Shortfall.__slots__} if short else None
    return {**rest, _KEY: fields} if fields else rest


def forgiven(cursor: Cursor | None) -> int:
    """How many rows of the window a person accepted as missing."""
    short = Shortfall.of(cursor)
    return short.missing if short is not None and short.is_accepted else 0


def explains(rows: Iterable[Cursor], span: DaySpan, difference: int) -> bool:
    """True when the difference of the server's count in `span` comes from what was accepted: exactly that many for the
    very days that were accepted, at most that many for days that only touch them. Pure."""
    accepted = [(_days(row), forgiven(row)) for row in rows if forgiven(row)]
    for days, missing in accepted:
        if days == span:
            return difference == missing
    touched = sum(missing for days, missing in accepted if days.first < span.until and span.first < days.until)
    return 0 < difference <= touched


def _days(row: Cursor) -> DaySpan:
    until = row.ends_on + DAY if row.ends_on is not None else date.max
    return DaySpan(row.starts_on or row.done_until or date.min, until)


async def accept(db: AsyncSession, actor: audit.Actor, windows: Sequence[str], now: datetime) -> None:
    """Counts the windows as read. Raises NotFound, and Conflict where the figures have changed
    since they were shown."""
    for window in windows:
        row = await _locked(db, window)
        short = Shortfall.of(row)
        if short is None or not short.may_be_accepted:
            raise Conflict("The server's figures have changed. Look at the new ones first.")
        taken = replace(short, accepted_by=actor.name, accepted_at=now.isoformat())
        values: dict[str, Any] = {"pending": pending_with(row, taken), "note": None}
        if row.ends_on is not None:
            values |= {"state": "complete", "done_until": row.ends_on + DAY}
        await cursors.write(db, PUNCHES, window, kind=row.kind, **values)
        after = {"came": short.came, "total": short.total}
        await audit.record(db, actor, "clock.sync.accept", "sync_cursor", window, after=after)
    await looking.look_soon(db)


async def read_again(db: AsyncSession, actor: audit.Actor, window: str) -> None:
    """Undoes it: the next run reads the window. Raises NotFound, and Conflict where nothing was accepted."""
    row = await _locked(db, window)
    short = Shortfall.of(row)
    if short is None or not short.is_accepted:
        raise Conflict("Nothing is accepted here.")
    values: dict[str, Any] = {"pending": pending_with(row, None), **START.columns()}
    if row.window != LIVE:
        values |= {"state": "open", "done_until": row.starts_on, "slice_until": None}
    await cursors.write(db, PUNCHES, window, kind=row.kind, **values)
    before = {"came": short.came, "total": short.total, "accepted_by": short.accepted_by}
    await audit.record(db, actor, "clock.sync.read_again", "sync_cursor", window, before=before)


async def _locked(db: AsyncSession, window: str) -> Cursor:
    if not is_keepable_line(window):
        raise NotFound("There is no such window.")
    mine = (Cursor.resource == PUNCHES, Cursor.window == window)
    found = await db.scalar(select(Cursor).where(*mine).with_for_update())
    if found is None:
        raise NotFound("There is no such window.")
    return found
