"""Pages of the integration API's lists: by number or by cursor, and from where a program follows later changes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, SQLColumnExpression, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.envelope import Meta
from app.api.parameters import Moment, Paged, decode_cursor, encode_cursor
from app.db import following
from app.errors import Invalid
from app.texts import instant

Rows = Sequence[Any]
# Rows beyond it are not counted and have no page number; a cursor reaches all rows.
MOST_COUNTED = 50_000


@dataclass(frozen=True, slots=True)
class ApiList:
    """A list as its cursors know it: `keys` are the columns that it is sorted by, with their types."""

    name: str
    keys: Mapping[str, Any]
    newest_first: bool = False
    can_be_followed: bool = True

    def cursor(self, row: Any, since: datetime | None) -> str:
        """The cursor after `row`. It also carries from where to follow changes after the walk: the start of the walk,
        so that changes on pages that were read already are not missed."""
        begun = (instant(since),) if self.can_be_followed else ()
        return encode_cursor(self.name, *begun, *(getattr(row, key) for key in self.keys))

    def read(self, cursor: str) -> tuple[datetime | None, tuple[Any, ...]]:
        """From where to follow changes, and the keys of the row to continue after. Raises Invalid."""
        kinds = tuple(self.keys.values())
        if not self.can_be_followed:
            return None, decode_cursor(cursor, self.name, *kinds)
        since, *keys = decode_cursor(cursor, self.name, Moment, *kinds)
        return since, tuple(keys)


async def page_by_id(
    db: AsyncSession, asked: Paged, listing: ApiList, base: Select[Any], key: SQLColumnExpression[int]
) -> tuple[Rows, Meta]:
    """A page of `base`, sorted by `key`, its id."""
    ordered = base.order_by(key.desc() if listing.newest_first else key.asc())

    async def numbered(page: int) -> tuple[Rows, int]:
        total = await db.scalar(select(func.count()).select_from(base.subquery())) or 0
        rows: Rows = (await db.execute(ordered.offset((page - 1) * asked.per_page).limit(asked.per_page))).all()
        return rows, total

    async def behind(keys: tuple[Any, ...]) -> Rows:
        beyond = key < keys[0] if listing.newest_first else key > keys[0]
        rows: Rows = (await db.execute(ordered.where(beyond).limit(asked.per_page + 1))).all()
        return rows

    return await page_of(db, asked, listing, numbered, behind)


async def page_of_many(
    db: AsyncSession,
    asked: Paged,
    listing: ApiList,
    meant: Callable[[], Awaitable[Select[Any]]],
    *keys: SQLColumnExpression[Any],
) -> tuple[Rows, Meta]:
    """A page of a list that may be very long, in the order of `keys`, the last of which is its id. `meant` runs after
    the instant to follow from is taken. So what it reads besides, such as who was renamed, is complete up to that
    instant."""

    async def numbered(page: int) -> tuple[Rows, int | None]:
        wanted = await meant()
        offset = (page - 1) * asked.per_page
        if offset > MOST_COUNTED:
            raise Invalid.at("page", f"Pages lead through {MOST_COUNTED:,} records. Read on with `cursor`.")
        some = wanted.with_only_columns(keys[-1]).limit(MOST_COUNTED + 1).subquery()
        counted = await db.scalar(select(func.count()).select_from(some)) or 0
        rows: Rows = (await db.execute(wanted.order_by(*keys).offset(offset).limit(asked.per_page))).all()
        return rows, counted if counted <= MOST_COUNTED else None

    async def behind(last: tuple[Any, ...]) -> Rows:
        beyond = (await meant()).where(tuple_(*keys) > last)
        rows: Rows = (await db.execute(beyond.order_by(*keys).limit(asked.per_page + 1))).all()
        return rows

    return await page_of(db, asked, listing, numbered, behind)


async def page_of(
    db: AsyncSession,
    asked: Paged,
    listing: ApiList,
    numbered: Callable[[int], Awaitable[tuple[Rows, int | None]]],
    behind: Callable[[Any], Awaitable[Rows]],
) -> tuple[Rows, Meta]:
    """`numbered` returns the rows of a page and the total, or None when it is not counted. `behind` returns what
    follows a cursor: one row more than a page, if there are more."""
    meta = Meta(per_page=asked.per_page)
    if asked.cursor:
        since, keys = listing.read(asked.cursor)
        rows = await behind(keys)
        more = len(rows) > asked.per_page
    else:
        since = await following.nothing_missed_since(db) if listing.can_be_followed else None
        meta.page = asked.page or 1
        rows, total = await numbered(meta.page)
        if total is not None:
            meta.total, meta.pages = total, -(-total // asked.per_page)
        more = total is None or meta.page * asked.per_page < total
    rows = rows[: asked.per_page]
    meta.next_cursor = listing.cursor(rows[-1], since) if more and rows else None
    if listing.can_be_followed:
        meta.next_updated_since = instant(since) or ""
    return rows, meta
