"""Checks the keys of personal evidence, for the walk over the ledger: each key opens what it sealed, or an erasure
destroyed it.

The chain covers the sealed evidence, not the keys. Without this check, changing or removing a key would hide the
evidence.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import asyncpg

from app.secrets import KeyRing, SecretError
from app.surveys.ledger import evidence
from app.surveys.ledger.walking import ChangeRow, Row

# When the tenant moved, a deleted account lost its id: `gone`, and the number of the person.
# An erasure writes the audit and destroys the key in one transaction, and both have its time.
_KEYS = """
SELECT k.id, k.user_id AS person, k.sealed_key, k.erased_at IS NULL OR EXISTS (
    SELECT FROM audit_entries a WHERE a.workspace = $2 AND a.act = 'person.erase' AND a.subject_type = 'user'
        AND a.subject_id = coalesce(p.user_id::text, 'gone ' || k.user_id) AND a.at = k.erased_at
) AS accounted
FROM survey_person_keys k LEFT JOIN survey_people p ON p.number = k.user_id WHERE k.id = ANY($1)
"""
_DESTROYED = "the key of its evidence was destroyed, and the audit holds no erasure of that person"
_DOES_NOT_OPEN = (
    "its evidence does not open: the person's key was changed, or MUSTER_SECRET_KEYS lacks the key that sealed it"
)


class _Sealed(NamedTuple):
    """A row of the ledger and the key that it names, as `evidence.open` reads them. `person` is whose key it is; a
    response has no `turn`."""

    survey_id: int
    version: int
    person: int
    key_id: int
    sealed: str | None
    sealed_key: str | None
    turn: int | None


class KeyCheck:
    """Checks each key once, at the first row that names it."""

    def __init__(self, keys: KeyRing, workspace: str) -> None:
        self._keys, self._workspace = keys, workspace
        self._seen: set[int] = set()

    async def problems(self, connection: asyncpg.Connection, rows: Iterable[Row]) -> Mapping[int, str]:
        """What is wrong with keys that were not checked before, by the number of their first row."""
        first: dict[int, Row] = {}
        for row in rows:
            if row.key_id is not None and row.key_id not in self._seen:
                first.setdefault(row.key_id, row)
        self._seen.update(first)
        found = await connection.fetch(_KEYS, list(first), self._workspace) if first else []
        told = ((first[key["id"]], self._problem(key, first[key["id"]])) for key in found)
        return {row.number: problem for row, problem in told if problem is not None}

    def _problem(self, key: Any, row: Row) -> str | None:
        if not key["accounted"]:
            return _DESTROYED
        try:
            turn = row.turn if isinstance(row, ChangeRow) else None
            sealed = _Sealed(row.survey_id, row.version, key["person"], key["id"], row.sealed, key["sealed_key"], turn)
            (evidence.open if turn is None else evidence.open_change)(self._keys, self._workspace, sealed)
        except SecretError:
            return _DOES_NOT_OPEN
        return None
