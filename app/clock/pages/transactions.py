"""`/clock_transactions`: the mirrored punches, why each shows what it shows, and what a person can do about it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, and_, false, func, select, true

from app.accounts.permissions import needed
from app.clock.codes import BINDING_STATES, BindingState, Direction, punch_label, verify_label
from app.clock.models import Punch
from app.clock.outcomes import GROUP_LABELS, OUTCOMES, Outcome, outcome_label
from app.clock.pages import punch_acts
from app.clock.pages import transaction_list as punches
from app.clock.pages.devices import JUDGED
from app.clock.pages.punch_acts import ACTS
from app.clock.punches import rejudging
from app.clock.review import decisions, fixes, settled_words, settling
from app.clock.review.decisions import Resolved, judged_again
from app.clock.review.fixes import Fix
from app.clock.review.why import Why, why
from app.counting import count
from app.dates import PageZone
from app.errors import Conflict, Forbidden, Invalid, NotFound
from app.host.pages.picking import picked_id
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, ask_first
from app.web.context import Context
from app.web.guards import Requires
from app.web.long_acts.bulk import at_length
from app.web.pages import DIALOG, done, leaving_dialog, page

SEE = Requires("clock.transactions", module="clock")
ACT = Requires("clock.transactions.edit", module="clock")


@get("/clock_transactions", guards=[SEE])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    framed = await punches.frame(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, framed.spec, punches.in_order(ctx, framed.spec), kind)
    view, now = await punches.load(ctx, framed), datetime.now(UTC)
    return await page(
        ctx,
        "clock/transactions.html",
        fragment="list",
        view=view,
        hover=hover,
        settled=settled_words.settled,
        sent_as=sent_as,
        judged_again=lambda row: _judged_again(framed, row, now),
        **WORDS,
    )


@post("/clock_transactions/bulk", guards=[ACT], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, (*ACTS, "use"))

    async def ask_of_many(what: str) -> dict[str, Any]:
        return await _question_of_many(ctx, action, what)

    given = {"note": settling.checked_note(await _note(ctx))} if action == "settle" else {}
    if answer := await at_length(ctx, punch_acts.LONG[action], "/clock_transactions", ask_of_many, what=given):
        return answer
    framed = await punches.frame(ctx)
    which = and_(await lists.selected(ctx, framed.spec), punches.able(action))
    number = await punches.number_of(ctx.db, which)
    none = Invalid(ACTS["keep" if action == "use" else action].none_of_them)

    async def ask() -> dict[str, Any]:
        return await _question(ctx, action, number, which)

    async def act_on_them() -> str | Response[Any]:
        if action == "use":
            return await punch_acts.carry_out(ctx, which)
        return told(action, await _carry_out(ctx, action, which))

    return await act_on_many(ctx, number, url="/clock_transactions", none=none, ask=ask, do=act_on_them)


@get("/clock_transactions/{punch_id:int}", guards=[SEE])
async def show(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    return await _show(ctx, punch_id)


@post("/clock_transactions/{punch_id:int}/retry", guards=[ACT], status_code=200)
async def retry(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    return await _act(ctx, punch_id, "retry")


@post("/clock_transactions/{punch_id:int}/keep", guards=[ACT], status_code=200)
async def keep(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    return await _act(ctx, punch_id, "keep")


@post("/clock_transactions/{punch_id:int}/settle", guards=[ACT], status_code=200)
async def settle(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    return await _act(ctx, punch_id, "settle")


@post("/clock_transactions/{punch_id:int}/unsettle", guards=[ACT], status_code=200)
async def unsettle(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    return await _act(ctx, punch_id, "unsettle")


@post("/clock_transactions/{punch_id:int}/use", guards=[ACT], status_code=200)
async def use(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    resolved = await decisions.use_punches(ctx.db, ctx.actor, punch_id, agreed=await _agreed(ctx) or None)
    return await _answer(ctx, punch_id, told("use", resolved))


@post("/clock_transactions/{punch_id:int}/accept", guards=[Requires(fixes.BINDS, module="clock")], status_code=200)
async def accept(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    refuse_who_sees_no_punches(ctx)
    named = picked_id(str((await ctx.form()).get("host", "")))
    said = await fixes.accept(ctx.db, ctx.actor, punch_id, await _agreed(ctx), named)
    return await _answer(ctx, punch_id, said)


@post(
    "/clock_transactions/{punch_id:int}/terminal",
    guards=[Requires(fixes.SETS_TERMINALS, module="clock")],
    status_code=200,
)
async def set_terminal(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    refuse_who_sees_no_punches(ctx)
    said = await fixes.set_terminal(ctx.db, ctx.actor, punch_id, await _agreed(ctx))
    if ctx.target == DIALOG:
        return leaving_dialog(ctx, await done(ctx, f"/clock_transactions/{punch_id}", said))
    return await _answer(ctx, punch_id, said)


@get("/clock_transactions/{punch_id:int}/terminal", guards=[Requires(fixes.SETS_TERMINALS, module="clock")])
async def ask_terminal(ctx: NamedDependency[Context], punch_id: FromPath[int]) -> Response[Any]:
    refuse_who_sees_no_punches(ctx)
    found = await why(ctx.db, punch_id, datetime.now(UTC))
    fix = next((one for one in found.fixes if one.act == "terminal"), None)
    if fix is None:
        raise Conflict(fixes.CHANGED)
    return await ask_first(
        ctx,
        question=f"{fix.label}?",
        consequence=f"{found.cause} Its {fix.punches} {JUDGED}".strip(),
        submit=fix.label.partition(":")[0],
        danger=False,
        fields=[("agreed", fix.label)],
        cancel_url=f"/clock_transactions/{punch_id}",
        hx_target=f"#{DIALOG}" if ctx.wants_fragment else None,
    )


def refuse_who_sees_no_punches(ctx: Context) -> None:
    """A fix takes the right of the page that it acts on, and its answer shows the punch. Raises Forbidden."""
    if not ctx.may("clock.transactions"):
        raise Forbidden(needed("clock.transactions"))


async def _agreed(ctx: Context) -> str:
    """What the button said."""
    return str((await ctx.form()).get("agreed", ""))


async def _act(ctx: Context, punch_id: int, action: str) -> Response[Any]:
    this_one, saw = Punch.id == punch_id, (await ctx.form()).get("outcome")
    # A word that is no outcome is sent by no page of ours, and matches no punch.
    as_shown = true() if saw is None else settling.shows(str(saw)) if saw in {"", *OUTCOMES} else false()
    resolved = await _carry_out(ctx, action, and_(this_one, as_shown))
    if not resolved.punches:
        now = await ctx.db.scalar(select(func.coalesce(Punch.import_outcome, "")).where(this_one))
        if now is None:
            raise NotFound("There is no such punch.")
        if saw not in (None, now):
            raise Conflict(f"The punch is “{label(now)}” now. Nothing was changed. Reload the page, then decide again.")
        raise Invalid(ACTS[action].not_this_one)
    return await _answer(ctx, punch_id, told(action, resolved))


async def _carry_out(ctx: Context, action: str, which: ColumnElement[bool]) -> Resolved:
    if action == "settle":
        return await settling.settle(ctx.db, ctx.actor, which, await _note(ctx))
    return await ACTS[action].verb(ctx.db, ctx.actor, which)


async def _note(ctx: Context) -> str:
    return str((await ctx.form()).get("note", ""))


async def _answer(ctx: Context, punch_id: int, message: str) -> Response[Any]:
    """The drawer as it is now, and the list behind it fetches its rows again; without script a redirect."""
    if not ctx.wants_fragment:
        return await done(ctx, f"/clock_transactions/{punch_id}", message)
    return await _show(ctx, punch_id, message, headers={"HX-Trigger": "muster:changed"})


async def _show(
    ctx: Context, punch_id: int, message: str | None = None, *, headers: dict[str, str] | None = None
) -> Response[Any]:
    now = datetime.now(UTC)
    found = await why(ctx.db, punch_id, now)
    offered = [] if found.is_passing else [one for one in found.fixes if ctx.may(one.permission)]
    return await page(
        ctx,
        "clock/why.html",
        fragment="drawer",
        headers=headers,
        why=found,
        fixes=offered,
        links=[
            one for one in found.links if ctx.may(one.permission) and not any(fix.leads_to(one.url) for fix in offered)
        ],
        may_act=ctx.may("clock.transactions.edit"),
        lacks=_lacks(ctx, found, offered),
        message=message,
        hover=hover,
        settled=settled_words.settled,
        longest_note=settling.LONGEST_NOTE,
        **WORDS,
    )


def _lacks(ctx: Context, found: Why, offered: Sequence[Fix]) -> str:
    """Which right the reader lacks where nothing can be pressed. Empty where nothing has to be done."""
    if offered or found.is_passing:
        return ""
    wanted = [one.permission for one in found.fixes] or (["clock.transactions.edit"] if found.has_acts else [])
    return next((needed(one) for one in wanted if not ctx.may(one)), "")


async def _question(ctx: Context, action: str, number: int, which: ColumnElement[bool]) -> dict[str, Any]:
    what = count(number, "punch", "punches")
    if action == "use":
        return {"verb": "Use", "what": what, "consequence": await punch_acts.consequence(ctx, which), "danger": True}
    return await _question_of_many(ctx, action, what)


async def _question_of_many(ctx: Context, action: str, what: str) -> dict[str, Any]:
    if action == "use":
        return {"verb": "Use", "what": what, "consequence": punch_acts.EACH_BY_ITSELF, "danger": True}
    act = ACTS[action]
    if action not in {"settle", "unsettle"}:
        return {"verb": act.label, "what": what, "consequence": act.consequence, "danger": False}
    question = f"Mark {what} as {'settled' if action == 'settle' else 'not settled'}?"
    note = await _note(ctx) if action == "settle" else None
    return {"question": question, "submit": act.label, "consequence": act.consequence, "danger": False, "note": note}


def told(action: str, resolved: Resolved) -> str:
    """What became of the punches of an act, in one sentence."""
    if action in {"keep", "settle"}:
        return f"{count(resolved.punches, 'punch is', 'punches are')} settled; nothing else changed."
    if action == "unsettle":
        return f"{count(resolved.punches, 'punch needs', 'punches need')} a person again."
    return judged_again(resolved.punches, resolved.outcomes)


def label(outcome: str | None) -> str:
    return outcome_label(outcome or None)


def sent_as(row: Any, zone: PageZone) -> str:
    """What the Time column says on hover."""
    return f"{zone.exact(row.punched_at_utc)} · as sent: {row.punched_at_raw}"


def _judged_again(framed: punches.PunchListFrame, row: Any, now: datetime) -> bool:
    """True when the import will judge this punch again: it is marked, or a change of a rule has not reached it yet."""
    marked = row.judge_at is not None and row.judge_at <= now
    return (marked and row.import_outcome is not None) or rejudging.awaits(framed.changes, row)


def hover(row: Any) -> str:
    """What the Imported column says on hover: the record's number, the binding's state, the terminal's setting."""
    if row.host_attendance_id is not None:
        return f"Record {row.host_attendance_id}"
    match row.import_outcome:
        case None:
            return "Not judged yet"
        case Outcome.NOT_BOUND:
            return (
                f"Binding of code {row.emp_code}: {BINDING_STATES[BindingState(row.binding_state or 'unbound')].label}"
            )
        case Outcome.NO_DIRECTION:
            direction = Direction(row.terminal_direction or Direction.BY_CODE).replace("_", " ")
            return f"The terminal's direction is {direction}; with in, out or undirected it would count"
        case word:
            return OUTCOMES[Outcome(word)].meaning


WORDS: dict[str, Any] = {
    "punch_label": punch_label,
    "verify_label": verify_label,
    "outcome_label": label,
    "groups": GROUP_LABELS,
}
ROUTES = [index, bulk, show, retry, keep, settle, unsettle, use, accept, ask_terminal, set_terminal]
