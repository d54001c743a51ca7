"""The ledger of responses: appending one row to the chain, and reading what somebody recorded. Nothing else writes it.

An append locks the head's row until the transaction ends, so numbers have no gaps and the chain has no branch. SQL
makes number and hash there; ledger/chain.py defines the hash, and computes it again to check it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Direct, driver
from app.db.session import schema_of, workspace_of
from app.secrets import KeyRing
from app.surveys.ledger import chain, evidence, people
from app.surveys.ledger.answers import Answered
from app.surveys.ledger.entries import (
    BallotToCast,
    Entry,
    RecordedEntry,
    free_texts,
    line_of,
    personal,
    row_of,
    value_of,
)
from app.surveys.ledger.errors import VersionSuperseded
from app.surveys.ledger.evidence import Evidence, Key
from app.webhooks import noting
from app.webhooks.kinds import RESPONSE_RECORDED

# The wording says which answers are free texts, which must never get into the entry.
_WORDED = text("""
SELECT w.question_keys,
    ARRAY(SELECT q ->> 'type' FROM json_array_elements(CAST(w.content AS json) -> 'questions') AS q) AS question_types,
    coalesce(p.number, CASE WHEN NOT EXISTS (SELECT FROM survey_people WHERE number = CAST(:user AS bigint)) THEN CAST(:user AS bigint) END) AS person,
    k.id AS key_id, k.sealed_key
FROM survey_wordings w
LEFT JOIN survey_people p ON p.user_id = CAST(:user AS bigint)
LEFT JOIN survey_person_keys k ON k.user_id = p.number AND k.erased_at IS NULL
WHERE w.id = :wording
""")
# Writes nothing, and leaves the head, when the person has a row of this version already, or this version got other
# words since they were read. It waits for a save that is running; a later save finds the answer. In both cases the head
# is unlocked before this is on the disk.
_ROW = """
WITH {opened}head AS (
    SELECT number + 1 AS number, row_hash AS before,
        CAST(:before_number AS text) || (number + 1) || CAST(:after_number AS text) AS entry
    FROM workspace.survey_ledger_head{only} FOR UPDATE
), met AS (
    SELECT id FROM workspace.surveys
    WHERE id = :survey_id AND (version <> CAST(:version AS int) OR wording_id = CAST(:wording_id AS bigint)) FOR KEY SHARE
), added AS (
    INSERT INTO workspace.survey_responses (number, survey_id, version, wording_id, user_id, outcome, source, recorded_at, prompted,
        language, has_text, key_id, sealed, entry, row_hash)
    SELECT head.number, met.id, CAST(:version AS int), CAST(:wording_id AS bigint), CAST(:person AS bigint), :outcome, :source,
        CAST(:recorded_at AS timestamptz), CAST(:prompted AS boolean), CAST(:language AS text), CAST(:has_text AS boolean), CAST(:key_id AS bigint),
        :sealed, head.entry, {row_hash}
    FROM head, met
    ON CONFLICT (survey_id, version, user_id) DO NOTHING RETURNING number, row_hash
), chosen AS (
    INSERT INTO workspace.survey_answers (number, question_key, choice)
    SELECT added.number, one.question, one.choice
    FROM added, unnest(CAST(:questions AS uuid[]), CAST(:choices AS text[])) AS one (question, choice)
), moved AS (
    UPDATE workspace.survey_ledger_head SET number = added.number, row_hash = added.row_hash FROM added
){beside}
SELECT number, row_hash, {told} AS told, set_config('synchronous_commit', 'off', true) FROM (VALUES (1)) AS always LEFT JOIN added ON true
"""
_NAMED = "workspace.surveys s WHERE s.id = :survey_id AND s.anonymity = 'named'"
_TELL = noting.telling(f"'{RESPONSE_RECORDED}'", "encode(added.row_hash, 'hex')", f"added, {_NAMED}")
_APPEND = Direct(
    _ROW.format(row_hash=chain.ROW_HASH_SQL, opened="", only="", beside=f", {_TELL}", told="EXISTS (SELECT FROM told)")
)
# The participation and its ballot. The key of the version is locked before the head, as in the job that closes it: that
# job waits for running answers, and a later answer finds the key destroyed.
_APPEND_APART = Direct(
    _ROW.format(
        row_hash=chain.ROW_HASH_SQL,
        opened="""opened AS (
    SELECT id FROM workspace.survey_ballot_keys
    WHERE id = CAST(:ballot_key AS bigint) AND sealed_key IS NOT NULL FOR KEY SHARE
), """,
        only=" WHERE EXISTS (SELECT FROM opened)",
        # Nothing outside may show when somebody answered.
        told="false",
        beside=""", kept AS (
    INSERT INTO workspace.survey_ballots (id, survey_id, version, sealed)
    SELECT CAST(:ballot AS uuid), CAST(:survey_id AS bigint), CAST(:version AS int), CAST(:sealed_ballot AS text) FROM added
)""",
    )
)
_WAIT_FOR_THE_DISK = text("SET LOCAL synchronous_commit TO DEFAULT")
_RECORDED = text("""
SELECT r.number, r.survey_id, r.version, r.user_id AS person, r.outcome, r.recorded_at, r.row_hash, r.entry, r.key_id,
    r.sealed, k.sealed_key, w.content, w.question_keys
