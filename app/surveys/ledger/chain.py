"""The chain of the ledger: an entry as canonical text, and the hash that links it to the row before. Pure."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import msgspec

from app.surveys import decimals
from app.surveys.words import Shown

# The hash "before" the first row: 64 zeros in hex.
BEFORE_THE_FIRST = bytes(32)
# Between a row of a matrix and its choice; texts of a survey contain no tab there.
BETWEEN = "\t"
# The hash of a row, as people get it.
RECEIPT = re.compile(r"[0-9a-f]{64}")

_WRITER = msgspec.json.Encoder(order="sorted", decimal_format="number")


class MatrixCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choice in one row of a matrix."""

    row: str
    choice: str


class LedgerAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answered question. Stars and a score are their number, a date is its text, a multiple choice its ticks in
    option order, a matrix its answered rows in their order. Null stands for a free text, which is only in the sealed
    evidence."""

    question: str
    value: int | float | str | list[str | MatrixCell] | None


class LedgerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one row of the ledger says and its hash covers.

    `survey` and the questions are UUIDs as text, and `user` is a person number (`ledger/people.py`). `questions` is the
    hash of the wording's question keys, which say which question each answer belongs to; `evidence` is the hash of the
    sealed personal evidence. `prompted`: the person had an impression; `shown` is missing when it is unknown;
    `language` is present when the survey had translations.
    """

    number: int
    survey: str
    version: int
    content_hash: str
    questions: str
    user: int
    outcome: str
    source: str
    recorded_at: str
    prompted: bool
    answers: list[LedgerAnswer]
    evidence: str | None
    shown: Shown | msgspec.UnsetType = msgspec.UNSET
    language: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def was_shown(self) -> Shown:
        """For an older entry: with an impression the survey was shown first; without one, the app may have had it."""
        if self.shown is not msgspec.UNSET:
            return self.shown
        return "first" if self.prompted else "not_known"


class StandingEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The row of a person who changed their agreement. `change` is withdrawn or agreed_again, `response` the receipt of
    the agreement, `turn` 1 for its first change, 2 for the second."""

    number: int
    change: str
    survey: str
    version: int
    response: str
    turn: int
    user: int
    source: str
    recorded_at: str
    evidence: str | None


class ClosingEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The row that closes an anonymous version. `change` is closed, `ballots` how many were opened, `results` the
    SHA-256 of the sorted results in hex."""

    number: int
    change: str
    survey: str
    version: int
    ballots: int
    results: str
    recorded_at: str


# A result of a closed version: question, group, whether small groups were joined in it, answer, people.
Result = tuple[str, str | None, bool, str, int]
Line = LedgerEntry | StandingEntry | ClosingEntry
_READER = msgspec.json.Decoder(LedgerEntry)
_STANDING, _CLOSING = msgspec.json.Decoder(StandingEntry), msgspec.json.Decoder(ClosingEntry)


def written(line: Line) -> str:
    """The line in its RFC 8785 form. All its keys are plain words, so sorted keys and msgspec's escapes give that form
    (a test compares); a number with decimals is written without an exponent, as that form requires."""
    if isinstance(line, LedgerEntry) and any(type(one.value) is float for one in line.answers):
        line = msgspec.structs.replace(line, answers=[_exact(one) for one in line.answers])
    return _WRITER.encode(line).decode()


def _exact(one: LedgerAnswer) -> LedgerAnswer | dict[str, object]:
    if type(one.value) is not float:
        return one
    return {"question": one.question, "value": Decimal(decimals.written(one.value))}


def around_number(line: Line) -> tuple[str, str]:
    """The text before and after the number, for a caller that learns the number only when the row is written."""
    behind = "outcome" if isinstance(line, LedgerEntry) else "recorded_at"
    before, _, after = written(line).partition(f'"number":{line.number},"{behind}":')
    return f'{before}"number":', f',"{behind}":{after}'


def read(entry: str) -> LedgerEntry:
    """Reads a response's line. Raises msgspec.MsgspecError for any other text."""
    return _READER.decode(entry)


def read_change(kind: str, entry: str) -> StandingEntry | ClosingEntry:
    """Reads a line of `survey_changes` of this kind. Raises msgspec.MsgspecError for any other text."""
    return _CLOSING.decode(entry) if kind == "closed" else _STANDING.decode(entry)


# The hash of a row as ledger/append.py and ledger/changes.py make it, in SQL, when they write the row of `head`.
ROW_HASH_SQL = "sha256(head.before || convert_to(head.entry, 'UTF8'))"


def row_hash(before: bytes, entry: str) -> bytes:
    """The hash of a row, for checking it. ROW_HASH_SQL makes the same one: change both."""
    return hashlib.sha256(before + entry.encode()).digest()


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def questions_hash(keys: Sequence[str]) -> str:
    """The hash of the RFC 8785 list of a wording's question keys, in their order."""
    return hashlib.sha256(_WRITER.encode(list(keys))).hexdigest()


def result_order(result: Result) -> tuple[str, bool, str, bool, str]:
    """By question, rows without a group first, then group, then answer; code point by code point."""
    question, grouped, joined, choice, _ = result
    return question, grouped is not None, grouped or "", joined, choice


def results_hash(results: Iterable[Result]) -> str:
    """SHA-256 of the RFC 8785 list of all results in their order."""
    return hashlib.sha256(_WRITER.encode(sorted(results, key=result_order))).hexdigest()


def instant(value: datetime) -> str:
    """An instant as the APIs write it: UTC, to the microsecond at most, ending in Z."""
    text: str = msgspec.to_builtins(value.astimezone(UTC))
    return text


def choices(answers: Iterable[LedgerAnswer]) -> set[tuple[str, str]]:
    """The rows of `survey_answers` for these answers, as (question, choice); app.surveys.models.Answer says how each
    type is stored."""
    found: set[tuple[str, str]] = set()
    for one in answers:
        question, value = one.question, one.value
        for choice in value if isinstance(value, list) else (value,):
            found.add((question, _counted(choice)))
    return found


def _counted(choice: float | str | MatrixCell | None) -> str:
    match choice:
        case None:
            return ""
        case MatrixCell():
            return f"{choice.row}{BETWEEN}{choice.choice}"
        case int() | float():
            return decimals.written(choice)
    return choice
