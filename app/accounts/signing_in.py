"""Signing in: passwords, lock-out after wrong ones, and the second factor. Links for a first password:
one_time_links.py. Pages are in app/host/pages/admin/sign_in.py.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from sqlalchemy import ColumnElement, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_links, passkeys, second_factor
from app.accounts.models import Tenant, User
from app.db.session import PLATFORM, Database
from app.errors import Invalid
from app.secrets import KeyRing
from app.wording.marked import marked

SHORTEST_PASSWORD = 12
LOCK_AFTER = 5
LOCKED_FOR = timedelta(minutes=15)
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
# Verified when there is no such account, so that the time of the answer tells a stranger nothing. It has the hasher's
# own costs.
# It is a constant, because making it at each start took as long as a sign-in.
_NO_ACCOUNT = "$argon2id$v=19$m=19456,t=2,p=1$lq3hMNBB+NJRJd4lNx45ig$BEVuz5ZoCWoyxrBayI3fW2FsbtNNuXEaIol22XcfeoQ"


class SignInRefused(Invalid):
    """The same refusal for a wrong address, a wrong password, and a locked or deactivated account."""

    def __init__(self) -> None:
        super().__init__(marked("E-mail or password is wrong, or the account is locked for some minutes."))


class SecondFactorNeeded(Invalid):
    """The password was right, but the account also needs the six digits of its authenticator, or a passkey. `passed`
    stands for the password in the next attempt."""

    def __init__(self, user_id: int, passed: str) -> None:
        super().__init__(marked("Give the six digits of your authenticator app."))
        self.user_id, self.passed = user_id, passed


class SecondFactorWrong(SignInRefused):
    """The password was right, but the digits or the passkey were wrong: `field` says which, with the name it has in
    Attempt. `message` says what to do."""

    def __init__(self, user_id: int, passed: str, field: Literal["otp", "passkey"], message: str) -> None:
        Invalid.__init__(self, message)
        self.user_id, self.passed, self.field = user_id, passed, field


@dataclass(frozen=True, slots=True)
class Attempt:
    """`passed` (of SecondFactorNeeded) may replace the password, and `passkey` the six digits."""

    email: str
    password: str
    otp: str | None = None
    passed: str = ""
    passkey: passkeys.SignedChallenge | None = None


async def hash_password(password: str) -> str:
    """Argon2id. Raises Invalid for a password that is too short. Runs in a thread, because it takes tens of
    milliseconds on purpose."""
    if len(password) < SHORTEST_PASSWORD:
        raise Invalid(f"A password needs at least {SHORTEST_PASSWORD} characters.")
    return await asyncio.to_thread(_hasher.hash, password)


async def verify_password(password_hash: str | None, password: str) -> bool:
    return await asyncio.to_thread(_verify, password_hash or _NO_ACCOUNT, password) and password_hash is not None


def _verify(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (VerifyMismatchError, InvalidHashError):
        return False


async def authenticate(database: Database, keys: KeyRing, attempt: Attempt) -> int:
    """Returns the user's id. Raises SignInRefused, SecondFactorNeeded or SecondFactorWrong.

    A try is counted as failed before the password is checked, in a short transaction of its own. So neither a request
    that rolls back nor many requests at once get more than LOCK_AFTER tries.
    """
    user = await _claim_try(database, attempt.email)
    if user is None:
        await verify_password(None, attempt.password)
        raise SignInRefused
    now = datetime.now(UTC)
    passed = attempt.passed if attempt.passed and second_factor.has_passed(keys, user, attempt.passed, now) else ""
    if not passed and not await verify_password(user.password_hash, attempt.password):
        raise SignInRefused
    if user.totp_secret:
        # Passed on unchanged: if each wrong code renewed it, it would never expire.
        await _second_step(database, keys, user, attempt, passed or second_factor.seal_passed(keys, user, now))
    await _forgive(database, user.id)
    return user.id


async def _second_step(database: Database, keys: KeyRing, user: User, attempt: Attempt, passed: str) -> None:
    """Raises SecondFactorNeeded when neither digits nor a passkey came, and SecondFactorWrong when they are wrong."""
    if attempt.passkey:
        if not await passkeys.use(database, user, attempt.passkey):
            raise SecondFactorWrong(user.id, passed, "passkey", passkeys.WRONG)
    elif not attempt.otp:
        await _uncount(database, user.id)
        raise SecondFactorNeeded(user.id, passed)
    elif not await second_factor.use_code(database, keys, user, attempt.otp):
        is_recovery = second_factor.is_recovery_code(attempt.otp)
        message = second_factor.WRONG_RECOVERY_CODE if is_recovery else second_factor.WRONG
        raise SecondFactorWrong(user.id, passed, "otp", message)


async def is_password_of(database: Database, email: str, password: str) -> bool:
    """Asks a signed-in person for their password again. Wrong ones count towards the lock-out, so that
    a person in somebody else's session can't guess it.
    A right one resets no count, because it proves no second factor."""
    user = await _claim_try(database, email)
    if not await verify_password(user.password_hash if user else None, password) or user is None:
        return False
    await _uncount(database, user.id)
    return True


async def _claim_try(database: Database, email: str) -> User | None:
    now = datetime.now(UTC)
    lock_over: ColumnElement[bool] = func.coalesce(User.locked_until <= now, False)
    tries = case((lock_over, 1), else_=User.failed_sign_ins + 1)
    claim = (
        update(User)
        .where(
            User.email == email.strip().lower(),
            User.active,
            func.coalesce(User.locked_until <= now, True),
            (User.workspace == PLATFORM) | select(Tenant.active).where(Tenant.key == User.workspace).scalar_subquery(),
        )
        .values(
            failed_sign_ins=tries,
            locked_until=case((tries >= LOCK_AFTER, now + LOCKED_FOR), (lock_over, None), else_=User.locked_until),
        )
        .returning(User)
    )
    async with database.shared_transaction() as session:
        return (await session.scalars(claim)).one_or_none()


async def _uncount(database: Database, user_id: int) -> None:
    """Takes back only this try. If it took back earlier ones too, leaving out the digits would allow any number of
    guesses at them."""
    values = {"failed_sign_ins": func.greatest(User.failed_sign_ins - 1, 0), "locked_until": None}
    async with database.shared_transaction() as session:
        await session.execute(update(User).where(User.id == user_id).values(**values))


async def _forgive(database: Database, user_id: int) -> None:
    values = {"failed_sign_ins": 0, "locked_until": None, "last_sign_in_at": datetime.now(UTC)}
    async with database.shared_transaction() as session:
        await session.execute(update(User).where(User.id == user_id).values(**values))


async def use_link(db: AsyncSession, secret: str, password: str) -> int | None:
    """Sets the password and burns the link; returns the user's id, or None when the link is dead by now."""
    password_hash = await hash_password(password)
    user_id = await one_time_links.burn(db, secret)
    if user_id is not None:
        await set_password(db, user_id, password_hash)
    return user_id


async def set_password(db: AsyncSession, user_id: int, password_hash: str) -> None:
    """Sets the password, ends a lock-out and the earlier links. The caller ends the user's sessions
    (app.accounts.ending_sessions)."""
    await one_time_links.kill_links(db, user_id)
    values = {"password_hash": password_hash, "password_changed_at": datetime.now(UTC)}
    await db.execute(update(User).where(User.id == user_id).values(**values, failed_sign_ins=0, locked_until=None))
