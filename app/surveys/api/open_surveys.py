"""`me/surveys/open` and `me/surveys/count`: what a person may answer now; pacing does not matter. Neither counts an
impression."""

from dataclasses import replace
from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from app.api import parameters
from app.api.envelope import Count, Meta, answer
from app.api.openapi import Endpoint
from app.api.parameters import MOST_PER_PAGE, Nothing, Page, PerPage
from app.api.tokens import TokenGuard
from app.surveys.api.queue_rows import QueueCall, SurveyRow, row_of
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import open_surveys
from app.web.context import Context

_PATH = "/me/surveys"
_GUARD = TokenGuard("me", module="surveys", policy="me_surveys")


class OpenCall(QueueCall, kw_only=True, frozen=True):
    """A QueueCall in pages."""

    page: Page = 1
    per_page: PerPage = 50


class OpenNumbers(msgspec.Struct, kw_only=True):
    """How many surveys the person may answer now, and how many of these are required."""

    open: Count
    required: Count


@get(f"{_PATH}/open", guards=[_GUARD])
async def me_surveys_open(ctx: NamedDependency[Context]) -> Response[bytes]:
    call = parameters.read(OpenCall, ctx.request.query_params)
    who = replace(respondent_of(ctx), can=call.abilities)
    found = await open_surveys.hand_out(who, ctx, (call.page - 1) * call.per_page, call.per_page)
    rows = [row_of(item, call, ctx.asked_in) for item in found.items]
    pages = -(-found.total // call.per_page)
    return answer(rows, meta=Meta(page=call.page, per_page=call.per_page, total=found.total, pages=pages))


@get(f"{_PATH}/count", guards=[_GUARD])
async def me_surveys_count(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    found = await open_surveys.count(respondent_of(ctx), ctx)
    return answer(OpenNumbers(open=found.open, required=found.required))


ROUTES = [me_surveys_open, me_surveys_count]


def endpoints(prefix: str) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            "GET",
            f"{prefix}{_PATH}/open",
            "Every survey and consent that the caller may answer now, whatever pacing says, required ones first. No impression is "
            "counted.",
            Annotated[list[SurveyRow], msgspec.Meta(max_length=MOST_PER_PAGE)],
            OpenCall,
            Meta,
            scope="me",
        ),
        Endpoint(
            "GET",
            f"{prefix}{_PATH}/count",
            "How many surveys the caller may answer now, as the list of `open` has them with everything in `can`. Cheap: fetch it for a badge.",
            OpenNumbers,
            Nothing,
            scope="me",
        ),
    )
