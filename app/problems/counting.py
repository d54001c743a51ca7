"""Keeps `shared.problem_counts`, and reads it. Only who holds the lock of the workspace's problems (app.problems.storing) counts."""

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
    """What is open of these kinds in this workspace."""
    await db.execute(_COUNT, {"workspace": workspace_of(db), "kinds": sorted(kinds)})


async def open_here(db: AsyncSession, kinds: Collection[str]) -> dict[str, int]:
    """By kind, those that have any. Snoozed ones are open."""
    here = ProblemCount.workspace == workspace_of(db), among(ProblemCount.kind, kinds), ProblemCount.open > 0
    return dict((await db.execute(select(ProblemCount.kind, ProblemCount.open).where(*here))).all())


async def open_everywhere(db: AsyncSession) -> Mapping[str, int]:
    """By kind, over all workspaces but those of tenants that are deactivated: no look is made there. A kind that ever had a problem, zeros
    included."""
    inactive = exists().where(Tenant.key == ProblemCount.workspace, ~Tenant.active)
    summed: Any = select(ProblemCount.kind, func.sum(ProblemCount.open)).where(~inactive).group_by(ProblemCount.kind)
    return {kind: int(number) for kind, number in await db.execute(summed)}
