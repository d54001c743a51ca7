"""Writes mails into the outbox, in the transaction of their cause. They leave once it has committed."""

import hmac
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.tenants import DEACTIVATED
from app.config import Settings
from app.db.session import workspace_of
from app.mail.models import OutgoingMail
from app.mail.retry_pauses import TRIED_FOR
from app.parts import Parts
from app.secrets import KeyRing, Place

JOB = "send_mail"
ENDED_KEPT, LEFT_WAITING = timedelta(days=30), timedelta(hours=12)
_MAY_LEAVE = OutgoingMail.workspace.not_in(DEACTIVATED)
_LEFT = and_(OutgoingMail.status == "waiting", OutgoingMail.expires_at < func.now() - LEFT_WAITING, _MAY_LEAVE)
# For the daily housekeeping.
OVER = (
    (OutgoingMail, OutgoingMail.ended_at < func.now() - ENDED_KEPT),
    # When mail was switched off, no job ends them. Those of a deactivated tenant wait until it is active again.
    (OutgoingMail, _LEFT),
)


@dataclass(frozen=True, slots=True)
class NewMail:
    """`kind` names its writer; `facts` is what the writer needs, as JSON. `to` is an address that may have no account:
    then mails to it are counted, and mails from `asked_by`, the IP address of the person who asked. `lasts`: after this
    time it is not worth sending. `urgent`: a person waits for it, so it leaves before mails to many people."""

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    user_id: int | None = None
    to: str = field(default="", repr=False)
    asked_by: str = ""
    lasts: timedelta = TRIED_FOR
    urgent: bool = False
    key: str = ""
    thread: str | None = None
    due_at: datetime | None = None


def is_on(settings: Settings) -> bool:
    """True when the installation has a mail server."""
    return settings.smtp is not None


async def post(parts: Parts, db: AsyncSession, mail: NewMail) -> bool:
    """Notes the mail. False when mail is off: then nothing is noted, because it must not leave months later."""
    if not is_on(parts.settings):
        return False
    key = mail.key or str(uuid.uuid4())
    now = datetime.now(UTC)
    await db.execute(
        insert(OutgoingMail).values(
            workspace=workspace_of(db),
            kind=mail.kind,
            message_key=key,
            thread=mail.thread,
            user_id=mail.user_id,
            urgent=mail.urgent,
            to_hash=hashed(parts.keys, mail.to) if mail.to else None,
            asked_by=hashed(parts.keys, mail.asked_by) if mail.asked_by else None,
            facts=sealed_facts(parts.keys, workspace_of(db), key, mail.facts),
            due_at=mail.due_at or now,
            expires_at=(mail.due_at or now) + mail.lasts,
        )
    )
    if mail.due_at is None:
        await jobs.request_after(db, JOB)
    return True


async def asked_since(db: AsyncSession, which: ColumnElement[bool], since: timedelta) -> int:
    """How many mails that meet the condition `which` were posted since then."""
    found = select(func.count()).where(which, OutgoingMail.created_at > datetime.now(UTC) - since)
    return await db.scalar(found) or 0


async def drop_waiting(db: AsyncSession, user_id: int, kind: str) -> None:
    """Drops waiting mails of this kind to the person: they are out of date."""
    waiting = (OutgoingMail.user_id == user_id, OutgoingMail.kind == kind, OutgoingMail.status == "waiting")
    ended = update(OutgoingMail).where(*waiting)
    await db.execute(ended.values(status="dropped", facts=None, ended_at=datetime.now(UTC)))


def hashed(keys: KeyRing, text: str) -> bytes:
    """A keyed hash: it finds equal addresses again without storing them."""
    return hmac.digest(keys.derive("outgoing mails"), text.strip().lower().encode(), "sha256")


def sealed_facts(keys: KeyRing, workspace: str, key: str, facts: Mapping[str, Any]) -> str:
    return keys.seal(json.dumps(facts), place_of(workspace, key))


def opened_facts(keys: KeyRing, workspace: str, key: str, sealed: str) -> dict[str, Any]:
    """Raises SecretError where no key opens them."""
    facts: dict[str, Any] = json.loads(keys.open(sealed, place_of(workspace, key)).reveal())
    return facts


def place_of(workspace: str, key: str) -> Place:
    return Place("outgoing_mails", "facts", workspace, key)
