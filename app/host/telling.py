"""Notes for webhooks what other listeners hear as well: records that a person changed,
and problems that opened or closed."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.host.events import Event, RecordsChanged
from app.problems.events import ProblemsMoved
from app.webhooks import noting
from app.webhooks.kinds import ATTENDANCE_CHANGED, ATTENDANCE_DELETED, PROBLEM_CLOSED, PROBLEM_OPENED


async def on_host_event(db: AsyncSession, event: Event) -> None:
    if isinstance(event, RecordsChanged):
        kind = ATTENDANCE_DELETED if event.change == "deleted" else ATTENDANCE_CHANGED
        await noting.note(db, kind, event.record_ids)


async def on_problems(db: AsyncSession, moved: ProblemsMoved) -> None:
    """A problem that was there before the first look for its kind is not news."""
    opened = [] if moved.quiet else [one.id for one in moved.opened]
    await noting.note_all(db, {PROBLEM_OPENED: opened, PROBLEM_CLOSED: [one.id for one in moved.closed]})
