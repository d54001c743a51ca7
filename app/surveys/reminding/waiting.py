"""Rows of `survey_invitations`: which mails about which version wait for whom. Nothing is sent here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    cast,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit, schedule_looks
from app.accounts.audit import Actor
from app.accounts.models import User
from app.db.session import workspace_of
from app.errors import Conflict
from app.mail import unsubscribing
from app.surveys.authoring import audience
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import Invitation, LedgerPerson, Response, Survey
from app.surveys.reminding.turns import INVITED, MOST_REMINDERS, Reminding

WAITS = and_(Invitation.sent_at.is_(None), Invitation.dropped_at.is_(None))


@dataclass(frozen=True, slots=True)
class MailCounts:
    """For one version: how many mails wait, and how many were handed to the outbox."""

    waiting: int
    sent: int


def unanswered(workspace: str, stored: Stored) -> tuple[ColumnElement[bool], ...]:
    """Accounts of the audience that have not answered this version, nor opted out of an earlier round of it."""
    return audience.addressed(workspace, stored.definition), not_(
        answered(User.id, literal(stored.id), literal(stored.version), literal(stored.rounds_from, BigInteger))
    )


def answered(user_id: Any, survey_id: Any, version: Any, rounds_from: Any) -> ColumnElement[bool]:
    """True for an account that has said something to the version, or opted out of a round since `rounds_from`."""
    held = and_(Response.outcome == "opted_out", Response.version.between(rounds_from, version))
    return exists().where(
        Response.survey_id == survey_id,
        or_(Response.version == version, held),
        Response.person == LedgerPerson.number,
        LedgerPerson.user_id == user_id,
    )


async def invite(db: AsyncSession, actor: Actor, stored: Stored, now: datetime) -> int:
    """Everybody in the audience of a published version who accepts mails about surveys gets an invitation once they can
    answer it. Returns how many."""
    people = select(User.id).where(*unanswered(workspace_of(db), stored), takes_mail())
    made = await _add(db, stored, people, literal(INVITED), actor, due_at=_opens_at(stored, now))
    await _note(db, actor, "invite", stored, made)
    return made


async def remind(db: AsyncSession, actor: Actor, stored: Stored, people: Select[Any], now: datetime) -> int:
    """Those of `people` (a SELECT of account ids) who have no waiting reminder and were not reminded twice; the caller
    locks the survey. Returns how many. Raises Conflict."""
    refuse_reminding(stored, now)
    made = await _remind(db, actor, stored, people, now)
    await _note(db, actor, "remind", stored, made)
    return made


def refuse_reminding(stored: Stored, now: datetime) -> None:
    """Raises Conflict when each reminder would be dropped."""
    if stored.status != "published":
        raise Conflict("The survey is not published: people are reminded of published surveys only.")
    if stored.ends_at is not None and now >= stored.ends_at:
        raise Conflict("The survey is over: it can't be answered, so people are not reminded of it.")


def can_be_answered(stored: Stored, now: datetime) -> bool:
    """True while the version is open. Earlier, people can't be asked why they have not answered."""
    starts, ends = stored.starts_at, stored.ends_at
    return stored.status == "published" and (starts is None or starts <= now) and (ends is None or now < ends)


def remindable(stored: Stored) -> ColumnElement[bool]:
    """The accounts that `remind` would not skip."""
    waits = exists().where(_reminders(stored), WAITS)
    return and_(_next_turn(stored) <= MOST_REMINDERS, not_(waits), takes_mail())


def takes_mail() -> ColumnElement[bool]:
    """Accounts whose owners have not switched off mails about surveys."""
    return not_(unsubscribing.refusing(User.id, unsubscribing.SURVEYS))


async def _remind(db: AsyncSession, actor: Actor, stored: Stored, people: Select[Any], now: datetime) -> int:
    return await _add(
        db, stored, people.where(remindable(stored)), _next_turn(stored), actor, due_at=_opens_at(stored, now)
    )


def _opens_at(stored: Stored, now: datetime) -> datetime:
    return max(now, stored.starts_at or now)


