"""Jobs of the host."""

from collections.abc import Mapping

from app.accounts import housekeeping
from app.jobs import Claim
from app.parts import Parts
from workers.running import Function


async def tidy(parts: Parts, _: Claim) -> None:
    async with parts.database.shared_transaction() as db:
        await housekeeping.tidy(db)


FUNCTIONS: Mapping[str, Function] = {"housekeeping": tidy}
