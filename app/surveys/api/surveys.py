"""The survey half of the end-user API, its router and its document."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, Router, get, post
from litestar.di import NamedDependency

from app.api import bodies, parameters, sign_in
from app.api.envelope import Count, Instant, Uid, answer
from app.api.openapi import POSTED, Endpoint, document
from app.api.parameters import Nothing
from app.api.tokens import TokenGuard
from app.bodies import fitted
from app.errors import FieldError, InvalidBody
from app.surveys.api import apps as api_apps
from app.surveys.api import mine as api_mine
from app.surveys.api import open_surveys
from app.surveys.api.field_types import Outcome, Sha256, Version
from app.surveys.api.queue_rows import Action, Html, Language, QueueCall, SurveyRow, row_of
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import queue as asking
from app.surveys.asking import responding
from app.surveys.asking.responding import SentReply
from app.surveys.ledger import answers
from app.surveys.ledger.answers import Given
from app.surveys.words import MOST_IN_QUEUE
from app.texts import instant, uuid_of
from app.web.context import Context
from app.web.guards import public
from app.web.site import ApiDocument

PREFIX = "/v1/api"
VERSION = "1"
_IN_ANSWERS = re.compile(r"answers\.(\d+)")
# A body of 64 KiB holds no more, so these limits refuse nothing. If a value fits its question is checked with the
# question at hand.
LONGEST_VALUE, MOST_VALUES, MOST_ANSWERS = bodies.LARGEST_BODY, bodies.LARGEST_BODY // 3, bodies.LARGEST_BODY // 16

_TEXT = {"type": "string", "maxLength": LONGEST_VALUE}
_CELL = {
    "type": "object",
    "properties": {"row": _TEXT, "choice": _TEXT},
    "required": ["row", "choice"],
    "additionalProperties": False,
}
_VALUES = (
    {"type": "integer", "minimum": -(2**53), "maximum": 2**53},
    {"type": "number", "minimum": -(2**53), "maximum": 2**53},
    _TEXT,
    {"type": "array", "items": {"anyOf": [_TEXT, _CELL]}, "maxItems": MOST_VALUES},
    {"type": "null"},
)
# Read as it comes: if it does not fit, the refusal names the question and not the place in the body.
Value = Annotated[Any, msgspec.Meta(extra_json_schema={"anyOf": list(_VALUES)})]


class QueueMeta(msgspec.Struct, kw_only=True):
    """`pending`: how many surveys may be shown in all, counted before this call's impression."""

    pending: Count


class GivenAnswer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """`value`: 1-5 for stars, 0-10 for an NPS, an option's text, a list of option texts, a number of at most 6
    decimals, a day such as 2026-11-25, a list of {row, choice}, or a text up to 5000 characters."""

    question: Uid
    value: Value


class RespondBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """With `version` or `content_hash`, the answer is recorded only for these words. `language` is the one in which the
    person read the options; without it the rule of `me/surveys` decides."""

    survey: Uid
    action: Action
    answers: Annotated[list[GivenAnswer], msgspec.Meta(max_length=MOST_ANSWERS)] | None = None
    version: Version | None = None
    content_hash: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
    language: Language | None = None


class Receipt(msgspec.Struct, kw_only=True):
    """`receipt` is the row's hash in the ledger. A snooze writes no row: it has only `snoozed_until`. `closing_html` is
    what the author says after an answer, null when there is nothing."""

    status: Literal["recorded", "already_recorded", "snoozed", "opted_out"]
    survey: UUID
    version: Version
    outcome: Outcome | None
    recorded_at: Instant | None
    receipt: Sha256 | None
    snoozed_until: Instant | None
    closing_html: Html | None


@get("/me/surveys", guards=[TokenGuard("me", module="surveys", policy="me_surveys")])
async def me_surveys(ctx: NamedDependency[Context]) -> Response[bytes]:
    call = parameters.read(QueueCall, ctx.request.query_params)
    pending = await asking.pending(replace(respondent_of(ctx), can=call.abilities), ctx)
    rows = [row_of(item, call, ctx.asked_in) for item in pending.items]
    return answer(rows, meta=QueueMeta(pending=pending.total))


