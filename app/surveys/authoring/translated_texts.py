"""Every text of a survey that can be translated, one by one under a name, beside its translation. Pure.

A name is `title`, `message` or `closing_html`, or a part of a question with its id: `label-<id>`, `options-<id>-<place
from 0>`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.surveys import words
from app.surveys.authoring.definition import HTML_FIELDS, Definition, QuestionDefinition
from app.surveys.authoring.field_names import name_of
from app.surveys.authoring.translating import with_translations
from app.surveys.authoring.translation_rules import ENDS, LISTS, own_list
from app.surveys.translations import NO_SURVEY_TEXTS, NO_TEXTS, QuestionTexts, SurveyTexts

_AROUND: Final = {
    "title": words.LONGEST_TITLE,
    "message": words.LONGEST_MESSAGE,
    "closing_html": words.LONGEST_MESSAGE,
}
_PARTS: Final = {"low_label": "Low end", "high_label": "High end"}


@dataclass(frozen=True, slots=True)
class TranslatableText:
    """`source` in the survey's own language, `text` in the other one, "" when it is missing."""

    name: str
    called: str
    source: str
    text: str
    longest: int
    is_html: bool = False

    @property
    def is_long(self) -> bool:
        return self.longest > words.LONGEST_OPTION

    @property
    def is_missing(self) -> bool:
        return not self.text


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts of one group: those around the questions, or those of one question."""

    called: str
    texts: tuple[TranslatableText, ...]


def groups(definition: Definition, tag: str) -> tuple[TextGroup, ...]:
    """The groups of a stored definition. A text that the survey does not have is left out."""
    around = TextGroup("Around the questions", tuple(_around(definition, tag)))
    asked = (TextGroup(f"Question {n}", tuple(_of(one, tag))) for n, one in enumerate(definition.questions, 1))
    return around, *asked


def _around(definition: Definition, tag: str) -> Iterator[TranslatableText]:
    texts = definition.translations.get(tag, NO_SURVEY_TEXTS)
    for name, longest in _AROUND.items():
        if source := getattr(definition, name):
            yield TranslatableText(name, name_of(name), source, getattr(texts, name), longest, name in HTML_FIELDS)


def _of(question: QuestionDefinition, tag: str) -> Iterator[TranslatableText]:
    texts = question.translations.get(tag, NO_TEXTS)
    yield TranslatableText(f"label-{question.key}", "Text", question.label, texts.label, words.LONGEST_LABEL)
    for name in ENDS:
        if source := getattr(question.details, name):
            at = f"{name}-{question.key}"
            yield TranslatableText(at, _PARTS[name], source, getattr(texts, name), words.LONGEST_END)
    for name, what in LISTS.items():
        own, given = own_list(question, name), getattr(texts, name)
        for place, source in enumerate(own):
            text = given[place] if len(given) == len(own) else ""
            at = f"{name}-{question.key}-{place}"
            yield TranslatableText(at, f"{what.capitalize()} {place + 1}", source, text, words.LONGEST_OPTION)


def texts_of(definition: Definition, tag: str) -> dict[str, TranslatableText]:
    """All of them by their names."""
    return {one.name: one for group in groups(definition, tag) for one in group.texts}


def missing(definition: Definition, tag: str) -> int:
    """How many texts have no translation."""
    return sum(one.is_missing for one in texts_of(definition, tag).values())


def with_texts(definition: Definition, tag: str, typed: Mapping[str, str]) -> Definition:
    """The definition with these texts in the language, and no others. Not yet tidied."""
    around = SurveyTexts(*(typed.get(name, "") for name in _AROUND))
    questions = tuple(
        replace(one, translations={**one.translations, tag: _typed(one, typed)}) for one in definition.questions
    )
    return replace(definition, translations={**definition.translations, tag: around}, questions=questions)


def _typed(question: QuestionDefinition, typed: Mapping[str, str]) -> QuestionTexts:
    def listed(name: str) -> tuple[str, ...]:
        return tuple(typed.get(f"{name}-{question.key}-{place}", "") for place in range(len(own_list(question, name))))

    low, high = (typed.get(f"{name}-{question.key}", "") for name in ENDS)
    return QuestionTexts(typed.get(f"label-{question.key}", ""), listed("options"), low, high, listed("rows"))


def name_at(definition: Definition, field: str) -> str:
    """The name of the text at the error path `translations.<tag>.…`, "" for the language as a whole."""
    parts = field.split(".")[2:]
    if len(parts) != 3:  # noqa: PLR2004 - questions, number, part
        return ".".join(parts)
    _, number, part = parts
    name = f"{part}-{definition.questions[int(number)].key}"
    return f"{name}-0" if part in LISTS else name


def merged(then: Definition, typed: Mapping[str, str], now: Definition, tag: str) -> dict[str, str]:
    """What was typed over `then` when somebody else has saved `now`, under the names of `now`: texts that the person
    did not change are the new ones."""
    known = {name: one.text for name, one in texts_of(then, tag).items()}
    was, is_typed = _moved(then, known, now, tag), _moved(then, {**known, **typed}, now, tag)
    return {
        name: one.text if is_typed[name] == was[name] else is_typed[name] for name, one in texts_of(now, tag).items()
    }


def _moved(then: Definition, texts: Mapping[str, str], now: Definition, tag: str) -> dict[str, str]:
    """Moves texts from the names of `then` to those of `now`: an option or a row that still exists keeps its text at
    its new place."""
    over = with_translations(now, with_texts(then, tag, texts))
    return {name: one.text for name, one in texts_of(over, tag).items()}
