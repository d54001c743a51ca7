"""A survey's address: its uid in the path. A malformed one is a 404 like one that is nobody's."""

from uuid import UUID

from app.errors import NotFound


def uid_of(text: str) -> UUID:
    """Raises NotFound."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("There is no such survey.") from None
