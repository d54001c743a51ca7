"""The groups of a split as a page shows them: a table for the responses, and one for each question with choices or
numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.counting import percent
from app.surveys.pages.editing.gaps import called
from app.surveys.results.anonymous import NOT_KNOWN
from app.surveys.results.breakdowns import Breakdown
from app.surveys.results.figures import DECIDED, AskedQuestion
from app.surveys.results.group_counts import split_by
from app.surveys.results.splits import Split

# With more options than this, the most frequent one is named in place of all shares.
MOST_COLUMNS = 7
NONE = "–"


@dataclass(frozen=True, slots=True)
class SplitTable:
    """`rows` are a group, the cells under `heads`, and the number of people."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...], int], ...]


def names_of(split: Split, by: str, types: Mapping[str, str]) -> Mapping[str, str]:
    """The names of groups that have a key; `types` are those of user types."""
    if by == "language":
        return {tag: called(tag) for tag, _ in split.groups if tag}
    return types if by == "type" else {}


def tables(split: Split, questions: Sequence[AskedQuestion], names: Mapping[str, str]) -> list[SplitTable]:
    """`names` are those of groups that have a key."""
    return [_responses(split, questions, names), *of_questions(split, questions, names)]


def of_questions(split: Split, questions: Sequence[AskedQuestion], names: Mapping[str, str]) -> list[SplitTable]:
    """The same without the table of responses."""
    return [_table(split, one, names) for one in split_by(questions)]


def _responses(split: Split, questions: Sequence[AskedQuestion], names: Mapping[str, str]) -> SplitTable:
    agrees = any(one.type == "agreement" for one in questions)
    rows = []
    for group, people in split.groups:
        outcomes = split.outcomes(group)
        decided = sum(outcomes.get(one, 0) for one in DECIDED)
        share = percent(outcomes.get("agreed", 0), decided)
        rows.append((_name(group, names), (NONE if share is None else f"{share} %",) if agrees else (), people))
    return SplitTable("Responses", ("Acceptance",) if agrees else (), tuple(rows))


def _table(split: Split, question: AskedQuestion, names: Mapping[str, str]) -> SplitTable:
    found = [(group, split.breakdown(question, group)) for group, _ in split.groups]
    heads, cells = _shape(question, [one for _, one in found])
    rows = tuple((_name(group, names), cells(one), one.people) for group, one in found if one.people)
    return SplitTable(question.label, heads, rows)


def _shape(
    question: AskedQuestion, found: Sequence[Breakdown]
) -> tuple[tuple[str, ...], Callable[[Breakdown], tuple[str, ...]]]:
    """The headings, and the function that makes the cells of a group."""
    if question.type == "nps":
        return ("NPS", "Mean", "Median"), _scored
    if any(one.middle for one in found):
        return ("Mean", "Median"), _middle
    if len(question.options) <= MOST_COLUMNS:
        return question.options, partial(_shares, len(question.options))
    return ("Most frequent",), _top


def _scored(one: Breakdown) -> tuple[str, ...]:
    return (one.promoters.told if one.promoters else NONE, *_middle(one))


def _shares(number: int, one: Breakdown) -> tuple[str, ...]:
    return tuple(f"{bar.percent} %" for bar in one.bars[:number])


def _middle(one: Breakdown) -> tuple[str, ...]:
    return (str(one.middle.mean), str(one.middle.median)) if one.middle else (NONE, NONE)


def _top(one: Breakdown) -> tuple[str, ...]:
    bar = max(one.bars, key=lambda bar: bar.people)
    return (f"{bar.label}, {bar.percent} %",)


def _name(group: str | None, names: Mapping[str, str]) -> str:
    return NOT_KNOWN if group is None else names.get(group, group)
