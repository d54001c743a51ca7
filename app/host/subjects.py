"""What the subjects of the audit are called today, and which of them still have a page. Other modules add theirs
(app.wiring).

They are columns of the SELECT over the audit. So a page reads its rows and their names with one statement, and an
export shows the same.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
    case,
    cast,
    false,
    func,
    literal,
    null,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import aliased
from sqlalchemy.sql.selectable import LateralFromClause

from app.accounts.erased import was_erased
from app.accounts.models import ApiToken, AuditEntry, Job, Role, Tenant, User, UserType
from app.host.applications.applications import KEPT
from app.host.models import Application, AttendanceRecord, Employee, SavedView

SubjectRows = Select[*tuple[Any, ...]]
Ids = Select[int] | Select[int | None]
_EMPLOYEE = AttendanceRecord.employee_id == Employee.id
# For each kind a SELECT of its id and, if it has them: `name`, what the subject or its person is called; `user_id` and
# `employee_id` of the person it is about; `there`, false when no page shows it any longer; `workspace`, when one table
# holds the subjects of all workspaces. A kind that is not named here has no name, and a page always shows it.
KINDS: dict[str, SubjectRows] = {
    "application": select(Application.id, Application.name).where(KEPT),
    "attendance": select(
        AttendanceRecord.id,
        Employee.name,
        Employee.user_id,
        Employee.id.label("employee_id"),
        AttendanceRecord.deleted_at.is_(None).label("there"),
    ).join(Employee, _EMPLOYEE),
    "employee": select(Employee.id, Employee.name, Employee.user_id, Employee.id.label("employee_id")),
    "job": select(Job.id, Job.workspace),
    "role": select(Role.id, Role.name, Role.workspace),
    "saved_view": select(SavedView.id, SavedView.name),
    "tenant": select(Tenant.key, Tenant.name),
    "token": select(ApiToken.id, ApiToken.name, ApiToken.user_id, User.workspace).join(
        User, User.id == ApiToken.user_id
    ),
    "user": select(User.id, User.name, User.id.label("user_id"), User.workspace),
    "user_type": select(UserType.key, UserType.label.label("name"), UserType.workspace),
}
# The kinds that the audit itself also names, for when the thing is gone.
NOTED = ("application", "employee", "role", "saved_view", "survey", "token", "user", "user_type")
_NAMING = ("name", "title", "label")
_ID, _UID = "^[0-9]{1,18}$", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def offer(kind: str, rows: SubjectRows) -> None:
    """`rows` as in KINDS; the first column is what the audit calls such a subject by."""
    KINDS[kind] = rows
    found.cache_clear()


@cache
def found() -> LateralFromClause:
    """What is known of the entry's subject: `row` of (name, account, there), null where it is gone. To be joined to the
    audit."""
    whens = [(AuditEntry.subject_type == kind, _row(rows)) for kind, rows in KINDS.items()]
    return select(case(*whens, else_=None).label("row")).correlate(AuditEntry).lateral("found")


def name() -> ColumnElement[str | None]:
    """What the subject, or the person it is about, is called today; if it is gone, its last name in the audit; for an
    account also the one under which it acted. Null for an erased person."""
    known = func.coalesce(found().c.row.op("->>")(0), _noted(), _acted())
    return case((is_erased(), null()), else_=known)


def is_erased() -> ColumnElement[bool]:
    """True when it is about a person who was erased."""
    return was_erased(
        case((AuditEntry.subject_type == "user", AuditEntry.subject_id), else_=found().c.row.op("->>")(1))
    )


def is_there() -> ColumnElement[bool]:
    """False once no page shows the subject."""
    there = case((AuditEntry.subject_type.not_in(list(KINDS)), "true"), else_=found().c.row.op("->>")(2))
    return func.coalesce(there, "false") == "true"


def about(users: Ids, employees: Ids) -> ColumnElement[bool]:
    """True for entries about one of these people: their account, their person, their attendance and what else bears
    their name."""
    return or_(false(), *_about(users, employees))


def _about(users: Ids, employees: Ids) -> Iterable[ColumnElement[bool]]:
    for kind, rows in KINDS.items():
        columns = rows.selected_columns
        whose, people = ("employee_id", employees) if "employee_id" in columns else ("user_id", users)
        if whose in columns:
            theirs = rows.where(columns[whose].in_(people)).with_only_columns(cast(next(iter(columns)), Text))
            yield (AuditEntry.subject_type == kind) & AuditEntry.subject_id.in_(theirs)


def _row(rows: SubjectRows) -> ColumnElement[Any]:
    columns = rows.selected_columns
    key = next(iter(columns))
    told = [columns.get("name", null()), columns.get("user_id", null()), columns.get("there", literal(value=True))]
    here = rows.where(key == _as_key(key.type.python_type)).with_only_columns(func.jsonb_build_array(*told))
    if "workspace" in columns:
        here = here.where(columns["workspace"] == AuditEntry.workspace)
    return here.correlate(AuditEntry).scalar_subquery()


def _as_key(kind: type) -> SQLColumnExpression[Any]:
    """The entry's subject as a key of that type; null when it can't be one, such as `12 punches` of an act on many."""
    subject = AuditEntry.subject_id
    if kind is int:
        return case((subject.op("~")(_ID), cast(subject, BigInteger)), else_=None)
    if kind is UUID:
        return case((subject.op("~")(_UID), cast(subject, Uuid)), else_=None)
    return subject


def _noted() -> ColumnElement[str | None]:
    """The last name that the audit itself gives."""
    past = aliased(AuditEntry)
    given = func.coalesce(*(side[word].astext for word in _NAMING for side in (past.after, past.before)))
    last = select(given).where(
        past.workspace == AuditEntry.workspace,
        past.subject_type == AuditEntry.subject_type,
        past.subject_id == AuditEntry.subject_id,
        given.is_not(None),
    )
    newest = last.order_by(past.id.desc()).limit(1).correlate(AuditEntry).scalar_subquery()
    return case((AuditEntry.subject_type.in_(NOTED), newest), else_=None)


def _acted() -> ColumnElement[str | None]:
    """The name under which an account last acted here."""
    past = aliased(AuditEntry)
    # Not the newest row alone: for it the planner would walk through all entries, to the one of this account.
    names = func.array_agg(aggregate_order_by(past.actor_name, past.id.desc()))[1]
    acted = select(names).where(past.workspace == AuditEntry.workspace, past.actor_id == _as_key(int))
    return case((AuditEntry.subject_type == "user", acted.correlate(AuditEntry).scalar_subquery()), else_=None)
