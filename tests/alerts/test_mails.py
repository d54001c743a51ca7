"""From a problem to the mail about it, through the database and a real mail server."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, func, insert, select, update

from app import wiring
from app.accounts import policies
from app.accounts.models import Job, Role, UserRole
from app.alerts.models import AlertNews, ProblemAlert
from app.alerts.news import SUM_AFTER
from app.alerts.rules import FIRST_ADMINISTRATOR, Digest, QuietHours, SeverityRule
from app.db.session import PLATFORM
from app.host.problem_kinds import keys
from app.mail import server as mail_server
from app.mail import unsubscribing
from app.mail.models import OutgoingMail
from app.mail.unsubscribing import ALERTS, Wish
from app.parts import Parts
from app.problems import looking
from app.problems.findings import Finding
from app.problems.models import Problem
from tests.alerts.conftest import AT_ONCE, choose, fail_jobs, look, mend_jobs, tell
from tests.conftest import Browser
from tests.fakes.mailbox import Mailbox, text_of
from tests.host.pages.admin.test_notifications import CHOICE, PAGE
from tests.host.signing_in import change_user, user_id_of


def later(**more: int) -> datetime:
    return datetime.now(UTC) + timedelta(**more)


async def make_due(parts: Parts) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).values(due_at=func.now()))


async def test_one_mail_when_it_opens_and_one_when_it_closes(looked: Parts, mailbox: Mailbox) -> None:
    await fail_jobs(looked)
    async with looked.database.shared_transaction() as db:
        assert await db.scalar(select(Job.status).where(Job.name == "alerts")) == "queued"
    await tell(looked)
    async with looked.database.transaction() as db:
        await db.execute(update(Job).where(Job.status == "failed").values(error="It broke in another way."))
    await look(looked)
    await tell(looked)
    (opened,) = mailbox.messages
    assert opened["Subject"].startswith("Warning: The job ")
    assert "It broke. Retry it" in text_of(opened)
    assert "http://testserver/admin/jobs/" in text_of(opened)
    assert opened["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    await mend_jobs(looked)
    await tell(looked)
    await tell(looked)
    _, closed = mailbox.messages
    assert closed["Subject"].startswith("Closed: The job ")
    assert "It is fixed: it was open from" in text_of(closed)
    assert closed["In-Reply-To"] == opened["Message-ID"]


async def test_what_closes_before_its_minutes_is_never_mailed(looked: Parts, mailbox: Mailbox) -> None:
    await choose(looked, "alice", replace(AT_ONCE, warning=SeverityRule("at_once", 30)))
    await fail_jobs(looked)
    await tell(looked)
    await mend_jobs(looked)
    await tell(looked)
    await tell(looked, later(minutes=31))
    assert mailbox.subjects == []
    await fail_jobs(looked)
    await tell(looked)
    assert mailbox.messages == []
    await tell(looked, later(minutes=31))
    assert len(mailbox.messages) == 1


@pytest.mark.usefixtures("a_worker")
async def test_what_the_first_look_finds_is_told_once_as_a_sum(parts: Parts, mailbox: Mailbox) -> None:
    """After an upgrade over a year of history: one mail, to those who want to be told of what was found."""
    wiring.connect()
    await choose(parts, "bob", replace(AT_ONCE, kinds={"job_failed": "never"}))
    await choose(parts, "alice", AT_ONCE)
    await fail_jobs(parts, 300)
    await tell(parts)
    await tell(parts, later(minutes=9))
    assert mailbox.messages == []
    for _ in range(2):
        await tell(parts, datetime.now(UTC) + SUM_AFTER)
    (found,) = mailbox.messages
    assert (found["To"], found["Subject"]) == ("alice@example.org", "300 older problems found")
    assert "Open: Job failed (300)." in text_of(found)
    await mend_jobs(parts)
    await tell(parts)
    assert len(mailbox.messages) == 1
    async with parts.database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(AlertNews)) == 0


async def test_the_sum_of_a_long_reading_waits_until_its_end_or_for_a_day(looked: Parts, mailbox: Mailbox) -> None:
    """A year is read slice by slice, for hours."""
    await fail_jobs(looked)
    async with looked.database.transaction() as db:
        (problem,) = await db.scalars(select(Problem.id))
        await db.execute(delete(AlertNews))
        for hours in (0, 5):
            at = datetime.now(UTC) - timedelta(hours=hours)
            await db.execute(insert(AlertNews).values(at=at, opened=[problem], closed=[], quiet=True))
    await tell(looked, later(minutes=9))
    assert mailbox.messages == []
    async with looked.database.transaction() as db:
        await db.execute(update(AlertNews).values(at=AlertNews.at - timedelta(hours=19)).where(AlertNews.id > 0))
        await db.execute(update(AlertNews).values(at=func.now()).where(AlertNews.at > func.now() - timedelta(hours=20)))
    await tell(looked)
    assert mailbox.subjects == ["1 older problem found"]


async def test_a_storm_is_one_mail_and_so_is_its_end(looked: Parts, mailbox: Mailbox) -> None:
    await fail_jobs(looked, 25)
    await tell(looked)
    (storm,) = mailbox.messages
    assert storm["Subject"] == "Many problems: 25 opened"
    assert "Open: Job failed (25)." in text_of(storm)
    assert "And 5 more." in text_of(storm)
    await mend_jobs(looked)
    await tell(looked)
    assert len(mailbox.messages) == 1, "the next mail waits until ten minutes are over"
    await tell(looked, later(minutes=11))
    assert mailbox.subjects[1:] == ["Many problems: 25 closed"]


async def test_what_is_critical_does_not_wait_for_a_storm_to_end(looked: Parts, mailbox: Mailbox) -> None:
    async def find(*places: str) -> None:
        async with looked.database.transaction() as db:
            await looking.tell(db, {keys.MISSING}, keys.found_in(places))

    await find()
    await fail_jobs(looked, 25)
    await tell(looked)
    await find("main: a.secret, row 1")
    await tell(looked)
    assert mailbox.subjects == ["Many problems: 25 opened", "Critical: A secret key is missing"]


async def test_a_digest_tells_once_at_its_hour(looked: Parts, mailbox: Mailbox) -> None:
    hour = (datetime.now(UTC) + timedelta(hours=3)).hour
    daily = SeverityRule("digest", 30)
    await choose(looked, "alice", replace(AT_ONCE, warning=daily, digest=Digest("daily", 0, hour)))
    await fail_jobs(looked, 2)
    await tell(looked)
    await tell(looked, later(hours=1))
    assert mailbox.messages == []
    for _ in range(2):
        await tell(looked, later(hours=3))
    assert mailbox.subjects == ["Digest of problems: 2 opened"]
    assert "/mail/unsubscribe/" in mailbox.messages[0]["List-Unsubscribe"]
    assert ".digest." in mailbox.messages[0]["List-Unsubscribe"]


async def test_a_mail_server_that_refuses_and_comes_back(looked: Parts, mailbox: Mailbox) -> None:
    """What closed meanwhile is told by the mail that says so."""
    mailbox.answers = ["451 Try again later"]
    await fail_jobs(looked)
    await tell(looked)
    assert mailbox.messages == []
    await mend_jobs(looked)
    await make_due(looked)
    await tell(looked)
    await tell(looked)
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Closed"]


async def test_a_mail_server_that_stalls_and_comes_back(
    looked: Parts, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the connection and says nothing: the alert waits, and reaches the server that answers again, once."""
    monkeypatch.setattr(mail_server, "PATIENCE_S", 0.2)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    await fail_jobs(looked)
    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as silent:
        server = replace(looked.settings.smtp, port=silent.sockets[0].getsockname()[1])  # type: ignore[type-var]
        await tell(replace(looked, settings=replace(looked.settings, smtp=server)))
    async with looked.database.shared_transaction() as db:
        assert await db.scalar(select(OutgoingMail.error)) == "The mail server did not answer in time."
    for _ in range(2):
        await make_due(looked)
        await tell(looked)
    assert [one.partition(":")[0] for one in mailbox.subjects] == ["Warning"]


