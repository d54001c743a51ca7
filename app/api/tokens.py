"""Checks bearer tokens for both JSON APIs: who calls, with which scope, and how often.

The order of refusals: 401, 403, then 404 for a module or endpoint that is switched off.
"""

import hashlib
from datetime import UTC, datetime, timedelta

from litestar.handlers.base import BaseRouteHandler
from sqlalchemy import bindparam, case, func, null, select, update

from app.accounts.models import ApiToken, Tenant, User
from app.accounts.policies import enabled
from app.api import rate_limit
from app.db.direct import Compiled, driver
from app.db.pool import ShareTaken
from app.db.session import PLATFORM, entered, entering
from app.errors import Forbidden, InsufficientScope, ModuleUnavailable, NotSignedIn
from app.web.context import Context, context_of
from app.web.guards import Connection
from app.web.sessions import PERSON_COLUMNS, person_of

USED_EVERY = timedelta(minutes=1)

_token, _user, _tenant = (kind.__table__ for kind in (ApiToken, User, Tenant))
_FIND = Compiled(
    select(
        *PERSON_COLUMNS,
        _token.c.id.label("token_id"),
        _token.c.name.label("token_name"),
        _token.c.scopes,
        _token.c.last_used_at,
        case((_token.c.made_by_id == _token.c.user_id, null()), else_=_token.c.made_by).label("made_by"),
        entering(_user.c.workspace).label("path"),
    )
    .select_from(_token)
    .join(_user, _user.c.id == _token.c.user_id)
    .outerjoin(_tenant, _tenant.c.key == _user.c.workspace)
    .where(
        _token.c.token_hash == bindparam("token_hash"),
        _token.c.revoked_at.is_(None),
        func.coalesce(_token.c.expires_at > bindparam("now"), True),
        _user.c.active,
        func.coalesce(_tenant.c.active, _user.c.workspace == PLATFORM),
    )
)

_USED = (
    update(ApiToken)
    .where(ApiToken.id == bindparam("token"))
    .values(last_used_at=bindparam("now"))
    .execution_options(synchronize_session=False)
)


class TokenGuard:
    """Guard of an API route. It checks the token's scope, the permissions that its owner must still have, and the
    switches that must be on. With `platform_only` tenants are refused with 403, as on pages."""

    def __init__(
        self,
        scope: str,
        *,
        permissions: tuple[str, ...] = (),
        module: str | None = None,
        policy: str | None = None,
        platform_only: bool = False,
    ) -> None:
        self.scope, self.permissions, self.platform_only = scope, permissions, platform_only
        self.switches = [name for name in (f"module_{module}" if module else None, policy) if name]

    async def __call__(self, connection: Connection, _: BaseRouteHandler) -> None:
        context = context_of(connection.scope)
        token_id, scopes = await _identify(context, connection.headers.get("authorization", ""))
        if self.scope not in scopes:
            raise InsufficientScope(f"This token does not carry the scope {self.scope}.")
        missing = [name for name in self.permissions if not context.may(name)]
        if missing:
            raise InsufficientScope(f"The scope {self.scope} needs the permission {' and '.join(missing)}.")
        if not all(enabled(context.policies, name) for name in self.switches):
            raise ModuleUnavailable("This is switched off in this workspace.")
        if self.platform_only and not context.on_platform:
            raise Forbidden(
                "This is only for the platform's own workspace, and the owner of the token belongs to a tenant."
            )
        await rate_limit.take(context.parts.limits, token_id, context.parts.settings.api_rate)


async def _identify(context: Context, header: str) -> tuple[int, list[str]]:
    scheme, _, token = header.partition(" ")
    now = datetime.now(UTC)
    row = None
    if scheme.lower() == "bearer" and token.strip():
        key = hashlib.sha256(token.strip().encode()).digest()
        row = await _FIND.row(driver(context.db), {"token_hash": key, "now": now})
    if row is None:
        raise NotSignedIn("Send a valid token as `Authorization: Bearer …`.")
    context.person = person_of(row, session_id=None, session_key=b"")
    context.policies, context.token_id, context.token_name = row.policies, row.token_id, row.token_name
    context.token_made_by = row.made_by
    if row.last_used_at is None or now - row.last_used_at > USED_EVERY:
        await context.db.execute(_USED, {"token": row.token_id, "now": now})
    try:
        await entered(context.db, row.workspace)
    except ShareTaken:
        await context.wait_for_share()
    return row.token_id, row.scopes
