"""Views of lists that people save: filters, order and page size under a name, for themselves or for all who see the list."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from sqlalchemy import delete, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.errors import Invalid, NotFound
from app.host.models import SavedView
from app.registry import ListRights
from app.texts import is_keepable_line

LONGEST_NAME, LONGEST_QUERY, MOST_EACH = 60, 2000, 50
# Parameters that name a place in the list, or do not belong to the list.
_LEFT_OUT = frozenset({"page", "export", "back"})


async def views(db: AsyncSession, name: str, user_id: int) -> Sequence[SavedView]:
    """The views of the list `name`: the person's own and the shared ones, by name."""
    wanted = select(SavedView).where(SavedView.list == name, or_(SavedView.user_id == user_id, SavedView.shared))
    return (await db.scalars(wanted.order_by(func.lower(SavedView.name), SavedView.id))).all()


async def save(db: AsyncSession, actor: Actor, rights: ListRights, name: str, address: str, *, shared: bool) -> str:
    """Keeps what the address of the list asks; a view of the same name by the same person becomes this one. Returns the name.
    Raises Invalid."""
    name, query = name.strip(), _query(rights, address)
    if not name or len(name) > LONGEST_NAME or not is_keepable_line(name):
        raise Invalid.at("name", f"Give the view a name of at most {LONGEST_NAME} characters.")
    mine = SavedView.user_id == actor.id, SavedView.list == rights.name
    others = select(func.count()).where(*mine, func.lower(SavedView.name) != func.lower(name))
    if (await db.scalar(others) or 0) >= MOST_EACH:
        raise Invalid.at("name", f"You have {MOST_EACH} views of this list. Remove one first.")
    row = {"list": rights.name, "name": name, "query": query, "user_id": actor.id, "shared": shared}
    kept = insert(SavedView).values(row)
    again = {column: kept.excluded[column] for column in ("name", "query", "shared")}
    key: list[Any] = ["list", "user_id", text("lower(name)")]
    view_id = await db.scalar(kept.on_conflict_do_update(index_elements=key, set_=again).returning(SavedView.id))
    after = {"list": rights.label, "name": name, "query": query, "shared": shared}
    await audit.record(db, actor, "view.save", "saved_view", view_id, after=after)
    return name


async def remove(db: AsyncSession, actor: Actor, name: str, view_id: int, *, may_share: bool) -> str:
    """One's own view, or with `may_share` one that is shared. Returns its name. Raises NotFound."""
    whose = or_(SavedView.user_id == actor.id, SavedView.shared) if may_share else SavedView.user_id == actor.id
    gone = delete(SavedView).where(SavedView.id == view_id, SavedView.list == name, whose)
    row = (await db.execute(gone.returning(SavedView.name, SavedView.query, SavedView.shared))).one_or_none()
    if row is None:
        raise NotFound("There is no such view.")
    before = {"name": row.name, "query": row.query, "shared": row.shared}
    await audit.record(db, actor, "view.remove", "saved_view", view_id, before=before)
    return str(row.name)


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
    """Path and query; empty when the address names a host, or can't be read."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return ("", "") if parts.netloc else (parts.path, parts.query)
