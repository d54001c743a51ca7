"""`/surveys/languages/<uid>`: translates a survey, one language at a time, with each text beside its translation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts.permissions import needed
from app.counting import people
from app.errors import Forbidden, Invalid, Refusal
from app.languages import LANGUAGES, LONGEST_TAG, direction, tag_of
from app.surveys import languages_shown
from app.surveys.authoring import actions as authoring
from app.surveys.authoring import translated_texts as texts
from app.surveys.authoring.actions import NeedsNewVersion, StaleForm
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.stored import Stored
from app.surveys.authoring.translation_rules import NO_TAG
from app.surveys.authoring.typed import typed_message
from app.surveys.pages.editing.gaps import called
from app.surveys.pages.editor import AUTHOR
from app.surveys.pages.editor_desk import Desk, again, desk_of
from app.texts import trimmed, whole
from app.web.context import Context
from app.web.pages import done, page

URL = "/surveys/languages"
_REVISION_DIGITS = 9
SAME = "This is the survey’s own language. Edit its texts in the survey itself."


@dataclass
class Sheet:
    """One language as typed. `text` is by the names of app.surveys.authoring.translated_texts; `needed` is what needs a
    new version."""

    tag: str
    text: Mapping[str, str]
    revision: int
    errors: dict[str, str] = field(default_factory=dict)
    refused: str = ""
    needed: NeedsNewVersion | None = None
    stale: StaleForm | None = None


@get(f"{URL}/{{uid:str}}", guards=[AUTHOR])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    desk = await desk_of(ctx, uid)
    stored = _stored(desk)
    asked = str(ctx.request.query_params.get("to", "")).strip()
    tag, problem = _chosen(stored.definition, asked)
    if problem:
        return await _page(ctx, stored, None, status=422, asked=asked, problem=problem)
    return await _page(ctx, stored, Sheet(tag, _texts(stored.definition, tag), stored.revision) if tag else None)


@post(f"{URL}/{{uid:str}}", guards=[AUTHOR], status_code=200)
async def save(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    desk = await desk_of(ctx, uid)
    stored, posted = _stored(desk), await ctx.form()
    tag, problem = _chosen(stored.definition, str(posted.get("to") or "").strip())
    if problem or not tag:
        return await _page(ctx, stored, None, status=422, problem=problem or NO_TAG)
    typed = {} if posted.get("remove") == "1" else _typed(posted, stored.definition, tag)
    revision = whole(str(posted.get("revision") or ""), _REVISION_DIGITS) or 0
    sheet = Sheet(tag, typed, revision)
    try:
        saved = await _save(ctx, stored.uid, desk, sheet, new_version=posted.get("new_version") == "1")
    except Refusal as refused:
        if isinstance(refused, StaleForm) and typed:
            # The names in the form are those of the survey as it was.
            sheet.text = _typed(posted, refused.then, tag)
        return await _refused(ctx, desk, sheet, refused)
    at = f"{URL}/{stored.uid}" + ("" if not typed else f"?to={tag}")
    return await done(ctx, at, saved)


async def _save(ctx: Context, uid: UUID, desk: Desk, sheet: Sheet, *, new_version: bool) -> str:
    """Returns the message about it. Raises Refusal."""
    if new_version and not ctx.may("surveys.publish"):
        raise Forbidden(needed("surveys.publish"))
    before = _stored(desk)
    wanted = texts.with_texts(before.definition, sheet.tag, sheet.text)
    saved = await authoring.save(
        ctx.db,
        ctx.actor,
        uid,
        wanted,
        revision=sheet.revision,
        new_version=new_version,
        ceiling=desk.offered.ceiling,
    )
    if new_version:
        return f"Version {saved.stored.version} is published. {people(before.responses)} will be asked again."
    return "Saved." if saved.differences else "Nothing changed."


async def _refused(ctx: Context, desk: Desk, sheet: Sheet, refused: Refusal) -> Response[Any]:
    """The same sheet with all that was typed, and why it was not saved."""
    stored = _stored(desk)
    match refused:
        case StaleForm():
            stored = _stored(await again(ctx, desk))
            sheet.text = texts.merged(refused.then, sheet.text, stored.definition, sheet.tag)
            sheet.stale, sheet.revision = refused, stored.revision
        case NeedsNewVersion():
            sheet.needed = refused
        case Invalid():
            for one in refused.details:
                sheet.errors.setdefault(texts.name_at(stored.definition, one.field), one.message)
            sheet.refused = "" if any(sheet.errors) else refused.message
        case _:
            sheet.refused = refused.message
    return await _page(ctx, stored, sheet, status=refused.status)


def _chosen(definition: Definition, asked: str) -> tuple[str, str]:
    """The language of the page, "" for none, and what is wrong with the requested one."""
    if not asked:
        return next(iter(definition.translations), ""), ""
    tag = tag_of(asked)
    if tag is None:
        return "", NO_TAG
    return (tag, "") if tag != definition.language else ("", SAME)


def _texts(definition: Definition, tag: str) -> dict[str, str]:
    return {name: one.text for name, one in texts.texts_of(definition, tag).items()}


def _typed(posted: Any, definition: Definition, tag: str) -> dict[str, str]:
    """By name. An unchanged message keeps its bytes."""
    known = texts.texts_of(definition, tag)
    sent = {name: str(posted.get(name) or "").replace("\r\n", "\n") for name in known}
    return {
        name: typed_message(text) if known[name].is_html and trimmed(text) != known[name].text else text
        for name, text in sent.items()
    }


async def _page(
    ctx: Context, stored: Stored, sheet: Sheet | None, *, status: int = 200, asked: str = "", problem: str = ""
) -> Response[Any]:
    definition = stored.definition
    listed = dict.fromkeys([*definition.translations, *([sheet.tag] if sheet else [])])
    groups = texts.groups(definition, sheet.tag) if sheet else ()
    shown = [(group.called, [(one, sheet.text.get(one.name, "")) for one in group.texts]) for group in groups if sheet]
    return await page(
        ctx,
        "surveys/languages.html",
        status=status,
        stored=stored,
        sheet=sheet,
        asked=asked,
        problem=problem,
        groups=shown,
        total=len(texts.texts_of(definition, "")),
        languages=[(tag, called(tag), texts.missing(definition, tag)) for tag in listed],
        met=await languages_shown.shown(ctx.db, stored.id, stored.version),
        name=called(sheet.tag) if sheet else "",
        own=called(definition.language),
        direction=direction,
        known=LANGUAGES,
        longest=LONGEST_TAG,
        summary=[(name if name in sheet.text else "", text) for name, text in sheet.errors.items()] if sheet else [],
        may_publish=ctx.may("surveys.publish") and stored.status == "published",
    )


def _stored(desk: Desk) -> Stored:
    if desk.stored is None:
        raise RuntimeError("only a survey that was saved before is translated")
    return desk.stored


ROUTES = [show, save]
