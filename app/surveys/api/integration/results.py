"""`GET /api/v1/surveys/{uid}/results`: the results of one version, with the numbers of the survey's page. Scope
`surveys:read`.

For an anonymous version it says how many took part, and once it is closed, what they answered. No answer here has a
person.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, cast, get_args
from uuid import UUID

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.api import parameters
from app.api.envelope import Count, Day, Instant, Line, answer
from app.api.openapi import Endpoint
from app.api.parameters import Range
from app.errors import FieldError, Invalid, NotFound
from app.surveys.api.field_types import Standing, Version
from app.surveys.api.integration.shapes import (
    PREFIX,
    SURVEYS_READ,
    Percent,
    QuestionCounts,
    WrittenText,
    counted,
    percentage,
)
from app.surveys.authoring import audience
from app.surveys.results import anonymous, kept_numbers, of_version, queries, responses
from app.surveys.results.anonymous import AnonymousOutcome
from app.surveys.results.breakdowns import Results
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.group_counts import split_by
from app.surveys.results.tallies import TallyScope
from app.surveys.words import LONGEST_TITLE, MOST_QUESTIONS
from app.texts import day, instant, uuid_of
from app.web.context import Context

PATH = f"{PREFIX}/{{uid}}/results"
WHOLE_ONLY = "An anonymous survey has results of the whole version only."
MOST_DAYS, MOST_GROUPS, MOST_VERSIONS, MOST_TEXTS = 40_000, 10_000, 100_000, 100
Outcomes = Annotated[
    dict[Standing, Count],
    msgspec.Meta(max_length=5, extra_json_schema={"propertyNames": {"enum": list(get_args(Standing))}}),
]


class ResultsQuery(Range, kw_only=True, frozen=True):
    """Days (UTC) and outcome narrow `questions` and `narrowed`; the rest is about the whole version."""

    version: Annotated[int, msgspec.Meta(ge=1, le=999_999_999, description="Without it: the current one.")] | None = (
        None
    )
    outcome: Standing | None = None


class DayCount(msgspec.Struct, kw_only=True):
    day: Day
    outcomes: Outcomes


class AnonymousText(msgspec.Struct, kw_only=True):
    text: WrittenText
    people: Count


class TextsOfQuestion(msgspec.Struct, kw_only=True):
    """Some of what people wrote, in no order; the file on the survey's page has all of it."""

    id: UUID
    texts: Annotated[list[AnonymousText], msgspec.Meta(max_length=MOST_TEXTS)]


class GroupCount(msgspec.Struct, kw_only=True):
    """How often one group gave an answer; a free text has no group."""

    name: Line
    questions: QuestionCounts


class AnonymousPart(msgspec.Struct, kw_only=True):
    """`closed_at` and `ballots` are null while the version is open, because nothing is known of its answers yet. Groups
    of fewer than five people are joined. With fewer than five answers in all there is no result."""

    closed_at: Instant | None
    ballots: Count | None
    groups: Annotated[list[GroupCount], msgspec.Meta(max_length=MOST_GROUPS)]
    texts: Annotated[list[TextsOfQuestion], msgspec.Meta(max_length=MOST_QUESTIONS)]


class VersionResults(msgspec.Struct, kw_only=True):
    """`asked` counts people, `responses` counts what they said, with opt-outs; `responded` is without them.
    `response_rate` is a share of the people asked, `acceptance` of those who agreed or declined. `narrowed` is how many
    responses the days and the outcome leave. `as_of` is null when the figures are of now."""

    survey: UUID
    title: Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)]
    version: Version
    versions: Annotated[list[Version], msgspec.Meta(max_length=MOST_VERSIONS)]
    anonymity: Literal["named", "anonymous"]
    asked: Count
    responses: Count
    responded: Count
    outcomes: Outcomes
    response_rate: Percent | None
    acceptance: Percent | None
    narrowed: Count
    days: Annotated[list[DayCount], msgspec.Meta(max_length=MOST_DAYS)]
    questions: QuestionCounts
    anonymous: AnonymousPart | None
    as_of: Instant | None


