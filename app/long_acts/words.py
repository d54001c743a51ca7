"""The words of a long act: how far it is, what it did, and what it left."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.counting import count
from app.long_acts.progress import Progress

HOW_TO_CONTINUE = "Its job failed. To continue, retry that job in Jobs."


@dataclass(frozen=True, slots=True)
class LongActWords:
    """What one kind of act is called; `one` and `several` name its items."""

    url: str
    doing: str
    past: str
    one: str
    several: str
    left: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LongActView:
    """An act as pages and commands tell of it."""

    progress: Progress
    words: LongActWords

    @property
    def url(self) -> str:
        return f"{self.words.url}/{self.progress.id}"

    @property
    def line(self) -> str:
        """What is done, and how far it is."""
        return f"{self.words.doing}: {self.far}"

    @property
    def far(self) -> str:
        """`500 of 1,201 people`, and that its job failed."""
        return f"{self.numbers}, but its job failed" if self.progress.job_failed else self.numbers

    @property
    def numbers(self) -> str:
        progress = self.progress
        total = count(progress.total, self.words.one, self.words.several)
        return f"{progress.looked_at:,} of {total}" if progress.counted else "not counted"

    @property
    def next(self) -> str:
        """What the act waits for."""
        if self.progress.job_failed:
            return HOW_TO_CONTINUE
        return (
            "It stops after the part that it is at."
            if self.progress.stops
            else "A job does it; you can leave this page."
        )

    @property
    def is_over(self) -> bool:
        return self.progress.finished_at is not None

    @property
    def sentence(self) -> str:
        """What it did and what it left, or that a job does it."""
        words, progress = self.words, self.progress
        if not self.is_over and not progress.counted:
            return "A job does it, and the page shows its progress."
        if not self.is_over:
            return f"{count(progress.total, words.one, words.several)}: a job does it, and the page shows its progress."
        was = "was" if progress.done == 1 else "were"
        done = f"{count(progress.done, words.one, words.several)} {was} {words.past}."
        return " ".join(filter(None, [done, stay(progress.left, words.left), self._ended]))

    @property
    def _ended(self) -> str:
        """Why it did not come to all."""
        number = self.progress.counts.get(None, 0)
        rest = (
            f" {count(number, f'{self.words.one} was', f'{self.words.several} were')} not looked at." if number else ""
        )
        if self.progress.problem:
            return f"It ended early: {self.progress.problem}{rest}"
        return f"{self.progress.stopped_by} stopped it.{rest}" if self.progress.stops else ""


@dataclass(frozen=True, slots=True)
class LeftItem:
    """A record or punch that was left: `url` where it is still there and may be seen, `of` whose it is,
    `at` its day or time."""

    label: str
    url: str
    of: str
    at: str
    why: str


def stay(left: Mapping[str, int], words: Mapping[str, str]) -> str:
    """`3 stay: 2 edited by hand, 1 on a locked day.`, or nothing."""
    if not left:
        return ""
    total = sum(left.values())
    reasons = ", ".join(
        f"{number:,} {words.get(word, 'refused')}" for word, number in sorted(left.items(), key=lambda one: -one[1])
    )
    return f"{total:,} {'stays' if total == 1 else 'stay'}: {reasons}."
