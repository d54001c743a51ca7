"""What the person answered, in the end-user API: the list with the words they saw, withdrawing an agreement, and giving
it again.

`app.surveys.api.surveys` mounts ROUTES.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.api import bodies, parameters
from app.api.envelope import Code, Instant, Meta, Prose, answer
from app.api.openapi import POSTED, Endpoint
from app.api.parameters import Nothing, Page
from app.api.tokens import TokenGuard
from app.surveys.api.field_types import Outcome, Sha256, Standing, Version
from app.surveys.api.queue_rows import Language
from app.surveys.api.respondent import respondent_of
from app.surveys.authoring import content
from app.surveys.mine import reading, withdrawing
from app.surveys.results.figures import DECIDED, AskedQuestion
from app.surveys.words import LONGEST_LABEL, LONGEST_OPTION, LONGEST_TITLE, MOST_OPTIONS, MOST_QUESTIONS
from app.texts import instant
from app.web.context import Context

PREFIX = "/v1/api"
MOST_ANSWERS_A_PAGE = 100
# Changes of one response, the newest ones, if a person changed it more often.
MOST_CHANGES = 100

Source = Literal["web", "api", "demo"]
AnsweredValue = Annotated[
    Any,
    msgspec.Meta(
        extra_json_schema={
            "description": "As it was sent; null where nothing was answered, the text was erased, or `outcome` is the answer."
        }
    ),
]
Given = TokenGuard("me", module="surveys")


class AnsweredQuestion(msgspec.Struct, kw_only=True):
    """`value` is as `respond` takes it. An erased free text counts as answered, with the value null; so does an
    Agreement question, whose answer is `outcome`."""

    question: UUID
    label: Annotated[str, msgspec.Meta(max_length=LONGEST_LABEL)]
    type: Code
    options: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=LONGEST_OPTION)]], msgspec.Meta(max_length=MOST_OPTIONS)
    ]
    answered: bool
    value: AnsweredValue


class AnswerChange(msgspec.Struct, kw_only=True):
    change: Literal["withdrawn", "agreed_again"]
    recorded_at: Instant
    source: Source
    receipt: Sha256


class AnswerRow(msgspec.Struct, kw_only=True):
    """`anonymity` is present only when the survey is anonymous. Then no question is `answered`, because only taking
    part is known. `outcome` is what the person said, `standing` what holds now; `can` is what they may do about it.
    Title, message and questions are the words that the person saw, in `language`, which is present when the version had
    several."""

    receipt: Sha256
    survey: UUID
    version: Version
    content_hash: Sha256
    type: Code
    title: Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)]
    message_html: Prose
    message_text: Prose
    questions: Annotated[list[AnsweredQuestion], msgspec.Meta(max_length=MOST_QUESTIONS)]
    outcome: Outcome
    standing: Standing
    recorded_at: Instant
    source: Source
    changes: Annotated[list[AnswerChange], msgspec.Meta(max_length=MOST_CHANGES)]
    can: Annotated[list[Literal["withdraw", "agree"]], msgspec.Meta(max_length=1)]
    anonymity: Literal["anonymous"] | msgspec.UnsetType = msgspec.UNSET
    language: Language | msgspec.UnsetType = msgspec.UNSET


class AnswersQuery(msgspec.Struct, kw_only=True, frozen=True):
    page: Page = 1
    per_page: Annotated[int, msgspec.Meta(ge=1, le=MOST_ANSWERS_A_PAGE, description="Rows a page.")] = 50


class NoFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """No body, or an empty object."""


class ChangedAnswer(msgspec.Struct, kw_only=True):
    """`receipt` is that of the response. `changed_at` and `change_receipt` are those of the row that gave it its
    present standing."""

    status: Literal["recorded", "already_recorded"]
    receipt: Sha256
    standing: Literal["agreed", "withdrawn"]
    changed_at: Instant
    change_receipt: Sha256


@get("/me/responses", guards=[Given])
async def me_responses(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(AnswersQuery, ctx.request.query_params)
    offset = (asked.page - 1) * asked.per_page
    found, total = await reading.answers_of(respondent_of(ctx), ctx, offset=offset, rows=asked.per_page)
    meta = Meta(page=asked.page, per_page=asked.per_page, total=total, pages=-(-total // asked.per_page))
    return answer([row_of(one) for one in found], meta=meta)


@post("/me/responses/{receipt:str}/withdraw", guards=[Given], status_code=200)
async def withdraw(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Response[bytes]:
    await _check_empty(ctx)
    return answer(_changed(await withdrawing.withdraw(respondent_of(ctx), ctx, receipt, "api")))


@post("/me/responses/{receipt:str}/agree", guards=[Given], status_code=200)
async def agree(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Response[bytes]:
    await _check_empty(ctx)
    return answer(_changed(await withdrawing.agree_again(respondent_of(ctx), ctx, receipt, "api")))


async def _check_empty(ctx: Context) -> None:
    """Accepts no body at all, or an empty object."""
    if await ctx.request.body():
        await bodies.read(NoFields, ctx.request)
    parameters.read(Nothing, ctx.request.query_params)


def _changed(told: Any) -> ChangedAnswer:
    return ChangedAnswer(
        status=told.status,
        receipt=told.receipt,
        standing=told.standing,
        changed_at=instant(told.changed_at) or "",
        change_receipt=told.change_receipt,
    )


def row_of(one: Any) -> AnswerRow:
    """A MyAnswer as the API and the download show it."""
    message = content.sanitise(one.words.message).html
    return AnswerRow(
        receipt=one.receipt,
        survey=one.survey,
        version=one.version,
        content_hash=one.content_hash,
        type=one.words.type,
        title=one.words.title,
        message_html=message,
        message_text=content.plain_text(message),
        questions=[_question(one, question) for question in one.questions],
        outcome=one.outcome,
        standing=one.standing,
        recorded_at=instant(one.recorded_at) or "",
        source=one.source,
        changes=[
            AnswerChange(
                change=change.kind,
                recorded_at=instant(change.recorded_at) or "",
                source=change.source,
                receipt=change.receipt,
            )
            for change in one.changes[-MOST_CHANGES:]
        ],
        can=[one.can] if one.can else [],
        anonymity="anonymous" if one.words.is_anonymous else msgspec.UNSET,
        language=one.language or msgspec.UNSET,
    )


def _question(one: Any, asked: AskedQuestion) -> AnsweredQuestion:
    told = one.answers.get(str(asked.key))
    is_decided = asked.type == "agreement" and one.outcome in DECIDED
    return AnsweredQuestion(
        question=asked.key,
        label=asked.label,
        type=asked.type,
        options=list(asked.options),
        answered=told is not None or is_decided,
        value=told.value if told else None,
    )


ROUTES = [me_responses, withdraw, agree]
ENDPOINTS = (
    Endpoint(
        "GET",
        f"{PREFIX}/me/responses",
        "What the caller answered, newest first, with the words they saw and what holds now",
        Annotated[list[AnswerRow], msgspec.Meta(max_length=MOST_ANSWERS_A_PAGE)],
        AnswersQuery,
        Meta,
        scope="me",
    ),
    *(
        Endpoint(
            "POST",
            f"{PREFIX}/me/responses/{{receipt}}/{act}",
            summary,
            ChangedAnswer,
            errors=POSTED,
            scope="me",
            in_path={"receipt": {"type": "string", "pattern": "^[0-9a-f]{64}$", "maxLength": 64}},
        )
        for act, summary in (
            ("withdraw", "Withdraws an agreement of the caller. A second time is `already_recorded`."),
            ("agree", "Gives it again, while that version is asked. A second time is `already_recorded`."),
        )
    ),
)
