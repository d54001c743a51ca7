"""`/clock_employees`: the list of mirrored people, bulk acts on it, and whom a code can be bound to.
One person: employee.py."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts.permissions import needed
from app.clock.bindings import actions as bindings
from app.clock.bindings import adding, undoing
from app.clock.bindings import queries as binding_queries
from app.clock.bindings import rows as binding_rows
from app.clock.bindings.accepting import Accepting, named_by
from app.clock.bindings.adding import Adding
from app.clock.codes import BINDING_STATES
from app.clock.models import Binding, ClockEmployee
from app.clock.pages import employee_list, undo
from app.clock.pages.binding_acts import ACTS, ADDS, ALSO, LONG, ON_MATCHES
from app.clock.review import long_act_words
from app.counting import count
from app.errors import Conflict, Forbidden, Invalid
from app.web import exports, lists, sessions
from app.web.bulk import action_of, carried, chosen_ids, confirmed, mark_of
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import LONGEST_FILTER, ListSpec
from app.web.long_acts.bulk import at_length
from app.web.pages import done, go, page

SEE = Requires("clock.employees", module="clock")
ACT = Requires("clock.employees.edit", module="clock")
BY_HAND = "Bind a code by hand where one person really has two."
BIND_INSTEAD = (
    "Open such a code to bind it to the employee who has the number: “Activate and bind” is for one who is inactive."
    " Restore a deleted one first."
)
# What the question about very many codes says besides: they are not looked at before.
OF_MANY = {
    "accept": BY_HAND,
    "add": "Codes with a suggestion stay, and so do those with an ID number that an employee has already.",
}


@get("/clock_employees", guards=[SEE])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    may_act, may_add = ctx.may("clock.employees.edit"), ctx.may(ADDS)
    around = await employee_list.around(ctx.db, may_act=may_act, may_add=may_add)
    ctx.tell_times_in(around.zone)
    rows = employee_list.base(ctx.request.query_params)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, around.spec, rows, kind)
    return await page(
        ctx,
        "clock/employees.html",
        fragment="list",
        view=await lists.load(ctx, around.spec, rows),
        around=around,
        may_act=may_act,
        now=datetime.now(UTC),
        enrolled=employee_list.ENROLLED,
        states=BINDING_STATES,
        methods=employee_list.METHODS,
        waiting_url=employee_list.waiting_url,
        is_off_on_server=employee_list.is_off_on_server,
    )


@post("/clock_employees/bulk", guards=[ACT], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    act = await action_of(ctx, ACTS)
    refuse_unless_allowed(ctx, act)
    if at_work := await _at_length(ctx, act):
        return at_work
    around = await employee_list.around(ctx.db, may_act=True, may_add=True)
    rows = employee_list.base(ctx.request.query_params).where(Binding.state.in_(bindings.OPEN_TO[act]))
    ids = await chosen_ids(ctx, around.spec, rows)
    closed = await _closed(ctx, around.spec, act)
    if not ids:
        raise Invalid(" ".join([f"None of the selected people can be {ACTS[act].past}.", *closed]))
    if not (
        await confirmed(ctx, len(ids)) and await undo.agreed(ctx, act, ids) and await _named_the_same(ctx, act, ids)
    ):
        return await _ask(ctx, act, ids, closed)
    if await undo.wanted(ctx, act) == "take_back":
        return await _take_back(ctx, ids)
    answer = told(act, await ACTS[act].verb(ctx.db, ctx.actor, ids))
    return await done(ctx, "/clock_employees", " ".join([answer, *closed]))


async def _closed(ctx: Context, spec: ListSpec, act: str) -> list[str]:
    """A sentence for each state of ticked codes that does not allow the act. The whole filter is not ticked."""
    if (await ctx.form()).get("all") == "1":
        return []
    ticked = employee_list.BASE.where(await lists.selected(ctx, spec), Binding.state.not_in(bindings.OPEN_TO[act]))
    found = await ctx.db.execute(
        ticked.with_only_columns(Binding.state, ClockEmployee.emp_code).order_by(ClockEmployee.emp_code)
    )
    by_state: dict[str, list[str]] = defaultdict(list)
    for state, code in found:
        by_state[state].append(code)
    return [
        f"{adding.stay(by_state[state])}: the state is “{words.label}”."
        for state, words in BINDING_STATES.items()
        if state in by_state
    ]


async def _at_length(ctx: Context, act: str) -> Response[Any] | None:
    """Leaves the act to a job when the whole filter means many. The question about records then has no number."""

    async def ask_of_many(who: str) -> dict[str, Any]:
        says = " ".join(filter(None, [ACTS[act].consequence, OF_MANY.get(act)]))
        label = f"{bindings.LABELS[act]}: {who}"
        return {"question": f"{label}?", "submit": label, "consequence": says, "danger": ACTS[act].danger}

    asks = undo.ask_unforetold if act == "clear" else None
    what = {"records": await undo.wanted(ctx, act)}
    return await at_length(ctx, LONG[act], "/clock_employees", ask_of_many, what=what, asks=asks)


async def _ask(ctx: Context, act: str, ids: Sequence[int], closed: Sequence[str]) -> Response[Any]:
    """`closed`: sentences about ticked codes that the act leaves."""
    adds = await adding.foretell(ctx.db, ids) if act == "add" else None
    try:
        says = " ".join([await consequence(ctx, act, ids, adds), *closed])
    except Conflict as refused:
        raise Conflict(" ".join([str(refused.message), *closed])) from refused
    who = count(len(adds.codes if adds else ids), "person", "people")
    return await undo.ask(
        ctx,
        act,
        ids,
        question=f"{bindings.LABELS[act]}: {who}?",
        submit=f"{bindings.LABELS[act]}: {who}",
        consequence=says,
        danger=ACTS[act].danger,
        fields=[*await carried(ctx, len(ids)), ("about", await _matches(ctx, act, ids))],
        cancel_url="/clock_employees",
    )


async def _matches(ctx: Context, act: str, ids: Sequence[int]) -> str:
    """A mark of the employees whom *Accept* and *Reject* are about; "" for acts on codes alone."""
    if act not in ON_MATCHES:
        return ""
    return mark_of((one.emp_code, named_by(one)) for one in await bindings.open_to(ctx.db, act, ids))


async def _named_the_same(ctx: Context, act: str, ids: Sequence[int]) -> bool:
    """False when another employee is matched than at the question, which is then asked again. A program was not
    asked."""
    about = (await ctx.form()).get("about")
    if about is None:
        return True
    await binding_rows.hold(ctx.db)
    return bool(about == await _matches(ctx, act, ids))


async def _take_back(ctx: Context, ids: Sequence[int]) -> Response[Any]:
    """Clears, and leads to what becomes of the records."""
    codes, progress = await undoing.clear(ctx.db, ctx.actor, ids)
    act = long_act_words.told(progress)
    await sessions.flash(ctx, f"{told('clear', codes)} {act.sentence}", level="success")
    return go(act.url)


def refuse_unless_allowed(ctx: Context, act: str) -> None:
    """Raises Forbidden for an act that takes another right than the one to keep bindings."""
    for right in ALSO.get(act, ()):
        if not ctx.may(right):
            raise Forbidden(needed(right))


def told(act: str, acted: list[str] | Accepting | Adding) -> str:
    """What became of the codes, and which stay as they are."""
    codes, left = (acted, ()) if isinstance(acted, list) else (acted.codes, acted.left)
    return " ".join([f"{count(len(codes), *ACTS[act].subject)} {ACTS[act].past}.", *map(str, left)])


async def consequence(ctx: Context, act: str, ids: Sequence[int], adds: Adding | None = None) -> str:
    """What the act does in general, and to how many punches here. `adds`: what *Add as employee* would do."""
    general = ACTS[act].consequence
    if act == "accept":
        return " ".join([general, *await _accepted(ctx, ids)])
    if adds is not None:
        return " ".join([general, *await _added(ctx, adds)])
    if act not in ("reject", "clear", "ignore"):
        return general
    ending = await binding_queries.foretell_ending(ctx.db, ids)
    if not ending.links:
        return general
    links = count(ending.links, "link ends", "links end")
    verb = ("is", "are") if act == "clear" else ("stays", "stay")
    standing = count(ending.standing, f"punch {verb[0]}", f"punches {verb[1]}")
    waiting = count(ending.waiting, "other shows", "others show")
    return f"{general} {links}. {standing} part of an attendance record; {waiting} “Not bound” then."


async def _accepted(ctx: Context, ids: Sequence[int]) -> list[str]:
    """How many are accepted, which stay, and how many punches are judged then.
    Raises Conflict where all of them stay."""
    accepting = await bindings.foretell_accepting(ctx.db, ids)
    left = list(map(str, accepting.left))
    if not accepting.taken:
        raise Conflict(" ".join([*left, BY_HAND]))
    waiting = await binding_queries.waiting(ctx.db, accepting.codes)
    said = [f"{count(len(accepting.taken), 'code is', 'codes are')} bound.", *left, BY_HAND] if left else []
    return (
        [*said, f"{count(waiting, 'punch that waits is', 'punches that wait are')} judged then."] if waiting else said
    )


async def _added(ctx: Context, found: Adding) -> list[str]:
    """How many are added, which stay, and how many punches are judged then. Raises Conflict where all of them stay."""
    if not found.taken:
        raise Conflict(" ".join([*found.left, *([BIND_INSTEAD] if found.known else [])]))
    waiting = await binding_queries.waiting(ctx.db, found.codes)
    said = [f"{count(len(found.taken), 'person is', 'people are')} added.", *found.left]
    return (
        [*said, f"{count(waiting, 'punch that waits is', 'punches that wait are')} judged then."] if waiting else said
    )


@get("/clock_employees/hosts", guards=[ACT])
async def hosts(ctx: NamedDependency[Context]) -> Response[str]:
    """Host employees as the search-as-you-type field shows them;
    `#12` is the value, so that no ID number is taken for an id."""
    asked = str(ctx.request.query_params.get("q", ""))[:LONGEST_FILTER].replace("\x00", "")
    found = await binding_queries.hosts_like(ctx.db, asked)
    items = [{"value": f"#{row.id}", "label": row.name, "hint": host_hint(row)} for row in found]
    return await page(ctx, "clock/employee_hosts.html", fragment="options", items=items)


def host_hint(row: Any) -> str:
    """What tells a host employee from another of the same name, and their codes."""
    return " · ".join(part for part in (told_apart(row), f"has code {row.codes}" if row.codes else "") if part)


def told_apart(row: Any) -> str:
    """What tells a host employee from another of the same name."""
    return " · ".join(part for part in (row.id_number, row.department, "" if row.active else "inactive") if part)


ROUTES = [index, bulk, hosts]
