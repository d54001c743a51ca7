"""The endpoints of a workspace: add, edit, switch, rotate, remove, test; and sending an event again. The rooms above
check what a person may do."""

import secrets as random_secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.audit import Actor
from app.db.session import PLATFORM, workspace_of
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.outbound import Limits, OutboundClient, OutboundError
from app.secrets import KeyRing, Place, SecretError
from app.webhooks import addresses, gathering, signing, tidying
from app.webhooks.kinds import TEST, offered
from app.webhooks.models import STANDS, WebhookEndpoint, WebhookEvent
from app.webhooks.noting import ask
from app.webhooks.payloads import Told
from app.webhooks.retry_pauses import RESTS_AFTER

MOST = 50
# The most that one request releases. The others are sent once their own pauses are over, or as soon as an event arrives
# at a resting endpoint.
MOST_LET_GO = 5_000
# How long a receiver may still check with the earlier secret.
BOTH_VALID = timedelta(hours=24)
# Somebody waits for it.
LOOKED_UP = Limits(connect_s=3)
NOT_THERE = "There is no such webhook."


@dataclass(frozen=True, slots=True)
class MadeWebhook:
    """`secret` is shown once."""

    id: int
    url: str
    types: tuple[str, ...]
    secret: str = field(repr=False)


async def check_reach(outbound: OutboundClient, url: str) -> None:
    """Before an address is saved. A name may lead elsewhere later, so that each call is checked, too.
    Raises Invalid."""
    try:
        await outbound.limited(LOOKED_UP).check(addresses.checked(url))
    except OutboundError as refused:
        raise Invalid.at("url", refused.message) from None


async def add(db: AsyncSession, keys: KeyRing, actor: Actor, url: str, types: Collection[str]) -> MadeWebhook:
    """Raises Invalid, and Conflict when there are as many as allowed."""
    url, chosen = addresses.checked(url), _checked_types(db, types)
    if (await db.scalar(select(func.count()).select_from(WebhookEndpoint).where(STANDS)) or 0) >= MOST:
        raise Conflict(f"A workspace has at most {MOST} webhooks. Remove one first.")
    uid, secret = uuid4(), _new_secret()
    values = {"uid": uid, "url": url, "types": chosen, "made_by": ""}
    values["secret"] = keys.seal(secret, place(workspace_of(db), uid))
    endpoint_id = (await db.execute(insert(WebhookEndpoint).values(values).returning(WebhookEndpoint.id))).scalar_one()
    await audit.record(db, actor, "webhook.add", "webhook", endpoint_id, after=_told(url, chosen))
    return MadeWebhook(endpoint_id, url, tuple(chosen), secret)


async def edit(db: AsyncSession, actor: Actor, endpoint_id: int, url: str, types: Collection[str]) -> None:
    """Raises Invalid, NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    url, chosen = addresses.checked(url), _checked_types(db, types)
    before, after = audit.changed_fields(_told(endpoint.url, endpoint.types), _told(url, chosen))
    if endpoint.url != url:  # said also where what is shortened stays the same
        before["url"], after["url"] = addresses.shortened(endpoint.url), addresses.shortened(url)
    if endpoint.url != url or endpoint.types != chosen:
        endpoint.url, endpoint.types, endpoint.updated_at = url, chosen, datetime.now(UTC)
        await audit.record(db, actor, "webhook.edit", "webhook", endpoint_id, before=before, after=after)


async def switch_on(db: AsyncSession, actor: Actor, endpoint_id: int) -> None:
    """Events that still wait are sent, and get all their attempts again. One that Muster switched off rests until an
    event arrives: so its problem stays open, and a receiver that is still broken gets one event at a time.
    Raises NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    if endpoint.active:
        return
    failed = endpoint.off_reason is not None
    endpoint.failures, endpoint.failing_since = (RESTS_AFTER, datetime.now(UTC)) if failed else (0, None)
    endpoint.active, endpoint.off_reason = True, None
    await _let_go(db, endpoint_id, attempts=0)
    await audit.record(
        db, actor, "webhook.activate", "webhook", endpoint_id, before={"active": False}, after={"active": True}
    )
    await ask(db)
    jobs.request_at_end(db, jobs.LOOK)


async def switch_off(db: AsyncSession, actor: Actor, endpoint_id: int) -> None:
    """Raises NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    if endpoint.active:
        endpoint.active, endpoint.off_reason = False, None
        was, is_now = {"active": True}, {"active": False}
        await audit.record(db, actor, "webhook.deactivate", "webhook", endpoint_id, before=was, after=is_now)
        jobs.request_at_end(db, jobs.LOOK)


async def try_again(db: AsyncSession, actor: Actor, endpoint_id: int) -> None:
    """Makes waiting events due now. Switches the endpoint on again if Muster switched it off. Raises NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    if not endpoint.active:
        await switch_on(db, actor, endpoint_id)
        return
    await _let_go(db, endpoint_id)
    await ask(db)


async def _let_go(db: AsyncSession, endpoint_id: int, **values: int) -> None:
    """Makes events due that failed before: MOST_LET_GO at most, those with the most attempts. An event without an
    attempt is due anyway."""
    event = WebhookEvent
    tried = (event.endpoint_id == endpoint_id, event.status == "waiting", event.attempts > 0)
    some = select(event.id).where(*tried).order_by(event.attempts.desc(), event.id.desc()).limit(MOST_LET_GO)
    await db.execute(update(event).where(event.id.in_(some)).values(due_at=func.now(), **values))


