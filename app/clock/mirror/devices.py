"""What an operator sets on a terminal: direction, attendance or door reader, remarks. What a sync writes is in
mirror/listing_rows.py.

Each verb returns how many punches are judged again because of it. Pages and `muster clock:device` call the same ones.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, Text, and_, case, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.codes import Direction
from app.clock.models import Device, Punch
from app.clock.punches import marks, rejudging
from app.clock.settings import read_settings
from app.counting import count_up_to
from app.db.among import among
from app.errors import Invalid, NotFound
from app.problems import looking
from app.texts import is_keepable, trimmed

KINDS = {"attendance": "Attendance", "access": "Door reader"}
DIRECTIONS = {
    Direction.BY_CODE.value: "By code",
    Direction.IN.value: "In",
    Direction.OUT.value: "Out",
    Direction.UNDIRECTED.value: "Undirected",
}
LONGEST_REMARKS = 1000
MOST_COUNTED = 10_000
# What the server says of a terminal; the operator's mark goes before it.
REMOTE_KIND = case((Device.remote_attendance.is_(False), "access"), else_="attendance")
KIND = func.coalesce(Device.kind_mark, REMOTE_KIND)


async def names(db: AsyncSession, serials: Collection[str]) -> dict[str, str]:
    """What people call these terminals, by serial number; those without a name are left out."""
    named = select(Device.sn, Device.alias).where(Device.sn.in_(serials), Device.alias.is_not(None), Device.alias != "")
    return {row.sn: row.alias for row in await db.execute(named)}


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """`judged_again` counts punches without a record; those that stand keep what they are (docs/rules.md)."""

    changed: bool
    judged_again: int = 0


async def set_direction(db: AsyncSession, actor: Actor, serial: str, direction: str | None) -> DeviceChange:
    """None goes back to the setting `default_direction`. Raises NotFound, Invalid."""
    device = await _held(db, serial)
    again = await judged_again(db, [serial], direction=direction)
    default = (await read_settings(db)).default_direction
    turned = (device.direction or default) != (direction or default)
    return await _set(db, actor, device, "direction", direction, again=again, turned=turned)


async def set_kind(db: AsyncSession, actor: Actor, serial: str, kind: str | None) -> DeviceChange:
    """None leaves it to the server's flag. Raises NotFound, Invalid."""
    device = await _held(db, serial)
    again = await judged_again(db, [serial], kind=kind)
    return await _set(db, actor, device, "kind_mark", kind, again=again, turned=True)


async def set_remarks(db: AsyncSession, actor: Actor, serial: str, remarks: str | None) -> DeviceChange:
    """A note for operators that no sync ever changes. Raises NotFound, Invalid."""
    text = trimmed(remarks or "") or None
    if text is not None and len(text) > LONGEST_REMARKS:
        raise Invalid.at("remarks", f"At most {LONGEST_REMARKS} characters; this has {len(text)}.")
    if text is not None and not is_keepable(text):
        raise Invalid.at("remarks", "The text has characters that can't be stored.")
    return await _set(db, actor, await _held(db, serial), "remarks", text)


async def judged_again(db: AsyncSession, serials: Sequence[str], **change: str | None) -> int:
    """How many punches would be judged again if these terminals got the given `direction` or `kind`; MOST_COUNTED at
    most. A terminal for which nothing changes does not count. Raises Invalid for an unknown word."""
    for name, value in change.items():
        words = DIRECTIONS if name == "direction" else KINDS
        if value is not None and value not in words:
            raise Invalid.at(name, f"Give one of {', '.join(words)}.")
    if "direction" in change:
        default = (await read_settings(db)).default_direction
        turned = func.coalesce(Device.direction, default) != (change["direction"] or default)
    else:
        turned = _is_access(literal(change["kind"], Text())) != _is_access(Device.kind_mark)
    at = and_(Punch.terminal_sn == Device.sn, among(Device.sn, serials), turned)
    meant = select(Punch.id).join(Device, at).where(rejudging.JUDGED_BEFORE).limit(MOST_COUNTED)
    return await db.scalar(select(func.count()).select_from(meant.subquery())) or 0


def punches(number: int) -> str:
    """A number of `judged_again` in words."""
    return count_up_to(MOST_COUNTED, number, "punch", "punches")


def _is_access(mark: SQLColumnExpression[Any]) -> ColumnElement[bool]:
    """True for a punch that does not count for attendance. A person's mark goes before all that the server says."""
    said = or_(Device.remote_attendance.is_(False), Punch.remote_attendance.is_(False))
    return func.coalesce(mark == "access", said)


async def held(db: AsyncSession, device_id: int) -> Any:
    """What is set on a terminal, locked until the transaction ends, with its serial number `sn` and the `name` that
    people call it: the alias, where it has one. Raises NotFound."""
    name = func.coalesce(func.nullif(Device.alias, ""), Device.sn).label("name")
    return await _one_held(db, select(*_SET, name).where(Device.id == device_id))


async def serials_of(db: AsyncSession, device_ids: Sequence[int]) -> list[str]:
    """The serial numbers in the order of the ids, so that two acts that lock many terminals never deadlock."""
    return list(await db.scalars(select(Device.sn).where(among(Device.id, device_ids)).order_by(Device.id)))


_SET: tuple[Any, ...] = (Device.sn, Device.direction, Device.kind_mark, Device.remarks)


async def _held(db: AsyncSession, serial: str) -> Any:
    return await _one_held(db, select(*_SET).where(Device.sn == serial))


async def _one_held(db: AsyncSession, asked: Select[Any]) -> Any:
    device = (await db.execute(asked.with_for_update(key_share=True))).one_or_none()
    if device is None:
        raise NotFound("There is no such terminal.")
    return device


async def _set(
    db: AsyncSession, actor: Actor, device: Any, name: str, value: str | None, *, again: int = 0, turned: bool = False
) -> DeviceChange:
    """`turned`: punches of the terminal now count in another way. They are judged again even when `again` is 0, because
    an import may be judging them for the first time, by the earlier setting."""
    before = getattr(device, name)
    if before == value:
        return DeviceChange(changed=False)
    values = {name: value, "updated_at": func.now()}
    await db.execute(update(Device).where(Device.sn == device.sn).values(values))
    if turned:
        await marks.mark_terminal(db, device.sn)
    if name != "remarks":
        await looking.look_soon(db)
    after = {name: value, "judged_again": again} if again else {name: value}
    await audit.record(db, actor, f"clock.device.{name}", "terminal", device.sn, before={name: before}, after=after)
    return DeviceChange(changed=True, judged_again=again)
