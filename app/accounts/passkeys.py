"""Passkeys: each signs in after the password, in place of the six digits of the authenticator app, which stays on
beside them.

A person has passkeys only while they have an authenticator app: so the API's `otp` and the recovery codes always work.
A challenge is made here, expires, and ends with the first answer to it. The protocol itself: passkey_answers.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit, passkey_answers
from app.accounts.models import Passkey, PasskeyChallenge, User
from app.accounts.passkey_answers import KnownKey, WrongAnswer
from app.accounts.passkey_site import PasskeySite
from app.db.session import Database, enter_workspace
from app.errors import Conflict, Invalid, NotFound
from app.wording.marked import marked, worded

ANSWER_WITHIN = timedelta(minutes=5)
MOST = 20
LONGEST_NAME = 60
LONGEST_ANSWER = 20_000  # A device with many certificates sends so much; most devices send some hundred bytes.
WRONG = marked("The passkey was not accepted. Try it again, or type the six digits of your authenticator app.")
NOT_MADE = marked("The passkey was not added: the answer of the device was wrong, or it came too late. Start again.")
NO_APP = marked("Set up an authenticator app first. A passkey works beside it.")
TAKEN = marked("You have a passkey with this name. Choose another name.")
Purpose = Literal["add", "sign_in"]


class PasskeyNotMade(Invalid):
    def __init__(self) -> None:
        super().__init__(NOT_MADE)


@dataclass(frozen=True, slots=True)
class SignedChallenge:
    """What a browser answers in place of the six digits.
    Without `site`, this portal's address takes no passkeys."""

    site: PasskeySite | None
    answer: str


async def ask_to_add(db: AsyncSession, site: PasskeySite, user_id: int, name: str) -> str:
    """What the browser is asked to make, as JSON; its answer goes to `add`. Raises Conflict without an authenticator
    app and at MOST passkeys, and Invalid for a name that is taken."""
    user = await _owner_with_room(db, user_id, name)
    return passkey_answers.ask_to_make(
        site,
        await _challenge(db, user_id, "add"),
        user_id=user_id,
        email=user.email,
        name=user.name,
        known=await _known(db, site, user_id),
        timeout_s=int(ANSWER_WITHIN.total_seconds()),
    )


async def ask_to_sign_in(database: Database, site: PasskeySite, user_id: int) -> str | None:
    """What the browser is asked to sign, as JSON; its answer goes to `use`. Returns None when the person has no passkey
    for this site."""
    async with database.shared_transaction() as db:
        known = await _known(db, site, user_id)
        if not known:
            return None
        challenge = await _challenge(db, user_id, "sign_in")
        return passkey_answers.ask_to_sign(site, challenge, known=known, timeout_s=int(ANSWER_WITHIN.total_seconds()))


async def take_challenge(database: Database, user_id: int, purpose: Purpose, answer: str) -> bytes | None:
    """The challenge that the answer belongs to. Returns None when the challenge is another person's, has expired, or
    was answered before.

    It runs in a transaction of its own, so that the challenge is used up even when the answer is refused.
    """
    try:
        challenge = passkey_answers.challenge_in(answer)
    except WrongAnswer:
        return None
    taken = delete(PasskeyChallenge).where(
        PasskeyChallenge.challenge == challenge,
        PasskeyChallenge.user_id == user_id,
        PasskeyChallenge.purpose == purpose,
    )
    async with database.shared_transaction() as db:
        expires_at = await db.scalar(taken.returning(PasskeyChallenge.expires_at))
    return challenge if expires_at is not None and expires_at > datetime.now(UTC) else None


async def add(
    db: AsyncSession,
    actor: audit.Actor,
    user_id: int,
    *,
    site: PasskeySite,
    challenge: bytes | None,
    name: str,
    answer: str,
) -> None:
    """Keeps the passkey that was made for this `challenge` (of `take_challenge`). Raises PasskeyNotMade, Conflict for a
    passkey that is known already, and what `ask_to_add` raises."""
    try:
        made = passkey_answers.new_key(site, _given(challenge), answer)
    except WrongAnswer:
        raise PasskeyNotMade from None
    await _owner_with_room(db, user_id, name)
    values = {"user_id": user_id, "name": name, "site": site.name, "credential_id": made.credential_id}
    key = {"public_key": made.public_key, "sign_count": made.sign_count, "transports": made.transports}
    kept = insert(Passkey).values(**values, **key).on_conflict_do_nothing()
    if await db.scalar(kept.returning(Passkey.id)) is None:
        raise Conflict(marked("This passkey is in the list already."))
    await audit.record(db, actor, "user.add_passkey", "user", user_id, after={"passkey": name})


async def use(database: Database, user: User, signed: SignedChallenge) -> bool:
    """True when a passkey of this person signed a challenge that they were asked. Each challenge works once."""
    challenge = await take_challenge(database, user.id, "sign_in", signed.answer)
    if challenge is None or signed.site is None:
        return False
    async with database.shared_transaction() as db:
        try:
            passkey = await _named(db, user.id, signed.site, signed.answer)
            count = passkey_answers.sign_count_in(signed.site, challenge, passkey.public_key, signed.answer)
        except WrongAnswer:
            return False
        return await _count(db, user, passkey, count)


