"""What an event says: which things changed, and never their content. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from app.webhooks.kinds import TYPES


@dataclass(frozen=True, slots=True)
class Told:
    """What an event tells. With `since` it names no ids."""

    type: str
    ids: Sequence[str]
    number: int
    since: datetime | None
    at: datetime


def body_of(workspace: str, told: Told) -> bytes:
    """JSON in UTF-8, as it is signed and sent."""
    document = {"type": told.type, "timestamp": _instant(told.at), "workspace": workspace, "data": _data(told)}
    return msgspec.json.encode(document)


def _data(told: Told) -> dict[str, Any]:
    kind = TYPES.get(told.type)
    if kind is None:
        return {}
    if told.since is not None:
        return {"count": told.number, "updated_since": _instant(told.since)}
    ids = [int(one) for one in told.ids] if kind.numbered else list(told.ids)
    return {"ids": ids, "count": len(ids)}


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
