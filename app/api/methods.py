"""A wrong method is refused last: 401, 403 and 404 come before 405. OPTIONS names all methods of an address.

No route is here.
"""

import re
from typing import Any

from litestar import Litestar, Request
from litestar.enums import ScopeType
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import Receive, Scope, Send
from litestar.utils import normalize_path

from app.web.errors.answers import handle
from app.web.guards import Public
from app.web.transport.methods import API, names_all_methods


class GuardsFirst:
    """ASGI middleware around the site. When an address of an API does not offer the method, it asks the address's guard
    first. Litestar asks guards only after it has found a handler, so it would answer 405 to everybody."""

    def __init__(self, site: Litestar) -> None:
        self.site = site
        routes = [route for route in site.routes if isinstance(route, HTTPRoute) and route.path.startswith(API)]
        self._methods = {route.path: route.methods for route in routes}
        self._guarded = {route.path: found for route in routes if (found := _guarded(route)) is not None}
        # Addresses with a variable part, such as a receipt.
        self._varying = [(_pattern(path), path) for path in self._guarded if "{" in path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = await self._refused(scope) if scope["type"] == ScopeType.HTTP else None
        asks = scope["type"] == ScopeType.HTTP and scope["method"] == "OPTIONS"
        await (refused or self.site)(scope, receive, names_all_methods(send, scope) if asks else send)

    async def _refused(self, scope: Any) -> Any:
        """The refusal for a caller who may not enter, None for all others."""
        path = self._known(normalize_path(scope["path"]))
        if path is None or scope["method"] in self._methods[path]:
            return None
        request: Request[Any, Any, Any] = Request(scope)
        try:
            await self._guarded[path].authorize_connection(request)
        except Exception as error:  # noqa: BLE001 - as Litestar's own exception handler takes everything
            return handle(request, error).to_asgi_response(app=None, request=request)
        return None

    def _known(self, path: str) -> str | None:
        """The route of this address; None when it has no guard."""
        if path in self._guarded:
            return path
        return next((known for pattern, known in self._varying if pattern.fullmatch(path)), None)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]+\}", "[^/]+", re.escape(path)))


def _guarded(route: HTTPRoute) -> HTTPRouteHandler | None:
    """A handler whose guard stands for the whole address; None when one of its methods is open to all."""
    handlers = [one for one in route.route_handlers if "OPTIONS" not in one.http_methods]
    if any(isinstance(guard, Public) for one in handlers for guard in one.resolve_guards()):
        return None
    return handlers[0]
