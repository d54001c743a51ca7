"""How two definitions of a survey differ, and which differences need a new version. Pure."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.dates import utc_time
from app.surveys import decimals, question_types, showing, words
from app.surveys.authoring import translation_differences
from app.surveys.authoring.content import plain_text
from app.surveys.authoring.definition import HTML_FIELDS, Definition, QuestionDefinition
from app.surveys.authoring.field_names import name_of
from app.surveys.rounds.repeats import Repeat

_CONTENT: Final = frozenset({"title", "message", "closing_html", "type", "enforcement", "anonymity", "split"})
# Its language names the texts, which stay. So it counts as content only when people can choose another language.
_CORRECTABLE: Final = frozenset({"title", "message", "closing_html", "language"})
_PLAIN: Final = (
    "title",
    "type",
    "enforcement",
    "message",
    "closing_html",
    "anonymity",
    "split",
    "category",
    "user_types",
    "tenants",
    "starts_at",
    "ends_at",
    "snooze_hours",
    "cooldown_days",
    "max_prompts",
    "language",
    "repeat",
    "remind_days",
)
_DETAILS: Final = ("low_label", "high_label", "min", "max", "unit", "rows", "page")
NOTHING: Final = "–"
_LABELS: Final = {
    "type": words.TYPES,
    "enforcement": words.ENFORCEMENTS,
    "anonymity": words.ANONYMITIES,
    "split": words.SPLITS,
}
_ALWAYS: Final = "Always shown"
# A question among all of its survey.
_Placed = tuple[Sequence[QuestionDefinition], QuestionDefinition]


@dataclass(frozen=True, slots=True)
class DefinitionDifference:
    """`field` is where the form shows it, `name` what people call it; `content` says whether people are asked something
    else, `correction` whether a version with answers may take it, `language` in which translation it is, "" for the
    survey's own texts."""

    field: str
    name: str
    before: str
    after: str
    content: bool = False
    correction: bool = False
    language: str = ""


def compare(old: Definition, new: Definition, names: words.Names = words.BARE_KEYS) -> tuple[DefinitionDifference, ...]:
    """Compares two tidied definitions, in the order of the form; shows an audience by `names`."""
    return (*_fields(old, new, names), *_questions(old.questions, new.questions), *_translations(old, new))


def merge(then: Definition, typed: Definition, now: Definition) -> tuple[Definition, frozenset[str]]:
    """What a form shows that was opened over `then` and finds `now`: what was typed, and the new values in the fields
    that the author did not change. All questions are one field. Second: the fields that both sides changed, to
    different values."""
    fields = (*_PLAIN, "questions", "translations")
    alone = {field for field in fields if _to_seconds(getattr(typed, field)) == _to_seconds(getattr(then, field))}
    contested = {
        field
        for field in fields
        if field not in alone and getattr(now, field) not in (getattr(then, field), getattr(typed, field))
    }
    return replace(typed, **{field: getattr(now, field) for field in alone}), frozenset(contested)


def need_new_version(old: Definition, new: Definition, shown: Collection[str] = ()) -> tuple[DefinitionDifference, ...]:
    """What a version with answers can't take: everything except corrections, and any change of content of an agreement.
    `shown` are the languages, beside its own, in which people saw it: the texts of others may change."""
    agreed = old.agreement or new.agreement
    met = (one for one in compare(old, new) if not one.language or one.language in shown)
    return tuple(one for one in met if one.content and (agreed or not one.correction))


def _fields(old: Definition, new: Definition, names: words.Names) -> Iterator[DefinitionDifference]:
    for field in _PLAIN:
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            both = (_shown(field, before, names), _shown(field, after, names))
            shown = _messages(before, after) if field in HTML_FIELDS else both
            content = field in _CONTENT or (field == "language" and bool(old.translations))
            yield DefinitionDifference(field, name_of(field), *shown, content, field in _CORRECTABLE)


