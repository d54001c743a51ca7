"""The rules for a survey's translations: how they are stored, and what is wrong with them. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from app.errors import FieldError
from app.languages import tag_of
from app.surveys import words
from app.surveys.authoring.bounds import html, line, lines, sanitised, text
from app.surveys.authoring.detail_rules import TAKEN_BY
from app.surveys.translations import NO_SURVEY_TEXTS, NO_TEXTS, QuestionTexts, SurveyTexts
from app.texts import trimmed

if TYPE_CHECKING:
    from app.surveys.authoring.definition import QuestionDefinition

MOST_LANGUAGES: Final = 30
# All translations together, in characters. So a file with everything at its limit can still be read.
MOST_TRANSLATED: Final = 200_000
NO_TAG: Final = "Give the tag of a language, such as de, pt-BR or zh-Hant."
ENDS: Final = ("low_label", "high_label")
LISTS: Final = {"options": "option", "rows": "row"}


def tidy_survey(
    translations: Mapping[str, SurveyTexts], questions: Iterable["QuestionDefinition"]
) -> dict[str, SurveyTexts]:
    """The stored form, for tidied questions: it has each language with a text, and no others."""
    tidied = {tag_of(one) or one: _tidy_texts(texts) for one, texts in translations.items()}
    used = {one for question in questions for one in question.translations}
    kept = used | {one for one, texts in tidied.items() if texts != NO_SURVEY_TEXTS}
    return {one: tidied.get(one, NO_SURVEY_TEXTS) for one in sorted(kept)}


def _tidy_texts(texts: SurveyTexts) -> SurveyTexts:
    return SurveyTexts(trimmed(texts.title), sanitised(texts.message), sanitised(texts.closing_html))


def tidy_question(translations: Mapping[str, QuestionTexts]) -> dict[str, QuestionTexts]:
    """Texts in NFC and trimmed, without languages that have no text."""
    tidied = {tag_of(one) or one: _tidy_question(texts) for one, texts in translations.items()}
    return {one: tidied[one] for one in sorted(tidied) if tidied[one] != NO_TEXTS}


def _tidy_question(texts: QuestionTexts) -> QuestionTexts:
    return QuestionTexts(
        label=trimmed(texts.label),
        options=_tidy_list(texts.options),
        low_label=trimmed(texts.low_label),
        high_label=trimmed(texts.high_label),
        rows=_tidy_list(texts.rows),
    )


def _tidy_list(texts: Sequence[str]) -> tuple[str, ...]:
    """A missing text keeps its place; an empty value is not a list."""
    tidied = tuple(map(trimmed, texts))
    return tidied if any(tidied) else ()


def problems(
    language: str, translations: Mapping[str, SurveyTexts], questions: Sequence["QuestionDefinition"]
) -> Iterator[FieldError]:
    """Problems with the languages of a tidied definition, at "language" and below "translations"."""
    if tag_of(language) is None:
        yield FieldError("language", NO_TAG)
    if len(translations) > MOST_LANGUAGES:
        yield FieldError("translations", f"At most {MOST_LANGUAGES} languages beside its own.")
    elif (size := _size(translations, questions)) > MOST_TRANSLATED:
        told = f"All translations together have at most {MOST_TRANSLATED:,} characters; these have {size:,}."
        yield FieldError("translations", told)
    for one in [*translations][:MOST_LANGUAGES]:
        yield from _of_language(f"translations.{one}", one, language)
        yield from _of_survey(f"translations.{one}", translations[one])
        for number, question in enumerate(questions[: words.MOST_QUESTIONS]):
            texts = question.translations.get(one, NO_TEXTS)
            yield from _of_question(f"translations.{one}.questions.{number}", question, texts)


def _size(translations: Mapping[str, SurveyTexts], questions: Iterable["QuestionDefinition"]) -> int:
    around = sum(len(one.title) + len(one.message) + len(one.closing_html) for one in translations.values())
    asked = [one for question in questions for one in question.translations.values()]
    return around + sum(
        len("".join((one.label, one.low_label, one.high_label, *one.options, *one.rows))) for one in asked
    )


def _of_language(field: str, one: str, own: str) -> Iterator[FieldError]:
    if tag_of(one) is None:
        yield FieldError(field, NO_TAG)
    elif one == tag_of(own):
        yield FieldError(field, "This is the survey’s own language. Write these texts into the survey itself.")


def _of_survey(field: str, texts: SurveyTexts) -> Iterator[FieldError]:
    yield from line(f"{field}.title", texts.title, words.LONGEST_TITLE)
    yield from html(f"{field}.message", texts.message)
    yield from html(f"{field}.closing_html", texts.closing_html)


def _of_question(field: str, question: "QuestionDefinition", texts: QuestionTexts) -> Iterator[FieldError]:
    yield from text(f"{field}.label", texts.label, words.LONGEST_LABEL)
    for name in ENDS:
        yield from line(f"{field}.{name}", getattr(texts, name), words.LONGEST_END)
    for name, what in LISTS.items():
        yield from _list(f"{field}.{name}", what, own_list(question, name), getattr(texts, name))
    if question.type not in TAKEN_BY["low_label"] and (texts.low_label or texts.high_label):
        yield FieldError(f"{field}.low_label", "This kind of question takes no words for its ends; leave this out.")


def _list(field: str, what: str, own: Sequence[str], given: Sequence[str]) -> Iterator[FieldError]:
    if given and len(given) != len(own):
        told = f"Give one text for each {what} of the question, in its order: {len(own)}, not {len(given)}."
        yield FieldError(field, told)
    else:
        yield from lines(field, tuple(filter(None, given)), what)


def own_list(question: "QuestionDefinition", name: str) -> tuple[str, ...]:
    """The question's own `options` or `rows`."""
    return question.details.rows if name == "rows" else question.options
