"""What one row of the ledger says: the entry to record, its line in the chain, its columns, and the row as it was read.

append.py writes and reads it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from app.surveys.ledger import chain
from app.surveys.ledger.answers import Answered, Value
from app.surveys.ledger.evidence import Evidence
from app.surveys.words import Shown

# Stored characters at most: senders choose what their browser is called, and what a proxy says of their address.
LONGEST_IP, LONGEST_BROWSER = 100, 500


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be recorded. `user_id` is the account that answers; `answers` are those of `answers.read`;
    `wording_id` and `content_hash` are those of the words that the person saw; `shown` says how far this version had
    come to them, `token_made_by` who made the API token they used, if it was somebody else."""

    survey_id: int
    survey: UUID
    version: int
    wording_id: int
    content_hash: str
    user_id: int
    outcome: str
    source: str
    answers: tuple[Answered, ...]
    ip: str | None
    browser: str | None
    recorded_at: datetime
    shown: Shown
    token_made_by: str | None = None
    language: str | None = None

    @property
    def prompted(self) -> bool:
        """True when the person had an impression."""
        return self.shown == "first"


@dataclass(frozen=True, slots=True)
class BallotToCast:
    """A sealed answer to an anonymous survey: the id of its key's row, an id of its own, and the text."""

    key_id: int
    id: UUID
    sealed: str

    def values(self) -> dict[str, Any]:
        return {"ballot_key": self.key_id, "ballot": self.id, "sealed_ballot": self.sealed}


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """A row of the ledger. `receipt` is its hash in hex; `fresh`: this call wrote it. `answers` has '' in place of free
    texts of an erased person, as if nothing had been written. `words` are the canonical content and the ids of its
    questions, when that has several languages; for a fresh row they are not read. `told`: a webhook waits for it."""

    number: int
    version: int
    outcome: str
    recorded_at: datetime
    receipt: str
    answers: tuple[Answered, ...]
    fresh: bool
    words: tuple[str, list[str]] | None = None
    told: bool = False


def free_texts(entry: Entry, types: Mapping[str, str]) -> dict[str, str]:
    """The free texts of the answers, by question id. Raises KeyError for a question that the wording does not have."""
    keyed = ((str(one.question), one.value) for one in entry.answers)
    return {key: str(value) for key, value in keyed if types[key] == "free_text"}


def personal(entry: Entry, texts: dict[str, str]) -> Evidence:
    """What the entry says of the person, to be sealed."""
    ip, browser = _cut(entry.ip, LONGEST_IP), _cut(entry.browser, LONGEST_BROWSER)
    return Evidence(ip=ip, browser=browser, texts=texts, token_made_by=entry.token_made_by)


def _cut(text: str | None, longest: int) -> str | None:
    return text[:longest] if text else None


def line_of(
    entry: Entry, person: int, said: tuple[Sequence[str], Mapping[str, str], str | None], number: int = 0
) -> chain.LedgerEntry:
    """`person` is their number; `said` has the ids of the questions, the free texts among the answers, and the sealed
    evidence. `number` 0 stands for the one that writing assigns."""
    question_keys, texts, sealed = said
    return chain.LedgerEntry(
        number=number,
        survey=str(entry.survey),
        version=entry.version,
        content_hash=entry.content_hash,
        questions=chain.questions_hash(question_keys),
        user=person,
        outcome=entry.outcome,
        source=entry.source,
        recorded_at=chain.instant(entry.recorded_at),
        prompted=entry.prompted,
        shown=msgspec.UNSET if entry.shown == "not_known" else entry.shown,
        language=entry.language or msgspec.UNSET,
        answers=[_said(one, texts) for one in entry.answers],
        evidence=None if sealed is None else chain.text_hash(sealed),
    )


def _said(one: Answered, texts: Mapping[str, str]) -> chain.LedgerAnswer:
    key = str(one.question)
    if key in texts:
        return chain.LedgerAnswer(key, None)
    return chain.LedgerAnswer(key, list(one.value) if isinstance(one.value, tuple) else one.value)


def value_of(said: chain.LedgerAnswer, texts: Mapping[str, str]) -> Value:
    if said.value is None:
        return texts.get(said.question, "")
    return tuple(said.value) if isinstance(said.value, list) else said.value


def row_of(entry: Entry, line: chain.LedgerEntry) -> dict[str, Any]:
    """The columns that do not depend on the row's place in the chain, and its projection as two arrays."""
    chosen = sorted(chain.choices(line.answers))
    before, after = chain.around_number(line)
    return {
        "survey_id": entry.survey_id,
        "version": entry.version,
        "wording_id": entry.wording_id,
        "person": line.user,
        "outcome": entry.outcome,
        "source": entry.source,
        "recorded_at": entry.recorded_at,
        "prompted": entry.prompted,
        "language": entry.language,
        "before_number": before,
        "after_number": after,
        "questions": [UUID(question) for question, _ in chosen],
        "choices": [choice for _, choice in chosen],
    }
