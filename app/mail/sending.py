"""Sends what waits in the outbox of a workspace, one mail after the other. When a worker dies while it sends, the mail
is sent again with the same Message-ID: at least once."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import schedule_looks, tenants
from app.config.smtp import SmtpServer
from app.db.session import workspace_of
from app.mail import streak
from app.mail.kinds import MailInTurn, Writers
from app.mail.letters import MailHead, message_of
from app.mail.models import OutgoingMail
from app.mail.outbox import JOB, opened_facts, sealed_facts
from app.mail.retry_pauses import next_attempt
from app.mail.server import MailRefused, MailServer, MailServerError
from app.parts import Parts
from app.secrets import SecretError

# After this many, or after this time, the job asks for another one, so that others get their turn.
MOST = 200
TURN_S = 60
# How long the first attempt may take. Each further attempt may take as much longer: a slow server may read the whole
# message before it answers, and if every attempt gave up after the same time, it would get the message again and again.
ATTEMPT_S, LONGEST_S = TURN_S, 300
# The longest time of one attempt, however slow the server is; after it the worker is taken for dead.
LEASE = timedelta(minutes=15)
TOO_OLD = "It could not be sent in time. The last reason: {}"
_log = structlog.get_logger("muster.mail")


@dataclass(frozen=True, slots=True)
class _Taken:
    """A mail whose attempt is counted. `message` is None when there is nothing to send; it may take `within_s`."""

    id: int
    to: str = field(default="", repr=False)
    message: "EmailMessage[str, str] | None" = field(default=None, repr=False)
    within_s: float = ATTEMPT_S


async def send_due(parts: Parts, workspace: str, writers: Writers) -> int:
    """Sends what is due in the workspace, and returns how many mails the server took. It stops when the server takes
    none: the rest waits for the next look of the schedule. A worker without a mail server leaves all mails to the
    others."""
    server, sender = parts.settings.smtp, parts.settings.mail_from
    sent = 0
    if server is None or sender is None:
        return sent
    ends = time.monotonic() + TURN_S
    async with MailServer(server) as mail_server:
        for number in range(MOST):
            if number and time.monotonic() >= ends:
                break
            taken = await _take(parts, workspace, writers, sender)
            if taken is None:
                return sent
            try:
                sent += await _hand_over(parts, mail_server, taken)
            except MailServerError as error:
                _log.warning("the mail server takes no mail", reason=str(error))
                await _look_soon(parts, workspace)
                return sent
    async with parts.database.transaction(workspace) as db:
        await jobs.request_after(db, JOB)
    return sent


async def _look_soon(parts: Parts, workspace: str) -> None:
    async with parts.database.shared_transaction() as db:
        schedule_looks.look_soon(db, workspace)


async def next_due(db: AsyncSession) -> datetime | None:
    """When the first mail that waits in this workspace is due."""
    waiting = (OutgoingMail.workspace == workspace_of(db), OutgoingMail.status == "waiting")
    first = [
        select(func.min(OutgoingMail.due_at)).where(*waiting, OutgoingMail.urgent == urgent).scalar_subquery()
        for urgent in (True, False)
    ]
    found: datetime | None = await db.scalar(select(func.least(*first)))
    return found


async def send_now(server: SmtpServer, message: "EmailMessage[str, str]", to: str) -> None:
    """Sends one message without the outbox, to test the setting. Raises MailServerError or MailRefused."""
    async with MailServer(server) as mail_server:
        await mail_server.send(message, to, ATTEMPT_S)


async def _take(parts: Parts, workspace: str, writers: Writers, sender: str) -> _Taken | None:
    """Takes the mail that waited longest, urgent ones first. It counts the attempt and sets the time of the next one
    before the letter is written and sent: the worker may die, and a letter that can't be written must not block the
    others."""
    async with parts.database.transaction(workspace) as db:
        # The mails of a deactivated tenant wait.
        row = await db.scalar(_due(workspace)) if await tenants.hold_active(db, workspace) else None
        if row is None:
            return None
        if row.expires_at <= datetime.now(UTC):
            _end(row, "failed", TOO_OLD.format(row.error or "it was not tried"))
            return _Taken(row.id)
        row.attempts, row.due_at = row.attempts + 1, datetime.now(UTC) + LEASE
        mail_id = row.id
    try:
        async with parts.database.transaction(workspace) as db:
            return await _written(parts, db, await db.get_one(OutgoingMail, mail_id), writers, sender)
    except Exception as error:  # noqa: BLE001 - whatever a letter meets, the others leave
        _log.error("a mail could not be written", mail=mail_id, exc_info=error)
        await _give_up(parts, mail_id, f"It could not be written ({type(error).__name__}).")
        return _Taken(mail_id)


def _due(workspace: str) -> Any:
    due = (OutgoingMail.workspace == workspace, OutgoingMail.status == "waiting", OutgoingMail.due_at <= func.now())
    in_order = (OutgoingMail.urgent.desc(), OutgoingMail.due_at, OutgoingMail.id)
    return select(OutgoingMail).where(*due).order_by(*in_order).limit(1).with_for_update(skip_locked=True)


async def _written(parts: Parts, db: AsyncSession, row: OutgoingMail, writers: Writers, sender: str) -> _Taken:
    workspace = row.workspace
    if not await tenants.hold_active(db, workspace):
        return _Taken(row.id)
    try:
        facts = opened_facts(parts.keys, workspace, row.message_key, row.facts or "")
    except SecretError:
        _end(row, "failed", "No key opens what it was to say.")
        return _Taken(row.id)
    turn = MailInTurn(workspace, row.kind, row.user_id, row.created_at, row.expires_at, facts)
    writer = writers.get(row.kind)
    letter = await writer(parts, db, turn) if writer else None
    if letter is None:
        _end(row, "dropped", None)
        return _Taken(row.id)
    row.facts, row.expires_at = sealed_facts(parts.keys, workspace, row.message_key, turn.facts), turn.expires_at
    head = MailHead(sender, parts.settings.base_url, row.message_key, row.thread, datetime.now(UTC))
    return _Taken(row.id, letter.to, message_of(letter, head), min(ATTEMPT_S * row.attempts, LONGEST_S))


async def _hand_over(parts: Parts, server: MailServer, taken: _Taken) -> bool:
    """Notes a MailServerError at the mail, then raises it."""
    if taken.message is None:
        return False
    try:
        await server.send(taken.message, taken.to, taken.within_s)
    except MailRefused as refused:
        status = "failed" if refused.for_good else "waiting"
        await _note(parts, taken.id, status, str(refused), of_server=not refused.for_address)
        return False
    except MailServerError as error:
        await _note(parts, taken.id, "waiting", str(error))
        raise
    await _note(parts, taken.id, "sent", None)
    return True


async def _give_up(parts: Parts, mail_id: int, error: str) -> None:
    async with parts.database.shared_transaction() as db:
        if row := await db.get(OutgoingMail, mail_id):
            _end(row, "failed", error)


async def _note(parts: Parts, mail_id: int, status: str, error: str | None, *, of_server: bool = True) -> None:
    """Notes the mail server's answer. `of_server`: the answer says if the server takes mail at all."""
    async with parts.database.shared_transaction() as db:
        row = await db.get(OutgoingMail, mail_id)
        if row is None:
            return
        if of_server:
            await (streak.failed(db, error) if error else streak.worked(db))
        if status != "waiting":
            _end(row, status, error)
        else:
            at = next_attempt(row.attempts, datetime.now(UTC), row.expires_at)
            # A mail that would be too old then ends at its next turn.
            row.error, row.due_at = error, at or row.expires_at


def _end(row: OutgoingMail, status: str, error: str | None) -> None:
    """Ends the mail, and removes all that it said."""
    row.status, row.error, row.facts, row.ended_at = status, error, None, datetime.now(UTC)
