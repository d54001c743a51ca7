"""The second factor: six digits of an authenticator app (TOTP, RFC 6238). Where sign-in asks for them: identity."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pyotp
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.models import User
from app.db.session import Database, workspace_of
from app.errors import Conflict, FieldError, Invalid
from app.secrets import KeyRing, Place, Secret, SecretError

ISSUER = "Muster"
STEP_S = 30
PASSED_FOR = timedelta(minutes=5)
WRONG = (
    "These digits are not valid now. Type the digits that the app shows now: each code works once, and the phone's"
    " clock must be right."
)


class WrongCode(Invalid):
    def __init__(self) -> None:
        super().__init__(WRONG, details=[FieldError("code", WRONG)])


def new_secret() -> Secret:
    return Secret(pyotp.random_base32())


def address(secret: Secret, email: str) -> str:
    """The `otpauth://` address that an authenticator app on the same device opens."""
    return pyotp.TOTP(secret.reveal()).provisioning_uri(name=email, issuer_name=ISSUER)


def seal_setup(keys: KeyRing, workspace: str, user_id: int, secret: Secret) -> str:
    """The secret as the set-up form carries it: nothing is stored until a code of it was given."""
    return keys.seal(secret, _setup_place(workspace, user_id))


def open_setup(keys: KeyRing, workspace: str, user_id: int, sealed: str) -> Secret:
    """Raises Conflict for anything but what `seal_setup` made for this very person."""
    try:
        return keys.open(sealed, _setup_place(workspace, user_id))
    except SecretError:
        raise Conflict("This set-up is too old, or belongs to another person. Start again.") from None


def seal_passed(keys: KeyRing, user: User, now: datetime) -> str:
    """What the form that asks for the digits carries instead of the password, so that it is typed only once."""
    until = int((now + PASSED_FOR).timestamp())
    return keys.seal(Secret(f"{until}:{_mark(user)}"), _passed_place(user))


def has_passed(keys: KeyRing, user: User, sealed: str, now: datetime) -> bool:
    """Whether this user gave the password that holds now, some minutes ago at most."""
    try:
        until, _, mark = keys.open(sealed, _passed_place(user)).reveal().partition(":")
    except SecretError:
        return False
    return now.timestamp() < int(until) and hmac.compare_digest(mark, _mark(user))


async def enable(
    db: AsyncSession, actor: audit.Actor, user_id: int, *, keys: KeyRing, secret: Secret, code: str
) -> None:
    """From now on sign-in wants a code. Raises WrongCode, and Conflict when a second factor is on already."""
    step = step_of(secret, code, datetime.now(UTC))
    if step is None:
        raise WrongCode
    sealed = keys.seal(secret, place(workspace_of(db), user_id))
    switched = update(User).where(User.id == user_id, User.totp_secret.is_(None))
    if await db.scalar(switched.values(totp_secret=sealed, totp_used_step=step).returning(User.id)) is None:
        raise Conflict("A second factor is already on. Switch it off first.")
    await audit.record(db, actor, "user.enable_second_factor", "user", user_id)


async def forget(db: AsyncSession, user_id: int) -> bool:
    """The password alone signs in again. Returns whether there was a second factor; the audit is the caller's."""
    off = update(User).where(User.id == user_id, User.totp_secret.is_not(None))
    return await db.scalar(off.values(totp_secret=None, totp_used_step=None).returning(User.id)) is not None


async def is_on(db: AsyncSession, user_id: int) -> bool:
    return bool(await db.scalar(select(User.totp_secret.is_not(None)).where(User.id == user_id)))


async def use_code(database: Database, keys: KeyRing, user: User, code: str) -> bool:
    """Whether this is the code of the moment. Each works once: one that was looked over the shoulder is worth nothing."""
    secret = keys.open(user.totp_secret or "", place(user.workspace, user.id))
    step = step_of(secret, code, datetime.now(UTC))
    if step is None:
        return False
    unused = update(User).where(User.id == user.id, func.coalesce(User.totp_used_step, -1) < step)
    async with database.shared_transaction() as db:
        return await db.scalar(unused.values(totp_used_step=step).returning(User.id)) is not None


def step_of(secret: Secret, code: str, now: datetime) -> int | None:
    """The half minute since 1970 that the code belongs to: this one, or one either side for clocks that differ."""
    generator = pyotp.TOTP(secret.reveal(), interval=STEP_S)
    digits = "".join(code.split()).encode()
    current = int(now.timestamp()) // STEP_S
    fitting = [
        step
        for step in (current - 1, current, current + 1)
        if hmac.compare_digest(generator.at(step * STEP_S).encode(), digits)
    ]
    return fitting[0] if fitting else None


def place(workspace: str, user_id: int) -> Place:
    return Place("users", "totp_secret", workspace, str(user_id))


def _setup_place(workspace: str, user_id: int) -> Place:
    return Place("users", "totp_setup", workspace, str(user_id))


def _passed_place(user: User) -> Place:
    return Place("users", "password_passed", user.workspace, str(user.id))


def _mark(user: User) -> str:
    """Differs once the password was changed."""
    return hashlib.sha256((user.password_hash or "").encode()).hexdigest()
