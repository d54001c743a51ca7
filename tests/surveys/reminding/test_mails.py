"""Mails about surveys from the button to the mailbox: each once, none for who answered, none late,
and none in a flood."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from app.accounts import policies, schedule_looks
from app.accounts.models import Job, User, WorkspaceLook
from app.config import Settings
from app.errors import Conflict
from app.jobs import Claim
from app.mail import unsubscribing
from app.parts import Parts
from app.surveys import jobs as survey_jobs
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.models import Invitation, Survey
from app.surveys.reminding import waiting
from app.surveys.reminding.turns import LASTS
from app.surveys.translations import SurveyTexts
from tests.conftest import Browser, SignIn
from tests.fakes.mailbox import Mailbox, html_of, text_of
from tests.mail.conftest import mailbox, send, settings
from tests.markup import squeezed
from tests.surveys import authored
from tests.surveys.authored import ANN
from tests.surveys.recording import record, user_id

__all__ = ["mailbox", "settings"]
DAY = timedelta(days=1)
EVE = "eve@example.org"


async def asked(parts: Parts, **fields: Any) -> Stored:
    """A survey for the staff of the platform; the cast has some."""
    return await authored.make(parts.database, "published", title="Lunch", user_types=("staff",), **fields)


async def work(parts: Parts) -> None:
    """What the workers do: the survey's job, then that of the outbox."""
    await survey_jobs.send_invitations(parts, Claim(1, 1, "main", "surveys_mail", {}))
    await send(parts)


async def staff(parts: Parts) -> list[str]:
    async with parts.database.transaction("main") as db:
        theirs = select(User.email).where(User.type == "staff", User.active).order_by(User.email)
        return list(await db.scalars(theirs))


async def remind(parts: Parts, stored: Stored, *emails: str) -> int:
    async with parts.database.transaction("main") as db:
        people = select(User.id).where(*waiting.unanswered("main", stored))
        chosen = people.where(User.email.in_(emails)) if emails else people
        return await waiting.remind(db, ANN, stored, chosen, datetime.now(UTC))


async def make_older(parts: Parts, by: timedelta) -> None:
    async with parts.database.transaction("main") as db:
        await db.execute(update(Invitation).values(due_at=Invitation.due_at - by))
        await db.execute(update(Survey).values(published_at=Survey.published_at - by))


async def rows(parts: Parts) -> Sequence[Invitation]:
    async with parts.database.transaction("main") as db:
        return (await db.scalars(select(Invitation).order_by(Invitation.user_id, Invitation.turn))).all()


async def test_everybody_who_has_not_answered_gets_one_mail(parts: Parts, mailbox: Mailbox) -> None:
    stored, everyone = await asked(parts), await staff(parts)
    first, *others = everyone
    async with parts.database.transaction("main") as db:
        someone = await db.scalar(select(User.id).where(User.email == first))
    await record(parts.database, parts.keys, stored, someone or 0, None)
    assert await remind(parts, stored) == len(others)
    assert await remind(parts, stored) == 0, "one that waits is enough"
    await work(parts)
    await work(parts)
    assert sorted(str(one["To"]) for one in mailbox.messages) == others
    assert mailbox.subjects == ["Reminder: Lunch"] * len(others)
    assert "/me/questions" in text_of(mailbox.messages[0])


async def test_the_schedule_looks_soon_after_somebody_was_reminded(parts: Parts) -> None:
    stored = await asked(parts)
    later = datetime.now(UTC) + timedelta(minutes=4)
    async with parts.database.shared_transaction() as db:
        await schedule_looks.add_missing(db)
        await db.execute(update(WorkspaceLook).values(next_at=later))
    await remind(parts, stored)
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(WorkspaceLook.next_at).where(WorkspaceLook.workspace == "main")) < later


async def test_a_person_is_reminded_twice_at_most(parts: Parts, mailbox: Mailbox) -> None:
    stored = await asked(parts)
    for made in (1, 1, 0):
        assert await remind(parts, stored, "bob@example.org") == made
        await work(parts)
    assert len(mailbox.messages) == 2


