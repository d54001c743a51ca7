"""*Use the punches* over a selection or the whole filter: what is asked, and where it leads. What became of it: long_acts.py."""

from typing import Any

from litestar import Response
from sqlalchemy import ColumnElement

from app.clock.bindings.long_acts import DONE
from app.clock.pages.long_act_words import stay, told
from app.clock.review import using_many
from app.counting import count
from app.errors import Conflict
from app.web import sessions
from app.web.context import Context
from app.web.pages import done, go

# More than this takes longer than a second, and a person who waits wants to see progress.
INLINE_LIMIT = 100
GENERAL = "Each record becomes what its shift is now; other records of the shift are deleted, and taps outside it are judged again."


async def consequence(ctx: Context, which: ColumnElement[bool]) -> str:
    """What using them does: how many are used, how many stay and why. Raises Conflict where none can be used."""
    foretold = await using_many.foretell(ctx.db, which)
    if foretold is None:
        return f"{GENERAL} Each shift is decided on its own. A job does it; a page shows its progress, and which punches stay and why."
    used = foretold.pop(DONE, 0)
    said = stay(foretold, using_many.LEFT)
    if not used:
        raise Conflict(f"These punches can't be used. {said}")
    return " ".join(filter(None, [f"{count(used, 'punch is', 'punches are')} used.", said, GENERAL]))


async def carry_out(ctx: Context, which: ColumnElement[bool]) -> Response[Any]:
    """Leads back to the list, or to what stays and how far it is."""
    act = told(await using_many.use(ctx.db, ctx.actor, which, most=INLINE_LIMIT))
    if act.is_over and not act.progress.left:
        return await done(ctx, "/clock_transactions", act.sentence)
    await sessions.flash(ctx, act.sentence, level="success")
    return go(act.url)
