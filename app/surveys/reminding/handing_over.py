"""Hands due mails to the outbox, drops those that are too late, and writes each letter when its turn comes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    literal,
    not_,
    null,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import policies, tenants
from app.accounts.models import Tenant, User
from app.db.direct import Compiled, driver
from app.db.session import PLATFORM, workspace_of
from app.mail import outbox, unsubscribing
from app.mail.kinds import MailInTurn, Writers
from app.mail.letters import Letter
from app.mail.outbox import NewMail
from app.parts import Parts
from app.surveys.asking.pacing import Caller, Offer
from app.surveys.models import Invitation, Survey
from app.surveys.reminding.letters import letter
from app.surveys.reminding.turns import LASTS, WaitingMail
from app.surveys.reminding.waiting import WAITS, answered, of, remind_all_due

KIND: Final = "survey_invitation"
STEP: Final = 200
_SWITCH = "module_surveys"
_OFFER = Offer.__struct_fields__[1:]
_SAID = case(
    (answered(Invitation.user_id, Invitation.survey_id, Invitation.version, Survey.rounds_from), "answered"),
    else_=null(),
)


async def next_at(db: AsyncSession, parts: Parts, now: datetime) -> datetime | None:
    """When there is something to do here: a reminder, a due mail, or a mail that has waited too long because mail or
    surveys are off."""
    first = select(Invitation.due_at).where(WAITS).order_by(Invitation.due_at).limit(1)
    oldest = (await _OLDEST.row(driver(db), {})).due_at
    waits = [oldest + LASTS] if oldest else []
    if oldest and outbox.is_on(parts.settings):
        leaving = await db.scalar(first.join(User, User.id == Invitation.user_id).where(_on(workspace_of(db))))
        waits += [leaving] if leaving else []
    rows = await _COMING.rows(driver(db), {"workspace": workspace_of(db)})
    coming = [at for survey in rows if (at := of(survey).next_at(now))]
    return min((*waits, *coming), default=None)


def _on(workspace: str) -> ColumnElement[bool]:
    """True when a person gets mails about surveys of the workspace. If either workspace has switched surveys off, the
    mails wait."""
    return and_(policies.is_on(literal(workspace), _SWITCH), policies.is_on(User.workspace, _SWITCH))


async def _reminding(db: AsyncSession) -> Sequence[Survey]:
    """Surveys with reminders: few, as there are few published surveys; none while surveys are switched off here."""
    return (await db.scalars(select(Survey).where(_has_reminders(literal(workspace_of(db)))))).all()


def _has_reminders(workspace: ColumnElement[str]) -> ColumnElement[bool]:
    wanted = and_(Survey.status == "published", Survey.deleted_at.is_(None), Survey.remind_days.is_not(None))
    return and_(wanted, policies.is_on(workspace, _SWITCH))


# Each tick of the schedule asks both of each workspace.
_OLDEST = Compiled(select(func.min(Invitation.due_at).label("due_at")).where(WAITS))
_COMING = Compiled(
    select(Survey.published_at, Survey.starts_at, Survey.ends_at, Survey.remind_days, Survey.reminded).where(
        _has_reminders(bindparam("workspace", type_=Text))
    )
)


async def remind_due(db: AsyncSession, now: datetime) -> None:
    """Notes who gets a reminder because of `remind_days`."""
    due = [survey.id for survey in await _reminding(db) if of(survey).turn_due(now)]
    # Another worker may have been first: the row says what it did.
    held = select(Survey).where(Survey.id.in_(due), Survey.status == "published").order_by(Survey.id)
    held = held.with_for_update().execution_options(populate_existing=True)
    for survey in (await db.scalars(held)).all():
        await remind_all_due(db, survey, now)


async def hand_over(db: AsyncSession, parts: Parts, now: datetime) -> int:
    """Hands over some of what waits, the longest waiting first, in one transaction, so that each leaves once. Returns
    how many rows changed. Those of a deactivated tenant wait."""
    workspace = workspace_of(db)
    if not await tenants.hold_active(db, workspace):
        return 0
    rows = (await db.execute(_waiting(workspace, now))).all()
    fates = [(row, _of(row, workspace).fate(now)) for row in rows]
    dropped = [_key_of(row) for row, fate in fates if fate == "dropped"]
    early = [_key_of(row) for row, fate in fates if fate == "waits"]
    posted = [_key_of(row) for row, fate in fates if fate == "sent" and await _post(db, parts, row)]
    await _write(db, dropped, dropped_at=now)
    await _write(db, posted, sent_at=now)
    # Otherwise they would be checked again and again until the survey opens.
    await _write(db, early, due_at=select(Survey.starts_at).where(Survey.id == Invitation.survey_id).scalar_subquery())
    return len(dropped) + len(posted) + len(early)


def _key_of(row: Any) -> tuple[int, int, int, int]:
    return row.survey_id, row.version, row.user_id, row.turn


async def _write(db: AsyncSession, keys: Sequence[tuple[int, int, int, int]], **values: Any) -> None:
    key = tuple_(Invitation.survey_id, Invitation.version, Invitation.user_id, Invitation.turn)
    if keys:
        changed = update(Invitation).where(key.in_(keys)).values(values)
        await db.execute(changed.execution_options(synchronize_session=False))


def _waiting(workspace: str, now: datetime) -> Select[Any]:
    """What is due; and of the mails that wait because surveys are off, those that have waited too long."""
    lets_go = or_(_on(workspace), Invitation.due_at <= now - LASTS)
    due = _facts(workspace).where(WAITS, Invitation.due_at <= now, lets_go)
    due = due.order_by(Invitation.due_at, Invitation.user_id).limit(STEP)
    return due.with_for_update(of=Invitation, skip_locked=True)


def _facts(workspace: str) -> Select[Any]:
    """A row for each mail, with the survey and the account as they are now."""
    there = case((User.workspace == PLATFORM, True), else_=Tenant.active)
    offer = [getattr(Survey, name) for name in _OFFER if name != "version"]
    return (
        select(
            Invitation.survey_id,
            Invitation.version,
            Invitation.user_id,
            Invitation.turn,
            Invitation.due_at,
            Survey.version.label("current"),
            Survey.title,
            Survey.language,
            Survey.translations,
            *offer,
            User.name,
            User.email,
            User.language.label("choice"),
            User.type.label("person_type"),
            User.workspace.label("person_workspace"),
            and_(User.active, there, not_(unsubscribing.refusing(User.id, unsubscribing.SURVEYS))).label("told"),
            _on(workspace).label("on"),
            _SAID.label("outcome"),
        )
        .join(Survey, Survey.id == Invitation.survey_id)
        .join(User, User.id == Invitation.user_id)
        .outerjoin(Tenant, Tenant.key == User.workspace)
    )


def _of(row: Any, workspace: str) -> WaitingMail:
    now = {name: row.current if name == "version" else getattr(row, name) for name in _OFFER}
    caller = Caller(row.person_type, row.person_workspace)
    return WaitingMail(row.version, row.due_at, Offer(workspace, **now), caller, row.outcome, bool(row.told), row.on)


async def _post(db: AsyncSession, parts: Parts, row: Any) -> bool:
    facts = {"survey": str(row.uid), "version": row.version, "turn": row.turn}
    return await outbox.post(parts, db, NewMail(KIND, facts, row.user_id))


async def write_letter(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    """None when the person has answered meanwhile, or the survey has ended. If its start moved, or surveys were
    switched off, the mail waits again."""
    theirs = and_(
        Survey.uid == UUID(mail.facts["survey"]),
        Invitation.version == mail.facts["version"],
        Invitation.turn == mail.facts["turn"],
        Invitation.user_id == mail.user_id,
        Survey.deleted_at.is_(None),
    )
    row = (await db.execute(_facts(mail.workspace).where(theirs))).one_or_none()
    fate = _of(row, mail.workspace).fate(datetime.now(UTC)) if row else "dropped"
    if fate == "waits":
        await _write(db, [_key_of(row)], sent_at=None)
    return letter(parts, row) if fate == "sent" else None


LETTERS: Writers = MappingProxyType({KIND: write_letter})
