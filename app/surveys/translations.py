"""A survey in more languages than its own: the texts beside its own texts, by language tag. Pure.

A language tag is one of BCP 47, in its usual spelling (`de`, `pt-BR`, `zh-Hant`). What is not translated is empty here, and is written
nowhere.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from app import languages
from app.surveys.question_details import QuestionDetails

# The own language of a survey that does not say one.
DEFAULT: Final = "en"


class QuestionTexts(msgspec.Struct, frozen=True):
    """A question in another language. `options` and `rows` stand in the order of the question's own, "" for one that is missing."""

    label: str = ""
    options: tuple[str, ...] = ()
    low_label: str = ""
    high_label: str = ""
    rows: tuple[str, ...] = ()


class SurveyTexts(msgspec.Struct, frozen=True):
    """What stands around the questions, in another language. `message` and `closing_html` are HTML."""

    title: str = ""
    message: str = ""
    closing_html: str = ""


NO_TEXTS: Final = QuestionTexts()
NO_SURVEY_TEXTS: Final = SurveyTexts()


def candidates(wanted: Iterable[str]) -> list[str]:
    """The tags that would do, best first: the first of them that a survey has is the one that the person gets. `languages.best` says the
    same of a list; this is for a statement that looks for itself."""
    shorter = (one for tag in wanted for one in languages.shortened(tag.lower()))
    return list(dict.fromkeys(spelled for one in shorter if (spelled := languages.tag_of(one))))


def written(texts: QuestionTexts | SurveyTexts) -> dict[str, Any]:
    """As JSON holds it, without what is missing."""
    told = {name: getattr(texts, name) for name in texts.__struct_fields__}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in told.items() if one}


def written_all(by_tag: Mapping[str, QuestionTexts] | Mapping[str, SurveyTexts]) -> dict[str, dict[str, Any]] | None:
    """The same of each language, None where there is none."""
    return {language: written(by_tag[language]) for language in sorted(by_tag)} or None


def question_texts(stored: Mapping[str, Any] | None) -> QuestionTexts:
    """What `written` wrote; other keys are passed over."""
    return msgspec.convert(stored, QuestionTexts) if stored else NO_TEXTS


def survey_texts(stored: Mapping[str, Any] | None) -> SurveyTexts:
    return msgspec.convert(stored, SurveyTexts) if stored else NO_SURVEY_TEXTS


class Spoken(msgspec.Struct, frozen=True):
    """A question as a person reads it. `own` names what stands in the survey's own language, for want of a translation: "label", "options",
    "ends", "rows"."""

    label: str
    options: tuple[str, ...]
    details: QuestionDetails
    own: frozenset[str] = frozenset()


def spoken(label: str, options: tuple[str, ...], details: QuestionDetails, texts: QuestionTexts) -> Spoken:
    """Text by text: what is not translated stays in the survey's own language. The options are one text here, and so are the rows, and the
    words for both ends: where one of them is missing all are the own ones, so that no list mixes two languages."""
    read_options, read_rows = _whole(options, texts.options), _whole(details.rows, texts.rows)
    ends = _whole((details.low_label, details.high_label), (texts.low_label, texts.high_label))
    read = {"label": texts.label, "options": read_options, "ends": ends, "rows": read_rows}
    low, high = ends or (details.low_label, details.high_label)
    in_language = structs.replace(details, low_label=low, high_label=high, rows=read_rows or details.rows)
    own = frozenset(name for name, one in read.items() if not one)
    return Spoken(texts.label or label, read_options or options, in_language, own)


def _whole(own: tuple[str, ...], texts: tuple[str, ...]) -> tuple[str, ...]:
    """All of them, or nothing where one that the survey has is missing."""
    complete = len(own) == len(texts) and all(text or not mine for mine, text in zip(own, texts, strict=True))
    return texts if complete and any(texts) else ()
