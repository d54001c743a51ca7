"""Keeps `shared.problem_counts`, and reads it. Only the transaction that holds the lock of the workspace's problems
(app.problems.storing) may count."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import exists, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant
from app.db.among import among
from app.db.session import workspace_of
from app.problems.count_models import ProblemCount

_COUNT = text("""
INSERT INTO problem_counts (workspace, kind, open)
SELECT :workspace, one.kind, (SELECT count(*) FROM problems p WHERE p.kind = one.kind AND p.closed_at IS NULL)
FROM unnest(CAST(:kinds AS text[])) AS one(kind)
ON CONFLICT (workspace, kind) DO UPDATE SET open = excluded.open
""")


async def count_again(db: AsyncSession, kinds: Collection[str]) -> None:
    """Counts the open problems of these kinds in this workspace."""
    await db.execute(_COUNT, {"workspace": workspace_of(db), "kinds": sorted(kinds)})


async def open_here(db: AsyncSession, kinds: Collection[str]) -> dict[str, int]:
    """The kinds with open problems, and how many. Snoozed ones are open."""
    here = ProblemCount.workspace == workspace_of(db), among(ProblemCount.kind, kinds), ProblemCount.open > 0
    return dict((await db.execute(select(ProblemCount.kind, ProblemCount.open).where(*here))).all())


async def open_everywhere(db: AsyncSession) -> Mapping[str, int]:
    """By kind, over all workspaces except those of deactivated tenants, where no look is made. It has each kind that ever had a
    problem, zeros included."""
    inactive = exists().where(Tenant.key == ProblemCount.workspace, ~Tenant.active)
    summed: Any = select(ProblemCount.kind, func.sum(ProblemCount.open)).where(~inactive).group_by(ProblemCount.kind)
    return {kind: int(number) for kind, number in await db.execute(summed)}
