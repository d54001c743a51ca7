"""The client of the remote time-clock server. Rows leave here raw."""

from app.clock.remote.address import checked_base_url
from app.clock.remote.client import RemoteClock, TestStep
from app.clock.remote.errors import ClockError, NotOfferedError
from app.clock.remote.page import Page
from app.clock.remote.photo import Photo
from app.clock.remote.session import ClockSession, Credentials, SessionStore

__all__ = [
    "ClockError",
    "ClockSession",
    "Credentials",
    "NotOfferedError",
    "Page",
    "Photo",
    "RemoteClock",
    "SessionStore",
    "TestStep",
    "checked_base_url",
]
