"""`/views/LIST`: the saved views of a list, in the menu *Views* above it, and as a page for browsers without scripts."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts.permissions import needed
from app.errors import Forbidden, NotFound
from app.host import saved_views
from app.registry import ListRights, list_rights
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import done, page
from app.web.returning import is_ours


@get("/views/{name:str}", guards=[signed_in])
async def index(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    rights = _of(ctx, name)
    at = str(ctx.request.query_params.get("at", ""))
    return await page(
        ctx,
        "host/views.html",
        fragment="panel",
        rights=rights,
        at=at if is_ours(at) else rights.url,
        views=await saved_views.views(ctx.db, name, ctx.user.id),
        may_share=_may_share(ctx, rights),
        longest=saved_views.LONGEST_NAME,
    )


@post("/views/{name:str}", guards=[signed_in], status_code=200)
async def save(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    rights, form = _of(ctx, name), await ctx.form()
    shared = form.get("shared") == "1"
    if shared and not _may_share(ctx, rights):
        raise Forbidden(needed(rights.edits) if rights.edits else "Views of this list are for oneself.")
    address = str(form.get("at", ""))
    saved = await saved_views.save(ctx.db, ctx.actor, rights, str(form.get("name", "")), address, shared=shared)
    return await done(ctx, address, f"The view “{saved}” was saved. It is in the menu Views.")


@post("/views/{name:str}/{view_id:int}/remove", guards=[signed_in], status_code=200)
async def remove(ctx: NamedDependency[Context], name: FromPath[str], view_id: FromPath[int]) -> Response[Any]:
    rights = _of(ctx, name)
    gone = await saved_views.remove(ctx.db, ctx.actor, name, view_id, may_share=_may_share(ctx, rights))
    return await done(ctx, rights.url, f"The view “{gone}” was removed.")


def _of(ctx: Context, name: str) -> ListRights:
    """Raises NotFound for what is not a list, and Forbidden for who may not see the list."""
    rights = list_rights().get(name)
    if rights is None:
        raise NotFound("There is no such list.")
    if not ctx.may(rights.sees):
        raise Forbidden(needed(rights.sees))
    return rights


def _may_share(ctx: Context, rights: ListRights) -> bool:
    return bool(rights.edits) and ctx.may(rights.edits)


ROUTES = [index, save, remove]
