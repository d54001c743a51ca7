"""Views of lists that people save: filters, order and page size under a name, for themselves or for all who see the
list. Each person may choose one with which a list opens.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from sqlalchemy import ColumnElement, Row, delete, func, literal, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.accounts.models import User
from app.errors import Invalid, NotFound
from app.host.models import SavedView
from app.registry import ListRights
from app.texts import is_readable_line, visible

LONGEST_NAME, LONGEST_QUERY, MOST_EACH = 60, 2000, 50
MISSING = "There is no such view."
TAKEN = "Another view has this name. Choose a name that tells them apart."
# Parameters that name a place in the list, or do not belong to the list.
_LEFT_OUT = frozenset({"page", "export", "back", "view"})


async def views(db: AsyncSession, name: str, user_id: int) -> Sequence[Row[Any]]:
    """The views of the list `name`: the person's own and the shared ones, by name. `owner` is the name of its owner,
    null for an account that is gone."""
    columns = SavedView.id, SavedView.name, SavedView.query, SavedView.user_id, SavedView.shared
    owner = select(User.name).where(User.id == SavedView.user_id).scalar_subquery().label("owner")
    wanted = select(*columns, owner).where(SavedView.list == name, _seen_by(user_id))
    return (await db.execute(wanted.order_by(func.lower(SavedView.name), SavedView.id))).all()


async def seen(db: AsyncSession, name: str, user_id: int, view_id: int) -> Row[str, str] | None:
    """Name and query of a view of the list `name` that the person sees, None for another one."""
    wanted = select(SavedView.name, SavedView.query).where(SavedView.list == name, SavedView.id == view_id)
    return (await db.execute(wanted.where(_seen_by(user_id)))).one_or_none()


async def editable(db: AsyncSession, name: str, user_id: int, view_id: int, *, may_share: bool) -> SavedView:
    """One's own view, or with `may_share` one that is shared; locked. Raises NotFound."""
    whose = _seen_by(user_id) if may_share else SavedView.user_id == user_id
    wanted = select(SavedView).where(SavedView.list == name, SavedView.id == view_id, whose)
    view = (await db.scalars(wanted.with_for_update(key_share=True))).one_or_none()
    if view is None:
        raise NotFound(MISSING)
    return view


async def save(db: AsyncSession, actor: Actor, rights: ListRights, name: str, address: str, *, shared: bool) -> str:
    """Keeps what the address of the list asks; a view of the same name by the same person becomes this one. Returns the
    name. Raises Invalid, also when a private view would replace a shared one: others use that."""
    name, query = _name(name), _query(rights, address)
    mine = SavedView.user_id == actor.id, SavedView.list == rights.name
    others = select(func.count()).where(*mine, func.lower(SavedView.name) != func.lower(name))
    if (await db.scalar(others) or 0) >= MOST_EACH:
        raise Invalid.at("name", f"You have {MOST_EACH} views of this list. Remove one first.")
    row = {"list": rights.name, "name": name, "query": query, "user_id": actor.id, "shared": shared}
    kept = insert(SavedView).values(row)
    again = {column: kept.excluded[column] for column in ("name", "query", "shared")}
    key: list[Any] = ["list", "user_id", text("lower(name)")]
    allowed = or_(kept.excluded.shared, ~SavedView.shared)
    statement = kept.on_conflict_do_update(index_elements=key, set_=again, where=allowed)
    view_id = await db.scalar(statement.returning(SavedView.id))
    if view_id is None:
        raise Invalid.at("name", f"You share the view “{name}”. Others use it. Choose another name.")
    after = {"list": rights.label, "name": name, "query": query, "shared": shared}
    await audit.record(db, actor, "view.save", "saved_view", view_id, after=after)
    return name


async def replaced(
    db: AsyncSession, user_id: int, rights: ListRights, name: str, address: str, *, shared: bool
) -> str | None:
    """The name of one's own view that `save` would overwrite with other rows or another order, None for none."""
    mine = SavedView.user_id == user_id, SavedView.list == rights.name, or_(~SavedView.shared, literal(shared))
    wanted = select(SavedView.name, SavedView.query).where(*mine, func.lower(SavedView.name) == func.lower(_name(name)))
    found = (await db.execute(wanted)).one_or_none()
    return found.name if found and found.query != _query(rights, address) else None


async def rename(db: AsyncSession, actor: Actor, view: SavedView, name: str) -> str:
    """Gives a view that `editable` returned another name, which it returns. Raises Invalid."""
    was, name = view.name, _name(name)
    if name == was:
        return name
    try:
        async with db.begin_nested():
            await db.execute(update(SavedView).where(SavedView.id == view.id).values(name=name))
    except IntegrityError as taken:
        raise Invalid.at("name", TAKEN) from taken
    await audit.record(db, actor, "view.rename", "saved_view", view.id, before={"name": was}, after={"name": name})
    return name


async def remove(db: AsyncSession, actor: Actor, view: SavedView) -> None:
    """Removes a view that `editable` returned."""
    await db.execute(delete(SavedView).where(SavedView.id == view.id))
    before = {"name": view.name, "query": view.query, "shared": view.shared}
    await audit.record(db, actor, "view.remove", "saved_view", view.id, before=before)


def _seen_by(user_id: int) -> ColumnElement[bool]:
    return or_(SavedView.user_id == user_id, SavedView.shared)


def _name(text: str) -> str:
    """Raises Invalid."""
    name = visible(text)
    if not name or len(name) > LONGEST_NAME or not is_readable_line(name):
        raise Invalid.at("name", f"Give the view a name of at most {LONGEST_NAME} characters.")
    return name


def _query(rights: ListRights, address: str) -> str:
    """The part of the list's address that a view keeps. Raises Invalid for an address of something else."""
    path, query = _parted(address)
    kept = urlencode([(key, value) for key, value in parse_qsl(query) if key not in _LEFT_OUT])
    if path != rights.url or len(kept) > LONGEST_QUERY or "\x00" in address or "%00" in kept:
        raise Invalid("This address does not belong to the list. Open the list, and save the view there.")
    if not kept:
        raise Invalid("Narrow or sort the list first: a view keeps its filters and its order.")
    return kept


def _parted(address: str) -> tuple[str, str]:
    """Path and query; empty when the address names a scheme or a host, or can't be read."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return ("", "") if parts.scheme or parts.netloc else (parts.path, parts.query)