async def test_who_answers_before_the_mail_leaves_gets_none(parts: Parts, mailbox: Mailbox) -> None:
    stored = await asked(parts)
    await remind(parts, stored, "bob@example.org")
    await survey_jobs.send_invitations(parts, Claim(1, 1, "main", "surveys_mail", {}))
    await record(parts.database, parts.keys, stored, await user_id(parts.database, "bob"), None)
    await send(parts)
    assert mailbox.messages == []


async def test_who_ends_mails_about_surveys_gets_none(parts: Parts, mailbox: Mailbox) -> None:
    """By the link in the first one: also no reminder that waits already, in the list or in the outbox."""
    stored = await asked(parts)
    await remind(parts, stored, "bob@example.org")
    await work(parts)
    found = str(mailbox.messages[0]["List-Unsubscribe"]).strip("<>")
    assert found in text_of(mailbox.messages[0])
    await remind(parts, stored, "bob@example.org", "vera@example.org")
    await survey_jobs.send_invitations(parts, Claim(1, 1, "main", "surveys_mail", {}))
    async with parts.database.shared_transaction() as db:
        await unsubscribing.refuse(db, unsubscribing.wish_of(parts.keys, found.rpartition("/")[2]))
    await send(parts)
    assert await remind(parts, stored, "bob@example.org") == 0, "the button counts nothing that would not leave"
    assert [one["To"] for one in mailbox.messages[1:]] == ["vera@example.org"]


async def test_each_person_gets_the_mail_in_their_language(parts: Parts, mailbox: Mailbox) -> None:
    """The title too, where the survey has it. Without a choice it is the survey's own language."""
    german = SurveyTexts(title="Mittagessen")
    stored = await asked(parts, language="fr", translations={"de": german})
    async with parts.database.shared_transaction() as db:
        for email, tag in (("bob@example.org", "de"), ("vera@example.org", "ar")):
            await db.execute(update(User).where(User.email == email).values(language=tag))
        await db.execute(update(User).where(User.email == "nora@example.org").values(type="staff"))
    await remind(parts, stored)
    await work(parts)
    told = {str(one["To"]): (str(one["Subject"]), html_of(one)) for one in mailbox.messages}
    assert told["bob@example.org"][0] == "Erinnerung: Mittagessen"
    assert told["vera@example.org"][0] == "تذكير: Lunch"
    assert 'dir="rtl"' in told["vera@example.org"][1]
    assert told["nora@example.org"][0] == "Rappel : Lunch"


async def test_what_waited_for_too_long_is_dropped_and_may_be_asked_for_again(parts: Parts, mailbox: Mailbox) -> None:
    stored = await asked(parts)
    await remind(parts, stored)
    await make_older(parts, LASTS)
    await work(parts)
    assert mailbox.messages == []
    assert all(one.dropped_at for one in await rows(parts))
    assert await remind(parts, stored, "bob@example.org") == 1
    await work(parts)
    assert len(mailbox.messages) == 1


async def test_people_are_reminded_by_themselves_after_some_days_and_once_more(parts: Parts, mailbox: Mailbox) -> None:
    await asked(parts, remind_days=3)
    everyone = await staff(parts)
    for number in (0, 1, 2, 2):
        await work(parts)
        assert len(mailbox.messages) == number * len(everyone)
        await make_older(parts, 3 * DAY)


async def test_the_schedule_asks_for_the_job_when_something_is_due(parts: Parts, mailbox: Mailbox) -> None:
    await asked(parts, remind_days=3)
    assert await jobs_after_a_look(parts) == []
    await make_older(parts, 3 * DAY)
    assert await jobs_after_a_look(parts) == ["surveys_mail"]


async def jobs_after_a_look(parts: Parts) -> list[str]:
    await survey_jobs.schedule(parts, "main")
    async with parts.database.transaction("main") as db:
        return list(await db.scalars(select(Job.name).where(Job.name == "surveys_mail", Job.status == "queued")))


