"""People who were erased: the audit keeps what they did, and no longer shows who they were. What erasing destroys:
app.surveys.erasing."""

from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, Text, case, cast, exists, literal, literal_column
from sqlalchemy.orm import aliased

from app.accounts.models import AuditEntry

ERASED_PERSON = "Erased person"
# Where no name is known. The number of the account follows.
GONE_ACCOUNT = "An account that no longer exists here, number"
ERASE = "person.erase"
# Constants, so that PostgreSQL uses the small index of erasures.
_ACT, _KIND = literal_column(f"'{ERASE}'", Text), literal_column("'user'", Text)


def was_erased(user_id: SQLColumnExpression[Any] | int | None) -> ColumnElement[bool]:
    """True when the account with this id, a column or a value, was erased in any workspace. False for null."""
    erasure = aliased(AuditEntry)
    return exists().where(erasure.act == _ACT, erasure.subject_type == _KIND, erasure.subject_id == cast(user_id, Text))


def actor_shown() -> ColumnElement[str]:
    """Who acted, as a column of a SELECT over the audit: the name at that time, or none if the person was erased
    since."""
    return case((was_erased(AuditEntry.actor_id), literal(ERASED_PERSON)), else_=AuditEntry.actor_name)
