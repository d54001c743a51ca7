"""What a person has arranged for themselves: the columns of each list, the view with which it opens, acts by single
keys, and the language in which they are asked."""

from dataclasses import replace

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect
from sqlalchemy import update

from app.accounts.models import User
from app.errors import Invalid, NotFound
from app.languages import TAGS
from app.texts import is_keepable_line
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import NO_KEYS, done, go
from app.web.returning import way_back
from app.wording.marked import marked

DEFAULT_VIEWS = "views"
# What the address of a list says that shows everything to a person for whom it opens with a view.
WITHOUT_VIEW = {"view": "all"}
LONGEST_NAME = 50
MOST_LISTS = 100
"""More than there are, so that an address typed by hand does not fill a person's row."""


async def remember(ctx: Context, **changes: object) -> None:
    """Changes some preferences of the person who asks."""
    preferences = {**ctx.user.preferences, **changes}
    await ctx.db.execute(update(User).where(User.id == ctx.user.id).values(preferences=preferences))


def default_view(ctx: Context, name: str) -> int | None:
    """The id of the view with which the list `name` opens for the person who asks."""
    found: int | None = ctx.user.preferences.get(DEFAULT_VIEWS, {}).get(name)
    return found


async def choose_default_view(ctx: Context, name: str, view_id: int | None) -> None:
    """None: the list opens as it is."""
    chosen = {key: value for key, value in ctx.user.preferences.get(DEFAULT_VIEWS, {}).items() if key != name}
    await remember(ctx, **{DEFAULT_VIEWS: chosen if view_id is None else {**chosen, name: view_id}})


@post("/preferences/columns/{name:str}", guards=[signed_in], status_code=200)
async def choose_columns(ctx: NamedDependency[Context], name: FromPath[str]) -> Redirect:
    """Stores the ticked columns of one list; none, or `reset`, restores the default.

    Raises NotFound for a name that no list can have.
    """
    form = await ctx.form()
    keys = [str(key)[:50] for key in form.getall("columns", []) if is_keepable_line(str(key))][:50]
    columns = dict(ctx.user.preferences.get("columns", {}))
    columns.pop(name, None)
    if len(name) > LONGEST_NAME or len(columns) >= MOST_LISTS:
        raise NotFound
    if keys and not form.get("reset"):
        columns[name] = keys
    await remember(ctx, columns=columns)
    return go(await way_back(ctx) or "/")


@post("/preferences/keys", guards=[signed_in], status_code=200)
async def choose_keys(ctx: NamedDependency[Context]) -> Redirect:
    """Switches acts by single keys in lists on or off."""
    is_on = bool((await ctx.form()).get("on"))
    await remember(ctx, **{NO_KEYS: not is_on})
    return await done(ctx, "/account", marked("Single keys are on.") if is_on else marked("Single keys are off."))


@post("/preferences/language", guards=[signed_in], status_code=200)
async def choose_language(ctx: NamedDependency[Context]) -> Redirect:
    """Stores a language in which Muster speaks; "" means what the browser says. Raises Invalid for any other."""
    tag = str((await ctx.form()).get("language", ""))
    if tag not in ("", *TAGS):
        raise Invalid("Muster does not speak that language. Choose one of the list.")
    await ctx.db.execute(update(User).where(User.id == ctx.user.id).values(language=tag or None))
    ctx.person = replace(ctx.user, language=tag or None)
    return await done(ctx, "/account", marked("The language of questions and answers was saved."))


ROUTES = [choose_columns, choose_keys, choose_language]
