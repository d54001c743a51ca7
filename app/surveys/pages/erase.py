"""`/people/erase/<user>`: destroys the key of a person's evidence, once its e-mail address was typed."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.host import accounts
from app.surveys import evidence
from app.surveys.evidence import Person
from app.web.context import Context
from app.web.forms import Bound, Form, Text
from app.web.guards import Requires
from app.web.pages import go, page

MAY = Requires("admin.erase")
FORM = Form(Text("typed", "Their e-mail address", required=True, help="Typed out, so that it is the right person."))


@get("/people/erase/{user_id:int}", guards=[MAY])
async def ask(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    account = await accounts.find(ctx.db, user_id)
    return await _page(ctx, account, FORM.fill({}))


@post("/people/erase/{user_id:int}", guards=[MAY], status_code=200)
async def erase(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    account = await accounts.find(ctx.db, user_id)
    form = FORM.read(await ctx.form())
    if form.ok and form["typed"].lower() != account.email:
        form.refuse("typed", f"This is not the address of {account.name}; type {account.email}.")
    if not form.ok:
        return await _page(ctx, account, form, status=422)
    await ctx.settle()
    await evidence.erase(ctx.parts.database, ctx.actor, _person(ctx, account))
    return go(f"/people/erase/{user_id}")


async def _page(ctx: Context, account: Any, form: Bound, *, status: int = 200) -> Response[str]:
    # Both ledgers are asked in transactions of their own, so what was flashed waits for the next page.
    ctx.flashes = []
    await ctx.settle()
    held = await evidence.held(ctx.parts.database, _person(ctx, account))
    home = f"/admin/users/{account.id}" if ctx.may("admin.users") else "/"
    return await page(ctx, "surveys/erase.html", status=status, account=account, held=held, form=form, home=home)


def _person(ctx: Context, account: Any) -> Person:
    return Person(account.id, account.email, ctx.workspace)


ROUTES = [ask, erase]
