"""Fixtures of the clock's tests."""

from tests.host.conftest import selects

__all__ = ["selects"]
