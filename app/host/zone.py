"""The zone of this workspace's days and times. The host does not know the clock: app.wiring registers a function that
finds the zone."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

Provider = Callable[[AsyncSession], Awaitable[str | None]]
DEFAULT = "UTC"
_providers: list[Provider] = []


def provide(provider: Provider) -> None:
    """Registers whom to ask for an IANA zone name (None: no opinion). The last one registered is asked."""
    _providers[:] = [provider]


async def name(db: AsyncSession) -> str:
    """The IANA name of the workspace's zone; UTC when no other is known."""
    answers = [await provider(db) for provider in _providers]
    return next((answer for answer in answers if answer), DEFAULT)


async def of(db: AsyncSession) -> ZoneInfo:
    return ZoneInfo(await name(db))


def to_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a wall-clock time: a repeated hour is the first one,
    a missing one takes the offset before the gap."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def to_local(instant: datetime, zone: ZoneInfo) -> datetime:
    """The wall-clock time of an instant, without a zone of its own."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)
