"""When the schedule next looks into each workspace. It is one shared table, so that a tick asks only the workspaces in
which something may be due.

A change that makes work due earlier calls `look_soon`. If a caller forgets it, the next look comes after MOST_PAUSE.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant, WorkspaceLook
from app.db.session import PLATFORM, before_commit

MOST_PAUSE = timedelta(minutes=5)
# So a tick ends even when a workspace asks for a look again and again; the next tick looks there again.
LEAST_PAUSE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Look:
    """A workspace that the schedule looks into now. If nothing is settled, the next look is at `until`."""

    workspace: str
    until: datetime


async def add_missing(db: AsyncSession) -> None:
    """Workspaces that were never looked into are due at once."""
    known = select(WorkspaceLook.workspace).where(WorkspaceLook.workspace == Tenant.key)
    tenants = (await db.scalars(select(Tenant.key).where(~known.exists()))).all()
    rows = [{"workspace": workspace} for workspace in (PLATFORM, *tenants)]
    await db.execute(insert(WorkspaceLook).on_conflict_do_nothing(), rows)


async def claim(db: AsyncSession, most: int) -> Sequence[Look]:
    """Up to `most` workspaces whose time has come; the longest waiting come first. No other worker gets them before
    MOST_PAUSE is over."""
    due = (
        select(WorkspaceLook.workspace)
        .outerjoin(Tenant, Tenant.key == WorkspaceLook.workspace)
        .where(WorkspaceLook.next_at <= func.now(), or_(WorkspaceLook.workspace == PLATFORM, Tenant.active))
        .order_by(WorkspaceLook.next_at, WorkspaceLook.workspace)
        .limit(most)
        .with_for_update(of=WorkspaceLook, skip_locked=True)
        .cte("due")
    )
    taken = (
        update(WorkspaceLook)
        .where(WorkspaceLook.workspace == due.c.workspace)
        # Each gets another pause. Otherwise workspaces that became due together would always be due together.
        .values(next_at=func.now() + MOST_PAUSE * (0.6 + 0.4 * func.random()))
        .returning(WorkspaceLook.workspace, WorkspaceLook.next_at)
        .execution_options(synchronize_session=False)
    )
    return [Look(*row) for row in await db.execute(taken)]


async def settle(db: AsyncSession, look: Look, next_at: datetime) -> None:
    """The look is over, and the next one is at `next_at`. If something changed there meanwhile, the workspace is due
    already."""
    ours = (WorkspaceLook.workspace == look.workspace) & (WorkspaceLook.next_at == look.until)
    await db.execute(update(WorkspaceLook).where(ours).values(next_at=func.greatest(next_at, func.now() + LEAST_PAUSE)))


def look_soon(db: AsyncSession, workspace: str) -> None:
    """The next tick looks into the workspace."""
    row = insert(WorkspaceLook).values(workspace=workspace, next_at=func.clock_timestamp())
    again = row.on_conflict_do_update(
        index_elements=[WorkspaceLook.workspace], set_={"next_at": func.clock_timestamp()}
    )

    async def note(db: AsyncSession) -> None:
        await db.execute(again)

    before_commit(db, note)
