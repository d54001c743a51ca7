"""What people do with problems from /problems: one by one in the drawer,
and in bulk over a selection or a whole filter."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Select

from app.counting import count
from app.errors import Conflict, Invalid
from app.host.pages.problems import remedies
from app.host.pages.problems.given import asked_by, choice_of, given, held_by, kind_meant, remedy_for, snooze_until
from app.host.pages.problems.page import OPEN, shown
from app.host.pages.problems.problem_list import URL, able, base, only_kind, spec_of
from app.host.pages.problems.seen import ACT, SEE, kinds_seen, people_offered
from app.host.pages.problems.snoozes import SNOOZES
from app.long_acts.over_lists import SliceOutcome
from app.problems import acts, queries
from app.problems.kinds import kinds, place_of
from app.problems.models import Problem
from app.web.bulk import act_on_many, action_of, ask_first, chosen_ids
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length
from app.web.pages import DIALOG, done, leaving_dialog, page

MAY, SEES = Requires(ACT), Requires(SEE)
WHAT = ("problem", "problems")
# What an act was told besides: whom, until when, why.
Given = Mapping[str, Any]
Verb = Callable[[Context, Sequence[int], Given], Awaitable[int]]
REOPENS = "What is new about it opens it again."


@dataclass(frozen=True, slots=True)
class ProblemAct:
    """`verb` returns how many problems it changed. `asks` has a place for the problems; `doing` and `past` say what is
    done; `needs` names what the question asks for."""

    asks: str
    doing: str
    past: str
    consequence: str
    verb: Verb
    needs: str = ""


async def _assign(ctx: Context, ids: Sequence[int], given: Given) -> int:
    return len(await acts.assign(ctx.db, ctx.actor, ids, kinds_seen(ctx), given["user_id"]))


async def _snooze(ctx: Context, ids: Sequence[int], given: Given) -> int:
    ends = datetime.fromisoformat(given["until"]) if given["until"] else None
    return len(await acts.snooze(ctx.db, ctx.actor, ids, kinds_seen(ctx), ends))


async def _dismiss(ctx: Context, ids: Sequence[int], given: Given) -> int:
    return len(await acts.dismiss(ctx.db, ctx.actor, ids, kinds_seen(ctx), given["note"]))


async def _remedy(ctx: Context, ids: Sequence[int], given: Given) -> int:
    return (await remedies.run(ctx, ids, given["choice"])).problems


def _within(label: str) -> str:
    """Inside a sentence: the day of the week keeps its capital."""
    return label[0].lower() + label[1:]


def _snoozed(label: str, said: str) -> ProblemAct:
    asks = f"Snooze {{}} {_within(label)}"
    consequence = f"Snoozed problems leave this list {said}, and come back by themselves. A problem that is fixed meanwhile closes."
    return ProblemAct(asks, "Snoozing problems", "snoozed", consequence, _snooze)


ACTS = {
    "remedy": ProblemAct(
        "Apply the remedy to {}",
        "Applying remedies",
        "given the remedy",
        "Each gets the remedy that its row offers, and closes by itself once it is fixed.",
        _remedy,
    ),
    "assign_me": ProblemAct(
        "Assign {} to me", "Assigning problems", "assigned", "The filter “Mine” shows what is yours.", _assign
    ),
    "assign": ProblemAct(
        "Assign {} to a person",
        "Assigning problems",
        "assigned",
        "The filter “Mine” shows the person what is theirs.",
        _assign,
        "user",
    ),
    "unassign": ProblemAct(
        "Unassign {}", "Unassigning problems", "unassigned", "After that no person is assigned.", _assign
    ),
    "snooze_hour": _snoozed(SNOOZES["hour"], "for an hour"),
    "snooze_tomorrow": _snoozed(SNOOZES["tomorrow"], "until midnight"),
    "snooze_monday": _snoozed(SNOOZES["monday"], "until Monday begins"),
    "snooze_change": _snoozed(SNOOZES["change"], "until something new is found about them"),
    "wake": ProblemAct(
        "End the snooze of {}", "Ending snoozes", "shown again", "The list shows what is no longer snoozed.", _snooze
    ),
    "dismiss": ProblemAct(
        "Dismiss {}",
        "Dismissing problems",
        "dismissed",
        "A dismissed problem closes, with your note in its history. What is new about it opens it again. Problems that can't be dismissed stay open.",
        _dismiss,
        "note",
    ),
}


def _long(action: str) -> LongBulk:
    chosen = ACTS[action]

    async def rows(ctx: Context, query: Query, _: str) -> BulkRows:
        return BulkRows(await spec_of(ctx, query), _rows(ctx, query, action))

    async def changes(ctx: Context, ids: Sequence[int], given: Given) -> SliceOutcome:
        return SliceOutcome(await chosen.verb(ctx, ids, given))

    bulk = LongBulk(f"problems.{action}", chosen.doing, chosen.past, WHAT, ACT, rows, changes, sees=SEE, page=URL)
    return replace(bulk, changed_at=Problem.last_seen_at) if action == "remedy" else bulk


def _rows(ctx: Context, query: Query, action: str, kind: str = "") -> Select[Any]:
    return base(ctx, query).where(able(action, ctx.user.permissions, kind or only_kind(query)))


LONG = {action: _long(action) for action in ACTS}


@post(f"{URL}/bulk", guards=[MAY], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, ACTS)
    kind = await kind_meant(ctx) if action == "remedy" else ""
    chosen, told = ACTS[action], await given(ctx, action, kind)

    async def ask_of_many(which: str) -> dict[str, Any]:
        return await _question(ctx, action, which, kind)

    if answer := await at_length(ctx, LONG[action], URL, ask_of_many, what=told):
        return answer
    query = ctx.request.query_params
    ids = await chosen_ids(ctx, await spec_of(ctx, query), _rows(ctx, query, action, kind))

    async def ask() -> dict[str, Any]:
        return await _question(ctx, action, count(len(ids), *WHAT), kind)

    async def act() -> str:
        if action != "remedy":
            return _told(chosen, await chosen.verb(ctx, ids, told), len(ids))
        helped = await remedies.run(ctx, ids, told["choice"])
        return " ".join([_told(chosen, helped.problems, len(ids)), *helped.notes])

    none = Conflict(_none_of_them(action))
    also = [("held", await held_by(ctx, ids, kind))] if action == "remedy" else []
    return await act_on_many(ctx, len(ids), url=URL, none=none, ask=ask, do=act, also=also)


@post(f"{URL}/{{problem_id:int}}/assign", guards=[MAY], status_code=200)
async def assign(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    to_me = (await ctx.form()).get("me") == "1"
    told = await given(ctx, "assign_me" if to_me else "assign", confirmed=True)
    await _assign(ctx, [problem_id], told)
    return await _back(
        ctx,
        problem_id,
        "The problem was assigned." if told["user_id"] else "The problem is assigned to no person now.",
    )


@post(f"{URL}/{{problem_id:int}}/snooze", guards=[MAY], status_code=200)
async def snooze(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    word = str((await ctx.form()).get("until", ""))
    if word not in ("", *SNOOZES):
        raise Invalid("Choose one of the snoozes that the page offers.")
    await _snooze(ctx, [problem_id], await snooze_until(ctx, word))
    said = f"The problem is snoozed {_within(SNOOZES[word])}." if word else "The problem stands in the list again."
    return await _back(ctx, problem_id, said)


@get(f"{URL}/{{problem_id:int}}/dismiss", guards=[MAY])
async def ask_to_dismiss(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    row = await queries.find(ctx.db, problem_id, kinds_seen(ctx))
    return await ask_first(
        ctx,
        question="Dismiss this problem?",
        consequence=f"“{row.title}” closes, with your note in its history. {REOPENS}",
        submit="Dismiss",
        danger=False,
        url=f"{URL}/{problem_id}/dismiss",
        cancel_url=f"{URL}/{problem_id}",
        note="",
        why=True,
        hx_target=_in_dialog(ctx),
    )


@post(f"{URL}/{{problem_id:int}}/dismiss", guards=[MAY], status_code=200)
async def dismiss(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    await _dismiss(ctx, [problem_id], await given(ctx, "dismiss", confirmed=True))
    return await _back(ctx, problem_id, "The problem was dismissed.")


@get(f"{URL}/{{problem_id:int}}/remedy", guards=[SEES])
async def ask_for_remedy(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    row = await queries.find(ctx.db, problem_id, kinds_seen(ctx))
    remedy = remedies.remedy_of(ctx, kinds()[row.kind])
    here = f"{URL}/{problem_id}"
    values: dict[str, Any] = {
        "row": row,
        "remedy": remedy,
        "label": remedy.label_for(row.facts),
        "choices": [{"value": value, "label": label} for value, label in remedy.choices_for(row.facts)],
        "url": f"{here}/remedy",
        "about": remedy.about(row) if remedy.about else "",
        "cancel_url": here,
        "hx_target": _in_dialog(ctx),
    }
    return await page(ctx, "host/problems/remedy.html", fragment="dialog", **values)


@post(f"{URL}/{{problem_id:int}}/remedy", guards=[SEES], status_code=200)
async def apply_remedy(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    """Takes the right of the act itself, beside the one to see the problem."""
    row = await queries.find(ctx.db, problem_id, kinds_seen(ctx))
    wanted = remedies.remedy_of(ctx, kinds()[row.kind])
    form = await ctx.form()
    choice = choice_of(wanted.choices_for(row.facts), str(form.get("choice", "")))
    helped = await remedies.run(ctx, [problem_id], choice, str(form.get("about", "")))
    now = await queries.find(ctx.db, problem_id, kinds_seen(ctx))
    if not helped.problems and not now.closed_at:
        return await _back(ctx, problem_id, await remedies.still_so(ctx, now), see=place_of(now))
    rest = "The problem is closed." if now.closed_at else "The problem closes by itself once it is fixed."
    said = " ".join([f"{wanted.taken(choice, row.facts)}: done.", *helped.notes, rest])
    return await _back(ctx, problem_id, said)


async def _question(ctx: Context, action: str, which: str, kind: str) -> dict[str, Any]:
    chosen = ACTS[action]
    whole = chosen.asks.format(which)
    asked: dict[str, Any] = {
        "question": f"{whole}?",
        "submit": whole,
        "consequence": chosen.consequence,
        "danger": False,
    }
    if chosen.needs == "note":
        asked |= {"note": "", "why": True}
    if chosen.needs == "user":
        asked["pick"] = {"name": "user_id", "label": "Person", "options": await people_offered(ctx)}
    if remedy := remedy_for(kind):
        asked |= asked_by(remedy, which)
    return asked


async def _back(ctx: Context, problem_id: int, said: str, *, see: str = "") -> Response[Any]:
    """The drawer again, with the list behind it brought up to date; without script, and from a dialog, where one came
    from. `see`: the page of a problem that an act left as it was."""
    if ctx.wants_fragment and ctx.target != DIALOG:
        return await shown(ctx, problem_id, said, see=see)
    level, link = ("warning", (see, OPEN)) if see else ("success", None)
    return leaving_dialog(ctx, await done(ctx, f"{URL}/{problem_id}", said, level=level, see=link))


def _in_dialog(ctx: Context) -> str | None:
    """Where htmx sends a question's form from; None without script."""
    return f"#{DIALOG}" if ctx.wants_fragment else None


def _told(chosen: ProblemAct, number: int, meant: int) -> str:
    if number == meant:
        return f"{count(number, 'problem was', 'problems were')} {chosen.past}."
    stay = count(meant - number, "stays as it is", "stay as they are")
    return f"{number:,} of {count(meant, *WHAT)} were {chosen.past}; {stay}."


def _none_of_them(action: str) -> str:
    match action:
        case "dismiss":
            return "None of these problems can be dismissed: each closes once it is fixed. Their remedies say how."
        case "remedy":
            return "None of these problems has a remedy that is safe for many at once, or you may not apply it."
        case "wake":
            return "None of these problems is snoozed."
    return "These problems are closed already. Reload the page."


ROUTES = [bulk, assign, snooze, ask_to_dismiss, dismiss, ask_for_remedy, apply_remedy]
