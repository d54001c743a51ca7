"""`/views/LIST`: the saved views of a list, in the menu *Views* above it, and as a page for browsers without
scripts."""

from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.accounts.permissions import needed
from app.errors import Forbidden, Invalid, NotFound
from app.host import saved_views
from app.host.models import SavedView
from app.registry import ListRights, list_rights
from app.web import csrf, edits
from app.web.bulk import ask_first
from app.web.context import Context, provide_context
from app.web.fields import Flag, Text
from app.web.forms import Bound, Form
from app.web.guards import signed_in
from app.web.pages import done, go, page
from app.web.preferences import WITHOUT_VIEW, choose_default_view, default_view
from app.web.returning import is_ours
from app.web.templating import with_query

NAME = Form(Text("name", "Name", required=True, longest=saved_views.LONGEST_NAME))
NEW = Form(Text("name", "Save the list as it is now", longest=saved_views.LONGEST_NAME), Flag("shared", "Shared"))


@get("/views/{name:str}", guards=[signed_in])
async def index(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    return await _show(ctx, _of(ctx, name), str(ctx.request.query_params.get("at", "")), NEW.fill())


@post("/views/{name:str}", guards=[signed_in], status_code=200)
async def save(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    rights, posted = _of(ctx, name), await ctx.form()
    shared = posted.get("shared") == "1"
    if shared and not _may_share(ctx, rights):
        raise Forbidden(needed(rights.edits) if rights.edits else "Views of this list are for oneself.")
    called, address = str(posted.get("name", "")), str(posted.get("at", ""))
    try:
        was = await saved_views.replaced(ctx.db, ctx.user.id, rights, called, address, shared=shared)
        if was and posted.get("confirmed") != "1":
            return await _ask_to_replace(ctx, was, called, address, shared=shared)
        saved = await saved_views.save(ctx.db, ctx.actor, rights, called, address, shared=shared)
    except Invalid as refused:
        form = NEW.read(posted)
        form.errors.clear()
        form.absorb(refused)
        return await _show(ctx, rights, address, form, status=form.status)
    if was:
        return await done(ctx, address, f"The view “{saved}” was replaced.")
    return await done(ctx, address, f"The view “{saved}” was saved. It is in the menu Views.")


async def _ask_to_replace(ctx: Context, was: str, name: str, address: str, *, shared: bool) -> Response[Any]:
    return await ask_first(
        ctx,
        question=f"Replace the view “{was}”?",
        consequence="You have a view of this name. Its filters and order are lost. To keep them, choose another name.",
        submit="Replace",
        fields=[("name", name), ("at", address), *([("shared", "1")] if shared else [])],
        cancel_url=address,
    )


@get("/views/{name:str}/{view_id:int}/rename", guards=[signed_in])
async def rename_form(ctx: NamedDependency[Context], name: FromPath[str], view_id: FromPath[int]) -> Response[Any]:
    rights = _of(ctx, name)
    view = await _editable(ctx, rights, view_id)
    return await _ask_for_name(ctx, rights, view.name, edits.opened(ctx, NAME, {"name": view.name}))


@post("/views/{name:str}/{view_id:int}/rename", guards=[signed_in], status_code=200)
async def rename(ctx: NamedDependency[Context], name: FromPath[str], view_id: FromPath[int]) -> Response[Any]:
    rights = _of(ctx, name)
    view = await _editable(ctx, rights, view_id)
    was, form = view.name, await edits.sent(ctx, NAME, {"name": view.name}, about=("saved_view", view_id))
    if form.ok:
        try:
            await saved_views.rename(ctx.db, ctx.actor, view, form["name"])
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _ask_for_name(ctx, rights, was, form, status=form.status)
    return await done(ctx, rights.url, f"The view “{was}” is called “{form['name']}” now.")


@post("/views/{name:str}/{view_id:int}/default", guards=[signed_in], status_code=200)
async def open_with(ctx: NamedDependency[Context], name: FromPath[str], view_id: FromPath[int]) -> Response[Any]:
    rights = _of(ctx, name)
    view = await saved_views.seen(ctx.db, name, ctx.user.id, view_id)
    if view is None:
        raise NotFound(saved_views.MISSING)
    is_chosen = (await ctx.form()).get("on") == "1"
    url = with_query(rights.url, WITHOUT_VIEW)
    # A page that was loaded before another view got the star must not take that star away.
    if not is_chosen and default_view(ctx, name) != view_id:
        return await done(
            ctx, url, f"The list {rights.label} did not open with “{view.name}” for you. Nothing was changed."
        )
    await choose_default_view(ctx, name, view_id if is_chosen else None)
    now = f"with the view “{view.name}”" if is_chosen else "with all rows again"
    return await done(ctx, url, f"For you, the list {rights.label} opens {now}.")


@post("/views/{name:str}/{view_id:int}/remove", guards=[signed_in], status_code=200)
async def remove(ctx: NamedDependency[Context], name: FromPath[str], view_id: FromPath[int]) -> Response[Any]:
    rights = _of(ctx, name)
    view = await _editable(ctx, rights, view_id)
    await saved_views.remove(ctx.db, ctx.actor, view)
    if default_view(ctx, name) == view_id:
        await choose_default_view(ctx, name, None)
    return await done(ctx, rights.url, f"The view “{view.name}” was removed.")


async def before_list(request: Request[Any, Any, Any]) -> Redirect | None:
    """Litestar's before_request on the pages of lists."""
    await csrf.check(request)
    return await default_of(request)


async def default_of(request: Request[Any, Any, Any]) -> Redirect | None:
    """The address of the view with which a list opens for this person, when they open it without a filter. The list's
    guard has already let the person in."""
    if request.url.query:
        return None
    rights = next((one for one in list_rights().values() if one.url == request.url.path), None)
    if rights is None:
        return None
    ctx = await provide_context(request)
    view_id = default_view(ctx, rights.name)
    if view_id is None or ctx.wants_fragment:
        return None
    view = await saved_views.seen(ctx.db, rights.name, ctx.user.id, view_id)
    return go(f"{rights.url}?{view.query}") if view else None


async def _show(ctx: Context, rights: ListRights, at: str, form: Bound, *, status: int = 200) -> Response[Any]:
    return await page(
        ctx,
        "host/views.html",
        fragment="panel",
        status=status,
        rights=rights,
        at=at if is_ours(at) else rights.url,
        views=await saved_views.views(ctx.db, rights.name, ctx.user.id),
        may_share=_may_share(ctx, rights),
        default=default_view(ctx, rights.name),
        everything=with_query(rights.url, WITHOUT_VIEW),
        form=form,
        longest=saved_views.LONGEST_NAME,
    )


async def _editable(ctx: Context, rights: ListRights, view_id: int) -> SavedView:
    may_share = _may_share(ctx, rights)
    return await saved_views.editable(ctx.db, rights.name, ctx.user.id, view_id, may_share=may_share)


async def _ask_for_name(
    ctx: Context, rights: ListRights, name: str, form: Bound, *, status: int = 200
) -> Response[Any]:
    title = f"Rename the view “{name}”"
    return await page(
        ctx, "edit_again.html", fragment="dialog", status=status, form=form, title=title, cancel_url=rights.url
    )


def _of(ctx: Context, name: str) -> ListRights:
    """Raises NotFound for a name that no list has, and Forbidden for a person who may not see the list."""
    rights = list_rights().get(name)
    if rights is None:
        raise NotFound("There is no such list.")
    if not ctx.may(rights.sees):
        raise Forbidden(needed(rights.sees))
    return rights


def _may_share(ctx: Context, rights: ListRights) -> bool:
    return bool(rights.edits) and ctx.may(rights.edits)


ROUTES = [index, save, rename_form, rename, open_with, remove]
