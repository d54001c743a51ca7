"""Browser sessions: only ids that we issued, kept as SHA-256. Sign-in makes a new id, and a change of rights ends the
old one.

Idle sessions end after IDLE, every session after ABSOLUTE.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, LargeBinary, and_, any_, bindparam, delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Policy, Role, Session, Tenant, User, UserRole
from app.config import Settings
from app.db.session import PLATFORM
from app.problems.count_models import ProblemCount
from app.problems.counting import TO_DO
from app.web.context import Context, Person
from app.wording.marked import worded
from app.wording.speech import ENGLISH_SPEECH, Speech

IDLE = timedelta(minutes=30)
ABSOLUTE = timedelta(hours=12)
# A click a second must not cause a write a second.
SEEN_EVERY = timedelta(minutes=1)
# A page that shows a secret is asked for at once, but another tab may come first.
ONCE_WAITS = timedelta(minutes=5)
# What the sign-in page says to a browser whose session has ended.
_HOURS = ABSOLUTE // timedelta(hours=1)
LEFT_IDLE = worded(
    "You were signed out after {minutes} minutes without activity.", minutes=IDLE // timedelta(minutes=1)
)
LASTED = worded("You were signed out after {hours} hours. No sign-in lasts longer.", hours=_HOURS)
ENDED = worded(
    "You are signed out. A sign-in ends after {hours} hours, with a new password, or when another of your browsers ends it.",
    hours=_HOURS,
)

# Tables, not models: every request runs this, and selecting a model's attributes costs half as much again.
_user, _user_role, _role = User.__table__, UserRole.__table__, Role.__table__
_policy, _session, _tenant = Policy.__table__, Session.__table__, Tenant.__table__
_problem_count = ProblemCount.__table__
_permissions = (
    select(func.string_agg(func.array_to_string(_role.c.permissions, " "), " "))
    .join(_user_role, _user_role.c.role_id == _role.c.id)
    .where(_user_role.c.user_id == _user.c.id)
    .scalar_subquery()
)
_policies = (
    select(func.coalesce(func.jsonb_object_agg(_policy.c.name, _policy.c.value), text("'{}'::jsonb"), type_=JSONB))
    .where(_policy.c.workspace == _user.c.workspace)
    .scalar_subquery()
)
# For the menu of every page: stored counts, one row for each kind that ever had a problem here.
_problem_counts = (
    select(func.jsonb_object_agg(_problem_count.c.kind, TO_DO, type_=JSONB))
    .where(_problem_count.c.workspace == _user.c.workspace, _problem_count.c.open > 0)
    .scalar_subquery()
)
PERSON_COLUMNS = (
    _user.c.id,
    _user.c.workspace,
    _user.c.email,
    _user.c.name,
    _user.c.type,
    _user.c.preferences,
    _user.c.language,
    func.coalesce(_tenant.c.name, "Platform").label("workspace_name"),
    _permissions.label("permissions"),
    _policies.label("policies"),
)
_WITH_THEIR_PEOPLE = _session.join(_user, _user.c.id == _session.c.user_id).outerjoin(
    _tenant, _tenant.c.key == _user.c.workspace
)
_HOLDS = (
    _session.c.expires_at > bindparam("now"),
    _session.c.last_seen_at > bindparam("idle_since"),
    _user.c.active,
    func.coalesce(_tenant.c.active, _user.c.workspace == PLATFORM),
)
_OWN_COLUMNS = (
    _problem_counts.label("problem_counts"),
    _session.c.public_id,
    _session.c.flash,
    _session.c.last_seen_at,
    _session.c.expires_at,
)
_FIND = (
    select(*PERSON_COLUMNS, *_OWN_COLUMNS, and_(*_HOLDS).label("holds"))
    .select_from(_WITH_THEIR_PEOPLE)
    .where(_session.c.id_hash == bindparam("id_hash"))
)
_RIGHTS = (
    select(_session.c.id_hash, _permissions.label("permissions"), _policies.label("policies"))
    .select_from(_WITH_THEIR_PEOPLE)
    .where(_session.c.id_hash == any_(bindparam("keys", type_=ARRAY(LargeBinary))), *_HOLDS)
)


@dataclass(frozen=True, slots=True)
class Rights:
    """What a session allows: its person's permissions under the policies of their workspace."""

    permissions: frozenset[str]
    policies: Mapping[str, Any]


def cookie_name(settings: Settings) -> str:
    """With HTTPS, a name that browsers accept only from this host and over HTTPS. So no other host of the same domain
    can set it."""
    return "__Host-muster" if settings.secure else "muster"


async def is_known(db: AsyncSession, session_id: str) -> bool:
    """True when a session cookie would sign somebody in."""
    row = await _find(db, session_id, datetime.now(UTC))
    return row is not None and row.holds


async def resume(context: Context, session_id: str) -> None:
    """Sets the context's person from a session cookie. An unknown, idle or expired session sets none, and leaves its
    reason for the sign-in page."""
    key, now = _hash(session_id), datetime.now(UTC)
    row = await _find(context.db, session_id, now)
    if row is None or not row.holds:
        context.signed_out = _why_over(row, now)
        return
    context.person = replace(
        person_of(row, session_id=row.public_id, session_key=key), problem_counts=row.problem_counts or {}
    )
    context.policies, context.flashes = row.policies, row.flash
    if now - row.last_seen_at > SEEN_EVERY:
        await context.db.execute(update(Session).where(Session.id_hash == key).values(last_seen_at=now))


