"""API tokens: made, listed and revoked. They are shown once and kept as SHA-256.
Checking them at the door: app.api.tokens."""

import hashlib
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.administrators import permissions_of
from app.accounts.models import ApiToken, User
from app.db.among import among
from app.db.session import PLATFORM, workspace_of
from app.errors import Conflict, Invalid, NotFound
from app.wording.marked import Numeral, marked, worded

MOST_LIVE = 100
NO_SUCH_TOKEN = marked("There is no such token.")
LONGEST_NAME = 100
LONGEST_LIFE_DAYS = 3650
_LIVE = and_(ApiToken.revoked_at.is_(None), or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > func.now()))


@dataclass(frozen=True, slots=True)
class TokenScope:
    """What a token may be used for. It never gives more than its owner may do: each request checks `permissions`
    again."""

    label: str
    explanation: str
    permissions: tuple[str, ...] = ()
    platform_only: bool = False


SCOPES: dict[str, TokenScope] = {
    "clock:read": TokenScope(
        "Read the time clock",
        "Employees, bindings, punches, terminals and sync runs over the integration API. It changes nothing.",
        ("clock.employees", "clock.transactions"),
    ),
    "attendance:read": TokenScope(
        "Read attendance",
        "The attendance records of all people, over the integration API. It changes nothing.",
        ("host.attendance",),
    ),
    "surveys:read": TokenScope(
        "Read surveys",
        "Surveys, their results, what people answered by name, and on the platform the ratings of apps, over the integration API. It "
        "changes nothing.",
        ("surveys.view",),
    ),
    "problems:read": TokenScope(
        "Read problems",
        "What a person should do, of the kinds that the owner sees, over the integration API. It changes nothing.",
        ("host.problems",),
    ),
    "me": TokenScope(
        marked("Act as its owner in a mobile app"),
        marked("The owner’s apps and ratings, and the surveys that wait for them, over the end-user API."),
    ),
    "metrics:read": TokenScope(
        "Read the metrics",
        "Requests, durations and jobs of the whole server at /metrics, for a monitoring system on another machine.",
        ("admin.jobs",),
        platform_only=True,
    ),
}


def offered(permissions: frozenset[str], *, on_platform: bool) -> dict[str, TokenScope]:
    """The scopes that a person with these permissions can use."""
    return {
        name: scope
        for name, scope in SCOPES.items()
        if set(scope.permissions) <= permissions and (on_platform or not scope.platform_only)
    }


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """`text` is the token itself. It is not stored, so it can't be shown again."""

    id: int
    text: str = field(repr=False)
    scopes: tuple[str, ...]
    expires_at: datetime | None


async def create(
    db: AsyncSession,
    actor: audit.Actor,
    user_id: int,
    scopes: Collection[str],
    *,
    name: str = "",
    days: int | None = None,
) -> CreatedToken:
    """With `days` None it works until somebody revokes it.

    Raises NotFound for an account of another workspace, Invalid for an unknown scope or none, Conflict beyond
    MOST_LIVE.
    """
    owner = await _owner(db, user_id)
    chosen = tuple(scope for scope in SCOPES if scope in scopes)
    _check(chosen, scopes, name, days)
    if await count_live(db, user_id) >= MOST_LIVE:
        raise Conflict(
            worded(
                "{owner} has {number} tokens. Revoke the ones that are no longer used.",
                owner=owner,
                number=Numeral(MOST_LIVE),
            )
        )
    text = f"muster_{secrets.token_urlsafe(32)}"
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    name = name.strip() or "Unnamed"
    values = {"user_id": user_id, "name": name, "scopes": list(chosen), "expires_at": expires_at}
    values |= {"made_by_id": actor.id, "made_by": actor.name}
    made = insert(ApiToken).values(**values, token_hash=_hash(text), hint=text[-4:]).returning(ApiToken.id)
    token_id = (await db.scalars(made)).one()
    after = {"owner": owner, "name": name, "scopes": list(chosen), "expires_at": expires_at}
    await audit.record(db, actor, "token.create", "token", token_id, after=after)
    return CreatedToken(token_id, text, chosen, expires_at)