def _translations(old: Definition, new: Definition) -> Iterator[DefinitionDifference]:
    for one in translation_differences.compare(old, new):
        before, after = _messages(one.before, one.after) if one.is_html else (one.before, one.after)
        shown = (before or NOTHING, after or NOTHING)
        yield DefinitionDifference(
            one.field, one.name, *shown, content=True, correction=one.correction, language=one.language
        )


def _to_seconds(value: Any) -> Any:
    """Times to the second, as a form shows them."""
    return value.replace(microsecond=0) if isinstance(value, datetime) else value


def _messages(before: str, after: str) -> tuple[str, str]:
    """Compared without markup, unless only the markup differs."""
    plain = plain_text(before), plain_text(after)
    return plain if plain[0] != plain[1] else (before, after)


def _shown(field: str, value: Any, names: words.Names) -> str:
    if field == "user_types":
        return names.of_types(value) or "Everyone"
    if field == "tenants":
        return names.of_workspaces(value) or "Everyone"
    if isinstance(value, datetime):
        return utc_time(value, None)
    if isinstance(value, Repeat):
        return value.sentence
    labels = _LABELS.get(field, {})
    return NOTHING if value in (None, "") else labels.get(value, str(value))


def _questions(old: Sequence[QuestionDefinition], new: Sequence[QuestionDefinition]) -> Iterator[DefinitionDifference]:
    were = {one.key: (number, one) for number, one in enumerate(old)}
    are = {one.key for one in new}
    for number, one in enumerate(new):
        if one.key not in were:
            yield DefinitionDifference(
                f"questions.{number}", f"Question {number + 1}, added", NOTHING, one.label, content=True
            )
        else:
            yield from _parts(number, were[one.key][1], one)
            yield from _conditions(number, (old, were[one.key][1]), (new, one))
    for key, (number, one) in were.items():
        if key not in are:
            yield DefinitionDifference("questions", f"Question {number + 1}, removed", one.label, NOTHING, content=True)
    before, after = _order(old, are), _order(new, set(were))
    if before != after:
        labels = {one.key: one.label for one in new}
        was, is_now = (" · ".join(labels[key] for key in keys) for keys in (before, after))
        yield DefinitionDifference("questions", "Order of the questions", was, is_now, content=True)


def _order(questions: Sequence[QuestionDefinition], others: set[UUID | None]) -> list[UUID]:
    """The keys of questions that are in both."""
    return [one.key for one in questions if one.key is not None and one.key in others]


def _parts(number: int, old: QuestionDefinition, new: QuestionDefinition) -> Iterator[DefinitionDifference]:
    for part in ("label", "type", "options", "required", *_DETAILS):
        before, after = _value(old, part), _value(new, part)
        if before != after:
            field = f"questions.{number}.{part}"
            shown = _part(part, before), _part(part, after)
            yield DefinitionDifference(field, name_of(field), *shown, content=True, correction=part == "label")


def _conditions(number: int, old: _Placed, new: _Placed) -> Iterator[DefinitionDifference]:
    """A condition on the same question as before counts as unchanged, wherever that question is now."""
    if _asked(*old) != _asked(*new):
        field = f"questions.{number}.show_if"
        before, after = (showing.sentence(among, one.details.show_if) or _ALWAYS for among, one in (old, new))
        yield DefinitionDifference(field, name_of(field), before, after, content=True)


def _asked(among: Sequence[QuestionDefinition], one: QuestionDefinition) -> Any:
    condition = one.details.show_if
    if condition is None or not 1 <= condition.question <= len(among):
        return condition
    return among[condition.question - 1].key, condition.negated, condition.values


def _value(question: QuestionDefinition, part: str) -> Any:
    return getattr(question.details if part in _DETAILS else question, part)


def _part(part: str, value: Any) -> str:
    match part:
        case "options" | "rows":
            return " · ".join(value) or NOTHING
        case "required" | "page":
            return "Yes" if value else "No"
        case "type":
            return question_types.QUESTION_TYPES[value]
        case "min" | "max":
            return NOTHING if value is None else decimals.written(value)
        case _:
            return str(value) or NOTHING
