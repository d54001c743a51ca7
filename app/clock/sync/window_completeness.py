"""Decides when a window of punches is complete, and what to read next while it is not. Pure.

A row that arrives shifts the pages behind it, and it counts in the server's total. So a walk compares the different
rows that it has seen with the total of the newest page, after every page: at the moment when both are equal nothing is
missing, whatever the order of the pages. Where newer rows come first, the first page, read once more at the end,
brings what arrived meanwhile.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum

WALKS = 4
LOOKS = 3


class Next(Enum):
    """`LOOK`: read page 1 and what follows it as long as a page brings something. `WALK`: read every page once more."""

    COMPLETE = "complete"
    LOOK = "look"
    WALK = "walk"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class WalkTally:
    """How a walk, or a look at the first pages, ended.

    `seen` counts different rows of all walks together. `at_first` is the server's total on the first page of the first
    walk, `total` the most that it said since page 1 was asked for last.
    `walks` counts ended walks, `looks` those since the last walk.
    `repeated`: a page was the one before it again, so the server did not give what was asked for.
    `forgiven` rows may be missing.
    """

    seen: int
    at_first: int
    total: int
    walks: int
    looks: int = 0
    repeated: bool = False
    forgiven: int = 0


def next_step(tally: WalkTally) -> Next:
    """A total that goes down counts from the next page 1 on: until then rows may have been lost with it."""
    came = tally.seen + tally.forgiven
    if came >= tally.total and not tally.repeated:
        return Next.COMPLETE
    if came >= tally.at_first and tally.looks < LOOKS and not tally.repeated:
        return Next.LOOK  # as many rows came as there were: what is missing may have arrived since
    if tally.walks < WALKS:
        return Next.WALK
    return Next.GIVE_UP


@dataclass(slots=True)
class Seen:
    """What this run has seen of one window: a hash of each different row.
    `at_first` and `forgiven` are as in WalkTally;
    `resumed`: another run read the pages before; `looking`: only what arrived since is wanted."""

    resumed: bool = False
    at_first: int | None = None
    forgiven: int = 0
    looking: bool = False
    rows: set[int] = field(default_factory=set)

    def note(self, rows: AbstractSet[int], said: int, most: int) -> bool:
        """Adds a page whose total is `said`; `most` is WalkTally's `total`.
        True while a further page may bring something."""
        before = len(self.rows)
        self.rows |= rows
        if self.at_first is None:
            self.at_first = said
        looked = self.looking and (self.resumed or len(self.rows) == before)
        return len(self.rows) < most and not looked
