"""Sending what waits in the outbox of a workspace, one mail after the other. A mail that a worker dies over is sent again, with the
same Message-ID: at least once."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.config.smtp import SmtpServer
from app.db.session import workspace_of
from app.mail.kinds import MailInTurn, Writers
from app.mail.letters import MailHead, message_of
from app.mail.models import OutgoingMail
from app.mail.outbox import JOB, opened_facts, sealed_facts
from app.mail.pauses import next_attempt
from app.mail.server import MailRefused, MailServer, MailServerError
from app.parts import Parts
from app.secrets import SecretError

# After so many the job asks for another one, so that others get their turn.
MOST = 200
TOO_OLD = "It could not be sent in time. The last reason: {}"
_log = structlog.get_logger("muster.mail")


@dataclass(frozen=True, slots=True)
class _Taken:
    """A mail whose attempt is counted. `message` is None where there is nothing to send."""

    id: int
    message: "EmailMessage[str, str] | None" = field(default=None, repr=False)


async def send_due(parts: Parts, workspace: str, writers: Writers) -> int:
    """Sends what is due in the workspace, and returns how many mails the server took. Where the server takes none, it stops: the rest
    waits for the next job."""
    server, sender = parts.settings.smtp, parts.settings.mail_from
    if server is None or sender is None:
        await _drop_all(parts, workspace)
        return 0
    sent = 0
    async with MailServer(server) as mail_server:
        for _ in range(MOST):
            taken = await _take(parts, workspace, writers, sender)
            if taken is None:
                return sent
            try:
                sent += await _hand_over(parts, mail_server, taken)
            except MailServerError as error:
                _log.warning("the mail server takes no mail", reason=str(error))
                return sent
    async with parts.database.transaction(workspace) as db:
        await jobs.request(db, JOB, key=f"{JOB}:next")
    return sent


async def next_due(db: AsyncSession) -> datetime | None:
    """When the first mail that waits in this workspace is due."""
    waiting = (OutgoingMail.workspace == workspace_of(db), OutgoingMail.status == "waiting")
    first: datetime | None = await db.scalar(select(func.min(OutgoingMail.due_at)).where(*waiting))
    return first


async def send_now(server: SmtpServer, message: "EmailMessage[str, str]") -> None:
    """One message past the outbox, for the test of the setting. Raises MailServerError or MailRefused."""
    async with MailServer(server) as mail_server:
        await mail_server.send(message)


async def _take(parts: Parts, workspace: str, writers: Writers, sender: str) -> _Taken | None:
    """The mail that waited longest. Its attempt is counted, and the next one set, before it leaves: a worker may die meanwhile."""
    async with parts.database.transaction(workspace) as db:
        row = await db.scalar(_due(workspace))
        if row is None:
            return None
        now = datetime.now(UTC)
        at = next_attempt(row.attempts + 1, now, row.expires_at)
        if row.expires_at <= now:
            _end(row, "failed", TOO_OLD.format(row.error or "it was not tried"))
            return _Taken(row.id)
        row.attempts, row.due_at = row.attempts + 1, at or row.expires_at
        return await _written(parts, db, row, writers, sender)


def _due(workspace: str) -> Any:
    due = (OutgoingMail.workspace == workspace, OutgoingMail.status == "waiting", OutgoingMail.due_at <= func.now())
    first = select(OutgoingMail).where(*due).order_by(OutgoingMail.due_at, OutgoingMail.id).limit(1)
    return first.with_for_update(skip_locked=True)


async def _written(parts: Parts, db: AsyncSession, row: OutgoingMail, writers: Writers, sender: str) -> _Taken:
    workspace = row.workspace
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
    return _Taken(row.id, message_of(letter, head))


async def _hand_over(parts: Parts, server: MailServer, taken: _Taken) -> bool:
    """Raises MailServerError, once that is noted at the mail."""
    if taken.message is None:
        return False
    try:
        await server.send(taken.message)
    except MailRefused as refused:
        await _note(parts, taken.id, "failed" if refused.for_good else "waiting", str(refused))
        return False
    except MailServerError as error:
        await _note(parts, taken.id, "waiting", str(error))
        raise
    await _note(parts, taken.id, "sent", None)
    return True


async def _note(parts: Parts, mail_id: int, status: str, error: str | None) -> None:
    async with parts.database.shared_transaction() as db:
        row = await db.get(OutgoingMail, mail_id)
        if row is not None and status == "waiting":
            row.error = error
        elif row is not None:
            _end(row, status, error)


def _end(row: OutgoingMail, status: str, error: str | None) -> None:
    """Nothing of what it said stays."""
    row.status, row.error, row.facts, row.ended_at = status, error, None, datetime.now(UTC)


async def _drop_all(parts: Parts, workspace: str) -> None:
    """Mail was switched off: what waits must not leave when it comes back."""
    async with parts.database.transaction(workspace) as db:
        waiting = (OutgoingMail.workspace == workspace, OutgoingMail.status == "waiting")
        ended = update(OutgoingMail).where(*waiting)
        await db.execute(ended.values(status="dropped", facts=None, ended_at=datetime.now(UTC)))
