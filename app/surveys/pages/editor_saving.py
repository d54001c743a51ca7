"""`/surveys/save[/<uid>]`: saves a draft as a survey, saves over a survey, or makes a new version after showing what
changes."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts.permissions import needed
from app.counting import people
from app.errors import Forbidden, Invalid, Refusal
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.actions import NeedsNewVersion, Saved, StaleForm
from app.surveys.authoring.definition import unpublishable
from app.surveys.authoring.differences import compare
from app.surveys.authoring.stored import Stored
from app.surveys.pages.editing.gaps import gaps, to_check
from app.surveys.pages.editor import AUTHOR, show
from app.surveys.pages.editor_desk import Desk, again, desk_of, new_desk
from app.surveys.pages.editor_form import Draft, merged, read
from app.web.context import Context
from app.web.pages import done, page

# What the page that shows a new version sends itself; the rest of the form is carried.
NOT_CARRIED = frozenset({"csrf_token", "new_version", "confirmed", "then", "rows"})


@post("/surveys/save", guards=[AUTHOR], status_code=200)
async def create(ctx: NamedDependency[Context]) -> Response[Any]:
    desk = await new_desk(ctx)
    draft = read(desk.offered, await ctx.form())
    if not draft.ok:
        return await show(ctx, desk, draft, status=422)
    try:
        uid = await authoring.create(ctx.db, ctx.actor, draft.definition, desk.offered.ceiling)
    except Invalid as refused:
        return await _refused(ctx, desk, draft, refused)
    return await _went_well(ctx, f"/{uid}", draft, "Saved as a draft.")


@post("/surveys/save/{uid:str}", guards=[AUTHOR], status_code=200)
async def save(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    desk = await desk_of(ctx, uid)
    posted = await ctx.form()
    draft = read(desk.offered, posted, desk.definition)
    if posted.get("new_version") == "1":
        return await _save_new_version(ctx, desk, draft, seen=posted.get("confirmed") == "1")
    if not draft.ok:
        return await show(ctx, desk, draft, status=422)
    try:
        saved = await _overwrite(ctx, desk, draft, new_version=False)
    except Refusal as refused:
        return await _refused(ctx, desk, draft, refused)
    return await _went_well(ctx, desk.at, draft, _saved(desk, saved))


def _saved(desk: Desk, saved: Saved) -> str:
    if not saved.differences:
        return "Nothing changed."
    opened = desk.stored is not None and desk.stored.rounds_after is not None
    answer = "Saved. The rounds have stopped: publish it as a new version to resume them." if opened else "Saved."
    return _with_check(answer, desk, saved)


def _with_check(answer: str, desk: Desk, saved: Saved) -> str:
    """With the texts whose translations may no longer fit."""
    check = to_check(desk.stored.definition, saved.stored.definition) if desk.stored else ""
    return f"{answer} {check}".rstrip()


async def _save_new_version(ctx: Context, desk: Desk, draft: Draft, *, seen: bool) -> Response[Any]:
    """First shows the difference, and how many people will be asked again."""
    stored = _stored(desk)
    if not ctx.may("surveys.publish"):
        return await _refused(ctx, desk, draft, Forbidden(needed("surveys.publish")))
    if stored.status == "published" and draft.revision in (None, stored.revision):
        draft.refuse(unpublishable(draft.definition, datetime.now(UTC)))
        if draft.ok and not seen:
            return await _ask(ctx, desk, draft, stored)
    if not draft.ok:
        return await show(ctx, desk, draft, status=422)
    try:
        saved = await _overwrite(ctx, desk, draft, new_version=True)
    except Refusal as refused:
        return await _refused(ctx, desk, draft, refused)
    answer = f"Version {saved.stored.version} is published. {people(stored.responses)} will be asked again."
    return await _went_well(ctx, desk.at, draft, _with_check(answer, desk, saved))


async def _overwrite(ctx: Context, desk: Desk, draft: Draft, *, new_version: bool) -> Saved:
    return await authoring.save(
        ctx.db,
        ctx.actor,
        _stored(desk).uid,
        draft.definition,
        revision=draft.revision,
        new_version=new_version,
        ceiling=desk.offered.ceiling,
    )


async def _went_well(ctx: Context, at: str, draft: Draft, answer: str) -> Response[Any]:
    """Leads to the same editor, or to the question before publishing, and says what was removed from the message."""
    if draft.stripped:
        answer = f"{answer} Taken out of the message: {', '.join(draft.stripped)}."
    then = (await ctx.form()).get("then")
    url = f"/surveys/publish{at}" if then == "publish" and ctx.may("surveys.publish") else f"/surveys/edit{at}"
    return await done(ctx, url, answer, level="warning" if draft.stripped else "success")


async def _refused(ctx: Context, desk: Desk, draft: Draft, refused: Refusal) -> Response[Any]:
    """The form again with all that was typed, and why it was not saved."""
    match refused:
        case StaleForm():
            now = await again(ctx, desk)
            stored = _stored(now)
            both = merged(now.offered, draft, refused.then, stored.definition, stored.revision)
            return await show(ctx, now, both, status=refused.status, stale=refused)
        case NeedsNewVersion():
            return await _ask(ctx, desk, draft, _stored(desk), needed=refused)
        case Invalid():
            draft.refuse(refused.details)
            return await show(ctx, desk, draft, status=refused.status)
    return await show(ctx, desk, draft, status=refused.status, refused=refused.message)


async def _ask(
    ctx: Context, desk: Desk, draft: Draft, stored: Stored, *, needed: NeedsNewVersion | None = None
) -> Response[Any]:
    """Shows the difference from what is published, and the number; carries everything that was typed."""
    posted = await ctx.form()
    fields = [(name, value) for name, value in posted.multi_items() if name not in NOT_CARRIED]
    return await page(
        ctx,
        "surveys/new_version.html",
        status=409 if needed else 200,
        stored=stored,
        at=desk.at,
        fields=[(name, value) for name, value in fields if isinstance(value, str)],
        differences=compare(stored.definition, draft.definition, desk.offered.names),
        blocking={one.name for one in needed.differences} if needed else set(),
        needed=needed is not None,
        possible=stored.status == "published" and ctx.may("surveys.publish"),
        again=await authoring.people_to_ask_again(ctx.db, stored.uid),
        untranslated=gaps(draft.definition),
    )


def _stored(desk: Desk) -> Stored:
    if desk.stored is None:
        raise RuntimeError("only a survey that was saved before is saved over")
    return desk.stored


ROUTES = [create, save]
