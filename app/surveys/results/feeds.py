"""What other programs read of surveys: each list as it is now, or all of it that changed since an instant. Reads only.

Changes of a response are found by the clock of the database, not by `recorded_at`, which is the clock of the process
that recorded it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    ColumnElement,
    FromClause,
    Select,
    SQLColumnExpression,
    and_,
    case,
    cast,
    exists,
    func,
    join,
    or_,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.db.among import among
from app.db.base import Base
from app.host.models import Application, AppRating
from app.surveys.models import LedgerChange, LedgerPerson, PersonKey, Response, Survey, Tombstone, Wording
from app.surveys.results import queries

# By question id: the question's label and type.
AskedIn = Mapping[str, Mapping[str, str]]
_NAMED = exists().where(Survey.id == Response.survey_id, Survey.anonymity == "named")
_REMOVED = exists().where(Tombstone.number == Response.number)
_LAST_CHANGE = (
    select(func.max(LedgerChange.stored_at)).where(LedgerChange.response_number == Response.number).scalar_subquery()
)
_REMOVED_AT = select(Tombstone.removed_at).where(Tombstone.number == Response.number).scalar_subquery()
# A new name does not count as a change of erased rows: it would show which later rows are of the same person.
_OF_USER = join(
    join(User, LedgerPerson, LedgerPerson.user_id == User.id),
    Response,
    and_(Response.person == LedgerPerson.number, queries.not_erased()),
)
_RENAMED_AT = case((PersonKey.erased_at.is_(None), User.renamed_at))
_RESPONSES = queries.rows(
    _REMOVED_AT.label("removed_at"),
    # NULL is skipped.
    func.greatest(Response.stored_at, _LAST_CHANGE, _REMOVED_AT, PersonKey.erased_at, _RENAMED_AT).label("updated_at"),
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
    """Surveys that were ever published; with `since` also those removed since."""
    changed: ColumnElement[bool] = Survey.deleted_at.is_(None)
    if since is not None:
        changed = or_(Survey.updated_at >= since, Survey.deleted_at >= since)
    columns = (*Survey.__table__.c, queries.questions_as_now().label("questions"))
    return select(*columns).where(Survey.published_at.is_not(None), changed)


async def response_numbers(survey: UUID | None) -> Select[Any]:
    """Numbers of the responses to surveys that are not anonymous, with the time of recording as `at`. Of an anonymous
    one only the participation is known, which no program needs."""
    columns: tuple[Any, ...] = (Response.number, Response.recorded_at.label("at"))
    return select(*columns).where(*_wanted(survey), ~_REMOVED)


def changed_numbers(since: datetime, survey: UUID | None, after: tuple[datetime, int] | None, most: int) -> Select[Any]:
    """What changed since, oldest change first: `most` rows of the number of a response and `at`, when it changed. A
    response that changed in several ways has a row for each. `after`: beyond that moment and number.

    Each kind of change is read in the order of an index and stops after `most` rows, so that a page always costs the
    same.
    """

    def walked(
        at: SQLColumnExpression[Any], number: SQLColumnExpression[Any], source: FromClause | type[Base]
    ) -> Select[Any]:
        columns: tuple[Any, ...] = (at.label("at"), number.label("number"))
        found = select(*columns).select_from(source)
        # By the moment alone first: when moment and number are in two tables, no index holds both.
        behind = found.where(at >= since) if after is None else found.where(at >= after[0], tuple_(at, number) > after)
        return behind.where(*_wanted(survey)).order_by(at, number).limit(most)

    # By person because of the index, by key because what the person answered after the erasure does not belong to it.
    of_key = and_(Response.person == PersonKey.person, Response.key_id == PersonKey.id)
    parts = [
        walked(at, number, source)
        for at, number, source in (
            (Response.stored_at, Response.number, Response),
            (
                LedgerChange.stored_at,
                LedgerChange.response_number,
                join(LedgerChange, Response, Response.number == LedgerChange.response_number),
            ),
            (Tombstone.removed_at, Tombstone.number, join(Tombstone, Response, Response.number == Tombstone.number)),
            (PersonKey.erased_at, Response.number, join(PersonKey, Response, of_key)),
            (User.renamed_at, Response.number, _OF_USER),
        )
    ]
    every = union_all(*(select(one.subquery()) for one in parts)).subquery()
    return select(every.c.at, every.c.number).order_by(every.c.at, every.c.number).limit(most)


def _wanted(survey: UUID | None) -> tuple[ColumnElement[bool], ...]:
    if survey is None:
        return (_NAMED,)
    return _NAMED, Response.survey_id == select(Survey.id).where(Survey.uid == survey).scalar_subquery()


async def responses(db: AsyncSession, numbers: Sequence[int]) -> dict[int, Any]:
    """Rows of a page by number: those of `queries.rows`, `removed_at`, and when any part last changed."""
    return {row.number: row for row in await db.execute(_RESPONSES.where(among(Response.number, numbers)))}


async def asked_in(db: AsyncSession, wordings: Sequence[int]) -> dict[int, AskedIn]:
    """The questions of some wordings, by wording. No messages are read."""
    found = cast(Wording.content, JSON)["questions"]
    some = select(Wording.id, Wording.question_keys, found).where(among(Wording.id, wordings))
    return {number: dict(zip(keys, asked, strict=True)) for number, keys, asked in await db.execute(some)}


async def ratings(since: datetime | None) -> Select[Any]:
    """With `since` also removed ones."""
    return _RATINGS.where(AppRating.deleted_at.is_(None) if since is None else AppRating.updated_at >= since)
