"""Jobs of the clock module."""

from collections.abc import Mapping

from workers.running import Function

FUNCTIONS: Mapping[str, Function] = {}
