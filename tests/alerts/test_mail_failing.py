"""A mail server that takes nothing becomes a problem after five attempts,
and closes with the first mail that leaves."""

import pytest
from sqlalchemy import func, select, update

from app.db.session import PLATFORM
from app.mail import outbox
from app.mail.account_letters import NOTICE
from app.mail.models import OutgoingMail
from app.mail.outbox import NewMail
from app.mail.streak import FAILING_AFTER
from app.parts import Parts
from app.problems.models import Problem
from tests.fakes.mailbox import Mailbox
from tests.host.signing_in import user_id_of
from tests.mail.conftest import send


async def post(parts: Parts, workspace: str, short: str, number: int = 1) -> None:
    user_id = await user_id_of(parts.database, short)
    async with parts.database.transaction(workspace) as db:
        for _ in range(number):
            await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, user_id))


async def attempt(parts: Parts, workspace: str = PLATFORM) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(update(OutgoingMail).values(due_at=func.now()))
    await send(parts, workspace)


async def found(parts: Parts) -> tuple[str, bool] | None:
    async with parts.database.transaction() as db:
        row = (
            await db.execute(select(Problem.detail, Problem.closed_at).where(Problem.kind == "mail_failing"))
        ).first()
    return (row.detail, row.closed_at is None) if row else None


@pytest.mark.parametrize("workspace", [PLATFORM, "globex"])
async def test_five_failures_in_a_row_are_a_problem_until_one_works(
    parts: Parts, mailbox: Mailbox, workspace: str
) -> None:
    """Of the platform, wherever the mails come from."""
    await post(parts, workspace, "alice" if workspace == PLATFORM else "eve")
    mailbox.answers = ["451 Try again later"] * FAILING_AFTER
    for _ in range(FAILING_AFTER - 1):
        await attempt(parts, workspace)
    assert await found(parts) is None
    await attempt(parts, workspace)
    said = "The last 5 attempts failed. The last reason: The mail server answered 451: Try again later"
    assert await found(parts) == (said, True)
    await attempt(parts, workspace)
    assert len(mailbox.messages) == 1
    assert await found(parts) == (said, False)


@pytest.mark.parametrize(
    ("refusal", "is_found"),
    [
        ("550 5.1.1 <{}>: Recipient address rejected: User unknown", False),
        ("550 There is no mailbox {}", False),
        ("554 5.7.1 <{}>: Relay access denied", True),
    ],
)
async def test_addresses_that_are_refused_are_no_failure_of_the_server_but_its_policy_is(
    parts: Parts, mailbox: Mailbox, refusal: str, is_found: bool
) -> None:
    """What it says of a tenant's person is not shown on the platform."""
    eve = "eve@example.org"
    mailbox.refused, mailbox.refusal = {eve}, refusal.format(eve)
    await post(parts, "globex", "eve", FAILING_AFTER)
    await attempt(parts, "globex")
    assert mailbox.messages == []
    said = "The mail server answered 554: 5.7.1 (an address) Relay access denied"
    expected = (f"The last 5 attempts failed. The last reason: {said}", True) if is_found else None
    assert await found(parts) == expected
    async with parts.database.shared_transaction() as db:
        rows = (await db.execute(select(OutgoingMail.status, OutgoingMail.error))).all()
    assert {(row.status, eve in row.error) for row in rows} == {("failed", False)}
