"""The page that shows a one-time link for a password, once. Where mail is on, its owner gets it by mail too."""

from collections.abc import Sequence
from dataclasses import dataclass

from litestar import Response
from litestar.response import Redirect

from app.accounts.one_time_links import LINK_LIFE
from app.mail import outbox
from app.mail.account_letters import send_link
from app.web import once
from app.web.context import Context
from app.web.pages import go, page, shown_once


@dataclass(frozen=True, slots=True)
class LinkOwner:
    """The owner of the link. `way` are (label, address) of the pages above; `home` is where *Done* leads."""

    name: str
    email: str
    way: Sequence[tuple[str, str]]
    home: str


def way_of_link(ctx: Context) -> str:
    """How a link will reach its owner: a sentence for the form that makes it."""
    if outbox.is_on(ctx.parts.settings):
        return "They get the link by mail, and you see it once."
    return "This server sends no mail: you see the link once, and send it to them."


async def link_next(ctx: Context, path: str, user_id: int, secret: str, message: str) -> Redirect:
    """On to the page with the link: `path` answers with `link_page`. Mails the link, too."""
    mailed = await send_link(ctx.parts, ctx.db, user_id, secret)
    link = f"{ctx.parts.settings.base_url}/welcome/{secret}"
    return await once.show_next(ctx, path, message, link=link, mailed=mailed)


async def link_page(ctx: Context, owner: LinkOwner) -> Response[str] | Redirect:
    """The link for the only time: only its hash is stored."""
    if (made := once.taken(ctx)) is None:
        return go(owner.home)
    return shown_once(await page(ctx, "host/admin/user_link.html", days=LINK_LIFE.days, owner=owner, **made))
