"""Mails that a person can end: by topic, with a link in each of them that works without signing in and does not expire.

Letters about accounts have no topic: they can't be switched off.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, exists, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.errors import NotFound
from app.mail.models import MailRefusal
from app.parts import Parts
from app.secrets import KeyRing
from app.wording.marked import marked

SURVEYS, ALERTS, DIGEST = "surveys", "alerts", "digest"
# What each topic is called, in the words of the page.
TOPICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        SURVEYS: marked("Invitations to answer surveys, and reminders"),
        ALERTS: marked("Alerts about problems"),
        DIGEST: marked("Digests of problems"),
    }
)
NO_SUCH_LINK: Final = marked("This link does not end any mail. Open the link of a newer mail, or ask an administrator.")
_TOKEN = re.compile(rf"([1-9][0-9]{{0,18}})\.({'|'.join(TOPICS)})\.([0-9a-f]{{40}})", re.ASCII)
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Wish:
    """The mails that a link ends, and of which account."""

    user_id: int
    topic: str


def link(parts: Parts, user_id: int, topic: str) -> str:
    """The address that ends mails of the topic: for `Letter.unsubscribe_url`."""
    return f"{parts.settings.base_url}/mail/unsubscribe/{token(parts.keys, Wish(user_id, topic))}"


def token(keys: KeyRing, wish: Wish) -> str:
    """A signed text that names account and topic. It is not stored, and works as long as the key is in the ring."""
    return f"{wish.user_id}.{wish.topic}.{_signed(keys, wish)[0]}"


def wish_of(keys: KeyRing, text: str) -> Wish:
    """Raises NotFound for what is not a token of this installation."""
    found = _TOKEN.fullmatch(text)
    if found is None or int(found[1]) > _LARGEST_ID:
        raise NotFound(NO_SUCH_LINK)
    wish = Wish(int(found[1]), found[2])
    if not any(hmac.compare_digest(found[3], signature) for signature in _signed(keys, wish)):
        raise NotFound(NO_SUCH_LINK)
    return wish


def _signed(keys: KeyRing, wish: Wish) -> list[str]:
    """The signatures by each key of the ring, the first key's first."""
    said = f"{wish.user_id}.{wish.topic}".encode()
    return [hmac.digest(key, said, "sha256").hex()[:40] for key in keys.derive_each("ending mails")]


async def refuse(db: AsyncSession, wish: Wish) -> None:
    """The person gets no more mails of the topic. A second time changes nothing.
    Raises NotFound when the account is gone."""
    account = select(User.id, literal(wish.topic)).where(User.id == wish.user_id)
    statement = insert(MailRefusal).from_select(["user_id", "topic"], account)
    made = await db.scalar(statement.on_conflict_do_nothing().returning(MailRefusal.user_id))
    if made is None and not await refuses(db, wish.user_id, wish.topic):
        raise NotFound(NO_SUCH_LINK)


async def allow(db: AsyncSession, wish: Wish) -> None:
    """The person gets mails of the topic again."""
    await db.execute(delete(MailRefusal).filter_by(user_id=wish.user_id, topic=wish.topic))


async def refuses(db: AsyncSession, user_id: int, topic: str) -> bool:
    """True when the person has ended mails of the topic."""
    return bool(await db.scalar(select(refusing(user_id, topic))))


async def refused_by(db: AsyncSession, user_id: int) -> frozenset[str]:
    """The topics that the person has ended."""
    return frozenset(await db.scalars(select(MailRefusal.topic).filter_by(user_id=user_id)))


def refusing(user_id: Any, topic: str) -> ColumnElement[bool]:
    """As `refuses`, as a part of another statement."""
    return exists().where(MailRefusal.user_id == user_id, MailRefusal.topic == topic)
