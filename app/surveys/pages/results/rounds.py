"""`/surveys/view/<uid>/rounds`: the rounds of a repeating survey, as a series, and when the next round opens. Whole
versions side by side: versions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.charts import rounds as charts
from app.charts.plot import Plot
from app.charts.rounds import RoundPoint
from app.dates import PageZone
from app.surveys.authoring import opening
from app.surveys.models import SurveyRound
from app.surveys.pages.addresses import uid_of
from app.surveys.results import kept_numbers, of_versions, queries, table, tallies
from app.surveys.results.breakdowns import Breakdown
from app.surveys.results.figures import RESPONDED, AskedQuestion
from app.surveys.results.of_versions import ChoicesByVersion
from app.surveys.results.tallies import TallyScope
from app.surveys.rounds import repeats
from app.surveys.rounds.calendar import Round
from app.surveys.rounds.repeats import Repeat
from app.surveys.words import MOST_NPS, MOST_STARS
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page

SEE = Requires("surveys.view", module="surveys")
MOST_ROUNDS = 24
_NPS = (-100, 100)


@dataclass(frozen=True, slots=True)
class RoundSeries:
    """One figure through all rounds: a drawing, and a row for each round in words: the round, its value, and how many
    people it counts."""

    key: str
    unit: str
    plot: Plot
    rows: tuple[tuple[SurveyRound, str, int], ...]


@dataclass(frozen=True, slots=True)
class RoundsState:
    """What a page says of rounds. `following` is the next round, None when none will open; `stopped` when a save has
    ended them."""

    repeat: Repeat
    following: Round | None
    stopped: bool


def state(survey: Any, zone: PageZone, now: datetime) -> RoundsState | None:
    """The rounds of a row of `surveys`; None for a survey without rounds."""
    repeat = repeats.read(survey.repeat)
    if repeat is None:
        return None
    opens = survey.status == "published" and survey.rounds_after is not None
    following = opening.Repeating(survey.uid, repeat, survey.rounds_after).following(now, zone.info) if opens else None
    return RoundsState(repeat, following, survey.status == "published" and survey.rounds_after is None)


@get("/surveys/view/{uid:str}/rounds", guards=[SEE])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    now, zone = datetime.now(UTC), await ctx.zone()
    survey = await queries.survey(ctx.db, uid_of(uid), None)
    found = (await opening.rounds_of(ctx.db, survey.id, MOST_ROUNDS))[::-1]
    opened = [one for one in found if one.version is not None and one.starts_at <= now]
    series, waiting = await _series(ctx, survey, opened, zone) if opened else ([], [])
    return await page(
        ctx,
        "surveys/rounds.html",
        survey=survey,
        rounds=state(survey, zone, now),
        found=found[::-1],
        now=now,
        most=MOST_ROUNDS,
        series=series,
        waiting=waiting,
    )


async def _series(
    ctx: Context, survey: Any, opened: Sequence[SurveyRound], zone: PageZone
) -> tuple[list[RoundSeries], list[AskedQuestion]]:
    """First the people, then each question whose result is a number; and the questions with rounds that are counted for
    the first time."""
    versions = [one.version for one in opened if one.version is not None]
    people: Counter[int] = Counter()
    for row in await ctx.db.execute(tallies.whole(TallyScope(survey.id, outcomes=RESPONDED))):
        people[row.version] += row.people if row.outcome in RESPONDED else 0
    questions = await table.asked_in(ctx.db, survey.uid, None)
    choices = await of_versions.read(ctx.db, survey, versions, questions)
    await kept_numbers.request(ctx.db, survey.id, choices.due)
    drawn = [_of_question(one, opened, choices, zone) for one in questions]
    waiting = [one for one in questions if any((version, one.key) in choices.numbers.waiting for version in versions)]
    return [_of_people(opened, people, zone), *(one for one in drawn if one)], waiting


def _of_people(opened: Sequence[SurveyRound], people: Mapping[int, int], zone: PageZone) -> RoundSeries:
    rows = tuple((one, f"{people[one.version or 0]:,}", people[one.version or 0]) for one in opened)
    points = [_point(one, number, told, "people", zone) for one, told, number in rows]
    plot = charts.people(points, title="People who responded, by round", unit="People")
    return RoundSeries("people", "People", plot, rows)


def _of_question(
    question: AskedQuestion, opened: Sequence[SurveyRound], choices: ChoicesByVersion, zone: PageZone
) -> RoundSeries | None:
    """None for a question whose result is a number in no round."""
    came_to = [choices.breakdown(question, one.version or 0) for one in opened]
    unit = "NPS" if question.type == "nps" else "Mean"
    values = [_value(one) for one in came_to]
    known = [value for value in values if value is not None]
    if not known:
        return None
    rows = tuple(
        (one, _told(value), breakdown.people) for one, value, breakdown in zip(opened, values, came_to, strict=True)
    )
    points = [_point(one, value, told, unit, zone) for (one, told, _), value in zip(rows, values, strict=True)]
    plot = charts.figure(points, _bounds(question, known), title=f"{unit} by round: {question.label}", unit=unit)
    return RoundSeries(str(question.key), unit, plot, rows)


def _value(one: Breakdown) -> float | None:
    if one.promoters:
        return float(one.promoters.score)
    return float(one.mean) if one.mean is not None and one.question.type != "nps" else None


def _bounds(question: AskedQuestion, known: Sequence[float]) -> tuple[int, int]:
    """The ends of the axis: all possible values, so that a small change looks small. For a number question, from its
    lowest to its highest value."""
    if question.type == "nps":
        return _NPS
    if question.type == "star_rating":
        return 0, MOST_STARS
    low = min(0, int(min(known)) - 1) if min(known) < 0 else 0
    return low, max(1, int(max(known)) + 1, MOST_NPS if question.type == "scale" and max(known) > MOST_STARS else 1)


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}".replace("-", "−")


def _point(one: SurveyRound, value: float | None, told: str, unit: str, zone: PageZone) -> RoundPoint:
    label = zone.day(one.day)
    return RoundPoint(label.partition(" ")[2], f"{label}: {told} {unit}", value)


ROUTES = [show]
