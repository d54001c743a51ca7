"""Rows of `alerts`: what each person must still be told.
Reads and writes them; timing.py decides what becomes of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import msgspec
from sqlalchemy import ColumnElement, ScalarSelect, Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.alerts.models import ProblemAlert
from app.alerts.timing import AlertInTurn, State
from app.problems.models import Problem

# Rows that one transaction takes. It is more than one storm has.
MOST: Final = 10_000
_WRITE = text("""
INSERT INTO alerts (user_id, problem_id, state, due_at, opened_at, thread)
SELECT user_id, problem_id, state, due_at, opened_at, thread FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
    user_id bigint, problem_id bigint, state text, due_at timestamptz, opened_at timestamptz, thread text)
ON CONFLICT (user_id, problem_id) DO UPDATE SET
    state = excluded.state, due_at = excluded.due_at, opened_at = excluded.opened_at, thread = excluded.thread
""")


@dataclass(frozen=True, slots=True)
class WaitingAlert:
    """`thread` is the key of the mail that the next one replies to."""

    user_id: int
    problem_id: int
    alert: AlertInTurn
    thread: str | None = None


async def due(db: AsyncSession, now: datetime) -> Sequence[WaitingAlert]:
    """Due alerts, those that waited longest first; at most MOST."""
    return await _read(db, _rows().where(ProblemAlert.due_at <= now).order_by(ProblemAlert.due_at).limit(MOST))


async def of_problems(db: AsyncSession, problem_ids: ColumnElement[bool]) -> Sequence[WaitingAlert]:
    """Everybody's alerts of the problems of the condition."""
    return await _read(db, _rows().where(problem_ids))


async def of_person(db: AsyncSession, user_id: int) -> Sequence[WaitingAlert]:
    """The waiting alerts of one person."""
    return await _read(db, _rows().where(ProblemAlert.user_id == user_id, ProblemAlert.due_at.is_not(None)))


def first_due() -> ScalarSelect[Any]:
    """When the first alert of all is due, as a part of a statement."""
    return select(func.min(ProblemAlert.due_at)).where(ProblemAlert.due_at.is_not(None)).scalar_subquery()


async def write(db: AsyncSession, rows: Iterable[WaitingAlert]) -> None:
    given = [
        {
            "user_id": one.user_id,
            "problem_id": one.problem_id,
            "state": one.alert.state,
            "due_at": one.alert.due_at,
            "opened_at": one.alert.opened_at,
            "thread": one.thread,
        }
        for one in rows
    ]
    if given:
        await db.execute(_WRITE, {"rows": msgspec.json.encode(given).decode()})


def _rows() -> Select[Any]:
    facts = (Problem.kind, Problem.severity, Problem.closed_at, Problem.snoozed_until)
    return select(*ProblemAlert.__table__.columns, *facts).join(Problem, Problem.id == ProblemAlert.problem_id)


async def _read(db: AsyncSession, statement: Select[Any]) -> Sequence[WaitingAlert]:
    return [
        WaitingAlert(
            row.user_id,
            row.problem_id,
            AlertInTurn(
                row.kind,
                row.severity,
                row.opened_at,
                cast("State", row.state),
                row.due_at,
                row.closed_at,
                row.snoozed_until,
            ),
            row.thread,
        )
        for row in await db.execute(statement)
    ]
