"""What the pages of surveys read: rows of the ledger with the names that belong to them, and one survey in full. No
writes.

People's names come from the shared accounts. A row whose person was erased is found under no name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Integer,
    ScalarSelect,
    Select,
    String,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant, User
from app.db.among import among
from app.db.days import on_days
from app.db.located import Counted, is_dense
from app.db.rows import plan_each
from app.db.session import workspace_of
from app.errors import NotFound
from app.surveys.authoring import audience
from app.surveys.authoring.ceilings import ceiling_in
from app.surveys.models import LedgerChange, LedgerHead, LedgerPerson, PersonKey, Question, Response, Survey, Wording
from app.surveys.reminding import waiting
from app.surveys.results import tallies
from app.surveys.results.tallies import WITHDRAWN, TallyScope

# When more people than this match, the page asks for more of the name.
MOST_PEOPLE = 2000
# Rows of chosen people are counted up to this number, because no stored count has them.
MOST_COUNTED = 10_000
NEWEST_FIRST = (Response.recorded_at.desc(), Response.number.desc())
OLDEST_FIRST = (Response.recorded_at, Response.number)
# The present standing of the response; `recorded_outcome` is what the ledger recorded first.
OUTCOME = case((and_(Response.outcome == "agreed", WITHDRAWN), "withdrawn"), else_=Response.outcome).label("outcome")
COLUMNS: tuple[Any, ...] = (
    Response.number,
    Response.row_hash,
    Response.recorded_at,
    Response.survey_id,
    Response.version,
    Response.wording_id,
    Response.person.label("person"),
    LedgerPerson.user_id,
    OUTCOME,
    Response.outcome.label("recorded_outcome"),
    Response.source,
    Response.prompted,
    Response.language,
    Response.has_text,
    Response.key_id,
    Response.sealed,
    Response.entry,
    PersonKey.sealed_key,
    PersonKey.erased_at,
    Survey.uid.label("survey"),
    Survey.title,
    User.name,
    User.email,
    User.workspace,
    func.coalesce(Tenant.name, User.workspace).label("workspace_name"),
)


def rows(*columns: Any) -> Select[Any]:
    """The ledger with `COLUMNS` and `columns`, with rows under a tombstone: the caller narrows it."""
    return (
        select(*COLUMNS, *columns)
        .select_from(Response)
        .join(Survey, Survey.id == Response.survey_id)
        .outerjoin(PersonKey, PersonKey.id == Response.key_id)
        .outerjoin(LedgerPerson, LedgerPerson.number == Response.person)
        .outerjoin(User, User.id == LedgerPerson.user_id)
        .outerjoin(Tenant, Tenant.key == User.workspace)
    )


ROWS = rows()
# By question id, for a page. An export would parse a wording as often as it was answered.
_TYPES = literal_column(
    """jsonb_object(survey_wordings.question_keys,
    ARRAY(SELECT q ->> 'type' FROM json_array_elements(survey_wordings.content::json -> 'questions') AS q))""",
    JSONB,
).label("question_types")
_TYPED_ROWS = rows(_TYPES).join(Wording, Wording.id == Response.wording_id)


@dataclass(frozen=True, slots=True)
class LedgerFilter:
    """How the ledger's list is narrowed. `people` are user ids (None: any); their erased rows are never found.
    `language` is a tag, None for any."""

    scope: TallyScope = field(default_factory=TallyScope)
    people: tuple[int, ...] | None = None
    language: str | None = None

    @property
    def has_tallies(self) -> bool:
        """True when the tallies can count these rows; otherwise the rows are counted."""
        return self.people is None and self.language is None

    def condition(self) -> ColumnElement[bool]:
        by_people = of_people(self.people) if self.people is not None else true()
        in_language = Response.language == self.language if self.language is not None else true()
        return and_(self.scope.responses(), by_people, in_language)


def of_people(ids: Sequence[int]) -> ColumnElement[bool]:
    """The rows of these accounts, without erased ones."""
    return and_(_with_numbers_of(among(LedgerPerson.user_id, ids)), not_erased())


def of_accounts(ids: Select[Any]) -> ColumnElement[bool]:
    """The rows of the accounts that a SELECT finds, with erased ones."""
    return _with_numbers_of(LedgerPerson.user_id.in_(ids))


def _with_numbers_of(accounts: ColumnElement[bool]) -> ColumnElement[bool]:
    return Response.person.in_(select(LedgerPerson.number).where(accounts))


def newest_of(user_id: int) -> Select[Any]:
    """The responses of a person (title, outcome, recorded_at, row_hash), newest first, without erased ones."""
    columns: tuple[Any, ...] = (Response.recorded_at, OUTCOME, Response.row_hash, Survey.title)
    statement = select(*columns).join(Survey, Survey.id == Response.survey_id)
    return statement.where(of_people([user_id])).order_by(Response.number.desc())


def has_erased_key(user_id: int) -> ColumnElement[bool]:
    """True where the person's evidence was destroyed: their responses no longer lead to them."""
    theirs = select(LedgerPerson.number).where(LedgerPerson.user_id == user_id)
    return exists().where(PersonKey.person.in_(theirs), PersonKey.erased_at.is_not(None))


