"""The zone of the connection, in which punches have their local days (UTC where none is configured),
and how zones are written."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Connection
from app.dates import local_exact, there


async def local_today(db: AsyncSession, now: datetime) -> date:
    return day_in(await zone_name(db), now)


def kept_time(instant: datetime, zone: str) -> str:
    """`Sun 22 Nov 2026, 23:46:05 (Europe/Zurich)`: for a sentence that is stored, so with its year and its zone."""
    return f"{local_exact(there(instant, ZoneInfo(zone)), None)} ({zone})"


async def zone_name(db: AsyncSession) -> str:
    return await db.scalar(select(Connection.timezone)) or "UTC"


def day_in(zone: str, now: datetime) -> date:
    """`zone` is an IANA name."""
    return now.astimezone(ZoneInfo(zone)).date()


def zone_day(connection: Connection | None, now: datetime) -> date:
    return day_in(connection.timezone if connection else "UTC", now)
