"""`/survey_prompt`: what waits for the person who is signed in, one at a time, over a page or as a page of its own.

htmx gets a block for the dialog (static/js/prompt.js); without script the page is a plain form, and a POST ends in 303.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect

from app.dates import PageZone
from app.db.session import PLATFORM
from app.errors import Invalid, ModuleUnavailable
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import queue as asking
from app.surveys.asking import responding, situations
from app.surveys.asking.responding import RespondResult, SentReply
from app.surveys.asking.situations import Met
from app.surveys.item import Item
from app.surveys.ledger.errors import ActionNotAllowed, InvalidAnswers, SurveyNotFound, VersionSuperseded
from app.surveys.pages import prompt_form
from app.surveys.pages.prompt_form import Kept, Sent
from app.web import prompting
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, page

URL = "/survey_prompt"
DECISIONS = ("agreed", "declined")
THANKS = {
    "answered": "Thank you. Your answer was recorded.",
    "agreed": "Thank you. It is recorded that you agree.",
    "declined": "Thank you. It is recorded that you disagree.",
    "opted_out": "You won’t be asked this again.",
}
GONE = "That question is no longer open, so nothing was recorded."
UNDECIDED = "Nothing was sent yet. Choose one of the buttons below the questions."
CHANGED = (
    "The text was changed while you had it open. This is the new text. Your answers are kept where they still fit."
)


@dataclass(frozen=True, slots=True)
class PromptNotice:
    """A sentence above the card, or in its place when no survey waits. `receipt` "" shows none."""

    text: str = ""
    tone: str = "success"
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One item with its number in the queue, and what was answered so far."""

    item: Item
    number: int
    total: int
    given: Kept = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


@get(URL, guards=[Requires(None, module="surveys")])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    _check_offered(ctx)
    return await _page(ctx, await _current(ctx), PromptNotice())


@post(f"{URL}/submit", guards=[Requires(None, module="surveys")], status_code=200)
async def submit(ctx: NamedDependency[Context]) -> Response[Any] | Redirect:
    _check_offered(ctx)
    sent = prompt_form.read(await ctx.form())
    try:
        answer = await _respond(ctx, sent)
    except SurveyNotFound:
        return await _go_on(ctx, PromptNotice(GONE, "warning"))
    except VersionSuperseded as refused:
        return await _show_anew(ctx, sent, refused.status)
    except (ActionNotAllowed, Invalid) as refused:
        return await _show_again(ctx, sent, refused)
    return await _go_on(ctx, thanks(answer, await ctx.zone()))


async def _respond(ctx: Context, sent: Sent) -> RespondResult:
    try:
        return await responding.respond(respondent_of(ctx), ctx, _reply(sent), "web")
    finally:
        await ctx.reopen()


def thanks(answer: RespondResult, zone: PageZone) -> PromptNotice:
    """What the person reads after an answer; a decision has its receipt."""
    if answer.snoozed_until:
        return PromptNotice(f"You will be asked again after {zone.time(answer.snoozed_until)}.")
    outcome = answer.outcome or "answered"
    text = "That was recorded already; nothing changed." if answer.status == "already_recorded" else THANKS[outcome]
    return PromptNotice(text, receipt=(answer.receipt or "") if outcome in DECISIONS else "")


def _reply(sent: Sent) -> SentReply:
    """Raises Invalid where no button was pressed."""
    if not sent.action:
        raise Invalid(UNDECIDED)
    return SentReply(sent.survey, sent.action, sent.answers, sent.version, sent.content_hash)


async def _go_on(ctx: Context, said: PromptNotice) -> Response[Any] | Redirect:
    """The next item with what became of this one."""
    if ctx.wants_fragment:
        return await _page(ctx, await _current(ctx), said)
    text = f"{said.text} Receipt {said.receipt}" if said.receipt else said.text
    return await done(ctx, URL, text, level=said.tone)


async def _show_again(ctx: Context, sent: Sent, refused: ActionNotAllowed | Invalid) -> Response[Any]:
    """The same item with what is wrong at each question; nothing that was chosen or typed is lost."""
    item = (await _met(ctx, sent)).item
    problems, otherwise = prompt_form.problems(item, refused.details)
    text = otherwise if isinstance(refused, InvalidAnswers) else refused.message
    shown = Shown(item, sent.number, sent.total, sent.kept, problems)
    return await _page(ctx, shown, PromptNotice(text, "warning"), status=refused.status)


async def _show_anew(ctx: Context, sent: Sent, status: int) -> Response[Any]:
    """The words that hold now. They are seen from here on, whatever the status of the answer: that is kept at once."""
    met = await _met(ctx, sent)
    async with ctx.inside(met.situation.offer.workspace) as db:
        await asking.count_sign_in(db, ctx.user.id, met.situation, datetime.now(UTC), ctx.user.session_id or 0)
    await ctx.settle()
    await ctx.reopen()
    shown = Shown(met.item, sent.number, sent.total, prompt_form.fitting(sent.kept, met.item))
    return await _page(ctx, shown, PromptNotice(CHANGED, "warning"), status=status)


async def _met(ctx: Context, sent: Sent) -> Met:
    """The survey that was answered, in the own workspace or on the platform. Raises SurveyNotFound."""
    for workspace in dict.fromkeys((ctx.workspace, PLATFORM)):
        async with ctx.inside(workspace) as db:
            if met := await situations.one(db, ctx.user.id, sent.survey):
                return met
    raise SurveyNotFound


async def _current(ctx: Context) -> Shown | None:
    found = await asking.current(respondent_of(ctx), ctx, counting=not ctx.is_head)
    return found and Shown(*found)


async def _page(ctx: Context, shown: Shown | None, said: PromptNotice, *, status: int = 200) -> Response[str]:
    return await page(ctx, "surveys/prompt.html", fragment="prompt", status=status, shown=shown, said=said)


def _check_offered(ctx: Context) -> None:
    if not prompting.offered(ctx):
        raise ModuleUnavailable("Surveys are not asked in this portal: an administrator switched that off.")


ROUTES = [show, submit]
