"""Acts on mails about one survey: remind people of the list *Who has not answered*, and drop waiting mails. The list:
waiting."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import func, select

from app.accounts.models import User
from app.counting import count, people
from app.errors import Conflict
from app.mail import outbox
from app.surveys.authoring import audience
from app.surveys.authoring.stored import Stored, load, lock
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.unanswered.waiting import people_of, spec_of
from app.surveys.reminding import waiting
from app.surveys.reminding.turns import LASTS
from app.web import lists
from app.web.bulk import act_on_many, action_of, ask_first
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done

PUBLISHER = Requires("surveys.publish", module="surveys")
MAIL_OFF = f"Mail is not set up on this server. Mails wait until it is, for {count(LASTS.days, 'day', 'days')} at most."


@post("/surveys/waiting/{uid:str}/remind", guards=[PUBLISHER], status_code=200)
async def remind(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    await action_of(ctx, ("remind",))
    stored = await load(ctx.db, uid_of(uid))
    now = datetime.now(UTC)
    waiting.refuse_reminding(stored, now)
    if not waiting.can_be_answered(stored, now):
        raise Conflict("The survey is not open yet: people are reminded once it can be answered.")
    which = await lists.selected(ctx, spec_of(ctx, stored, await audience.names(ctx.db)))
    chosen = people_of(ctx, stored).with_only_columns(User.id).where(which)
    number = await ctx.db.scalar(select(func.count()).select_from(chosen.where(waiting.remindable(stored)).subquery()))

    async def ask() -> dict[str, Any]:
        mail = "They get a mail that leads to Questions for you." if _is_on(ctx) else MAIL_OFF
        consequence = f"{mail} Each person gets two reminders at most. People who answer before then get none."
        return {"verb": "Remind", "what": people(number or 0), "consequence": consequence, "danger": False}

    async def act() -> str:
        made = await waiting.remind(ctx.db, ctx.actor, await lock(ctx.db, stored.uid), chosen, datetime.now(UTC))
        return f"{people(made)} will be reminded." if _is_on(ctx) else f"Reminders wait for {people(made)}. {MAIL_OFF}"

    none = Conflict(
        "None of these people can be reminded: a reminder waits for them, they got two, or they ended mails about surveys."
    )
    return await act_on_many(ctx, number or 0, url=_list(stored), none=none, ask=ask, do=act)


@get("/surveys/waiting/{uid:str}/drop", guards=[PUBLISHER])
async def ask_drop(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await load(ctx.db, uid_of(uid))
    found = await waiting.counts(ctx.db, stored.id, stored.version)
    return await ask_first(
        ctx,
        question="Drop what waits?",
        submit="Drop",
        consequence="Invitations and reminders of this survey that were not sent yet are dropped. People can be reminded again.",
        number=found.waiting,
        unit="mail waits" if found.waiting == 1 else "mails wait",
        cancel_url=_list(stored),
    )


@post("/surveys/waiting/{uid:str}/drop", guards=[PUBLISHER], status_code=200)
async def drop(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await lock(ctx.db, uid_of(uid))
    dropped = await waiting.drop(ctx.db, ctx.actor, stored, datetime.now(UTC))
    return await done(ctx, _list(stored), f"{count(dropped, 'mail was', 'mails were')} dropped.")


def _list(stored: Stored) -> str:
    return f"/surveys/waiting/{stored.uid}"


def _is_on(ctx: Context) -> bool:
    return outbox.is_on(ctx.parts.settings)


ROUTES = [remind, ask_drop, drop]
