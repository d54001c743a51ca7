"""When automatic reminders are due, and what happens to a waiting mail when its turn comes. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from app.surveys.asking import pacing
from app.surveys.asking.pacing import Caller, Offer, PromptHistory

INVITED, MOST_REMINDERS = 0, 2
# A mail that waited longer, because mail was off or no worker ran, is dropped:
# a reminder of last month helps no person.
LASTS: Final = timedelta(days=7)
Fate = Literal["sent", "waits", "dropped"]


@dataclass(frozen=True, slots=True)
class Reminding:
    """One published version: since when people can answer it, after how many days they are reminded, and how often they
    were."""

    opened_at: datetime
    ends_at: datetime | None
    remind_days: int
    reminded: int

    def due_at(self, turn: int) -> datetime:
        return self.opened_at + timedelta(days=self.remind_days) * turn

    def turn_due(self, now: datetime) -> int | None:
        """The reminder that is due now for everybody who has not answered; None when none is. If two were missed, only
        the second."""
        if self.ends_at is not None and now >= self.ends_at:
            return None
        turns = range(self.reminded + 1, MOST_REMINDERS + 1)
        return max((turn for turn in turns if self.due_at(turn) <= now < self.due_at(turn) + LASTS), default=None)

    def next_at(self, now: datetime) -> datetime | None:
        """When the next reminder is due; a moment in the past when one is due now."""
        if (turn := self.turn_due(now)) is not None:
            return self.due_at(turn)
        coming = [self.due_at(turn) for turn in range(self.reminded + 1, MOST_REMINDERS + 1)]
        return min((at for at in coming if at > now and (self.ends_at is None or at < self.ends_at)), default=None)


@dataclass(frozen=True, slots=True)
class WaitingMail:
    """A mail about `version` that waits for a person since `due_at`. `offer` is the survey as it is now, `outcome` what
    the person said to it. `told` is False for an account that was deactivated, or gets no mails about surveys. `on` is
    False while surveys are switched off, in the survey's workspace or in the person's."""

    version: int
    due_at: datetime
    offer: Offer
    caller: Caller
    outcome: str | None = None
    told: bool = True
    on: bool = True

    @property
    def leaves_at(self) -> datetime:
        """Never before the survey can be answered, even if its start has moved since."""
        return max(self.due_at, self.offer.starts_at or self.due_at)

    def fate(self, now: datetime) -> Fate:
        if now >= self.leaves_at + LASTS:
            return "dropped"
        if not self.told or self.version != self.offer.version:
            return "dropped"
        if now < self.leaves_at or not self.on:
            return "waits"
        answerable = pacing.is_answerable(self.offer, PromptHistory(outcome=self.outcome), self.caller, now)
        return "sent" if answerable else "dropped"