async def test_an_invitation_waits_for_the_day_on_which_the_survey_opens(parts: Parts, mailbox: Mailbox) -> None:
    starts_at = datetime.now(UTC) + 2 * DAY
    stored = await asked(parts, starts_at=starts_at)
    async with parts.database.transaction("main") as db:
        assert await waiting.invite(db, ANN, stored, datetime.now(UTC)) == len(await staff(parts))
    await work(parts)
    assert mailbox.messages == []
    assert {one.due_at for one in await rows(parts)} == {starts_at}


async def test_mails_follow_the_start_when_it_is_moved(parts: Parts, mailbox: Mailbox) -> None:
    now = datetime.now(UTC)
    stored = await asked(parts, starts_at=now + 2 * DAY)
    await remind(parts, stored, "bob@example.org")
    assert [one.due_at for one in await rows(parts)] == [now + 2 * DAY]
    for days in (5, 1):
        starts_at = now + days * DAY
        stored = (await authored.save(parts.database, stored, starts_at=starts_at)).stored
        assert [one.due_at for one in await rows(parts)] == [starts_at]
        await work(parts)
        assert mailbox.messages == []
    await authored.save(parts.database, stored, starts_at=None)
    await work(parts)
    assert len(mailbox.messages) == 1


async def test_a_mail_is_kept_where_its_survey_opens_later_by_now(parts: Parts, mailbox: Mailbox) -> None:
    """Before it is handed over, and between that and its sending."""
    stored = await asked(parts)
    await remind(parts, stored, "bob@example.org")
    await survey_jobs.send_invitations(parts, Claim(1, 1, "main", "surveys_mail", {}))
    starts_at = datetime.now(UTC) + DAY
    await open_at(parts, starts_at)
    await send(parts)
    assert [one.sent_at for one in await rows(parts)] == [None]
    await work(parts)
    assert [(one.due_at, one.sent_at, one.dropped_at) for one in await rows(parts)] == [(starts_at, None, None)]
    await open_at(parts, None)
    await make_older(parts, DAY)
    await work(parts)
    assert len(mailbox.messages) == 1


async def open_at(parts: Parts, at: datetime | None) -> None:
    async with parts.database.transaction("main") as db:
        await db.execute(update(Survey).where(Survey.title == "Lunch").values(starts_at=at))


async def switch(parts: Parts, workspace: str, *, on: bool) -> None:
    async with parts.database.shared_transaction() as db:
        await policies.write(db, workspace, {"module_surveys": on})


async def test_mails_wait_while_surveys_are_switched_off(parts: Parts, mailbox: Mailbox) -> None:
    stored = await authored.make(parts.database, "published", title="Lunch", remind_days=3)
    await make_older(parts, 3 * DAY)
    await switch(parts, "main", on=False)
    assert await jobs_after_a_look(parts) == []
    await work(parts)
    assert await rows(parts) == [], "no person is reminded meanwhile"
    await remind(parts, stored, "bob@example.org", EVE)
    await work(parts)
    assert await jobs_after_a_look(parts) == []
    assert mailbox.messages == []
    await switch(parts, "main", on=True)
    await work(parts)
    assert {"bob@example.org", "alice@example.org", EVE} <= {one["To"] for one in mailbox.messages}


async def test_mails_wait_while_the_tenant_of_a_person_has_surveys_switched_off(parts: Parts, mailbox: Mailbox) -> None:
    stored = await authored.make(parts.database, "published", title="Lunch")
    await switch(parts, "globex", on=False)
    assert await remind(parts, stored, "bob@example.org", EVE) == 2
    await work(parts)
    assert [one["To"] for one in mailbox.messages] == ["bob@example.org"]
    assert await jobs_after_a_look(parts) == []
    await make_older(parts, LASTS)
    assert await jobs_after_a_look(parts) == ["surveys_mail"]
    await work(parts)
    assert [(bool(one.sent_at), bool(one.dropped_at)) for one in await rows(parts)].count((False, True)) == 1
    await switch(parts, "globex", on=True)
    await remind(parts, stored, EVE)
    await work(parts)
    assert len(mailbox.messages) == 2


