"""`/surveys/view/<uid>/versions`: the result of each question in each version, side by side. A question has the same id
in all versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.surveys.pages.addresses import uid_of
from app.surveys.results import kept_numbers, of_versions, queries, table
from app.surveys.results.breakdowns import WITHOUT_BARS, Breakdown, dates, length_of_dates
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.of_versions import ChoicesByVersion
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page

SEE = Requires("surveys.view", module="surveys")
MOST_VERSIONS = 6
NONE = "–"


@dataclass(frozen=True, slots=True)
class QuestionInVersions:
    """`columns` has the question's result in each version; None when it was not answered."""

    question: AskedQuestion
    columns: tuple[Breakdown | None, ...]

    @property
    def is_scored(self) -> bool:
        return any(one and one.promoters for one in self.columns)

    @property
    def is_counted(self) -> bool:
        return any(one and one.middle for one in self.columns)

    @property
    def waits(self) -> bool:
        """True while a version's numbers are counted for the first time."""
        return any(one and one.waits for one in self.columns)

    @property
    def labels(self) -> list[tuple[str, list[str]]]:
        """A line for each answer: its name, and its share in each version. For a matrix, a line for each row with each
        of its answers."""
        shares = [_shares(one) if one else {} for one in self.columns]
        names = list(dict.fromkeys(name for one in shares for name in one))
        if self.question.type == "date":
            names.sort()
        return [(name, [one.get(name, NONE) for one in shares]) for name in names]


@get("/surveys/view/{uid:str}/versions", guards=[SEE])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    survey = await queries.survey(ctx.db, uid_of(uid), None)
    versions = sorted(survey.versions or [survey.version])[-MOST_VERSIONS:]
    questions = await table.asked_in(ctx.db, survey.uid, None)
    recent = await ctx.read_recent(partial(of_versions.read, survey=survey, versions=versions, questions=questions))
    await kept_numbers.request(ctx.db, survey.id, recent.found.due)
    return await page(
        ctx,
        "surveys/versions.html",
        survey=survey,
        versions=versions,
        questions=_compared(questions, versions, recent.found),
        as_of=recent.as_of,
    )


def _compared(
    questions: Sequence[AskedQuestion], versions: Sequence[int], given: ChoicesByVersion
) -> list[QuestionInVersions]:
    """Questions with choices or numbers. Agreements are among the figures of each version, texts among its comments."""
    return [
        QuestionInVersions(one, tuple(_columns(one, versions, given)))
        for one in questions
        if one.type not in WITHOUT_BARS
    ]


def _columns(question: AskedQuestion, versions: Sequence[int], given: ChoicesByVersion) -> Iterator[Breakdown | None]:
    """Dates are shown in the same way for all versions: by day, by month or by year."""
    found = [given.choices.get((version, question.key), {}) for version in versions]
    length = length_of_dates({day for one in found for day in one if day}) if question.type == "date" else 0
    for version, choices in zip(versions, found, strict=True):
        one = dates(question, choices, length) if length else given.breakdown(question, version)
        yield one if one.people else None


def _shares(one: Breakdown) -> dict[str, str]:
    rows = {f"{row.label}: {bar.label}": bar for row in one.rows for bar in row.bars}
    # A range of numbers differs in each version.
    bars = {bar.label: bar for bar in one.bars if bar.choice or one.question.type == "date"}
    return {name: NONE if bar.percent is None else f"{bar.percent} %" for name, bar in (rows | bars).items()}


ROUTES = [show]
