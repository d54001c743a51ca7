"""`GET /api/v1/ratings`: the ratings of apps, on the platform only. Scope `surveys:read`. As on the page, a rating has
no person.

With `updated_since` removed demo ratings come as `deleted: true`, and those whose comment was erased as `erased: true`.
"""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from app.api import parameters
from app.api.envelope import Id, Instant, Line, Meta, Prose, answer
from app.api.openapi import Endpoint, paged
from app.api.paging import ApiList, page_of_many
from app.api.tokens import TokenGuard
from app.host.models import AppRating
from app.surveys.api.integration.surveys import FollowedQuery
from app.surveys.results import feeds
from app.surveys.words import MOST_STARS
from app.texts import instant
from app.web.context import Context

PATH = "/api/v1/ratings"
RATINGS_READ = TokenGuard("surveys:read", permissions=("surveys.view",), module="surveys", platform_only=True)
RATINGS = ApiList("ratings", {"id": Id})


class GivenRating(msgspec.Struct, kw_only=True):
    """`app` is the `uid` of the app."""

    id: Id
    app: UUID
    platform: Literal["ios", "android", "web"]
    stars: Annotated[int, msgspec.Meta(ge=1, le=MOST_STARS)]
    comment: Prose | None
    app_version: Line | None
    rated_at: Instant
    erased: bool
    deleted: bool
    updated_at: Instant


@get(PATH, guards=[RATINGS_READ])
async def app_ratings(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(FollowedQuery, ctx.request.query_params)
    meant = partial(feeds.ratings, parameters.instant_of(asked.updated_since))
    rows, meta = await page_of_many(ctx.db, asked, RATINGS, meant, AppRating.id)
    return answer([rating_row(row) for row in rows], meta=meta)


def rating_row(row: Any) -> GivenRating:
    return GivenRating(
        id=row.id,
        app=row.app,
        platform=row.platform,
        stars=row.rating,
        comment=row.comment,
        app_version=row.app_version,
        rated_at=instant(row.rated_at) or "",
        erased=row.erased_at is not None,
        deleted=row.deleted_at is not None,
        updated_at=instant(row.updated_at) or "",
    )


ENDPOINT = Endpoint(
    "GET",
    PATH,
    "Ratings of apps, on the platform only",
    paged(GivenRating),
    FollowedQuery,
    Meta,
    scope=RATINGS_READ.scope,
)
