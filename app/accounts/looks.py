"""When the schedule looks into which workspace: one shared table, so that a tick asks only those in which something may be due.

A workspace that changes when its work is due says so with `look_soon`. If that were forgotten somewhere, MOST_PAUSE would find it.
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
# So that a tick ends, also where somebody wants to be looked into at once, and the next one looks again.
LEAST_PAUSE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Look:
    """A workspace that the schedule looks into now. Unless it says otherwise, the next look is at `until`."""

    workspace: str
    until: datetime


async def add_missing(db: AsyncSession) -> None:
    """Workspaces that were never looked into are due at once."""
    known = select(WorkspaceLook.workspace).where(WorkspaceLook.workspace == Tenant.key)
    tenants = (await db.scalars(select(Tenant.key).where(~known.exists()))).all()
    rows = [{"workspace": workspace} for workspace in (PLATFORM, *tenants)]
    await db.execute(insert(WorkspaceLook).on_conflict_do_nothing(), rows)


async def claim(db: AsyncSession, most: int) -> Sequence[Look]:
    """Up to `most` workspaces whose time has come, those that waited longest. No other worker gets them before MOST_PAUSE is over."""
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
        # Not all after the same time: who became due together would do so for ever.
        .values(next_at=func.now() + MOST_PAUSE * (0.6 + 0.4 * func.random()))
        .returning(WorkspaceLook.workspace, WorkspaceLook.next_at)
        .execution_options(synchronize_session=False)
    )
    return [Look(*row) for row in await db.execute(taken)]


async def settle(db: AsyncSession, look: Look, next_at: datetime) -> None:
    """The workspace was looked into and wants to be again at `next_at`. Where something changed there meanwhile, it is due already."""
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
