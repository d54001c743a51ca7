"""Checks the ledger: every row's hash, the columns that repeat its entry, its wording, its choices, the response that
it changes, the head, the heads noted daily, the keys of the evidence, and that only rows of the demo are under a
tombstone.

It reads window by window, so memory does not grow with the ledger. A problem names the first row that has it.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

import asyncpg
import structlog
from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver
from app.db.session import Database, workspace_of
from app.secrets import KeyRing
from app.surveys.ledger import chain
from app.surveys.ledger.verifying_keys import KeyCheck
from app.surveys.ledger.walking import Broken, ChangeRow, Choices, Expected, ResponseRow, Row, Walk, WalkedWording

# How many numbers are read at a time; in a sound ledger these are as many rows.
BATCH = 1000
NOTE = "ledger.head"
_FIRST, _LAST = -(2**63), 2**63 - 1

_RESPONSE = ", ".join(f"r.{name}" for name in ResponseRow._fields)
_RESPONSES = f"SELECT {_RESPONSE} FROM survey_responses r WHERE r.number BETWEEN $1 AND $2 ORDER BY r.number"
_OF_RESPONSE = "CASE WHEN r.number IS NOT NULL THEN ROW(r.survey_id, r.version, r.user_id, r.outcome) END"
_CHANGE = ", ".join((*(f"c.{name}" for name in ChangeRow._fields[:-2]), "r.row_hash", _OF_RESPONSE))
_CHANGED = f"SELECT {_CHANGE} FROM survey_changes c LEFT JOIN survey_responses r ON r.number = c.response_number"
_CHANGES = f"{_CHANGED} WHERE c.number BETWEEN $1 AND $2 ORDER BY c.number"
# `least` skips the part that has ended.
_NEXT = """
SELECT least((SELECT min(number) FROM survey_responses WHERE number >= $1), (SELECT min(number) FROM survey_changes WHERE number >= $1))
"""
_CHOICES = "SELECT number, question_key::text, choice FROM survey_answers WHERE number BETWEEN $1 AND $2"
_CHOICES_PAST = "SELECT min(number) FROM survey_answers WHERE number > $1 OR number < 1"
_WORDINGS = "SELECT id, survey_uid, version, content_hash, content, question_keys FROM survey_wordings ORDER BY id"
_NOTED = """
SELECT (after ->> 'number')::bigint AS number, after ->> 'head' AS head, min(at) AS at FROM audit_entries
WHERE workspace = $1 AND act = $2 GROUP BY 1, 2 ORDER BY 1, 3
"""
_CLOSED_VERSIONS = "SELECT DISTINCT survey_id, version FROM survey_results ORDER BY survey_id, version"
_RESULTS = """
SELECT question_key::text, grouped, joined, choice, people FROM survey_results WHERE survey_id = $1 AND version = $2
"""
_NOTE_HEAD = select(func.note_ledger_head(type_=JSONB))
_HEAD = "SELECT number, row_hash FROM survey_ledger_head"
# Removing the demo puts a tombstone on answers that the demo made to a survey of its own. Any other tombstone would
# hide what a person said from all lists and figures. `source` is in the entry, so the chain covers it.
_IS_DEMO = "(r.source = 'demo' AND s.demo)"
_HIDDEN = f"""
SELECT min(number) FROM survey_tombstones t JOIN survey_responses r USING (number) JOIN surveys s ON s.id = r.survey_id
WHERE NOT {_IS_DEMO}
"""
_BEFORE = """coalesce(
    (SELECT b.row_hash FROM survey_responses b WHERE b.number = :number - 1),
    (SELECT b.row_hash FROM survey_changes b WHERE b.number = :number - 1)
) AS before"""
_ONE = text(f"""
SELECT {_RESPONSE}, s.uid, {_BEFORE},
    NOT {_IS_DEMO} AND EXISTS (SELECT FROM survey_tombstones t WHERE t.number = r.number) AS hidden,
    w.survey_uid, w.version AS wording_version, w.content_hash, w.content, w.question_keys,
    ARRAY(SELECT a.question_key FROM survey_answers a WHERE a.number = r.number ORDER BY a.question_key, a.choice) AS asked,
    ARRAY(SELECT a.choice FROM survey_answers a WHERE a.number = r.number ORDER BY a.question_key, a.choice) AS chosen
