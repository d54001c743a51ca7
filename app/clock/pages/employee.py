"""`/clock_employees/ID`: one mirrored person: how the binding was decided, what can be done to it,
and this week's schedule."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row

from app.clock.bindings import actions as bindings
from app.clock.bindings import adding, undoing
from app.clock.bindings import queries as binding_queries
from app.clock.bindings import rows as binding_rows
from app.clock.bindings.accepting import Accepting
from app.clock.bindings.adding import Adding
from app.clock.codes import BINDING_STATES, BindingState, punch_label
from app.clock.connection import call_log, schedules
from app.clock.models import ClockEmployee
from app.clock.outcomes import outcome_label
from app.clock.pages import undo
from app.clock.pages.binding_acts import ACTS, ADDS, Verb
from app.clock.pages.employee_list import ENROLLED, METHODS
from app.clock.pages.employees import (
    ACT,
    BY_HAND,
    SEE,
    consequence,
    host_hint,
    refuse_unless_allowed,
    told_apart,
)
from app.clock.profiles import PROFILES
from app.clock.remote import ClockError
from app.clock.review import long_act_words
from app.db.locks import hold
from app.errors import Conflict, NotFound
from app.host.pages.picking import pick, picked_id
from app.host.people import people
from app.web import edits
from app.web.context import Context
from app.web.errors.refusals import refuse_head
from app.web.fields import Text
from app.web.forms import Bound, Form
from app.web.pages import CHANGED, done, page

HOST = Form(Text("host", "Host employee", required=True))
REMARKS = Form(Text("remarks", "Remarks", longest=bindings.LONGEST_REMARK, lines=3))
MOST_OFFERED = 5
# Acts on the employee whom a code has, or who is proposed for it.
ABOUT_ONE = {"accept", "reject", "clear"}
ON_ONE: Mapping[str, Verb] = {"add": adding.add_one}


@get("/clock_employees/{employee_id:int}", guards=[SEE])
async def show(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    return await _show(ctx, employee_id)


@post("/clock_employees/{employee_id:int}/bind", guards=[ACT], status_code=200)
async def bind(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    """Binds at once where that touches nothing else; what a re-binding does is said, with its numbers,
    and asked about first."""
    await binding_rows.hold(ctx.db)
    row = await binding_queries.person(ctx.db, employee_id)
    form = HOST.read(await ctx.form())
    if not form.ok:
        return await _show(ctx, employee_id, problem="Choose a host employee first.")
    try:
        host = await pick(ctx.db, form["host"])
    except (NotFound, Conflict) as refused:
        return await _show(ctx, employee_id, problem=refused.message, typed=form["host"])
    foretold = await binding_queries.foretell(ctx.db, row.emp_code, host.id)
    undoable = await undoing.foretell(ctx.db, [row.emp_code], host.id)
    overtaken = await _is_overtaken(ctx, row, host.id)
    inactive = not (await binding_queries.hosts_of(ctx.db, [host.id]))[host.id].active
    asks = foretold.needs_a_yes or inactive
    if overtaken or (asks and not await undo.confirmed(ctx, undoable, inactive=inactive)):
        return await undo.ask_to_bind(ctx, row, host, foretold, undoable, overtaken=overtaken, inactive=inactive)
    if inactive and (await ctx.form()).get("activate") == "1":
        refuse_unless_allowed(ctx, "add")
        await people.activate(ctx.db, ctx.actor, [host.id])
    said = await _bind(ctx, employee_id, host.id)
    return await _after(ctx, employee_id, " ".join([f"{row.emp_code} is bound to {host.name} now.", *said]))


async def _is_overtaken(ctx: Context, row: Any, host_id: int) -> bool:
    """True when a person bound the code to another employee after the form was shown."""
    saw = (await ctx.form()).get("shown")
    return bool(saw) and saw != undo.shown(row) and row.state == BindingState.BOUND and row.host_employee_id != host_id


async def _bind(ctx: Context, employee_id: int, host_id: int) -> list[str]:
    """Says what became of the records of others, where that was asked for."""
    wanted = await undo.wanted(ctx, "bind")
    if wanted == "leave":
        await bindings.bind(ctx.db, ctx.actor, employee_id, host_id)
        return []
    progress = await undoing.bind(ctx.db, ctx.actor, employee_id, host_id, wanted)
    return [long_act_words.told(progress).sentence]


@post("/clock_employees/{employee_id:int}/remarks", guards=[ACT], status_code=200)
async def remarks(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    await hold(ctx.db, ClockEmployee.id == employee_id)
    row = await binding_queries.person(ctx.db, employee_id)
    form = await edits.sent(ctx, REMARKS, {"remarks": row.remarks}, about=("clock_employee", employee_id))
    if not form.ok:
        return await _show(ctx, employee_id, status=form.status, remarks=form)
    changed = await bindings.set_remarks(ctx.db, ctx.actor, employee_id, form["remarks"])
    return await _after(ctx, employee_id, "The remarks were saved." if changed else "Nothing was changed.")


@get("/clock_employees/{employee_id:int}/schedule", guards=[SEE])
async def schedule(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    """Asks the server now; nothing of it is kept."""
    row = await binding_queries.person(ctx.db, employee_id)
    refuse_head(ctx)
    week, problem, now = None, "", datetime.now(UTC)
    try:
        log = call_log.logging_to(ctx.parts.database, ctx.workspace)
        async with ctx.apart():
            week = await schedules.this_week(ctx.parts, ctx.workspace, row.emp_code, log, now)
    except ClockError as error:
        problem = f"{error.message} ({error.code})"
    return await page(
        ctx,
        "clock/employee_schedule.html",
        fragment="schedule",
        person=row,
        week=week,
        problem=problem,
        today=(await ctx.zone()).today,
    )


@get("/clock_employees/{employee_id:int}/{act:str}", guards=[ACT])
async def ask(ctx: NamedDependency[Context], employee_id: FromPath[int], act: FromPath[str]) -> Response[Any]:
    refuse_unless_allowed(ctx, act)
    row = await binding_queries.person(ctx.db, employee_id)
    await bindings.refuse_unless_open(ctx.db, _act(act), employee_id)
    return await _ask(ctx, act, row)


@post("/clock_employees/{employee_id:int}/{act:str}", guards=[ACT], status_code=200)
async def carry_out(ctx: NamedDependency[Context], employee_id: FromPath[int], act: FromPath[str]) -> Response[Any]:
    refuse_unless_allowed(ctx, act)
    await binding_rows.hold(ctx.db)
    row = await binding_queries.person(ctx.db, employee_id)
    code = await bindings.refuse_unless_open(ctx.db, _act(act), employee_id)
    if act in ABOUT_ONE and (named := picked_id(str((await ctx.form()).get("host", "")))) is not None:
        await bindings.refuse_unless_about(ctx.db, code, named)
    if not await undo.agreed(ctx, act, [employee_id]):
        return await _ask(ctx, act, row)
    if await undo.wanted(ctx, act) == "take_back":
        _, progress = await undoing.clear(ctx.db, ctx.actor, [employee_id])
        return await _after(ctx, employee_id, f"{row.emp_code} was cleared. {long_act_words.told(progress).sentence}")
    acted = await ON_ONE.get(act, ACTS[act].verb)(ctx.db, ctx.actor, [employee_id])
    if isinstance(acted, Accepting) and acted.left:
        raise Conflict(f"{acted.left[0]} {BY_HAND}")
    if isinstance(acted, Adding) and acted.left:
        raise Conflict(acted.left[0])
    return await _after(ctx, employee_id, _done_to(act, row))


def _done_to(act: str, row: Any) -> str:
    match act:
        case "accept":
            return f"{row.emp_code} was bound to {_named(row)[1]}."
        case "reject":
            return f"{_named(row)[1]} was rejected for code {row.emp_code}."
        case "add":
            return f"{row.full_name or row.emp_code} was added and bound to code {row.emp_code}."
    return f"{row.emp_code} was {ACTS[act].past}."


def _named(row: Any) -> tuple[int, str]:
    """The employee whom a link, an auto match or a suggestion is about."""
    if row.host_employee_id:
        return row.host_employee_id, row.host_name
    return row.candidates[0]["host_employee_id"], row.candidates[0]["name"]


async def _ask(ctx: Context, act: str, row: Any) -> Response[Any]:
    """The answer carries whom the question is about."""
    employee_id, who = row.id, f"{row.emp_code} {row.full_name}".strip()
    question = f"Reject {_named(row)[1]} for {who}?" if act == "reject" else f"{bindings.LABELS[act]}: {who}?"
    adds = await adding.foretell(ctx.db, [employee_id], suggested_too=True) if act == "add" else None
    return await undo.ask(
        ctx,
        act,
        [employee_id],
        question=question,
        fields=[("host", f"#{_named(row)[0]}")] if act in ABOUT_ONE else [],
        submit=bindings.LABELS[act],
        consequence=await consequence(ctx, act, [employee_id], adds),
        danger=ACTS[act].danger,
        url=f"/clock_employees/{employee_id}/{act}",
        cancel_url=f"/clock_employees/{employee_id}",
    )


def _act(word: str) -> str:
    if word not in ACTS:
        raise NotFound
    return word


async def _after(ctx: Context, employee_id: int, message: str) -> Response[Any]:
    """The drawer again, and the list behind it fetches its rows. Without script, and from a dialog, it leads to the
    page that the person came from."""
    if ctx.wants_fragment:
        return await _show(ctx, employee_id, message=message, headers=CHANGED)
    return await done(ctx, f"/clock_employees/{employee_id}", message)


async def _show(
    ctx: Context,
    employee_id: int,
    *,
    status: int = 200,
    message: str = "",
    problem: str = "",
    typed: str = "",
    remarks: Bound | None = None,
    headers: dict[str, str] | None = None,
) -> Response[Any]:
    """`problem` is what is wrong with the host employee `typed` in *Bind*."""
    row = await binding_queries.person(ctx.db, employee_id)
    may_act = ctx.may("clock.employees.edit")
    holders = await _holders(ctx, row)
    known = {one.id for one in holders}
    offered = [one for one in await _worth_offering(ctx, row) if one.id not in known] if may_act else ()
    return await page(
        ctx,
        "clock/employee.html",
        fragment="drawer",
        status=422 if problem else status,
        headers=headers,
        person=row,
        changes=await binding_queries.changes(ctx.db, row.binding_id),
        codes_of=await _codes_of(ctx, row),
        beside=await _beside(ctx, row),
        undone=await undo.latest(ctx, row.emp_code),
        punches=await binding_queries.recent_punches(ctx.db, row.emp_code),
        may_act=may_act,
        offered=offered,
        holders=holders,
        host_hint=host_hint,
        names=_named(row)[0] if row.host_employee_id or row.candidates else None,
        shown=undo.shown(row),
        open_to={act for act, states in bindings.OPEN_TO.items() if row.state in states},
        may_add=ctx.may(ADDS) and not holders,
        offers_schedules=row.profile in PROFILES and PROFILES[row.profile].offers(schedules.RESOURCE),
        enrolled=[(label, icon) for key, label, icon, _ in ENROLLED if getattr(row, f"has_{key}")],
        states=BINDING_STATES,
        methods=METHODS,
        outcome_label=outcome_label,
        punch_label=punch_label,
        message=message,
        problem=problem,
        typed="" if picked_id(typed) else typed,
        remarks=remarks or edits.opened(ctx, REMARKS, {"remarks": row.remarks}),
    )


async def _worth_offering(ctx: Context, row: Any) -> Sequence[Row[Any]]:
    """Employees to propose when the match pass proposes none."""
    if row.host_employee_id or row.candidates or row.taken or row.state == BindingState.IGNORED or not row.full_name:
        return ()
    return await binding_queries.hosts_like(ctx.db, row.full_name, most=MOST_OFFERED)


async def _holders(ctx: Context, row: Any) -> Sequence[Row[Any]]:
    """Employees who have the code as ID number, and are not proposed anyway."""
    if row.host_employee_id or row.state == BindingState.IGNORED:
        return ()
    proposed = {one["host_employee_id"] for one in (*row.candidates, *row.taken)}
    return [one for one in await binding_queries.holders(ctx.db, row.emp_code) if one.id not in proposed]


async def _codes_of(ctx: Context, row: Any) -> dict[int, list[str]]:
    """The other codes of the people that the drawer proposes."""
    ids = {one["host_employee_id"] for one in (*row.candidates, *row.taken)}
    found = await binding_rows.codes_of(ctx.db, ids) if ids else {}
    return {one: [code for code in codes if code != row.emp_code] for one, codes in found.items()}


async def _beside(ctx: Context, row: Any) -> dict[int, str]:
    """The words beside the proposed names: what tells these people from others with the same name, and their scores."""
    proposed = {one["host_employee_id"]: f"{one['score']:g} of 100" for one in (*row.candidates, *row.taken)}
    hosts = await binding_queries.hosts_of(ctx.db, proposed) if proposed else {}
    return {one: f"{told_apart(hosts[one])} · {score}" if one in hosts else score for one, score in proposed.items()}


ROUTES = [show, bind, remarks, schedule, ask, carry_out]
