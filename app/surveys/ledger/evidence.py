"""Personal evidence of a response (IP, browser, free texts), sealed under a key of that person; destroying the key
erases it.

The key is random, sealed with the key ring, and one per person and workspace. The chain covers the sealed text, not its
content, so after an erasure the proof still holds.
"""

import base64
import secrets
from dataclasses import dataclass
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Direct
from app.db.session import schema_of
from app.secrets import KEY_BYTES, KeyRing, Place

# When two requests make the first key of one person at once, both get the stored one.
_MAKE = Direct("""
INSERT INTO workspace.survey_person_keys (user_id, sealed_key) VALUES (:person, :sealed)
ON CONFLICT (user_id) WHERE erased_at IS NULL DO UPDATE SET user_id = excluded.user_id
RETURNING id, user_id, sealed_key, set_config('synchronous_commit', 'off', true)
""")
_NUMBER = "(SELECT number FROM survey_people WHERE user_id = :user)"
_DESTROY = text(f"""
UPDATE survey_person_keys SET sealed_key = NULL, erased_at = now() WHERE user_id = {_NUMBER} AND erased_at IS NULL
""")
_HELD = text(f"""
SELECT count(*) AS responses,
    count(*) FILTER (WHERE k.sealed_key IS NOT NULL) AS evidence,
    count(*) FILTER (WHERE k.sealed_key IS NOT NULL AND r.has_text) AS texts,
    (SELECT count(*) FROM survey_changes c JOIN survey_person_keys o ON o.id = c.key_id
        WHERE c.user_id = {_NUMBER} AND o.sealed_key IS NOT NULL) AS changes,
    (SELECT count(*) FROM survey_person_keys WHERE user_id = {_NUMBER} AND erased_at IS NULL) AS keys,
    (SELECT max(erased_at) FROM survey_person_keys WHERE user_id = {_NUMBER}) AS erased_at
FROM survey_responses r LEFT JOIN survey_person_keys k ON k.id = r.key_id WHERE r.user_id = {_NUMBER}
""")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """`texts` has the free texts by question id; `token_made_by` is who made the API token that was used, if it was
    somebody else."""

    ip: str | None = None
    browser: str | None = None
    texts: dict[str, str] = {}
    token_made_by: str | None = None

    def __bool__(self) -> bool:
        return bool(self.ip or self.browser or self.texts or self.token_made_by)


@dataclass(frozen=True, slots=True)
class Key:
    """A person's key as it is stored. `person` is their number."""

    id: int
    person: int
    sealed_key: str


async def make_key(connection: asyncpg.Connection, workspace: str, keys: KeyRing, person: int) -> Key:
    """Makes a key for a person who has none in this workspace; returns the stored one if another transaction just made
    it. Storing it does not wait for the disk."""
    fresh = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    sealed = keys.seal(fresh, _place_of_key(workspace, person))
    row = await _MAKE.row(connection, {"person": person, "sealed": sealed}, schema_of(workspace))
    return Key(row["id"], row["user_id"], row["sealed_key"])


def seal(keys: KeyRing, workspace: str, key: Key, about: tuple[int, int], evidence: Evidence) -> str:
    """The evidence of the person's row, for one text column. `about`: id of the survey and its version. The text
    contains the key's id, so that the chain covers that too."""
    return _sealed(keys, workspace, key, _place(workspace, *about, key.person), evidence)


def seal_change(keys: KeyRing, workspace: str, key: Key, about: tuple[int, int, int], evidence: Evidence) -> str:
    """The same for a change of the person's agreement. `about`: id of the survey, its version, the turn."""
    survey_id, version, turn = about
    return _sealed(keys, workspace, key, _place_of_change(workspace, survey_id, version, key.person, turn), evidence)


def open(keys: KeyRing, workspace: str, row: Any) -> Evidence | None:  # noqa: A001 - the counterpart of `seal`
    """`row` has survey_id, version, person, key_id and sealed of a response, and sealed_key of its key (an outer join).
    None when there is no evidence, or the key is gone because the person was erased. Raises SecretError when it was
    damaged or moved."""
    return _opened(keys, workspace, row, _place(workspace, row.survey_id, row.version, row.person))


def open_change(keys: KeyRing, workspace: str, row: Any) -> Evidence | None:
    """The same for a change; `row` also has its turn."""
    return _opened(keys, workspace, row, _place_of_change(workspace, row.survey_id, row.version, row.person, row.turn))


async def held(db: AsyncSession, user_id: int) -> Any:
    """What the ledger of this workspace stores of a person, as one row: responses, how many of them have evidence that
    can be opened, how many of those have free texts; changes of agreements with evidence that can be opened; live keys;
    erased_at of the key destroyed last."""
    return (await db.execute(_HELD, {"user": user_id})).one()


async def destroy_keys(db: AsyncSession, user_id: int) -> None:
    """Afterwards what these keys sealed is unreadable. `verifying_keys` expects the audit entry in the same
    transaction."""
    await db.execute(_DESTROY, {"user": user_id})


def _sealed(keys: KeyRing, workspace: str, key: Key, place: Place, evidence: Evidence) -> str:
    return _ring(keys, workspace, key).seal(msgspec.json.encode(evidence).decode(), place)


def _opened(keys: KeyRing, workspace: str, row: Any, place: Place) -> Evidence | None:
    if row.sealed is None or row.sealed_key is None:
        return None
    ring = _ring(keys, workspace, Key(row.key_id, row.person, row.sealed_key))
    return msgspec.json.decode(ring.open(row.sealed, place).reveal(), type=Evidence)


def _ring(keys: KeyRing, workspace: str, key: Key) -> KeyRing:
    raw = keys.open(key.sealed_key, _place_of_key(workspace, key.person)).reveal()
    return KeyRing({str(key.id): base64.b64decode(raw)})


def _place(workspace: str, survey_id: int, version: int, person: int) -> Place:
    """The place is the row's subject: its number is not known before it is written."""
    return Place("survey_responses", "sealed", workspace, f"{survey_id}/{version}/{person}")


def _place_of_change(workspace: str, survey_id: int, version: int, person: int, turn: int) -> Place:
    return Place("survey_changes", "sealed", workspace, f"{survey_id}/{version}/{person}/{turn}")


def _place_of_key(workspace: str, person: int) -> Place:
    """The place is the person, because the row has no id yet when it is sealed (app.sealed says the same)."""
    return Place("survey_person_keys", "sealed_key", workspace, str(person))
