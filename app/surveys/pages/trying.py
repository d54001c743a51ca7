"""`/surveys/try/<uid>`: a saved survey as people see it, to answer as they do. The same checks apply to the answers,
and nothing is recorded."""

from dataclasses import dataclass
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.errors import Invalid
from app.surveys.authoring.stored import Stored, load
from app.surveys.item import Item
from app.surveys.ledger import answers
from app.surveys.ledger.answers import Answered
from app.surveys.pages import prompt_form
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.editing.gaps import called
from app.surveys.pages.editor import item_of
from app.surveys.pages.me import words as told
from app.surveys.results.responses import plain
from app.surveys.words import OUTCOME_OF, OUTCOMES
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page
from app.wording.speech import speech_for

AUTHOR = Requires("surveys.author", module="surveys")


@dataclass(frozen=True, slots=True)
class Tried:
    """What would be recorded. `outcome` is "" when nothing would be, for a snooze."""

    sentence: str
    outcome: str
    rows: tuple[tuple[str, str], ...]
    closing_html: str


@get("/surveys/try/{uid:str}", guards=[AUTHOR])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    stored, item = await _met(ctx, uid, str(ctx.request.query_params.get("to", "")))
    return await _page(ctx, stored, item)


@post("/surveys/try/{uid:str}", guards=[AUTHOR], status_code=200)
async def submit(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    sent = prompt_form.read(await ctx.form())
    stored, item = await _met(ctx, uid, sent.language)
    if sent.asks == prompt_form.BACK:
        return await _page(ctx, stored, item, given=sent.kept, confirms=sent.asks)
    action = sent.action or sent.asks
    try:
        if action not in item.actions:
            raise Invalid(told.UNDECIDED)  # noqa: TRY301 - one page shows every refusal
        given = answers.read(item.questions, action, sent.answers)
    except Invalid as refused:
        problems, otherwise = prompt_form.problems(item, refused.details)
        message = otherwise if refused.details else refused.message
        kept, problems = prompt_form.without_hidden(sent.kept, problems)
        return await _page(ctx, stored, item, status=422, given=kept, problems=problems, message=message)
    if sent.asks:
        return await _page(ctx, stored, item, given=sent.kept, confirms=sent.asks)
    return await _page(ctx, stored, item, tried=_tried(item, action, given))


async def _met(ctx: Context, uid: str, language: str) -> tuple[Stored, Item]:
    """The survey in that language, otherwise in its own."""
    stored = await load(ctx.db, uid_of(uid))
    return stored, item_of(stored.definition, stored, ctx.workspace, language)


def _tried(item: Item, action: str, given: tuple[Answered, ...]) -> Tried:
    if action == "snooze":
        return Tried("They would be asked again later. The ledger would get no row.", "", (), "")
    outcome = OUTCOME_OF[action]
    labels = {one.key: one.label for one in item.questions}
    rows = tuple((labels[one.question], _spoken(one)) for one in given)
    return Tried(told.THANKS[outcome], OUTCOMES[outcome], rows, "" if action == "opt_out" else item.closing_html)


def _spoken(one: Answered) -> str:
    return plain(list(one.value) if isinstance(one.value, tuple) else one.value)


async def _page(ctx: Context, stored: Stored, item: Item, *, status: int = 200, **values: Any) -> Response[Any]:
    shown = {"given": {}, "problems": {}, "message": "", "confirms": "", "tried": None, **values}
    languages = [stored.definition.language, *stored.definition.translations]
    offered = [(tag, called(tag)) for tag in languages] if len(languages) > 1 else []
    # A person who reads this language gets Muster's own words in it too.
    asks = speech_for([item.language])
    return await page(
        ctx, "surveys/try.html", status=status, stored=stored, item=item, languages=offered, asks=asks, **shown
    )


ROUTES = [show, submit]
