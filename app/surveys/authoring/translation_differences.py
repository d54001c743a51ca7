"""How the translations of two definitions differ. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.surveys.authoring.definition import HTML_FIELDS, Definition, QuestionDefinition
from app.surveys.authoring.field_names import name_of
from app.surveys.translations import NO_SURVEY_TEXTS, NO_TEXTS

_AROUND = ("title", "message", "closing_html")
_ASKED = ("label", "options", "low_label", "high_label", "rows")
# As in the survey's own language: a version with answers may take these, unless it is an agreement.
_CORRECTABLE = frozenset({*_AROUND, "label"})


class TranslationDifference(NamedTuple):
    """One text of one language; `is_html` when only the markup may differ."""

    language: str
    field: str
    name: str
    before: str
    after: str
    correction: bool
    is_html: bool = False


def compare(old: Definition, new: Definition) -> Iterator[TranslationDifference]:
    """A language that was added or removed is one difference; a question that was is none here."""
    for tag in sorted({*old.translations, *new.translations}):
        field = f"translations.{tag}"
        if tag not in old.translations:
            yield TranslationDifference(tag, field, f"{name_of(field)}, added", "", new.translations[tag].title, False)
        elif tag not in new.translations:
            yield TranslationDifference(
                tag, field, f"{name_of(field)}, removed", old.translations[tag].title, "", False
            )
        else:
            yield from _around(tag, old, new)
            yield from _questions(tag, old.questions, new.questions)


def _around(tag: str, old: Definition, new: Definition) -> Iterator[TranslationDifference]:
    were, are = old.translations.get(tag, NO_SURVEY_TEXTS), new.translations.get(tag, NO_SURVEY_TEXTS)
    for part in _AROUND:
        before, after = getattr(were, part), getattr(are, part)
        if before != after:
            yield _difference(tag, part, before, after)


def _questions(
    tag: str, old: Sequence[QuestionDefinition], new: Sequence[QuestionDefinition]
) -> Iterator[TranslationDifference]:
    before = {one.key: one for one in old}
    for number, one in enumerate(new):
        if one.key not in before:
            continue
        were, are = (asked.translations.get(tag, NO_TEXTS) for asked in (before[one.key], one))
        for part in _ASKED:
            was, is_now = getattr(were, part), getattr(are, part)
            if was != is_now:
                yield _difference(tag, f"questions.{number}.{part}", was, is_now)


def _difference(
    tag: str, at: str, before: str | tuple[str, ...], after: str | tuple[str, ...]
) -> TranslationDifference:
    field, part = f"translations.{tag}.{at}", at.rpartition(".")[2]
    shown = [one if isinstance(one, str) else " · ".join(text or "–" for text in one) for one in (before, after)]
    return TranslationDifference(
        tag, field, name_of(field), shown[0], shown[1], part in _CORRECTABLE, part in HTML_FIELDS
    )