async def stand_in(context: Context, user_id: int | None, workspace: str) -> None:
    """Sets the context's person for work that this person gave to a job. It stays empty if the account is no longer
    active."""
    held = (_user.c.id == user_id, _user.c.workspace == workspace, _user.c.active)
    opened = func.coalesce(_tenant.c.active, _user.c.workspace == PLATFORM)
    people = _user.outerjoin(_tenant, _tenant.c.key == _user.c.workspace)
    found = select(*PERSON_COLUMNS).select_from(people).where(*held, opened)
    row = (await context.db.execute(found)).one_or_none()
    if row is not None:
        context.person, context.policies = person_of(row, session_id=None, session_key=b""), row.policies


async def rights_of(db: AsyncSession, keys: Iterable[bytes]) -> dict[bytes, Rights]:
    """The rights of each of these sessions that is still valid, by key."""
    now = datetime.now(UTC)
    rows = await db.execute(_RIGHTS, {"keys": list(keys), "now": now, "idle_since": now - IDLE})
    return {row.id_hash: Rights(_words(row.permissions), row.policies) for row in rows}


def person_of(row: Any, *, session_id: int | None, session_key: bytes) -> Person:
    """The person in a row of PERSON_COLUMNS."""
    return Person(
        id=row.id,
        workspace=row.workspace,
        workspace_name=row.workspace_name,
        email=row.email,
        name=row.name,
        type=row.type,
        permissions=_words(row.permissions),
        preferences=row.preferences,
        session_id=session_id,
        session_key=session_key,
        language=row.language,
    )


def _words(text: str | None) -> frozenset[str]:
    return frozenset((text or "").split())


async def _find(db: AsyncSession, session_id: str, now: datetime) -> Any:
    found = await db.execute(_FIND, {"id_hash": _hash(session_id), "now": now, "idle_since": now - IDLE})
    return found.one_or_none()


def _why_over(row: Any, now: datetime) -> str:
    if row is None or (row.expires_at > now and row.last_seen_at > now - IDLE):
        return ENDED
    return LASTED if row.expires_at <= now else LEFT_IDLE


async def begin(context: Context, user_id: int, *, carried: str | None = None, warning: str = "") -> None:
    """Signs `user_id` in on this browser under a new id, and ends the old id. `carried` as in app.web.drafts.carrying.
    The next page shows the `warning`, if any."""
    await end(context)
    session_id = secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    await context.db.execute(
        insert(Session).values(
            id_hash=_hash(session_id),
            user_id=user_id,
            ip=context.ip,
            user_agent=context.user_agent[:300],
            carried=carried,
            flash=[_told(context.speech, warning, "warning")] if warning else [],
            expires_at=now + ABSOLUTE,
        )
    )
    _set_cookie(context, session_id, int(ABSOLUTE.total_seconds()))


async def end(context: Context) -> None:
    """Signs this browser out."""
    if context.person is None:
        return
    await context.db.execute(delete(Session).where(Session.id_hash == context.person.session_key))
    _set_cookie(context, "", 0)


async def renew(context: Context) -> None:
    """Gives this browser's session a new id, when its person's rights or password change. The rest of it stays."""
    session_id = secrets.token_urlsafe(32)
    key = _hash(session_id)
    old = context.user.session_key
    await context.db.execute(update(Session).where(Session.id_hash == old).values(id_hash=key))
    context.person = replace(context.user, session_key=key)
    _set_cookie(context, session_id, int(ABSOLUTE.total_seconds()))


async def flash(
    context: Context,
    message: str,
    *,
    level: str = "success",
    sent: str = "",
    see: tuple[str, str] | None = None,
    once: str = "",
    sealed: str = "",
) -> None:
    """Leaves a message for the person's next page. `level`: success, info, warning or danger. `sent` names a draft that
    the browser can now drop (static/js/drafts.js). `see`: the address and the words of a link after the message. `once`
    is the path of the only page that gets the message, with what is `sealed` (app.web.once). What waited there before
    goes: codes that were made again end those made first."""
    link = {"url": see[0], "action": see[1]} if see else {}
    until = (datetime.now(UTC) + ONCE_WAITS).isoformat() if once else ""
    beside = (("sent", sent), ("once", once), ("sealed", sealed), ("until", until))
    told = _told(context.speech, message, level) | {name: text for name, text in beside if text} | link
    others = [one for one in context.flashes if not once or one.get("once") != once]
    context.flashes = [*others, told]
    await _store_flashes(context)


def _told(speech: Speech, message: str, level: str) -> dict[str, str]:
    """In the words of the page that leaves the message, because the page that shows it may speak another language."""
    if speech == ENGLISH_SPEECH:
        return {"text": str(message), "level": level}
    return {"text": speech(message), "level": level, "lang": speech.tag}


async def take_flashes(context: Context) -> list[dict[str, str]]:
    """The messages for this page; they are removed. One that is for another page waits for it, but not for long."""
    now = datetime.now(UTC).isoformat()
    taken, left = list[dict[str, str]](), list[dict[str, str]]()
    for one in context.flashes:
        waits = one.get("once") not in {None, context.request.url.path} and one.get("until", "") > now
        (left if waits else taken).append(one)
    context.flashes = left
    if taken:
        await _store_flashes(context)
    return taken


async def _store_flashes(context: Context) -> None:
    key = context.user.session_key
    await context.db.execute(update(Session).where(Session.id_hash == key).values(flash=context.flashes))


def _set_cookie(context: Context, value: str, max_age_s: int) -> None:
    settings = context.parts.settings
    secure = "; Secure" if settings.secure else ""
    context.cookies.append(
        f"{cookie_name(settings)}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}"
    )


def _hash(session_id: str) -> bytes:
    return hashlib.sha256(session_id.encode()).digest()