def not_erased() -> ColumnElement[bool]:
    key = PersonKey.__table__.alias("destroyed")
    return ~exists().where(key.c.id == Response.key_id, key.c.erased_at.is_not(None))


async def counted(db: AsyncSession, wanted: LedgerFilter) -> Counted:
    """How many rows a filter finds per UTC day, newest first; for chosen people or a language only the newest, up to
    MOST_COUNTED.

    From here on the transaction plans each statement for its values: a general plan for one survey and all surveys, a
    rare outcome and the usual one, would suit neither.
    """
    await plan_each(db)
    if wanted.has_tallies:
        days: dict[date, int] = {}
        for day, _, people in await tallies.by_day(db, wanted.scope):
            days[day] = days.get(day, 0) + people
        return Counted(list(days.items()))
    utc_day = func.date(func.timezone("UTC", Response.recorded_at)).label("day")
    newest = select(utc_day).where(wanted.condition()).order_by(*NEWEST_FIRST).limit(MOST_COUNTED).subquery()
    found = select(newest.c.day, func.count()).group_by(newest.c.day).order_by(newest.c.day.desc())
    return Counted([(row[0], row[1]) for row in await db.execute(found)])


async def located(
    db: AsyncSession, wanted: LedgerFilter, found: Counted, *, newest_first: bool, offset: int, rows: int
) -> Sequence[Any]:
    """The rows of a page. Only its own days are read, however deep the page is. `found` is newest first."""
    days, skip = (found if newest_first else found.reversed()).locate(offset, rows)
    if not days:
        return []
    order = NEWEST_FIRST if newest_first else OLDEST_FIRST
    numbers = select(Response.number).where(wanted.condition(), _on(days)).order_by(*order).limit(rows).offset(skip)
    return list(await db.execute(_TYPED_ROWS.where(Response.number.in_(numbers)).order_by(*order)))


def _on(days: Sequence[date]) -> ColumnElement[bool]:
    """A range follows the index in order; single days far apart are looked up one by one."""
    if is_dense(days):
        return on_days(Response.recorded_at, (min(days), max(days)))
    return or_(*(on_days(Response.recorded_at, (day, day)) for day in days))


async def response(db: AsyncSession, row_hash: bytes) -> Any:
    """One row with its wording and its place in the chain. Raises NotFound, also for a removed demo row."""
    tables = (Response.__table__.alias("previous"), LedgerChange.__table__.alias("previous_change"))
    hashes = (select(one.c.row_hash).where(one.c.number == Response.number - 1).scalar_subquery() for one in tables)
    before = func.encode(func.coalesce(*hashes), "hex")
    head = select(LedgerHead.number).scalar_subquery()
    columns = (Wording.content, Wording.question_keys, Wording.content_hash, head.label("head"), before.label("before"))
    statement = rows(*columns).join(Wording, Wording.id == Response.wording_id)
    found = (await db.execute(statement.where(Response.row_hash == row_hash, TallyScope().responses()))).one_or_none()
    if found is None:
        raise NotFound("There is no such response.")
    return found


