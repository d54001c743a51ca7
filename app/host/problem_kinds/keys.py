"""Sealed values that no key opens: a key of MUSTER_SECRET_KEYS is missing, or the data is of another installation.

`app.wiring` registers the function that examines all sealed columns.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.models import Job, WorkerHeartbeat
from app.counting import count
from app.db.session import PLATFORM, Database
from app.parts import Parts
from app.problems import looking
from app.problems.findings import Finding, Severity
from app.problems.kinds import ProblemKind, Remedy, RemedyAsked
from app.secrets import KeyRing

MISSING = "key_missing"
JOB = "keys_check"
CHECKED_EVERY = timedelta(days=1)
NAMED = 3
# Returns the places of values that no key opens.
Examine = Callable[[Database, KeyRing], Awaitable[Sequence[str]]]
_examiners: list[Examine] = []


def offer(examine: Examine) -> None:
    """Registers once; a second time changes nothing."""
    if examine not in _examiners:
        _examiners.append(examine)


async def check(parts: Parts) -> None:
    """Tries every sealed value of all workspaces, and reports those that do not open."""
    closed = [place for examine in _examiners for place in await examine(parts.database, parts.keys)]
    async with parts.database.transaction(PLATFORM) as db:
        await looking.tell(db, {MISSING}, found_in(closed))


def found_in(places: Sequence[str]) -> list[Finding]:
    if not places:
        return []
    more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
    detail = (
        f"No key opens {count(len(places), 'value', 'values')}: {'; '.join(places[:NAMED])}{more}. Put the key that sealed them back into"
        " MUSTER_SECRET_KEYS, restart everything, then check again. If the key is lost, type in the passwords of time clocks again, and make new secrets for webhooks."
    )
    return [Finding(MISSING, "keys", "all", "A secret key is missing", detail, 0, 0, None, len(places), {})]


async def is_due(db: AsyncSession, now: datetime) -> bool:
    """Once a day, and after a worker was started: that is when keys change."""
    checked = select(func.max(Job.created_at)).where(Job.workspace == PLATFORM, Job.name == JOB).scalar_subquery()
    row = (await db.execute(select(checked, func.max(WorkerHeartbeat.started_at)))).one()
    last, started = row
    return last is None or now - last > CHECKED_EVERY or (started is not None and started > last)


async def _check_again(asked: RemedyAsked) -> None:
    await jobs.request(asked.db, JOB)


def _jobs_page(_: str, __: Mapping[str, Any]) -> str:
    return "/admin/jobs"


KEY_KINDS = (
    ProblemKind(
        MISSING,
        "Key missing",
        Severity.CRITICAL,
        "admin.jobs",
        "Put the key back into MUSTER_SECRET_KEYS and restart everything.",
        _jobs_page,
        remedy=Remedy("Check again", "admin.jobs", _check_again),
        platform_only=True,
    ),
)
