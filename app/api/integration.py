"""The integration API as a whole: every module puts its endpoints beside those of the others (`Site.integration`)."""

from app.api.openapi import Endpoint
from app.registry import modules


def endpoints() -> tuple[Endpoint, ...]:
    """In the order of the modules."""
    return tuple(one for module in modules() for one in module.site().integration)
