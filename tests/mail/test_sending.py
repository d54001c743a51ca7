"""What becomes of a mail: sent, refused, tried again, dropped, too old."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select, text, update

from app.accounts import tenants
from app.accounts.audit import SYSTEM
from app.accounts.models import Job, User
from app.db.session import PLATFORM
from app.host import jobs as host_jobs
from app.jobs import Claim
from app.mail import outbox, sending
from app.mail.account_letters import LETTERS, LINK, NOTICE
from app.mail.models import OutgoingMail
from app.mail.outbox import NewMail
from app.parts import Parts
from tests.fakes.mailbox import Mailbox, open_mailbox, text_of
from tests.host.signing_in import user_id_of
from tests.mail.conftest import send


async def post(parts: Parts, **more: Any) -> None:
    user_id = await user_id_of(parts.database, "alice")
    async with parts.database.transaction(PLATFORM) as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, user_id, **more))


async def rows(parts: Parts) -> list[OutgoingMail]:
    async with parts.database.shared_transaction() as db:
        return list(await db.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


async def make_due(parts: Parts) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).values(due_at=func.now()))


async def test_a_mail_is_sent_once_and_nothing_of_it_stays(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    (waiting,) = await rows(parts)
    assert waiting.facts is not None
    assert "change_password" not in waiting.facts
    await send(parts)
    await send(parts)
    (message,) = mailbox.messages
    assert message["To"] == "alice@example.org"
    assert message["From"] == "Muster <muster@example.org>"
    assert "The password of your account was changed." in text_of(message)
    (row,) = await rows(parts)
    assert (row.status, row.facts, row.attempts) == ("sent", None, 1)


async def test_a_mail_whose_cause_is_undone_never_was(parts: Parts, mailbox: Mailbox) -> None:
    async with parts.database.transaction(PLATFORM) as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, 1))
        await db.rollback()
    assert await rows(parts) == []
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Job)) == 0


async def test_what_is_refused_for_now_is_tried_again_with_the_same_id(parts: Parts, mailbox: Mailbox) -> None:
    mailbox.answers = ["451 Try again later"]
    await post(parts)
    await send(parts)
    (row,) = await rows(parts)
    assert (row.status, row.error) == ("waiting", "The mail server answered 451: Try again later")
    assert timedelta(seconds=50) < row.due_at - datetime.now(UTC) < timedelta(seconds=70)
    await send(parts)
    assert mailbox.messages == []
    await make_due(parts)
    await send(parts)
    (message,) = mailbox.messages
    assert message["Message-ID"] == f"<{row.message_key}@testserver>"


async def test_what_is_refused_for_good_fails_and_the_next_one_leaves(parts: Parts, mailbox: Mailbox) -> None:
    mailbox.answers = ["554 Looks like spam"]
    await post(parts)
    await post(parts)
    await send(parts)
    first, second = await rows(parts)
    assert (first.status, first.error, first.facts) == ("failed", "The mail server answered 554: Looks like spam", None)
    assert second.status == "sent"


async def test_a_mailbox_that_does_not_exist_fails_its_mail_alone(parts: Parts, mailbox: Mailbox) -> None:
    mailbox.refused = {"alice@example.org"}
    await post(parts)
    await send(parts)
    (row,) = await rows(parts)
    assert (row.status, row.error) == ("failed", "The mail server answered 550: There is no such mailbox")


async def test_where_the_server_is_away_all_wait_and_one_is_tried(parts: Parts) -> None:
    async with open_mailbox() as gone:
        pass
    server = replace(parts.settings.smtp, port=gone.port)  # type: ignore[type-var]
    away = replace(parts, settings=replace(parts.settings, smtp=server))
    await post(parts)
    await post(parts)
    await send(away)
    assert [(one.status, one.attempts) for one in await rows(parts)] == [("waiting", 1), ("waiting", 0)]
    assert "could not be reached" in str((await rows(parts))[0].error)


async def test_a_slow_server_gets_more_time_at_each_attempt(
    parts: Parts, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So one mail holds up the others for a turn at most, and is not sent again and again."""
    monkeypatch.setattr(sending, "ATTEMPT_S", 0.5)
    mailbox.answers_after_s = 0.75
    await post(parts)
    await post(parts)
    await send(parts)
    assert [(one.status, one.attempts) for one in await rows(parts)] == [("waiting", 1), ("waiting", 0)]
    assert (await rows(parts))[0].error == "The mail server did not answer in time."
    await make_due(parts)
    await send(parts)
    assert [one.status for one in await rows(parts)] == ["sent", "waiting"]
    first, second, _ = mailbox.messages
    assert first["Message-ID"] == second["Message-ID"]


