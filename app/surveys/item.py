"""One survey as a person sees it, in the API and in the prompt: what is shown, and what may be answered. Pure."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from app.surveys import showing, words
from app.surveys.question_details import NO_DETAILS, QuestionDetails
from app.surveys.translations import DEFAULT


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """`label` and the words for the ends are what the person reads; `options`, the rows and the condition are in the
    survey's own words, which are recorded. `said_options` and `said_rows` are in the language that the person reads, ()
    when that is the own one; `own` names what stays in the survey's own language (`translations.Spoken`)."""

    key: UUID
    label: str
    type: str
    options: tuple[str, ...]
    required: bool
    details: QuestionDetails = NO_DETAILS
    said_options: tuple[str, ...] = ()
    said_rows: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()

    @property
    def is_translated(self) -> bool:
        return bool(self.said_options or self.said_rows)

    @property
    def read_options(self) -> tuple[str, ...]:
        """The options as the person reads them, in the order of `options`."""
        return self.said_options or self.options

    @property
    def read_rows(self) -> tuple[str, ...]:
        return self.said_rows or self.details.rows

    def read_values(self, values: tuple[int | str, ...]) -> tuple[int | str, ...]:
        """The values of a condition on this question, in the words that the person reads."""
        read: dict[int | str, str] = dict(zip(self.options, self.read_options, strict=True))
        return tuple(read.get(one, one) for one in values)


@dataclass(frozen=True, slots=True)
class Item:
    """`workspace` is where the survey was written: the caller's own, or the platform. `message_html` is sanitised, and
    so is `closing_html`, which is shown after an answer. `language` is the tag of what the person reads, `own` names
    the texts in the survey's own language, `own_language`. `is_first_in`: no person has seen the version in this other
    language yet."""

    workspace: str
    survey: UUID
    version: int
    content_hash: str
    type: str
    enforcement: str
    title: str
    message_html: str
    category: str | None
    ends_at: datetime | None
    questions: tuple[ItemQuestion, ...]
    closing_html: str = ""
    language: str = DEFAULT
    own_language: str = DEFAULT
    has_translations: bool = False
    own: frozenset[str] = frozenset()
    is_first_in: bool = False
    anonymity: str = "named"
    split: str | None = None

    @property
    def is_anonymous(self) -> bool:
        return self.anonymity == "anonymous"

    @property
    def promise(self) -> tuple[str, ...]:
        """What people read before they answer an anonymous survey, in sentences; empty for other surveys."""
        if not self.is_anonymous:
            return ()
        return (words.ANONYMOUS_PROMISE, *filter(None, [words.SPLIT_PROMISES.get(self.split or "")]))

    @property
    def agreement(self) -> ItemQuestion | None:
        return next((one for one in self.questions if one.type == "agreement"), None)

    @property
    def pages(self) -> tuple[tuple[tuple[int, ItemQuestion], ...], ...]:
        """The questions with their numbers, from 1, page by page."""
        found: list[list[tuple[int, ItemQuestion]]] = []
        for number, one in enumerate(self.questions, 1):
            if one.details.page or not found:
                found.append([])
            found[-1].append((number, one))
        return tuple(map(tuple, found))

    def condition_of(self, question: ItemQuestion) -> str:
        """When it is shown, in words; "" for always."""
        condition = question.details.show_if
        if condition and self.has_translations:
            values = self.questions[condition.question - 1].read_values(condition.values)
            condition = replace(condition, values=values)
        return showing.sentence(self.questions, condition)

    def lang_of(self, name: str, question: ItemQuestion | None = None) -> str:
        """The tag of one text: of the survey ("title", "message", "closing_html"), or of one of its questions. "" when
        the survey does not say: it has one language, which its author may not have checked."""
        if not self.has_translations and self.language == DEFAULT:
            return ""
        return self.own_language if name in (question.own if question else self.own) else self.language

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that `respond` accepts, in their order."""
        answers = ("agree", "decline") if self.agreement else ("answer",)
        return answers if self.enforcement == "required" else (*answers, "snooze", "opt_out")
