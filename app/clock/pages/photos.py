"""Pictures of people and punches, fetched from the time-clock server when somebody looks, and never stored."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.types import ExceptionHandlersMap
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.pages import PageOrScope, answer_either
from app.clock.api.routes import CLOCK_READ
from app.clock.connection import saved as connection
from app.clock.connection.call_log import logging_to
from app.clock.models import ClockEmployee, Punch, Setting
from app.clock.remote import ClockError
from app.errors import NotFound, Unavailable
from app.secrets import SecretError
from app.web.context import Context
from app.web.errors.refusals import refuse_head

# The rows of the integration API lead here: who may read them opens the picture with the same token.
_REFUSALS: ExceptionHandlersMap = {Exception: answer_either}


def _may(permission: str) -> PageOrScope:
    return PageOrScope(permission, module="clock", scope=CLOCK_READ)


@get("/clock_transactions/{punch_id:int}/photo", guards=[_may("clock.transactions")], exception_handlers=_REFUSALS)
async def of_punch(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[bytes]:
    return await _photo(ctx, await ctx.db.scalar(select(Punch.photo_ref).where(Punch.id == punch_id)))


@get("/clock_employees/{employee_id:int}/photo", guards=[_may("clock.employees")], exception_handlers=_REFUSALS)
async def of_employee(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[bytes]:
    return await _photo(
        ctx, await ctx.db.scalar(select(ClockEmployee.photo_ref).where(ClockEmployee.id == employee_id))
    )


async def _photo(ctx: Context, reference: str | None) -> Response[Any]:
    """404 while photos are switched off: nothing is asked of the server then."""
    if reference is None or not await _shown(ctx.db):
        raise NotFound("There is no photo.")
    refuse_head(ctx)
    found = await connection.required(ctx.db)
    try:
        remote = connection.open_remote(ctx.parts, ctx.workspace, found, logging_to(ctx.parts.database, ctx.workspace))
        async with ctx.apart():
            photo = await remote.photo(reference)
    except ClockError as error:
        raise Unavailable(f"The time-clock server did not give the photo ({error.code}).") from error
    except SecretError as error:
        raise Unavailable("The password of the connection can't be read with the keys of this server.") from error
    # For the one who looked, and for a while: turning a page back must not ask the server again.
    headers = {"Cache-Control": "private, max-age=600", "Content-Disposition": "inline"}
    return Response(photo.content, media_type=photo.media_type, headers=headers)


async def _shown(db: AsyncSession) -> bool:
    return bool(await db.scalar(select(Setting.value).where(Setting.name == "show_photos")))


ROUTES = [of_punch, of_employee]
