"""How often a worker looks and says that it lives. A killed worker's job is taken up within `stale + look`, 35 s."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. `look_s`: between two looks for due work; `beat_s`: between two signs of life of a running job and of
    the worker; `stale_s`: silence after which a job's worker is taken for dead."""

    look_s: float = 5
    beat_s: float = 10
    stale_s: float = 30

    @property
    def stale_after(self) -> timedelta:
        return timedelta(seconds=self.stale_s)


PACE = Pace()
