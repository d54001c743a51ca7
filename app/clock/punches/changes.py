"""Changes that concern very many punches, while they are under way:
what pages say of them, and when the import has to wait for one.

The request that makes such a change leaves a row; the import carries it out slice by slice. Rules and terminals:
rejudging.py. Owners of codes: rebinding.py. The time zone: mirror/rezoning.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Text, cast, exists, func, literal, null, select, text, union_all
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.clock.models import Device, OwnerChange, Rejudging, ZoneChange
from app.clock.punches import rejudging
from app.db.session import workspace_of

ZONE_IS_OPEN = ZoneChange.finished_at.is_(None)
OWNERS_ARE_OPEN = OwnerChange.finished_at.is_(None)
_KEY = "hashtextextended('clock judging ' || :workspace, 0)"
# Imports that judge share this lock. A slice that changes what all of them read holds it alone.
_JUDGE = text(f"SELECT pg_try_advisory_xact_lock_shared({_KEY})")
_WAIT = text(f"SELECT pg_advisory_xact_lock({_KEY})")
_later = aliased(ZoneChange)
_ZONE = (
    select(ZoneChange.zone, ZoneChange.rewritten, ZoneChange.total)
    .where(ZONE_IS_OPEN)
    .order_by(ZoneChange.id.desc())
    .limit(1)
)
_OWNERS = (
    select(func.sum(OwnerChange.marked), func.sum(OwnerChange.total)).where(OWNERS_ARE_OPEN).having(func.count() > 0)
)
_NO_WORD = cast(null(), Text)
_ROWS = union_all(
    select(
        literal(0).label("place"), ZoneChange.id.label("id"), _NO_WORD.label("terminal"),
        ZoneChange.rewritten.label("done"), ZoneChange.total.label("total"), ZoneChange.zone.label("zone"),
        literal(False).label("owners"),
    ).where(ZONE_IS_OPEN, ~exists().where(_later.id > ZoneChange.id, _later.finished_at.is_(None))),
    _OWNERS.with_only_columns(
        literal(1), literal(0), _NO_WORD, cast(func.sum(OwnerChange.marked), BigInteger),
        cast(func.sum(OwnerChange.total), BigInteger), _NO_WORD, literal(True),
    ),
    select(
        literal(2), Rejudging.id, func.coalesce(func.nullif(Device.alias, ""), Rejudging.terminal_sn),
        Rejudging.judged, Rejudging.total, _NO_WORD, literal(False),
    )
    .select_from(Rejudging)
    .outerjoin(Device, Device.sn == Rejudging.terminal_sn)
    .where(Rejudging.finished_at.is_(None), ~rejudging.is_joined()),
).subquery()  # fmt: skip
_ROW = func.jsonb_build_array(_ROWS.c.terminal, _ROWS.c.done, _ROWS.c.total, _ROWS.c.zone, _ROWS.c.owners)
# For a page's own SELECT: what `under_way` reads, in the form that `told` takes.
TOLD = select(func.jsonb_agg(aggregate_order_by(_ROW, _ROWS.c.place, _ROWS.c.id))).scalar_subquery()


@dataclass(frozen=True, slots=True)
class UnderWay:
    """`judged` of `total` punches so far; `total` is None until an import has begun with it. `terminal` is the name of
    the one whose direction or kind changed, None when a rule did. With `zone`, the punches get its times, and are
    judged only after that; with `owners`, those of codes that changed their owner,
    or whose owner became active or inactive, are marked."""

    terminal: str | None
    judged: int
    total: int | None
    zone: str | None = None
    owners: bool = False

    @property
    def label(self) -> str:
        if self.zone is not None:
            return f"Punches that have the times of {self.zone}"
        if self.owners:
            return "Punches of people whose binding or state changed"
        by = "the new rules" if self.terminal is None else f"what is set for {self.terminal}"
        return f"Punches judged by {by}"

    @property
    def line(self) -> str:
        """What the import does, and how far it is."""
        far = f"{self.judged:,} of {self.total:,}" if self.total is not None else "the import begins soon"
        return f"{self.label}: {far}"

    @property
    def url(self) -> str:
        return "/clock_sync#rejudging"

    @property
    def note(self) -> str:
        """What people should know while the change is under way."""
        if self.owners:
            return "The import judges nothing until all are ready."
        waits = "The import judges nothing until all have them." if self.zone else "Pages show what was judged so far."
        return f"The newest come first. {waits}"


async def under_way(db: AsyncSession) -> list[UnderWay]:
    """Changes that are being carried out, the oldest of a kind first. One that a later change joined is left out."""
    return told(await db.scalar(select(TOLD)))


def told(found: Sequence[Sequence[Any]] | None) -> list[UnderWay]:
    """What a page read as TOLD."""
    return [UnderWay(*one) for one in found or ()]


async def what_moves_times(db: AsyncSession) -> str | None:
    """The change of zone that is under way, as a sentence."""
    found = (await db.execute(_ZONE)).one_or_none()
    return f"The time zone changes to {found[0]}: {_far(found[1], found[2], 'have the new times')}." if found else None


async def what_holds_back(db: AsyncSession) -> str | None:
    """Why the import judges nothing now, as a sentence; None when it does."""
    if moving := await what_moves_times(db):
        return moving
    found = (await db.execute(_OWNERS)).one_or_none()
    return f"Bindings or people changed: {_far(found[0], found[1], 'of theirs are ready')}." if found else None


def _far(done: int, total: int | None, what: str) -> str:
    return f"{done:,} of {total:,} punches {what}" if total is not None else "the import begins with it soon"


async def may_judge(db: AsyncSession) -> bool:
    """False while a change that affects every judgement has not reached all punches. When it returns True, no such
    change begins before this transaction ends. It never waits."""
    shared = await db.scalar(_JUDGE, {"workspace": workspace_of(db)})
    return bool(shared) and await what_holds_back(db) is None


async def wait_for_judging(db: AsyncSession) -> None:
    """Waits until no import judges by the old state, and keeps it so for the rest of the transaction."""
    await db.execute(_WAIT, {"workspace": workspace_of(db)})
