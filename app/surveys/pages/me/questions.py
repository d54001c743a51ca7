"""`/me/questions`: every survey that the person may answer now, without pacing, and each on a page of its own. After an
answer, that page says what was recorded. Nothing here counts an impression."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.errors import NotFound
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import open_surveys, pacing
from app.surveys.asking.responding import RespondResult
from app.surveys.asking.situations import Met
from app.surveys.ledger import append as ledger
from app.surveys.ledger.errors import SurveyNotFound
from app.surveys.mine import reading
from app.surveys.pages import prompt_form
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.me import answering, words
from app.surveys.pages.me.answering import PromptNotice, Shown
from app.texts import uuid_of, whole
from app.web.context import Context
from app.web.drafts import carrying
from app.web.drafts.carrying import RequiresOrCarries
from app.web.guards import Requires
from app.web.pages import done, go, page
from app.web.templating import with_query

URL = "/me/questions"
PER_PAGE = 50
_LAST_PAGE_DIGITS = 6
EVERYBODY = Requires(None, module="surveys")


def page_of(form: FormMultiDict) -> str:
    """The page with the form that was answered, "" for a form that is not ours."""
    uid = uuid_of(str(form.get("survey", "")))
    return f"{URL}/{uid}" if uid else ""


WRITING = RequiresOrCarries(page_of, module="surveys")


@get(URL, guards=[EVERYBODY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    number = max(1, whole(ctx.request.query_params.get("page", ""), _LAST_PAGE_DIGITS) or 1)
    who = respondent_of(ctx)
    found = await open_surveys.look_over(who, ctx, (number - 1) * PER_PAGE, PER_PAGE)
    return await page(
        ctx,
        "surveys/questions.html",
        items=found.items,
        total=found.total,
        lang=ctx.asked_lang,
        number=number,
        pages=-(-found.total // PER_PAGE),
    )


@get(f"{URL}/{{uid:str}}", guards=[EVERYBODY])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    """Raises NotFound for a survey that this person may not answer now and has not answered."""
    met = await _met(ctx, uid_of(uid))
    verdict = pacing.judge(
        met.situation.offer, met.situation.state, respondent_of(ctx).caller, datetime.now(UTC), pacing.Gap()
    )
    if verdict.answerable:
        await _note(ctx, met)
        return await _filled_in(ctx, met)
    if verdict.reason == "done":
        return await _recorded(ctx, met)
    raise NotFound(words.NOT_OPEN)


@post(f"{URL}/{{uid:str}}", guards=[WRITING], status_code=200)
async def submit(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any] | Redirect:
    return await answering.take(ctx, _OwnPage(uid_of(uid)))


class _OwnPage:
    """The page of one survey."""

    def __init__(self, uid: UUID) -> None:
        self.uid = uid

    async def draw(self, ctx: Context, shown: Shown, said: PromptNotice, status: int) -> Response[Any]:
        return await _form(ctx, shown, said, status=status)

    async def continue_with(
        self, ctx: Context, said: PromptNotice, answer: RespondResult | None
    ) -> Response[Any] | Redirect:
        """After an answer the same address says what was recorded."""
        if answer is not None and answer.outcome is not None:
            await carrying.let_go(ctx)
            return go(_with_language(ctx, f"{URL}/{self.uid}"))
        return await done(ctx, _with_language(ctx, URL), said.text, level=said.tone)


def _with_language(ctx: Context, url: str) -> str:
    return with_query(url, {"lang": ctx.asked_lang})


async def _met(ctx: Context, uid: UUID) -> Met:
    try:
        return await answering.met(ctx, uid)
    except SurveyNotFound:
        raise NotFound(words.NOT_OPEN) from None


async def _note(ctx: Context, met: Met) -> None:
    """Notes that it came to the person, which is not an impression."""
    if ctx.is_head:
        return
    async with ctx.inside(met.situation.offer.workspace) as db:
        await open_surveys.note_handed_out(db, respondent_of(ctx), [met.situation], datetime.now(UTC))


async def _filled_in(ctx: Context, met: Met) -> Response[str]:
    """The form, with what this person typed into it before they signed in again."""
    carried = await carrying.waiting(ctx, f"{URL}/{met.item.survey}")
    if carried is None:
        return await _form(ctx, Shown(met.item), PromptNotice())
    given = prompt_form.fitting(prompt_form.kept(carried.fields), met.item)
    return await _form(ctx, Shown(met.item, given=given), PromptNotice(words.BACK, "info"))


async def _form(ctx: Context, shown: Shown, said: PromptNotice, *, status: int = 200) -> Response[str]:
    action = _with_language(ctx, f"{URL}/{shown.item.survey}")
    home = _with_language(ctx, URL)
    return await page(
        ctx, "surveys/question_page.html", status=status, shown=shown, said=said, action=action, home=home
    )


async def _recorded(ctx: Context, met: Met) -> Response[str]:
    """What the ledger has of this person and version, the receipt, and the author's closing words."""
    async with ctx.inside(met.situation.offer.workspace) as db:
        row = await ledger.recorded(db, ctx.parts.keys, met.situation.id, met.item.version, ctx.user.id)
        if row is None:
            raise NotFound(words.NOT_OPEN)
        mine = await reading.one(db, respondent_of(ctx), ctx.parts.keys, bytes.fromhex(row.receipt))
    more = await open_surveys.count(respondent_of(ctx), ctx)
    standing = mine.standing if mine else row.outcome
    return await page(
        ctx,
        "surveys/question_recorded.html",
        item=met.item,
        home=_with_language(ctx, URL),
        row=row,
        sentence=words.THANKS[standing],
        closing_html="" if standing in ("opted_out", "withdrawn") else met.item.closing_html,
        open_now=more.open,
    )


ROUTES = [index, show, submit]
