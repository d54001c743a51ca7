"""One survey as a person meets it, in the API and in the prompt: what is shown, what may be answered. Pure."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

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
    def actions(self) -> tuple[str, ...]:
        """Which actions `respond` takes, in their order."""
        answers = ("agree", "decline") if self.agreement else ("answer",)
        return answers if self.enforcement == "required" else (*answers, "snooze", "opt_out")
