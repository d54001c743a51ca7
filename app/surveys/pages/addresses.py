"""A survey's address: its uid in the path. A malformed one is a 404, like one that no survey has."""

from uuid import UUID

from app.errors import NotFound
from app.texts import uuid_of


def uid_of(text: str) -> UUID:
    """Raises NotFound."""
    uid = uuid_of(text)
    if uid is None:
        raise NotFound("There is no such survey.")
    return uid
