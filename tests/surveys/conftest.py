"""Fixtures of the tests of surveys."""

from tests.host.conftest import selects

__all__ = ["selects"]
