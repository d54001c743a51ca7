"""How often the schedule asks for a look at all kinds in a workspace."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select

from app.accounts.models import Job
from app.host import jobs
from app.parts import Parts
from app.problems import looking
from tests.clock.mirrored import connect
from tests.host.pages.test_problems import have


@pytest.mark.parametrize(
    ("workspace", "there", "minutes", "is_asked"),
    [
        ("globex", "nothing", 6, False),
        ("globex", "nothing", 59, False),
        ("globex", "nothing", 61, True),
        ("globex", "connection", 4, False),
        ("globex", "connection", 6, True),
        ("globex", "problem", 6, True),
        ("main", "nothing", 6, True),
    ],
)
async def test_where_only_causes_can_open_a_problem_an_hour_is_soon_enough(
    parts: Parts, workspace: str, there: str, minutes: int, *, is_asked: bool
) -> None:
    """In the others a problem that time opens is found within five minutes."""
    before = {"workspace": workspace, "name": looking.JOB, "key": looking.JOB, "status": "done"}
    async with parts.database.transaction(workspace) as db:
        at = datetime.now(UTC) - timedelta(minutes=minutes)
        await db.execute(insert(Job).values(**before, created_at=at, finished_at=at))
        if there == "connection":
            await connect(db)
    if there == "problem":
        await have(parts.database, "job_failed", 1, workspace)
    await jobs.schedule(parts, workspace)
    async with parts.database.transaction(workspace) as db:
        waiting = await db.scalars(select(Job.name).where(Job.workspace == workspace, Job.status == "queued"))
        assert (looking.JOB in waiting.all()) is is_asked
