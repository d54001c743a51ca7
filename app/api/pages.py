"""Pages that a program may open too, with a token: who may, and in whose words a refusal is told. What they show is elsewhere."""

from typing import Any

from litestar import Request, Response
from litestar.handlers.base import BaseRouteHandler

from app.api.tokens import TokenGuard
from app.web.context import context_of
from app.web.errors import envelope, handle, logged
from app.web.guards import Connection, Requires


class PageOrScope(Requires):
    """Guard: the scope of the token where one is sent, else the permission of the person who is signed in."""

    def __init__(self, permission: str, *, module: str, scope: TokenGuard) -> None:
        super().__init__(permission, module=module)
        self.scope = scope

    async def __call__(self, connection: Connection, handler: BaseRouteHandler) -> None:
        if _is_program(connection):
            await self.scope(connection, handler)
        else:
            await super().__call__(connection, handler)


def answer_either(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The exception handler of such a page: the envelope of the APIs for a program, a page for everybody else."""
    if not _is_program(request):
        return handle(request, error)
    return answer_program(request, error)


def answer_program(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The exception handler of an address that programs alone call: the envelope of the APIs."""
    return envelope(logged(request, error), context_of(request.scope).request_id)


def _is_program(connection: Connection) -> bool:
    """A client that sends Authorization is one. A browser behind a proxy that asks for a password sends its own, beside the session."""
    sent = connection.headers.get("authorization", "")
    return sent.partition(" ")[0].lower() == "bearer" or (bool(sent) and context_of(connection.scope).person is None)
