"""The second factor: six digits of an authenticator app (TOTP, RFC 6238), or a recovery code. Passkeys: passkeys.

Where sign-in asks for one of them: signing_in.
"""

import base64
import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta

import pyotp
from sqlalchemy import any_, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit, passkeys
from app.accounts.models import User
from app.db.session import Database, enter_workspace, workspace_of
from app.errors import Conflict, FieldError, Invalid
from app.secrets import KeyRing, Place, Secret, SecretError
from app.wording.marked import marked

ISSUER = "Muster"
STEP_S = 30
PASSED_FOR = timedelta(minutes=5)
WRONG = marked(
    "These digits are not valid now. Type the digits that the app shows now: each code works once, and the phone's"
    " clock must be right."
)
WRONG_RECOVERY_CODE = (
    "This recovery code does not sign you in: it was used already, or is not one of yours. Type another one, or the digits"
    " that the app shows."
)


RECOVERY_CODES = 10
_RECOVERY_BYTES = 10  # It has too many possible values to try them all, so one hash is enough.
_RECOVERY_LENGTH = 16


class WrongCode(Invalid):
    def __init__(self) -> None:
        super().__init__(WRONG, details=[FieldError("code", WRONG)])


def new_secret() -> Secret:
    return Secret(pyotp.random_base32())


def address(secret: Secret, email: str) -> str:
    """The `otpauth://` address that an authenticator app on the same device opens."""
    return pyotp.TOTP(secret.reveal()).provisioning_uri(name=email, issuer_name=ISSUER)


def seal_setup(keys: KeyRing, workspace: str, user_id: int, secret: Secret) -> str:
    """The secret as the set-up form carries it: nothing is stored until the person gives a code of it."""
    return keys.seal(secret, _setup_place(workspace, user_id))


def open_setup(keys: KeyRing, workspace: str, user_id: int, sealed: str) -> Secret:
    """Raises Conflict unless `seal_setup` made it for this person."""
    try:
        return keys.open(sealed, _setup_place(workspace, user_id))
    except SecretError:
        raise Conflict(marked("This set-up is too old, or belongs to another person. Start again.")) from None


def seal_passed(keys: KeyRing, user: User, now: datetime) -> str:
    """What the form for the digits carries in place of the password, so that the person types it only once."""
    until = int((now + PASSED_FOR).timestamp())
    return keys.seal(Secret(f"{until}:{_mark(user)}"), _passed_place(user))


def has_passed(keys: KeyRing, user: User, sealed: str, now: datetime) -> bool:
    """True when this user gave their present password in the last few minutes."""
    try:
        until, _, mark = keys.open(sealed, _passed_place(user)).reveal().partition(":")
    except SecretError:
        return False
    return now.timestamp() < int(until) and hmac.compare_digest(mark, _mark(user))


async def enable(
    db: AsyncSession, actor: audit.Actor, user_id: int, *, keys: KeyRing, secret: Secret, code: str
) -> list[str]:
    """Switches it on: from now on sign-in needs a code. Returns the recovery codes, which are shown only once. Raises
    WrongCode, and Conflict when a second factor is on already."""
    step = step_of(secret, code, datetime.now(UTC))
    if step is None:
        raise WrongCode
    sealed = keys.seal(secret, place(workspace_of(db), user_id))
    codes = _recovery_codes()
    kept = {"totp_secret": sealed, "totp_used_step": step, **_kept(user_id, codes)}
    switched = update(User).where(User.id == user_id, User.totp_secret.is_(None))
    if await db.scalar(switched.values(kept).returning(User.id)) is None:
        raise Conflict(marked("A second factor is already on. Switch it off first."))
    await audit.record(db, actor, "user.enable_second_factor", "user", user_id)
    return codes


