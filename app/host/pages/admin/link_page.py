"""The page that shows a one-time link for a password, once. Where mail is on, its owner gets it by mail too."""

from collections.abc import Sequence
from dataclasses import dataclass

from litestar import Response

from app.accounts.one_time_links import LINK_LIFE
from app.mail.account_letters import send_link
from app.web.context import Context
from app.web.pages import page, shown_once


@dataclass(frozen=True, slots=True)
class LinkOwner:
    """The owner of the link. `way` are (label, address) of the pages above; `home` is where *Done* leads."""

    id: int
    name: str
    email: str
    way: Sequence[tuple[str, str]]
    home: str


async def link_page(ctx: Context, owner: LinkOwner, secret: str) -> Response[str]:
    """Shows the link for the only time: only its hash is stored."""
    link = f"{ctx.parts.settings.base_url}/welcome/{secret}"
    mailed = await send_link(ctx.parts, ctx.db, owner.id, secret)
    shown = await page(ctx, "host/admin/user_link.html", link=link, days=LINK_LIFE.days, owner=owner, mailed=mailed)
    return shown_once(shown)
