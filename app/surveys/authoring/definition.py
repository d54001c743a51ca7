"""A survey's definition: its fields, their bounds, and what publishing needs. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from app.errors import FieldError, Invalid
from app.languages import tag_of
from app.surveys import question_types, words
from app.surveys.authoring import anonymity, content, detail_rules, repeat_rules, translation_rules
from app.surveys.authoring.bounds import html, line, lines, sanitised, text
from app.surveys.authoring.field_names import name_of
from app.surveys.question_details import NO_DETAILS, QuestionDetails
from app.surveys.rounds.repeats import Repeat, between
from app.surveys.translations import DEFAULT, QuestionTexts, SurveyTexts
from app.texts import trimmed

# Times outside of it do not exist in every zone.
YEARS: Final = (1970, 9998)
_MOST_TOLD: Final = 3
# Both are sanitised by the same rules.
HTML_FIELDS: Final = ("message", "closing_html")


@dataclass(frozen=True, slots=True)
class QuestionDefinition:
    """`key` is its permanent id; None until it is first saved. `options` are in the order in which they are shown;
    `translations` are the texts of other languages by their tags."""

    key: UUID | None
    label: str
    type: str
    options: tuple[str, ...] = ()
    required: bool = False
    details: QuestionDetails = NO_DETAILS
    translations: Mapping[str, QuestionTexts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """`split` is the group of people that an anonymous answer keeps, None for none. `message` and `closing_html`, the
    author's words after an answer, are HTML; `starts_at` and `ends_at` are aware; a blank audience is everyone. Pacing
    of None means the default, and is always None in a required survey. `language` is the tag of the texts here;
    `translations`, in a tidied definition, has every other language with a text, even of a single question. With
    `repeat`, each round has its own window, and the definition has none; `remind_days` is after how many days people
    are reminded."""

    title: str
    type: str
    enforcement: str
    message: str = ""
    closing_html: str = ""
    anonymity: str = "named"
    split: str | None = None
    category: str | None = None
    user_types: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    snooze_hours: int | None = None
    cooldown_days: int | None = None
    max_prompts: int | None = None
    language: str = DEFAULT
    translations: Mapping[str, SurveyTexts] = field(default_factory=dict)
    repeat: Repeat | None = None
    remind_days: int | None = None
    questions: tuple[QuestionDefinition, ...] = ()

    @property
    def content(self) -> str:
        """The canonical text of what people are asked, for a tidied definition."""
        return content.canonical(
            title=self.title,
            message=self.message,
            closing_html=self.closing_html,
            type=self.type,
            enforcement=self.enforcement,
            questions=self.questions,
            language=self.language,
            translations=self.translations,
            anonymity=self.anonymity,
            split=self.split,
        )

    @property
    def is_anonymous(self) -> bool:
        return self.anonymity == "anonymous"

    @property
    def content_hash(self) -> str:
        return content.content_hash(self.content)

    @property
    def agreement(self) -> QuestionDefinition | None:
        return next((one for one in self.questions if one.type == "agreement"), None)


def checked(definition: Definition) -> Definition:
    """The tidied definition. Raises Invalid with every problem at its field."""
    tidied = tidy(definition)
    if found := problems(tidied):
        raise refusal("The survey can't be saved", found)
    return tidied


def refusal(what: str, found: list[FieldError], called: Callable[[str], str] | None = None) -> Invalid:
    """One line with the first problems, and all problems at their fields. `called` names a field; by default with
    people's words for it. In a file, a name may be anything."""
    called = called or name_of
    told = "; ".join(f"{called(one.field)}: {one.message.removesuffix('.')}" for one in found[:_MOST_TOLD])
    more = f" And {len(found) - _MOST_TOLD} more." if len(found) > _MOST_TOLD else ""
    return Invalid(f"{what}. {' '.join(told.split())}.{more}", details=found)


def tidy(definition: Definition) -> Definition:
    """The stored form: texts in NFC and trimmed, message and closing words sanitised, an agreement required, pacing
    only where it applies."""
    required = definition.enforcement == "required"
    questions = tuple(_tidy_question(one, place) for place, one in enumerate(definition.questions))
    return replace(
        definition,
        title=trimmed(definition.title),
        message=sanitised(definition.message),
        closing_html=sanitised(definition.closing_html),
        category=trimmed(definition.category or "") or None,
        user_types=tuple(sorted(set(definition.user_types))),
        tenants=tuple(sorted(set(definition.tenants))),
        snooze_hours=_pace(definition.snooze_hours, words.DEFAULT_SNOOZE_HOURS, required),
        cooldown_days=_pace(definition.cooldown_days, words.DEFAULT_COOLDOWN_DAYS, required),
        max_prompts=_pace(definition.max_prompts, words.DEFAULT_MAX_PROMPTS, required),
        language=tag_of(trimmed(definition.language)) or definition.language,
        translations=translation_rules.tidy_survey(definition.translations, questions),
        questions=questions,
    )


