"""`/webhooks/new` and `/webhooks/ID/edit`: the address of a receiver, and what it is told of."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.errors import Conflict, Invalid
from app.host.pages.webhooks import secrets
from app.host.pages.webhooks.pages import MAY
from app.web import edits
from app.web.context import Context
from app.web.fields import Choices, Text
from app.web.forms import Bound, Form
from app.web.pages import done, page
from app.webhooks import addresses, endpoints
from app.webhooks.kinds import offered
from app.webhooks.models import WebhookEndpoint

URL = Text(
    "url",
    "Address",
    required=True,
    longest=addresses.LONGEST,
    help="Where the events go, such as https://example.org/muster. Muster posts JSON there, and follows no redirect.",
)


@get("/webhooks/new", guards=[MAY])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _form_page(ctx, _form(ctx).fill())


@post("/webhooks/new", guards=[MAY], status_code=200)
async def make(ctx: NamedDependency[Context]) -> Response[Any]:
    form = _form(ctx).read(await ctx.form())
    if refused := await _refused(ctx):
        form.absorb(refused)
    if form.ok:
        try:
            made = await endpoints.add(ctx.db, ctx.parts.keys, ctx.actor, form["url"], form["types"])
        except Invalid as refused:
            form.absorb(refused)
        except Conflict as too_many:
            form.refuse("", too_many.message)
        else:
            return await secrets.shown_next(ctx, made.id, "The webhook was added.", made.secret, rotated=False)
    return await _form_page(ctx, form, status=422)


@get("/webhooks/{webhook_id:int}/edit", guards=[MAY])
async def edit_form(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint = await endpoints.one(ctx.db, webhook_id)
    return await _form_page(ctx, edits.opened(ctx, _form(ctx), _stored(endpoint)), webhook_id)


@post("/webhooks/{webhook_id:int}/edit", guards=[MAY], status_code=200)
async def edit(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    refused = await _refused(ctx, await endpoints.url_of(ctx.db, webhook_id))
    endpoint = await endpoints.one(ctx.db, webhook_id, hold=True)
    form = await edits.sent(ctx, _form(ctx), _stored(endpoint), about=("webhook", webhook_id))
    if refused:
        form.absorb(refused)
    if form.ok:
        try:
            await endpoints.edit(ctx.db, ctx.actor, webhook_id, form["url"], form["types"])
        except Invalid as refused:
            form.absorb(refused)
        else:
            return await done(ctx, f"/webhooks/{webhook_id}", "The webhook was saved.")
    return await _form_page(ctx, form, webhook_id, status=form.status)


async def _refused(ctx: Context, known: str = "") -> Invalid | None:
    """Why Muster may not call the address in the form. None when it may, and for the address `known`, which is saved
    already: each call checks that one."""
    url = str((await ctx.form()).get("url", "")).strip()
    if url in ("", known):
        return None
    async with ctx.apart():
        try:
            await endpoints.check_reach(ctx.parts.outbound, url)
        except Invalid as refused:
            return refused
    return None


def _stored(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {"url": endpoint.url, "types": endpoint.types}


def _form(ctx: Context) -> Form:
    options = {name: f"{one.label} ({name})" for name, one in offered(on_platform=ctx.on_platform).items()}
    return Form(URL, Choices("types", "Events", required=True, options=options))


async def _form_page(ctx: Context, form: Bound, webhook_id: int | None = None, *, status: int = 200) -> Response[str]:
    return await page(
        ctx, "host/webhooks/edit.html", fragment="drawer", status=status, form=form, webhook_id=webhook_id
    )


ROUTES = [new, make, edit_form, edit]
