"""`/people/erase/<user>`: destroys the key of a person's evidence. It asks twice: for the e-mail address, then for a
confirmation."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts import accounts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner, Held
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.fields import Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import go, page

MAY = Requires("admin.erase")
FORM = Form(
    Text("typed", "Their e-mail address", required=True, help="Type it to confirm that it is the right person.")
)


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
    held = await _held(ctx, account)
    if held.anything and (await ctx.form()).get("confirmed") != "1":
        return await _ask_again(ctx, account, held)
    await erasing.erase(ctx.parts.database, ctx.actor, _person(ctx, account))
    return go(f"/people/erase/{user_id}")


async def _ask_again(ctx: Context, account: Any, held: Held) -> Response[str]:
    return await ask_first(
        ctx,
        question=f"Erase {account.name} for good?",
        consequence=f"{' '.join(held.goes)} This can't be undone.",
        submit="Destroy the key for good",
        cancel_url=f"/people/erase/{account.id}",
        fields=[("typed", account.email)],
    )


async def _page(ctx: Context, account: Any, form: Bound, *, status: int = 200) -> Response[str]:
    held = await _held(ctx, account)
    home = f"/admin/users/{account.id}" if ctx.may("admin.users") else "/"
    return await page(ctx, "surveys/erase.html", status=status, account=account, held=held, form=form, home=home)


async def _held(ctx: Context, account: Any) -> Held:
    """Both ledgers are read in transactions of their own, so a message waits for the next page."""
    ctx.flashes = []
    await ctx.settle()
    return await erasing.held(ctx.parts.database, _person(ctx, account))


def _person(ctx: Context, account: Any) -> EvidenceOwner:
    return EvidenceOwner(account.id, account.email, ctx.workspace)


ROUTES = [ask, erase]