FROM survey_responses r
JOIN surveys s ON s.id = r.survey_id
JOIN survey_wordings w ON w.id = r.wording_id
WHERE r.number = :number
""")
_ONE_CHANGE = text(f"""
SELECT {_CHANGE}, s.uid, {_BEFORE} FROM survey_changes c JOIN surveys s ON s.id = c.survey_id
LEFT JOIN survey_responses r ON r.number = c.response_number WHERE c.number = :number
""")
_log = structlog.get_logger("muster.surveys")

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """`rows` fit, and the last of them has the hash `head` (hex). `number` is the row of the `problem`, None for a
    problem of no row; both are None when everything fits."""

    rows: int
    head: str
    number: int | None = None
    problem: str | None = None

    @property
    def fits(self) -> bool:
        return self.problem is None


async def verify(database: Database, keys: KeyRing, workspace: str, report: Report | None = None) -> LedgerVerdict:
    """Checks the whole ledger as it is at one moment; answers may be recorded meanwhile. `keys` opens the evidence of
    each person once. `report` gets the number of rows done and of all."""
    async with database.snapshot(workspace) as db:
        connection = driver(db)
        try:
            known = await _known(connection, workspace)
        except Broken as found:
            return LedgerVerdict(0, chain.BEFORE_THE_FIRST.hex(), found.number, found.problem)
        walk, key_check = Walk(known), KeyCheck(keys, workspace)
        tell = report or _untold
        tell(0, known.head[0])
        try:
            async for rows, choices in _batches(connection):
                problems = await key_check.problems(connection, rows)
                for row in rows:
                    walk.step(row, choices.get(row.number, frozenset()), problems.get(row.number))
                tell(walk.number, known.head[0])
            walk.end(await connection.fetchval(_CHOICES_PAST, walk.number))
        except Broken as found:
            return LedgerVerdict(walk.number, walk.hash.hex(), found.number, found.problem)
    return LedgerVerdict(walk.number, walk.hash.hex())


def _untold(done: int, total: int) -> None:
    """Does nothing: no progress is shown."""


async def verified(db: AsyncSession, number: int) -> bool:
    """True when one response fits the row before it, its wording and its choices, by one statement. Earlier rows are
    checked by `verify`."""
    row = (await db.execute(_ONE, {"number": number})).one_or_none()
    if row is None:
        return False
    wording = _wording((row.survey_uid, row.wording_version, row.content_hash, row.content, row.question_keys))
    hidden = number if row.hidden else None
    known = Expected({row.survey_id: str(row.uid)}, {row.wording_id: wording}, {}, (number, row.row_hash), hidden)
    choices = {(str(key), choice) for key, choice in zip(row.asked, row.chosen, strict=True)}
    return _fits(known, ResponseRow._make(row[: len(ResponseRow._fields)]), row.before, choices)


async def verified_change(db: AsyncSession, number: int) -> bool:
    """The same for a change, and for the response that it changes."""
    row = (await db.execute(_ONE_CHANGE, {"number": number})).one_or_none()
    if row is None:
        return False
    known = Expected({row.survey_id: str(row.uid)}, {}, {}, (number, row.row_hash))
    return _fits(known, ChangeRow._make(row[: len(ChangeRow._fields)]), row.before, frozenset())


def _fits(known: Expected, row: Row, before: bytes | None, choices: Choices) -> bool:
    if before is None and row.number > 1:
        return False
    try:
        Walk(known, row.number - 1, before or chain.BEFORE_THE_FIRST).step(row, choices)
    except Broken:
        return False
    return True


async def note_head(db: AsyncSession) -> None:
    """Writes the head of the workspace's ledger into the log and the audit. If rows at the end are removed later, that
    head is missing.

    The database itself reads and notes it, and raises an error when the head is not the hash of the last row.
    """
    noted = await db.scalar(_NOTE_HEAD)
    if noted is not None:
        _log.info("ledger head", workspace=workspace_of(db), **noted)


async def _known(connection: asyncpg.Connection, workspace: str) -> Expected:
    """Raises Broken when the ledger has lost its head."""
    head = await connection.fetchrow(_HEAD)
    if head is None:
        raise Broken(None, "the row that holds its head (survey_ledger_head) is missing")
    number, row_hash = head
    noted: dict[int, list[tuple[str, datetime]]] = {}
    for row in await connection.fetch(_NOTED, workspace, NOTE):
        noted.setdefault(row["number"], []).append((row["head"], row["at"]))
    wordings = {}
    async for row in connection.cursor(_WORDINGS, prefetch=50):
        wordings[row[0]] = _wording(tuple(row)[1:])
    surveys = {row[0]: str(row[1]) for row in await connection.fetch("SELECT id, uid FROM surveys")}
    hidden = await connection.fetchval(_HIDDEN)
    results = await _results(connection)
    return Expected(surveys, wordings, noted, (number, bytes(row_hash)), hidden, results)


async def _results(connection: asyncpg.Connection) -> dict[tuple[int, int], str]:
    """The hashes of the results of closed versions; memory holds one version at a time."""
    found: dict[tuple[int, int], str] = {}
    for survey, version in await connection.fetch(_CLOSED_VERSIONS):
        rows = await connection.fetch(_RESULTS, survey, version)
        found[survey, version] = chain.results_hash([tuple(one) for one in rows])
    return found


def _wording(row: tuple[Any, ...]) -> WalkedWording:
    survey, version, content_hash, content, question_keys = row
    questions = chain.questions_hash(question_keys)
    return WalkedWording(str(survey), version, content_hash, questions, chain.text_hash(content) == content_hash)


async def _batches(
    connection: asyncpg.Connection,
) -> AsyncIterator[tuple[Sequence[Row], Mapping[int, set[tuple[str, str]]]]]:
    """The rows of both tables in the order of their numbers, with their choices."""
    responses_of, changes_of, choices_of, next_from = [
        await connection.prepare(one) for one in (_RESPONSES, _CHANGES, _CHOICES, _NEXT)
    ]
    first = await next_from.fetchval(_FIRST)
    while first is not None:
        last = min(first + BATCH - 1, _LAST)
        rows: list[Row] = [ResponseRow._make(one) for one in await responses_of.fetch(first, last)]
        if changes := await changes_of.fetch(first, last):
            rows = sorted([*rows, *map(ChangeRow._make, changes)], key=attrgetter("number"))
        choices: dict[int, set[tuple[str, str]]] = {}
        for number, question, choice in await choices_of.fetch(first, last):
            choices.setdefault(number, set()).add((question, choice))
        if rows:
            yield rows, choices
        if last == _LAST:
            return
        # Asked only after a window that is not full: that is the end, or a gap.
        first = last + 1 if len(rows) == BATCH else await next_from.fetchval(last + 1)
