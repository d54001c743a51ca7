"""The rating half of the end-user API: the apps that may be rated, and one rating a day.

The library and its ratings are the platform's; a tenant's people read and write them there.
`app.surveys.api.surveys` mounts ROUTES.
"""

import unicodedata
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency

from app.api import bodies, parameters
from app.api.envelope import Day, Id, Uid, answer
from app.api.openapi import POSTED, Endpoint
from app.api.parameters import Nothing
from app.api.tokens import TokenGuard
from app.db.session import PLATFORM
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import MOST_APPS, Rating
from app.surveys.words import MOST_STARS
from app.texts import day
from app.web.context import Context

PREFIX = "/v1/api"
LONGEST_COMMENT, LONGEST_VERSION = 2000, 50

Platform = Literal["ios", "android", "web"]
Stars = Annotated[int, msgspec.Meta(ge=1, le=MOST_STARS, description="Stars, a JSON integer.")]
AppName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
IconUrl = Annotated[
    str, msgspec.Meta(max_length=2000, description="Where the icon is; needs no token. Ask with If-None-Match.")
]


class AppRow(msgspec.Struct, kw_only=True):
    app: UUID
    name: AppName
    platforms: Annotated[list[Platform], msgspec.Meta(min_length=1, max_length=3)]
    icon_url: IconUrl | None
    my_rating_today: Stars | None


class RatingBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One rating for each app and UTC day; `platform` is one of the app's."""

    app: Uid
    rating: Stars
    platform: Platform
    comment: Annotated[str, msgspec.Meta(max_length=LONGEST_COMMENT)] | None = None
    app_version: Annotated[str, msgspec.Meta(max_length=LONGEST_VERSION)] | None = None


class RatingRow(msgspec.Struct, kw_only=True):
    rating_id: Id
    app: UUID
    rating: Stars
    platform: Platform
    rated_on: Day


@get("/me/apps", guards=[TokenGuard("me", module="surveys", policy="me_apps")])
async def me_apps(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    async with ctx.inside(PLATFORM) as db:
        rows = await ratings.offered(db, ctx.user.id, datetime.now(UTC))
    return answer([_app(row, ctx.parts.settings.base_url) for row in rows])


@post("/me/app-rating", guards=[TokenGuard("me", module="surveys", policy="me_app_rating")], status_code=201)
async def me_app_rating(ctx: NamedDependency[Context]) -> Response[bytes]:
    body = await bodies.read(RatingBody, ctx.request)
    parameters.read(Nothing, ctx.request.query_params)
    sent = Rating(UUID(body.app), body.rating, body.platform, _text(body.comment), _text(body.app_version))
    async with ctx.inside(PLATFORM) as db:
        made = await ratings.submit(db, ctx.user.id, sent, datetime.now(UTC))
    row = RatingRow(
        rating_id=made.id, app=sent.app, rating=body.rating, platform=body.platform, rated_on=day(made.rated_on) or ""
    )
    return answer(row, status=201)


def _text(sent: str | None) -> str | None:
    return unicodedata.normalize("NFC", sent or "").strip() or None


def _app(row: Any, base_url: str) -> AppRow:
    return AppRow(
        app=row.uid,
        name=row.name,
        platforms=row.platforms,
        icon_url=f"{base_url}/apps/icon/{row.uid}" if row.has_icon else None,
        my_rating_today=row.rating_today,
    )


ROUTES = [me_apps, me_app_rating]
ENDPOINTS = (
    Endpoint(
        "GET",
        f"{PREFIX}/me/apps",
        "The apps that may be rated",
        Annotated[list[AppRow], msgspec.Meta(max_length=MOST_APPS)],
        None,
        scope="me",
    ),
    Endpoint(
        "POST",
        f"{PREFIX}/me/app-rating",
        "Rates an app, once a UTC day",
        RatingRow,
        None,
        body=RatingBody,
        status=201,
        errors=POSTED,
        scope="me",
    ),
)
