"""Bulk acts on punches: what they do and say, and how a job carries them out over a whole filter. *Use the punches*
over fewer: what is asked, and where it leads; what became of it: long_acts.py."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litestar import Response
from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.models import Punch
from app.clock.pages import transaction_list as punches
from app.clock.review import decisions, settling, using_many
from app.clock.review.decisions import Resolved
from app.clock.review.long_act_words import told
from app.counting import count
from app.db.among import among
from app.errors import Conflict
from app.long_acts.acts import LongActWork
from app.long_acts.over_lists import SliceOutcome
from app.long_acts.progress import DONE
from app.long_acts.words import stay
from app.web import sessions
from app.web.context import Context
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk
from app.web.pages import done, go

# More punches take longer than a second, and a person who waits wants to see progress.
INLINE_LIMIT = 100
GENERAL = "Each record becomes what its shift is now; other records of the shift are deleted, and taps outside it are judged again."

EACH_BY_ITSELF = f"{GENERAL} Each shift is decided on its own."
Verb = Callable[[AsyncSession, Actor, ColumnElement[bool]], Awaitable[Resolved]]


@dataclass(frozen=True, slots=True)
class PunchAct:
    """An act on punches; the last two say why it is refused, for a selection and for one."""

    verb: Verb
    label: str
    consequence: str
    none_of_them: str
    not_this_one: str


ACTS = {
    "retry": PunchAct(
        decisions.retry,
        "Retry",
        "They are judged again, and deleted records may be made again. Punches of existing records stay as they are.",
        "These punches can't be judged again: each belongs to a record, or is gone from the server.",
        "This punch can't be judged again: it belongs to a record, or is gone from the server.",
    ),
    "keep": PunchAct(
        settling.keep_record,
        "Keep the record of",
        "Records stay as they are, and the punches are settled. “Not settled” undoes it.",
        "This is only for punches that arrived after the import, or that are gone from the server. None of these punches is one.",
        "This is only for punches that arrived after the import, or that are gone from the server. This punch is not one.",
    ),
    "settle": PunchAct(
        settling.settle,
        "Mark as settled",
        "They keep their outcome, and no longer count as what needs a person. “Not settled” undoes it.",
        "These punches can't be settled: none of them needs a person, or all of them are settled.",
        "This punch can't be settled: it needs no person, or it is settled.",
    ),
    "unsettle": PunchAct(
        settling.unsettle,
        "Not settled",
        "They need a person again.",
        "No person settled these punches. A record made by hand settles the punches inside it as long as it is there.",
        "No person settled this punch. A record made by hand settles the punches inside it as long as it is there.",
    ),
}


def _long(action: str, doing: str, past: str, at_once: int = 5000) -> LongBulk:
    async def rows(ctx: Context, query: Query, _: str) -> BulkRows:
        framed = await punches.frame(ctx, query)
        return BulkRows(framed.spec, select(Punch.id).where(punches.able(action)))

    async def changes(ctx: Context, ids: Sequence[int], given: Mapping[str, Any]) -> SliceOutcome:
        if action == "use":
            return await _use(ctx, ids)
        which = among(Punch.id, ids)
        if action == "settle":
            return SliceOutcome((await settling.settle(ctx.db, ctx.actor, which, given["note"])).punches)
        return SliceOutcome((await ACTS[action].verb(ctx.db, ctx.actor, which)).punches)

    return LongBulk(
        f"punches.{action}",
        doing,
        past,
        ("punch", "punches"),
        "clock.transactions.edit",
        rows,
        changes,
        module="clock",
        sees="clock.transactions",
        left=using_many.LEFT if action == "use" else {},
        page="/clock_transactions",
        at_once=at_once,
    )


async def _use(ctx: Context, ids: Sequence[int]) -> SliceOutcome:
    act = LongActWork(0, "use", (), None, ctx.actor)
    answers = await using_many.use_shifts(ctx.db, act, ids)
    left = {punch_id: why for punch_id, why in answers.items() if why.became != DONE}
    return SliceOutcome(len(answers) - len(left), left)


LONG = {
    "retry": _long("retry", "Marking punches to be judged again", "marked to be judged again"),
    "keep": _long("keep", "Keeping records", "settled"),
    "settle": _long("settle", "Marking punches as settled", "settled"),
    "unsettle": _long("unsettle", "Marking punches as not settled", "marked as not settled"),
    "use": _long("use", "Using punches", "used", at_once=200),
}


async def consequence(ctx: Context, which: ColumnElement[bool]) -> str:
    """What using them does: how many are used, how many stay and why. Raises Conflict where none can be used."""
    foretold = await using_many.foretell(ctx.db, which)
    if foretold is None:
        return f"{EACH_BY_ITSELF} A job does it; a page shows its progress, and which punches stay and why."
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
