"""A survey as a file: strict JSON in, and out. What it may hold: app.surveys.authoring.definition. If its question ids
are kept: app.surveys.authoring.actions."""

import codecs
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from app.bodies import fitted
from app.errors import FieldError, Invalid, InvalidBody
from app.outbound import strict_json
from app.surveys import question_details
from app.surveys.authoring import file_translations
from app.surveys.authoring.definition import Definition, QuestionDefinition, refusal
from app.surveys.authoring.file_translations import FileLanguage
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.rounds import repeats
from app.surveys.rounds.repeats import Repeat
from app.surveys.translations import DEFAULT
from app.texts import instant, uuid_of

if TYPE_CHECKING:
    from app.surveys.authoring.stored import Stored

FORMAT: Final = "muster.survey/1"
# An export also says these; they belong to that survey and moment, so reading ignores them.
EXPORTED: Final = ("survey", "workspace", "status", "version", "content_hash", "published_at", "exported_at")
LARGEST_FILE: Final = 8 * 1024 * 1024  # In bytes: everything at its limit, every character escaped.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)


class _Condition(msgspec.Struct, forbid_unknown_fields=True):
    """`question` is the `question` of an earlier question in the file."""

    question: str
    values: list[int | str]
    is_: Literal["in", "not_in"] = msgspec.field(default="in", name="is")


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    type: str
    question: str | None = None
    options: list[str] | None = None
    required: bool | None = None
    low_label: str | None = None
    high_label: str | None = None
    min: int | float | None = None
    max: int | float | None = None
    unit: str | None = None
    rows: list[str] | None = None
    page: bool | None = None
    show_if: _Condition | None = None


class _Repeat(msgspec.Struct, forbid_unknown_fields=True):
    every: str
    open_days: int
    starts_on: str
    days: int | None = None
    times: int | None = None


class _File(msgspec.Struct):
    title: str
    type: str
    enforcement: str
    format: str = FORMAT
    message: str | None = None
    closing_html: str | None = None
    anonymity: str | None = None
    split: str | None = None
    category: str | None = None
    user_types: list[str] | None = None
    tenants: list[str] | None = None
    starts_at: str | None = None
    ends_at: str | None = None
    snooze_hours: int | None = None
    cooldown_days: int | None = None
    max_prompts: int | None = None
    repeat: _Repeat | None = None
    remind_days: int | None = None
    questions: list[_Question] | None = None
    language: str | None = None
    translations: dict[str, Any] | None = None


def read(raw: bytes) -> Definition:
    """The definition in a file, not yet checked. An id that is not a UUID is not ours, so its question is a new one.

    Raises Invalid, with the name of every key that is wrong, unknown or missing.
    """
    if len(raw) > LARGEST_FILE:
        raise Invalid("The file is too large to be a survey.")
    try:
        document = strict_json.decode(raw.removeprefix(codecs.BOM_UTF8))
    except strict_json.JsonError as error:
        raise Invalid(f"The file is not strict JSON: {error}.") from None
    if not isinstance(document, dict):
        raise Invalid("The file is not a survey: it must be one JSON object.")
    return from_document(document)


def from_document(document: dict[str, Any]) -> Definition:
    """As `read`, from decoded JSON."""
    try:
        file = fitted(_File, {key: value for key, value in document.items() if key not in EXPORTED})
    except InvalidBody as wrong:
        raise _refusal(list(wrong.details)) from None
    if file.format != FORMAT:
        raise _wrong("format", f"Only {FORMAT} can be read.")
    asked = file.questions or []
    languages = _languages(file, [one.question for one in asked])
    return Definition(
        title=file.title,
        type=file.type,
        enforcement=file.enforcement,
        message=file.message or "",
        closing_html=file.closing_html or "",
        anonymity=file.anonymity or "named",
        split=file.split,
        category=file.category,
        user_types=tuple(file.user_types or ()),
        tenants=tuple(file.tenants or ()),
        starts_at=_instant("starts_at", file.starts_at),
        ends_at=_instant("ends_at", file.ends_at),
        snooze_hours=file.snooze_hours,
        cooldown_days=file.cooldown_days,
        max_prompts=file.max_prompts,
        repeat=_repeat(file.repeat),
        remind_days=file.remind_days,
        language=file.language or DEFAULT,
        translations=file_translations.around(languages),
        questions=file_translations.given(languages, [one.question for one in asked], _questions(asked)),
    )


def _languages(file: _File, names: list[str | None]) -> dict[str, FileLanguage]:
    try:
        return file_translations.read(file.translations or {}, names)
    except InvalidBody as wrong:
        raise _refusal(list(wrong.details)) from None


