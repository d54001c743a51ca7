"""Ratings of apps: what may be rated, and one rating for each person, app and UTC day. They belong to the platform:
every function here takes a transaction in the platform's workspace.

Figures are read from counts: some dozens of rows for each app, for any number of ratings. They never include removed
demo ratings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.days import utc_day
from app.errors import Conflict, FieldError, InvalidBody, NotFound
from app.host.applications.application_words import PLATFORMS
from app.host.applications.applications import KEPT as KEPT_APP
from app.host.applications.applications import RATEABLE
from app.host.models import Application, AppRating, AppRatingCount
from app.surveys.ratings.figures import RatingFigures, figures_of
from app.webhooks import noting
from app.webhooks.kinds import RATING_RECORDED

MOST_APPS = 1000
KEPT = AppRating.deleted_at.is_(None)


class AppNotFound(NotFound):
    """No such app, or an app that accepts no ratings. The answer does not say which."""

    code = "app_not_found"


class AlreadyRated(Conflict):
    code = "duplicate"


@dataclass(frozen=True, slots=True)
class Rating:
    """What a person sends: 1 to 5 stars, and a word of PLATFORMS."""

    app: UUID
    stars: int
    platform: str
    comment: str | None = None
    app_version: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedRating:
    id: int
    rated_on: date


_OFFERED = (
    select(
        Application.uid,
        Application.name,
        Application.platforms,
        Application.icon_type.is_not(None).label("has_icon"),
        AppRating.rating.label("rating_today"),
    )
    .outerjoin(
        AppRating,
        and_(
            AppRating.application_id == Application.id,
            AppRating.user_id == bindparam("user_id"),
            AppRating.rated_on == bindparam("today"),
            KEPT,
        ),
    )
    .where(RATEABLE)
    .order_by(Application.name, Application.id)
    .limit(MOST_APPS)
)
# Locked: a retirement waits until the rating is counted, and so do other ratings of the app, because they change the
# same counts.
_LOCKED_APP = (
    select(Application.id, Application.name, Application.platforms)
    .where(Application.uid == bindparam("app"), RATEABLE)
    .with_for_update(key_share=True)
)
_ADD = (
    insert(AppRating)
    .on_conflict_do_nothing(
        index_elements=[AppRating.application_id, AppRating.user_id, AppRating.rated_on], index_where=KEPT
    )
    .returning(AppRating.id)
)
_LAST_OTHER = (
    select(AppRating.platform, AppRating.rating, AppRating.rated_on)
    .where(
        AppRating.application_id == bindparam("application_id"),
        AppRating.user_id == bindparam("user_id"),
        AppRating.rated_on != bindparam("rated_on"),
        KEPT,
    )
    .order_by(AppRating.rated_on.desc())
    .limit(1)
)
_COUNTS = (
    select(
        Application.uid,
        Application.name,
        AppRatingCount.platform,
        AppRatingCount.rating,
        AppRatingCount.number,
        AppRatingCount.latest,
    )
    .outerjoin_from(Application, AppRatingCount, AppRatingCount.application_id == Application.id)
    .where(or_(KEPT_APP, AppRatingCount.number.is_not(None)))
    .order_by(func.lower(Application.name), Application.id, AppRatingCount.platform, AppRatingCount.rating)
)
_LOCK_APPS = select(Application.id).order_by(Application.id).with_for_update(key_share=True)
_RECOUNT = text(
    """
    INSERT INTO app_rating_counts (application_id, platform, rating, number, latest)
    SELECT application_id, platform, rating, count(*), count(*) FILTER (WHERE place = 1)
    FROM (
        SELECT application_id, platform, rating,
            row_number() OVER (PARTITION BY application_id, user_id ORDER BY rated_on DESC) AS place
        FROM api_app_ratings WHERE deleted_at IS NULL
    ) AS kept
    GROUP BY application_id, platform, rating
    """
)


async def offered(db: AsyncSession, user_id: int, now: datetime) -> Sequence[Any]:
    """The apps that accept ratings: uid, name, platforms, has_icon, and rating_today, this person's stars of the UTC
    day."""
    return (await db.execute(_OFFERED, {"user_id": user_id, "today": utc_day(now)})).all()


async def submit(db: AsyncSession, user_id: int, rating: Rating, now: datetime) -> RecordedRating:
    """Records the rating on the UTC day of `now`. The first rating of a day stands, on any platform.

    Raises AppNotFound, InvalidBody for a platform that the app does not have, and AlreadyRated; none of them uses up
    the day.
    """
    app = (await db.execute(_LOCKED_APP, {"app": rating.app})).one_or_none()
    if app is None:
        raise AppNotFound("No app of this id accepts ratings.")
    if rating.platform not in app.platforms:
        raise _not_there(app.platforms)
    values = {
        "application_id": app.id,
        "user_id": user_id,
        "rating": rating.stars,
        "platform": rating.platform,
        "comment": rating.comment,
        "app_version": rating.app_version,
        "rated_at": now,
        "rated_on": utc_day(now),
    }
    rating_id = await db.scalar(_ADD.values(values))
    if rating_id is None:
        raise AlreadyRated(f"You rated {app.name} today. The first rating of a day (UTC) stands; come back tomorrow.")
    await _count(db, values)
    await noting.note(db, RATING_RECORDED, [rating_id])
    return RecordedRating(rating_id, values["rated_on"])


async def figures(db: AsyncSession) -> RatingFigures:
    """One SELECT, in the platform's workspace."""
    return figures_of([row for row in await counts(db) if row.number])