async def test_what_is_too_old_fails_with_the_last_reason(parts: Parts, mailbox: Mailbox) -> None:
    mailbox.answers = ["451 Try again later"]
    await post(parts)
    await send(parts)
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).values(due_at=func.now(), expires_at=func.now()))
    await send(parts)
    (row,) = await rows(parts)
    assert row.status == "failed"
    assert "451: Try again later" in str(row.error)
    assert mailbox.messages == []


async def test_a_worker_that_dies_over_a_mail_leaves_it_to_the_next_one(parts: Parts, mailbox: Mailbox) -> None:
    """Its attempt was counted before the mail left, so that a mail that kills a worker is not tried at once
    for ever."""
    await post(parts)
    mailbox.answers = ["250 OK"]  # taken, but what the worker would have noted is lost with it
    await send(parts)
    async with parts.database.shared_transaction() as db:
        await db.execute(
            text("UPDATE outgoing_mails SET status = 'waiting', ended_at = NULL, facts = :facts"),
            {
                "facts": outbox.sealed_facts(
                    parts.keys, PLATFORM, (await rows(parts))[0].message_key, {"act": "user.add_passkey"}
                )
            },
        )
    await send(parts)
    assert mailbox.messages == []
    await make_due(parts)
    await send(parts)
    assert mailbox.subjects == ["A passkey was added in Muster"]


async def test_a_worker_without_mail_leaves_what_waits_to_the_others(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    off = replace(parts, settings=replace(parts.settings, smtp=None, mail_from=None))
    await send(off)
    assert [one.status for one in await rows(parts)] == ["waiting"]
    await post(off)
    assert len(await rows(parts)) == 1
    await make_due(parts)
    async with parts.database.shared_transaction() as db:
        await db.execute(delete(Job))
    await host_jobs.schedule(off, PLATFORM)
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).where(Job.name == "send_mail")) == 0


async def test_what_still_waits_long_after_its_time_is_forgotten(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    async with parts.database.shared_transaction() as db:
        await db.execute(
            update(OutgoingMail).values(expires_at=func.now() - outbox.LEFT_WAITING - timedelta(minutes=1))
        )
    await host_jobs.tidy(parts, Claim(1, 1, PLATFORM, "housekeeping", {}))
    assert await rows(parts) == []


async def test_a_mail_that_cannot_be_written_fails_alone(parts: Parts, mailbox: Mailbox) -> None:
    """An address from before addresses were checked so closely."""
    await post(parts)
    vera = await user_id_of(parts.database, "vera")
    async with parts.database.transaction(PLATFORM) as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, vera))
        await db.execute(update(User).where(User.email == "alice@example.org").values(email="ada@[x.org"))
    await send(parts)
    first, second = await rows(parts)
    assert first.status == "failed"
    assert str(first.error).startswith("It could not be written (")
    assert second.status == "sent"


async def test_a_person_who_waits_comes_before_many_who_are_told_something(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    await post(parts, urgent=True)
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).where(OutgoingMail.urgent).values(due_at=func.now()))
    mailbox.answers = ["554 The first one"]
    await send(parts)
    assert [one.status for one in await rows(parts)] == ["sent", "failed"]


