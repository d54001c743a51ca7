"""What is stored between one person and the surveys: one SELECT for all published surveys, one for a single survey.

What follows from it: pacing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import (
    BigInteger,
    Label,
    and_,
    bindparam,
    func,
    select,
    text,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import KeyedColumnElement
from sqlalchemy.types import NullType

from app.db.direct import Compiled, driver
from app.db.session import workspace_of
from app.surveys.asking import items, opting_out
from app.surveys.asking.pacing import Gap, Offer, PromptHistory
from app.surveys.item import Item
from app.surveys.ledger import people
from app.surveys.ledger.evidence import Key
from app.surveys.models import PersonKey, PromptState, Response, Survey
from app.surveys.translations import candidates
from app.surveys.words import Shown


class Situation(msgspec.Struct, frozen=True):
    """One survey as it is now, and what happened between it and one person. `wording_id` is None until it is
    published."""

    id: int
    offer: Offer
    state: PromptHistory
    content_hash: str
    wording_id: int | None


@dataclass(frozen=True, slots=True)
class Published:
    """The published surveys of one workspace, in no order, and when the person lately saw which optional one."""

    situations: tuple[Situation, ...]
    shown: dict[UUID, datetime]


@dataclass(frozen=True, slots=True)
class Met:
    """A single survey with its words, and the person's number and key in its workspace: the number is None when it must
    be given first, the key None when they have none. `is_noted` says whether every app that got this version left a
    note of it."""

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
    """Tells SQLAlchemy that the value is a list already; otherwise it would make the same list again in every row."""
    return type_coerce(array, NullType()).label(array.name)


_user = bindparam("user", type_=BigInteger)
# Tables, not models: selecting a model's attributes costs twice as much for each row.
_number = people.number()
_survey, _row, _state, _key = (kind.__table__ for kind in (Survey, Response, PromptState, PersonKey))
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
# One row even when nothing is published: what was shown also spaces surveys of the other workspace.
_lately = select(func.jsonb_object_agg(_recent.c.uid, _recent.c.at, type_=JSONB).label("shown")).subquery("lately")
# In the order of the fields of Offer and PromptHistory: `_situation` makes each from a slice.
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
    select(*_SITUATION, *items.WORDS, _survey.c.unnoted_version, *_PERSON)
    .select_from(_survey)
    .join(items.SPOKEN, true())
    .outerjoin(_state, _SHOWN)
    .outerjoin(_row, _ANSWERED)
    .outerjoin(_key, and_(_key.c.user_id == _number, _key.c.erased_at.is_(None)))
    .where(_survey.c.uid == bindparam("uid"), _survey.c.deleted_at.is_(None))
)


async def published(db: AsyncSession, user_id: int, now: datetime, gap_hours: int) -> Published:
    rows = await _PUBLISHED.rows(driver(db), {"user": user_id, "since": now - timedelta(hours=gap_hours)})
    shown = {UUID(uid): datetime.fromisoformat(at) for uid, at in (rows[0].shown or {}).items()}
    workspace = workspace_of(db)
    return Published(tuple(_situation(row, workspace) for row in rows if row.id is not None), shown)


async def one(db: AsyncSession, user_id: int, uid: UUID, languages: Iterable[str] = ()) -> Met | None:
    """The survey in any status, and its words; None when this workspace has none with that uid. `languages` are tags of
    what the person reads, best first."""
    row = await _ONE.row(driver(db), {"user": user_id, "uid": uid, "tags": candidates(languages)})
    if row is None:
        return None
    key = None if row.key_id is None else Key(row.key_id, row.person, row.sealed_key)
    noted = row.version != row.unnoted_version
    return Met(_situation(row, workspace_of(db)), items.item_of(row, workspace_of(db)), row.person, key, noted)


def gap(hours: int, *read: Published) -> Gap:
    """What spaces optional surveys, over all workspaces that were read."""
    return Gap(hours, {uid: at for one in read for uid, at in one.shown.items()})


def _situation(row: Any, workspace: str) -> Situation:
    return Situation(
        row.id, Offer(workspace, *row[_AT_OFFER]), PromptHistory(*row[_AT_STATE]), row.content_hash, row.wording_id
    )
