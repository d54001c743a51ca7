"""Short ways to fill the app library and to rate its apps, for the tests of both."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.host.applications import applications
from app.host.applications.applications import ApplicationDetails
from app.host.applications.icons import Icon
from app.host.models import Application
from tests.host.staff import ALICE

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x00" * 30
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8 "
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


async def add_app(
    db: AsyncSession, name: str = "Shift Planner", platforms: tuple[str, ...] = ("ios", "android"), **details: Any
) -> int:
    """The id of a draft."""
    return await applications.add(db, ALICE, ApplicationDetails(name, platforms, **details))


async def publish_app(db: AsyncSession, name: str = "Shift Planner", **details: Any) -> UUID:
    """The public id of an app that accepts ratings, unless the details say otherwise."""
    app_id = await add_app(db, name, **details)
    await applications.publish(db, ALICE, [app_id])
    return (await app_of(db, app_id)).uid


async def app_of(db: AsyncSession, which: int | UUID) -> Application:
    column = Application.id if isinstance(which, int) else Application.uid
    statement = select(Application).where(column == which).execution_options(populate_existing=True)
    return (await db.scalars(statement)).one()


def icon(data: bytes = PNG) -> Icon:
    return Icon("image/png", data)
