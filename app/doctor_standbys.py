"""The line *standby* of `muster doctor`: the servers beside the primary, as far as the application's role may see them.
One is the standby that takes over, another the replica that is read."""

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.config import hosts
from app.counting import count, nearest
from app.db import replica as replicas
from app.db.replica import FAULTS, MOST_LAG, Mark, Replica, ReplicaProgress, mark, progress
from app.parts import Parts

# Name of the line, level, sentence: as app.doctor has them.
Line = tuple[str, str, str]
# The state is told to members of pg_monitor alone; the names are told to everybody.
_FOLLOWERS = text(
    "SELECT coalesce(nullif(application_name, ''), 'a standby') AS name, sync_state FROM pg_stat_replication"
    " WHERE coalesce(state, 'streaming') = 'streaming' AND application_name <> 'pg_basebackup' ORDER BY 1"
)
_WAITED_FOR = text("SELECT current_setting('synchronous_standby_names')")
_SYNCHRONOUS = ("sync", "quorum")


async def look(parts: Parts) -> list[Line]:
    async with parts.database.shared_transaction() as db:
        lines = [await _standby(db, several=len(hosts.read(parts.database.url).servers) > 1)]
        since = await mark(db)
    if parts.replica is not None:
        lines.append(await _replica(parts.replica, since))
    return [line for line in lines if line is not None]


async def _standby(db: AsyncSession, *, several: bool) -> Line | None:
    followers = (await db.execute(_FOLLOWERS)).all()
    waited_for = str(await db.scalar(_WAITED_FOR))
    return judged(followers, waited_for, several=several)


def judged(followers: Sequence[Any], waited_for: str, *, several: bool) -> Line | None:
    """None when there is neither a standby nor a wish for one. `waited_for` is `synchronous_standby_names`; `several`:
    the address names more than one server."""
    if not followers:
        if waited_for:
            return "standby", "failed", f"None follows the primary, and every commit waits for {waited_for}."
        return ("standby", "warning", "None follows the primary: nothing could take over.") if several else None
    names = ", ".join(one.name for one in followers)
    follows = f"{names} follows" if len(followers) == 1 else f"{names} follow"
    if not waited_for:
        return (
            "standby",
            "warning",
            f"{follows}. No commit waits for it: set synchronous_standby_names, or the last moments may be lost.",
        )
    states = [one.sync_state for one in followers]
    if None in states:
        return (
            "standby",
            "ok",
            f"{follows}, and every commit waits for {waited_for}. A member of pg_monitor would see more.",
        )
    if not any(state in _SYNCHRONOUS for state in states):
        return "standby", "failed", f"{follows}, but every commit waits for {waited_for}, which does not."
    return "standby", "ok", f"{follows}, and has every commit before it is answered."


async def _replica(replica: Replica, since: Mark) -> Line:
    try:
        async with asyncio.timeout(2 * replicas.PATIENCE_S), replica.files.shared_transaction() as db:
            found = await progress(db, since)
    except FAULTS as fault:
        return "replica", "warning", f"It can't be reached ({type(fault).__name__}): the primary is read in its place."
    return ("replica", *standing(found, since))


def standing(found: ReplicaProgress, since: Mark) -> tuple[str, str]:
    """(level, sentence) of a replica that answers."""
    lag = found.lag(since)
    if not found.follows:
        return "warning", "That server is no standby: the primary is read in its place."
    if lag is None:
        return "warning", "How far it is behind is not known: the primary is read in its place."
    behind = f"It is {count(nearest(lag.total_seconds()), 'second', 'seconds')} behind"
    return ("ok", f"{behind}.") if lag <= MOST_LAG else ("warning", f"{behind}: the primary is read in its place.")