async def make_recovery_codes(db: AsyncSession, actor: audit.Actor, user_id: int) -> list[str]:
    """Makes new ones; the old ones stop working. Raises Conflict when no second factor is on."""
    codes = _recovery_codes()
    renewed = update(User).where(User.id == user_id, User.totp_secret.is_not(None))
    if await db.scalar(renewed.values(_kept(user_id, codes)).returning(User.id)) is None:
        raise Conflict(marked("There is no second factor that recovery codes could stand for. Set one up first."))
    await audit.record(db, actor, "user.make_recovery_codes", "user", user_id)
    return codes


async def forget(db: AsyncSession, actor: audit.Actor, user_id: int) -> bool:
    """Switches it off, and removes recovery codes and passkeys: the password alone signs in again. True when there was
    a second factor."""
    off = update(User).where(User.id == user_id, User.totp_secret.is_not(None))
    gone = off.values(totp_secret=None, totp_used_step=None, recovery_codes=[])
    if await db.scalar(gone.returning(User.id)) is None:
        return False
    names = await passkeys.remove_all(db, user_id)
    before = {"passkeys": names} if names else None
    await audit.record(db, actor, "user.drop_second_factor", "user", user_id, before=before)
    return True


async def is_on(db: AsyncSession, user_id: int) -> bool:
    return bool(await db.scalar(select(User.totp_secret.is_not(None)).where(User.id == user_id)))


async def use_code(database: Database, keys: KeyRing, user: User, code: str) -> bool:
    """True when this is the code of this moment, or a recovery code. Each works once, so a code that somebody else has
    seen is worth nothing."""
    if is_recovery_code(code):
        return await _use_recovery_code(database, user, code)
    secret = keys.open(user.totp_secret or "", place(user.workspace, user.id))
    step = step_of(secret, code, datetime.now(UTC))
    if step is None:
        return False
    unused = update(User).where(User.id == user.id, func.coalesce(User.totp_used_step, -1) < step)
    async with database.shared_transaction() as db:
        return await db.scalar(unused.values(totp_used_step=step).returning(User.id)) is not None


async def _use_recovery_code(database: Database, user: User, code: str) -> bool:
    """One statement removes it: when two people send it at the same moment, one of them gets in."""
    hashed = _hashed(user.recovery_id or user.id, code)
    used = (
        update(User)
        .where(User.id == user.id, any_(User.recovery_codes) == hashed)
        .values(recovery_codes=func.array_remove(User.recovery_codes, hashed))
        .returning(func.cardinality(User.recovery_codes))
    )
    async with database.shared_transaction() as db:
        left = await db.scalar(used)
        if left is None:
            return False
        await enter_workspace(db, user.workspace)
        actor = audit.Actor(user.id, user.name)
        await audit.record(db, actor, "user.use_recovery_code", "user", user.id, after={"codes_left": left})
    return True


def is_recovery_code(text: str) -> bool:
    """True when it looks like a recovery code: 16 letters and digits, grouped in any way."""
    return len(_plain(text)) == _RECOVERY_LENGTH


def _recovery_codes() -> list[str]:
    """`ABCD-EFGH-IJKL-MNOP`, in letters and digits that people do not confuse."""
    plain = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    return ["-".join(one[at : at + 4] for at in range(0, _RECOVERY_LENGTH, 4)) for one in plain]


def _kept(user_id: int, codes: list[str]) -> dict[str, list[str] | None]:
    return {"recovery_codes": [_hashed(user_id, one) for one in codes], "recovery_id": None}


def _hashed(user_id: int, code: str) -> str:
    return hashlib.sha256(f"{user_id}:{_plain(code)}".encode()).hexdigest()


def _plain(code: str) -> str:
    return "".join(one for one in code.upper() if one.isalnum())


def step_of(secret: Secret, code: str, now: datetime) -> int | None:
    """The half minute since 1970 that the code belongs to: the present one, or one earlier or later, since clocks
    differ."""
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
    """It differs once the password was changed."""
    return hashlib.sha256((user.password_hash or "").encode()).hexdigest()