@get(f"{PREFIX}/{{uid:str}}/results", guards=[SURVEYS_READ])
async def results(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[bytes]:
    asked = parameters.read(ResultsQuery, ctx.request.query_params)
    survey = await _published(ctx, uid, asked.version)
    _refuse_a_part_of_anonymous(survey, asked)
    version = asked.version or survey.version
    words, questions = responses.definition(survey, version)
    days = parameters.day_of(asked.from_), parameters.day_of(asked.to)
    scope = TallyScope(survey.id, version, (asked.outcome,) if asked.outcome else None, days)
    recent = await ctx.read_recent(partial(of_version.read, scope=scope, questions=questions))
    if recent.found.due:
        await kept_numbers.request(ctx.db, survey.id, [version])
    told = _told(survey, version, words.title, recent.found)
    told.as_of = instant(recent.as_of)
    if survey.anonymity == "anonymous":
        await _tell_apart(ctx, told, survey, version, questions)
    return answer(told)


async def _published(ctx: Context, text: str, version: int | None) -> Any:
    """Raises NotFound, also for a survey that was never published."""
    uid = uuid_of(text)
    survey = await queries.survey(ctx.db, uid, version) if uid else None
    if survey is None or survey.published_at is None:
        raise NotFound("There is no such survey.")
    return survey


def _refuse_a_part_of_anonymous(survey: Any, asked: ResultsQuery) -> None:
    """Raises Invalid, because the answers of a few people on one day would reveal who they are."""
    parts = {"from": asked.from_, "to": asked.to, "outcome": asked.outcome}
    given = [name for name, value in parts.items() if value is not None]
    if survey.anonymity == "anonymous" and given:
        raise Invalid(WHOLE_ONLY, details=[FieldError(name, WHOLE_ONLY) for name in given])


def _told(survey: Any, version: int, title: str, found: Results) -> VersionResults:
    """The results, as of a survey that is not anonymous."""
    counters = found.counters
    return VersionResults(
        survey=survey.uid,
        title=title,
        version=version,
        versions=sorted(survey.versions or [version]),
        anonymity=survey.anonymity,
        asked=counters.asked,
        responses=counters.responses,
        responded=counters.responded,
        outcomes=_outcomes(counters.outcomes),
        response_rate=percentage(counters.response_rate),
        acceptance=percentage(counters.acceptance),
        narrowed=found.narrowed,
        days=[_day(one, outcomes) for one, outcomes in found.days.items()],
        questions=[counted(one) for one in found.questions],
        anonymous=None,
        as_of=None,
    )


async def _tell_apart(
    ctx: Context, told: VersionResults, survey: Any, version: int, questions: Sequence[AskedQuestion]
) -> None:
    """Puts the results of the closing in place of the ledger's counts. The ledger knows who took part, and when; that
    stays."""
    outcome = await anonymous.read(ctx.db, survey.id, version, questions, texts=MOST_TEXTS)
    names = anonymous.names_of(survey.split, audience.named(survey.type_names, survey.tenant_names))
    has_groups = anonymous.is_split(questions, survey.split)
    told.days, told.questions = [], []
    if outcome.is_shown:
        told.questions = [counted(one) for one in outcome.breakdowns(questions)]
    told.anonymous = AnonymousPart(
        closed_at=instant(outcome.closed_at),
        ballots=outcome.ballots if outcome.closed_at else None,
        groups=_groups(outcome, questions, names) if has_groups else [],
        texts=_texts(outcome),
    )


def _groups(
    outcome: AnonymousOutcome, questions: Sequence[AskedQuestion], names: Mapping[str, str]
) -> list[GroupCount]:
    """Each question has groups of its own: if all groups of a question are small, it has one group with everybody."""
    split, called = outcome.split(), outcome.group_names(names)
    found = [
        (called[group or ""], [part for one in split_by(questions) if (part := split.breakdown(one, group)).people])
        for group, _ in split.groups
    ]
    return [GroupCount(name=name, questions=[counted(one) for one in parts]) for name, parts in found if parts]


def _texts(outcome: AnonymousOutcome) -> list[TextsOfQuestion]:
    return [
        TextsOfQuestion(id=key, texts=[AnonymousText(text=text, people=people) for text, people in said])
        for key, said in outcome.texts.items()
    ]


def _day(one: date, outcomes: Mapping[str, int]) -> DayCount:
    return DayCount(day=day(one) or "", outcomes=_outcomes(outcomes))


def _outcomes(outcomes: Mapping[str, int]) -> Outcomes:
    return {cast("Standing", word): people for word, people in outcomes.items() if people}


ENDPOINT = Endpoint(
    "GET",
    PATH,
    "What a version of a survey came to",
    VersionResults,
    ResultsQuery,
    scope=SURVEYS_READ.scope,
    in_path={"uid": {"type": "string", "format": "uuid", "maxLength": 36}},
)
