"""From a change to the receiver, over real HTTP; and receivers that do something else than to take it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import case, delete, func, select, update

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import AuditEntry, Job
from app.config import Settings
from app.db.session import PLATFORM
from app.host import jobs as host_jobs
from app.host.problem_kinds import failing_webhooks
from app.jobs import Claim
from app.outbound import AddressPolicy, OutboundClient, parse_allow_list
from app.parts import Parts
from app.problems import looking
from app.problems.kinds import RemedyAsked, kinds
from app.problems.models import Problem
from app.webhooks import endpoints, noting
from app.webhooks.kinds import ATTENDANCE_CHANGED, ATTENDANCE_DELETED, OUTCOME_CHANGED
from app.webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookFact
from app.webhooks.retry_pauses import PAUSES, RESTS_AFTER, Pauses
from app.webhooks.sending import Sender
from tests.fakes.liar import Heard, Liar, Writer, answer, lying, says_nothing
from tests.webhooks.receiving import HOOK, IMPATIENT, QUICK, Inbox, add, change, send, verified

TAKEN, BROKEN = answer(status=204, media_type=None), answer(b"oops", status=500)


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with lying() as liar:
        liar.says(HOOK, TAKEN)
        yield liar


@pytest.fixture
async def inbox(parts: Parts, liar: Liar) -> Inbox:
    return Inbox(liar, await add(parts, liar.url + HOOK))


async def endpoint(parts: Parts, number: int) -> WebhookEndpoint:
    async with parts.database.transaction() as db:
        return await db.get_one(WebhookEndpoint, number)


async def events(parts: Parts) -> list[tuple[list[str], str]]:
    async with parts.database.transaction() as db:
        rows = await db.execute(select(WebhookEvent.ids, WebhookEvent.status).order_by(WebhookEvent.id))
        return [(ids, status) for ids, status in rows]


async def attempts(parts: Parts) -> list[Any]:
    async with parts.database.transaction() as db:
        return list(await db.scalars(select(WebhookAttempt).order_by(WebhookAttempt.id)))


async def due_now(parts: Parts) -> None:
    async with parts.database.transaction() as db:
        await db.execute(update(WebhookEvent).values(due_at=func.now()))


async def test_what_a_transaction_changed_is_one_event_that_a_library_of_others_verifies(
    parts: Parts, inbox: Inbox
) -> None:
    async with parts.database.transaction() as db:
        await noting.note_all(db, {ATTENDANCE_CHANGED: [7, 8], OUTCOME_CHANGED: [9], ATTENDANCE_DELETED: []})
    async with parts.database.shared_transaction() as db:
        assert (await db.scalars(select(Job.name))).all() == [noting.JOB]
    await send(parts)
    assert sorted((one["type"], one["data"]["ids"], one["workspace"]) for one in inbox.told()) == [
        (ATTENDANCE_CHANGED, [7, 8], PLATFORM),
        (OUTCOME_CHANGED, [9], PLATFORM),
    ]
    (first, _) = await attempts(parts)
    assert (first.http_status, first.error, first.delivered) == (204, None, True)
    assert '"ids":[7,8]' in first.sent


async def test_what_is_rolled_back_or_wanted_by_no_endpoint_is_not_told(parts: Parts, liar: Liar) -> None:
    await change(parts, 1)
    await add(parts, liar.url + HOOK, [ATTENDANCE_CHANGED])

    async def break_off() -> None:
        async with parts.database.transaction() as db:
            await noting.note(db, ATTENDANCE_CHANGED, [2])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()
    await change(parts, 3, kind=ATTENDANCE_DELETED)
    await change(parts, 4, workspace="acme")
    async with parts.database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(WebhookFact)) == 0
    assert await send(parts) == 0


async def test_what_one_run_changed_in_many_transactions_is_one_event(parts: Parts, inbox: Inbox) -> None:
    async with noting.one_run(parts.database, "job 1"):
        await change(parts, 1, 2)
        await send(parts)
        assert inbox.told() == []
        await change(parts, 3)
    async with noting.one_run(parts.database, "job 2"):
        for first in range(0, 300, 50):
            await change(parts, *range(first, first + 50), kind=OUTCOME_CHANGED)
    await send(parts)
    named, counted = sorted(inbox.data(), key=lambda one: one["count"])
    assert named["ids"] == [1, 2, 3]
    assert counted["count"] == 300
    assert datetime.fromisoformat(counted["updated_since"]) <= datetime.now(UTC)


async def test_a_newer_event_replaces_one_that_waits(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, BROKEN, TAKEN)
    await change(parts, 1, 2)
    await send(parts, Pauses())
    await change(parts, 2)
    await change(parts, 1)
    await send(parts, Pauses())
    assert await events(parts) == [(["1", "2"], "replaced"), (["2"], "delivered"), (["1"], "delivered")]
    assert sorted(one["ids"] for one in inbox.data()) == [[1], [1, 2], [2]]


async def test_two_counts_that_wait_become_one_from_the_earlier_moment(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, BROKEN, TAKEN)
    for _ in range(2):
        await change(parts, *range(150))
        await send(parts, Pauses())
    first, second = inbox.data()
    assert (first["count"], second["count"]) == (150, 300)
    assert first["updated_since"] == second["updated_since"]


async def test_a_retry_keeps_the_id_and_is_signed_with_the_time_of_the_attempt(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, BROKEN, TAKEN)
    await change(parts, 1)
    await send(parts, Pauses())
    async with parts.database.transaction() as db:
        waits = await db.scalar(select(WebhookEvent.due_at - func.now()))
    assert waits is not None
    assert timedelta(seconds=7) < waits < timedelta(seconds=13)
    first = inbox.liar.asked(HOOK)[0]
    while int(datetime.now(UTC).timestamp()) == int(first.headers["webhook-timestamp"]):
        await due_now(parts)
    await due_now(parts)
    await send(parts)
    _, second = inbox.liar.asked(HOOK)
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"])
    assert verified(second, inbox.made.secret)["data"]["ids"] == [1]
    assert (await endpoint(parts, inbox.made.id)).failures == 0


async def test_ten_attempts_in_vain_switch_it_off_and_what_waits_is_sent_once_it_is_on(
    parts: Parts, inbox: Inbox
) -> None:
    inbox.liar.says(HOOK, BROKEN)
    await change(parts, 1)
    for _ in range(12):
        await due_now(parts)
        await send(parts)
    found = await endpoint(parts, inbox.made.id)
    assert (found.active, len(inbox.liar.asked(HOOK))) == (False, 10)
    assert found.off_reason is not None
    assert "500" in found.off_reason
    async with parts.database.transaction() as db:
        assert await db.scalar(select(func.count()).where(AuditEntry.act == "webhook.give_up")) == 1
        await endpoints.switch_on(db, COMMAND_LINE, inbox.made.id)
    inbox.liar.says(HOOK, TAKEN)
    await send(parts)
    assert await events(parts) == [(["1"], "delivered")]


async def test_who_answers_410_is_told_nothing_more(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, answer(status=410))
    await change(parts, 1)
    await send(parts)
    await change(parts, 2)
    await due_now(parts)
    await send(parts)
    assert len(inbox.liar.asked(HOOK)) == 1
    assert (await endpoint(parts, inbox.made.id)).off_reason == "The receiver answered 410: it wants no more events."


async def test_a_receiver_that_fails_rests_and_gets_all_once_it_works(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, BROKEN)
    for number in range(40):
        await change(parts, number)
    await send(parts, PAUSES)
    tried = len(inbox.liar.asked(HOOK))
    assert RESTS_AFTER <= tried <= 8, "not forty times what is known to fail"
    await due_now(parts)
    await send(parts, PAUSES)
    assert len(inbox.liar.asked(HOOK)) == tried + 1, "one of them finds out whether it works again"
    inbox.liar.says(HOOK, TAKEN)
    async with parts.database.transaction() as db:
        tried_most = select(WebhookEvent.id).order_by(WebhookEvent.attempts.desc(), WebhookEvent.id.desc()).limit(1)
        due = case((WebhookEvent.id == tried_most.scalar_subquery(), func.now()), else_=func.now() + timedelta(hours=1))
        await db.execute(update(WebhookEvent).values(due_at=due))
    await send(parts, PAUSES)
    assert {status for _, status in await events(parts)} == {"delivered"}


@pytest.mark.parametrize(
    ("speech", "said"),
    [
        (answer(status=302, headers=(("Location", "/elsewhere"),)), "Redirects are not followed"),
        (says_nothing, "no whole answer within 0.3 s"),
        (answer(status=500), "It must answer 2xx"),
    ],
)
async def test_what_a_receiver_may_do_instead(parts: Parts, inbox: Inbox, speech: Any, said: str) -> None:
    inbox.liar.says(HOOK, speech)
    inbox.liar.says("/elsewhere", TAKEN)
    await change(parts, 1)
    await send(parts, Pauses())
    (made,) = await attempts(parts)
    assert said in made.error
    assert inbox.liar.asked("/elsewhere") == []
    assert await events(parts) == [(["1"], "waiting")]


async def test_a_long_answer_is_cut_off_and_the_event_has_arrived(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, answer(b"x" * 100_000))
    await change(parts, 1)
    await send(parts)
    assert await events(parts) == [(["1"], "delivered")]


async def test_a_receiver_at_a_private_address_is_not_called(parts: Parts, inbox: Inbox, settings: Settings) -> None:
    outbound = OutboundClient(AddressPolicy(parse_allow_list("10.0.0.0/8")))
    async with outbound:
        await change(parts, 1)
        await send(replace(parts, outbound=outbound), Pauses())
    (made,) = await attempts(parts)
    assert "MUSTER_OUTBOUND_ALLOW" in made.error
    assert inbox.liar.heard == []


async def test_one_that_does_not_answer_keeps_no_other_waiting(parts: Parts, inbox: Inbox) -> None:
    """Each answers once the other was called: who is called only after the other has ended fails."""
    other = "/other"
    called = {HOOK: asyncio.Event(), other: asyncio.Event()}

    def waiting_for(mine: str, theirs: str) -> Any:
        async def speak(_: Heard, writer: Writer) -> None:
            called[mine].set()
            await called[theirs].wait()
            writer.write(TAKEN)

        return speak

    inbox.liar.says(HOOK, waiting_for(HOOK, other))
    inbox.liar.says(other, waiting_for(other, HOOK))
    await add(parts, inbox.liar.url + other)
    await change(parts, 1)
    await Sender(parts, PLATFORM, Pauses(), replace(IMPATIENT, call_s=5)).send_due()
    assert await events(parts) == [(["1"], "delivered")] * 2
    assert [one.delivered for one in await attempts(parts)] == [True, True]


async def test_both_secrets_are_valid_while_one_is_rotated(parts: Parts, inbox: Inbox) -> None:
    async with parts.database.transaction() as db:
        new = await endpoints.rotate(db, parts.keys, COMMAND_LINE, inbox.made.id)
    await change(parts, 1)
    await send(parts)
    (heard,) = inbox.liar.asked(HOOK)
    assert verified(heard, new) == verified(heard, inbox.made.secret)
    async with parts.database.transaction() as db:
        await db.execute(update(WebhookEndpoint).values(before_until=func.now()))
    await change(parts, 2)
    await send(parts)
    assert inbox.liar.asked(HOOK)[1].headers["webhook-signature"].count("v1,") == 1


async def test_a_test_is_sent_once_also_to_one_that_is_off(parts: Parts, inbox: Inbox) -> None:
    inbox.liar.says(HOOK, BROKEN)
    async with parts.database.transaction() as db:
        await endpoints.switch_off(db, COMMAND_LINE, inbox.made.id)
        await endpoints.send_test(db, inbox.made.id)
    await change(parts, 1)
    for _ in range(2):
        await send(parts)
        await due_now(parts)
    assert [(one["type"], one["data"]) for one in inbox.told()] == [("webhook.test", {})]
    assert await events(parts) == [([], "failed")]
    assert (await endpoint(parts, inbox.made.id)).failures == 0


async def test_an_event_that_arrived_can_be_sent_again(parts: Parts, inbox: Inbox) -> None:
    await change(parts, 1)
    await send(parts)
    async with parts.database.transaction() as db:
        event_id = await db.scalar(select(WebhookEvent.id))
        await endpoints.send_again(db, inbox.made.id, event_id or 0)
    await send(parts)
    first, second = inbox.liar.asked(HOOK)
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])


async def test_what_a_worker_died_over_is_sent_again(parts: Parts, inbox: Inbox) -> None:
    await change(parts, 1)
    came = asyncio.Event()

    async def keep_waiting(heard: Heard, writer: Writer) -> None:
        came.set()
        await says_nothing(heard, writer)

    inbox.liar.says(HOOK, keep_waiting)
    dying = asyncio.create_task(send(parts, replace(QUICK, lease_s=0)))
    await came.wait()
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    inbox.liar.says(HOOK, TAKEN)
    await send(parts)
    assert await events(parts) == [(["1"], "delivered")]
    assert len({one.headers["webhook-id"] for one in inbox.liar.asked(HOOK)}) == 1


async def test_one_that_fails_is_a_problem_until_it_works_and_tries_again_when_asked(
    parts: Parts, inbox: Inbox
) -> None:
    async def problems() -> dict[str, bool]:
        async with parts.database.transaction() as db:
            rows = await db.execute(select(Problem.title, Problem.closed_at))
            return {row.title: row.closed_at is None for row in rows}

    async def run_job() -> None:
        await host_jobs.send_webhooks(parts, Claim(1, 1, PLATFORM, noting.JOB, {}))
        async with parts.database.transaction() as db:
            asked = delete(Job).where(Job.name == looking.JOB).returning(Job.status)
            assert (await db.scalars(asked)).all() == ["queued"]
            assert await looking.look(db, {failing_webhooks.KIND})

    inbox.liar.says(HOOK, BROKEN)
    named = f"Webhook {inbox.made.id} to {inbox.liar.url}/…"
    for number in range(RESTS_AFTER):
        await change(parts, number)
    await run_job()
    assert await problems() == {f"{named} fails": True}
    inbox.liar.says(HOOK, TAKEN)
    async with parts.database.transaction() as db:
        (remedy,) = (one.remedy for one in (kinds()["webhook_failing"],))
        assert remedy is not None
        await remedy.do(RemedyAsked(parts, db, COMMAND_LINE, [str(inbox.made.id)], [{}]))
    await run_job()
    assert await problems() == {f"{named} fails": False}
    inbox.liar.says(HOOK, answer(status=410))
    await change(parts, 7)
    await run_job()
    assert (f"{named} was switched off", True) in (await problems()).items()
    async with parts.database.transaction() as db:
        await remedy.do(RemedyAsked(parts, db, COMMAND_LINE, [str(inbox.made.id)], [{}]))
        await looking.look(db, {failing_webhooks.KIND})
    assert (f"{named} fails", True) in (await problems()).items(), "nothing has arrived yet"
    inbox.liar.says(HOOK, TAKEN)
    await run_job()
    assert not any((await problems()).values())


async def test_one_that_is_switched_on_again_gets_one_event_at_a_time_until_one_arrives(
    parts: Parts, inbox: Inbox
) -> None:
    inbox.liar.says(HOOK, answer(status=410))
    for number in range(20):
        await change(parts, number)
    await send(parts)
    inbox.liar.says(HOOK, BROKEN)
    async with parts.database.transaction() as db:
        await endpoints.switch_on(db, COMMAND_LINE, inbox.made.id)
    before = len(inbox.liar.asked(HOOK))
    await send(parts, PAUSES)
    assert len(inbox.liar.asked(HOOK)) == before + 1
    inbox.liar.says(HOOK, TAKEN)
    await due_now(parts)
    await send(parts, PAUSES)
    assert {status for _, status in await events(parts)} == {"delivered"}


@pytest.mark.parametrize("act", [endpoints.switch_off, endpoints.remove])
async def test_who_ends_a_failing_one_asks_for_the_look_that_closes_its_problem(
    parts: Parts, inbox: Inbox, act: Any
) -> None:
    async with parts.database.transaction() as db:
        await act(db, COMMAND_LINE, inbox.made.id)
    async with parts.database.transaction() as db:
        assert looking.JOB in (await db.scalars(select(Job.name))).all()
