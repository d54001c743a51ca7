"""Checks the ledger: every row's hash, what its columns repeat, its wording, its choices, the head, the heads noted daily, the
keys of the evidence, and that only rows of the demo lie under a tombstone.

Streamed: memory does not grow with the ledger. What is wrong is named by the first row that it is wrong with.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec
import structlog
from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver
from app.db.session import Database, workspace_of
from app.secrets import KeyRing
from app.surveys.ledger import chain
from app.surveys.ledger.verifying_keys import KeyCheck

BATCH = 1000
NOTE = "ledger.head"


class _Row(NamedTuple):
    """A row of survey_responses."""

    number: int
    survey_id: int
    version: int
    wording_id: int
    user_id: int
    outcome: str
    source: str
    recorded_at: datetime
    prompted: bool
    has_text: bool
    key_id: int | None
    sealed: str | None
    entry: str
    row_hash: bytes


_COLUMNS = ", ".join(f"r.{name}" for name in _Row._fields)
_ROWS = f"SELECT {_COLUMNS} FROM survey_responses r ORDER BY r.number"
_CHOICES = "SELECT number, question_key::text, choice FROM survey_answers WHERE number > $1 AND number <= $2"
_CHOICES_PAST = "SELECT min(number) FROM survey_answers WHERE number > $1 OR number < 1"
_WORDINGS = "SELECT id, survey_uid, version, content_hash, content, question_keys FROM survey_wordings ORDER BY id"
_NOTED = """
SELECT (after ->> 'number')::bigint AS number, after ->> 'head' AS head, min(at) AS at FROM audit_entries
WHERE workspace = $1 AND act = $2 GROUP BY 1, 2 ORDER BY 1, 3
"""
_NOTE_HEAD = select(func.note_ledger_head(type_=JSONB))
_HEAD = "SELECT number, row_hash FROM survey_ledger_head"
# A tombstone is laid when the demo is removed, on answers that the demo made up to a survey of its own. Any other would keep
# what a person said out of every list and figure. `source` is in the entry, so the chain covers it.
_IS_DEMO = "(r.source = 'demo' AND s.demo)"
_HIDDEN = f"""
SELECT min(number) FROM survey_tombstones t JOIN survey_responses r USING (number) JOIN surveys s ON s.id = r.survey_id
WHERE NOT {_IS_DEMO}
"""
_ONE = text(f"""
SELECT {_COLUMNS}, s.uid, before.row_hash AS before,
    NOT {_IS_DEMO} AND EXISTS (SELECT FROM survey_tombstones t WHERE t.number = r.number) AS hidden,
    w.survey_uid, w.version AS wording_version, w.content_hash, w.content, w.question_keys,
    ARRAY(SELECT a.question_key FROM survey_answers a WHERE a.number = r.number ORDER BY a.question_key, a.choice) AS asked,
    ARRAY(SELECT a.choice FROM survey_answers a WHERE a.number = r.number ORDER BY a.question_key, a.choice) AS chosen
