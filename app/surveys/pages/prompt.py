"""`/survey_prompt`: the open surveys of the signed-in person, one at a time, over a page or as a page of its own.

htmx gets a block (static/js/prompt.js shows it). Without script the page is a plain form, and a POST ends in 303.
"""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect

from app.errors import ModuleUnavailable
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import queue as asking
from app.surveys.asking.queue import Current
from app.surveys.asking.responding import RespondResult
from app.surveys.pages.me import answering, questions, words
from app.surveys.pages.me.answering import PromptNotice, Shown
from app.web import prompting
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, go, page
from app.wording.marked import sentence, worded

URL = "/survey_prompt"


@get(URL, guards=[Requires(None, module="surveys")])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    _check_offered(ctx)
    return await _first(ctx, PromptNotice())


@post(f"{URL}/submit", guards=[questions.WRITING], status_code=200)
async def submit(ctx: NamedDependency[Context]) -> Response[Any] | Redirect:
    _check_offered(ctx)
    return await answering.take(ctx, _Prompt())


class _Prompt:
    """The place of the form: over a page, or on this one."""

    async def draw(self, ctx: Context, shown: Shown, said: PromptNotice, status: int) -> Response[Any]:
        return await _page(ctx, shown, said, status=status)

    async def continue_with(
        self, ctx: Context, said: PromptNotice, answer: RespondResult | None
    ) -> Response[Any] | Redirect:
        """The next item with a message about this one; before it the author's closing words, if there are some."""
        if answer and answer.closing_html:
            return await _close(ctx, said) if ctx.wants_fragment else go(f"{questions.URL}/{answer.survey}")
        if ctx.wants_fragment:
            return await _first(ctx, said)
        text = _with_receipt(said)
        return await done(ctx, URL, text, level=said.tone, sent=said.sent)


def _with_receipt(said: PromptNotice) -> str:
    return worded(words.WITH_RECEIPT, sentence=sentence(said.text), receipt=said.receipt) if said.receipt else said.text


async def _first(ctx: Context, said: PromptNotice) -> Response[str]:
    """The first open survey, and how many there are."""
    found = await asking.current(respondent_of(ctx), ctx, counting=not ctx.is_head)
    return await _page(ctx, _shown(found), said, open_now=found.open)


async def _close(ctx: Context, said: PromptNotice) -> Response[str]:
    """Shows the author's closing words. The next survey is not shown yet, so no impression is counted."""
    found = await asking.current(respondent_of(ctx), ctx, counting=False)
    waiting = found.item is not None
    return await page(
        ctx, "surveys/prompt.html", fragment="prompt", said=said, open_now=found.open, closing=True, waiting=waiting
    )


def _shown(found: Current) -> Shown | None:
    return Shown(found.item, found.number, found.total) if found.item else None


async def _page(
    ctx: Context, shown: Shown | None, said: PromptNotice, *, status: int = 200, open_now: int | None = None
) -> Response[str]:
    """`open_now` is None when it was not counted; then the number in the menu stays."""
    return await page(
        ctx, "surveys/prompt.html", fragment="prompt", status=status, shown=shown, said=said, open_now=open_now
    )


def _check_offered(ctx: Context) -> None:
    if not prompting.offered(ctx):
        raise ModuleUnavailable(words.SWITCHED_OFF)


ROUTES = [show, submit]
