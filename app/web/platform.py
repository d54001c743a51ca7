"""Reading and writing what is the platform's on behalf of a person of any workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import PLATFORM
from app.web.context import Context


@asynccontextmanager
async def platform_transaction(ctx: Context) -> AsyncIterator[AsyncSession]:
    """The request's own transaction where it is the platform's. A tenant's is settled first: nobody holds two connections."""
    if ctx.on_platform:
        yield ctx.db
        return
    await ctx.settle()
    async with ctx.parts.database.transaction(PLATFORM) as db:
        yield db