FROM survey_responses r
JOIN surveys s ON s.id = r.survey_id
JOIN survey_wordings w ON w.id = r.wording_id
LEFT JOIN survey_responses before ON before.number = r.number - 1
WHERE r.number = :number
""")
_log = structlog.get_logger("muster.surveys")

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """`rows` fit, the last of them with the hash `head` (hex). `number` is the row that `problem` is about, None for a problem
    of no row; both are None where everything fits."""

    rows: int
    head: str
    number: int | None = None
    problem: str | None = None

    @property
    def fits(self) -> bool:
        return self.problem is None


class _Broken(Exception):
    """What is wrong, and with which row."""

    def __init__(self, number: int | None, problem: str) -> None:
        super().__init__(problem)
        self.number, self.problem = number, problem


@dataclass(frozen=True, slots=True)
class _Wording:
    survey: str
    version: int
    content_hash: str
    questions: str
    intact: bool


@dataclass(frozen=True, slots=True)
class _Expected:
    """What rows are held against. `noted` has the heads of the audit by number: the hash, and when it was noted. `hidden` is the
    first row under a tombstone that nothing may have laid there."""

    surveys: Mapping[int, str]
    wordings: Mapping[int, _Wording]
    noted: Mapping[int, Sequence[tuple[str, datetime]]]
    head: tuple[int, bytes]
    hidden: int | None = None


async def verify(database: Database, keys: KeyRing, workspace: str, report: Report | None = None) -> LedgerVerdict:
    """Walks the whole ledger as it is at one moment; answers may be recorded meanwhile. `keys` opens the evidence of each person
    once. `report` gets rows done and in all."""
    async with database.snapshot(workspace) as db:
        connection = driver(db)
        try:
            known = await _known(connection, workspace)
        except _Broken as found:
            return LedgerVerdict(0, chain.BEFORE_THE_FIRST.hex(), found.number, found.problem)
        walk, key_check = _Walk(known), KeyCheck(keys, workspace)
        tell = report or _untold
        tell(0, known.head[0])
        try:
            async for rows, choices in _batches(connection):
                problems = await key_check.problems(connection, rows)
                for row in rows:
                    walk.step(row, choices.get(row.number, frozenset()), problems.get(row.number))
                tell(walk.number, known.head[0])
            walk.end(await connection.fetchval(_CHOICES_PAST, walk.number))
        except _Broken as found:
            return LedgerVerdict(walk.number, walk.hash.hex(), found.number, found.problem)
    return LedgerVerdict(walk.number, walk.hash.hex())


def _untold(done: int, total: int) -> None:
    """Does nothing: no progress is shown."""


async def verified(db: AsyncSession, number: int) -> bool:
    """Whether one row fits the row before it, its wording and its choices, by one statement. Says nothing of rows further
    back: that is for `verify`."""
    row = (await db.execute(_ONE, {"number": number})).one_or_none()
    if row is None or (row.before is None and number > 1):
        return False
    wording = _wording((row.survey_uid, row.wording_version, row.content_hash, row.content, row.question_keys))
    hidden = number if row.hidden else None
    known = _Expected({row.survey_id: str(row.uid)}, {row.wording_id: wording}, {}, (number, row.row_hash), hidden)
    walk = _Walk(known, number - 1, row.before or chain.BEFORE_THE_FIRST)
    try:
        choices = {(str(key), choice) for key, choice in zip(row.asked, row.chosen, strict=True)}
        walk.step(_Row._make(row[: len(_Row._fields)]), choices)
    except _Broken:
        return False
    return True


async def note_head(db: AsyncSession) -> None:
    """Writes the head of the workspace's ledger into the log and the audit: a tail that is cut off later is missed then.

    The database itself reads and notes it, and raises where the head is not the hash of the last row.
    """
    noted = await db.scalar(_NOTE_HEAD)
    if noted is not None:
        _log.info("ledger head", workspace=workspace_of(db), **noted)


class _Walk:
    """Where the walk stands: the last row that fits, and its hash."""

    def __init__(self, known: _Expected, number: int = 0, before: bytes = chain.BEFORE_THE_FIRST) -> None:
        self.known, self.number, self.hash = known, number, before

    def step(self, row: _Row, choices: Any, key_problem: str | None = None) -> None:
        """Raises _Broken where the row is not the next one, does not say what was recorded, or names a key that is wrong."""
        number, row_hash = row.number, bytes(row.row_hash)
        if number <= self.number:
            raise _Broken(number, "it was added: the first row of a ledger is row 1")
        if number != self.number + 1:
            raise _Broken(self.number + 1, f"it is missing: after row {self.number} comes row {number}")
        if chain.row_hash(self.hash, row.entry) != row_hash:
            raise _Broken(number, "its hash does not fit what it says and the row before it")
        _refuse_other_words(self.known, row, choices)
        for head, at in self.known.noted.get(number, ()):
            if head != row_hash.hex():
                raise _Broken(number, f"its hash is not the head that was noted at {chain.instant(at)}")
        if key_problem is not None:
            raise _Broken(number, key_problem)
        if number == self.known.hidden:
            raise _Broken(number, "it is kept out of lists and figures as a removed demo answer, which it is not")
        self.number, self.hash = number, row_hash

    def end(self, choice_past: int | None) -> None:
        """Once all rows fit: does the head, and do the wordings that no row needs?"""
        number, row_hash = self.known.head
        if number < 0:
            raise _Broken(None, f"its head (survey_ledger_head) is row {number}, which no ledger has")
        if number < self.number:
            raise _Broken(number + 1, f"it lies past the head of the ledger, which is row {number}")
        lost = max([number, *self.known.noted])
        if lost > self.number:
            raise _Broken(
                self.number + 1, f"it is missing: the ledger continued to row {lost}, and ends with row {self.number}"
            )
        if row_hash != self.hash:
            raise _Broken(number, "its hash is not the one that the head of the ledger holds")
        if choice_past is not None:
            raise _Broken(choice_past, "survey_answers holds choices of it, but the ledger has no such row")
        for wording_id, wording in self.known.wordings.items():
            if not wording.intact:
                raise _Broken(
                    None, f"the wording {wording_id} of survey {wording.survey} does not fit its content hash"
                )


def _refuse_other_words(known: _Expected, row: _Row, choices: Any) -> None:
    """Raises _Broken where something beside the entry says otherwise than the entry does."""
    number = row.number
    try:
        line = chain.read(row.entry)
    except msgspec.MsgspecError:
        raise _Broken(number, "its entry can't be read") from None
    _refuse_other_columns(line, row, known.surveys.get(row.survey_id))
    wording = known.wordings.get(row.wording_id)
    if wording is None or not _is_worded(line, wording):
        raise _Broken(number, "it points at a different wording from the one that was answered (wording_id)")
    if not wording.intact:
        raise _Broken(number, f"the text of its wording {row.wording_id} was changed")
    if choices != chain.choices(line.answers):
        raise _Broken(number, "survey_answers holds different choices from this row")


def _refuse_other_columns(line: chain.LedgerEntry, row: _Row, survey: str | None) -> None:
    if row.sealed is None:
        evidence, sealed_with = None, None
    else:
        evidence, sealed_with = chain.text_hash(row.sealed), row.sealed.partition(".")[0]
    has = (
        row.number, survey, row.version, row.user_id, row.outcome, row.source, chain.instant(row.recorded_at), row.prompted,
        evidence,
    )  # fmt: skip
    said = (
        line.number, line.survey, line.version, line.user, line.outcome, line.source, line.recorded_at, line.prompted,
        line.evidence,
    )  # fmt: skip
    if has != said:
        names = ("number", "survey_id", "version", "user_id", "outcome", "source", "recorded_at", "prompted", "sealed")
        column = next(name for name, one, other in zip(names, has, said, strict=True) if one != other)
        raise _Broken(row.number, f"its column {column} does not say what its entry says")
    if row.has_text != (None in [one.value for one in line.answers]):
        raise _Broken(row.number, "its column has_text does not say what its entry says")
    if sealed_with != (None if row.key_id is None else str(row.key_id)):
        raise _Broken(row.number, "its column key_id does not name the key that its evidence was sealed with")


def _is_worded(line: chain.LedgerEntry, wording: _Wording) -> bool:
    return (line.survey, line.version, line.content_hash, line.questions) == (
        wording.survey,
        wording.version,
        wording.content_hash,
        wording.questions,
    )


async def _known(connection: asyncpg.Connection, workspace: str) -> _Expected:
    """Raises _Broken where the ledger has lost its head."""
    head = await connection.fetchrow(_HEAD)
    if head is None:
        raise _Broken(None, "the row that holds its head (survey_ledger_head) is missing")
    number, row_hash = head
    noted: dict[int, list[tuple[str, datetime]]] = {}
    for row in await connection.fetch(_NOTED, workspace, NOTE):
        noted.setdefault(row["number"], []).append((row["head"], row["at"]))
    wordings = {}
    async for row in connection.cursor(_WORDINGS, prefetch=50):
        wordings[row[0]] = _wording(tuple(row)[1:])
    surveys = {row[0]: str(row[1]) for row in await connection.fetch("SELECT id, uid FROM surveys")}
    hidden = await connection.fetchval(_HIDDEN)
    return _Expected(surveys, wordings, noted, (number, bytes(row_hash)), hidden)


def _wording(row: tuple[Any, ...]) -> _Wording:
    survey, version, content_hash, content, question_keys = row
    questions = chain.questions_hash(question_keys)
    return _Wording(str(survey), version, content_hash, questions, chain.text_hash(content) == content_hash)


async def _batches(
    connection: asyncpg.Connection,
) -> AsyncIterator[tuple[Sequence[_Row], Mapping[int, set[tuple[str, str]]]]]:
    """Rows in order, with the choices of all numbers up to the last of them."""
    cursor = await connection.cursor(_ROWS)
    choices_of = await connection.prepare(_CHOICES)
    after = 0
    while records := await cursor.fetch(BATCH):
        rows = [_Row._make(record) for record in records]
        choices: dict[int, set[tuple[str, str]]] = {}
        for number, question, choice in await choices_of.fetch(after, rows[-1].number):
            choices.setdefault(number, set()).add((question, choice))
        yield rows, choices
        after = rows[-1].number
