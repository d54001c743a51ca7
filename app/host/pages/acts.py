"""`/acts/ID`: how far an act over a list is, what it left and why, and the button that stops it. Acts on named items
have pages of their own; their address here leads there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.db.among import among
from app.errors import NotFound
from app.long_acts import acts, progress
from app.long_acts.words import LeftItem, LongActView
from app.web.context import Context
from app.web.guards import signed_in
from app.web.long_acts.bulk import LongBulk
from app.web.long_acts.known import KINDS, NO_ACT, REASONS, kind_of, view
from app.web.pages import done, go, page


@dataclass(frozen=True, slots=True)
class ActLine:
    """An act in a row of *Jobs*. `url`: its page, where the reader may see it."""

    text: str
    url: str


@get("/acts/{act_id:int}", guards=[signed_in])
async def show(ctx: NamedDependency[Context], act_id: FromPath[int]) -> Response[Any]:
    found = await progress.read(ctx.db, act_id)
    bulk = kind_of(found)
    if not bulk.shows(ctx):
        raise NotFound(NO_ACT)
    if not isinstance(bulk, LongBulk):
        return go(f"{bulk.words.url}/{act_id}")
    return await page(
        ctx,
        "host/act.html",
        fragment="now",
        act=view(found),
        may_stop=bulk.allows(ctx),
        left=await _left(ctx, act_id, bulk),
        of=(bulk.what[1].capitalize(), found.listed),
        columns=(bulk.what[0].capitalize(), "Why"),
    )


@post("/acts/{act_id:int}/stop", guards=[signed_in], status_code=200)
async def stop(ctx: NamedDependency[Context], act_id: FromPath[int]) -> Response[Any]:
    if not kind_of(await progress.read(ctx.db, act_id)).allows(ctx):
        raise NotFound(NO_ACT)
    await acts.stop(ctx.db, ctx.actor, act_id)
    return await done(ctx, f"/acts/{act_id}", "It stops after the part that it is at. What was done stays done.")


async def told(ctx: Context, act_ids: Collection[int]) -> dict[int, ActLine]:
    """How far acts are, for *Jobs*. One statement, or none when there are no acts."""
    found = await progress.some(ctx.db, act_ids) if act_ids else []
    return {one.id: _line(ctx, view(one)) for one in found if one.kind in KINDS}


def _line(ctx: Context, act: LongActView) -> ActLine:
    return ActLine(act.line, f"/acts/{act.progress.id}" if kind_of(act.progress).shows(ctx) else "")


async def _left(ctx: Context, act_id: int, bulk: LongBulk) -> list[LeftItem]:
    left = await progress.left(ctx.db, act_id)
    names: dict[int, str] = {}
    if left and bulk.names is not None:
        named = bulk.names(ctx)
        key = named.selected_columns[0]
        rows = await ctx.db.execute(named.where(among(key, [one.item_id for one in left])))
        names = {row[0]: row[1] for row in rows}
    reasons = {**REASONS, **bulk.left}
    return [_item(bulk, one, names, one.note or _as_sentence(reasons.get(one.became, one.became))) for one in left]


def _as_sentence(words: str) -> str:
    """Its other capitals stay: *ID number*."""
    return words[:1].upper() + words[1:]


def _item(bulk: LongBulk, one: Any, names: Mapping[int, str], why: str) -> LeftItem:
    is_there = bulk.names is None or one.item_id in names
    url = f"{bulk.page}/{one.item_id}" if bulk.page and is_there else ""
    return LeftItem(names.get(one.item_id) or f"{bulk.what[0].capitalize()} {one.item_id}", url, "", "", why)


ROUTES = [show, stop]
