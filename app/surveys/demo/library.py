"""The apps of SurveysDemo and their ratings, on the platform: makes them, and removes them again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, exists, func, insert, not_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.db.days import utc_day
from app.host.applications import applications
from app.host.models import Application, AppRating
from app.surveys.demo import plan as demo_plan
from app.surveys.demo.cast import DemoApp
from app.surveys.ratings import ratings

_RATED = and_(AppRating.demo, ratings.KEPT)
_REAL = exists().where(AppRating.application_id == Application.id, not_(AppRating.demo), ratings.KEPT)
_GOES = and_(Application.demo, applications.KEPT, not_(_REAL))
_RETIRES = and_(Application.demo, applications.KEPT, _REAL, Application.status == "published")


async def make(
    db: AsyncSession, actor: Actor, wanted: Sequence[DemoApp], raters: Mapping[str, tuple[int, str]], now: datetime
) -> tuple[int, int]:
    """Returns how many apps and ratings. `raters` are id and user type by e-mail."""
    rated: list[dict[str, Any]] = []
    people = [(email, kind) for email, (_, kind) in raters.items()]
    for app in wanted:
        details = applications.ApplicationDetails(app.name, app.platforms, app.description, app.admin_restricted)
        app_id = await applications.add(db, actor, details)
        await db.execute(update(Application).where(Application.id == app_id).values(demo=True))
        if app.published:
            await applications.publish(db, actor, [app_id])
        if app.stars:
            rated += [_rating(app_id, raters[one.person][0], one) for one in demo_plan.rated(app, people, now)]
    if rated:
        await db.execute(insert(AppRating), rated)
    await ratings.recount(db)
    return len(wanted), len(rated)


def _rating(app_id: int, user_id: int, one: demo_plan.Rated) -> dict[str, Any]:
    return {
        "application_id": app_id,
        "user_id": user_id,
        "rating": one.stars,
        "platform": one.platform,
        "comment": one.comment,
        "rated_at": one.at,
        "rated_on": utc_day(one.at),
        "demo": True,
    }


async def leaving(db: AsyncSession) -> tuple[list[str], list[str], int]:
    """What `remove` would do: names of removed apps, names of retired apps, and the number of removed ratings."""
    gone = list(await db.scalars(select(Application.name).where(_GOES).order_by(Application.id)))
    retired = list(await db.scalars(select(Application.name).where(_RETIRES).order_by(Application.id)))
    return gone, retired, await db.scalar(select(func.count()).select_from(AppRating).where(_RATED)) or 0


async def remove(db: AsyncSession) -> tuple[int, int]:
    """Soft-deletes them and returns how many apps and ratings. An app that real people rated is retired instead."""
    ours = update(AppRating).where(_RATED).values(deleted_at=func.now(), updated_at=func.now())
    rated = len((await db.execute(ours.returning(AppRating.id))).all())
    await db.execute(update(Application).where(_RETIRES).values(status="retired"))
    removed = update(Application).where(_GOES).values(deleted_at=func.now()).returning(Application.id)
    apps = len((await db.execute(removed)).all())
    await ratings.recount(db)
    return apps, rated
