"""Acts on the bindings of several people: what they do and say, and how a job carries them out over a whole filter."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.bindings import actions as bindings
from app.clock.bindings import adding, undoing
from app.clock.bindings.accepting import Accepting
from app.clock.bindings.adding import Adding
from app.clock.models import Binding, ClockEmployee
from app.clock.pages import employee_list
from app.db.among import among
from app.long_acts.acts import ItemOutcome
from app.long_acts.over_lists import SliceOutcome
from app.web.context import Context
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk

# Making an employee needs the right to keep people as well.
ADDS = "host.people"
# What an act takes besides the right to keep bindings.
ALSO = {"add": (ADDS,)}
# What these do depends on the employee whom a code is matched with.
ON_MATCHES = frozenset({"accept", "reject"})
Verb = Callable[[AsyncSession, Actor, Iterable[int]], Awaitable[list[str] | Accepting | Adding]]


@dataclass(frozen=True, slots=True)
class BindingAct:
    """An act on bindings; its button is app.clock.bindings.actions.LABELS'."""

    verb: Verb
    past: str
    consequence: str
    danger: bool = False
    subject: tuple[str, str] = ("code was", "codes were")


ACTS = {
    "add": BindingAct(
        adding.add,
        "added and bound",
        "Muster adds each person under People, with name, ID number, department, position and e-mail from the clock, and binds"
        " the code to them.",
        subject=("person was", "people were"),
    ),
    "accept": BindingAct(
        bindings.accept, "bound", "An auto match or a suggestion becomes a binding that no automatic pass changes."
    ),
    "reject": BindingAct(
        bindings.reject,
        "rejected",
        "The codes are unbound, and these pairs are never proposed again. A person can still bind them.",
    ),
    "match_again": BindingAct(
        bindings.match_again,
        "matched again",
        "The codes are decided again: kiosk code, ID number, then name. Cleared ones are no longer held back; rejected pairs"
        " stay rejected. Bindings that a person made are not touched.",
    ),
    "clear": BindingAct(
        bindings.clear,
        "cleared",
        "The links end, and no automatic pass touches these codes until “Match again”.",
        danger=True,
    ),
    "ignore": BindingAct(
        bindings.ignore,
        "ignored",
        "The codes are left out on purpose, and their links end. “Stop ignoring” undoes it.",
        danger=True,
    ),
    "un_ignore": BindingAct(
        bindings.un_ignore, "looked at again", "The codes are decided again: kiosk code, ID number, then name."
    ),
}


def _long(act: str, doing: str) -> LongBulk:
    async def rows(ctx: Context, query: Query, _: str) -> BulkRows:
        around = await employee_list.around(ctx.db, may_act=True, may_add=True)
        return BulkRows(around.spec, employee_list.base(query).where(Binding.state.in_(bindings.OPEN_TO[act])))

    async def changes(ctx: Context, ids: Sequence[int], given: Mapping[str, Any]) -> SliceOutcome:
        if given["records"] == "take_back":
            return SliceOutcome(len((await undoing.clear(ctx.db, ctx.actor, ids))[0]))
        acted = await IN_PARTS.get(act, ACTS[act].verb)(ctx.db, ctx.actor, ids)
        if isinstance(acted, list):
            return SliceOutcome(len(acted))
        return SliceOutcome(len(acted.codes), await _left(ctx, ids, acted))

    return LongBulk(
        f"bindings.{act}",
        doing,
        ACTS[act].past,
        ("person", "people"),
        "clock.employees.edit",
        rows,
        changes,
        module="clock",
        sees="clock.employees",
        also=ALSO.get(act, ()),
        left=LEFT.get(act, {}),
        names=_named,
        page="/clock_employees",
        changed_at=Binding.updated_at if act in ON_MATCHES else None,
    )


def _named(_: Context) -> Select[int, str]:
    return select(
        ClockEmployee.id, func.concat_ws(" ", ClockEmployee.emp_code, func.nullif(ClockEmployee.full_name, ""))
    )


async def _left(ctx: Context, ids: Sequence[int], acted: Accepting | Adding) -> dict[int, ItemOutcome]:
    """The people of a slice whose codes stay, with the reasons."""
    codes = await ctx.db.execute(select(ClockEmployee.emp_code, ClockEmployee.id).where(among(ClockEmployee.id, ids)))
    why = acted.why_left
    return {one: ItemOutcome(*why[code]) for code, one in codes if code in why}


# Why people stay as they are, by the act.
LEFT: Mapping[str, Mapping[str, str]] = {
    "add": {
        "known": "with an ID number that an employee has already, perhaps one who is inactive or deleted",
        "twins": "with the ID number of another code",
        "unfit": "with a code that can't be an ID number",
        "suggested": "with a suggestion: accept or reject it first",
    },
    "accept": {"held": "whose employee has another code", "claimed": "whose employee another suggestion names, too"},
}
IN_PARTS: dict[str, Verb] = {
    "accept": bindings.accept_part,
    "add": adding.add_part,
    "match_again": bindings.match_soon,
}
LONG = {
    "add": _long("add", "Adding people as employees"),
    "accept": _long("accept", "Accepting matches"),
    "reject": _long("reject", "Rejecting matches"),
    "match_again": _long("match_again", "Marking codes to be matched again"),
    "clear": _long("clear", "Clearing bindings"),
    "ignore": _long("ignore", "Ignoring codes"),
    "un_ignore": _long("un_ignore", "Looking at ignored codes again"),
}
