"""Which people of the demo answered what and when: always the same for the same people and moment. Pure.

Its random numbers are hashes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.surveys import showing
from app.surveys.authoring.definition import QuestionDefinition
from app.surveys.demo.cast import APP_REMARKS, REMARKS, DemoApp, DemoSurvey
from app.surveys.demo.translated import READ_IN
from app.surveys.ledger.chain import MatrixCell

PlannedValue = int | str | tuple[str, ...] | tuple[MatrixCell, ...] | None
_REMARK_SHARE = 0.3
_TICK_SHARE = 0.5
_UNPROMPTED_SHARE = 0.08
_DAYS_OF_RATINGS = 90
_RATERS_SHARE = 0.4
_SPEAKING_SHARE = 0.25


def roll(*about: object) -> float:
    """A number in [0, 1) that depends only on `parts`."""
    digest = hashlib.blake2b(repr(about).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """One person and one version of one survey: when they first saw it, how often, and what they did; `outcome` is None
    when they have done nothing. `values` has a value or None for each question."""

    person: str
    version: int
    shown_at: datetime | None
    impressions: int
    outcome: str | None = None
    at: datetime | None = None
    values: tuple[PlannedValue, ...] = ()


def asked(survey: DemoSurvey, people: Sequence[tuple[str, str]], now: datetime) -> Iterator[PlannedAnswer]:
    """What people did with a survey; they are given as (e-mail, user type)."""
    title, audience = survey.definition.title, survey.definition.user_types
    for version, (since, until) in enumerate(zip(survey.published, survey.answered_until, strict=True), 1):
        for person, kind in people:
            if audience and kind not in audience:
                continue
            about = (title, version, person)
            first = now - timedelta(days=until + (since - until) * (1 - roll("when", *about) ** 2 * 0.98))
            mine = replace(survey, share=dict(survey.shares).get(kind, survey.share))
            yield _what_they_did(mine, about, first, now - timedelta(days=until))


def _what_they_did(survey: DemoSurvey, about: tuple[str, int, str], first: datetime, last: datetime) -> PlannedAnswer:
    _, version, person = about
    shown = None if roll("unprompted", *about) < _UNPROMPTED_SHARE else first
    if roll("answers", *about) >= survey.share:
        return PlannedAnswer(person, version, first, 1 + int(4 * roll("again", *about)))
    outcome = _outcome(survey, about)
    values = _values(survey, about) if outcome in ("answered", "agreed") else (None,) * len(survey.definition.questions)
    at = min(first + timedelta(seconds=20 + 400 * roll("takes", *about)), last)
    return PlannedAnswer(person, version, shown, 1 if shown else 0, outcome, max(at, first), values)


def _values(survey: DemoSurvey, about: tuple[str, int, str]) -> tuple[PlannedValue, ...]:
    """The values; None for a question that the other answers hide."""
    drawn = [
        _value(question, weights, (*about, place))
        for place, (question, weights) in enumerate(_weighted(survey, about[1]))
    ]
    given = {place: value for place, value in enumerate(drawn, 1) if value is not None}
    visible = showing.shown(survey.definition.questions, given)
    return tuple(value if is_shown else None for value, is_shown in zip(drawn, visible, strict=True))


def _outcome(survey: DemoSurvey, about: tuple[str, int, str]) -> str:
    luck = roll("outcome", *about)
    if survey.definition.enforcement == "optional" and luck < survey.opted_out:
        return "opted_out"
    if survey.definition.agreement is None:
        return "answered"
    return "declined" if luck < survey.opted_out + survey.declined else "agreed"


def _weighted(survey: DemoSurvey, version: int) -> Iterator[tuple[QuestionDefinition, tuple[int, ...]]]:
    for place, question in enumerate(survey.definition.questions):
        weights = survey.weights[place] if place < len(survey.weights) else ()
        yield question, survey.drift[version - 1] if survey.drift and place == 0 else weights


def _value(question: QuestionDefinition, weights: tuple[int, ...], about: tuple[object, ...]) -> PlannedValue:
    match question.type:
        case "star_rating" | "nps" | "number":
            return leaning(weights, roll("stars", *about)) + (question.type == "star_rating")
        case "scale" | "single_choice":
            return question.options[leaning(weights, roll("choice", *about))]
        case "matrix":
            rows = question.details.rows
            return tuple(MatrixCell(row, question.options[leaning(weights, roll(row, *about))]) for row in rows)
        case "multiple_choice":
            heaviest = max(weights)
            ticks = zip(question.options, weights, strict=True)
            return tuple(one for one, weight in ticks if roll("tick", one, *about) < _TICK_SHARE * weight / heaviest)
        case "free_text" if roll("says", *about) < _REMARK_SHARE:
            return REMARKS[int(len(REMARKS) * roll("remark", *about))]
        case _:
            return None


def language(person: str) -> str:
    """In which language they read a survey that has several."""
    return [*READ_IN][leaning([*READ_IN.values()], roll("language", person))]


def leaning(weights: Sequence[int], luck: float) -> int:
    """A place among the weights; heavier ones are likelier. `luck` is in [0, 1)."""
    left = luck * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return place
    return len(weights) - 1


@dataclass(frozen=True, slots=True)
class Rated:
    person: str
    stars: int
    platform: str
    comment: str | None
    at: datetime


def rated(app: DemoApp, people: Sequence[tuple[str, str]], now: datetime) -> Iterator[Rated]:
    """Ratings of an app over ninety days, at most one for each person and day; some people rate several times."""
    for person, _ in people:
        for time in range(3):
            about = (app.name, person, time)
            if roll("rates", *about) >= _RATERS_SHARE / (1 + 2 * time):
                continue
            # Each of these times is in a third of the days of its own.
            days = (2 - time + roll("day", *about) * 0.99) * _DAYS_OF_RATINGS / 3
            speaks = roll("speaks", *about) < _SPEAKING_SHARE
            comment = APP_REMARKS[int(len(APP_REMARKS) * roll("word", *about))] if speaks else None
            platform = app.platforms[int(len(app.platforms) * roll("platform", *about))]
            stars = 1 + leaning(app.stars, roll("stars", *about))
            yield Rated(person, stars, platform, comment, now - timedelta(days=days))
