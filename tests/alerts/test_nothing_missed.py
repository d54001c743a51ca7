"""Whatever happens at the same time, people are told."""

import pytest
from sqlalchemy import func, insert, select, update

from app.accounts.models import Job
from app.alerts import news
from app.db.session import PLATFORM
from app.host.jobs import schedule
from app.parts import Parts
from app.problems.events import ProblemsMoved


@pytest.mark.usefixtures("mailbox")
async def test_news_that_no_job_was_asked_for_are_spread(looked: Parts) -> None:
    """Their cause found one job that ran and one that waited. Both had ended when it committed."""
    asked = [{"workspace": PLATFORM, "name": news.JOB, "key": key} for key in (news.JOB, f"{news.JOB}:next")]
    async with looked.database.transaction(PLATFORM) as db:
        await db.execute(insert(Job), asked)
    async with looked.database.transaction(PLATFORM) as cause:
        await news.note(cause, ProblemsMoved([], []))
        async with looked.database.shared_transaction() as db:
            ended = update(Job).where(Job.name == news.JOB).values(status="done", finished_at=func.now())
            await db.execute(ended)
    await schedule(looked, PLATFORM)
    async with looked.database.shared_transaction() as db:
        waiting = select(Job.key).where(Job.name == news.JOB, Job.status == "queued")
        assert (await db.scalars(waiting)).all() == [news.JOB]
