"""Who is missing from a complete listing, and when Muster doubts that (docs/clock-servers.md).

A person confirms or refuses what is doubted; bindings follow `absent_since` in the matching pass.
"""

import hashlib
from datetime import datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.clock.mirror import cursors
from app.clock.mirror.listing_rows import LISTINGS
from app.clock.models import Cursor
from app.db.rows import affected
from app.errors import Conflict
from app.problems import looking

MANY, SHARE = 10, 0.20
EXAMPLES = 20


def is_believable(known: int, missing: int, listed: int) -> bool:
    """False when the list is empty although rows were known, and when more than 10 rows and more than 20 % would go
    at once."""
    if missing and not listed:
        return False
    return missing <= MANY or missing <= SHARE * known


async def mark_missing(
    db: AsyncSession, resource: str, run_id: int, generation: int, now: datetime
) -> tuple[int, bool]:
    """(rows newly marked as missing, whether the listing was accepted), after a complete listing of this generation.

    A doubted listing marks nothing and waits in the cursor for a person.
    """
    known, listed = (await db.execute(_COUNT[resource], {"generation": generation})).one()
    missing = known - listed
    if missing == 0 or is_believable(known, missing, listed):
        if missing:
            await db.execute(_MARK[resource], {"generation": generation, "now": now})
        await cursors.write(db, resource, "", kind="listing", state="complete", pending=None, note=None)
        return missing, True
    keys = sorted((await db.scalars(_MISSING[resource], {"generation": generation})).all())
    digest = hashlib.sha256("\n".join(keys).encode()).hexdigest()
    before = await cursors.read(db, resource)
    same = before is not None and (before.pending or {}).get("digest") == digest
    pending = {
        "missing": missing,
        "known": known,
        "listed": listed,
        "generation": generation,
        "at": now.isoformat(),
        "run_id": run_id,
        "examples": keys[:EXAMPLES],
        "digest": digest,
        "refused_by": before.pending.get("refused_by") if same and before and before.pending else None,
    }
    await cursors.write(
        db, resource, "", kind="listing", state="refused", pending=pending, note=sentence(resource, pending)
    )
    return 0, False


def sentence(resource: str, pending: dict[str, Any]) -> str:
    """For the operator: what the server said, and what was not done."""
    return (
        f"The server listed {pending['listed']} of {pending['known']} known {resource}; none was marked as missing. "
        "Confirm or refuse it in the Sync Center."
    )


async def pending(db: AsyncSession) -> list[Cursor]:
    """The listings that wait for a person, locked: no run replaces one while the person decides."""
    which = select(Cursor).where(Cursor.kind == "listing", Cursor.state == "refused").with_for_update()
    rows = await db.scalars(which)
    return [row for row in rows if row.pending and not row.pending.get("refused_by")]


async def confirm_disappearance(db: AsyncSession, actor: audit.Actor, resource: str, now: datetime) -> int:
    """Marks those that the listing did not hold, after all. Returns how many. Raises Conflict when nothing waits."""
    waiting = await _waiting(db, resource)
    marked = await db.execute(_MARK[resource], {"generation": waiting["generation"], "now": now})
    await cursors.write(db, resource, "", kind="listing", state="complete", pending=None, note=None)
    count = affected(marked)
    await looking.look_soon(db)
    await audit.record(db, actor, "clock.disappearance.confirm", "clock_listing", resource, after={"missing": count})
    return count


async def refuse_disappearance(db: AsyncSession, actor: audit.Actor, resource: str) -> None:
    """Marks no row as missing. The same listing does not ask again. Raises Conflict when nothing waits."""
    waiting = await _waiting(db, resource)
    await cursors.write(
        db, resource, "", kind="listing", state="refused", pending={**waiting, "refused_by": actor.name}
    )
    await looking.look_soon(db)
    await audit.record(
        db, actor, "clock.disappearance.refuse", "clock_listing", resource, after={"kept": waiting["missing"]}
    )


async def _waiting(db: AsyncSession, resource: str) -> dict[str, Any]:
    found = await db.scalar(
        select(Cursor).where(Cursor.resource == resource, Cursor.kind == "listing").with_for_update()
    )
    if found is None or found.state != "refused" or not found.pending:
        raise Conflict(f"No disappearance of {resource} waits for a decision.")
    return found.pending


_COUNT = {
    resource: text(
        f"SELECT count(*), count(*) FILTER (WHERE seen >= :generation) FROM {listing.table} WHERE absent_since IS NULL"
    )
    for resource, listing in LISTINGS.items()
}
_MARK = {
    resource: text(
        f"UPDATE {listing.table} SET absent_since = :now, updated_at = now()"
        " WHERE seen < :generation AND absent_since IS NULL"
    )
    for resource, listing in LISTINGS.items()
}
_MISSING = {
    resource: text(f"SELECT {listing.key} FROM {listing.table} WHERE seen < :generation AND absent_since IS NULL")
    for resource, listing in LISTINGS.items()
}
