"""Personal evidence of a response (IP, browser, free texts), sealed under a key of that person; destroying the key erases it.

The key is random, sealed by the key ring, and one per person and workspace. The chain covers the sealed text, not what is in
it: so erasing leaves the proof whole.
"""

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.counting import count
from app.db.direct import Direct
from app.db.session import PLATFORM, Database, schema_of
from app.secrets import KEY_BYTES, KeyRing, Place

# Two who make the first key of one person at once both get the one that is kept.
_MAKE = Direct("""
INSERT INTO workspace.survey_person_keys (user_id, sealed_key) VALUES (:user, :sealed)
ON CONFLICT (user_id) WHERE erased_at IS NULL DO UPDATE SET user_id = excluded.user_id
RETURNING id, user_id, sealed_key, set_config('synchronous_commit', 'off', true)
""")
_DESTROY = text("""
UPDATE survey_person_keys SET sealed_key = NULL, erased_at = now() WHERE user_id = :user AND erased_at IS NULL
""")
_FORGET_COMMENTS = text("UPDATE api_app_ratings SET comment = NULL WHERE user_id = :user AND comment IS NOT NULL")
_HELD = text("""
SELECT count(*) AS responses,
    count(*) FILTER (WHERE k.sealed_key IS NOT NULL) AS evidence,
    count(*) FILTER (WHERE k.sealed_key IS NOT NULL AND r.has_text) AS texts,
    (SELECT count(*) FROM survey_person_keys WHERE user_id = :user AND erased_at IS NULL) AS keys,
    (SELECT max(erased_at) FROM survey_person_keys WHERE user_id = :user) AS erased_at,
    (SELECT count(*) FROM api_app_ratings WHERE user_id = :user) AS ratings,
    (SELECT count(*) FROM api_app_ratings WHERE user_id = :user AND comment IS NOT NULL) AS comments
FROM survey_responses r LEFT JOIN survey_person_keys k ON k.id = r.key_id WHERE r.user_id = :user
""")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """`texts` holds the free texts by question id; `token_made_by` is who made the API token that was used, where that was not the
    person."""

    ip: str | None = None
    browser: str | None = None
    texts: dict[str, str] = {}
    token_made_by: str | None = None

    def __bool__(self) -> bool:
        return bool(self.ip or self.browser or self.texts or self.token_made_by)


@dataclass(frozen=True, slots=True)
class Key:
    """A person's key as its row holds it."""

    id: int
    user_id: int
    sealed_key: str


async def make_key(connection: asyncpg.Connection, workspace: str, keys: KeyRing, user_id: int) -> Key:
    """A key for a person who has none in this workspace; the one that another transaction just made, if there is one.
    That it is kept does not wait for the disk."""
    fresh = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    sealed = keys.seal(fresh, _place_of_key(workspace, user_id))
    row = await _MAKE.row(connection, {"user": user_id, "sealed": sealed}, schema_of(workspace))
    return Key(row["id"], row["user_id"], row["sealed_key"])


def seal(keys: KeyRing, workspace: str, key: Key, about: tuple[int, int], evidence: Evidence) -> str:
    """The evidence of the person's row, for one text column. `about`: id of the survey and its version. The text names the
    key's id, so that the chain covers that too."""
    place = _place(workspace, *about, key.user_id)
    return _ring(keys, workspace, key).seal(msgspec.json.encode(evidence).decode(), place)


def open(keys: KeyRing, workspace: str, row: Any) -> Evidence | None:  # noqa: A001 - the counterpart of `seal`
    """`row` has survey_id, version, user_id, key_id and sealed of a response, and sealed_key of its key (an outer join). None
    where there is no evidence, or no key any more: the person was erased. Raises SecretError where it was damaged or moved."""
    if row.sealed is None or row.sealed_key is None:
        return None
    ring = _ring(keys, workspace, Key(row.key_id, row.user_id, row.sealed_key))
    place = _place(workspace, row.survey_id, row.version, row.user_id)
    return msgspec.json.decode(ring.open(row.sealed, place).reveal(), type=Evidence)


def _ring(keys: KeyRing, workspace: str, key: Key) -> KeyRing:
    raw = keys.open(key.sealed_key, _place_of_key(workspace, key.user_id)).reveal()
    return KeyRing({str(key.id): base64.b64decode(raw)})


