"""What an act on any number of punches came to: how many, with which outcomes, and its one row in the audit."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import ARRAY, BigInteger, func, null, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.importing import at_once


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many punches the act was about, and what became of them: outcome → how many, None while the import is to come."""

    punches: int
    outcomes: dict[str, int] | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Marked:
    """What an UPDATE gave back: outcome → how many, and the ids, or one more than can be imported at once."""

    outcomes: dict[str, int]
    ids: list[int]
    days: set[date] = field(default_factory=set)

    @property
    def total(self) -> int:
        return sum(self.outcomes.values())


async def read_marked(db: AsyncSession, marked: Any, days: Any = None) -> Marked:
    """`days` collects the local days of the punches, where they are needed."""
    outcome = func.coalesce(marked.c.outcome, "")
    some = func.array_agg(marked.c.id, type_=ARRAY(BigInteger))[1 : at_once.MOST_PUNCHES + 1]
    rows = (
        await db.execute(select(outcome, func.count(), some, null() if days is None else days).group_by(outcome))
    ).all()
    return Marked(
        {word: number for word, number, _, _ in rows},
        [one for _, _, ids, _ in rows for one in ids],
        {day for *_, on in rows for day in on or ()},
    )


async def audit_marked(
    db: AsyncSession, actor: Actor, act: str, found: Marked, *, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """One row however many there are: a whole filter may hold a million."""
    subject = found.ids[0] if found.total == 1 else f"{found.total} punches"
    await audit.record(db, actor, act, "punch", subject, before=before, after=after)
