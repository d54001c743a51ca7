"""Jobs of the surveys module."""

from collections.abc import Mapping

from app import jobs
from app.jobs import Claim
from app.parts import Parts
from app.surveys import verifying
from workers.running import Function


async def note_head(parts: Parts, claim: Claim) -> None:
    async with parts.database.transaction(claim.workspace) as db:
        await verifying.note_head(db)


async def schedule(parts: Parts, workspace: str) -> None:
    """Also while the module is switched off: what was recorded is still there to be proved."""
    async with parts.database.transaction(workspace) as db:
        await jobs.request_daily(db, "surveys_head")


FUNCTIONS: Mapping[str, Function] = {"surveys_head": note_head}
