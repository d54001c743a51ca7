"""What alerts, digests and sums say. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from app.counting import count
from app.dates import PageZone

SEVERITY_WORDS: Final = {"critical": "Critical", "warning": "Warning", "info": "Note"}
ManyNews = Literal["storm", "digest", "sum"]
CHOICE_PAGE: Final = "/account/notifications"


@dataclass(frozen=True, slots=True)
class ToldProblem:
    """A problem as a letter tells it. `advice` says what to do;
    `opened_at` is when it began, `closed_by` is `itself` or `person`."""

    title: str
    detail: str
    advice: str
    severity: str
    opened_at: datetime
    held_punches: int = 0
    held_people: int = 0
    closed_at: datetime | None = None
    closed_by: str | None = None


@dataclass(frozen=True, slots=True)
class LetterWords:
    subject: str
    lines: tuple[str, ...]


def opened(problem: ToldProblem, zone: PageZone) -> LetterWords:
    lines = (
        _sentence(problem.title),
        problem.detail or problem.advice,
        _held(problem),
        f"It began {_time(problem.opened_at, zone)}. You get one more mail when it closes.",
    )
    return LetterWords(f"{SEVERITY_WORDS[problem.severity]}: {problem.title}", tuple(filter(None, lines)))


def closed(problem: ToldProblem, zone: PageZone) -> LetterWords:
    """The letter about a problem that closed. It also says when the problem began, because the person may not have been
    told of that."""
    over = problem.closed_at or problem.opened_at
    how = "A person dismissed it" if problem.closed_by == "person" else "It is fixed"
    span = f"{how}: it was open from {_time(problem.opened_at, zone)} until {_time(over, zone)}."
    return LetterWords(f"Closed: {problem.title}", (_sentence(problem.title), span))


def many(
    news: ManyNews,
    opened: Mapping[str, int],
    closed: Mapping[str, int],
    named: Sequence[ToldProblem],
    zone: PageZone,
) -> LetterWords:
    """`opened` and `closed` are numbers by the label of a kind. `named` are some of them, the worst first."""
    lines = [_OF_MANY[news]]
    for sums, word in ((opened, "Open"), (closed, "Closed")):
        if sums:
            lines.append(f"{word}: " + ", ".join(f"{label} ({number:,})" for label, number in sums.items()) + ".")
    lines += [_in_short(one, zone) for one in named]
    if (unnamed := sum(opened.values()) + sum(closed.values()) - len(named)) > 0 and named:
        lines.append(f"And {count(unnamed, 'more', 'more')}.")
    return LetterWords(_subject(news, sum(opened.values()), sum(closed.values())), tuple(lines))


def why(site: str, *, chose: bool) -> str:
    """Why the person gets the mail, and where to change that."""
    choice = f"{site}{CHOICE_PAGE}"
    if chose:
        return f"You chose on {choice} to be told of this."
    return f"You are told of critical problems as the first administrator of this workspace. Choose on {choice} what you want to be told."


_OF_MANY: Final[Mapping[ManyNews, str]] = {
    "storm": "Many problems opened or closed within a few minutes, so this is one mail about all of them.",
    "digest": "This happened since your last digest.",
    "sum": "These problems are older: Muster looked for them for the first time, or read days of the past. This one mail counts them all.",
}


def _subject(news: ManyNews, opened: int, closed: int) -> str:
    if news == "sum":
        return f"{count(opened, 'older problem', 'older problems')} found"
    parts = [f"{number:,} {word}" for number, word in ((opened, "opened"), (closed, "closed")) if number]
    noun = "problem" if opened + closed == 1 else "problems"
    return f"{'Digest of ' if news == 'digest' else 'Many '}{noun}: {', '.join(parts)}"


def _in_short(problem: ToldProblem, zone: PageZone) -> str:
    if problem.closed_at:
        return f"Closed {_time(problem.closed_at, zone)}: {_sentence(problem.title)}"
    return f"{SEVERITY_WORDS[problem.severity]}, since {_time(problem.opened_at, zone)}: {_sentence(problem.title)}"


def _held(problem: ToldProblem) -> str:
    if not problem.held_punches:
        return ""
    people = f" of {problem.held_people:,} people" if problem.held_people > 1 else ""
    return f"It holds {count(problem.held_punches, 'punch', 'punches')}{people}."


def _sentence(title: str) -> str:
    return title if title.endswith((".", "?", "!")) else f"{title}."


def _time(at: datetime, zone: PageZone) -> str:
    return f"{zone.time(at)} ({zone.name})"
