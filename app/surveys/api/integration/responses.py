"""`GET /api/v1/surveys/responses`: what people answered to surveys that are not anonymous, one row for each response.
Scope `surveys:read`.

No answer contains evidence. With `updated_since` come withdrawn agreements, removed demo responses as `deleted: true`,
and after an erasure the same row without its person and its texts, as `erased: true`. An anonymous survey has no
responses here: it has results.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from app.api import parameters
from app.api.envelope import Id, Instant, Line, Meta, Uid, answer
from app.api.openapi import Endpoint, paged
from app.api.paging import ApiList, Rows, page_of, page_of_many
from app.api.parameters import Moment
from app.db.session import PLATFORM
from app.errors import Invalid
from app.surveys import models
from app.surveys.api.field_types import Sha256, Standing, Version
from app.surveys.api.integration.shapes import PREFIX, SURVEYS_READ, Label
from app.surveys.api.integration.surveys import FollowedQuery
from app.surveys.api.queue_rows import Language, QuestionKind
from app.surveys.api.surveys import Value
from app.surveys.results import feeds, responses
from app.surveys.results.feeds import AskedIn
from app.surveys.results.responses import Opened
from app.surveys.words import MOST_QUESTIONS
from app.texts import instant
from app.web.context import Context

PATH = f"{PREFIX}/responses"
RESPONSES = ApiList("responses", {"at": Moment, "number": Id})
CHANGED = ApiList("changed-responses", {"at": Moment, "number": Id})


class ResponsesQuery(FollowedQuery, kw_only=True, frozen=True):
    survey: Annotated[Uid, msgspec.Meta(description="`uid` of a survey; without it: of all.")] | None = None


class AnsweringPerson(msgspec.Struct, kw_only=True):
    """`id` is the account's. `workspace` is `main` or the key of a tenant."""

    id: Id
    name: Line
    email: Line
    workspace: Line


class ToldAnswer(msgspec.Struct, kw_only=True):
    """`label` is what the person was asked. `value` is as `respond` takes it, in the survey's own language; null for an
    erased text."""

    question: UUID
    label: Label
    type: QuestionKind
    value: Value


class SurveyResponse(msgspec.Struct, kw_only=True):
    """`number` is its place in the ledger, `receipt` its hash. `outcome` is the present one: an agreement may be
    withdrawn. `person` is null after an erasure, and when the account is gone. `answers` are empty for an agreement, an
    opt-out and a removed response."""

    number: Id
    receipt: Sha256
    survey: UUID
    version: Version
    outcome: Standing
    recorded_at: Instant
    source: Literal["web", "api", "demo"]
    language: Language | None
    person: AnsweringPerson | None
    answers: Annotated[list[ToldAnswer], msgspec.Meta(max_length=MOST_QUESTIONS)]
    erased: bool
    deleted: bool
    updated_at: Instant


@get(PATH, guards=[SURVEYS_READ])
async def survey_responses(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(ResponsesQuery, ctx.request.query_params)
    page, meta = await _page(ctx, asked)
    found = await feeds.responses(ctx.db, [one.number for one in page])
    words = await feeds.asked_in(ctx.db, sorted({row.wording_id for row in found.values()}))
    rows = [response_row(ctx, found[one.number], words) for one in page]
    return answer(rows, meta=meta)


async def _page(ctx: Context, asked: ResponsesQuery) -> tuple[Rows, Meta]:
    """In the order of recording; with `updated_since` in the order of the changes."""
    survey, since = UUID(asked.survey) if asked.survey else None, parameters.instant_of(asked.updated_since)
    if since is None:
        keys = models.Response.recorded_at, models.Response.number
        return await page_of_many(ctx.db, asked, RESPONSES, partial(feeds.response_numbers, survey), *keys)

    async def behind(last: tuple[datetime, int] | None) -> Rows:
        rows: Rows = (await ctx.db.execute(feeds.changed_numbers(since, survey, last, asked.per_page + 1))).all()
        return rows

    async def first(page: int) -> tuple[Rows, int | None]:
        if page > 1:
            raise Invalid.at("page", "Read what changed on with `cursor`.")
        rows = await behind(None)
        return rows, len(rows) if len(rows) <= asked.per_page else None

    return await page_of(ctx.db, asked, CHANGED, first, behind)


def response_row(ctx: Context, row: Any, words: Mapping[int, AskedIn]) -> SurveyResponse:
    """`row` is one of `feeds.responses`; `words` are those of the wordings, by id."""
    removed = row.removed_at is not None
    found = responses.opened(ctx.parts.keys, ctx.workspace, row)
    return SurveyResponse(
        number=row.number,
        receipt=row.row_hash.hex(),
        survey=row.survey,
        version=row.version,
        outcome=row.outcome,
        recorded_at=instant(row.recorded_at) or "",
        source=row.source,
        language=row.language,
        person=_person(row),
        answers=[] if removed else list(_answers(row, found, words.get(row.wording_id, {}))),
        erased=row.erased_at is not None,
        deleted=removed,
        updated_at=instant(row.updated_at) or "",
    )


def _person(row: Any) -> AnsweringPerson | None:
    if row.erased_at is not None or row.user_id is None or row.name is None:
        return None
    return AnsweringPerson(id=row.user_id, name=row.name, email=row.email, workspace=row.workspace or PLATFORM)


def _answers(row: Any, found: Opened, asked: AskedIn) -> Iterator[ToldAnswer]:
    """The answers, without those to questions that the wording lacks. It has all of them."""
    for one in responses.answers(row, found):
        if question := asked.get(one.question):
            kind: Any = question["type"]
            yield ToldAnswer(question=UUID(one.question), label=question["label"], type=kind, value=one.value)


ENDPOINT = Endpoint(
    "GET",
    PATH,
    "What people answered to named surveys",
    paged(SurveyResponse),
    ResponsesQuery,
    Meta,
    scope=SURVEYS_READ.scope,
)
