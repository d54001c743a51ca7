"""One survey as a person meets it, in the API and in the prompt: what is shown, what may be answered. Pure."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.surveys import showing
from app.surveys.question_details import NO_DETAILS, QuestionDetails


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    key: UUID
    label: str
    type: str
    options: tuple[str, ...]
    required: bool
    details: QuestionDetails = NO_DETAILS


@dataclass(frozen=True, slots=True)
class Item:
    """`workspace` is where the survey lives: the caller's own, or the platform. `message_html` is sanitised,
    and so is `closing_html`, which is shown after an answer."""

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
        return showing.sentence(self.questions, question.details.show_if)

    @property
    def actions(self) -> tuple[str, ...]:
        """Which actions `respond` takes, in their order."""
        answers = ("agree", "decline") if self.agreement else ("answer",)
        return answers if self.enforcement == "required" else (*answers, "snooze", "opt_out")
