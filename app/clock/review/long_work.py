"""The job behind long acts: one slice after the other, each in a transaction of its own, until none is left."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import undoing
from app.clock.review import using_many
from app.long_acts import acts as long_acts

WORKS: Mapping[str, long_acts.Work] = {**undoing.WORKS, "use": using_many.use_shifts}


async def carry_on(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]], act_id: int) -> None:
    """Safe to kill anywhere and to run twice."""
    more = True
    while more:
        async with open_transaction() as db:
            more = await long_acts.resume(db, act_id, WORKS, undoing.NAMINGS)