def _next_turn(stored: Stored) -> ColumnElement[int]:
    """A mail that was dropped before it was sent does not count."""
    sent = and_(_reminders(stored), Invitation.dropped_at.is_(None))
    last = select(func.coalesce(func.max(Invitation.turn), 0)).where(sent).correlate(User)
    return cast(last.scalar_subquery() + 1, BigInteger)


def _reminders(stored: Stored) -> ColumnElement[bool]:
    """Reminders of the account, in the statement around it, about this version."""
    return and_(
        Invitation.survey_id == stored.id,
        Invitation.version == stored.version,
        Invitation.user_id == User.id,
        Invitation.turn > INVITED,
    )


async def _add(
    db: AsyncSession,
    stored: Stored,
    people: Select[Any],
    turn: ColumnElement[int],
    actor: Actor,
    *,
    due_at: datetime,
) -> int:
    """One statement adds all of them; the schedule looks soon, so that they leave soon."""
    schedule_looks.look_soon(db, workspace_of(db))
    columns = ("survey_id", "version", "user_id", "turn", "asked_by", "due_at")
    rows = people.with_only_columns(
        literal(stored.id), literal(stored.version), User.id, turn, literal(actor.name), literal(due_at)
    )
    statement = insert(Invitation).from_select(list(columns), rows.order_by(None))
    again = {"asked_by": statement.excluded.asked_by, "due_at": statement.excluded.due_at, "dropped_at": None}
    key = [Invitation.survey_id, Invitation.version, Invitation.user_id, Invitation.turn]
    statement = statement.on_conflict_do_update(
        index_elements=key, set_=again, where=Invitation.dropped_at.is_not(None)
    )
    made = await db.execute(statement.returning(Invitation.user_id))
    return len(made.all())


async def remind_all_due(db: AsyncSession, survey: Survey, now: datetime) -> bool:
    """Notes the reminder that `remind_days` asks for, once for each turn; the caller locks the row. True when one was
    due."""
    turn = of(survey).turn_due(now)
    if turn is None:
        return False
    stored = await load(db, survey.uid)
    await db.execute(update(Survey).where(Survey.id == survey.id).values(reminded=turn))
    people = select(User.id).where(*unanswered(workspace_of(db), stored))
    made = await _remind(db, audit.SYSTEM, stored, people, now)
    await _note(db, audit.SYSTEM, "remind", stored, made)
    return True


def of(survey: Any) -> Reminding:
    """The reminders of a published row of `surveys` with `remind_days`."""
    published_at = survey.published_at
    opened_at = max(published_at, survey.starts_at or published_at)
    return Reminding(opened_at, survey.ends_at, survey.remind_days, survey.reminded)


async def drop(db: AsyncSession, actor: Actor, stored: Stored, now: datetime) -> int:
    """Drops every waiting mail about this survey. Returns how many."""
    waiting = update(Invitation).where(Invitation.survey_id == stored.id, WAITS).values(dropped_at=now)
    dropped = len((await db.execute(waiting.returning(Invitation.user_id))).all())
    await _note(db, actor, "drop_mail", stored, dropped)
    return dropped


async def counts(db: AsyncSession, survey_id: int, version: int) -> MailCounts:
    """The counts of one version, by the primary key."""
    waiting, sent = func.count().filter(WAITS), func.count(Invitation.sent_at)
    statement = select(waiting, sent).where(Invitation.survey_id == survey_id, Invitation.version == version)
    return MailCounts(*(await db.execute(statement)).one())


def of_version(survey_id: Any, version: Any) -> ScalarSelect[int]:
    """How many mails about it wait, as a part of another statement."""
    those = select(func.count()).where(Invitation.survey_id == survey_id, Invitation.version == version, WAITS)
    return those.scalar_subquery()


async def _note(db: AsyncSession, actor: Actor, act: str, stored: Stored, people: int) -> None:
    if people:
        told = {"version": stored.version, "people": people}
        await audit.record(db, actor, f"survey.{act}", "survey", stored.uid, after=told)
