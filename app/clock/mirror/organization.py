"""Departments, positions, areas and locations as the trees that they form,
and the remarks that operators write on them.

What a sync writes is in mirror/listing_rows.py. A unit whose parent is unknown, and one that is its own ancestor,
stands at the top.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    Subquery,
    and_,
    any_,
    exists,
    func,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.models import Area, ClockEmployee, Department, Device, Location, Position
from app.errors import Invalid, NotFound

UNITS: Mapping[str, Any] = {
    "departments": Department,
    "positions": Position,
    "areas": Area,
    "locations": Location,
}
# The column that names a person's unit. The server does not say at which location a person is.
_MEMBERS: Mapping[str, Any] = {
    "departments": lambda code: ClockEmployee.department_code == code,
    "positions": lambda code: ClockEmployee.position_code == code,
    "areas": lambda code: code == any_(ClockEmployee.area_codes),
}
LONGEST_REMARKS = 1000
DEEPEST = 30


def units(kind: str) -> Subquery:
    """The units of a kind as a subquery: id, code, name, parent_code, remarks, absent_since, depth (0 at the top) and
    path, whose order puts every unit behind its parent, siblings by name."""
    unit = UNITS[kind]
    parent = aliased(unit)
    place = func.lower(unit.name) + literal("\x01") + unit.code
    columns = (unit.id, unit.code, unit.name, unit.parent_code, unit.remarks, unit.absent_since)
    top = (*columns, literal(0).label("depth"), array([place]).label("path"))
    has_parent = exists().where(parent.code == unit.parent_code, parent.code != unit.code)
    reached = select(*top).where(~has_parent).cte("reached", recursive=True)
    below = and_(reached.c.code == unit.parent_code, reached.c.code != unit.code, reached.c.depth < DEEPEST)
    reached = reached.union_all(
        select(*columns, reached.c.depth + 1, func.array_append(reached.c.path, place)).join(reached, below)
    )
    circling = select(*top).where(unit.id.not_in(select(reached.c.id)))
    return union_all(select(reached), circling).subquery("units")


def listed(kind: str, tree: Subquery) -> Select[Any]:
    """The rows of `units` with the `parent_name` (None at the top and where the parent is unknown) and head counts:
    `people` of the unit itself, `people_below` with all under it, and the `terminals` of an area.
    People who left the server's list don't count."""
    beside = {
        "parent_name": _parent_name(kind, tree),
        "people": _people(kind, tree),
        "people_below": _people_below(kind, tree),
        "terminals": _terminals(kind, tree),
    }
    return select(*tree.c, *(count.label(name) for name, count in beside.items()))


def _parent_name(kind: str, tree: Subquery) -> ScalarSelect[Any]:
    parent = aliased(UNITS[kind])
    return select(parent.name).where(parent.code == tree.c.parent_code).scalar_subquery()


def _people(kind: str, tree: Subquery) -> ColumnElement[Any] | ScalarSelect[Any]:
    if kind not in _MEMBERS:
        return literal(None)
    here = _MEMBERS[kind](tree.c.code)
    return (
        select(func.count())
        .select_from(ClockEmployee)
        .where(here, ClockEmployee.absent_since.is_(None))
        .scalar_subquery()
    )


def _people_below(kind: str, tree: Subquery) -> ColumnElement[Any] | ScalarSelect[Any]:
    if kind not in _MEMBERS:
        return literal(None)
    under = tree.element.subquery("under")
    inside = under.c.path[1 : tree.c.depth + 1] == tree.c.path
    counted = (
        select(func.count(ClockEmployee.id.distinct()))
        .select_from(under.join(ClockEmployee, _MEMBERS[kind](under.c.code)))
        .where(inside, ClockEmployee.absent_since.is_(None))
    )
    return counted.correlate(tree).scalar_subquery()


def _terminals(kind: str, tree: Subquery) -> ColumnElement[Any] | ScalarSelect[Any]:
    if kind != "areas":
        return literal(None)
    return select(func.count()).select_from(Device).where(Device.area_code == tree.c.code).scalar_subquery()


async def held(db: AsyncSession, kind: str, unit_id: int) -> Any:
    """Code, name and remarks of a unit, locked until the transaction ends. Raises NotFound."""
    unit = UNITS[kind]
    asked = select(unit.code, unit.name, unit.remarks).where(unit.id == unit_id)
    row = (await db.execute(asked.with_for_update(key_share=True))).one_or_none()
    if row is None:
        raise NotFound
    return row


async def set_remarks(db: AsyncSession, actor: Actor, kind: str, unit_id: int, remarks: str | None) -> bool:
    """A note for operators, which no sync changes. Returns True when it changed. Raises NotFound, Invalid."""
    text = (remarks or "").strip() or None
    if text is not None and len(text) > LONGEST_REMARKS:
        raise Invalid.at("remarks", f"At most {LONGEST_REMARKS} characters; this has {len(text)}.")
    unit = UNITS[kind]
    row = await held(db, kind, unit_id)
    if row.remarks == text:
        return False
    await db.execute(update(unit).where(unit.id == unit_id).values(remarks=text))
    before, after = {"remarks": row.remarks}, {"remarks": text}
    await audit.record(db, actor, "clock.organisation.remarks", kind, row.code, before=before, after=after)
    return True
