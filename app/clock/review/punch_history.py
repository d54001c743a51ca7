"""What a punch was before the server changed it, as sentences for *Why?*. The rows are written by punch_edits.py."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.codes import punch_label
from app.clock.mirror import devices
from app.clock.models import PunchChange
from app.clock.review.words import clock
from app.dates import PageZone, local_exact

MOST = 20


async def told(db: AsyncSession, punch_id: int, zone: PageZone) -> Sequence[str]:
    """One sentence for each change, the latest first, twenty at most; times are local to the connection's zone."""
    latest = select(PunchChange).where(PunchChange.punch_id == punch_id).order_by(PunchChange.id.desc()).limit(MOST)
    changes = (await db.scalars(latest)).all()
    names = await devices.names(db, {serial for one in changes if (serial := one.before.get("terminal_sn"))})
    return [sentence(change, zone, names) for change in changes]


def sentence(change: PunchChange, zone: PageZone, names: Mapping[str, str]) -> str:
    """`names` are what people call the terminals, by serial number."""
    was = ", ".join(_was(change.before, change.after, zone, names))
    record = f" Record {change.record_id} was made with that." if change.record_id is not None else ""
    return f"It was {was} on the server until {zone.time_with_seconds(change.seen_at)}.{record}"


def _was(
    before: Mapping[str, Any], after: Mapping[str, Any], zone: PageZone, names: Mapping[str, str]
) -> Iterator[str]:
    if "punched_at_local" in before:
        local, now = (datetime.fromisoformat(each["punched_at_local"]) for each in (before, after))
        yield clock(local) if local.date() == now.date() else local_exact(local, zone.today)
    elif "punched_at_utc" in before:
        yield zone.time_with_seconds(datetime.fromisoformat(before["punched_at_utc"]))
    if "emp_code" in before:
        yield f"code {before['emp_code']}"
    if "punch_code" in before:
        yield punch_label(before["punch_code"]) or "without a punch code"
    if "terminal_sn" in before:
        serial = before["terminal_sn"]
        yield f"terminal {names.get(serial, serial)}" if serial else "without a terminal"
