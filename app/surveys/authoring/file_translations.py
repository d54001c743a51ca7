"""The translations in a survey's file. Pure.

`translations: {tag: {title, message, closing_html, questions: {id: {…}}}}`, where an id is the question's own
`question` in that file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import msgspec

from app.bodies import fitted
from app.errors import FieldError, InvalidBody
from app.languages import tag_of
from app.surveys import translations
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.translations import QuestionTexts, SurveyTexts

_NO_QUESTION: Final = "No question of this file has “{}” as its question."
B = TypeVar("B", bound=msgspec.Struct)


class FileQuestionTexts(msgspec.Struct, forbid_unknown_fields=True):
    """A question of the file in another language."""

    label: str | None = None
    options: list[str] | None = None
    low_label: str | None = None
    high_label: str | None = None
    rows: list[str] | None = None


class FileTexts(msgspec.Struct, forbid_unknown_fields=True):
    """One language of the file."""

    title: str | None = None
    message: str | None = None
    closing_html: str | None = None
    questions: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FileLanguage:
    """The texts of one language: those around the questions, and those of questions by their names in the file."""

    around: FileTexts
    questions: dict[str, FileQuestionTexts]


def read(given: Mapping[str, Any], names: Sequence[str | None]) -> dict[str, FileLanguage]:
    """By language. `names` are the file's names of its questions. Raises InvalidBody with every key that is wrong, such
    as a language that is there twice or a question that the file does not have."""
    wrong: list[FieldError] = []
    found, seen = {}, set()
    for tag, told in given.items():
        spelled, at = tag_of(tag) or tag, f"translations.{tag}"
        if spelled in seen:
            wrong.append(FieldError(at, f"The language {spelled} is there twice; give it once."))
        seen.add(spelled)
        around = _fitted(FileTexts, told, at, wrong)
        asked = (around and around.questions) or {}
        unknown = [name for name in asked if name not in names]
        wrong += [FieldError(f"{at}.questions", _NO_QUESTION.format(name[:60])) for name in unknown]
        texts = {
            name: one
            for name, told in asked.items()
            if (one := _fitted(FileQuestionTexts, told, f"{at}.questions.{name}", wrong))
        }
        found[tag] = FileLanguage(around or FileTexts(), texts)
    if wrong:
        raise InvalidBody("Some translations can't be used.", details=wrong)
    return found


def _fitted(kind: type[B], told: Any, at: str, wrong: list[FieldError]) -> B | None:
    """As `fitted`, but adds what is wrong to the other problems."""
    if not isinstance(told, dict):
        wrong.append(FieldError(at, "Give an object."))
        return None
    try:
        return fitted(kind, told)
    except InvalidBody as refused:
        wrong += [FieldError(f"{at}.{one.field}", one.message) for one in refused.details]
    return None


def around(by_tag: Mapping[str, FileLanguage]) -> dict[str, SurveyTexts]:
    """The texts around the questions, by language."""
    every = {tag: one.around for tag, one in by_tag.items()}
    return {tag: SurveyTexts(one.title or "", one.message or "", one.closing_html or "") for tag, one in every.items()}


def given(
    by_tag: Mapping[str, FileLanguage], names: Sequence[str | None], questions: Sequence[QuestionDefinition]
) -> tuple[QuestionDefinition, ...]:
    """The questions of the file, each with its texts. If two have one name, the first is meant, as in conditions."""
    texts: dict[int, dict[str, QuestionTexts]] = {}
    for tag, one in by_tag.items():
        for name, told in one.questions.items():
            texts.setdefault(names.index(name), {})[tag] = _texts(told)
    return tuple(replace(one, translations=texts.get(place, {})) for place, one in enumerate(questions))


def _texts(told: FileQuestionTexts) -> QuestionTexts:
    return QuestionTexts(
        label=told.label or "",
        options=tuple(told.options or ()),
        low_label=told.low_label or "",
        high_label=told.high_label or "",
        rows=tuple(told.rows or ()),
    )


def written(definition: Definition, names: Sequence[str | None]) -> dict[str, Any]:
    """A tidied definition's translations as a file holds them; `names` are the questions' names there."""
    found = {}
    for tag, texts in definition.translations.items():
        asked = {
            str(name): translations.written(one.translations[tag])
            for name, one in zip(names, definition.questions, strict=True)
            if tag in one.translations
        }
        told = {**translations.written(texts), **({"questions": asked} if asked else {})}
        found[tag] = told
    return found