async def changes(db: AsyncSession, number: int, most: int) -> Sequence[Any]:
    """The changes of a response since: the newest `most`, oldest first, each with the key of its evidence."""
    key = PersonKey.__table__
    statement = (
        select(LedgerChange.__table__, LedgerChange.person.label("person"), key.c.sealed_key, key.c.erased_at)
        .outerjoin(key, key.c.id == LedgerChange.key_id)
        .where(LedgerChange.response_number == number)
    )
    newest = (await db.execute(statement.order_by(LedgerChange.turn.desc()).limit(most))).all()
    return newest[::-1]


async def labels(db: AsyncSession, survey: UUID | None) -> dict[int, dict[str, str]]:
    """The labels of every wording, of one survey or of all: by wording, then by question id. No messages are read."""
    found = cast(Wording.content, JSON)["questions"]
    every = select(Wording.id, Wording.question_keys, found)
    statement = every.where(Wording.survey_uid == survey) if survey else every
    return {
        number: {key: one["label"] for key, one in zip(keys, questions, strict=True)}
        for number, keys, questions in await db.execute(statement)
    }


async def survey(db: AsyncSession, uid: UUID, version: int | None) -> Any:
    """One survey as it is now, its versions (newest first), the last wording of `version` (None: the current one), when
    that version was first published (`begun_at`), how many mails about it wait, the ceiling of its workspace, and what
    audience.named needs.

    Raises NotFound.
    """
    asked = func.coalesce(literal(version, Integer), Survey.version)
    last = select(Wording).where(Wording.survey_uid == Survey.uid, Wording.version == asked)
    last_wording = last.order_by(Wording.id.desc()).limit(1).lateral("last_wording")
    of_version = select(func.min(Wording.created_at)).where(Wording.survey_uid == Survey.uid, Wording.version == asked)
    begun = of_version.scalar_subquery()
    had = select(Wording.version).where(Wording.survey_uid == Survey.uid).distinct().order_by(Wording.version.desc())
    versions = func.array(had.scalar_subquery(), type_=ARRAY(BigInteger))
    statement = (
        select(
            *Survey.__table__.c,
            questions_as_now().label("questions"),
            versions.label("versions"),
            last_wording.c.content.label("wording"),
            last_wording.c.question_keys.label("wording_keys"),
            last_wording.c.content_hash.label("wording_hash"),
            begun.label("begun_at"),
            waiting.of_version(Survey.id, Survey.version).label("mails_waiting"),
            ceiling_in(workspace_of(db)).label("ceiling"),
            *audience.names_in(workspace_of(db)),
        )
        .outerjoin(last_wording, true())
        .where(Survey.uid == uid, Survey.deleted_at.is_(None))
    )
    found = (await db.execute(statement)).one_or_none()
    if found is None:
        raise NotFound("There is no such survey.")
    return found


async def uid_of(db: AsyncSession, survey_id: int) -> UUID | None:
    """None for a survey that does not exist or was deleted."""
    found: UUID | None = await db.scalar(select(Survey.uid).where(Survey.id == survey_id, Survey.deleted_at.is_(None)))
    return found


def questions_as_now() -> ScalarSelect[Any]:
    """The present questions of a survey: a list of objects, in order."""
    fields = (Question.key, Question.label, Question.type, Question.options, Question.required, Question.details)
    pairs = [part for one in fields for part in (literal(one.name, String), one)]
    every = func.json_agg(aggregate_order_by(func.json_build_object(*pairs), Question.position))
    return select(every).where(Question.survey_id == Survey.id).scalar_subquery()


async def latest(db: AsyncSession, wanted: LedgerFilter, *, responses: int, texts: int) -> Sequence[Any]:
    """The newest rows, and the newest ones with a free text whose person was not erased; newest first, each once."""
    await plan_each(db)
    condition = wanted.condition()
    newest = select(Response.number).where(condition).order_by(*NEWEST_FIRST).limit(responses)
    written = select(Response.number).where(condition, Response.has_text, not_erased())
    with_text = written.order_by(Response.number.desc()).limit(texts)
    either = newest.union_all(with_text).subquery()
    found = _TYPED_ROWS.where(Response.number.in_(select(either.c.number))).order_by(*NEWEST_FIRST)
    return list(await db.execute(found))
