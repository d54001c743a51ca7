"""One survey as the end-user API returns it: the shapes of the rows, and what a caller may ask of them. No route
here."""

from html import escape
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from app.api.envelope import Instant
from app.bodies import TOLD
from app.languages import LONGEST_TAG
from app.surveys import decimals, question_details
from app.surveys.api.field_types import Sha256, Version
from app.surveys.authoring import content
from app.surveys.question_details import ABILITIES, NO_DETAILS, QuestionDetails
from app.surveys.words import (
    LONGEST_CATEGORY,
    LONGEST_END,
    LONGEST_LABEL,
    LONGEST_MESSAGE,
    LONGEST_OPTION,
    LONGEST_TITLE,
    LONGEST_UNIT,
    MOST_NPS,
    MOST_OPTIONS,
    MOST_QUESTIONS,
)
from app.texts import instant
from app.wording.speech import Speech

# The language of the person, in requests and answers.
TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
_NO_TAG = {TOLD: "Write a language tag such as de or pt-BR."}
Language = Annotated[
    str, msgspec.Meta(pattern=TAG, max_length=LONGEST_TAG, description="A language tag: `de`, `pt-BR`.", extra=_NO_TAG)
]
Kind = Literal["rating", "consent", "poll", "feedback"]
QuestionKind = Literal[
    "agreement",
    "star_rating",
    "scale",
    "single_choice",
    "multiple_choice",
    "free_text",
    "nps",
    "number",
    "date",
    "matrix",
]
Action = Literal["answer", "agree", "decline", "snooze", "opt_out"]
Html = Annotated[str, msgspec.Meta(max_length=LONGEST_MESSAGE, description="Sanitised: it may be shown as it stands.")]


# With what people must read before they answer an anonymous survey, in any language.
_LONGEST_SHOWN = LONGEST_MESSAGE + 3_000
_ShownHtml = Annotated[
    str,
    msgspec.Meta(
        max_length=_LONGEST_SHOWN,
        description="Sanitised: it may be shown as it stands. Of an anonymous survey it begins with `anonymity_text`, except for an "
        "app that says `anonymity` in `can`, and shows that text by itself.",
    ),
]
Option = Annotated[str, msgspec.Meta(max_length=LONGEST_OPTION)]
Options = Annotated[list[Option], msgspec.Meta(max_length=MOST_OPTIONS)]
End = Annotated[str, msgspec.Meta(max_length=LONGEST_END)]
Bound = Annotated[float, msgspec.Meta(ge=-decimals.LARGEST, le=decimals.LARGEST)]


# A condition may name values of stars or of a score.
Score = Annotated[int, msgspec.Meta(ge=0, le=MOST_NPS)]


class ShowIf(msgspec.Struct, kw_only=True):
    """`question` is the id of an earlier question. While that question has no answer or is hidden itself, this one is
    hidden too."""

    question: UUID
    is_: Literal["in", "not_in"] = msgspec.field(name="is")
    values: Annotated[list[Score | Option], msgspec.Meta(min_length=1, max_length=MOST_OPTIONS)]


class QuestionRow(msgspec.Struct, kw_only=True):
    """The fields after `required` are present only when the question has them and the call said `can`."""

    question: UUID
    label: Annotated[str, msgspec.Meta(max_length=LONGEST_LABEL)]
    type: QuestionKind
    options: Options
    required: bool
    low_label: End | msgspec.UnsetType = msgspec.UNSET
    high_label: End | msgspec.UnsetType = msgspec.UNSET
    min: Bound | msgspec.UnsetType = msgspec.UNSET
    max: Bound | msgspec.UnsetType = msgspec.UNSET
    unit: Annotated[str, msgspec.Meta(max_length=LONGEST_UNIT)] | msgspec.UnsetType = msgspec.UNSET
    rows: Options | msgspec.UnsetType = msgspec.UNSET
    page: bool | msgspec.UnsetType = msgspec.UNSET
    show_if: ShowIf | msgspec.UnsetType = msgspec.UNSET


