"""A response as people read it: its answers in the words that the person saw, and its evidence if it can be opened.

The rows are those of app.surveys.results.queries; nothing here reads the database.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import msgspec
from msgspec import structs

from app.accounts.erased import ERASED_PERSON, GONE_ACCOUNT
from app.errors import NotFound
from app.secrets import KeyRing, SecretError
from app.surveys import decimals, question_details
from app.surveys.item import ItemQuestion
from app.surveys.ledger import chain, evidence, translated_answers
from app.surveys.ledger.evidence import Evidence
from app.surveys.ledger.translated_answers import Told
from app.surveys.results.figures import AskedQuestion
from app.surveys.translations import survey_texts
from app.surveys.words import Shown

LONGEST_SHORT = 80
# By wording, then by question id.
Labels = Mapping[int, Mapping[str, str]]


class ReadWording(msgspec.Struct):
    """The canonical content behind a hash. `message` and `closing_html` are sanitised HTML; a question is an object
    with its details among its keys."""

    title: str
    message: str
    type: str
    enforcement: str
    questions: list[dict[str, Any]]
    closing_html: str = ""
    anonymity: str = "named"
    split: str | None = None
    language: str = ""
    translations: dict[str, dict[str, Any]] = {}

    @property
    def is_anonymous(self) -> bool:
        return self.anonymity == "anonymous"


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One answer. `value` is None when a free text can no longer be read; `type` is that of the question, None when the
    row does not say."""

    question: str
    value: Told
    is_text: bool
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A row's evidence. `erased`: the person's key was destroyed; `damaged`: the key does not open it."""

    ip: str | None = None
    browser: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    token_made_by: str | None = None
    erased: bool = False
    damaged: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Which evidence there is, in words."""
        held = (
            ("IP", self.ip),
            ("Browser", self.browser),
            ("Text", self.texts),
            ("Token", self.token_made_by),
        )
        lost = (("Erased", self.erased), ("Damaged", self.damaged))
        return tuple(word for word, there in (*held, *lost) if there)


def opened(keys: KeyRing, workspace: str, row: Any) -> Opened:
    """The evidence of a response."""
    return _opened(evidence.open, keys, workspace, row)


def opened_change(keys: KeyRing, workspace: str, row: Any) -> Opened:
    """The evidence of a change of an agreement."""
    return _opened(evidence.open_change, keys, workspace, row)


def _opened(open_: Callable[..., Evidence | None], keys: KeyRing, workspace: str, row: Any) -> Opened:
    if row.erased_at is not None:
        return Opened(erased=True)
    try:
        found = open_(keys, workspace, row) or Evidence()
    except SecretError:
        return Opened(damaged=True)
    return Opened(found.ip, found.browser, found.texts, found.token_made_by)


def answers(row: Any, found: Opened) -> Iterator[ShownAnswer]:
    """In the order of the questions."""
    types = getattr(row, "question_types", None) or {}
    for one in chain.read(row.entry).answers:
        value: Told = found.texts.get(one.question) if one.value is None else one.value
        yield ShownAnswer(one.question, value, one.value is None, types.get(one.question))


@dataclass(frozen=True, slots=True)
class ReadResponse:
    """What a person read and said, in the language in which they read it; `language` is "" when the version had one."""

    words: ReadWording
    questions: tuple[AskedQuestion, ...]
    answers: Mapping[str, ShownAnswer]
    language: str


def as_read(row: Any, found: Opened) -> ReadResponse:
    """Made from a row with the content and the question keys of its wording."""
    words = wording(row.content)
    said = {one.question: one for one in answers(row, found)}
    if row.language is None:
        return ReadResponse(words, questions(words, row.question_keys), said, "")
    texts = survey_texts(words.translations.get(row.language))
    read = ReadWording(
        texts.title or words.title,
        texts.message or words.message,
        words.type,
        words.enforcement,
        words.questions,
        texts.closing_html or words.closing_html,
        words.anonymity,
        words.split,
    )
    asked = translated_answers.questions_in(row.content, row.question_keys, (row.language,))
    told = {
        key: replace(one, value=translated_answers.as_read(question, one.value))
        for question in asked
        if (one := said.get(key := str(question.key)))
    }
    return ReadResponse(read, tuple(_read_question(one, asked) for one in asked), told, row.language)


def _read_question(one: ItemQuestion, asked: Sequence[ItemQuestion]) -> AskedQuestion:
    condition = one.details.show_if
    if condition:
        values = asked[condition.question - 1].read_values(condition.values)
        condition = structs.replace(condition, values=values)
    details = structs.replace(one.details, rows=one.read_rows, show_if=condition)
    return AskedQuestion(one.key, one.label, one.type, one.read_options, one.required, details)


def labelled(row: Any, found: Opened, words: Labels) -> list[dict[str, Any]]:
    """The answers under the labels of the row's wording, for an export; a text that can't be read is null."""
    labels = words.get(row.wording_id, {})
    return [
        {"question": one.question, "label": labels.get(one.question, one.question), "value": one.value}
        for one in answers(row, found)
    ]


def shown_of(row: Any) -> Shown:
    """How far the survey had come to the person."""
    return chain.read(row.entry).was_shown


def plain(value: Told) -> str:
    """A value as a person reads it; an en dash for a text that can no longer be read."""
    match value:
        case None:
            return "–"
        case list():
            return ", ".join(one if isinstance(one, str) else f"{one.row}: {one.choice}" for one in value)
        case int() | float():
            return decimals.written(value)
    return value


def short(one: ShownAnswer) -> str:
    """An answer in a list's cell, without its question."""
    if one.type == "star_rating":
        return f"{plain(one.value)} ★"
    text = " ".join(plain(one.value).split())
    text = text if len(text) <= LONGEST_SHORT else f"{text[: LONGEST_SHORT - 1]}…"
    return f"“{text}”" if one.is_text and one.value is not None else text


def wording(content: str) -> ReadWording:
    return msgspec.json.decode(content, type=ReadWording)


def wording_of(survey: Any, rows: Sequence[Mapping[str, Any]]) -> ReadWording:
    """The present words of a survey; `rows` are its questions."""
    asked = [{**row, **(row["details"] or {})} for row in rows]
    told = (survey.closing_html, survey.anonymity, survey.split)
    return ReadWording(survey.title, survey.message, survey.type, survey.enforcement, asked, *told)


def definition(survey: Any, version: int) -> tuple[ReadWording, tuple[AskedQuestion, ...]]:
    """The words of a version: the present ones of the current version, the last ones of an older version. `survey` is a
    row of queries.survey for that version. Raises NotFound."""
    if version == survey.version:
        rows = survey.questions or []
        words = wording_of(survey, rows)
        return words, questions(words, [row["key"] for row in rows])
    if survey.wording is None:
        raise NotFound(f"This survey has no version {version}.")
    words = wording(survey.wording)
    return words, questions(words, survey.wording_keys)


def questions(words: ReadWording, keys: Sequence[str]) -> tuple[AskedQuestion, ...]:
    """The questions of a wording by id."""
    return tuple(
        AskedQuestion(
            UUID(key),
            one["label"],
            one["type"],
            tuple(one["options"]),
            one["required"],
            question_details.read(one),
        )
        for key, one in zip(keys, words.questions, strict=True)
    )


def name_of(row: Any) -> str:
    """The person's name; none after they were erased. When the account is gone, the words and the number by which the
    audit names it: without a known account that is the number in the ledger."""
    if row.erased_at is not None:
        return ERASED_PERSON
    return row.name if row.name is not None else f"{GONE_ACCOUNT} {row.user_id or row.person}"