async def rotate(db: AsyncSession, keys: KeyRing, actor: Actor, endpoint_id: int) -> str:
    """Makes a new secret, shown once. Events are signed with both for BOTH_VALID. Raises NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    workspace, secret = workspace_of(db), _new_secret()
    before = _opened(keys, place(workspace, endpoint.uid), endpoint.secret)
    endpoint.secret_before = before and keys.seal(before, place_before(workspace, endpoint.uid))
    endpoint.before_until = datetime.now(UTC) + BOTH_VALID
    endpoint.secret = keys.seal(secret, place(workspace, endpoint.uid))
    endpoint.updated_at = datetime.now(UTC)
    await audit.record(db, actor, "webhook.rotate", "webhook", endpoint_id)
    return secret


async def remove(db: AsyncSession, actor: Actor, endpoint_id: int) -> None:
    """Removes it. A job deletes its events and its log, which may be very many. It is also off, so that a version
    before sends nothing. Raises NotFound."""
    endpoint = await one(db, endpoint_id, hold=True)
    endpoint.removed_at, endpoint.active, endpoint.off_reason = datetime.now(UTC), False, None
    await jobs.request_after(db, tidying.JOB)
    jobs.request_at_end(db, jobs.LOOK)
    told = _told(endpoint.url, endpoint.types)
    await audit.record(db, actor, "webhook.delete", "webhook", endpoint_id, before=told)


async def send_test(db: AsyncSession, endpoint_id: int) -> int:
    """The id of an event without content; also for an endpoint that is off. Raises NotFound."""
    await one(db, endpoint_id)
    row = {**gathering.row_of(endpoint_id, Told(TEST, (), 0, None, datetime.now(UTC))), "asked": True}
    event_id: int = (await db.execute(insert(WebhookEvent).values(row).returning(WebhookEvent.id))).scalar_one()
    await ask(db)
    return event_id


async def send_again(db: AsyncSession, endpoint_id: int, event_id: int) -> None:
    """Sends it with its `webhook-id`, and gives it all its attempts again. Raises NotFound, and Conflict when a newer
    event replaced it."""
    event = await db.get(WebhookEvent, event_id, with_for_update=True)
    if event is None or event.endpoint_id != endpoint_id:
        raise NotFound("There is no such event, or it was removed after 30 days.")
    if event.status == "replaced":
        raise Conflict("A newer event tells the same. It was sent, or waits.")
    event.status, event.attempts, event.asked, event.ended_at = "waiting", 0, True, None
    event.due_at = datetime.now(UTC)
    await ask(db)


async def one(db: AsyncSession, endpoint_id: int, *, hold: bool = False) -> WebhookEndpoint:
    """`hold` locks it, to change it. Lock its events after it, as sending does. Raises NotFound."""
    if hold:
        await gathering.hold(db)
    found = await db.get(WebhookEndpoint, endpoint_id, with_for_update=hold)
    if found is None or found.removed_at is not None:
        raise NotFound(NOT_THERE)
    return found


async def url_of(db: AsyncSession, endpoint_id: int) -> str:
    """Reads nothing else, so that `one` with `hold` reads the row afterwards and not before. Raises NotFound."""
    found = await db.scalar(select(WebhookEndpoint.url).where(WebhookEndpoint.id == endpoint_id, STANDS))
    if found is None:
        raise NotFound(NOT_THERE)
    return found


async def all_of(db: AsyncSession) -> Sequence[WebhookEndpoint]:
    return (await db.scalars(select(WebhookEndpoint).where(STANDS).order_by(WebhookEndpoint.id))).all()


def secrets_of(keys: KeyRing, workspace: str, endpoint: WebhookEndpoint, now: datetime) -> tuple[str, ...]:
    """The secrets that sign events, the newest first; empty when no key opens them."""
    newest = _opened(keys, place(workspace, endpoint.uid), endpoint.secret)
    if newest is None:
        return ()
    is_valid = endpoint.before_until is not None and endpoint.before_until > now
    before = _opened(keys, place_before(workspace, endpoint.uid), endpoint.secret_before) if is_valid else None
    return (newest, before) if before else (newest,)


def place(workspace: str, uid: UUID) -> Place:
    return Place("webhook_endpoints", "secret", workspace, str(uid))


def place_before(workspace: str, uid: UUID) -> Place:
    """The place of the replaced secret, while it is still valid."""
    return Place("webhook_endpoints", "secret_before", workspace, str(uid))


def _opened(keys: KeyRing, where: Place, sealed: str | None) -> str | None:
    if sealed is None:
        return None
    try:
        return keys.open(sealed, where).reveal()
    except SecretError:
        return None


def _new_secret() -> str:
    return signing.secret_of(random_secrets.token_bytes(signing.SECRET_BYTES))


def _checked_types(db: AsyncSession, types: Collection[str]) -> list[str]:
    """In the order of the table. Raises Invalid."""
    known = offered(on_platform=workspace_of(db) == PLATFORM)
    if unknown := sorted(set(types) - set(known)):
        sentence = f"There is no event {unknown[0]!r} here. There are: {', '.join(known)}."
        raise Invalid(sentence, details=[FieldError("types", sentence)])
    if not types:
        raise Invalid("Choose at least one event.", details=[FieldError("types", "Choose at least one event.")])
    return [name for name in known if name in types]


def _told(url: str, types: Collection[str]) -> dict[str, object]:
    return {"url": addresses.shortened(url), "types": list(types)}
