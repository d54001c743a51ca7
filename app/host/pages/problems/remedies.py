"""Remedies as the page offers them: one, or those of many problems that are safe for many."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from app.accounts.permissions import needed
from app.db.among import among
from app.errors import Conflict, Forbidden
from app.host.pages.problems.seen import kinds_seen
from app.problems import acts, looking
from app.problems.kinds import ProblemKind, Remedy, RemedyAsked, kinds
from app.problems.models import Problem
from app.problems.queries import IS_OPEN
from app.web.context import Context

CHANGED = "The problem has changed meanwhile. Nothing was done. Reload the page."


@dataclass(frozen=True, slots=True)
class OfferedRemedy:
    """What a button says, and where it leads. `asks`: a question comes first, so it opens in a dialog. `about`: what
    its form carries, so that it does what the page said."""

    label: str
    url: str
    asks: bool
    about: str = ""


def offered(ctx: Context, row: Any) -> OfferedRemedy | None:
    """None when the kind has none, where the person may not do it, where the problem is closed, and while the act would
    be refused."""
    kind = kinds().get(row.kind)
    if (
        kind is None
        or row.closed_at is not None
        or (remedy := kind.remedy) is None
        or not all(map(ctx.may, remedy.rights))
        or not remedy.is_ready(row.facts, datetime.now(UTC))
    ):
        return None
    about = remedy.about(row) if remedy.about else ""
    asks = bool(remedy.asks or remedy.choices)
    return OfferedRemedy(remedy.label_for(row.facts), f"/problems/{row.id}/remedy", asks, about)


def remedy_of(ctx: Context, kind: ProblemKind) -> Remedy:
    """Raises Conflict where there is none, and Forbidden without its right."""
    if kind.remedy is None:
        raise Conflict(f"“{kind.label}” has no remedy here. Its page says what to do.")
    for right in kind.remedy.rights:
        if not ctx.may(right):
            raise Forbidden(needed(right))
    return kind.remedy


@dataclass(frozen=True, slots=True)
class Helped:
    """How many problems changed, and what their remedies tell besides."""

    problems: int
    notes: Sequence[str]


async def run(ctx: Context, problem_ids: Collection[int], choice: str = "", about: str | None = None) -> Helped:
    """Runs the remedies of the open ones among these problems, then looks which of them are over. Raises what the acts
    raise, and Conflict where the remedy means something else than `about`."""
    by_kind, done = await _open(ctx, problem_ids), 0
    notes: list[str] = []
    for name, rows in by_kind.items():
        remedy = remedy_of(ctx, kinds()[name])
        if about and remedy.about and any(remedy.about(row) != about for row in rows):
            raise Conflict(CHANGED)
        subjects, facts = [row.subject_id for row in rows], [row.facts for row in rows]
        changed = await remedy.do(RemedyAsked(ctx.parts, ctx.db, ctx.actor, subjects, facts, choice, notes))
        helped = [row.id for row in rows if changed is None or row.subject_id in changed]
        await acts.note_remedy(ctx.db, ctx.actor, helped, remedy.taken(choice, rows[0].facts))
        done += len(helped)
    await looking.look(ctx.db, list(by_kind))
    return Helped(done, notes)


async def still_so(ctx: Context, row: Any) -> str:
    """A sentence about the problem as it is after its remedy changed nothing."""
    remedy = kinds()[row.kind].remedy
    if remedy is None or remedy.unchanged is None:
        return "Nothing was changed."
    return await remedy.unchanged(RemedyAsked(ctx.parts, ctx.db, ctx.actor, [row.subject_id], [row.facts]))


async def _open(ctx: Context, problem_ids: Collection[int]) -> dict[str, list[Any]]:
    """The open ones, by kind. Raises Conflict when all are closed."""
    wanted = among(Problem.id, problem_ids), among(Problem.kind, kinds_seen(ctx)), IS_OPEN
    columns = Problem.id, Problem.kind, Problem.subject_id, Problem.facts, Problem.held_punches, Problem.evidence
    rows: Sequence[Any] = (await ctx.db.execute(select(*columns).where(*wanted).order_by(Problem.id))).all()
    if not rows:
        raise Conflict(acts.GONE)
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.kind].append(row)
    return dict(found)