@pytest.mark.parametrize("limit", [("MOST", 1), ("TURN_S", 0)])
async def test_more_than_a_job_sends_is_sent_by_the_next_ones(
    parts: Parts, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, limit: tuple[str, int]
) -> None:
    """Also by the one after the next: the key of its job must be free."""
    monkeypatch.setattr(sending, *limit)
    for _ in range(3):
        await post(parts)
    for _ in range(4):
        async with parts.database.shared_transaction() as db:
            queued = select(Job).where(Job.status == "queued").order_by(Job.id).limit(1)
            job = (await db.scalars(queued)).one_or_none()
            if job is None:
                break
            job.status = "running"
        before = len(mailbox.messages)
        await send(parts)
        assert len(mailbox.messages) <= before + 1
        async with parts.database.shared_transaction() as db:
            await db.execute(update(Job).where(Job.status == "running").values(status="done"))
    assert len(mailbox.messages) == 3


async def test_who_may_no_longer_sign_in_is_told_nothing(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    async with parts.database.shared_transaction() as db:
        await db.execute(update(User).values(active=False))
    await send(parts)
    assert mailbox.messages == []
    assert [one.status for one in await rows(parts)] == ["dropped"]


async def test_mails_of_a_deactivated_tenant_wait_until_it_is_active_again(parts: Parts, mailbox: Mailbox) -> None:
    eve = await user_id_of(parts.database, "eve")
    async with parts.database.transaction("globex") as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, eve))
    async with parts.database.transaction() as db:
        await tenants.deactivate(db, SYSTEM, "globex")
    await send(parts, "globex")
    assert [(one.status, one.attempts) for one in await rows(parts)] == [("waiting", 0)]
    async with parts.database.transaction() as db:
        await tenants.activate(db, SYSTEM, "globex")
    await send(parts, "globex")
    assert [message["To"] for message in mailbox.messages] == ["eve@example.org"]


async def test_mails_that_waited_for_long_leave_when_the_tenant_is_active_again(parts: Parts, mailbox: Mailbox) -> None:
    """A one-time link has ended by then, so its mail stays."""
    eve = await user_id_of(parts.database, "eve")
    async with parts.database.transaction("globex") as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, eve))
        await outbox.post(parts, db, NewMail(LINK, {"secret": "ended"}, eve))
        await tenants.deactivate(db, SYSTEM, "globex")
        await db.execute(update(OutgoingMail).values(expires_at=func.now() - timedelta(days=30)))
    await host_jobs.tidy(parts, Claim(1, 1, PLATFORM, "housekeeping", {}))
    async with parts.database.transaction() as db:
        await tenants.activate(db, SYSTEM, "globex")
    await send(parts, "globex")
    await send(parts, "globex")
    assert [message["To"] for message in mailbox.messages] == ["eve@example.org"]
    assert [one.status for one in await rows(parts)] == ["sent", "failed"]


async def test_a_tenant_that_is_deactivated_while_a_mail_is_written_does_not_drop_it(
    parts: Parts, mailbox: Mailbox
) -> None:
    eve = await user_id_of(parts.database, "eve")
    async with parts.database.transaction("globex") as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, eve))
    async with parts.database.transaction() as db:
        await tenants.deactivate(db, SYSTEM, "globex")
    async with parts.database.transaction("globex") as db:
        (row,) = (await db.scalars(select(OutgoingMail))).all()
        written = await sending._written(parts, db, row, LETTERS, "m@example.org")
    assert written.message is None
    assert [one.status for one in await rows(parts)] == ["waiting"]


async def test_the_schedule_asks_for_what_is_due(parts: Parts, mailbox: Mailbox) -> None:
    later = datetime.now(UTC) + timedelta(minutes=3)
    await post(parts, due_at=later)
    assert await host_jobs.schedule(parts, PLATFORM) == later
    await make_due(parts)
    await host_jobs.schedule(parts, PLATFORM)
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).where(Job.name == "send_mail")) == 1


async def test_mails_that_ended_long_ago_are_forgotten(parts: Parts, mailbox: Mailbox) -> None:
    await post(parts)
    await send(parts)
    await host_jobs.tidy(parts, Claim(1, 1, PLATFORM, "housekeeping", {}))
    assert len(await rows(parts)) == 1
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).values(ended_at=func.now() - outbox.ENDED_KEPT - timedelta(minutes=1)))
    await host_jobs.tidy(parts, Claim(1, 1, PLATFORM, "housekeeping", {}))
    assert await rows(parts) == []
