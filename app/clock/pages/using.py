"""*Use the punches* over a selection or the whole filter: what is asked, and `/clock_transactions/acts/ID`, what became of it."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, select

from app.clock.bindings import long_acts
from app.clock.bindings.long_acts import DONE
from app.clock.codes import punch_label
from app.clock.models import ClockEmployee, Punch
from app.clock.pages.long_act_words import LeftItem, stay, told
from app.clock.review import using_many
from app.counting import count
from app.db.among import among
from app.errors import Conflict, NotFound
from app.web import sessions
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, go, page

# More than this takes longer than a second, and a person who waits wants to see progress.
INLINE_LIMIT = 100
SEE = Requires("clock.transactions", module="clock")
GENERAL = "Each record becomes what its shift is now; other records of the shift are deleted, and taps outside it are judged again."
_PUNCHES = select(
    Punch.id, Punch.emp_code, Punch.punched_at_local, Punch.punch_code, ClockEmployee.full_name
).outerjoin(ClockEmployee, ClockEmployee.emp_code == Punch.emp_code)


@get("/clock_transactions/acts/{act_id:int}", guards=[SEE])
async def show(ctx: NamedDependency[Context], act_id: FromPath[int]) -> Response[Any]:
    progress = await long_acts.read(ctx.db, act_id)
    if progress.kind != "use":
        raise NotFound
    return await page(
        ctx,
        "clock/long_act.html",
        fragment="now",
        act=told(progress),
        left=await _left(ctx, act_id),
        of=("Attendance Transactions", "/clock_transactions"),
        columns=("Punch", "Employee", "Local time", "Why"),
    )


async def _left(ctx: Context, act_id: int) -> list[LeftItem]:
    left = await long_acts.left(ctx.db, act_id)
    rows = await ctx.db.execute(_PUNCHES.where(among(Punch.id, [one.item_id for one in left])))
    punches = {row.id: row for row in rows}
    return [_item(one, punches.get(one.item_id)) for one in left]


def _item(one: Any, punch: Any) -> LeftItem:
    why = one.note or using_many.LEFT.get(one.became, one.became).capitalize()
    if punch is None:
        return LeftItem(str(one.item_id), "", "–", "–", why)
    name = f"{punch.full_name or '–'} · {punch.emp_code}"
    url = f"/clock_transactions/{punch.id}"
    return LeftItem(punch_label(punch.punch_code) or "–", url, name, str(punch.punched_at_local), why)


async def consequence(ctx: Context, which: ColumnElement[bool]) -> str:
    """What using them does: how many are used, how many stay and why. Raises Conflict where none can be used."""
    foretold = await using_many.foretell(ctx.db, which)
    if foretold is None:
        return f"{GENERAL} Each shift stands for itself. A job does it; a page shows how far it is, what stays and why."
    used = foretold.pop(DONE, 0)
    said = stay(foretold, using_many.LEFT)
    if not used:
        raise Conflict(f"None of these punches can be used. {said}")
    return " ".join(filter(None, [f"{count(used, 'punch is', 'punches are')} used.", said, GENERAL]))


async def carry_out(ctx: Context, which: ColumnElement[bool]) -> Response[Any]:
    """Leads back to the list, or to what stays and how far it is."""
    act = told(await using_many.use(ctx.db, ctx.actor, which, most=INLINE_LIMIT))
    if act.is_over and not act.progress.left:
        return await done(ctx, "/clock_transactions", act.sentence)
    await sessions.flash(ctx, act.sentence, level="success")
    return go(act.url)


ROUTES = [show]
