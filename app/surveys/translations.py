"""A survey in more languages than its own: the texts beside its own texts, by language tag. Pure.

A language tag is one of BCP 47, in its usual spelling (`de`, `pt-BR`, `zh-Hant`). What is not translated is empty here, and is written
nowhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
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
_NOTHING: Final = frozenset[str]()


def candidates(wanted: Iterable[str]) -> list[str]:
    """The tags that would do, best first: the first of them that a survey has is the one that the person gets. `languages.best` says the
    same of a list; this is for a statement that looks for itself."""
    return list(_candidates(tuple(wanted)))


@lru_cache(maxsize=1024)
def _candidates(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Thousands of requests come with the same few headers."""
    shorter = (one for tag in wanted for one in languages.shortened(tag.lower()))
    return tuple(dict.fromkeys(spelled for one in shorter if (spelled := languages.tag_of(one))))


def written(texts: QuestionTexts | SurveyTexts) -> dict[str, Any]:
    """As JSON holds it, without what is missing."""
    told = {name: getattr(texts, name) for name in texts.__struct_fields__}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in told.items() if one}


def written_all(by_tag: Mapping[str, QuestionTexts] | Mapping[str, SurveyTexts]) -> dict[str, dict[str, Any]] | None:
    """The same of each language, None when there is none."""
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


def spoken(label: str, options: tuple[str, ...], details: QuestionDetails, texts: Mapping[str, Any]) -> Spoken:
    """`texts` as `written` wrote them. Text by text: what is not translated stays in the survey's own language. The options are one text here, and so
    are the rows, and the words for both ends: where one of them is missing all are the own ones, so that no list mixes two languages."""
    own = [] if texts.get("label") else ["label"]
    read_options = _whole(options, texts.get("options", ())) if options else ()
    if options and not read_options:
        own.append("options")
    in_language = details
    if details.rows or details.low_label or details.high_label:
        in_language, left = _details(details, texts)
        own += left
    return Spoken(
        texts.get("label") or label, read_options or options, in_language, frozenset(own) if own else _NOTHING
    )


def _details(details: QuestionDetails, texts: Mapping[str, Any]) -> tuple[QuestionDetails, list[str]]:
    """Rows and words for ends in the language, and which of them stay the own ones."""
    rows = _whole(details.rows, texts.get("rows", ()))
    ends = _whole((details.low_label, details.high_label), (texts.get("low_label", ""), texts.get("high_label", "")))
    low, high = ends or (details.low_label, details.high_label)
    read = structs.replace(details, low_label=low, high_label=high, rows=rows or details.rows)
    return read, [name for name, one in (("rows", rows), ("ends", ends)) if not one]


def _whole(own: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """All of them, or nothing where one that the survey has is missing."""
    if len(own) != len(texts) or (
        "" in texts and any(mine and not text for mine, text in zip(own, texts, strict=True))
    ):
        return ()
    return tuple(texts) if any(texts) else ()