async def _named(db: AsyncSession, user_id: int, site: PasskeySite, answer: str) -> Passkey:
    """The passkey that the answer names, locked until its count is written. Raises WrongAnswer for another person's
    passkey."""
    credential_id = passkey_answers.credential_in(answer)
    own = (Passkey.user_id == user_id, Passkey.site == site.name, Passkey.credential_id == credential_id)
    passkey = await db.scalar(select(Passkey).where(*own).with_for_update())
    if passkey is None:
        raise WrongAnswer
    return passkey


async def _count(db: AsyncSession, user: User, passkey: Passkey, count: int) -> bool:
    """False when the device's count did not go up, because another device may hold the same key. The audit then gets a
    line."""
    if not passkey_answers.goes_up(passkey.sign_count, count):
        await enter_workspace(db, user.workspace)
        told = {"passkey": passkey.name}
        await audit.record(db, audit.SYSTEM, "user.refuse_passkey", "user", user.id, after=told)
        return False
    used = update(Passkey).where(Passkey.id == passkey.id)
    await db.execute(used.values(sign_count=count, last_used_at=datetime.now(UTC)))
    return True


async def count_of(db: AsyncSession, user_id: int) -> int:
    return await db.scalar(select(func.count()).where(Passkey.user_id == user_id)) or 0


async def find(db: AsyncSession, user_id: int, passkey_id: int) -> Passkey:
    """Raises NotFound for another person's passkey."""
    passkey = await db.scalar(select(Passkey).where(Passkey.id == passkey_id, Passkey.user_id == user_id))
    if passkey is None:
        raise NotFound(marked("You have no such passkey."))
    return passkey


async def rename(db: AsyncSession, actor: audit.Actor, user_id: int, passkey_id: int, name: str) -> None:
    """Raises NotFound, and Invalid for a name that is taken."""
    await _lock(db, user_id)
    was = (await find(db, user_id, passkey_id)).name
    if was == name:
        return
    if name in await _names(db, user_id):
        raise Invalid.at("name", TAKEN)
    await db.execute(update(Passkey).where(Passkey.id == passkey_id).values(name=name))
    await audit.record(
        db, actor, "user.rename_passkey", "user", user_id, before={"passkey": was}, after={"passkey": name}
    )


async def remove(db: AsyncSession, actor: audit.Actor, user_id: int, passkey_id: int) -> str:
    """Returns its name. Raises NotFound."""
    gone = delete(Passkey).where(Passkey.id == passkey_id, Passkey.user_id == user_id)
    name: str | None = await db.scalar(gone.returning(Passkey.name))
    if name is None:
        raise NotFound(marked("You have no such passkey."))
    await audit.record(db, actor, "user.remove_passkey", "user", user_id, before={"passkey": name})
    return name


async def remove_all(db: AsyncSession, user_id: int) -> list[str]:
    """Returns their names. Removes unanswered challenges too."""
    await db.execute(delete(PasskeyChallenge).where(PasskeyChallenge.user_id == user_id))
    return sorted(await db.scalars(delete(Passkey).where(Passkey.user_id == user_id).returning(Passkey.name)))


async def _owner_with_room(db: AsyncSession, user_id: int, name: str) -> User:
    """Locks the person, so that no passkey is added while their authenticator app is switched off."""
    user = await _lock(db, user_id)
    if user.totp_secret is None:
        raise Conflict(NO_APP)
    names = await _names(db, user_id)
    if name in names:
        raise Invalid.at("name", TAKEN)
    if len(names) >= MOST:
        raise Conflict(
            worded("You have {count} passkeys, which is the most that Muster keeps. Remove one first.", count=str(MOST))
        )
    return user


async def _names(db: AsyncSession, user_id: int) -> list[str]:
    return list(await db.scalars(select(Passkey.name).where(Passkey.user_id == user_id)))


async def _lock(db: AsyncSession, user_id: int) -> User:
    return (await db.scalars(select(User).where(User.id == user_id).with_for_update())).one()


async def _known(db: AsyncSession, site: PasskeySite, user_id: int) -> Sequence[KnownKey]:
    rows = await db.execute(
        select(Passkey.credential_id, Passkey.transports)
        .where(Passkey.user_id == user_id, Passkey.site == site.name)
        .order_by(Passkey.id)
    )
    return [KnownKey(row.credential_id, row.transports) for row in rows]


async def _challenge(db: AsyncSession, user_id: int, purpose: Purpose) -> bytes:
    old = delete(PasskeyChallenge).where(PasskeyChallenge.user_id == user_id, PasskeyChallenge.expires_at < func.now())
    await db.execute(old)
    challenge = secrets.token_bytes(32)
    until = datetime.now(UTC) + ANSWER_WITHIN
    values = {"challenge": challenge, "user_id": user_id, "purpose": purpose, "expires_at": until}
    await db.execute(insert(PasskeyChallenge).values(**values))
    return challenge


def _given(challenge: bytes | None) -> bytes:
    if challenge is None:
        raise WrongAnswer
    return challenge
