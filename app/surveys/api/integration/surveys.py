"""`GET /api/v1/surveys`: the surveys that were ever published, as they are now. Scope `surveys:read`.

Other programs get no drafts, which may be deleted without a trace. What was published stays: only demo surveys are
removed, and come once more as `deleted: true` when `updated_since` is given.
"""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from app.api import parameters
from app.api.envelope import Code, Id, Instant, Meta, answer
from app.api.openapi import Endpoint, paged
from app.api.paging import ApiList, page_of_many
from app.api.parameters import InstantText, Paged
from app.surveys.api.field_types import Version
from app.surveys.api.integration.shapes import PREFIX, SURVEYS_READ, Questions, asked
from app.surveys.api.queue_rows import Kind, Language
from app.surveys.models import Survey
from app.surveys.results import feeds, responses
from app.surveys.words import LONGEST_CATEGORY, LONGEST_TITLE
from app.texts import instant
from app.web.context import Context

SURVEYS = ApiList("surveys", {"id": Id})
# There are fewer languages that have a tag.
MOST_LANGUAGES = 100


class FollowedQuery(Paged, kw_only=True, frozen=True):
    updated_since: InstantText | None = None


class PublishedSurvey(msgspec.Struct, kw_only=True):
    """`uid` is its public name. `version` counts how often it was asked: title and questions are those of this version.
    `split` is the group that an answer to an anonymous survey keeps."""

    uid: UUID
    title: Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)]
    type: Kind
    enforcement: Literal["optional", "required"]
    anonymity: Literal["named", "anonymous"]
    split: Literal["type", "tenant", "department"] | None
    category: Annotated[str, msgspec.Meta(max_length=LONGEST_CATEGORY)] | None
    status: Code
    version: Version
    language: Language
    languages: Annotated[list[Language], msgspec.Meta(max_length=MOST_LANGUAGES)]
    repeats: bool
    starts_at: Instant | None
    ends_at: Instant | None
    published_at: Instant | None
    questions: Questions
    deleted: bool
    updated_at: Instant


@get(PREFIX, guards=[SURVEYS_READ])
async def surveys(ctx: NamedDependency[Context]) -> Response[bytes]:
    query = parameters.read(FollowedQuery, ctx.request.query_params)
    meant = partial(feeds.surveys, parameters.instant_of(query.updated_since))
    rows, meta = await page_of_many(ctx.db, query, SURVEYS, meant, Survey.id)
    return answer([survey_row(row) for row in rows], meta=meta)


def survey_row(row: Any) -> PublishedSurvey:
    """`row` is one of `feeds.surveys`."""
    drawn = row.questions or []
    questions = responses.questions(responses.wording_of(row, drawn), [one["key"] for one in drawn])
    return PublishedSurvey(
        uid=row.uid,
        title=row.title,
        type=row.type,
        enforcement=row.enforcement,
        anonymity=row.anonymity,
        split=row.split,
        category=row.category,
        status=row.status,
        version=row.version,
        language=row.language,
        languages=[row.language, *sorted(row.translations or {})],
        repeats=row.repeat is not None,
        starts_at=instant(row.starts_at),
        ends_at=instant(row.ends_at),
        published_at=instant(row.published_at),
        questions=[asked(one) for one in questions],
        deleted=row.deleted_at is not None,
        updated_at=instant(max(row.updated_at, row.deleted_at or row.updated_at)) or "",
    )


ENDPOINT = Endpoint(
    "GET",
    PREFIX,
    "Surveys that were published",
    paged(PublishedSurvey),
    FollowedQuery,
    Meta,
    scope=SURVEYS_READ.scope,
)
