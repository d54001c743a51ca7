"""The integration API as a whole: each module lists its own endpoints (`Site.integration`)."""

from app.api.openapi import Endpoint
from app.registry import modules


def endpoints() -> tuple[Endpoint, ...]:
    """All endpoints, in the order of the modules."""
    return tuple(one for module in modules() for one in module.site().integration)
