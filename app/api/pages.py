"""Pages that a program may open too, with a token: who may, and how a refusal is written. The content of the pages is
elsewhere."""

from typing import Any

from litestar import Request, Response
from litestar.handlers.base import BaseRouteHandler

from app.api.tokens import TokenGuard
from app.web.context import context_of
from app.web.errors.answers import envelope, handle
from app.web.errors.refusals import logged
from app.web.guards import Connection, Requires


class PageOrScope(Requires):
    """Guard: checks the token's scope when a token is sent, otherwise the permission of the signed-in person."""

    def __init__(self, permission: str, *, module: str, scope: TokenGuard) -> None:
        super().__init__(permission, module=module)
        self.scope = scope

    async def __call__(self, connection: Connection, handler: BaseRouteHandler) -> None:
        if _is_program(connection):
            await self.scope(connection, handler)
        else:
            await super().__call__(connection, handler)


def answer_either(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The exception handler of such a page: the API's envelope for a program, a page for everybody else."""
    if not _is_program(request):
        return handle(request, error)
    return answer_program(request, error)


def answer_program(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The exception handler of an address for programs only: the API's envelope."""
    return envelope(logged(request, error), context_of(request.scope).request_id)


def _is_program(connection: Connection) -> bool:
    """A bearer token always comes from a program. Any other Authorization comes from a program only without a session,
    because behind a proxy that asks for a password browsers send one too."""
    sent = connection.headers.get("authorization", "")
    return sent.partition(" ")[0].lower() == "bearer" or (bool(sent) and context_of(connection.scope).person is None)
