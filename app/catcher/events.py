"""The events of webhooks that came in, as they are."""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

KEPT = 200
# An event of Muster has some kilobytes at most.
LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class CaughtEvent:
    """`signed` are the headers that a receiver checks."""

    at: datetime
    signed: dict[str, str]
    body: str


class CaughtEvents:
    """The newest KEPT, in memory."""

    def __init__(self) -> None:
        self.events: deque[CaughtEvent] = deque(maxlen=KEPT)

    def take(self, headers: dict[str, str], body: bytes) -> None:
        signed = {name: value for name, value in headers.items() if name.startswith("webhook-")}
        self.events.append(CaughtEvent(datetime.now(UTC), signed, body.decode("utf-8", "replace")))
