"""The rows that say how far each walk got: reading and writing them, which days they make known, and which
spans are not read yet. No walking here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import days
from app.clock.days import DAY, LIVE_DAYS, DaySpan
from app.clock.models import Cursor
from app.clock.pairing.inputs import TimeSpan
from app.clock.pairing.shifts import AHEAD
from app.clock.settings import ClockSettings
from app.db.days import midnight

PUNCHES = "transactions"
LIVE = "live"
CHECK = "check"


@dataclass(frozen=True, slots=True)
class WalkPosition:
    """Where a walk stands. `page` is the last one written, `received` counts rows of this walk, repeats included.
    `total` is the most that the server counted since page 1 was asked for."""

    page: int = 0
    received: int = 0
    total: int | None = None
    digest: bytes | None = None
    walks: int = 0
    began_at: datetime | None = None

    @classmethod
    def of(cls, cursor: Cursor) -> "WalkPosition":
        return cls(cursor.page, cursor.rows_seen, cursor.total, cursor.last_page_digest, cursor.walks, cursor.began_at)

    def again(self) -> "WalkPosition":
        """The beginning of one more walk over the same rows."""
        return replace(self.at_front(), walks=self.walks + 1)

    def at_front(self) -> "WalkPosition":
        """Before page 1, within the same walk."""
        return replace(self, page=0, received=0, total=None, digest=None)

    def columns(self) -> dict[str, Any]:
        return {
            "page": self.page,
            "rows_seen": self.received,
            "total": self.total,
            "last_page_digest": self.digest,
            "walks": self.walks,
            "began_at": self.began_at,
        }


START = WalkPosition()
_EXCLUDED = insert(Cursor).excluded  # made for each statement again, it costs more than the statement
_MOVE = text(
    """
    UPDATE clock_sync_cursors SET page = :page, rows_seen = :rows_seen, total = :total,
        last_page_digest = :last_page_digest, walks = :walks, began_at = :began_at, updated_at = now()
    WHERE resource = :of AND "window" = :key
    """
)


async def read(db: AsyncSession, resource: str, window: str = "") -> Cursor | None:
    return await db.scalar(select(Cursor).where(Cursor.resource == resource, Cursor.window == window))


async def read_all(db: AsyncSession) -> Sequence[Cursor]:
    """Every row of punches, those of a kind by their days."""
    order = (Cursor.kind, Cursor.starts_on, Cursor.window)
    return (await db.scalars(select(Cursor).where(Cursor.resource == PUNCHES).order_by(*order))).all()


async def write(db: AsyncSession, resource: str, window: str, **values: Any) -> None:
    """Writes the given columns of one row, which is made when it is not there; `kind` is needed then."""
    statement = insert(Cursor).values(resource=resource, window=window, **values)
    changes = {name: _EXCLUDED[name] for name in values} | {"updated_at": func.now()}
    await db.execute(statement.on_conflict_do_update(index_elements=[Cursor.resource, Cursor.window], set_=changes))


async def move(db: AsyncSession, resource: str, window: str, position: WalkPosition, **values: Any) -> None:
    """Writes where a walk stands, in the transaction of the page that brought it there."""
    await db.execute(_MOVE, {"of": resource, "key": window, **position.columns()})
    if values:
        await db.execute(update(Cursor).where(Cursor.resource == resource, Cursor.window == window).values(**values))


async def drop(db: AsyncSession, window: str) -> None:
    await db.execute(delete(Cursor).where(Cursor.resource == PUNCHES, Cursor.window == window))


async def start_over(db: AsyncSession) -> None:
    """Forgets everything that was read of punches, and starts each listing over. Listings keep counting generations."""
    await db.execute(delete(Cursor).where(Cursor.resource == PUNCHES, Cursor.kind != "asked"))
    await db.execute(
        update(Cursor).where(Cursor.kind == "listing").values(**START.columns(), state="open", pending=None, note=None)
    )


def known_spans(rows: Sequence[Cursor], zone: ZoneInfo) -> list[DaySpan]:
    """The days that are read completely: of each backfill as far as it got,
    and of the live window until its last walk."""
    spans = [
        DaySpan(row.starts_on, row.done_until)
        for row in rows
        if row.kind == "backfill" and row.starts_on is not None and row.done_until is not None
    ]
    live = next((row for row in rows if row.kind == LIVE), None)
    if live is not None and live.starts_on and live.covered_until:
        spans.append(DaySpan(live.starts_on, live.covered_until.astimezone(zone).date() + DAY))
    return spans


def live_reach(live: Cursor | None, first: date, zone: ZoneInfo) -> tuple[date, DaySpan | None]:
    """Returns (the day from which the live window has no gap once a walk from `first` is complete, the stretch before
    the gap, None when there is no gap).

    When runs pause for longer than the window is wide, a gap remains. The days that were read before it become a
    stretch of their own. It ends LIVE_DAYS before they do, because late punches of its last days may be missing.
    """
    if live is None or live.starts_on is None or live.covered_until is None:
        return first, None
    last = live.covered_until.astimezone(zone).date()
    if first <= last:
        return min(live.starts_on, first), None
    return first, DaySpan(live.starts_on, max(live.starts_on, last - LIVE_DAYS * DAY))


async def unread_spans(db: AsyncSession, settings: ClockSettings, zone: ZoneInfo, now: datetime) -> Sequence[TimeSpan]:
    """UTC spans of history that was not reached yet, and of stretches that were begun and are not complete: the import
    judges nothing that follows one of them within 48 h."""
    rows = await read_all(db)
    today = now.astimezone(zone).date()
    horizon = settings.horizon(today)
    history = DaySpan(horizon, days.live_first(today, horizon))
    missing = days.gaps(history, known_spans(rows, zone)) if rows else []
    spans = [TimeSpan(midnight(gap.first, zone), midnight(gap.until, zone)) for gap in missing]
    return [*spans, *_open(rows, horizon, zone, now)]


def _open(rows: Sequence[Cursor], horizon: date, zone: ZoneInfo, now: datetime) -> Iterator[TimeSpan]:
    """What a check found to differ, and what came since the last complete walk over the recent days while this one has
    not ended. A backfill's rest is a gap already; the row that remembers the nightly check itself is no stretch
    of days."""
    for row in rows:
        if row.state == "open" and row.kind in ("live", "check") and row.window != CHECK:
            end = midnight(row.ends_on + DAY, zone) if row.ends_on else now + AHEAD
            start = midnight(row.done_until or row.starts_on or horizon, zone)
            yield TimeSpan(max(start, row.covered_until or start), end)
