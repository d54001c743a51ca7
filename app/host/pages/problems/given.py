"""What people enter when they act on problems: a person, a time, a reason, a choice; and how a question asks for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from app.db.among import among
from app.errors import Conflict, Invalid
from app.host.pages.problems.problem_list import base, only_kind, spec_of
from app.host.pages.problems.snoozes import until
from app.problems.kinds import Remedy, held, kinds
from app.problems.models import Problem
from app.texts import whole
from app.web import lists
from app.web.bulk import mark_of
from app.web.context import LARGEST_ID, Context

ONE_KIND = "Each kind of problem has a remedy of its own. Filter by one kind first, then apply its remedy."


async def given(ctx: Context, action: str, kind: str = "", *, confirmed: bool | None = None) -> dict[str, Any]:
    """What the form has besides the act. Values that a question will ask for are empty before it. Raises Invalid."""
    form = await ctx.form()
    agreed = form.get("confirmed") == "1" if confirmed is None else confirmed
    match action.partition("_")[0]:
        case "snooze":
            return await snooze_until(ctx, action.removeprefix("snooze_"))
        case "wake":
            return {"until": None}
        case "dismiss":
            return {"note": _why(str(form.get("note", ""))) if agreed else ""}
        case "remedy":
            remedy = remedy_for(kind)
            word = str(form.get("choice", ""))
            return {"choice": choice_of(remedy.choices, word) if agreed and remedy else ""}
    if action in ("assign_me", "unassign"):
        return {"user_id": ctx.user.id if action == "assign_me" else None}
    return {"user_id": _user(str(form.get("user_id", "")))} if action == "assign" and agreed else {}


def asked_by(remedy: Remedy, which: str) -> dict[str, Any]:
    act = f"Apply “{remedy.label}” to {which}"
    asked: dict[str, Any] = {"question": f"{act}?", "submit": act}
    if remedy.asks:
        asked["consequence"] = f"{remedy.asks} Each closes by itself once it is fixed."
    if remedy.choices:
        # A question about a fact has no likely answer.
        none = [{"value": "", "label": "Choose…"}] if remedy.asks else []
        options = [*none, *({"value": value, "label": label} for value, label in remedy.choices)]
        asked["pick"] = {"name": "choice", "label": "How", "options": options}
    return asked


async def kind_meant(ctx: Context) -> str:
    """The one kind of the rows that a bulk remedy is for. Raises Conflict where they are of several, or may be: each
    kind has a remedy and a question of its own."""
    query = ctx.request.query_params
    if only := only_kind(query):
        return only
    if (await ctx.form()).get("all") == "1":
        raise Conflict(ONE_KIND)
    ticked = await lists.selected(ctx, await spec_of(ctx, query))
    of = base(ctx, query).with_only_columns(Problem.kind).where(ticked).distinct()
    found = (await ctx.db.scalars(of)).all()
    if len(found) > 1:
        raise Conflict(ONE_KIND)
    return "".join(found)


async def held_by(ctx: Context, problem_ids: Sequence[int], kind: str) -> str:
    """A mark of what the remedy of the kind means for these problems, as a page shows them: when it changes, the
    question is asked again."""
    columns = Problem.id, Problem.facts, Problem.held_punches, Problem.evidence
    rows: Sequence[Any] = (await ctx.db.execute(select(*columns).where(among(Problem.id, problem_ids)))).all()
    remedy = remedy_for(kind)
    about = (remedy.about if remedy else None) or held
    return mark_of((row.id, about(row)) for row in rows)


def remedy_for(kind: str) -> Remedy | None:
    return kinds()[kind].remedy if kind in kinds() else None


def choice_of(ways: Sequence[tuple[str, str]], word: str) -> str:
    """Raises Invalid where the remedy has several ways, and this is none of them."""
    if ways and word not in dict(ways):
        raise Invalid.at("choice", "Choose one of the ways that the page offers.")
    return word if ways else ""


async def snooze_until(ctx: Context, word: str) -> dict[str, Any]:
    zone = await ctx.zone()
    return {"until": until(word, datetime.now(UTC), zone.info).isoformat() if word else None}


def _why(note: str) -> str:
    if not note.strip():
        raise Invalid.at("note", "Say why in a line: others read it in the history.")
    return note


def _user(text: str) -> int | None:
    """None for no person. Raises Invalid."""
    if not text:
        return None
    user_id = whole(text, len(str(LARGEST_ID)))
    if user_id is None or user_id > LARGEST_ID:
        raise Invalid.at("user_id", "Choose a person of the list.")
    return user_id