def _place(workspace: str, survey_id: int, version: int, user_id: int) -> Place:
    """Bound to what the row is about: its number is not known until it is written."""
    return Place("survey_responses", "sealed", workspace, f"{survey_id}/{version}/{user_id}")


def _place_of_key(workspace: str, user_id: int) -> Place:
    """Bound to the person, since the row has no id yet when it is sealed (app.sealed says the same)."""
    return Place("survey_person_keys", "sealed_key", workspace, str(user_id))


@dataclass(frozen=True, slots=True)
class EvidenceOwner:
    """A user of the workspace; what they told the platform's surveys lies in the platform's ledger."""

    id: int
    email: str
    workspace: str

    @property
    def ledgers(self) -> tuple[str, ...]:
        """The workspaces that may hold something of theirs."""
        return tuple(dict.fromkeys((self.workspace, PLATFORM)))


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of one person, or what was destroyed: responses in the ledger, how many of them have evidence that opens, how
    many of those with free texts; live keys; app ratings, and how many of those have a comment."""

    responses: int = 0
    evidence: int = 0
    texts: int = 0
    keys: int = 0
    ratings: int = 0
    comments: int = 0
    erased_at: datetime | None = None

    @property
    def anything(self) -> bool:
        """Whether erasing would do anything."""
        return bool(self.keys or self.comments)

    @property
    def goes(self) -> tuple[str, ...]:
        """What erasing takes away, for the person who is about to do it."""
        told = (
            (
                self.evidence,
                f"IP address and browser of {count(self.evidence, 'response', 'responses')} can no longer be read.",
            ),
            (self.texts, f"Written answers: the free texts of {count(self.texts, 'response', 'responses')} are gone."),
            (self.comments, f"Comments: those of {count(self.comments, 'app rating', 'app ratings')} are gone."),
        )
        return tuple(sentence for number, sentence in told if number)

    @property
    def stays(self) -> tuple[str, ...]:
        stars = (f"The stars of {count(self.ratings, 'app rating', 'app ratings')}.",) if self.ratings else ()
        return (
            f"{count(self.responses, 'response', 'responses')} in the ledger: what was chosen, when, and the hash that proves it.",
            *stars,
            "The account and what the time clock recorded. If they answer again, they get a new key.",
            "Backups that were made before still hold the key, until they are destroyed.",
        )

    def __add__(self, other: "Held") -> "Held":
        numbers = {one: getattr(self, one) + getattr(other, one) for one in _NUMBERS}
        return Held(**numbers, erased_at=max(filter(None, (self.erased_at, other.erased_at)), default=None))


_NUMBERS = ("responses", "evidence", "texts", "keys", "ratings", "comments")


async def held(database: Database, person: EvidenceOwner) -> Held:
    """In the person's own workspace and on the platform together."""
    total = Held()
    for workspace in person.ledgers:
        async with database.transaction(workspace) as db:
            total += await _held(db, person)
    return total


async def erase(database: Database, actor: Actor, person: EvidenceOwner) -> Held:
    """Destroys the keys of everything that `held` counted, and the comments of app ratings; returns what there was.

    One transaction a ledger, the person's own last: interrupted, it is simply done again. Answers and the chain stay.
    """
    total = Held()
    for workspace in reversed(person.ledgers):
        async with database.transaction(workspace) as db:
            total += await _erase(db, actor, person)
    return total


async def _erase(db: AsyncSession, actor: Actor, person: EvidenceOwner) -> Held:
    before = await _held(db, person)
    await db.execute(_DESTROY, {"user": person.id})
    await db.execute(_FORGET_COMMENTS, {"user": person.id})
    destroyed = {"keys": before.keys, "evidence": before.evidence, "texts": before.texts, "comments": before.comments}
    done = {"email": person.email, **destroyed}
    await audit.record(db, actor, "person.erase", "user", person.id, before=done, after=dict.fromkeys(destroyed, 0))
    return before


async def _held(db: AsyncSession, person: EvidenceOwner) -> Held:
    return Held(**(await db.execute(_HELD, {"user": person.id})).mappings().one())