def _questions(asked: list[_Question]) -> tuple[QuestionDefinition, ...]:
    places: dict[str, int] = {}
    for number, one in enumerate(asked, 1):
        places.setdefault(one.question or "", number)
    return tuple(_question(one, _details(number, one, places)) for number, one in enumerate(asked))


def _question(one: _Question, details: QuestionDetails) -> QuestionDefinition:
    key = uuid_of(one.question or "")
    return QuestionDefinition(key, one.label, one.type, tuple(one.options or ()), bool(one.required), details)


def _details(place: int, one: _Question, places: dict[str, int]) -> QuestionDetails:
    """Raises Invalid for a condition on a question that the file does not have."""
    condition = None
    if one.show_if:
        asked = places.get(one.show_if.question)
        if asked is None:
            told = f"No question of this file has “{one.show_if.question[:60]}” as its question."
            raise _wrong(f"questions.{place}.show_if.question", told)
        condition = Condition(asked, tuple(one.show_if.values), one.show_if.is_ == "not_in")
    return QuestionDetails(
        low_label=one.low_label or "",
        high_label=one.high_label or "",
        min=one.min,
        max=one.max,
        unit=one.unit or "",
        rows=tuple(one.rows or ()),
        page=bool(one.page),
        show_if=condition,
    )


def _instant(field: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        if _INSTANT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass  # A 13th month, a 25th hour.
    raise _wrong(field, "Give a time in UTC such as 2026-12-01T08:00:00Z.")


def _repeat(given: _Repeat | None) -> Repeat | None:
    if given is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", given.starts_on, re.ASCII):
            return Repeat(
                given.every, given.open_days, date.fromisoformat(given.starts_on), days=given.days, times=given.times
            )
    except ValueError:
        pass  # A 13th month, a 30th of February.
    raise _wrong("repeat.starts_on", "Give a day such as 2026-12-01.")


def _wrong(field: str, message: str) -> Invalid:
    return _refusal([FieldError(field, message)])


def _refusal(found: list[FieldError]) -> Invalid:
    """Names the keys as the file has them: a person who wrote "text" must read that "label" is missing."""
    return refusal("The file can't be used", found, called=str)


def document(definition: Definition) -> dict[str, Any]:
    """The definition as JSON, always in the same order. A detail is present only when a question uses it."""
    names = _names(definition.questions)
    return {
        "format": FORMAT,
        "title": definition.title,
        "type": definition.type,
        "enforcement": definition.enforcement,
        "message": definition.message,
        "closing_html": definition.closing_html,
        "anonymity": definition.anonymity,
        "split": definition.split,
        "category": definition.category,
        "user_types": list(definition.user_types),
        "tenants": list(definition.tenants),
        "starts_at": instant(definition.starts_at),
        "ends_at": instant(definition.ends_at),
        "snooze_hours": definition.snooze_hours,
        "cooldown_days": definition.cooldown_days,
        "max_prompts": definition.max_prompts,
        "repeat": repeats.written(definition.repeat),
        "remind_days": definition.remind_days,
        "questions": [
            {
                "question": name,
                "label": one.label,
                "type": one.type,
                "options": list(one.options),
                "required": one.required,
                **_written(one.details, names),
            }
            for name, one in zip(names, definition.questions, strict=True)
        ],
        "language": definition.language,
        "translations": file_translations.written(definition, names),
    }


def _names(questions: Sequence[QuestionDefinition]) -> list[str | None]:
    """The ids of the questions. If a condition or a translation names a question that was never saved, a word that is
    not an id stands for it."""
    named = {one.details.show_if.question for one in questions if one.details.show_if}
    named |= {number for number, one in enumerate(questions, 1) if one.translations}
    return [
        str(one.key) if one.key else f"q{number}" if number in named else None
        for number, one in enumerate(questions, 1)
    ]


def _written(details: QuestionDetails, names: Sequence[str | None]) -> dict[str, Any]:
    told = question_details.written(details)
    if details.show_if:
        told["show_if"] = {**told["show_if"], "question": names[details.show_if.question - 1]}
    return told


def export(stored: "Stored", now: datetime) -> dict[str, Any]:
    """The file of a stored survey, with what was known about the survey at that time."""
    return {
        **document(stored.definition),
        "survey": str(stored.uid),
        "workspace": stored.workspace,
        "status": stored.status,
        "version": stored.version,
        "content_hash": stored.content_hash,
        "published_at": instant(stored.published_at),
        "exported_at": instant(now),
    }
