"""Which translations stay when the editor's form, which has none, is saved over a survey. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.authoring.detail_rules import TAKEN_BY
from app.surveys.authoring.translation_rules import ENDS, LISTS, own_list, tidy_question
from app.surveys.translations import QuestionTexts


def with_translations(typed: Definition, stored: Definition) -> Definition:
    """The typed definition with the stored translations; a question that stays keeps its own."""
    before = {one.key: one for one in stored.questions}
    questions = tuple(
        replace(one, translations=carried(before[one.key], one)) if one.key in before else one
        for one in typed.questions
    )
    return replace(typed, translations=stored.translations, questions=questions)


def carried(before: QuestionDefinition, now: QuestionDefinition) -> dict[str, QuestionTexts]:
    """The translations of a question that somebody changed in its own language: an option or a row that still exists
    keeps its translation at its new place, a new one has none. What the new type does not have is dropped."""
    return tidy_question({one: _carried(before, now, texts) for one, texts in before.translations.items()})


def _carried(before: QuestionDefinition, now: QuestionDefinition, texts: QuestionTexts) -> QuestionTexts:
    lists = {name: _aligned(own_list(before, name), getattr(texts, name), own_list(now, name)) for name in LISTS}
    ends = {} if now.type in TAKEN_BY["low_label"] else dict.fromkeys(ENDS, "")
    return structs.replace(texts, **lists, **ends)


def _aligned(before: Sequence[str], texts: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    known = dict(zip(before, texts, strict=False))
    return tuple(known.get(one, "") for one in now)
