"""What other programs follow of surveys: each list as it is now, or all of it that changed since an instant. Reads only.

A response that is followed is found by the clock of the database, not by `recorded_at`: that is the clock of the process which heard it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, ColumnElement, CompoundSelect, ScalarSelect, Select, cast, exists, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.db.among import among
from app.host.models import Application, AppRating
from app.surveys.models import LedgerChange, LedgerPerson, PersonKey, Response, Survey, Tombstone, Wording
from app.surveys.results import queries

# By question id: what a question was called, and its type.
AskedIn = Mapping[str, Mapping[str, str]]
_NAMED = exists().where(Survey.id == Response.survey_id, Survey.anonymity == "named")
_REMOVED = exists().where(Tombstone.number == Response.number)
_LAST_CHANGE = (
    select(func.max(LedgerChange.stored_at)).where(LedgerChange.response_number == Response.number).scalar_subquery()
)
_REMOVED_AT = select(Tombstone.removed_at).where(Tombstone.number == Response.number).scalar_subquery()
_RESPONSES = queries.rows(
    _REMOVED_AT.label("removed_at"),
    # NULL is passed over.
    func.greatest(Response.stored_at, _LAST_CHANGE, _REMOVED_AT, PersonKey.erased_at, User.renamed_at).label(
        "updated_at"
    ),
)
_RATING_COLUMNS: tuple[Any, ...] = (
    AppRating.id,
    Application.uid.label("app"),
    AppRating.platform,
    AppRating.rating,
    AppRating.comment,
    AppRating.app_version,
    AppRating.rated_at,
    AppRating.erased_at,
    AppRating.deleted_at,
    AppRating.updated_at,
)
_RATINGS = select(*_RATING_COLUMNS).join(Application, Application.id == AppRating.application_id)


async def surveys(since: datetime | None) -> Select[Any]:
    """Those that were ever published; with `since` what was removed meanwhile, too."""
    changed: ColumnElement[bool] = Survey.deleted_at.is_(None)
    if since is not None:
        changed = or_(Survey.updated_at >= since, Survey.deleted_at >= since)
    columns = (*Survey.__table__.c, queries.questions_as_now().label("questions"))
    return select(*columns).where(Survey.published_at.is_not(None), changed)


async def response_numbers(since: datetime | None, survey: UUID | None) -> Select[Any]:
    """Numbers of the responses to named surveys, with when each was recorded. Of an anonymous one, that somebody took part is all that is
    known: no program needs it."""
    wanted = _NAMED if survey is None else _NAMED & (Response.survey_id == _id_of(survey))
    changed = ~_REMOVED if since is None else Response.number.in_(_changed(since))
    columns: tuple[Any, ...] = (Response.number, Response.recorded_at)
    return select(*columns).where(wanted, changed)


def _id_of(survey: UUID) -> ScalarSelect[int]:
    return select(Survey.id).where(Survey.uid == survey).scalar_subquery()


def _changed(since: datetime) -> CompoundSelect[Any]:
    """An index serves each part, so that the cost is that of what changed."""
    erased = select(PersonKey.person).where(PersonKey.erased_at >= since)
    renamed = select(LedgerPerson.number).join(User, User.id == LedgerPerson.user_id).where(User.renamed_at >= since)
    return union(
        select(Response.number).where(Response.stored_at >= since),
        select(LedgerChange.response_number).where(
            LedgerChange.stored_at >= since, LedgerChange.response_number.is_not(None)
        ),
        select(Tombstone.number).where(Tombstone.removed_at >= since),
        select(Response.number).where(Response.person.in_(erased)),
        select(Response.number).where(Response.person.in_(renamed)),
    )


async def responses(db: AsyncSession, numbers: Sequence[int]) -> dict[int, Any]:
    """Rows of a page by number: those of `queries.rows`, `removed_at`, and when any of it changed last."""
    return {row.number: row for row in await db.execute(_RESPONSES.where(among(Response.number, numbers)))}


async def asked_in(db: AsyncSession, wordings: Sequence[int]) -> dict[int, AskedIn]:
    """The questions of some wordings, by wording. No messages are read."""
    found = cast(Wording.content, JSON)["questions"]
    some = select(Wording.id, Wording.question_keys, found).where(among(Wording.id, wordings))
    return {number: dict(zip(keys, asked, strict=True)) for number, keys, asked in await db.execute(some)}


async def ratings(since: datetime | None) -> Select[Any]:
    """With `since` removed ones, too."""
    return _RATINGS.where(AppRating.deleted_at.is_(None) if since is None else AppRating.updated_at >= since)
