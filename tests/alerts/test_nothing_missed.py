"""Whatever happens at the same time, people are told."""

from dataclasses import replace

import pytest
from sqlalchemy import func, insert, select, update

from app.accounts.models import Job
from app.alerts import news, telling
from app.alerts.rules import QuietHours
from app.db.session import PLATFORM
from app.host.jobs import schedule
from app.parts import Parts
from app.problems.events import ProblemsMoved
from tests.alerts.conftest import AT_ONCE, choose, fail_jobs, mend_jobs, tell
from tests.alerts.test_mails import later, make_due
from tests.fakes.mailbox import Mailbox
from tests.mail.conftest import send


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


async def wait_with_its_closing(parts: Parts) -> None:
    """Until the quiet hours of Alice are over."""
    quiet = QuietHours(later(hours=-1).time(), later(hours=2).time())
    await choose(parts, "alice", replace(AT_ONCE, quiet=quiet))
    async with parts.database.transaction(PLATFORM) as db:
        await telling.tell_some(parts, db, later())


@pytest.mark.parametrize("closing_waits", [False, True])
async def test_what_opens_again_after_its_mail_was_dropped_is_mailed(
    looked: Parts, mailbox: Mailbox, closing_waits: bool
) -> None:
    """It was closed when the turn of its mail came.
    Its closing was not spread yet, or waits until the quiet hours are over."""
    mailbox.answers = ["451 Try again later"]
    await fail_jobs(looked)
    await tell(looked)
    await mend_jobs(looked)
    if closing_waits:
        await wait_with_its_closing(looked)
    await make_due(looked)
    await send(looked)
    await fail_jobs(looked)
    await tell(looked)
    await tell(looked, later(hours=3))
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Warning"]


async def test_what_closed_and_opened_again_before_both_were_spread_is_not_mailed_again(
    looked: Parts, mailbox: Mailbox
) -> None:
    await fail_jobs(looked)
    await tell(looked)
    await mend_jobs(looked)
    await fail_jobs(looked)
    await tell(looked)
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Warning"]
    await mend_jobs(looked)
    await tell(looked)
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Warning", "Closed"]


async def test_a_mail_of_an_earlier_opening_says_nothing_of_this_one(looked: Parts, mailbox: Mailbox) -> None:
    mailbox.answers = ["451 Try again later"]
    for cause in (fail_jobs, mend_jobs, fail_jobs):
        await cause(looked)
        await tell(looked)
    await mend_jobs(looked)
    await wait_with_its_closing(looked)
    await make_due(looked)
    await send(looked)
    await fail_jobs(looked)
    await tell(looked, later(hours=3))
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Closed", "Warning"]