@post("/me/surveys/respond", guards=[TokenGuard("me", module="surveys", policy="me_surveys_respond")], status_code=200)
async def me_surveys_respond(ctx: NamedDependency[Context]) -> Response[bytes]:
    reply = _reply(await bodies.document(ctx.request))
    parameters.read(Nothing, ctx.request.query_params)
    return answer(_receipt(await responding.respond(respondent_of(ctx), ctx, reply, "api")))


def _reply(document: dict[str, Any]) -> SentReply:
    try:
        body = fitted(RespondBody, document)
    except InvalidBody as refused:
        details = [_of_its_question(one, document.get("answers")) for one in refused.details]
        named, shapes = {one.field for one in details}, answers.malformed(tuple(_readable(document.get("answers"))))
        details += [one for one in shapes if one.field not in named]
        raise InvalidBody(refused.message, details=details) from None
    given = tuple(Given(UUID(one.question), one.value) for one in body.answers or ())
    return SentReply(UUID(body.survey), body.action, given, body.version, body.content_hash, body.language)


def _readable(sent: Any) -> Iterator[Given]:
    """The answers of a faulty body that have a question and a value."""
    for one in sent if isinstance(sent, list) else ():
        question = uuid_of(str(one.get("question"))) if isinstance(one, dict) else None
        if question and "value" in one:
            yield Given(question, one["value"])


def _of_its_question(wrong: FieldError, given: Any) -> FieldError:
    """With the question's id in place of a path such as `answers.0.value`, when that answer has one."""
    place = _IN_ANSWERS.match(wrong.field)
    one = given[int(place[1])] if place else None
    question = uuid_of(str(one.get("question"))) if isinstance(one, dict) else None
    return FieldError(str(question), wrong.message) if question else wrong


def _receipt(given: Any) -> Receipt:
    return Receipt(
        status=given.status,
        survey=given.survey,
        version=given.version,
        outcome=given.outcome,
        recorded_at=instant(given.recorded_at),
        receipt=given.receipt,
        snoozed_until=instant(given.snoozed_until),
        closing_html=given.closing_html,
    )


ENDPOINTS = (
    *api_apps.ENDPOINTS,
    Endpoint(
        "GET",
        f"{PREFIX}/me/surveys",
        "The surveys and consents that wait for the caller, most urgent first. Each call counts one impression of the first: "
        "fetch to present, never poll.",
        Annotated[list[SurveyRow], msgspec.Meta(max_length=MOST_IN_QUEUE)],
        QueueCall,
        QueueMeta,
        scope="me",
    ),
    Endpoint(
        "POST",
        f"{PREFIX}/me/surveys/respond",
        "Answers, agrees, declines, puts off or opts out. The same once more is `already_recorded`, with the first receipt.",
        Receipt,
        body=RespondBody,
        errors=POSTED,
        scope="me",
    ),
    *open_surveys.endpoints(PREFIX),
    *api_mine.ENDPOINTS,
    *sign_in.ENDPOINTS,
)  # fmt: skip


def openapi_document(base_url: str) -> dict[str, Any]:
    return document("Muster end-user API", VERSION, base_url, ENDPOINTS)


DOCUMENT = ApiDocument(
    "end-user",
    "End-user API",
    "For mobile apps that act for one person: sign in, fetch and answer surveys, rate apps.",
    f"{PREFIX}/openapi.json",
    openapi_document,
)


@get("/openapi.json", guards=[public])
async def openapi(ctx: NamedDependency[Context]) -> dict[str, Any]:
    return openapi_document(ctx.parts.settings.base_url)


ROUTER = Router(
    path=PREFIX,
    route_handlers=[
        *api_apps.ROUTES,
        me_surveys,
        me_surveys_respond,
        *open_surveys.ROUTES,
        *api_mine.ROUTES,
        *sign_in.ROUTES,
        openapi,
    ],
    request_max_body_size=bodies.LARGEST_BODY,
)
