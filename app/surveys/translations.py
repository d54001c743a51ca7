"""A survey in more languages than its own: the translations beside its own texts, by language tag. Pure.

A language tag is one of BCP 47, in its usual spelling (`de`, `pt-BR`, `zh-Hant`). A missing translation is empty here,
and is written nowhere.
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
    """A question in another language. `options` and `rows` are in the order of the question's own, "" for a missing
    one."""

    label: str = ""
    options: tuple[str, ...] = ()
    low_label: str = ""
    high_label: str = ""
    rows: tuple[str, ...] = ()


class SurveyTexts(msgspec.Struct, frozen=True):
    """The texts around the questions, in another language. `message` and `closing_html` are HTML."""

    title: str = ""
    message: str = ""
    closing_html: str = ""


NO_TEXTS: Final = QuestionTexts()
NO_SURVEY_TEXTS: Final = SurveyTexts()
_NOTHING: Final = frozenset[str]()


def candidates(wanted: Iterable[str]) -> list[str]:
    """The acceptable tags, best first: the person gets the first of them that the survey has. `languages.best` does the
    same with a list; this is for a statement that looks for itself."""
    return list(_candidates(tuple(wanted)))


@lru_cache(maxsize=1024)
def _candidates(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Cached: thousands of requests come with the same few headers."""
    shorter = (one for tag in wanted for one in languages.shortened(tag.lower()))
    return tuple(dict.fromkeys(spelled for one in shorter if (spelled := languages.tag_of(one))))


def written(texts: QuestionTexts | SurveyTexts) -> dict[str, Any]:
    """The JSON form, without missing texts."""
    told = {name: getattr(texts, name) for name in texts.__struct_fields__}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in told.items() if one}


def written_all(by_tag: Mapping[str, QuestionTexts] | Mapping[str, SurveyTexts]) -> dict[str, dict[str, Any]] | None:
    """The same for each language, None when there is none."""
    return {language: written(by_tag[language]) for language in sorted(by_tag)} or None


def question_texts(stored: Mapping[str, Any] | None) -> QuestionTexts:
    """Reads what `written` wrote; ignores other keys."""
    return msgspec.convert(stored, QuestionTexts) if stored else NO_TEXTS


def survey_texts(stored: Mapping[str, Any] | None) -> SurveyTexts:
    return msgspec.convert(stored, SurveyTexts) if stored else NO_SURVEY_TEXTS


class Spoken(msgspec.Struct, frozen=True):
    """A question as a person reads it. `own` names the texts in the survey's own language, because their translation is
    missing: "label", "options", "ends", "rows"."""

    label: str
    options: tuple[str, ...]
    details: QuestionDetails
    own: frozenset[str] = frozenset()


def spoken(label: str, options: tuple[str, ...], details: QuestionDetails, texts: Mapping[str, Any]) -> Spoken:
    """`texts` are what `written` wrote. Each missing text stays in the survey's own language. The options count as one
    text, and so do the rows, and the words for both ends: if one of them is missing, all are the survey's own, so that
    no list mixes two languages."""
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
    """Rows and words for the ends in the language, and which of them stay in the survey's own."""
    rows = _whole(details.rows, texts.get("rows", ()))
    ends = _whole((details.low_label, details.high_label), (texts.get("low_label", ""), texts.get("high_label", "")))
    low, high = ends or (details.low_label, details.high_label)
    read = structs.replace(details, low_label=low, high_label=high, rows=rows or details.rows)
    return read, [name for name, one in (("rows", rows), ("ends", ends)) if not one]


def _whole(own: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """All of them, or nothing when a text that the survey has is missing."""
    if len(own) != len(texts) or (
        "" in texts and any(mine and not text for mine, text in zip(own, texts, strict=True))
    ):
        return ()
    return tuple(texts) if any(texts) else ()
