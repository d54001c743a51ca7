"""A mail server that takes nothing becomes a problem after five attempts, and closes with the first mail that leaves."""

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
    user_id = await user_id_of(parts.database, "alice" if workspace == PLATFORM else "eve")
    async with parts.database.transaction(workspace) as db:
        await outbox.post(parts, db, NewMail(NOTICE, {"act": "user.change_password"}, user_id))
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
