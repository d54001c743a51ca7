"""When the schedule next looks into each workspace. It is one shared table, so that a tick asks only the workspaces in
which something may be due.

A change that makes work due earlier calls `look_soon`. If a caller forgets it, the next look comes after MOST_PAUSE.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import DateTime, Text, column, func, or_, select, update, values
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant, WorkspaceLook
from app.db.session import PLATFORM, before_commit

MOST_PAUSE = timedelta(minutes=5)
# So a tick ends even when a workspace asks for a look again and again; the next tick looks there again.
LEAST_PAUSE = timedelta(seconds=20)
# What a worker that was killed has claimed comes to the others after this. It is longer than a tick may take.
CLAIMED_FOR = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Look:
    """A workspace that one worker looks into until `until`, and others do not before. `next_at` is when the next look
    comes if nothing there asks for an earlier one."""

    workspace: str
    until: datetime
    next_at: datetime


async def add_missing(db: AsyncSession) -> None:
    """Workspaces that were never looked into are due at once."""
    known = select(WorkspaceLook.workspace).where(WorkspaceLook.workspace == Tenant.key)
    tenants = (await db.scalars(select(Tenant.key).where(~known.exists()))).all()
    rows = [{"workspace": workspace} for workspace in (PLATFORM, *tenants)]
    await db.execute(insert(WorkspaceLook).on_conflict_do_nothing(), rows)


async def claim(db: AsyncSession, most: int) -> Sequence[Look]:
    """Up to `most` workspaces whose time has come; the longest waiting come first. The caller settles each."""
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
        .values(next_at=func.now() + CLAIMED_FOR)
        # Each gets another pause. Otherwise workspaces that became due together would always be due together.
        .returning(
            WorkspaceLook.workspace,
            WorkspaceLook.next_at,
            (func.now() + MOST_PAUSE * (0.6 + 0.4 * func.random())).label("pause"),
        )
        .execution_options(synchronize_session=False)
    )
    return [Look(*row) for row in await db.execute(taken)]


async def settle(db: AsyncSession, looks: Sequence[tuple[Look, datetime]]) -> None:
    """These looks are over; each comes with the time of the next one. If something changed there meanwhile, the
    workspace is due already. A row that another transaction changes now is left to that one: two of them never wait for
    each other."""
    wanted = values(
        column("workspace", Text), column("until", DateTime(timezone=True)), column("at", DateTime(timezone=True))
    )
    wanted = wanted.data([(look.workspace, look.until, next_at) for look, next_at in looks]).alias("wanted")
    ours = (WorkspaceLook.workspace == wanted.c.workspace) & (WorkspaceLook.next_at == wanted.c.until)
    free = (
        select(WorkspaceLook.workspace, wanted.c.at)
        .join(wanted, ours)
        .with_for_update(of=WorkspaceLook, skip_locked=True)
        .cte("free")
    )
    settled = update(WorkspaceLook).where(WorkspaceLook.workspace == free.c.workspace)
    await db.execute(
        settled.values(next_at=func.greatest(free.c.at, func.now() + LEAST_PAUSE)),
        execution_options={"synchronize_session": False},
    )


def look_soon(db: AsyncSession, workspace: str) -> None:
    """The next tick looks into the workspace."""
    row = insert(WorkspaceLook).values(workspace=workspace, next_at=func.clock_timestamp())
    again = row.on_conflict_do_update(
        index_elements=[WorkspaceLook.workspace], set_={"next_at": func.clock_timestamp()}
    )

    async def note(db: AsyncSession) -> None:
        await db.execute(again)

    before_commit(db, note)
