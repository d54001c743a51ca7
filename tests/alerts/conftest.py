"""A workspace where problems open and close by their causes, and people who are told of them."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from app import wiring
from app.accounts.models import Job, WorkerHeartbeat
from app.alerts import choosing, telling
from app.alerts.rules import AlertRules, SeverityRule
from app.db.session import PLATFORM
from app.parts import Parts
from app.problems import looking
from tests.host.signing_in import user_id_of
from tests.mail.conftest import mailbox, send, settings  # noqa: F401 - the fixtures of an installation with mail

AT_ONCE = AlertRules(SeverityRule("at_once", 0), SeverityRule("at_once", 0), SeverityRule("at_once", 0))


@pytest.fixture
async def a_worker(parts: Parts) -> None:
    """Else that is a problem, too."""
    later = datetime.now(UTC) + timedelta(hours=1)
    async with parts.database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1, seen_at=later))


@pytest.fixture
async def looked(parts: Parts, a_worker: None) -> Parts:
    """All kinds were looked for before: what opens now is news. Alice is told of everything at once."""
    wiring.connect()
    await look(parts)
    await choose(parts, "alice", AT_ONCE)
    return parts


async def choose(parts: Parts, short: str, rules: AlertRules) -> None:
    user_id = await user_id_of(parts.database, short)
    async with parts.database.transaction(PLATFORM) as db:
        await choosing.choose(db, user_id, rules)


async def look(parts: Parts) -> None:
    async with parts.database.transaction(PLATFORM) as db:
        assert await looking.look(db)


async def fail_jobs(parts: Parts, number: int = 1) -> None:
    """That many jobs fail for good, and are found."""
    rows = [
        {"workspace": PLATFORM, "name": "housekeeping", "key": f"work {one}", "status": "failed", "error": "It broke.",
         "finished_at": datetime.now(UTC)}
        for one in range(number)
    ]  # fmt: skip
    async with parts.database.transaction(PLATFORM) as db:
        await db.execute(insert(Job), rows)
    await look(parts)


async def mend_jobs(parts: Parts) -> None:
    async with parts.database.transaction(PLATFORM) as db:
        await db.execute(update(Job).where(Job.status == "failed").values(status="done", error=None))
    await look(parts)


async def tell(parts: Parts, now: datetime | None = None) -> None:
    """What the jobs `alerts` and `send_mail` do, at a time."""
    async with parts.database.transaction(PLATFORM) as db:
        await telling.tell_some(parts, db, now or datetime.now(UTC))
    await send(parts)
