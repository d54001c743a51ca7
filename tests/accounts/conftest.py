"""Accounts are tested on the same fixtures as the rest of the host."""

from tests.host.conftest import db, ear, in_vancouver, selects

__all__ = ["db", "ear", "in_vancouver", "selects"]