@pytest.mark.parametrize("lost", ["active", "role", "page", "link"])
async def test_a_person_who_may_not_be_told_when_its_turn_comes_is_not(
    looked: Parts, mailbox: Mailbox, visitor: Browser, lost: str
) -> None:
    await fail_jobs(looked)
    mailbox.answers = ["451 Try again later"]
    await tell(looked)
    user_id = await user_id_of(looked.database, "alice")
    async with looked.database.transaction(PLATFORM) as db:
        match lost:
            case "active":
                await change_user(looked.database, "alice", active=False)
            case "role":
                await db.execute(delete(UserRole).where(UserRole.user_id == user_id))
            case "page":
                without = func.array_remove(Role.permissions, "admin.jobs")
                await db.execute(update(Role).where(Role.name == "Administrator").values(permissions=without))
    if lost == "link":
        link = unsubscribing.token(looked.keys, Wish(user_id, ALERTS))
        ended = await visitor.post(f"/mail/unsubscribe/{link}", data={"List-Unsubscribe": "One-Click"})
        assert ended.status_code == 200
    await make_due(looked)
    await tell(looked)
    await mend_jobs(looked)
    await tell(looked)
    assert mailbox.messages == []


async def find_rows_set_aside(parts: Parts, *runs: int) -> None:
    kind = "rows_set_aside"
    found = [Finding(kind, "run", str(one), "Rows set aside", "", 0, 0, None, 0, {"run": one}) for one in runs]
    async with parts.database.transaction(PLATFORM) as db:
        await looking.tell(db, [kind], found)


