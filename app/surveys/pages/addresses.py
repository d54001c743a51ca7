"""A survey's address: its uid in the path, and the requested version. A malformed address is a 404, like an unknown
one."""

import re
from uuid import UUID

from app.errors import NotFound
from app.texts import uuid_of
from app.web.context import Context

_VERSION = re.compile(r"[1-9]\d{0,8}", re.ASCII)


def uid_of(text: str) -> UUID:
    """Raises NotFound."""
    uid = uuid_of(text)
    if uid is None:
        raise NotFound("There is no such survey.")
    return uid


def version_asked_for(ctx: Context) -> int | None:
    """None for the current one. Raises NotFound for an impossible version."""
    number = str(ctx.request.query_params.get("version") or "")
    if number and not _VERSION.fullmatch(number):
        raise NotFound("There is no such version.")
    return int(number) if number else None
