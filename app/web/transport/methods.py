"""Which methods an address takes, for refusals (405) and for OPTIONS."""

import re
from typing import Any

from litestar import Request
from litestar.datastructures import MutableScopeHeaders
from litestar.routes import HTTPRoute
from litestar.status_codes import HTTP_204_NO_CONTENT
from litestar.types import Message, Scope, Send

from app.web.context import context_in

API = ("/api/", "/v1/api/")
# These take no HEAD: a HEAD is rolled back, and what a GET of the last one does must stay.
NO_HEAD = (*API, "/ping/")


def names_all_methods(send: Send, scope: Scope) -> Send:
    """Litestar's own answer to OPTIONS knows only the methods of the first handler of an address, and no HEAD."""

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTP_204_NO_CONTENT:
            MutableScopeHeaders.from_message(message)["Allow"] = allowed(Request(scope))
        await send(message)

    return named


def allowed(request: Request[Any, Any, Any]) -> str:
    """The methods as a 405 has to name them (RFC 9110, 15.5.6)."""
    return ", ".join(sorted(_methods(request) | _head(request)))


def _methods(request: Request[Any, Any, Any]) -> set[str]:
    path = request.url.path.rstrip("/") or "/"
    routes = [route for route in request.app.routes if isinstance(route, HTTPRoute)]
    fitting = [one for one in routes if one.path_format == path] or [
        one for one in routes if re.fullmatch(_pattern(one.path), path)
    ]
    return {method for one in fitting for method in one.methods}


def _pattern(path: str) -> str:
    rest_of_it = re.sub(r"\\\{[^}]*:path\\\}", ".+", re.escape(path))
    return re.sub(r"\\\{[^}]*\}", "[^/]+", rest_of_it)


def _head(request: Request[Any, Any, Any]) -> set[str]:
    """Pages answer HEAD wherever they answer GET; the gate does it."""
    context = context_in(request.scope)
    is_page = not request.url.path.startswith(NO_HEAD) and "GET" in _methods(request)
    return {"HEAD"} if is_page and not (context and context.is_head) else set()
