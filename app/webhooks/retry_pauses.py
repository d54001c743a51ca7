"""When an event that did not arrive is sent again, and when its endpoint is switched off. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

_SECONDS = (10, 120, 600, 3_600, 4 * 3_600, 8 * 3_600, 14 * 3_600, 20 * 3_600, 24 * 3_600)
# After so many failures in a row only one event at a time is tried, until one arrives.
RESTS_AFTER = 5


@dataclass(frozen=True, slots=True)
class Pauses:
    """Between the attempts of one event, in seconds.
    `lease_s`: an attempt without a result for this long is made again."""

    between_s: tuple[float, ...] = _SECONDS
    lease_s: float = 90
    gives_up_after: timedelta = timedelta(days=3)

    @property
    def attempts(self) -> int:
        return len(self.between_s) + 1

    def after(self, attempt: int, jitter: float, asked_s: float = 0) -> timedelta:
        """After the attempt of that number; `jitter` from 0 to 1 makes it up to a fifth longer or shorter. `asked_s` is
        the pause that the receiver asked for; it holds when it is longer."""
        pause_s = self.between_s[min(attempt, len(self.between_s)) - 1] * (0.8 + 0.4 * jitter)
        return timedelta(seconds=max(pause_s, asked_s))

    def is_over(self, attempt: int, failures: int, failing_since: datetime, now: datetime) -> bool:
        """True when the endpoint is switched off: one event used up its attempts, or no event arrived for this long.
        Events that newer ones replace begin with their first attempt each."""
        nothing_came = failures >= self.attempts and now - failing_since >= self.gives_up_after
        return attempt >= self.attempts or nothing_came


PAUSES = Pauses()
