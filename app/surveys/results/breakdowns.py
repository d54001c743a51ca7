"""The result of each question: bars, mean and median, the rows of a matrix; its score by promoters.py. Pure.

Figures may come from anywhere: a breakdown counts people by choice, and does not know who they are.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from math import ceil
from types import MappingProxyType
from uuid import UUID

from app.counting import mean, percent, rounded
from app.surveys.ledger.chain import BETWEEN
from app.surveys.results import kinds
from app.surveys.results.figures import AskedQuestion, Counters, Figure, Reading, counters
from app.surveys.results.promoters import PromoterScore, promoters

# Up to so many different numbers or days, each has a bar; beyond it, ranges have.
MOST_BARS = 12
RANGES = 8
WITHOUT_BARS = ("agreement", "free_text")


@dataclass(frozen=True, slots=True)
class Bar:
    """`choice` is the answer as `survey_answers` holds it; None for a range of several."""

    label: str
    people: int
    percent: Decimal | None
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class Middle:
    """Mean (two places) and median of `people` who gave a number; `lowest` and `highest` of their numbers."""

    people: int
    mean: Decimal
    median: Decimal
    lowest: Decimal
    highest: Decimal


@dataclass(frozen=True, slots=True)
class Spread:
    """The result of very many different numbers: `ranges` counts people in RANGES equal parts from the lowest to the
    highest. `is_whole`: all of them are whole numbers."""

    middle: Middle
    ranges: tuple[int, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """`bars` are in the order of the options, each a share of those who answered this row."""

    label: str
    people: int
    bars: tuple[Bar, ...]
    middle: Middle | None = None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The result of one question: `people` answered it at all. `middle` is present when answers are numbers; agreements
    and free texts have no bars, and a matrix has `rows` instead.

    Very many different numbers are counted in the background: `counted_at` says when, `waits` that this was not done
    yet."""

    question: AskedQuestion
    people: int
    bars: tuple[Bar, ...] = ()
    middle: Middle | None = None
    promoters: PromoterScore | None = None
    rows: tuple[MatrixRow, ...] = ()
    counted_at: datetime | None = None
    waits: bool = False

    @property
    def mean(self) -> Decimal | None:
        return self.middle.mean if self.middle else None


@dataclass(frozen=True, slots=True)
class Results:
    """`counters` and `days` (oldest first, with people by outcome) are about the whole version; `narrowed` is how many
    of its responses match the asked days and outcomes, and `questions` are the results of those. `due`: numbers should
    be counted in the background."""

    counters: Counters
    days: Mapping[date, Mapping[str, int]]
    narrowed: int
    questions: tuple[Breakdown, ...]
    due: bool = False


