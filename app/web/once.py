"""A secret on the one page that follows the act that made it:
loading that page again makes nothing twice, and shows nothing.

Until then it waits sealed in the person's session, for minutes: too short a life for another key.
"""

import json
from datetime import UTC, datetime
from typing import Any

from litestar.response import Redirect

from app.secrets import Place, SecretError
from app.web import sessions
from app.web.context import Context
from app.web.pages import go
from app.web.returning import way_back
from app.web.templating import with_query


async def show_next(ctx: Context, path: str, message: str, **values: Any) -> Redirect:
    """On to the page `path`, which finds `values` with `taken`. They are kept as JSON."""
    sealed = ctx.parts.keys.seal(json.dumps(values), _place(ctx))
    await sessions.flash(ctx, message, once=path, sealed=sealed)
    return go(with_query(path, {"back": await way_back(ctx)}))


def taken(ctx: Context) -> dict[str, Any] | None:
    """What was left for this page. None where it is loaded again, or was never promised, or waited for too long. The
    page that is then made takes it away."""
    now = datetime.now(UTC).isoformat()
    here = (one for one in ctx.flashes if one.get("once") == ctx.request.url.path and one["until"] > now)
    sealed = next((one["sealed"] for one in here), None)
    if sealed is None:
        return None
    try:
        values: dict[str, Any] = json.loads(ctx.parts.keys.open(sealed, _place(ctx)).reveal())
    except SecretError:
        return None
    return values


def _place(ctx: Context) -> Place:
    return Place("sessions", "flash", ctx.workspace, str(ctx.user.id))
