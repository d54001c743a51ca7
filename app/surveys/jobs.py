"""What the jobs of the surveys do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/surveys/module.py`; a job is asked for with `app.jobs.request`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from app import jobs
from app.jobs import Claim, Function
from app.parts import Parts
from app.surveys.ledger import verifying
from app.surveys.results import queries, responses, splits, tallies


async def note_head(parts: Parts, claim: Claim) -> None:
    async with parts.database.transaction(claim.workspace) as db:
        await verifying.note_head(db)


async def count_up(parts: Parts, claim: Claim) -> None:
    """One step a transaction, until the mark is at the head."""
    moved = tallies.STEP
    while moved >= tallies.STEP:
        async with parts.database.transaction(claim.workspace) as db:
            moved = await tallies.count_up(db)


async def count_split(parts: Parts, claim: Claim) -> None:
    """Nothing for a survey that was deleted meanwhile."""
    survey_id, version, split = (claim.arguments[name] for name in ("survey_id", "version", "split"))
    async with parts.database.transaction(claim.workspace) as db:
        uid = await queries.uid_of(db, survey_id)
        if uid is None:
            return
        _, questions = responses.definition(await queries.survey(db, uid, version), version)
        await splits.keep(db, survey_id, version, split, questions)


async def schedule(parts: Parts, workspace: str) -> datetime | None:
    """Also while the module is switched off: what was recorded is still there to be proved."""
    async with parts.database.transaction(workspace) as db:
        await jobs.request_daily(db, "surveys_head")
        if not await tallies.is_due(db):
            return None
        await jobs.request(db, "surveys_tally")
        return datetime.now(UTC)


FUNCTIONS: Mapping[str, Function] = {
    "surveys_head": note_head,
    "surveys_tally": count_up,
    "surveys_split": count_split,
}
