"""What problems tell their listeners, in the same transaction. Rooms above register theirs when a process starts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession


@dataclass(frozen=True, slots=True)
class MovedProblem:
    """A problem that opened or closed. `again`: it had closed or was dismissed before, and keeps its id. `closed_by` is
    `itself` or `person`, None for one that opened."""

    id: int
    kind: str
    severity: str
    subject_type: str
    subject_id: str
    title: str
    detail: str
    opened_at: datetime
    closed_by: str | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class ProblemsMoved:
    """What one look, or one act, opened and closed. `quiet`: what it opened was there before anybody looked for it, or
    is old, so it is told as one sum."""

    opened: Sequence[MovedProblem]
    closed: Sequence[MovedProblem]
    quiet: bool = False


ProblemListener = Callable[[AsyncSession, ProblemsMoved], Awaitable[None]]
_listeners: list[ProblemListener] = []


def listen(listener: ProblemListener) -> None:
    """Registers a listener; a second call changes nothing."""
    if listener not in _listeners:
        _listeners.append(listener)


async def tell(db: AsyncSession, moved: ProblemsMoved) -> None:
    """Raises what a listener raises, so that the move and its consequences are committed together or not at all."""
    if moved.opened or moved.closed:
        for listener in _listeners:
            await listener(db, moved)
