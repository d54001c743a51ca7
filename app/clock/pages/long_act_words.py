"""How a page tells of a long act: how far it is, what it did, and what it left. Works for records and punches alike."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.clock.bindings import undoing
from app.clock.bindings.long_acts import Progress
from app.clock.review import using_many
from app.counting import count


@dataclass(frozen=True, slots=True)
class LongActWords:
    """What one kind of act is called; `one` and `several` name its items."""

    url: str
    doing: str
    past: str
    one: str
    several: str
    left: Mapping[str, str]


KINDS = {
    "take_back": LongActWords(
        "/clock_employees/acts", "Taking back records", "taken back", "record", "records", undoing.LEFT
    ),
    "move": LongActWords("/clock_employees/acts", "Moving records", "moved", "record", "records", undoing.LEFT),
    "use": LongActWords("/clock_transactions/acts", "Using punches", "used", "punch", "punches", using_many.LEFT),
}


@dataclass(frozen=True, slots=True)
class LongActView:
    """An act as the pages show it."""

    progress: Progress
    words: LongActWords

    @property
    def url(self) -> str:
        return f"{self.words.url}/{self.progress.id}"

    @property
    def is_over(self) -> bool:
        return self.progress.finished_at is not None

    @property
    def sentence(self) -> str:
        """What it did and what it left, or that a job does it."""
        words, progress = self.words, self.progress
        if not self.is_over:
            return f"{count(progress.total, words.one, words.several)}: a job does it, and the page shows its progress."
        was = "was" if progress.done == 1 else "were"
        done = f"{count(progress.done, words.one, words.several)} {was} {words.past}."
        return f"{done} {stay(progress.left, words.left)}".strip()


@dataclass(frozen=True, slots=True)
class LeftItem:
    """A record or punch that was left: `url` where it is still there and may be seen, `of` whose it is, `at` its day or time."""

    label: str
    url: str
    of: str
    at: str
    why: str


def told(progress: Progress) -> LongActView:
    return LongActView(progress, KINDS[progress.kind])


def stay(left: Mapping[str, int], words: Mapping[str, str]) -> str:
    """`3 stay: 2 edited by hand, 1 on a locked day.`, or nothing."""
    if not left:
        return ""
    total = sum(left.values())
    reasons = ", ".join(
        f"{number:,} {words.get(word, 'refused')}" for word, number in sorted(left.items(), key=lambda one: -one[1])
    )
    return f"{total:,} {'stays' if total == 1 else 'stay'}: {reasons}."
