"""The most harmful problems, as other pages show them: a line for each kind."""

from collections.abc import Sequence
from dataclasses import dataclass

from litestar.datastructures import MultiDict

from app.host.pages.problems import groups
from app.host.pages.problems.groups import ProblemKindRows
from app.host.pages.problems.problem_list import URL, base
from app.host.pages.problems.remedies import OfferedRemedy, offered
from app.host.pages.problems.seen import SEE, open_problems
from app.problems.kinds import place_of
from app.web.context import Context
from app.web.preferences import WITHOUT_VIEW
from app.web.templating import with_query

MOST = 8


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """One problem, or several of a kind. `url` lists them, or shows the one; `in_drawer` says so. `place`: the page of
    what the problem is about. `remedy`: what helps against the one, where the person may do it."""

    sentence: str
    holds: str
    tone: str
    url: str
    in_drawer: bool
    place: str
    remedy: OfferedRemedy | None = None


@dataclass(frozen=True, slots=True)
class TopOfProblems:
    """`number` of open problems in all, without snoozed ones, as the list shows them; `url` lists all of them, whatever
    view the person opens that list with, "" for who may not open it."""

    lines: Sequence[ProblemLine]
    number: int
    url: str


async def top(ctx: Context) -> TopOfProblems:
    """The top problems of the kinds whose page the person may open. One statement, or none when nothing is open."""
    may = ctx.may(SEE)
    found, number = await groups.top(ctx, base(ctx, MultiDict()), MOST) if open_problems(ctx) else ([], 0)
    return TopOfProblems(
        [_line(ctx, one, may=may) for one in found], number, with_query(URL, WITHOUT_VIEW) if may else ""
    )


def _line(ctx: Context, group: ProblemKindRows, *, may: bool) -> ProblemLine:
    row = group.rows[0]
    place = place_of(row)
    if group.problems == 1:
        url = f"{URL}/{row.id}" if may else place
        remedy = offered(ctx, row) if may else None
        return ProblemLine(row.title, group.holds, group.tone, url, may, place if may else "", remedy)
    said = f"{group.label}: {group.number}"
    return ProblemLine(said, group.holds, group.tone, group.url if may else place, in_drawer=False, place="")
