"""A bulk act over a whole filter with more than a thousand rows: the page notes it, and a job carries it out in slices.

A page describes such an act as a `LongBulk`, and its module gives it to the site. So a worker finds the rows exactly as
the page did. How far an act is, and the button that stops it: `/acts/ID`. The walk itself: app.long_acts.over_lists.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

from litestar import Response
from litestar.datastructures import MultiDict
from sqlalchemy import Select, SQLColumnExpression, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.policies import enabled
from app.counting import count_up_to
from app.dates import PageZone
from app.db.among import among
from app.errors import Forbidden, Invalid
from app.long_acts import acts, over_lists
from app.long_acts.models import LongAct
from app.long_acts.over_lists import Asked, MeantRows, SliceOutcome
from app.parts import Parts
from app.texts import whole
from app.web import lists, sessions
from app.web.bulk import ask_first, ask_to, carried, seen_at
from app.web.context import Context
from app.web.list_spec import ListSpec, Query
from app.web.pages import go
from app.web.templating import with_query

# A page acts on so many rows itself, and a question counts no further.
INLINE_LIMIT = acts.INLINE_LIMIT
MOST_COUNTED = 100_000
# Parts of an address that are not its filter.
NO_FILTER = {"sort", "page", "per_page", "back", "export"}
HOW = "A job does it in small parts. Its page shows how far it is, and what stays and why. You can stop it there."


@dataclass(frozen=True, slots=True)
class BulkRows:
    """The list as the page has it, and its rows, narrowed to those that the act changes."""

    spec: ListSpec
    base: Select[Any]


Rows = Callable[[Context, Query, str], Awaitable[BulkRows]]
Moment = SQLColumnExpression[datetime]
Names = Callable[[Context], Select[*tuple[Any, ...]]]
Changes = Callable[[Context, Sequence[Any], Mapping[str, Any]], Awaitable[SliceOutcome]]


@dataclass(frozen=True, slots=True)
class LongBulk:
    """`kind` names the act; it never changes. `what` are its rows, one and several; `doing` and `past` say what is done
    to them. `rows` takes the filter and the list's address. `changes` carries out a slice of `at_once` keys, and gets
    what the form gave. `left` says why rows stay, `names` selects keys and names of rows of the reader's workspace, and
    `page` is where one row is shown, by its key.

    To begin or stop it, a person needs `permission`; to watch it, `sees` (by default the same); both need the switch of
    `module`. With `on_platform` they must belong to the platform. Without one of the rights `also` the act can't begin,
    and a current one ends. It also ends when `rows` raises a Refusal; what `changes` raises is about single rows.
    `made_at`: when a row was made, if keys do not grow; younger rows are not meant. `changed_at`: a row that changed
    after the question was shown is left.
    """

    kind: str
    doing: str
    past: str
    what: tuple[str, str]
    permission: str
    rows: Rows
    changes: Changes
    module: str | None = None
    left: Mapping[str, str] = field(default_factory=dict)
    names: Names | None = None
    page: str = ""
    on_platform: bool = False
    sees: str = ""
    also: tuple[str, ...] = ()
    made_at: Moment | None = None
    changed_at: Moment | None = None
    at_once: int = 500

    def allows(self, ctx: Context) -> bool:
        return self._may(ctx, self.permission)

    def shows(self, ctx: Context) -> bool:
        """True for a person who may watch it: who may see the list."""
        return self._may(ctx, self.sees or self.permission)

    def _may(self, ctx: Context, permission: str) -> bool:
        is_on = self.module is None or enabled(ctx.policies, f"module_{self.module}")
        return ctx.may(permission) and is_on and (ctx.on_platform or not self.on_platform)

    async def opened(self, parts: Parts, workspace: str, db: AsyncSession, act: LongAct) -> MeantRows:
        """Opens the act for a worker, as the person who asked, with the rights that they have now. Raises Forbidden
        without them."""
        by = act.arguments["by"]
        ctx = Context(parts, db, by["request_id"] or "", by["ip"] or "", "", token_name=by["token"])
        await sessions.stand_in(ctx, act.actor_id, workspace)
        if ctx.person is None or not self.allows(ctx) or not all(map(ctx.may, self.also)):
            raise Forbidden(f"{act.actor_name} may no longer do this.")
        ctx.tell_times_in(by["zone"])
        query = MultiDict(parse_qsl(act.list_query or ""))
        rows = await self.rows(ctx, query, act.arguments["url"])
        # *Last week* counts from the day on which the person asked.
        asked_on = PageZone.at(ZoneInfo(by["zone"]), act.begun_at).today
        spec = replace(rows.spec, today=asked_on) if rows.spec.today else rows.spec
        since = over_lists.asked_at(act)
        base = rows.base if self.made_at is None else rows.base.where(self.made_at <= since)

        async def carry_out(some: Sequence[Any]) -> SliceOutcome:
            same = await self._unchanged(db, rows, some, over_lists.seen_at(act))
            return await self.changes(ctx, same, act.arguments["what"]) if same else SliceOutcome(0)

        return MeantRows(_keys(BulkRows(spec, base), query), rows.spec.key, carry_out, self.at_once)

    async def _unchanged(self, db: AsyncSession, rows: BulkRows, keys: Sequence[Any], since: datetime) -> Sequence[Any]:
        """Leaves out rows that changed since: the person who asked has not seen them as they are now."""
        if self.changed_at is None:
            return keys
        key = rows.spec.key
        same = rows.base.with_only_columns(key).where(among(key, keys), self.changed_at <= since)
        return list(await db.scalars(same.order_by(None)))


def each(
    verb: Callable[..., Awaitable[Sequence[Any]]],
) -> Changes:
    """Adapts a verb that takes keys and returns those that it changed."""

    async def changes(ctx: Context, keys: Sequence[Any], _: Mapping[str, Any]) -> SliceOutcome:
        return SliceOutcome(len(await verb(ctx.db, ctx.actor, keys)))

    return changes


async def at_length(
    ctx: Context,
    bulk: LongBulk,
    url: str,
    ask: Callable[[str], Awaitable[dict[str, Any]]],
    *,
    what: Mapping[str, Any] | None = None,
    asks: Callable[..., Awaitable[Response[Any]]] | None = None,
) -> Response[Any] | None:
    """When a whole filter with more than INLINE_LIMIT rows is meant, asks about the act or begins it. Otherwise None:
    the page acts itself.

    `ask` gets the rows in words and gives the values of `ask_to` or `ask_first`; `asks` replaces it. `what`: what else
    the form gave for the act. Raises Invalid for a filter or a last row that can't be read.
    """
    form = await ctx.form()
    if form.get("all") != "1":
        return None
    rows = await bulk.rows(ctx, ctx.request.query_params, url)
    keys = _keys(rows, ctx.request.query_params)
    if await _number(ctx.db, keys, INLINE_LIMIT + 1) <= INLINE_LIMIT:
        return None
    upto = str(form.get("last") or await ctx.db.scalar(select(func.max(rows.spec.key))))
    over_lists.key_of(upto, rows.spec.key)
    number = await _number(ctx.db, keys, MOST_COUNTED)
    if _agreed(form, number):
        total = number if number < MOST_COUNTED else None
        asked = Asked(bulk.kind, url, _filter(ctx), upto, total, what or {}, seen=await seen_at(ctx))
        return await _begin(ctx, bulk, asked)
    values = await ask(count_up_to(MOST_COUNTED, number, *bulk.what))
    values["consequence"] = f"{values['consequence']} {HOW}"
    asks = asks or (ask_to if "verb" in values else ask_first)
    fields = [*await carried(ctx, number), ("last", upto)]
    return await asks(ctx, fields=fields, cancel_url=url, **values)


def _agreed(form: Mapping[str, Any], number: int) -> bool:
    """Rows that left the filter meanwhile need no second question, because the act does less than the person agreed
    to."""
    agreed = whole(str(form.get("number", "")), 18)
    return form.get("confirmed") == "1" and bool(form.get("last")) and agreed is not None and number <= agreed


def _filter(ctx: Context) -> str:
    """The filter of the address, in one order, however it was written."""
    given = ctx.request.query_params
    kept = {name: given.getall(name) for name in sorted(set(given)) if name not in NO_FILTER}
    return with_query("", kept).removeprefix("?")


async def _begin(ctx: Context, bulk: LongBulk, asked: Asked) -> Response[Any]:
    actor, zone = ctx.actor, await ctx.zone()
    by = {"ip": actor.ip, "request_id": actor.request_id, "token": actor.token, "zone": zone.name}
    act_id = await over_lists.begin(ctx.db, actor, replace(asked, by=by))
    few = count_up_to(MOST_COUNTED, asked.total or MOST_COUNTED, *bulk.what)
    await sessions.flash(ctx, f"{few}: a job does it, and this page shows its progress.", level="success")
    return go(f"/acts/{act_id}")


def _keys(rows: BulkRows, query: Query) -> Select[Any]:
    """The keys of the rows. Raises Invalid when the filter can't be read: an act must never reach further than the
    person asked."""
    wanted = lists.asked(rows.spec, query)
    if wanted.errors:
        raise Invalid("The filter can't be read; reload the list.")
    return rows.base.with_only_columns(rows.spec.key).where(lists.condition(rows.spec, wanted)).order_by(None)


async def _number(db: AsyncSession, keys: Select[Any], most: int) -> int:
    return await db.scalar(select(func.count()).select_from(keys.limit(most).subquery())) or 0
