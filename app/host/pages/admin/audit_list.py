"""The list of the audit: its rows with the names of people, its columns and its filters. Pages: audit."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import BigInteger, ColumnElement, Select, and_, case, false, literal, or_, select, true
from sqlalchemy.sql.selectable import LateralFromClause

from app.accounts.audit import COMMAND_LINE
from app.accounts.audit_words import (
    ACTORS,
    SUBJECTS,
    act_label,
    actor_label,
    acts_named,
    changes_of,
    days_in_words,
    subject_label,
    subject_named,
)
from app.accounts.erased import ERASED_PERSON, actor_shown, was_erased
from app.accounts.models import AuditEntry, User
from app.dates import PageZone
from app.db.days import on_days
from app.db.searching import contains
from app.host import subjects
from app.host.models import Employee
from app.host.subjects import Ids
from app.periods import today_in
from app.texts import whole
from app.web.list_spec import Column, Empty, Filter, ListSpec, Query

Condition = ColumnElement[bool]
_BY_COMMAND = and_(AuditEntry.actor_id.is_(None), AuditEntry.actor_name == COMMAND_LINE.name)
_BY: dict[str, Condition] = {
    "person": and_(AuditEntry.actor_id.is_not(None), AuditEntry.actor_token.is_(None)),
    "token": AuditEntry.actor_token.is_not(None),
    "command": _BY_COMMAND,
    "system": and_(AuditEntry.actor_id.is_(None), ~_BY_COMMAND),
}


def rows(workspace: str) -> Select[Any]:
    """The entries of the workspace, each with the names that it needs."""
    return _rows(subjects.found()).where(AuditEntry.workspace == workspace)


def keys(workspace: str) -> Select[Any]:
    """Only the ids of the same entries, without the names."""
    return select(AuditEntry.id).where(AuditEntry.workspace == workspace)


@cache
def _rows(found: LateralFromClause) -> Select[Any]:
    erased = was_erased(AuditEntry.actor_id)
    token = case((AuditEntry.actor_token.is_(None), None), (erased, literal("")), else_=AuditEntry.actor_token)
    columns = (
        AuditEntry.id,
        AuditEntry.at,
        AuditEntry.actor_id,
        actor_shown().label("actor_name"),
        token.label("actor_token"),
        AuditEntry.act,
        AuditEntry.subject_type,
        AuditEntry.subject_id,
        subjects.name().label("subject_name"),
        subjects.is_erased().label("subject_erased"),
        subjects.is_there().label("subject_there"),
        AuditEntry.before,
        AuditEntry.after,
        AuditEntry.ip,
        AuditEntry.request_id,
    )
    return select(*columns).select_from(AuditEntry).outerjoin(found, true())


def who(row: Any) -> str:
    return actor_label(row.actor_name, row.actor_token)


def on_what(row: Any, zone: PageZone | None = None) -> str:
    """As a page says it, in its `zone`; without a zone as a file says it."""
    subject = days_in_words(row.subject_id, zone) if zone else row.subject_id
    return subject_label(row.subject_type, subject, row.subject_name, erased=row.subject_erased)


def _act(text: str) -> Condition:
    """Acts by words of their label, or by how their name begins: `user.e`. The acts are named one by one, so that an
    index finds the few entries of a rare one."""
    return AuditEntry.act.in_([*acts_named(text), text])


def _actor(text: str) -> Condition:
    """By the name of the person or of the token. Erased people are found as *Erased person*, and not by a name."""
    named = contains(AuditEntry.actor_name, AuditEntry.actor_token)(text)
    erased = was_erased(AuditEntry.actor_id)
    return or_(and_(named, ~erased), erased if text.casefold() in ERASED_PERSON.casefold() else false())


def _subject(workspace: str) -> Callable[[str], Condition]:
    def where(text: str) -> Condition:
        """`user`, `user 12`, as the page says it or as it is kept; an id alone; or the name of a person."""
        kind, subject = subject_named(text)
        exactly = AuditEntry.subject_type == kind
        if subject:
            exactly = and_(exactly, AuditEntry.subject_id == subject)
        if kind in SUBJECTS:
            return exactly
        return or_(exactly, AuditEntry.subject_id == text, subjects.about(*_named(workspace, text)))

    return where


def _person(workspace: str) -> Callable[[str], Condition]:
    def where(text: str) -> Condition:
        """What they did and what was done to them: `user 12`, `person 7`, or by name,
        also one that an account had when it acted."""
        kind, subject = subject_named(text)
        number = whole(subject, 18) if kind in ("user", "employee") else None
        if number is not None:
            users, employees = _numbered(kind, number)
            return or_(AuditEntry.actor_id.in_(users), subjects.about(users, employees))
        users, employees = _named(workspace, text)
        then = and_(contains(AuditEntry.actor_name)(text), AuditEntry.actor_id.is_not(None))
        by = or_(AuditEntry.actor_id.in_(users), and_(then, ~was_erased(AuditEntry.actor_id)))
        return or_(by, subjects.about(users, employees))

    return where


def _numbered(kind: str, number: int) -> tuple[Ids, Ids]:
    """Ids of the account and of the person that belong together, from the number of either."""
    itself = select(literal(number, BigInteger))
    if kind == "user":
        return itself, select(Employee.id).where(Employee.user_id == number)
    return select(Employee.user_id).where(Employee.id == number, Employee.user_id.is_not(None)), itself


def _named(workspace: str, text: str) -> tuple[Ids, Ids]:
    """The same for all people with such a name, on the account or as an employee. Erased people have no name."""
    staff = and_(contains(Employee.name)(text), ~was_erased(Employee.user_id))
    here = and_(User.workspace == workspace, ~was_erased(User.id))
    accounts = and_(here, contains(User.name, User.email)(text))
    users = or_(accounts, and_(here, User.id.in_(select(Employee.user_id).where(staff))))
    employees = or_(staff, Employee.user_id.in_(select(User.id).where(accounts)))
    return select(User.id).where(users), select(Employee.id).where(employees)


SPEC = ListSpec(
    name="audit",
    label="entries",
    url="/admin/audit",
    key=AuditEntry.id,
    sort="-at",
    columns=(
        Column("at", "When", lambda row: row.at, AuditEntry.id),
        Column("actor", "Who", who),
        Column("act", "Act", lambda row: act_label(row.act)),
        Column("code", "Code", lambda row: row.act, shown=False, hint="The name of the act that never changes"),
        Column("subject", "On", on_what),
        Column("changes", "What changed", lambda row: changes_of(row.subject_type, row.before, row.after)),
        Column("ip", "From", lambda row: row.ip, shown=False, hint="Network address of the person who acted"),
        Column("request", "Request", lambda row: row.request_id, shown=False),
    ),
    filters=(
        Filter("person", "Person", lambda _: true(), placeholder="Person, by name"),
        Filter("actor", "Who", _actor, placeholder="Who", advanced=True),
        Filter("by", "Acted by", _BY.__getitem__, kind="select", options=ACTORS, advanced=True),
        Filter("act", "Act", _act, placeholder="Act, such as edited"),
        Filter("subject", "On", lambda _: true(), placeholder="On, such as person 12", advanced=True),
        Filter("", "Day", lambda _: true(), kind="range"),
    ),
    empty=Empty("history", "Nothing was done yet", "Every act of a person or of the system appears here."),
)


def spec(workspace: str, here: ZoneInfo, query: Query) -> ListSpec:
    """The people are those of the workspace. Days are in its zone, both ends included. Entries of some days are read in
    the order of the index that finds them: in the order of their numbers, all newer entries would be read first."""

    def within(days: tuple[date | None, date | None]) -> Condition:
        return on_days(AuditEntry.at, days, here)

    conditions: dict[str, Callable[[Any], Condition]] = {
        "person": _person(workspace),
        "subject": _subject(workspace),
        "": within,
    }
    filters = tuple(replace(one, where=conditions.get(one.name, one.where)) for one in SPEC.filters)
    has_days = any(str(query.get(name) or "").strip() for name in filters[-1].parameters)
    first, *others = SPEC.columns
    columns = (replace(first, order=AuditEntry.at), *others) if has_days else SPEC.columns
    return replace(SPEC, columns=columns, filters=filters, today=today_in(here.key))