FROM survey_responses r LEFT JOIN survey_wordings w ON r.language IS NOT NULL AND w.id = r.wording_id
LEFT JOIN survey_person_keys k ON k.id = r.key_id
WHERE r.survey_id = :survey AND r.version = :version
    AND r.user_id = (SELECT number FROM survey_people WHERE user_id = :user)
""")


@dataclass(frozen=True, slots=True)
class Worded:
    """What an entry needs to know of its wording and its person: the type of each question by its id, in their order;
    the person's number, None when it must be given first; their key, None when they have none here."""

    types: Mapping[str, str]
    person: int | None
    key: Key | None


async def append(db: AsyncSession, keys: KeyRing, entry: Entry, ballot: BallotToCast | None = None) -> RecordedEntry:
    """Records the entry, or returns what this person recorded of this version before, whatever it says.

    For callers with a transaction of their own, such as the demo. A person's response goes through `write` instead.

    This locks the workspace's ledger until the transaction ends, so call it last. Raises VersionSuperseded when the
    version got other words after the caller read them.
    """
    worded = await _worded(db, entry)
    written = await write(driver(db), workspace_of(db), keys, entry, worded, ballot=ballot)
    await db.execute(_WAIT_FOR_THE_DISK)
    if written and written.told:
        noting.ask_at_end(db)
    return written or await winner(db, keys, entry)


async def _worded(db: AsyncSession, entry: Entry) -> Worded:
    row = (await db.execute(_WORDED, {"wording": entry.wording_id, "user": entry.user_id})).one()
    key = None if row.key_id is None else Key(row.key_id, row.person, row.sealed_key)
    return Worded(dict(zip(row.question_keys, row.question_types, strict=True)), row.person, key)


async def write(
    connection: asyncpg.Connection,
    workspace: str,
    keys: KeyRing,
    entry: Entry,
    worded: Worded,
    *,
    ballot: BallotToCast | None = None,
) -> RecordedEntry | None:
    """Appends the entry by one statement, which numbers and hashes it. In a transaction of its own
    (`app.db.session.alone`), no process waits for this one while the ledger is locked. Before that, the person gets
    a key if they have none, and a number if theirs belongs to another person. `ballot` is written with the row, or not
    at all. Nothing waits for the disk. None when nothing was written: `winner` says why."""
    texts = free_texts(entry, worded.types)
    told = personal(entry, texts)
    person = await people.give(connection, workspace, entry.user_id) if worded.person is None else worded.person
    key = (worded.key or await evidence.make_key(connection, workspace, keys, person)) if told else None
    sealed = evidence.seal(keys, workspace, key, (entry.survey_id, entry.version), told) if key else None
    line = line_of(entry, person, (tuple(worded.types), texts, sealed))
    values = {**row_of(entry, line), "has_text": bool(texts), "key_id": key and key.id, "sealed": sealed}
    statement = _APPEND if ballot is None else _APPEND_APART
    row = await statement.row(connection, values | (ballot.values() if ballot else {}), schema_of(workspace))
    if row["number"] is None:
        return None
    at, receipt = entry.recorded_at, row["row_hash"].hex()
    told = row["told"]
    return RecordedEntry(row["number"], entry.version, entry.outcome, at, receipt, entry.answers, fresh=True, told=told)


async def recorded(db: AsyncSession, keys: KeyRing, survey_id: int, version: int, user_id: int) -> RecordedEntry | None:
    """What the person recorded of this version, by one statement. Raises SecretError when the key ring lost its key."""
    given = {"survey": survey_id, "version": version, "user": user_id}
    row = (await db.execute(_RECORDED, given)).one_or_none()
    if row is None:
        return None
    opened = evidence.open(keys, workspace_of(db), row) or Evidence()
    answers = tuple(Answered(UUID(one.question), value_of(one, opened.texts)) for one in chain.read(row.entry).answers)
    return RecordedEntry(
        row.number,
        row.version,
        row.outcome,
        row.recorded_at,
        row.row_hash.hex(),
        answers,
        fresh=False,
        words=(row.content, row.question_keys) if row.content else None,
    )


async def winner(db: AsyncSession, keys: KeyRing, entry: Entry) -> RecordedEntry:
    """What the person recorded of this version before. Raises VersionSuperseded when there is nothing, because the
    words changed."""
    found = await recorded(db, keys, entry.survey_id, entry.version, entry.user_id)
    if found is None:
        raise VersionSuperseded
    return found
