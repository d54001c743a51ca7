"""The app library: add, edit, publish, retire, delete. An app that is published and not restricted accepts ratings; the
ratings themselves are app.surveys.ratings.ratings. What an icon may be: app.host.applications.icons."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Result, UpdateBase, delete, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor, AuditedChange
from app.db.among import among
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.host.applications.application_words import PLATFORMS
from app.host.applications.icons import Icon
from app.host.models import Application, AppRating
from app.texts import is_keepable, is_readable_line, visible

MADE = {"publish": "published", "retire": "retired"}
LONGEST = {"name": 200, "description": 1000}
KEPT = Application.deleted_at.is_(None)
RATEABLE = KEPT & (Application.status == "published") & ~Application.admin_restricted


@dataclass(frozen=True, slots=True)
class ApplicationDetails:
    """What the library keeps of an app. `platforms` are words of PLATFORMS."""

    name: str
    platforms: tuple[str, ...]
    description: str | None = None
    admin_restricted: bool = False
    icon: Icon | None = None

    @classmethod
    def of(cls, row: Application) -> "ApplicationDetails":
        icon = Icon(row.icon_type, row.icon) if row.icon_type and row.icon else None
        return cls(row.name, tuple(row.platforms), row.description, row.admin_restricted, icon)

    def columns(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "platforms": list(self.platforms),
            "description": self.description,
            "admin_restricted": self.admin_restricted,
            "icon": self.icon.data if self.icon else None,
            "icon_type": self.icon.type if self.icon else None,
        }

    def told(self) -> dict[str, Any]:
        """The fields as the audit shows them. Of a picture the audit shows its kind, its size and the first digits of
        its hash."""
        shown = {name: value for name, value in self.columns().items() if name != "icon_type"}
        return {**shown, "icon": str(self.icon) if self.icon else None}


def cleaned(details: ApplicationDetails) -> ApplicationDetails:
    """Trimmed, in NFC, platforms in their order. Raises Invalid naming every field that is wrong."""
    name = visible(details.name)
    description = visible(details.description or "")
    platforms = tuple(one for one in PLATFORMS if one in details.platforms)
    problems = {
        "name": _text_problem("name", name) if name else "This is needed.",
        "description": _text_problem("description", description),
        "platforms": None if platforms and len(platforms) == len(set(details.platforms)) else "Choose at least one.",
    }
    found = [FieldError(field, problem) for field, problem in problems.items() if problem]
    if found:
        raise Invalid(" ".join(one.message for one in found), details=found)
    return ApplicationDetails(name, platforms, description or None, details.admin_restricted, details.icon)


def _text_problem(field: str, text: str) -> str | None:
    if len(text) > LONGEST[field]:
        return f"At most {LONGEST[field]} characters; this has {len(text)}."
    fits = is_readable_line(text) if field == "name" else is_keepable(text)
    return None if fits else "The text has characters that can't be stored."


async def add(db: AsyncSession, actor: Actor, details: ApplicationDetails) -> int:
    """The id of the new draft. Raises Invalid when a field is wrong or another app has the name."""
    details = cleaned(details)
    statement = insert(Application).values(details.columns()).returning(Application.id)
    app_id: int = (await _with_free_name(db, statement)).scalar_one()
    await audit.record(db, actor, "app.add", "application", app_id, after=details.told())
    return app_id


async def edit(db: AsyncSession, actor: Actor, app_id: int, details: ApplicationDetails) -> bool:
    """True when anything changed. Ratings from a platform that is taken away stay. Raises Invalid and NotFound."""
    details = cleaned(details)
    which = select(Application).where(Application.id == app_id, KEPT).with_for_update(key_share=True)
    row = (await db.scalars(which)).one_or_none()
    if row is None:
        raise NotFound
    before, after = audit.changed_fields(ApplicationDetails.of(row).told(), details.told())
    if not after:
        return False
    values = {**details.columns(), "updated_at": func.now()}
    await _with_free_name(db, update(Application).where(Application.id == app_id).values(values))
    await audit.record(db, actor, "app.edit", "application", app_id, before=before, after=after)
    return True


async def publish(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """From now on these apps accept ratings, unless they are restricted.
    Returns those that were not published before."""
    return await _move(db, actor, "publish", ids, Application.status != "published")


async def retire(db: AsyncSession, actor: Actor, ids: Iterable[int]) -> list[int]:
    """They no longer accept ratings; those they have stay. Returns the ones that were published before."""
    return await _move(db, actor, "retire", ids, Application.status == "published")


async def remove(db: AsyncSession, actor: Actor, app_id: int) -> str:
    """The name of the app that is gone. Raises NotFound, and Conflict for an app that somebody rated."""
    row = (await db.scalars(select(Application).where(Application.id == app_id, KEPT).with_for_update())).one_or_none()
    if row is None:
        raise NotFound
    theirs = AppRating.application_id == app_id
    if await db.scalar(select(exists().where(theirs, AppRating.deleted_at.is_(None)))):
        raise Conflict(rated(row.name))
    await db.execute(delete(AppRating).where(theirs))  # removed demo rows, which no figure counts
    before = {**ApplicationDetails.of(row).told(), "status": row.status}
    await db.execute(delete(Application).where(Application.id == app_id))
    await audit.record(db, actor, "app.delete", "application", app_id, before=before)
    return row.name


def rated(name: str) -> str:
    """Why an app is not deleted."""
    return f"{name} has ratings. Retire it instead: it then accepts no new ratings, and the old ones stay."


async def _move(db: AsyncSession, actor: Actor, verb: str, ids: Iterable[int], which: ColumnElement[bool]) -> list[int]:
    status = MADE[verb]
    # Locked in one order, so that two bulk acts never wait for each other.
    chosen = select(Application.id, Application.status).where(among(Application.id, ids), which, KEPT)
    rows = (await db.execute(chosen.order_by(Application.id).with_for_update(key_share=True))).all()
    moved = [row.id for row in rows]
    await db.execute(
        update(Application).where(among(Application.id, moved)).values(status=status, updated_at=func.now())
    )
    changes = [AuditedChange(row.id, {"status": row.status}, {"status": status}) for row in rows]
    await audit.record_many(db, actor, f"app.{verb}", "application", changes)
    return moved


async def _with_free_name(db: AsyncSession, statement: UpdateBase) -> Result[Any]:
    """Runs a write; names are unique, case apart. Raises Invalid when another app has this one."""
    try:
        async with db.begin_nested():
            return await db.execute(statement)
    except IntegrityError as taken:
        raise Invalid.at("name", "Another app has this name. Choose a name that tells them apart.") from taken