class SurveyRow(msgspec.Struct, kw_only=True):
    """`language` is that of the texts. It is present when the survey has translations, and when the call said `lang` or
    `can`. `anonymity` and `anonymity_text` are present only when the survey is anonymous."""

    survey: UUID
    version: Version
    content_hash: Sha256
    type: Kind
    enforcement: Literal["optional", "required"]
    title: Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)]
    message_html: _ShownHtml
    message_text: Annotated[str, msgspec.Meta(max_length=_LONGEST_SHOWN)]
    category: Annotated[str, msgspec.Meta(max_length=LONGEST_CATEGORY)] | None
    ends_at: Instant | None
    actions: Annotated[list[Action], msgspec.Meta(min_length=1, max_length=4)]
    questions: Annotated[list[QuestionRow], msgspec.Meta(max_length=MOST_QUESTIONS)]
    language: Language | msgspec.UnsetType = msgspec.UNSET
    anonymity: Literal["anonymous"] | msgspec.UnsetType = msgspec.UNSET
    anonymity_text: (
        Annotated[
            str, msgspec.Meta(max_length=LONGEST_MESSAGE, description="What people must read before they answer.")
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET


class QueueCall(msgspec.Struct, kw_only=True, frozen=True):
    """What the app can show, and which languages the person reads."""

    can: (
        Annotated[
            str,
            msgspec.Meta(
                pattern=r"^[a-z_]+(,[a-z_]+)*$",
                max_length=200,
                description="What the app can show beside the first six types of questions: words of `nps`, `number`, `date`, `matrix` and "
                "`conditions`, with commas between, and `anonymity` if it shows `anonymity_text` by itself. A survey that needs another one is "
                "not in the answer. Unknown words are passed over.",
                extra={TOLD: f"Write words such as {','.join(ABILITIES)}, with commas and no blanks between."},
            ),
        ]
        | None
    ) = None

    lang: (
        Annotated[
            str,
            msgspec.Meta(
                pattern=TAG,
                max_length=LONGEST_TAG,
                description="A language tag such as `de` or `pt-BR`, before what the account and `Accept-Language` say. A survey without it comes "
                "in its own language.",
                extra=_NO_TAG,
            ),
        ]
        | None
    ) = None

    @property
    def shows_promise(self) -> bool:
        """True when the app itself shows `anonymity_text`."""
        return "anonymity" in self.abilities

    @property
    def abilities(self) -> frozenset[str]:
        return frozenset((self.can or "").split(","))


def row_of(item: Any, call: QueueCall, speech: Speech) -> SurveyRow:
    """An app that does not say what it can show gets no field that it may not know. `speech`: how Muster speaks to the
    person."""
    detailed = call.can is not None
    promise = " ".join(speech(one) for one in item.promise)
    message = item.message_html
    if promise and not call.shows_promise:
        message = f"<p>{escape(promise, quote=False)}</p>\n{message}"
    row = SurveyRow(
        anonymity="anonymous" if item.is_anonymous else msgspec.UNSET,
        anonymity_text=promise or msgspec.UNSET,
        survey=item.survey,
        version=item.version,
        content_hash=item.content_hash,
        type=item.type,
        enforcement=item.enforcement,
        title=item.title,
        message_html=message,
        message_text=content.plain_text(message),
        category=item.category,
        ends_at=instant(item.ends_at),
        actions=list(item.actions),
        questions=[_question_row(item, one, detailed=detailed) for one in item.questions],
    )
    if detailed or call.lang or item.has_translations:
        row.language = item.language
    return row


def _question_row(item: Any, one: Any, *, detailed: bool) -> QuestionRow:
    row = QuestionRow(
        question=one.key, label=one.label, type=one.type, options=list(one.read_options), required=one.required
    )
    if not detailed or one.details is NO_DETAILS:
        return row
    if one.details.show_if is None or one.details != QuestionDetails(show_if=one.details.show_if):
        for name, value in question_details.written(one.details).items():
            setattr(row, name, value)
    if row.rows:
        row.rows = list(one.read_rows)
    if condition := one.details.show_if:
        asked = item.questions[condition.question - 1]
        values = asked.read_values(condition.values) if item.has_translations else condition.values
        row.show_if = ShowIf(question=asked.key, is_=condition.word, values=list(values))
    return row
