"""Changes of what the ledger says: withdrawing an agreement or giving it again, and closing an anonymous version.

They take the next numbers of the same chain, as responses do in ledger/append.py, and nothing else writes them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Direct, driver
from app.db.session import schema_of, workspace_of
from app.secrets import KeyRing
from app.surveys.ledger import chain, evidence
from app.surveys.ledger.evidence import Evidence, Key
from app.surveys.words import KIND_AFTER
from app.webhooks import noting
from app.webhooks.kinds import RESPONSE_RECORDED, RESPONSE_WITHDRAWN

_HEAD = """
head AS (
    SELECT number + 1 AS number, row_hash AS before,
        CAST(:before_number AS text) || (number + 1) || CAST(:after_number AS text) AS entry
    FROM workspace.survey_ledger_head FOR UPDATE
)"""
_MOVED = """
moved AS (
    UPDATE workspace.survey_ledger_head SET number = added.number, row_hash = added.row_hash FROM added
)"""
_KIND = f"CASE WHEN CAST(:kind AS text) = 'withdrawn' THEN '{RESPONSE_WITHDRAWN}' ELSE '{RESPONSE_RECORDED}' END"
_TELL = noting.telling(_KIND, "CAST(:receipt AS text)", "added WHERE true")
# When two requests change one response at once, the second finds its turn taken, and writes nothing. It waits for an
# author who is archiving the survey or publishing a new version; after that only a withdrawal is possible.
_CHANGE = Direct(f"""
WITH {_HEAD}, met AS (
    SELECT id FROM workspace.surveys
    WHERE id = :survey_id AND (CAST(:kind AS text) = 'withdrawn' OR (status = 'published' AND version = CAST(:version AS bigint)))
    FOR KEY SHARE
), added AS (
    INSERT INTO workspace.survey_changes (number, kind, survey_id, version, response_number, turn, user_id, source, recorded_at, key_id,
        sealed, entry, row_hash)
    SELECT head.number, :kind, met.id, CAST(:version AS bigint), CAST(:response_number AS bigint), CAST(:turn AS bigint),
        CAST(:person AS bigint), :source, CAST(:recorded_at AS timestamptz), CAST(:key_id AS bigint), :sealed, head.entry,
        {chain.ROW_HASH_SQL}
    FROM head, met
    ON CONFLICT (response_number, turn) DO NOTHING RETURNING number, row_hash
), {_MOVED}, {_TELL}
SELECT number, row_hash, EXISTS (SELECT FROM told) AS told, set_config('synchronous_commit', 'off', true) FROM (VALUES (1)) AS always LEFT JOIN added ON true
""")
_CLOSE = Direct(f"""
WITH {_HEAD}, added AS (
    INSERT INTO workspace.survey_changes (number, kind, survey_id, version, recorded_at, ballots, results, entry, row_hash)
    SELECT head.number, 'closed', :survey_id, CAST(:version AS bigint), CAST(:recorded_at AS timestamptz), CAST(:ballots AS bigint),
        CAST(:results AS text), head.entry, {chain.ROW_HASH_SQL}
    FROM head RETURNING number, row_hash
), {_MOVED}
SELECT number, row_hash FROM added
""")


@dataclass(frozen=True, slots=True)
class Agreement:
    """A response that agreed, and how often it was changed since. `person` is a person number, `key` theirs if they
    have one."""

    number: int
    receipt: str
    survey_id: int
    survey: UUID
    version: int
    person: int
    turns: int
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The next change of an agreement, with its evidence."""

    agreement: Agreement
    source: str
    recorded_at: datetime
    evidence: Evidence

    @property
    def turn(self) -> int:
        return self.agreement.turns + 1

    @property
    def kind(self) -> str:
        return KIND_AFTER[self.turn % 2]


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of an anonymous version: how many ballots were opened, and the SHA-256 of its sorted results in hex."""

    survey_id: int
    survey: UUID
    version: int
    ballots: int
    results: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A row of survey_changes; `receipt` is its hash in hex. `told`: a webhook waits for it."""

    number: int
    kind: str
    recorded_at: datetime
    receipt: str
    told: bool = False


async def write(connection: asyncpg.Connection, workspace: str, keys: KeyRing, change: Change) -> RecordedChange | None:
    """Appends it to the chain by one statement, as `append.write` does. None when nothing was written: another change
    of this agreement came first, or its version is no longer asked and can't be agreed to again."""
    agreement, sealed, key = change.agreement, None, change.agreement.key
    if change.evidence:
        key = key or await evidence.make_key(connection, workspace, keys, agreement.person)
        about = (agreement.survey_id, agreement.version, change.turn)
        sealed = evidence.seal_change(keys, workspace, key, about, change.evidence)
    before, after = chain.around_number(_line_of(change, sealed))
    values: dict[str, Any] = {
        "before_number": before,
        "after_number": after,
        "survey_id": agreement.survey_id,
        "kind": change.kind,
        "receipt": agreement.receipt,
        "version": agreement.version,
        "response_number": agreement.number,
        "turn": change.turn,
        "person": agreement.person,
        "source": change.source,
        "recorded_at": change.recorded_at,
        "key_id": key.id if key and sealed else None,
        "sealed": sealed,
    }
    row = await _CHANGE.row(connection, values, schema_of(workspace))
    if row["number"] is None:
        return None
    return RecordedChange(row["number"], change.kind, change.recorded_at, row["row_hash"].hex(), row["told"])


def _line_of(change: Change, sealed: str | None) -> chain.StandingEntry:
    agreement = change.agreement
    return chain.StandingEntry(
        number=0,
        change=change.kind,
        survey=str(agreement.survey),
        version=agreement.version,
        response=agreement.receipt,
        turn=change.turn,
        user=agreement.person,
        source=change.source,
        recorded_at=chain.instant(change.recorded_at),
        evidence=None if sealed is None else chain.text_hash(sealed),
    )


async def close(db: AsyncSession, closing: Closing) -> RecordedChange:
    """Closes the version, in the transaction that opened its ballots. Call it last: it locks the ledger until the end.

    A version closes once: a second time raises asyncpg.UniqueViolationError.
    """
    line = chain.ClosingEntry(
        number=0,
        change="closed",
        survey=str(closing.survey),
        version=closing.version,
        ballots=closing.ballots,
        results=closing.results,
        recorded_at=chain.instant(closing.recorded_at),
    )
    before, after = chain.around_number(line)
    values = {
        "before_number": before,
        "after_number": after,
        "survey_id": closing.survey_id,
        "version": closing.version,
        "recorded_at": closing.recorded_at,
        "ballots": closing.ballots,
        "results": closing.results,
    }
    row = await _CLOSE.row(driver(db), values, schema_of(workspace_of(db)))
    return RecordedChange(row["number"], "closed", closing.recorded_at, row["row_hash"].hex())
