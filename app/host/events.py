"""What the host tells its listeners, in the same transaction. The host does not know them.

Each module registers its own: `app.wiring.connect` calls the `_connect` of `app/MODULE/module.py`
when a process starts.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession


@dataclass(frozen=True, slots=True)
class RecordsChanged:
    """Attendance records that a person made, edited, decided or deleted; not the ones that an import wrote."""

    record_ids: tuple[int, ...]
    change: Literal["created", "edited", "decided", "deleted"]


@dataclass(frozen=True, slots=True)
class EmployeesChanged:
    """Employees that were added, edited, deactivated, deleted or imported:
    this may change who matches and who is eligible."""

    employee_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DaysChanged:
    """Days that were locked or unlocked against attendance edits."""

    days: tuple[date, ...]
    locked: bool


@dataclass(frozen=True, slots=True)
class KioskChanged:
    """Kiosk enrolments that came or went."""

    codes: tuple[str, ...]


Event = RecordsChanged | EmployeesChanged | DaysChanged | KioskChanged
Listener = Callable[[AsyncSession, Event], Awaitable[None]]
_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Registers a listener; a second call changes nothing."""
    if listener not in _listeners:
        _listeners.append(listener)


async def tell(session: AsyncSession, event: Event) -> None:
    """Raises what a listener raises, so that the act and its consequences are committed together or not at all."""
    for listener in _listeners:
        await listener(session, event)
