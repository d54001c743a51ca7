"""The editable list of user types of a workspace. A type is a word that surveys address; it gives no rights."""

import re
import unicodedata
from typing import Final

from sqlalchemy import ColumnElement, ScalarSelect, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.models import User, UserType
from app.db.session import workspace_of
from app.errors import Conflict, Invalid, NotFound

FROM_THE_START: Final = {"admin": "Admin", "staff": "Staff", "employee": "Employee", "client": "Client"}
MOST = 50


async def read(db: AsyncSession) -> dict[str, str]:
    """Key → label, by label. A workspace that never changed the list has the four types from the start."""
    rows = await db.execute(select(UserType.key, UserType.label).where(_here(db)).order_by(UserType.label))
    return {row.key: row.label for row in rows} or dict(FROM_THE_START)


def labels_in(workspace: str) -> ScalarSelect[dict[str, str] | None]:
    """Key → label, as a part of another statement; None stands for FROM_THE_START."""
    labels = select(func.jsonb_object_agg(UserType.key, UserType.label))
    return labels.where(UserType.workspace == workspace).scalar_subquery()


async def label_of(db: AsyncSession, key: str) -> str:
    """Raises NotFound."""
    types = await read(db)
    if key not in types:
        raise NotFound("There is no such user type.")
    return types[key]


async def add(db: AsyncSession, actor: audit.Actor, label: str) -> str:
    """Returns the key. It is made from the label and never changes, because surveys address people by it."""
    await materialise(db)
    types = await read(db)
    key = _key_of(label)
    if not key:
        raise Invalid.at("label", "Use at least one letter from A to Z or a digit.")
    if key in types or label.casefold() in {one.casefold() for one in types.values()}:
        raise Invalid.at("label", "There is a user type of that name already.")
    if len(types) >= MOST:
        raise Invalid.at("label", f"At most {MOST} types.")
    await db.execute(insert(UserType).values(workspace=workspace_of(db), key=key, label=label))
    await audit.record(db, actor, "user_type.add", "user_type", key, after={"label": label})
    return key


async def rename(db: AsyncSession, actor: audit.Actor, key: str, label: str) -> None:
    await materialise(db)
    types = await read(db)
    if key not in types:
        raise NotFound("There is no such user type.")
    if types[key] == label:
        return
    if label.casefold() in {one.casefold() for other, one in types.items() if other != key}:
        raise Invalid.at("label", "There is a user type of that name already.")
    await db.execute(update(UserType).where(_here(db), UserType.key == key).values(label=label))
    await audit.record(
        db, actor, "user_type.rename", "user_type", key, before={"label": types[key]}, after={"label": label}
    )


async def remove(db: AsyncSession, actor: audit.Actor, key: str) -> None:
    """Removes a type from the list. Surveys that address it keep it, because an empty filter would ask everybody.
    Raises Conflict when an account has the type."""
    await materialise(db)
    types = await read(db)
    if key not in types:
        raise NotFound("There is no such user type.")
    if used := (await in_use(db)).get(key, 0):
        raise Conflict(f"{used:,} {'account has' if used == 1 else 'accounts have'} this type. Change them first.")
    if len(types) == 1:
        raise Conflict("This is the last user type. At least one must remain.")
    await db.execute(delete(UserType).where(_here(db), UserType.key == key))
    await audit.record(db, actor, "user_type.remove", "user_type", key, before={"label": types[key]})


async def in_use(db: AsyncSession) -> dict[str, int]:
    """How many accounts have each type."""
    counted = select(User.type, func.count().label("number")).where(User.workspace == workspace_of(db))
    return {row.type: row.number for row in await db.execute(counted.group_by(User.type))}


async def materialise(db: AsyncSession) -> None:
    """Stores the four types from the start when nothing is stored yet. Otherwise the first change would lose the
    others."""
    if await db.scalar(select(func.count()).select_from(UserType).where(_here(db))):
        return
    rows = [{"workspace": workspace_of(db), "key": key, "label": label} for key, label in FROM_THE_START.items()]
    await db.execute(insert(UserType).on_conflict_do_nothing(), rows)


def _here(db: AsyncSession) -> ColumnElement[bool]:
    return UserType.workspace == workspace_of(db)


def _key_of(label: str) -> str:
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:40]