async def test_of_what_another_version_described_in_its_own_way_people_are_told(
    looked: Parts, mailbox: Mailbox
) -> None:
    """Its page is not known, so the mail leads to the list."""
    await find_rows_set_aside(looked, 1)
    async with looked.database.transaction() as db:
        await db.execute(update(Problem).values(facts={}))
    await tell(looked)
    (told,) = mailbox.messages
    assert "http://testserver/problems?view=all" in text_of(told).split()


@pytest.mark.usefixtures("a_worker")
async def test_a_sum_waits_for_the_end_of_quiet_hours(parts: Parts, mailbox: Mailbox) -> None:
    wiring.connect()
    now = datetime.now(UTC).replace(microsecond=0)
    quiet = QuietHours((now - timedelta(hours=1)).time(), (now + timedelta(hours=2)).time())
    await choose(parts, "alice", replace(AT_ONCE, quiet=quiet))
    await fail_jobs(parts, 2)
    await tell(parts, now + SUM_AFTER + timedelta(seconds=5))
    assert mailbox.messages == []
    async with parts.database.shared_transaction() as db:
        assert (await db.scalars(select(OutgoingMail.due_at))).all() == [now + timedelta(hours=2)]
        await db.execute(update(OutgoingMail).values(due_at=now))
    await tell(parts)
    assert mailbox.subjects == ["2 older problems found"]


@pytest.mark.usefixtures("a_worker")
async def test_a_kind_that_only_another_version_knows_keeps_no_other_from_the_sum(
    parts: Parts, mailbox: Mailbox
) -> None:
    wiring.connect()
    await choose(parts, "alice", AT_ONCE)
    await fail_jobs(parts, 2)
    async with parts.database.transaction() as db:
        (one, _) = await db.scalars(select(Problem.id).order_by(Problem.id))
        await db.execute(update(Problem).where(Problem.id == one).values(kind="of_tomorrow"))
    await tell(parts, datetime.now(UTC) + SUM_AFTER)
    assert mailbox.subjects == ["1 older problem found"]


async def test_of_a_module_that_is_off_people_are_not_told(looked: Parts, mailbox: Mailbox) -> None:
    await find_rows_set_aside(looked, 1)
    await tell(looked)
    assert len(mailbox.messages) == 1
    async with looked.database.shared_transaction() as db:
        await policies.write(db, PLATFORM, {"module_clock": False})
    await find_rows_set_aside(looked, 1, 2)
    await tell(looked)
    assert len(mailbox.messages) == 1


async def test_until_they_choose_people_are_told_of_nothing_but_critical_problems(
    looked: Parts, mailbox: Mailbox
) -> None:
    await choose(looked, "alice", FIRST_ADMINISTRATOR)
    await fail_jobs(looked)
    await tell(looked)
    assert mailbox.messages == []
    async with looked.database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(ProblemAlert)) == 0


async def test_another_choice_holds_for_what_waits(looked: Parts, alice: Browser, mailbox: Mailbox) -> None:
    await choose(looked, "alice", replace(AT_ONCE, warning=SeverityRule("at_once", 30)))
    await fail_jobs(looked)
    await tell(looked)
    await alice.submit(PAGE, CHOICE | {"warning": "at_once", "warning_after": "0", "quiet_from": "", "quiet_to": ""})
    await tell(looked)
    assert len(mailbox.messages) == 1
