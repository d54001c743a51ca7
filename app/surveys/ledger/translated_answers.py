"""Translates answers between the language of the person and the survey's own words, which are counted. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from msgspec import structs

from app.surveys import question_details
from app.surveys.item import ItemQuestion
from app.surveys.ledger.answers import Given, nfc
from app.surveys.ledger.chain import MatrixCell
from app.surveys.translations import candidates, spoken

Told = int | float | str | list[str | MatrixCell] | None
# Marks a text that the language does not have, even if it is one of the survey's own options: no option contains this
# character.
_NOT_IN_IT = "\x01"


class _Content(msgspec.Struct):
    """The part of a canonical content that languages need; a question is an object with its details among its keys."""

    questions: list[dict[str, Any]]
    language: str = ""
    translations: dict[str, dict[str, Any]] = {}


def questions_in(content: str, keys: Sequence[str], languages: Iterable[str]) -> tuple[ItemQuestion, ...]:
    """The questions of a canonical content by id, as a person with these languages, best first, reads them."""
    told = msgspec.json.decode(content, type=_Content)
    tag = next((one for one in candidates(languages) if one == told.language or one in told.translations), None)
    texts = told.translations.get(tag or "", {}).get("questions", {})
    return tuple(
        question_in(
            (UUID(key), one["label"], one["type"], tuple(one["options"]), one["required"], question_details.read(one)),
            None if tag in (None, told.language) else texts.get(str(number), {}),
        )
        for number, (key, one) in enumerate(zip(keys, told.questions, strict=True), 1)
    )


def question_in(own: tuple[Any, ...], texts: Mapping[str, Any] | None) -> ItemQuestion:
    """`own` has the first six fields of an ItemQuestion in the survey's own language, `texts` a QuestionTexts as it is
    stored. The queue makes one of each question."""
    if texts is None:
        return ItemQuestion(*own)
    key, label, kind, options, required, details = own
    read = spoken(label, options, details, texts)
    with_own_rows = structs.replace(read.details, rows=details.rows) if details.rows else read.details
    return ItemQuestion(
        key, read.label, kind, options, required, with_own_rows, read.options, read.details.rows, read.own
    )


def in_own_words(questions: Sequence[ItemQuestion], given: Sequence[Given]) -> tuple[Given, ...]:
    """Answers in the texts that the person read, as answers in the survey's own texts. An unknown text becomes one that
    no question accepts."""
    asked = {one.key: one for one in questions if one.is_translated}
    if not asked:
        return tuple(given)
    return tuple(
        Given(one.question, _own(asked[one.question], one.value)) if one.question in asked else one for one in given
    )


def _own(question: ItemQuestion, value: Any) -> Any:
    options = dict(zip(question.read_options, question.options, strict=True))
    match value:
        case str() if question.options:
            return _found(options, value)
        case list() if question.type == "matrix":
            rows = dict(zip(question.read_rows, question.details.rows, strict=True))
            return [_own_cell(rows, options, one) for one in value]
        case list() | tuple() if question.options:
            return [_found(options, one) for one in value]
    return value


def _own_cell(rows: Mapping[str, str], options: Mapping[str, str], cell: Any) -> Any:
    if not isinstance(cell, dict) or cell.keys() != {"row", "choice"}:
        return cell
    return {"row": _found(rows, cell["row"]), "choice": _found(options, cell["choice"])}


def _found(known: Mapping[str, str], text: Any) -> Any:
    """Only blanks are no answer in any language."""
    if not isinstance(text, str) or not text.strip():
        return text
    return known.get(nfc(text), _NOT_IN_IT + text)


def as_read(question: ItemQuestion, value: Told) -> Told:
    """A recorded answer in the words that the person read."""
    options = dict(zip(question.options, question.read_options, strict=True))
    match value:
        case list():
            rows = dict(zip(question.details.rows, question.read_rows, strict=True))
            return [
                options.get(one, one)
                if isinstance(one, str)
                else MatrixCell(rows.get(one.row, one.row), options.get(one.choice, one.choice))
                for one in value
            ]
        case str():
            return options.get(value, value)
    return value
