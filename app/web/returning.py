"""The way back: the list (or other page) from which a form was opened, and to which saving leads.

A form has that address in its field `back` (dialogs.way_back), a link to a form in its query; in the drawer and the
dialog it is the page beneath. A form that was opened by its address alone has none, and saving leads to what it saved.
"""

from urllib.parse import urlsplit

from app.web.context import Context

LONGEST = 2000
OVERLAYS = ("drawer", "dialog")


async def way_back(ctx: Context, *, gone: str = "") -> str:
    """An address of this site with its query, or "". It does not lead to `gone`, a path, nor to anything below that."""
    posted = str((await ctx.form()).get("back", "")) if ctx.request.method == "POST" else ""
    named = (posted, _beneath(ctx), ctx.request.query_params.get("back", ""))
    return next((one for one in named if is_ours(one) and not (gone and _is_within(one, gone))), "")


def named_way_back(ctx: Context) -> str:
    """The address that the link itself names, not the page beneath; for links that lead back into the drawer. Or ""."""
    named = str(ctx.request.query_params.get("back", ""))
    return named if is_ours(named) else ""


def is_ours(address: str) -> bool:
    """True when a browser that is sent there stays on this site. Browsers read a backslash as a slash, and skip
    tabs."""
    elsewhere = address.startswith("//") or "\\" in address or not address.isprintable()
    return address.startswith("/") and not elsewhere and len(address) <= LONGEST


def told(header: str) -> tuple[str, str]:
    """Host, and path with query, of the address in a header that browsers send; both "" when it was not sent."""
    try:
        page = urlsplit(header)
    except ValueError:
        return "", ""
    return page.netloc, with_its_query(page.path, page.query)


def with_its_query(path: str, query: str) -> str:
    return path + (f"?{query}" if query else "")


def _is_within(address: str, path: str) -> bool:
    return f"{urlsplit(address).path}/".startswith(f"{path}/")


def _beneath(ctx: Context) -> str:
    """The page over which htmx opens the answer, or ""."""
    if not ctx.wants_fragment or ctx.target not in OVERLAYS:
        return ""
    _, page = told(ctx.request.headers.get("hx-current-url", ""))
    return page
