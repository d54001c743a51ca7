"""Who may: every route has exactly one guard: one of these or of `app.api` (`TokenGuard`, `PageOrScope`). A test checks
all routes."""

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler

from app.accounts.permissions import needed
from app.accounts.policies import enabled
from app.db.session import PLATFORM
from app.errors import Forbidden, ModuleUnavailable, NotSignedIn
from app.web.context import context_of
from app.wording.marked import marked

Connection = ASGIConnection[Any, Any, Any, Any]


class Requires:
    """The person needs the permission, and the workspace's switch for `module`, if any, must be on.

    `platform_only` pages refuse tenants with 403. With `permission` None anybody who is signed in may.
    """

    def __init__(self, permission: str | None, *, module: str | None = None, platform_only: bool = False) -> None:
        self.permission, self.module, self.platform_only = permission, module, platform_only

    async def __call__(self, connection: Connection, _: BaseRouteHandler) -> None:
        context = context_of(connection.scope)
        if context.person is None:
            raise NotSignedIn("Sign in to see this page.")
        if self.permission and not context.may(self.permission):
            raise Forbidden(needed(self.permission))
        if self.platform_only and context.workspace != PLATFORM:
            raise Forbidden("This page is only for the platform's own workspace, and your account belongs to a tenant.")
        if self.module and not enabled(context.policies, f"module_{self.module}"):
            raise ModuleUnavailable(
                marked(
                    "This part of Muster is switched off in your workspace. An administrator can switch it on under Policies."
                )
            )


class Public:
    """Anybody may call; the route's own code decides what they see."""

    async def __call__(self, connection: Connection, handler: BaseRouteHandler) -> None:
        """Allows everybody."""


signed_in = Requires(None)
public = Public()
