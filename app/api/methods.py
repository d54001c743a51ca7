"""A wrong method is the last thing that an API's address refuses: 401, 403 and 404 come before it; OPTIONS names all that is offered.
No route lives here."""

import re
from typing import Any

from litestar import Litestar, Request
from litestar.enums import ScopeType
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import Receive, Scope, Send
from litestar.utils import normalize_path

from app.web.errors import handle
from app.web.guards import Public
from app.web.transport.methods import API, names_all_methods


class GuardsFirst:
    """ASGI, around the site: asks the guard of an API's address where the method is not offered. Litestar, which asks guards
    once it has found a handler, would tell anybody 405."""

    def __init__(self, site: Litestar) -> None:
        self.site = site
        routes = [route for route in site.routes if isinstance(route, HTTPRoute) and route.path.startswith(API)]
        self._methods = {route.path: route.methods for route in routes}
        self._guarded = {route.path: found for route in routes if (found := _guarded(route)) is not None}
        # Those with a part that varies, such as a receipt.
        self._varying = [(_pattern(path), path) for path in self._guarded if "{" in path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = await self._refused(scope) if scope["type"] == ScopeType.HTTP else None
        asks = scope["type"] == ScopeType.HTTP and scope["method"] == "OPTIONS"
        await (refused or self.site)(scope, receive, names_all_methods(send, scope) if asks else send)

    async def _refused(self, scope: Any) -> Any:
        """The answer for a caller who may not come in, None for everybody else."""
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
        """The route that this address is of, None when nothing guards it."""
        if path in self._guarded:
            return path
        return next((known for pattern, known in self._varying if pattern.fullmatch(path)), None)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]+\}", "[^/]+", re.escape(path)))


def _guarded(route: HTTPRoute) -> HTTPRouteHandler | None:
    """A handler whose guard stands for the whole address; None when some method is open to all."""
    handlers = [one for one in route.route_handlers if "OPTIONS" not in one.http_methods]
    if any(isinstance(guard, Public) for one in handlers for guard in one.resolve_guards()):
        return None
    return handlers[0]
