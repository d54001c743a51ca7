"""`/me/answers`: what the person answered, each on a page of its own that can be printed; withdrawing an agreement and
giving it again; and all answers as a file. Only the person sees them."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.surveys.api.mine import row_of
from app.surveys.api.respondent import respondent_of
from app.surveys.authoring import content
from app.surveys.mine import reading, records, withdrawing, words
from app.surveys.mine.reading import MyAnswer
from app.surveys.mine.withdrawing import ChangeNotAllowed, ChangeResult
from app.surveys.pages.me import told
from app.surveys.results import worded
from app.texts import instant, whole
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, page

URL = "/me/answers"
PER_PAGE = 25
# How many answers the file reads at a time.
BATCH = 100
FORMAT = "muster.my-answers/1"
_LAST_PAGE_DIGITS = 6
EVERYBODY = Requires(None, module="surveys")


@get(URL, guards=[EVERYBODY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    number = max(1, whole(ctx.request.query_params.get("page", ""), _LAST_PAGE_DIGITS) or 1)
    offset = (number - 1) * PER_PAGE
    found, total = await reading.answers_of(respondent_of(ctx), ctx, offset=offset, rows=PER_PAGE)
    return await page(
        ctx,
        "surveys/my_answers.html",
        answers=found,
        total=total,
        number=number,
        pages=-(-total // PER_PAGE),
        standings=words.STANDINGS,
        ways=words.WAYS,
    )


@get(f"{URL}/download", guards=[EVERYBODY])
async def download(ctx: NamedDependency[Context]) -> Response[bytes]:
    every = [_told(one) async for one in _every(ctx)]
    document = {
        "format": FORMAT,
        "made_at": instant(datetime.now(UTC)),
        "person": {"name": ctx.user.name, "email": ctx.user.email},
        "answers": every,
    }
    text = msgspec.json.format(msgspec.json.encode(document), indent=2)
    headers = {"Content-Disposition": 'attachment; filename="my-answers.json"'}
    return Response(text, media_type="application/json", headers=headers)


@get(f"{URL}/{{receipt:str}}", guards=[EVERYBODY])
async def show(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Response[Any]:
    one = await reading.find(respondent_of(ctx), ctx, withdrawing.bytes_of(receipt))
    return await page(
        ctx,
        "surveys/my_answer.html",
        one=one,
        # Sanitised when it was written, and again here, because it was stored for years.
        message=content.sanitise(one.words.message).html,
        values={
            str(asked.key): told.in_words(ctx.speech, asked, one.answers[str(asked.key)].value)
            for asked in one.questions
            if str(asked.key) in one.answers
        },
        hidden=worded.hidden(one.questions, {key: answer.value for key, answer in one.answers.items()}),
        standings=words.STANDINGS,
        changes=words.CHANGES,
        ways=words.WAYS,
        why_not=words.WHY_NOT.get(one.why_not or ""),
        download=f"{URL}/download",
    )


@post(f"{URL}/{{receipt:str}}/withdraw", guards=[EVERYBODY])
async def withdraw(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Redirect:
    return await _changed(ctx, receipt, withdrawing.withdraw, "withdrawn")


@post(f"{URL}/{{receipt:str}}/agree", guards=[EVERYBODY])
async def agree(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Redirect:
    return await _changed(ctx, receipt, withdrawing.agree_again, "agreed_again")


async def _changed(ctx: Context, receipt: str, act: Any, kind: str) -> Redirect:
    """Leads back to the answer, and says what happened to it. Raises NotFound."""
    url, said, level = f"{URL}/{receipt}", words.SAID[kind], "success"
    try:
        changed: ChangeResult = await act(respondent_of(ctx), ctx, receipt, "web")
        if changed.status == "already_recorded":
            said = words.SAID_ALREADY
    except ChangeNotAllowed as refused:
        said, level = refused.message, "warning"
    await ctx.reopen()
    return await done(ctx, url, said, level=level)


async def _every(ctx: Context) -> Any:
    offset = 0
    while True:
        found, total = await reading.answers_of(respondent_of(ctx), ctx, offset=offset, rows=BATCH)
        for one in found:
            yield one
        offset += BATCH
        if offset >= total:
            return


def _told(one: MyAnswer) -> dict[str, Any]:
    """As the API shows it, and as a consent record if it is a decision."""
    row: dict[str, Any] = msgspec.to_builtins(row_of(one))
    if record := records.consent_record(one):
        row["consent_record"] = record
    return row


ROUTES = [index, download, show, withdraw, agree]
