"""Problems by kind, the most harmful first. Each kind shows its number, what it holds, and its first rows. Ten thousand
of one kind are one group, which opens as a list of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Select, func, select, true

from app.counting import count
from app.host.pages.problems.problem_list import RANK, SEVERITIES, TONES, URL, label_of, only_kind
from app.long_acts import progress
from app.problems.kinds import PEOPLE, kinds
from app.problems.models import Problem
from app.web import lists
from app.web.context import Context
from app.web.list_page import ListPage
from app.web.list_spec import ListSpec, Query
from app.web.templating import with_query

# For each kind; the others are a click away.
MOST_ROWS = 5
_FIRST = (Problem.held_punches.desc(), Problem.since, Problem.id)


@dataclass(frozen=True, slots=True)
class ProblemKindRows:
    """The problems of one kind: their number, how many punches and people they hold, when the oldest began, and the
    first rows. `url` lists all."""

    kind: str
    label: str
    severity: str
    problems: int
    held_punches: int
    held_people: int
    since: datetime
    rows: Sequence[Any]
    url: str

    @property
    def tone(self) -> str:
        return TONES[self.severity]

    @property
    def severity_label(self) -> str:
        return SEVERITIES[self.severity]

    @property
    def number(self) -> str:
        return count(self.problems, "problem", "problems")

    @property
    def holds(self) -> str:
        """`holds 20 punches of 3 people`, or nothing. Where several problems may be about one person, their days are
        counted."""
        words = kinds()[self.kind].people if self.problems > 1 and self.kind in kinds() else PEOPLE
        held = count(self.held_punches, "punch", "punches") if self.held_punches else ""
        people = count(self.held_people, *words) if self.held_people else ""
        return f"holds {' of '.join(filter(None, (held, people)))}" if held or people else ""

    @property
    def more(self) -> int:
        """How many problems are not among the rows."""
        return self.problems - len(self.rows)


@dataclass
class GroupedList(ListPage):
    """A list that shows its rows by kind: all kinds on one page."""

    groups: Sequence[ProblemKindRows] = ()
    per_pages: ClassVar[tuple[int, ...]] = ()

    @property
    def pages(self) -> int:
        return 1


def is_wanted(query: Query) -> bool:
    """Rows by kind, unless the address names one kind, an order or closed problems."""
    return not (query.get("sort") or query.get("page") or query.get("state") == "closed" or only_kind(query))


async def load(ctx: Context, spec: ListSpec, base: Select[Any]) -> GroupedList:
    """Costs one statement, however many problems there are."""
    wanted = lists.asked(spec, ctx.request.query_params)
    found = (await ctx.db.execute(_by_kind(base.where(lists.condition(spec, wanted)), MOST_ROWS))).all()
    view = lists.listing(ctx, spec, wanted, found, 0, acting=found[0].acting if found else None)
    groups = _grouped(found, lambda kind: view.link(kind=kind))
    total = sum(one.problems for one in groups)
    grouped = GroupedList(
        *(spec, found, total, wanted, view.columns, view.visible, view.bulk),
        acting=view.acting,
        has_default_view=view.has_default_view,
        groups=groups,
    )
    grouped.total_note = f"in {count(len(groups), 'kind', 'kinds')}" if len(groups) > 1 else ""
    return grouped


async def top(ctx: Context, base: Select[Any], most: int) -> tuple[list[ProblemKindRows], int]:
    """The kinds that do most harm, with one row each, and how many problems there are of all kinds."""
    found = (await ctx.db.execute(_by_kind(base, 1).limit(most))).all()
    return _grouped(found, lambda kind: with_query(URL, {"kind": kind})), int(found[0].in_all) if found else 0


def _by_kind(base: Select[Any], rows: int) -> Select[Any]:
    counted = (
        base.with_only_columns(
            Problem.kind.label("of_kind"),
            func.max(RANK).label("rank"),
            func.count().label("problems"),
            func.sum(func.count()).over().label("in_all"),
            func.sum(Problem.held_punches).label("all_punches"),
            func.sum(Problem.held_people).label("all_people"),
            func.min(Problem.since).label("first_since"),
        )
        .group_by(Problem.kind)
        .subquery("counted")
    )
    first = base.where(Problem.kind == counted.c.of_kind).order_by(*_FIRST).limit(rows).lateral("first")
    place: list[ColumnElement[Any]] = [
        counted.c.rank.desc(), counted.c.all_punches.desc(), counted.c.problems.desc(), counted.c.of_kind
    ]  # fmt: skip
    in_order = [first.c.held_punches.desc(), first.c.since, first.c.id]
    acting = progress.newest(url=URL).label("acting")
    return select(*counted.c, acting, *first.c).select_from(counted.join(first, true())).order_by(*place, *in_order)


def _grouped(found: Sequence[Any], url: Callable[[str], str]) -> list[ProblemKindRows]:
    rows: dict[str, list[Any]] = {}
    for one in found:
        rows.setdefault(one.of_kind, []).append(one)
    return [_group(kind, of_kind, url(kind)) for kind, of_kind in rows.items()]


def _group(kind: str, rows: Sequence[Any], url: str) -> ProblemKindRows:
    first = rows[0]
    return ProblemKindRows(
        kind,
        label_of(kind),
        first.severity,
        first.problems,
        int(first.all_punches),
        int(first.all_people),
        first.first_since,
        rows,
        url,
    )