def results(
    figures: Iterable[Figure],
    questions: Sequence[AskedQuestion],
    reading: Reading,
    spreads: Mapping[UUID, Spread] = MappingProxyType({}),
) -> Results:
    """The figures of one version for each of its questions. Numbers with a spread need no choices."""
    choices: dict[UUID, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    days: dict[date, dict[str, int]] = defaultdict(dict)
    totals = []
    for day, outcome, question, choice, people, alone in figures:
        if question != reading.whole or day is None:
            choices[question][choice] += people
            continue
        totals.append((outcome, people, alone))
        if outcome != reading.asked:
            days[day][outcome] = people
    narrowed = sum(
        n for day, outcomes in days.items() for outcome, n in outcomes.items() if reading.holds(day, outcome)
    )
    parts = tuple(
        spread_out(one, spreads[one.key]) if one.key in spreads else breakdown(one, choices.get(one.key, {}))
        for one in questions
    )
    return Results(counters(totals, asked=reading.asked), dict(sorted(days.items())), narrowed, parts)


def breakdown(question: AskedQuestion, choices: Mapping[str, int]) -> Breakdown:
    """`choices` are people by choice; under '' those who answered at all."""
    people = choices.get("", 0)
    given = {choice: number for choice, number in choices.items() if choice and number}
    match question.type:
        case "agreement" | "free_text":
            return Breakdown(question, people)
        case "matrix":
            return Breakdown(question, people, rows=_matrix(question, given))
        case "number":
            return Breakdown(question, people, _numbers(given, people), middle(given, Decimal))
        case "date":
            return Breakdown(question, people, _dates(given, people, length_of_dates(given)))
        case "nps":
            return Breakdown(question, people, _bars(question, given, people), middle(given, Decimal), promoters(given))
    return Breakdown(question, people, _bars(question, given, people), _middle(question, given))


def spread_out(question: AskedQuestion, spread: Spread) -> Breakdown:
    """As `breakdown`, for very many different numbers."""
    of = spread.middle
    labels = _labels(of.lowest, of.highest, is_whole=spread.is_whole)
    return Breakdown(question, of.people, _ranges(labels, spread.ranges, of.people), of)


def middle(given: Mapping[str, int], number_of: Callable[[str], Decimal]) -> Middle | None:
    """None without a number."""
    if not given:
        return None
    counted = sorted((number_of(choice), people) for choice, people in given.items())
    people = sum(number for _, number in counted)
    average = mean(sum((value * number for value, number in counted), Decimal(0)), people)
    lower, upper = _at(counted, (people - 1) // 2), _at(counted, people // 2)
    return Middle(people, average or Decimal("0.00"), halfway(lower, upper), counted[0][0], counted[-1][0])


def halfway(lower: Decimal, upper: Decimal) -> Decimal:
    """The median: the mean of the two values in the middle."""
    return _short((lower + upper) / 2)


def _at(counted: Sequence[tuple[Decimal, int]], place: int) -> Decimal:
    """The value at a place, of all values in order."""
    for value, people in counted:
        place -= people
        if place < 0:
            return value
    raise IndexError(place)


def _short(value: Decimal) -> Decimal:
    """Without zeros at the end, and without an exponent."""
    short = value.normalize()
    return rounded(short) if short == short.to_integral_value() else short


def _middle(question: AskedQuestion, given: Mapping[str, int]) -> Middle | None:
    number_of, known = kinds.counts_as(question), kinds.choices(question)
    if number_of is None:
        return None
    return middle({choice: people for choice, people in given.items() if choice in known}, number_of)


def _bars(question: AskedQuestion, given: Mapping[str, int], people: int) -> tuple[Bar, ...]:
    known = kinds.choices(question)
    # Options never change under answers. If one were gone, its people would still count.
    others = sorted(choice for choice in given if choice not in known)
    return tuple(_bar(choice, given.get(choice, 0), people) for choice in (*known, *others))


def _bar(choice: str, people: int, of: int) -> Bar:
    return Bar(choice, people, percent(people, of), choice)


def _matrix(question: AskedQuestion, given: Mapping[str, int]) -> tuple[MatrixRow, ...]:
    rows: dict[str, dict[str, int]] = {row: {} for row in question.details.rows}
    for cell, people in given.items():
        row, _, choice = cell.partition(BETWEEN)
        rows.setdefault(row, {})[choice] = people
    scale = AskedQuestion(question.key, question.label, "scale", question.options)
    return tuple(_matrix_row(row, scale, choices) for row, choices in rows.items())


def _matrix_row(label: str, scale: AskedQuestion, choices: Mapping[str, int]) -> MatrixRow:
    people = sum(choices.values())
    return MatrixRow(label, people, _bars(scale, choices, people), _middle(scale, choices))


def _numbers(given: Mapping[str, int], people: int) -> tuple[Bar, ...]:
    """A range includes its lower end; the last one includes both ends."""
    values = sorted((Decimal(choice), number, choice) for choice, number in given.items())
    if len(values) <= MOST_BARS:
        return tuple(_bar(choice, number, people) for _, number, choice in values)
    low, high = values[0][0], values[-1][0]
    width = (high - low) / RANGES
    sums = [0] * RANGES
    for value, number, _ in values:
        sums[min(int((value - low) / width), RANGES - 1)] += number
    labels = _labels(low, high, is_whole=all(value == value.to_integral_value() for value, _, _ in values))
    return _ranges(labels, sums, people)


def _ranges(labels: Sequence[str], sums: Sequence[int], people: int) -> tuple[Bar, ...]:
    return tuple(Bar(label, number, percent(number, people)) for label, number in zip(labels, sums, strict=True))


def _labels(low: Decimal, high: Decimal, *, is_whole: bool) -> list[str]:
    """For whole numbers the first and the last in each range, so that none is in two; for others, neighbours share
    their ends."""
    width = (high - low) / RANGES
    ends = [low + width * place for place in range(RANGES)]
    if not is_whole:
        told = [_short(_rounded(end, width)) for end in (*ends, high)]
        return [f"{first} – {last}" for first, last in pairwise(told)]
    firsts = [ceil(end) for end in ends]
    lasts = [*(first - 1 for first in firsts[1:]), int(high)]
    return [str(first) if first == last else f"{first} – {last}" for first, last in zip(firsts, lasts, strict=True)]


def _rounded(value: Decimal, width: Decimal) -> Decimal:
    """Rounded to two digits below the width of a range."""
    return rounded(value, max(0, 1 - width.adjusted()))


def dates(question: AskedQuestion, choices: Mapping[str, int], length: int) -> Breakdown:
    """As `breakdown`, for dates: by the first `length` characters of each day."""
    people = choices.get("", 0)
    return Breakdown(question, people, _dates({day: n for day, n in choices.items() if day and n}, people, length))


def length_of_dates(days: Collection[str]) -> int:
    """How much of `2026-11-24` makes a bar, so that there are not too many bars: the day, otherwise the month,
    otherwise the year."""
    if len(days) <= MOST_BARS:
        return len("2026-11-24")
    months = {day[: len("2026-11")] for day in days}
    return len("2026-11") if len(months) <= 2 * MOST_BARS else len("2026")


def _dates(given: Mapping[str, int], people: int, length: int) -> tuple[Bar, ...]:
    sums: dict[str, int] = defaultdict(int)
    for day, number in given.items():
        sums[day[:length]] += number
    # A month or a year is no person's answer.
    return tuple(
        Bar(part, sums[part], percent(sums[part], people), part if part in given else None) for part in sorted(sums)
    )
