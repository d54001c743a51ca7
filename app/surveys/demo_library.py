"""The apps of SurveysDemo and their ratings, which the platform has: makes them, and removes them again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, exists, func, insert, not_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.days import utc_day
from app.host import applications
from app.host.audit import Actor
from app.host.models import Application, AppRating
from app.surveys import demo_plan, ratings
from app.surveys.demo_cast import DemoApp


async def make(
    db: AsyncSession, actor: Actor, wanted: Sequence[DemoApp], raters: Mapping[str, tuple[int, str]], now: datetime
) -> tuple[int, int]:
    """How many apps and ratings. `raters` are id and user type by e-mail."""
    rated: list[dict[str, Any]] = []
    people = [(email, kind) for email, (_, kind) in raters.items()]
    for app in wanted:
        details = applications.Details(app.name, app.platforms, app.description, app.admin_restricted)
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


async def remove(db: AsyncSession) -> tuple[int, int]:
    """Soft-deletes them and returns how many apps and ratings; an app that real people rated is retired instead."""
    ours = update(AppRating).where(AppRating.demo, ratings.KEPT).values(deleted_at=func.now())
    rated = len((await db.execute(ours.returning(AppRating.id))).all())
    real = exists().where(AppRating.application_id == Application.id, ratings.KEPT)
    demo = and_(Application.demo, applications.KEPT)
    await db.execute(update(Application).where(demo, real, Application.status == "published").values(status="retired"))
    removed = update(Application).where(demo, not_(real)).values(deleted_at=func.now()).returning(Application.id)
    apps = len((await db.execute(removed)).all())
    await ratings.recount(db)
    return apps, rated