def _tidy_question(question: QuestionDefinition, place: int) -> QuestionDefinition:
    return replace(
        question,
        label=trimmed(question.label),
        options=tuple(filter(None, map(trimmed, question.options))),
        required=question.required or question.type == "agreement",
        details=detail_rules.tidy(question.details, first=place == 0),
        translations=translation_rules.tidy_question(question.translations),
    )


def _pace(value: int | None, default: int, required: bool) -> int | None:  # noqa: FBT001 - the survey's enforcement
    if required:
        return None
    return default if value is None else value


def problems(definition: Definition) -> list[FieldError]:
    """Why a tidied definition can't be saved, each problem at its field: "title", "questions.0.label" and so on."""
    return [
        *line("title", definition.title, words.LONGEST_TITLE, needed="Give the survey a title."),
        *_one_of("type", definition.type, words.TYPES),
        *_one_of("enforcement", definition.enforcement, words.ENFORCEMENTS),
        *html("message", definition.message),
        *html("closing_html", definition.closing_html),
        *anonymity.problems(definition),
        *line("category", definition.category or "", words.LONGEST_CATEGORY),
        *_window(definition.starts_at, definition.ends_at),
        *between("snooze_hours", definition.snooze_hours, words.SNOOZE_HOURS, "hours"),
        *between("cooldown_days", definition.cooldown_days, words.COOLDOWN_DAYS, "days"),
        *between("max_prompts", definition.max_prompts, words.MAX_PROMPTS, "times"),
        *repeat_rules.problems(definition),
        *between("remind_days", definition.remind_days, words.REMIND_DAYS, "days"),
        *_questions(definition.questions),
        *translation_rules.problems(definition.language, definition.translations, definition.questions),
    ]


def _questions(questions: tuple[QuestionDefinition, ...]) -> Iterator[FieldError]:
    if len(questions) > words.MOST_QUESTIONS:
        yield FieldError("questions", f"At most {words.MOST_QUESTIONS} questions; these are {len(questions):,}.")
    keys = Counter(one.key for one in questions if one.key)
    agreements = 0
    for number, one in enumerate(questions[: words.MOST_QUESTIONS]):
        field = f"questions.{number}"
        yield from _question(field, one)
        if one.key and keys[one.key] > 1:
            yield FieldError(field, "Two questions have the same id.")
        agreements += one.type == "agreement"
        if one.type == "agreement" and agreements > 1:
            yield FieldError(f"{field}.type", "At most one question can be the agreement.")
        yield from detail_rules.problems(field, questions, number)


def _question(field: str, question: QuestionDefinition) -> Iterator[FieldError]:
    yield from text(f"{field}.label", question.label, words.LONGEST_LABEL, needed="Give the question its text.")
    yield from _one_of(f"{field}.type", question.type, question_types.QUESTION_TYPES)
    yield from _options(f"{field}.options", question)


def _options(field: str, question: QuestionDefinition) -> Iterator[FieldError]:
    options = question.options
    if options and question.type in question_types.QUESTION_TYPES and question.type not in question_types.WITH_OPTIONS:
        kind = question_types.QUESTION_TYPES[question.type].lower()
        yield FieldError(field, f"This kind of question ({kind}) takes no options; remove them.")
    else:
        yield from lines(field, options, "option")


def _one_of(field: str, word: str, known: Iterable[str]) -> Iterator[FieldError]:
    if word not in known:
        yield FieldError(field, f"Choose one of {', '.join(known)}.")


def _window(starts_at: datetime | None, ends_at: datetime | None) -> Iterator[FieldError]:
    first, last = YEARS
    far = [
        FieldError(field, f"Give a time in the years {first} to {last}.")
        for field, at in (("starts_at", starts_at), ("ends_at", ends_at))
        if at and not first <= at.year <= last
    ]
    yield from far
    if starts_at and ends_at and not far and starts_at >= ends_at:
        yield FieldError("ends_at", "The end must be after the start.")


def unpublishable(definition: Definition, now: datetime) -> list[FieldError]:
    """Why a checked definition can't be published."""
    found = unaskable(definition)
    found += repeat_rules.over(definition, now)
    if definition.ends_at and definition.ends_at <= now:
        found.append(FieldError("ends_at", "This end is in the past. Give a later end, or leave it empty."))
    return found


def unaskable(definition: Definition) -> list[FieldError]:
    """Why a checked definition can't be asked at any time."""
    found = [] if definition.questions else [FieldError("questions", "Add at least one question.")]
    found += anonymity.unaskable(definition)
    for number, one in enumerate(definition.questions):
        if one.type in question_types.WITH_OPTIONS and len(one.options) < words.FEWEST_OPTIONS:
            needed = f"Give at least {words.FEWEST_OPTIONS} options, one a line."
            found.append(FieldError(f"questions.{number}.options", needed))
        if one.type == "matrix" and not one.details.rows:
            found.append(FieldError(f"questions.{number}.rows", "Give at least one row, one a line."))
    return found
