"""Keeps `shared.problem_counts`, and reads it. Only the transaction that holds the lock of the workspace's problems
(app.problems.storing) may count."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, DateTime, case, cast, exists, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant
from app.db.among import among
from app.db.session import workspace_of
from app.problems.count_models import ProblemCount

_COUNT = text("""
INSERT INTO problem_counts (workspace, kind, open, snoozed)
SELECT :workspace, one.kind, (SELECT count(*) FROM problems p WHERE p.kind = one.kind AND p.closed_at IS NULL),
    coalesce((SELECT jsonb_object_agg(until, number) FROM (
        SELECT snoozed_until AS until, count(*) AS number FROM problems p
        WHERE p.kind = one.kind AND p.closed_at IS NULL AND p.snoozed_until > now() GROUP BY 1) AS snoozes), '{}')
FROM unnest(CAST(:kinds AS text[])) AS one(kind)
ON CONFLICT (workspace, kind) DO UPDATE SET open = excluded.open, snoozed = excluded.snoozed
""")


# How many problems of a row are to do now: the open ones without those that are still put off. Most rows have none of
# those, and then nothing is unpacked.
_SNOOZES = func.jsonb_each_text(ProblemCount.snoozed).table_valued("key", "value", name="snoozes")
TO_DO: ColumnElement[int] = case(
    (ProblemCount.snoozed == {}, ProblemCount.open),
    else_=func.greatest(
        0,
        ProblemCount.open
        - select(func.coalesce(func.sum(cast(_SNOOZES.c.value, BigInteger)), 0))
        .where(cast(_SNOOZES.c.key, DateTime(timezone=True)) > func.now())
        .correlate(ProblemCount)
        .scalar_subquery(),
    ),
)


async def count_again(db: AsyncSession, kinds: Collection[str]) -> None:
    """Counts the open problems of these kinds in this workspace, and when the snoozes among them end."""
    await db.execute(_COUNT, {"workspace": workspace_of(db), "kinds": sorted(kinds)})


async def count_all_again(db: AsyncSession) -> None:
    """Counts the kinds again that ever had a problem here."""
    known = await db.scalars(select(ProblemCount.kind).where(ProblemCount.workspace == workspace_of(db)))
    await count_again(db, known.all())


async def open_here(db: AsyncSession, kinds: Collection[str]) -> dict[str, int]:
    """The kinds with open problems, and how many. Snoozed ones are open."""
    here = ProblemCount.workspace == workspace_of(db), among(ProblemCount.kind, kinds), ProblemCount.open > 0
    return dict((await db.execute(select(ProblemCount.kind, ProblemCount.open).where(*here))).all())


async def open_everywhere(db: AsyncSession) -> Mapping[str, int]:
    """By kind, over all workspaces except those of deactivated tenants, where no look is made. It has each kind that
    ever had a problem, zeros included."""
    inactive = exists().where(Tenant.key == ProblemCount.workspace, ~Tenant.active)
    summed: Any = select(ProblemCount.kind, func.sum(ProblemCount.open)).where(~inactive).group_by(ProblemCount.kind)
    return {kind: int(number) for kind, number in await db.execute(summed)}