async def make_room(db: AsyncSession, user_id: int, name: str, *, keep: int) -> None:
    """Revokes all but the newest `keep` live tokens of this name. Otherwise apps that never sign out would use up
    MOST_LIVE."""
    named = select(ApiToken.id).where(ApiToken.user_id == user_id, ApiToken.name == name, ApiToken.revoked_at.is_(None))
    oldest = named.order_by(ApiToken.id.desc()).offset(keep)
    await db.execute(update(ApiToken).where(ApiToken.id.in_(oldest)).values(revoked_at=func.now()))


async def user_with_email(db: AsyncSession, email: str) -> int:
    """The user of this workspace with the address. Raises NotFound."""
    here = select(User.id).where(User.email == email.strip().lower(), User.workspace == workspace_of(db))
    user_id = await db.scalar(here)
    if user_id is None:
        raise NotFound(f"There is no account {email} in this workspace.")
    return user_id


async def revoke(db: AsyncSession, actor: audit.Actor, token_id: int, *, owner_id: int | None = None) -> bool:
    """Revokes a token at once. With `owner_id` it finds only tokens of that person. True when the token worked until
    now.

    Raises NotFound for a token of another workspace.
    """
    statement = select(ApiToken.id).join(User)
    statement = statement.where(ApiToken.id == token_id, User.workspace == workspace_of(db))
    if owner_id is not None:
        statement = statement.where(ApiToken.user_id == owner_id)
    if await db.scalar(statement) is None:
        raise NotFound(NO_SUCH_TOKEN)
    return bool(await revoke_several(db, actor, [token_id]))


async def revoke_several(db: AsyncSession, actor: audit.Actor, token_ids: Iterable[int]) -> list[int]:
    """Revokes those of this workspace. Returns the ones that worked until now."""
    return await _revoke(db, actor, among(ApiToken.id, token_ids) & (User.workspace == workspace_of(db)))


async def revoke_all(db: AsyncSession, actor: audit.Actor, user_id: int, *, workspace: str | None = None) -> list[int]:
    """Revokes every token of a person, when they set a new password. Returns the ones that worked until now.
    `workspace` is as in audit.record."""
    return await _revoke(db, actor, ApiToken.user_id == user_id, workspace)


async def _revoke(
    db: AsyncSession, actor: audit.Actor, which: ColumnElement[bool], workspace: str | None = None
) -> list[int]:
    ended = update(ApiToken).where(which, ApiToken.revoked_at.is_(None), User.id == ApiToken.user_id)
    ended_now = ended.values(revoked_at=func.now()).returning(ApiToken.id, ApiToken.name, User.name.label("owner"))
    rows = sorted(await db.execute(ended_now))
    changes = [audit.AuditedChange(row.id, {"owner": row.owner, "name": row.name}, None) for row in rows]
    await audit.record_many(db, actor, "token.revoke", "token", changes, workspace=workspace)
    return [row.id for row in rows]


def _check(chosen: Collection[str], scopes: Collection[str], name: str, days: int | None) -> None:
    if not chosen or set(scopes) - set(SCOPES):
        raise Invalid.at("scopes", f"Choose from {', '.join(SCOPES)}.")
    if len(name) > LONGEST_NAME:
        raise Invalid.at("name", f"At most {LONGEST_NAME} characters.")
    if days is not None and not 1 <= days <= LONGEST_LIFE_DAYS:
        raise Invalid.at("days", f"Between 1 and {LONGEST_LIFE_DAYS} days.")


async def opens(db: AsyncSession, text: str, scope: str) -> bool:
    """True when this is the text of a live token with the scope, and its owner, on the platform, has the
    permissions."""
    found = select(ApiToken.user_id).join(User).where(ApiToken.token_hash == _hash(text), _LIVE)
    theirs = (User.active, User.workspace == PLATFORM, ApiToken.scopes.contains([scope]))
    user_id = await db.scalar(found.where(*theirs))
    return user_id is not None and set(SCOPES[scope].permissions) <= await permissions_of(db, user_id)


async def _owner(db: AsyncSession, user_id: int) -> str:
    name = await db.scalar(select(User.name).where(User.id == user_id, User.workspace == workspace_of(db)))
    if name is None:
        raise NotFound("There is no such account.")
    return name


async def count_live(db: AsyncSession, user_id: int) -> int:
    """How many live tokens the person has."""
    return await db.scalar(select(func.count()).where(ApiToken.user_id == user_id, _LIVE)) or 0


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