async def counts(db: AsyncSession) -> Sequence[Any]:
    """By name of the app: uid, name, platform, rating, number, latest. An app without ratings has one row of None."""
    return (await db.execute(_COUNTS)).all()


async def held(db: AsyncSession, user_id: int) -> Any:
    """The ratings of one person, with removed demo ratings: their number, and how many have a comment, `comments`."""
    numbers = select(func.count().label("ratings"), func.count(AppRating.comment).label("comments"))
    return (await db.execute(numbers.where(AppRating.user_id == user_id))).one()


async def forget_comments(db: AsyncSession, user_id: int) -> None:
    """Erases the comments; stars and counts stay."""
    theirs = AppRating.user_id == user_id, AppRating.comment.is_not(None)
    await db.execute(update(AppRating).where(*theirs).values(comment=None, erased_at=func.now(), updated_at=func.now()))


async def recount(db: AsyncSession) -> None:
    """Counts all ratings again, after many were written or removed at once. New ratings wait meanwhile."""
    await db.execute(_LOCK_APPS)
    await db.execute(delete(AppRatingCount))
    await db.execute(_RECOUNT)


def _not_there(platforms: Sequence[str]) -> InvalidBody:
    choices = " or ".join(one for one in PLATFORMS if one in platforms)
    problem = f"The app is not there. Send {choices}."
    return InvalidBody("Something in the body can't be used.", details=[FieldError("platform", problem)])


async def _count(db: AsyncSession, made: dict[str, Any]) -> None:
    """Counts a new rating. If the clock of another server was ahead, the later day stays the latest."""
    other = (await db.execute(_LAST_OTHER, made)).one_or_none()
    is_latest = other is None or other.rated_on < made["rated_on"]
    moves = {(made["platform"], made["rating"]): [1, int(is_latest)]}
    if other is not None and is_latest:
        moves.setdefault((other.platform, other.rating), [0, 0])[1] -= 1
    rows = [
        {
            "application_id": made["application_id"],
            "platform": platform,
            "rating": stars,
            "number": number,
            "latest": latest,
        }
        for (platform, stars), (number, latest) in moves.items()
    ]
    added = insert(AppRatingCount).values(rows)
    await db.execute(
        added.on_conflict_do_update(
            index_elements=[AppRatingCount.application_id, AppRatingCount.platform, AppRatingCount.rating],
            set_={
                "number": AppRatingCount.number + added.excluded.number,
                "latest": AppRatingCount.latest + added.excluded.latest,
            },
        )
    )
