"""Calendar days as instants: where a day begins, which day an instant lies in,
and columns of instants narrowed to days."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, true


def midnight(day: date, zone: tzinfo = UTC) -> datetime:
    return datetime.combine(day, time(), zone)


def utc_day(instant: datetime) -> date:
    return instant.astimezone(UTC).date()


def on_days(
    column: SQLColumnExpression[Any], days: tuple[date | None, date | None], zone: tzinfo = UTC
) -> ColumnElement[bool]:
    """The first and the last of them, both included, either open.
    Bounds on the column itself, which is what an index holds.

    The calendar's own first and last day are open ends: no instant lies beyond them, and none can be counted there.
    """
    first, last = days
    return and_(
        column >= midnight(first, zone) if first and first > date.min else true(),
        column < midnight(last + timedelta(days=1), zone) if last and last < date.max else true(),
    )