@pytest.mark.parametrize(("status", "sentence"), [("archived", "not published"), ("over", "is over")])
async def test_people_are_not_reminded_of_what_they_cannot_answer(
    parts: Parts, alice: Browser, status: str, sentence: str
) -> None:
    stored = await asked(parts)
    bob = await user_id(parts.database, "bob")
    async with parts.database.transaction("main") as db:
        past = datetime.now(UTC) - DAY
        values = {"ends_at": past} if status == "over" else {"status": status}
        await db.execute(update(Survey).where(Survey.id == stored.id).values(values))
    answer = await alice.submit(f"/surveys/waiting/{stored.uid}/remind", {"action": "remind", "id": str(bob)})
    assert (answer.status_code, sentence in answer.text) == (409, True)
    with pytest.raises(Conflict, match=sentence):
        await remind(parts, await authored.read(parts.database, stored.uid))
    assert await rows(parts) == []


async def test_what_waits_can_be_dropped(parts: Parts, mailbox: Mailbox) -> None:
    stored = await asked(parts)
    await remind(parts, stored)
    async with parts.database.transaction("main") as db:
        assert await waiting.drop(db, ANN, stored, datetime.now(UTC)) == len(await staff(parts))
        assert await waiting.counts(db, stored.id, stored.version) == waiting.MailCounts(0, 0)
    await work(parts)
    assert mailbox.messages == []


class TestWithoutMail:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, smtp=None, mail_from=None)

    async def test_mails_wait_and_are_dropped_after_a_week(self, parts: Parts) -> None:
        stored = await asked(parts)
        await remind(parts, stored)
        await work(parts)
        async with parts.database.transaction("main") as db:
            assert (await waiting.counts(db, stored.id, stored.version)).waiting == len(await staff(parts))
        assert await jobs_after_a_look(parts) == []
        await make_older(parts, LASTS)
        assert await jobs_after_a_look(parts) == ["surveys_mail"]
        await work(parts)
        async with parts.database.transaction("main") as db:
            assert await waiting.counts(db, stored.id, stored.version) == waiting.MailCounts(0, 0)

    async def test_the_pages_say_that_mail_is_off_and_what_waits(self, parts: Parts, alice: Browser) -> None:
        stored = await asked(parts)
        url = f"/surveys/waiting/{stored.uid}"
        bob = await user_id(parts.database, "bob")
        assert "Mail is not set up on this server" in squeezed((await alice.get("/surveys/new")).text)
        question = await alice.submit(f"{url}/remind", {"action": "remind", "id": str(bob)})
        assert "Mail is not set up on this server" in question.text
        sent = {"action": "remind", "id": str(bob), "confirmed": "1", "number": "1"}
        assert (await alice.submit(f"{url}/remind", sent)).status_code == 303
        assert "1 mail waits</a>" in squeezed((await alice.get(f"/surveys/view/{stored.uid}")).text)
        text = squeezed((await alice.get(url)).text)
        assert "1 mail waits" in text
        assert "Mail is not set up on this server: mails wait until it is" in text
        assert "Drop what waits" in text
        assert "1</strong> mail waits" in (await alice.get(f"{url}/drop")).text
        assert (await alice.submit(f"{url}/drop", {"confirmed": "1"})).status_code == 303
        assert "mail waits" not in (await alice.get(url)).text

    async def test_publishing_can_invite(self, parts: Parts, alice: Browser) -> None:
        stored = await authored.make(parts.database, user_types=("staff",))
        assert "Invite them by mail" in (await alice.get(f"/surveys/publish/{stored.uid}")).text
        await alice.submit(f"/surveys/publish/{stored.uid}", {"confirmed": "1", "invite": "1"})
        async with parts.database.transaction("main") as db:
            now = await authoring.load(db, stored.uid)
            assert (now.status, (await waiting.counts(db, now.id, now.version)).waiting) == (
                "published",
                len(await staff(parts)),
            )

    async def test_reminding_needs_the_right_to_publish(self, parts: Parts, sign_in: SignIn) -> None:
        stored = await asked(parts)
        vera = await sign_in("vera")
        for way in ("remind", "drop"):
            answer = await vera.submit(f"/surveys/waiting/{stored.uid}/{way}", {"action": way})
            assert answer.status_code == 403
