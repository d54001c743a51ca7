"""Takes an answer that a browser sends, from any form: over a page, on `/survey_prompt`, or under *Questions for you*.
Each place says how it shows a survey, and where it leads after an answer."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

from litestar import Response
from litestar.response import Redirect

from app.dates import PageZone
from app.db.session import PLATFORM
from app.errors import Invalid
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import queue as asking
from app.surveys.asking import responding, situations
from app.surveys.asking.responding import RespondResult, SentReply
from app.surveys.asking.situations import Met
from app.surveys.item import Item
from app.surveys.ledger.errors import ActionNotAllowed, InvalidAnswers, SurveyNotFound, VersionSuperseded
from app.surveys.mine import reading
from app.surveys.mine.words import SAID_ALREADY
from app.surveys.pages import prompt_form
from app.surveys.pages.me import words
from app.surveys.pages.prompt_form import Kept, Sent
from app.web.context import Context
from app.wording.marked import worded


@dataclass(frozen=True, slots=True)
class PromptNotice:
    """A sentence above the card, or in its place when no survey is open. `receipt` "" shows none; `closing_html` is
    what the author says after an answer; `sent` names the draft that the browser can drop (static/js/drafts.js)."""

    text: str = ""
    tone: str = "success"
    receipt: str = ""
    closing_html: str = ""
    sent: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One item with its number in the queue, and what was answered so far. `confirms`: what the person must confirm,
    agree or decline; or back."""

    item: Item
    number: int = 1
    total: int = 1
    given: Kept = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    confirms: str = ""


class FormPlace(Protocol):
    """The place of a survey's form."""

    async def draw(self, ctx: Context, shown: Shown, said: PromptNotice, status: int) -> Response[Any]: ...

    async def continue_with(
        self, ctx: Context, said: PromptNotice, answer: RespondResult | None
    ) -> Response[Any] | Redirect:
        """Called after an answer; `answer` is None when the survey was no longer open."""


async def take(ctx: Context, place: FormPlace) -> Response[Any] | Redirect:
    """Records what was sent. A refused answer is shown again with all that was chosen or typed."""
    sent = prompt_form.read(await ctx.form())
    try:
        answer = await _respond(ctx, sent) if not sent.asks else await _check(ctx, sent)
        if answer is None:
            return await _ask(ctx, place, sent)
    except SurveyNotFound:
        return await place.continue_with(ctx, PromptNotice(words.GONE, "warning"), None)
    except VersionSuperseded as refused:
        return await _show_changed(ctx, place, sent, refused.status)
    except (ActionNotAllowed, Invalid) as refused:
        return await _show_again(ctx, place, sent, refused)
    return await place.continue_with(ctx, await _said(ctx, answer), answer)


async def met(ctx: Context, uid: UUID, languages: tuple[str, ...] = ()) -> Met:
    """The survey, in the person's workspace or on the platform, in these languages or in those of the request. Raises
    SurveyNotFound."""
    for workspace in dict.fromkeys((ctx.workspace, PLATFORM)):
        async with ctx.inside(workspace) as db:
            if found := await situations.one(db, ctx.user.id, uid, languages or ctx.languages):
                await asking.note_language(db, found.situation, found.item)
                return found
    raise SurveyNotFound


async def _said(ctx: Context, answer: RespondResult) -> PromptNotice:
    """For an agreement that was recorded before, also what happened to it since: a tab may have been open for long."""
    said = thanks(answer, await ctx.zone())
    if answer.status != "already_recorded" or answer.outcome != "agreed" or not answer.receipt:
        return said
    mine = await reading.find(respondent_of(ctx), ctx, bytes.fromhex(answer.receipt))
    return replace(said, text=words.THANKS["withdrawn"], closing_html="") if mine.standing == "withdrawn" else said


def thanks(answer: RespondResult, zone: PageZone) -> PromptNotice:
    """What the person reads after an answer."""
    if answer.snoozed_until:
        return PromptNotice(worded(words.LATER, time=zone.time(answer.snoozed_until)))
    outcome = answer.outcome or "answered"
    text = SAID_ALREADY if answer.status == "already_recorded" else words.THANKS[outcome]
    receipt = "" if outcome == "opted_out" else answer.receipt or ""
    sent = f"{answer.survey}:{answer.version}"
    return PromptNotice(text, receipt=receipt, closing_html=answer.closing_html or "", sent=sent)


async def _respond(ctx: Context, sent: Sent) -> RespondResult:
    try:
        return await responding.respond(respondent_of(ctx), ctx, _reply(sent), "web")
    finally:
        await ctx.reopen()


async def _check(ctx: Context, sent: Sent) -> RespondResult | None:
    """True when what the person confirms could be recorded. Records nothing."""
    if sent.asks == prompt_form.BACK:
        return None
    try:
        return await responding.check(respondent_of(ctx), ctx, _reply(sent), "web")
    finally:
        await ctx.reopen()


def _reply(sent: Sent) -> SentReply:
    """Raises Invalid when no button was pressed."""
    action = sent.action or sent.asks
    if not action:
        raise Invalid(words.UNDECIDED)
    return SentReply(
        sent.survey, action, sent.answers, sent.version, sent.content_hash, sent.language or None, in_own_words=True
    )


async def _ask(ctx: Context, place: FormPlace, sent: Sent) -> Response[Any]:
    """The same item with the question whether the person is sure; after *Back* as it was. Raises VersionSuperseded when
    the words have changed."""
    item = (await met(ctx, sent.survey, sent.languages)).item
    if (item.version, item.content_hash) != (sent.version, sent.content_hash):
        raise VersionSuperseded
    shown = Shown(item, sent.number, sent.total, sent.kept, confirms=sent.asks)
    return await place.draw(ctx, shown, PromptNotice(), 200)


async def _show_again(ctx: Context, place: FormPlace, sent: Sent, refused: ActionNotAllowed | Invalid) -> Response[Any]:
    """The same item with the error at each question; nothing that was chosen or typed is lost."""
    item = (await met(ctx, sent.survey, sent.languages)).item
    problems, otherwise = prompt_form.problems(item, refused.details)
    text = otherwise if isinstance(refused, InvalidAnswers) else refused.message
    kept, problems = prompt_form.without_hidden(sent.kept, problems)
    shown = Shown(item, sent.number, sent.total, kept, problems)
    return await place.draw(ctx, shown, PromptNotice(text, "warning"), refused.status)


async def _show_changed(ctx: Context, place: FormPlace, sent: Sent, status: int) -> Response[Any]:
    """Shows the present words. The person has seen them from here on, for any status of the answer, so this is stored
    at once."""
    found = await met(ctx, sent.survey, sent.languages)
    async with ctx.inside(found.situation.offer.workspace) as db:
        await asking.count_sign_in(db, ctx.user.id, found.situation, datetime.now(UTC), ctx.user.session_id or 0)
    await ctx.settle()
    await ctx.reopen()
    shown = Shown(found.item, sent.number, sent.total, prompt_form.fitting(sent.kept, found.item))
    return await place.draw(ctx, shown, PromptNotice(words.CHANGED, "warning"), status)
