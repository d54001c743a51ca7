"""Compares rows of the ledger, one after the other, with what each of them says and with the tables beside it. Pure.

Both tables of the chain are walked as one: responses, and the changes that follow them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from app.surveys.ledger import chain
from app.surveys.ledger.walking_closings import ClosingWalk, VersionId
from app.surveys.words import KIND_AFTER


class ResponseRow(NamedTuple):
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
    language: str | None
    has_text: bool
    key_id: int | None
    sealed: str | None
    entry: str
    row_hash: bytes


class ChangeRow(NamedTuple):
    """A row of survey_changes, with what the response that it names says, None when there is no such response."""

    number: int
    kind: str
    survey_id: int
    version: int
    response_number: int | None
    turn: int | None
    user_id: int | None
    source: str | None
    recorded_at: datetime
    ballots: int | None
    results: str | None
    key_id: int | None
    sealed: str | None
    entry: str
    row_hash: bytes
    response_hash: bytes | None
    response_of: tuple[int, int, int, str] | None

    @property
    def of(self) -> tuple[int, int, int | None, str]:
        """What the response must say: its survey, version and person, and that they agreed."""
        return self.survey_id, self.version, self.user_id, "agreed"


Row = ResponseRow | ChangeRow
# The hash of a version without a result, because too few answered.
NOTHING = chain.results_hash(())
Choices = Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WalkedWording:
    survey: str
    version: int
    content_hash: str
    questions: str
    intact: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """What rows are compared with. `results` are the hashes of the results of closed versions, None when they are not
    checked. `noted` has the heads of the audit by number: the hash, and when it was noted. `hidden` is the first row
    under a tombstone that is not allowed."""

    surveys: Mapping[int, str]
    wordings: Mapping[int, WalkedWording]
    noted: Mapping[int, Sequence[tuple[str, datetime]]]
    head: tuple[int, bytes]
    hidden: int | None = None
    results: Mapping[VersionId, str] | None = None


class Broken(Exception):
    """What is wrong, and with which row."""

    def __init__(self, number: int | None, problem: str) -> None:
        super().__init__(problem)
        self.number, self.problem = number, problem


class Walk:
    """The state of the walk: the last row that fits, and its hash."""

    def __init__(self, known: Expected, number: int = 0, before: bytes = chain.BEFORE_THE_FIRST) -> None:
        self.known, self.number, self.hash = known, number, before
        self._closings = ClosingWalk(known.results)

    def step(self, row: Row, choices: Choices, key_problem: str | None = None) -> None:
        """Raises Broken when the row is not the next one, does not say what was recorded, or names a key that is
        wrong."""
        number, row_hash = row.number, bytes(row.row_hash)
        if number < 1:
            raise Broken(number, "it was added: the first row of a ledger is row 1")
        if number == self.number:
            raise Broken(number, "it was added: survey_responses and survey_changes both have a row of this number")
        if number != self.number + 1:
            raise Broken(self.number + 1, f"it is missing: after row {self.number} comes row {number}")
        if chain.row_hash(self.hash, row.entry) != row_hash:
            raise Broken(number, "its hash does not fit what it says and the row before it")
        if isinstance(row, ResponseRow):
            _refuse_other_words(self.known, row, choices)
        else:
            _refuse_other_change(self.known, row, choices)
        for head, at in self.known.noted.get(number, ()):
            if head != row_hash.hex():
                raise Broken(number, f"its hash is not the head that was noted at {chain.instant(at)}")
        if problem := self._closing_problem(row) or key_problem:
            raise Broken(number, problem)
        if number == self.known.hidden:
            raise Broken(number, "it is kept out of lists and figures as a removed demo answer, which it is not")
        self.number, self.hash = number, row_hash

    def _closing_problem(self, row: Row) -> str | None:
        version = (row.survey_id, row.version)
        if isinstance(row, ResponseRow):
            return self._closings.answer(version) if row.outcome == "answered" else None
        return self._closings.close(version, row.ballots, row.results, NOTHING) if row.kind == "closed" else None

    def end(self, choice_past: int | None) -> None:
        """After all rows fit: checks the head, and the wordings that no row needs."""
        number, row_hash = self.known.head
        if number < 0:
            raise Broken(None, f"its head (survey_ledger_head) is row {number}, which no ledger has")
        if number < self.number:
            raise Broken(number + 1, f"it lies past the head of the ledger, which is row {number}")
        lost = max([number, *self.known.noted])
        if lost > self.number:
            raise Broken(
                self.number + 1, f"it is missing: the ledger continued to row {lost}, and ends with row {self.number}"
            )
        if row_hash != self.hash:
            raise Broken(number, "its hash is not the one that the head of the ledger holds")
        if problem := self._closings.end(self.known.surveys):
            raise Broken(None, problem)
        if choice_past is not None:
            raise Broken(choice_past, "survey_answers holds choices of it, but the ledger has no such row")
        for wording_id, wording in self.known.wordings.items():
            if not wording.intact:
                raise Broken(None, f"the wording {wording_id} of survey {wording.survey} does not fit its content hash")


def _refuse_other_words(known: Expected, row: ResponseRow, choices: Choices) -> None:
    """Raises Broken when a table beside the entry says something else than the entry."""
    number = row.number
    try:
        line = chain.read(row.entry)
    except msgspec.MsgspecError:
        raise Broken(number, "its entry can't be read") from None
    has = (
        row.number, known.surveys.get(row.survey_id), row.version, row.user_id, row.outcome, row.source,
        chain.instant(row.recorded_at), row.prompted, row.language, _evidence_of(row),
    )  # fmt: skip
    said = (
        line.number, line.survey, line.version, line.user, line.outcome, line.source, line.recorded_at, line.prompted,
        None if line.language is msgspec.UNSET else line.language, line.evidence,
    )  # fmt: skip
    if has != said:
        _refuse_columns(number, _RESPONSE_COLUMNS, has, said)
    if row.has_text != (None in [one.value for one in line.answers]):
        raise Broken(number, "its column has_text does not say what its entry says")
    _refuse_other_key(row)
    wording = known.wordings.get(row.wording_id)
    if wording is None or not _is_worded(line, wording):
        raise Broken(number, "it points at a different wording from the one that was answered (wording_id)")
    if not wording.intact:
        raise Broken(number, f"the text of its wording {row.wording_id} was changed")
    if choices != chain.choices(line.answers):
        raise Broken(number, "survey_answers holds different choices from this row")


_RESPONSE_COLUMNS = (
    "number", "survey_id", "version", "user_id", "outcome", "source", "recorded_at", "prompted", "language",
    "sealed",
)  # fmt: skip
_CHANGE_COLUMNS = (
    "number", "kind", "survey_id", "version", "recorded_at", "response_number", "turn", "user_id", "source", "sealed", "ballots",
    "results",
)  # fmt: skip


def _refuse_other_change(known: Expected, row: ChangeRow, choices: Choices) -> None:
    """The same for a change, and for the response that it changes."""
    number = row.number
    try:
        line = chain.read_change(row.kind, row.entry)
    except msgspec.MsgspecError:
        raise Broken(number, "its entry can't be read as one of its kind") from None
    has = (
        number, row.kind, known.surveys.get(row.survey_id), row.version, chain.instant(row.recorded_at),
        row.response_hash and bytes(row.response_hash).hex(), row.turn, row.user_id, row.source, _evidence_of(row), row.ballots,
        row.results,
    )  # fmt: skip
    said = (line.number, line.change, line.survey, line.version, line.recorded_at, *_told(line))
    if has != said:
        _refuse_columns(number, _CHANGE_COLUMNS, has, said)
    _refuse_other_key(row)
    if choices:
        raise Broken(number, "survey_answers holds choices of it, but a change has no answers")
    if row.turn is None:
        return
    if row.kind != KIND_AFTER[row.turn % 2]:
        raise Broken(number, "its turn is not one of its kind: a person withdraws first, then agrees again")
    if row.response_of != row.of or (row.response_number or 0) >= number:
        raise Broken(number, "it changes a response that is not an earlier agreement of that person to this version")


def _told(line: chain.StandingEntry | chain.ClosingEntry) -> tuple[Any, ...]:
    if isinstance(line, chain.ClosingEntry):
        return (None, None, None, None, None, line.ballots, line.results)
    return (line.response, line.turn, line.user, line.source, line.evidence, None, None)


def _refuse_columns(number: int, names: Sequence[str], has: Sequence[Any], said: Sequence[Any]) -> None:
    column = next(name for name, one, other in zip(names, has, said, strict=True) if one != other)
    raise Broken(number, f"its column {column} does not say what its entry says")


def _evidence_of(row: Row) -> str | None:
    return None if row.sealed is None else chain.text_hash(row.sealed)


def _refuse_other_key(row: Row) -> None:
    sealed_with = None if row.sealed is None else row.sealed.partition(".")[0]
    if sealed_with != (None if row.key_id is None else str(row.key_id)):
        raise Broken(row.number, "its column key_id does not name the key that its evidence was sealed with")


def _is_worded(line: chain.LedgerEntry, wording: WalkedWording) -> bool:
    return (line.survey, line.version, line.content_hash, line.questions) == (
        wording.survey,
        wording.version,
        wording.content_hash,
        wording.questions,
    )
