"""`/surveys/new`, `/surveys/edit/<uid>`: the editor, before anything is saved. Saving: editor_saving."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.counting import people
from app.errors import NotFound
from app.mail import outbox
from app.surveys import question_types, translations, words
from app.surveys.authoring import audience, content
from app.surveys.authoring.actions import StaleForm
from app.surveys.authoring.ceilings import refuse_above
from app.surveys.authoring.definition import Definition, QuestionDefinition, tidy
from app.surveys.authoring.starters import STARTERS
from app.surveys.authoring.stored import Stored
from app.surveys.item import Item, ItemQuestion
from app.surveys.ledger.translated_answers import question_in
from app.surveys.pages import editor_questions
from app.surveys.pages.acts_allowed import limits
from app.surveys.pages.editing import conditions
from app.surveys.pages.editing.conditions import ConditionOffer
from app.surveys.pages.editing.gaps import gaps
from app.surveys.pages.editor_desk import Desk, desk_of, new_desk
from app.surveys.pages.editor_form import Draft, blank, filled, read
from app.surveys.pages.editor_questions import Row
from app.surveys.translations import NO_SURVEY_TEXTS, NO_TEXTS, candidates
from app.web.context import Context
from app.web.fields import Choice
from app.web.guards import Requires
from app.web.pages import page

AUTHOR = Requires("surveys.author", module="surveys")
SAMPLE = Row("samplerow")
ENFORCEMENT_HINTS = {
    "optional": "People may put it off, or never answer.",
    "required": "It comes first and stays until it is answered.",
}


@get("/surveys/new", guards=[AUTHOR])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    desk = await new_desk(ctx)
    return await show(ctx, desk, _begun(desk, ctx.request.query_params.get("from", "")))


@get("/surveys/edit/{uid:str}", guards=[AUTHOR])
async def edit(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    """`check=publish` in the address shows at its field what keeps the survey from being published."""
    desk = await desk_of(ctx, uid)
    draft = _filled(desk)
    if ctx.request.query_params.get("check") == "publish":
        draft.refuse(await audience.missing_to_publish(ctx.db, draft.definition, datetime.now(UTC)))
    return await show(ctx, desk, draft)


@post("/surveys/form", guards=[AUTHOR], status_code=200)
async def new_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _changed(ctx, await new_desk(ctx))


@post("/surveys/form/{uid:str}", guards=[AUTHOR], status_code=200)
async def form(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    return await _changed(ctx, await desk_of(ctx, uid))


@post("/surveys/preview", guards=[AUTHOR], status_code=200)
async def new_preview(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _preview(ctx, await new_desk(ctx))


@post("/surveys/preview/{uid:str}", guards=[AUTHOR], status_code=200)
async def preview(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    return await _preview(ctx, await desk_of(ctx, uid))


async def _changed(ctx: Context, desk: Desk) -> Response[Any]:
    """The form as typed, after one of its buttons. Nothing is saved, so nothing is wrong yet."""
    posted = await ctx.form()
    draft = read(desk.offered, posted, desk.definition)
    draft.forgive()
    draft.rows, draft.focus = editor_questions.press(draft.rows, str(posted.get("rows") or ""))
    return await show(ctx, desk, draft)


async def _preview(ctx: Context, desk: Desk) -> Response[Any]:
    draft = read(desk.offered, await ctx.form(), desk.definition)
    values = await _shown(ctx, desk, draft)
    if not ctx.wants_fragment:
        draft.forgive()
        return await show(ctx, desk, draft)
    return await page(ctx, "surveys/editor.html", fragment="preview", oob=True, **values)


async def show(
    ctx: Context,
    desk: Desk,
    draft: Draft,
    *,
    status: int = 200,
    refused: str = "",
    stale: StaleForm | None = None,
) -> Response[Any]:
    """The whole editor with a draft."""
    kept = editor_questions.live(draft.rows)
    places = {row.name: number for number, row in enumerate(kept, 1)}
    return await page(
        ctx,
        "surveys/editor.html",
        status=status,
        stored=desk.stored,
        untranslated=gaps(desk.stored.definition) if desk.stored else (),
        at=desk.at,
        draft=draft,
        refused=refused,
        stale=stale,
        contested=_contested(draft, stale) if stale else (),
        note=_note(desk.stored) if not stale else None,
        numbered=[(row, places.get(row.name)) for row in draft.rows],
        live=len(kept),
        most=words.MOST_QUESTIONS,
        sample=SAMPLE,
        question_types=question_types.QUESTION_TYPES,
        conditions=conditions.offers(draft.rows),
        no_condition=ConditionOffer(),
        ready_made=editor_questions.READY_MADE,
        categories=desk.offered.categories,
        enforcements=_enforcements(draft),
        limits=limits(desk.offered.ceiling),
        may_publish=ctx.may("surveys.publish"),
        mail_is_on=outbox.is_on(ctx.parts.settings),
        oob=False,
        **await _shown(ctx, desk, draft),
    )


def _contested(draft: Draft, stale: StaleForm) -> set[str]:
    """The names of what both changed; a difference in any question counts as `questions`."""
    return {one.name for one in stale.differences if one.field.partition(".")[0] in draft.contested}


async def _shown(ctx: Context, desk: Desk, draft: Draft) -> dict[str, Any]:
    """The survey in the preview."""
    number = await audience.size(ctx.db, draft.definition)
    reach = f"{people(number)} {'is' if number == 1 else 'are'} in its audience."
    return {"item": item_of(draft.definition, desk.stored, ctx.workspace), "reach": reach, "stripped": draft.stripped}


def item_of(definition: Definition, stored: Stored | None, workspace: str, language: str = "") -> Item:
    """A definition as people would see it, in one of its languages or in its own; a missing text is replaced by a
    word."""
    asked = [one for one in definition.questions if one.type in question_types.QUESTION_TYPES]
    unread = content.too_much_to_read(definition.message) or content.unkeepable(definition.message)
    tag = next((one for one in candidates([language]) if one in definition.translations), None)
    texts = definition.translations[tag] if tag else NO_SURVEY_TEXTS
    closing = "" if content.too_much_to_read(definition.closing_html) else definition.closing_html
    return Item(
        workspace=workspace,
        survey=stored.uid if stored else UUID(int=0),
        version=stored.version if stored else 1,
        content_hash="",
        type=definition.type,
        enforcement=definition.enforcement,
        title=texts.title or definition.title or "Without a title",
        message_html=texts.message or ("" if unread else definition.message),
        category=definition.category,
        ends_at=definition.ends_at,
        questions=tuple(_question_of(one, number, tag) for number, one in enumerate(asked[: words.MOST_QUESTIONS], 1)),
        closing_html=texts.closing_html or closing,
        language=tag or definition.language,
        own_language=definition.language,
        has_translations=bool(definition.translations),
        own=frozenset(name for name in ("title", "message", "closing_html") if tag and not getattr(texts, name)),
        anonymity=definition.anonymity,
        split=definition.split,
    )


def _question_of(one: QuestionDefinition, number: int, tag: str | None) -> ItemQuestion:
    label = one.label or f"Question {number}"
    own = UUID(int=number), label, one.type, one.options, one.required, one.details
    return question_in(own, translations.written(one.translations.get(tag, NO_TEXTS)) if tag else None)


def _begun(desk: Desk, starter: str) -> Draft:
    """A new survey, empty or from a starter. Raises NotFound for an unknown word, Forbidden above the ceiling."""
    if not starter:
        return blank(desk.offered)
    if starter not in STARTERS:
        raise NotFound("There is no such survey to begin from.")
    definition = STARTERS[starter].definition
    refuse_above(desk.offered.ceiling, definition.enforcement)
    return filled(desk.offered, tidy(definition), None)


def _filled(desk: Desk) -> Draft:
    if desk.stored is None:
        return blank(desk.offered)
    return filled(desk.offered, desk.stored.definition, desk.stored.revision)


def _enforcements(draft: Draft) -> list[Mapping[str, str]]:
    choices = cast("Choice", draft.form.fields["enforcement"]).choices
    return [{**one, "hint": ENFORCEMENT_HINTS[one["value"]]} for one in choices]


def _note(stored: Stored | None) -> dict[str, str] | None:
    """What an author may change about a published survey; shown before anything is lost."""
    if stored is None or stored.status == "draft":
        return None
    if not stored.answered:
        said = "It is being asked" if stored.status == "published" else "It is archived"
        return {"title": f"{said}; there are no answers.", "text": "After you save, people are asked this text."}
    title = f"{people(stored.responses)} responded to version {stored.version}."
    way = (
        "Publishing as a new version asks everyone again."
        if stored.status == "published"
        else "Publish it first for that."
    )
    always = "Category, audience, window and pacing can change at any time."
    if stored.rounds_after:
        always += " Each saved change stops the rounds; a new version resumes them."
    if stored.definition.agreement:
        can = "It has an agreement, so any other change needs a new version: people agreed to the old text only."
        return {"title": title, "text": f"{always} {can} {way}"}
    can = "So can the wording of title, message, closing words and questions, for corrections; anything else needs a new version."
    return {"title": title, "text": f"{always} {can} {way}"}


ROUTES = [new, edit, new_form, form, new_preview, preview]
