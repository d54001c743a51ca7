"""What is stored between one person and the surveys: one SELECT for all that are published, one for a single one.

The judging is pacing's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import (
    BigInteger,
    Label,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    null,
    or_,
    select,
    text,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql import FromClause
from sqlalchemy.sql.elements import ColumnElement, KeyedColumnElement
from sqlalchemy.types import NullType

from app.db.direct import Compiled, driver
from app.db.session import workspace_of
from app.surveys import question_details
from app.surveys.asking import opting_out
from app.surveys.asking.pacing import Gap, Offer, PromptHistory
from app.surveys.item import Item
from app.surveys.ledger import people
from app.surveys.ledger.evidence import Key
from app.surveys.ledger.spoken import question_in
from app.surveys.models import LanguageShown, PersonKey, PromptState, Question, Response, Survey
from app.surveys.translations import candidates, survey_texts
from app.surveys.words import Shown


class Situation(msgspec.Struct, frozen=True):
    """One survey as it is now, and what happened between it and one person. `wording_id` is None until it is published."""

    id: int
    offer: Offer
    state: PromptHistory
    content_hash: str
    wording_id: int | None


@dataclass(frozen=True, slots=True)
class Published:
    """The published surveys of one workspace, in no order, and when the person was shown which optional one lately."""

    situations: tuple[Situation, ...]
    shown: dict[UUID, datetime]


@dataclass(frozen=True, slots=True)
class Met:
    """A single survey with its words, and the person's number and key in its workspace: the number None when it must
    be given first, the key None when they have none. `is_noted` says whether every
    app that was handed this version left a note of it."""

    situation: Situation
    item: Item
    person: int | None
    key: Key | None
    is_noted: bool

    @property
    def shown(self) -> Shown:
        """How far this version came to the person."""
        shown = self.situation.state.shown
        return "not_known" if shown == "not_handed_out" and not self.is_noted else shown


def _as_it_comes(array: KeyedColumnElement[Any]) -> Label[Any]:
    """A list already: what SQLAlchemy would make of each, in every row, is the same list."""
    return type_coerce(array, NullType()).label(array.name)


_user = bindparam("user", type_=BigInteger)
# The tables themselves: selecting a model's attributes costs twice as much for each row.
_number = people.number()
_survey, _asked, _row, _state, _key = (kind.__table__ for kind in (Survey, Question, Response, PromptState, PersonKey))
_seen = LanguageShown.__table__
# The first of the tags that would do (`translations.candidates`) which the survey has; null for a survey that has no other language than
# its own, without a look at the tags.
_wanted = func.unnest(bindparam("tags", type_=ARRAY(Text))).table_valued("tag", with_ordinality="place")
_wanted = _wanted.render_derived(name="wanted")
_chosen = (
    select(_wanted.c.tag)
    .where(or_(_wanted.c.tag == _survey.c.language, _survey.c.translations.has_key(_wanted.c.tag)))
    .order_by(_wanted.c.place)
    .limit(1)
    .scalar_subquery()
)
_spoken = (
    select(
        case((_survey.c.translations.is_(None), null()), else_=func.coalesce(_chosen, _survey.c.language)).label("tag")
    )
    .correlate(_survey)
    .lateral("spoken")
)


def _in_it(table: FromClause) -> ColumnElement[Any]:
    """What of its translations is in the chosen language."""
    return table.c.translations.op("->", return_type=JSONB())(_spoken.c.tag)


_optional = _survey.alias("optional")
_recent = (
    select(_optional.c.uid, func.max(_state.c.last_shown_at).label("at"))
    .join(_optional, _optional.c.id == _state.c.survey_id)
    .where(
        _state.c.user_id == _user,
        _state.c.last_shown_at > bindparam("since"),
        _optional.c.enforcement == "optional",
    )
    .group_by(_optional.c.uid)
    .subquery("recent")
)
# One row even where nothing is published: what was shown spaces the surveys of the other workspace, too.
_lately = select(func.jsonb_object_agg(_recent.c.uid, _recent.c.at, type_=JSONB).label("shown")).subquery("lately")
# In the order of the fields of Offer and PromptHistory: `_situation` makes each of a slice.
_OFFER = [
    _survey.c[name] if name not in ("user_types", "tenants", "needs") else _as_it_comes(_survey.c[name])
    for name in Offer.__struct_fields__[1:]
]
_STATE = (
    func.coalesce(_state.c.impressions, 0).label("impressions"),
    _state.c.last_shown_at,
    _state.c.snoozed_until,
    opting_out.outcome(_survey, _row, _number),
    _state.c.shown_in,
    _state.c.handed_out_at,
)
_SITUATION = (_survey.c.id, _survey.c.content_hash, _survey.c.wording_id, *_OFFER, *_STATE)
_AT_OFFER, _AT_STATE = slice(3, 3 + len(_OFFER)), slice(3 + len(_OFFER), len(_SITUATION))
_questions = (
    select(
        func.jsonb_agg(
            aggregate_order_by(
                func.jsonb_build_array(
                    _asked.c.key,
                    _asked.c.label,
                    _asked.c.type,
                    _asked.c.options,
                    _asked.c.required,
                    _asked.c.details,
                    _in_it(_asked),
                ),
                _asked.c.position,
            ),
            type_=JSONB,
        )
    )
    .where(_asked.c.survey_id == _survey.c.id)
    .correlate(_survey, _spoken)
    .scalar_subquery()
    .label("questions")
)
_WORDS = (
    _survey.c.title,
    _survey.c.type,
    _survey.c.message,
    _survey.c.closing_html,
    _survey.c.anonymity,
    _survey.c.split,
    _survey.c.category,
    _survey.c.language,
    _spoken.c.tag,
    _in_it(_survey).label("texts"),
    exists()
    .where(_seen.c.survey_id == _survey.c.id, _seen.c.version == _survey.c.version, _seen.c.language == _spoken.c.tag)
    .label("was_shown"),
    _questions,
)
_SHOWN = and_(_state.c.survey_id == _survey.c.id, _state.c.version == _survey.c.version, _state.c.user_id == _user)
_ANSWERED = and_(_row.c.survey_id == _survey.c.id, _row.c.version == _survey.c.version, _row.c.user_id == _number)
_PUBLISHED = Compiled(
    select(*_SITUATION, _lately.c.shown)
    .select_from(_lately)
    .outerjoin(_survey, and_(_survey.c.status == text("'published'"), _survey.c.deleted_at.is_(None)))
    .outerjoin(_state, _SHOWN)
    .outerjoin(_row, _ANSWERED)
)
_PERSON = (people.number_to_be().label("person"), _key.c.id.label("key_id"), _key.c.sealed_key)
_ONE = Compiled(
    select(*_SITUATION, *_WORDS, _survey.c.unnoted_version, *_PERSON)
    .select_from(_survey)
    .join(_spoken, true())
    .outerjoin(_state, _SHOWN)
    .outerjoin(_row, _ANSWERED)
    .outerjoin(_key, and_(_key.c.user_id == _number, _key.c.erased_at.is_(None)))
    .where(_survey.c.uid == bindparam("uid"), _survey.c.deleted_at.is_(None))
)
_ITEMS = Compiled(
    select(
        _survey.c.id,
        _survey.c.uid,
        _survey.c.version,
        _survey.c.content_hash,
        _survey.c.enforcement,
        _survey.c.ends_at,
        *_WORDS,
    )
    .join(_spoken, true())
    .where(_survey.c.id == func.any(bindparam("ids", type_=ARRAY(BigInteger))))
)


async def published(db: AsyncSession, user_id: int, now: datetime, gap_hours: int) -> Published:
    rows = await _PUBLISHED.rows(driver(db), {"user": user_id, "since": now - timedelta(hours=gap_hours)})
    shown = {UUID(uid): datetime.fromisoformat(at) for uid, at in (rows[0].shown or {}).items()}
    workspace = workspace_of(db)
    return Published(tuple(_situation(row, workspace) for row in rows if row.id is not None), shown)


async def one(db: AsyncSession, user_id: int, uid: UUID, languages: Iterable[str] = ()) -> Met | None:
    """The survey whatever its status, and its words; None when this workspace has none of that uid. `languages` are tags of what the
    person reads, best first."""
    row = await _ONE.row(driver(db), {"user": user_id, "uid": uid, "tags": candidates(languages)})
    if row is None:
        return None
    key = None if row.key_id is None else Key(row.key_id, row.person, row.sealed_key)
    noted = row.version != row.unnoted_version
    return Met(_situation(row, workspace_of(db)), _item(row, workspace_of(db)), row.person, key, noted)


async def items(db: AsyncSession, ids: Sequence[int], languages: Iterable[str]) -> dict[int, Item]:
    """What a person meets of these surveys, by the numbers of their rows. `languages` as in `one`."""
    if not ids:
        return {}
    rows = await _ITEMS.rows(driver(db), {"ids": list(ids), "tags": candidates(languages)})
    return {row.id: _item(row, workspace_of(db)) for row in rows}


def gap(hours: int, *read: Published) -> Gap:
    """What spaces optional surveys of all the workspaces that were read."""
    return Gap(hours, {uid: at for one in read for uid, at in one.shown.items()})


def _situation(row: Any, workspace: str) -> Situation:
    return Situation(
        row.id, Offer(workspace, *row[_AT_OFFER]), PromptHistory(*row[_AT_STATE]), row.content_hash, row.wording_id
    )


def _item(row: Any, workspace: str) -> Item:
    texts = survey_texts(row.texts)
    nothing: dict[str, Any] | None = None if row.texts is None else {}
    said = {"title": texts.title, "message": texts.message, "closing_html": texts.closing_html}
    return Item(
        workspace=workspace,
        survey=row.uid,
        version=row.version,
        content_hash=row.content_hash,
        type=row.type,
        enforcement=row.enforcement,
        title=texts.title or row.title,
        message_html=texts.message or row.message,
        category=row.category,
        ends_at=row.ends_at,
        questions=tuple(
            question_in(
                (UUID(key), label, kind, tuple(options), required, question_details.read(details)), said_in or nothing
            )
            for key, label, kind, options, required, details, said_in in row.questions or ()
        ),
        closing_html=texts.closing_html or row.closing_html,
        language=row.tag or row.language,
        own_language=row.language,
        has_translations=row.tag is not None,
        own=frozenset(name for name, one in said.items() if not one) if row.texts is not None else frozenset(),
        is_first_in=row.texts is not None and not row.was_shown,
        anonymity=row.anonymity,
        split=row.split,
    )
