"""`GET /api/v1/problems`: what a person should do, for other programs. Scope `problems:read`.

It gives the kinds that the token's owner sees: without `updated_since` the open problems, snoozed ones included; with
it also those that closed or changed since.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import Select

from app.api import parameters
from app.api.envelope import Code, Count, Id, Instant, Line, Meta, Prose, answer
from app.api.openapi import Endpoint, paged
from app.api.paging import ApiList, page_of_many
from app.api.parameters import VERBATIM, InstantText, Paged
from app.api.tokens import TokenGuard
from app.errors import FieldError, Invalid
from app.host.problem_kinds.workers import look_without_worker
from app.problems import queries
from app.problems.kinds import kinds, place_of, visible
from app.problems.models import Problem
from app.problems.queries import ProblemFilter
from app.texts import instant
from app.web.context import Context

PROBLEMS_READ = TokenGuard("problems:read", permissions=("host.problems",))
PATH = "/api/v1/problems"
PROBLEMS = ApiList("problems", {"id": Id})
Severities = Literal["critical", "warning", "info"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100, extra=VERBATIM)]
FOLLOW_ALL = "Follow all problems with `updated_since`, and filter them yourself: one that closes would be missed."


class ProblemQuery(Paged, kw_only=True, frozen=True):
    kind: Annotated[Name, msgspec.Meta(description="One kind, such as `silence`.")] | None = None
    severity: Severities | None = None
    status: (
        Annotated[
            Literal["open", "closed", "all"],
            msgspec.Meta(description="Without it: open, snoozed ones included. Not together with `updated_since`."),
        ]
        | None
    ) = None
    department: Annotated[Name, msgspec.Meta(description="The code of a department of the time clock.")] | None = None
    terminal: Annotated[Name, msgspec.Meta(description="The serial number of a terminal.")] | None = None
    updated_since: InstantText | None = None


class ProblemRow(msgspec.Struct):
    id: Id
    kind: Code
    severity: Severities
    subject_type: Code
    subject_id: Line
    title: Line
    detail: Prose
    held_punches: Count
    held_people: Count
    since: Annotated[Instant, msgspec.Meta(description="When it began, as far as that is known.")]
    opened_at: Instant
    last_seen_at: Annotated[Instant, msgspec.Meta(description="When something new was last found in it.")]
    closed_at: Instant | None
    closed_by: Literal["itself", "person"] | None
    snoozed_until: Annotated[
        Instant | None, msgspec.Meta(description="The year 9999 means: until something new is found.")
    ]
    assigned_to: Line | None
    url: Annotated[str, msgspec.Meta(max_length=2000, description="The page of what it is about.")]
    updated_at: Instant


@get(PATH, guards=[PROBLEMS_READ])
async def problems(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(ProblemQuery, ctx.request.query_params)
    await look_without_worker(ctx.db)
    wanted = _wanted(asked, visible(ctx.person.permissions if ctx.person else (), ctx.workspace, ctx.policies))

    async def meant() -> Select[Any]:
        return queries.problems(wanted)

    rows, meta = await page_of_many(ctx.db, asked, PROBLEMS, meant, Problem.id)
    return answer([problem_row(row, ctx.parts.settings.base_url) for row in rows], meta=meta)


def _wanted(asked: ProblemQuery, seen: Collection[str]) -> ProblemFilter:
    """Raises Invalid for an unknown kind, and for a filter together with `updated_since`."""
    if asked.kind is not None and asked.kind not in kinds():
        sentence = f"There is no such kind. It is one of: {', '.join(sorted(kinds()))}."
        raise Invalid("Some parameters can't be used.", details=[FieldError("kind", sentence)])
    if asked.updated_since and asked.status:
        raise Invalid(FOLLOW_ALL, details=[FieldError("status", FOLLOW_ALL)])
    status = asked.status or ("all" if asked.updated_since else "open")
    return ProblemFilter(
        kinds=[one for one in seen if asked.kind in (None, one)],
        state="unclosed" if status == "open" else status,
        severities=(asked.severity,) if asked.severity else (),
        department=asked.department or "",
        terminal=asked.terminal or "",
        updated_since=parameters.instant_of(asked.updated_since),
    )


def problem_row(row: Any, base_url: str) -> ProblemRow:
    """`row` is one of `queries.problems`."""
    return ProblemRow(
        id=row.id,
        kind=row.kind,
        severity=row.severity,
        subject_type=row.subject_type,
        subject_id=row.subject_id,
        title=row.title,
        detail=row.detail,
        held_punches=row.held_punches,
        held_people=row.held_people,
        since=instant(row.since) or "",
        opened_at=instant(row.opened_at) or "",
        last_seen_at=instant(row.last_seen_at) or "",
        closed_at=instant(row.closed_at),
        closed_by=row.closed_by,
        snoozed_until=instant(row.snoozed_until),
        assigned_to=row.assignee,
        url=f"{base_url}{place_of(row) or f'/problems/{row.id}'}",
        updated_at=instant(row.updated_at) or "",
    )


ENDPOINT = Endpoint("GET", PATH, "Problems", paged(ProblemRow), ProblemQuery, Meta, scope=PROBLEMS_READ.scope)
