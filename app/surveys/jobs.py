"""What the jobs of the surveys do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/surveys/module.py`; a job is asked for with `app.jobs.request`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import policies
from app.db.session import PLATFORM
from app.errors import NotFound
from app.host import zone as host_zone
from app.jobs import Claim, Function
from app.parts import Parts
from app.surveys.anonymous import closing
from app.surveys.authoring import opening
from app.surveys.ledger import verifying
from app.surveys.problem_kinds import ledger as ledger_problems
from app.surveys.reminding import handing_over
from app.surveys.results import kept_numbers, number_counts, queries, responses, splits, table, tally_marks

_log = structlog.get_logger("muster.surveys")


async def note_head(parts: Parts, claim: Claim) -> None:
    async with parts.database.transaction(claim.workspace) as db:
        await verifying.note_head(db)


async def verify_ledger(parts: Parts, claim: Claim) -> None:
    verdict = await ledger_problems.verify(parts, claim.workspace)
    async with parts.database.transaction(claim.workspace) as db:
        await ledger_problems.tell(db, verdict)


async def count_up(parts: Parts, claim: Claim) -> None:
    """One step in each transaction, until the mark is at the head."""
    moved = tally_marks.STEP
    while moved >= tally_marks.STEP:
        async with parts.database.transaction(claim.workspace) as db:
            moved = await tally_marks.count_up(db)


async def count_split(parts: Parts, claim: Claim) -> None:
    """Does nothing for a survey that was deleted meanwhile."""
    survey_id, version, split = (claim.arguments[name] for name in ("survey_id", "version", "split"))
    async with parts.database.transaction(claim.workspace) as db:
        uid = await queries.uid_of(db, survey_id)
        if uid is None:
            return
        _, questions = responses.definition(await queries.survey(db, uid, version), version)
        await splits.keep(db, survey_id, version, split, questions)


async def count_numbers(parts: Parts, claim: Claim) -> None:
    """Does nothing for a survey that was deleted meanwhile."""
    survey_id, version = (claim.arguments[name] for name in ("survey_id", "version"))
    async with parts.database.transaction(claim.workspace) as db:
        if uid := await queries.uid_of(db, survey_id):
            # A page of one version asks by the types of then, a page of several by the newest.
            asked = [one for of in (version, None) for one in await table.asked_in(db, uid, of)]
            await kept_numbers.keep(db, survey_id, version, {*number_counts.asked_for(asked)})


async def open_rounds(parts: Parts, claim: Claim) -> None:
    """Each round has a transaction of its own: if one fails, the others open, and the job tries it again."""
    now, failed = datetime.now(UTC), []
    async with parts.database.transaction(claim.workspace) as db:
        zone = await host_zone.of(db)
        uids = [one.uid for one in await opening.repeating(db) if one.is_due(now, zone)]
    for uid in uids:
        try:
            async with parts.database.transaction(claim.workspace) as db:
                await opening.open_due(db, uid, now)
        except NotFound:
            continue  # It was removed meanwhile.
        except Exception as error:  # noqa: BLE001 - whatever it is, the others open
            failed.append(error)
    if failed:
        raise failed[0]


async def close_anonymous(parts: Parts, claim: Claim) -> None:
    """Closes every anonymous version that has ended, each in a transaction of its own: if one fails, for example
    because a ballot does not open, the others close, and the job tries it again."""
    now, failed = datetime.now(UTC), []
    async with parts.database.transaction(claim.workspace) as db:
        due = await closing.due(db, now)
    for one in due:
        try:
            async with parts.database.transaction(claim.workspace) as db:
                await closing.close(db, parts.keys, one, now)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others close
            _log.error("survey_not_closed", survey=str(one.survey), version=one.version, error=type(error).__name__)
            failed.append(error)
    if failed:
        raise failed[0]


async def send_invitations(parts: Parts, claim: Claim) -> None:
    """Notes who gets an automatic reminder, then hands over what is due, in parts."""
    now, moved = datetime.now(UTC), handing_over.STEP
    async with parts.database.transaction(claim.workspace) as db:
        await handing_over.remind_due(db, now)
    while moved >= handing_over.STEP:
        async with parts.database.transaction(claim.workspace) as db:
            moved = await handing_over.hand_over(db, parts, now)


async def schedule(parts: Parts, workspace: str) -> datetime | None:
    """Runs even while the module is switched off, because the ledger must still be proved. Rounds wait until it is on
    again."""
    now = datetime.now(UTC)
    async with parts.database.transaction(workspace) as db:
        await jobs.request_daily(db, "surveys_head")
        if workspace == PLATFORM:
            await jobs.request_daily(db, ledger_problems.JOB)
        opens = await _next_round(db, workspace, now)
        if opens and opens <= now:
            await jobs.request(db, "surveys_rounds")
        if await closing.due(db, now):
            await jobs.request(db, "surveys_close")
        mails = await handing_over.next_at(db, parts, now)
        if mails and mails <= now:
            await jobs.request(db, "surveys_mail")
        wanted = min((at for at in (opens, mails) if at), default=None)
        if await tally_marks.is_due(db):
            await jobs.request(db, "surveys_tally")
            return now
        return min(filter(None, (wanted, await closing.next_end(db, now))), default=None)


async def _next_round(db: AsyncSession, workspace: str, now: datetime) -> datetime | None:
    """When the next round opens here; a moment in the past when one is due."""
    found = await opening.repeating(db)
    if not found or not policies.enabled(await policies.read(db, workspace), "module_surveys"):
        return None
    zone = await host_zone.of(db)
    coming = [opens.starts_at for one in found if (opens := one.following(now, zone))]
    return min(coming, default=None)


FUNCTIONS: Mapping[str, Function] = {
    "surveys_head": note_head,
    ledger_problems.JOB: verify_ledger,
    "surveys_rounds": open_rounds,
    "surveys_mail": send_invitations,
    "surveys_tally": count_up,
    "surveys_split": count_split,
    kept_numbers.JOB: count_numbers,
    "surveys_close": close_anonymous,
}
LETTERS = handing_over.LETTERS
