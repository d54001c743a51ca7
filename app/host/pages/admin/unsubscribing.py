"""`/mail/unsubscribe/<token>`: ends mails of one topic, without signing in.
Mail programs post to it by themselves (RFC 8058)."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.mail import unsubscribing
from app.mail.unsubscribing import TOPICS, Wish
from app.web.context import Context
from app.web.guards import public
from app.web.pages import page


# Mail programs open links by themselves to check them, so a GET ends nothing.
@get("/mail/unsubscribe/{token:str}", guards=[public])
async def show(ctx: NamedDependency[Context], token: FromPath[str]) -> Response[Any]:
    wish = unsubscribing.wish_of(ctx.parts.keys, token)
    return await _page(ctx, token, wish, ended=await unsubscribing.refuses(ctx.db, wish.user_id, wish.topic))


# The token gives the right: mail programs have no session and no form of ours. The body is not read.
@post("/mail/unsubscribe/{token:str}", guards=[public], status_code=200)
async def end(ctx: NamedDependency[Context], token: FromPath[str]) -> Response[Any]:
    wish = unsubscribing.wish_of(ctx.parts.keys, token)
    await unsubscribing.refuse(ctx.db, wish)
    return await _page(ctx, token, wish, ended=True)


@post("/mail/unsubscribe/{token:str}/undo", guards=[public], status_code=200)
async def undo(ctx: NamedDependency[Context], token: FromPath[str]) -> Response[Any]:
    wish = unsubscribing.wish_of(ctx.parts.keys, token)
    await unsubscribing.allow(ctx.db, wish)
    return await _page(ctx, token, wish, ended=False, undone=True)


async def _page(ctx: Context, token: str, wish: Wish, *, ended: bool, undone: bool = False) -> Response[str]:
    address, topic = f"/mail/unsubscribe/{token}", TOPICS[wish.topic]
    return await page(ctx, "host/unsubscribe.html", address=address, topic=topic, ended=ended, undone=undone)


ROUTES = [show, undo]
# These come without the token of a form.
FROM_MAIL = [end]
