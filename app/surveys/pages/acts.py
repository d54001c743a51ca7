"""Acts on a whole survey from the list, its page or the editor: publish, archive, delete, duplicate. Dangerous ones
first say what they will do, with the number. An act that the survey's state does not allow is refused without a
question."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.counting import people
from app.dates import utc_time
from app.errors import Conflict
from app.mail import outbox
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import audience
from app.surveys.authoring.ceilings import ceiling_of, refuse_above
from app.surveys.authoring.field_names import name_of
from app.surveys.authoring.stored import Stored
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.editing.gaps import gaps
from app.surveys.pages.unanswered.reminding import MAIL_OFF
from app.surveys.reminding import waiting
from app.surveys.words import Names
from app.texts import whole
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, page

AUTHOR = Requires("surveys.author", module="surveys")
PUBLISHER = Requires("surveys.publish", module="surveys")


@get("/surveys/publish/{uid:str}", guards=[PUBLISHER])
async def ask_publish(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await authoring.load(ctx.db, uid_of(uid))
    refuse_above(await ceiling_of(ctx.db), stored.definition.enforcement)
    _refuse_again(stored, "published")
    sizes = await audience.sizes(ctx.db, stored.definition)
    missing = await audience.missing_to_publish(ctx.db, stored.definition, datetime.now(UTC))
    return await _ask(
        ctx,
        stored,
        "publish",
        consequence=_publishing(stored),
        number=sum(sizes.values()),
        unit=_audience(sizes, await audience.names(ctx.db)),
        missing=[f"{name_of(one.field)}: {one.message}" for one in missing],
        may_edit=ctx.may("surveys.author"),
        untranslated=gaps(stored.definition),
        mail_off="" if outbox.is_on(ctx.parts.settings) else MAIL_OFF,
    )


@post("/surveys/publish/{uid:str}", guards=[PUBLISHER], status_code=200)
async def publish(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    ceiling = await ceiling_of(ctx.db)
    seen = whole(str((await ctx.form()).get("revision") or ""), 9)
    changed = await authoring.publish(ctx.db, ctx.actor, uid_of(uid), datetime.now(UTC), ceiling, revision=seen)
    answer = "The survey is published." if changed else "The survey was published already."
    if changed and (await ctx.form()).get("invite"):
        stored = await authoring.load(ctx.db, uid_of(uid))
        invited = await waiting.invite(ctx.db, ctx.actor, stored, datetime.now(UTC))
        answer += f" {people(invited)} will be invited." if outbox.is_on(ctx.parts.settings) else f" {MAIL_OFF}"
    return await _done(ctx, answer, changed=changed)


@get("/surveys/archive/{uid:str}", guards=[PUBLISHER])
async def ask_archive(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await authoring.load(ctx.db, uid_of(uid))
    authoring.refuse_archiving_a_draft(stored)
    _refuse_again(stored, "archived")
    unit = f"{'response' if stored.responses == 1 else 'responses'} to version {stored.version} stay"
    unit += "s" if stored.responses == 1 else ""
    consequence = _ARCHIVING_APART if stored.definition.is_anonymous else _ARCHIVING
    return await _ask(ctx, stored, "archive", consequence=consequence, number=stored.responses, unit=unit)


@post("/surveys/archive/{uid:str}", guards=[PUBLISHER], status_code=200)
async def archive(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    changed = await authoring.archive(ctx.db, ctx.actor, uid_of(uid))
    answer = "The survey is archived: it is no longer asked." if changed else "The survey was archived already."
    return await _done(ctx, answer, changed=changed)


@get("/surveys/delete/{uid:str}", guards=[AUTHOR])
async def ask_delete(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored = await authoring.load(ctx.db, uid_of(uid))
    refuse_above(await ceiling_of(ctx.db), stored.definition.enforcement)
    authoring.refuse_deleting_what_was_asked(stored)
    number = len(stored.questions)
    unit = f"{'question goes' if number == 1 else 'questions go'} with it"
    consequence = "It was never asked. It can't be restored; the audit keeps its text."
    return await _ask(ctx, stored, "delete", consequence=consequence, number=number, unit=unit)


@post("/surveys/delete/{uid:str}", guards=[AUTHOR], status_code=200)
async def delete(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    await authoring.delete(ctx.db, ctx.actor, uid_of(uid))
    return await _done(ctx, "The draft was deleted.", changed=True)


@post("/surveys/duplicate/{uid:str}", guards=[AUTHOR], status_code=200)
async def duplicate(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    copy = await authoring.duplicate(ctx.db, ctx.actor, uid_of(uid), await ceiling_of(ctx.db))
    return await done(ctx, f"/surveys/edit/{copy}", "This is the copy, a draft of its own.")


_ARCHIVING = (
    "People are no longer asked, and those who have not answered yet no longer can."
    " Answers stay as they are. Publishing again undoes it: same version, same answers."
)
_ARCHIVING_APART = (
    "People are no longer asked, and those who have not answered yet no longer can. The anonymous answers are opened now, for good:"
    " shown where at least five people answered, else deleted. Publishing again asks everybody for a new version."
)


async def _ask(ctx: Context, stored: Stored, act: str, **values: Any) -> Response[Any]:
    defaults = {"missing": [], "may_edit": False}
    return await page(ctx, "surveys/ask.html", fragment="dialog", stored=stored, act=act, **{**defaults, **values})


async def _done(ctx: Context, answer: str, *, changed: bool) -> Response[Any]:
    return await done(ctx, "/surveys/list", answer, level="success" if changed else "info")


def _refuse_again(stored: Stored, status: str) -> None:
    """Raises Conflict when the survey already has the state to which the question would lead."""
    if stored.status == status:
        raise Conflict(f"“{stored.definition.title}” was {status} already.")


def _audience(sizes: Mapping[str, int], names: Names) -> str:
    """Explains the number: how many people of which type, if there are several."""
    unit = "person is in its audience" if sum(sizes.values()) == 1 else "people are in its audience"
    each = ", ".join(f"{names.of_types([key])} {number:,}" for key, number in sizes.items())
    return f"{unit} ({each})" if len(sizes) > 1 else unit


def _publishing(stored: Stored) -> str:
    """What publishing does, in sentences."""
    asked = stored.definition
    opens = f"from {utc_time(asked.starts_at, None)} on" if asked.starts_at else "from now on"
    closes = f" until {utc_time(asked.ends_at, None)}" if asked.ends_at else ""
    way = "cannot close it before they answer" if asked.enforcement == "required" else "may put it off or opt out"
    kept = ""
    if asked.is_anonymous:
        kept = " Their answers are sealed until it is over. Who may know what can’t be changed after this."
    if stored.answered and not asked.is_anonymous:
        kept = f" {people(stored.responses)} responded to version {stored.version} before and are not asked again."
    if asked.repeat:
        again = f"They are asked in rounds that open by themselves. {asked.repeat.sentence}."
        return f"{again} They {way}.{kept} Archiving, or saving a change, ends it."
    return f"They are asked {opens}{closes}, and {way}.{kept} Archiving ends it."


ROUTES = [ask_publish, publish, ask_archive, archive, ask_delete, delete, duplicate]
