"""`/surveys/responses`: the ledger, row by row, and one response in full."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts.audit import COMMAND_LINE
from app.errors import NotFound
from app.surveys.authoring import content
from app.surveys.ledger import chain, verifying
from app.surveys.pages import response_frame
from app.surveys.pages.results import response_table
from app.surveys.question_types import QUESTION_TYPES
from app.surveys.results import queries, responses, table, worded
from app.surveys.results.tallies import TallyScope
from app.surveys.words import CHANGES, ENFORCEMENTS, OUTCOMES, SHOWN, SOURCES, TYPES
from app.web import exports
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page

SEE = Requires("surveys.view", module="surveys")
# Only the newest are shown: a person may withdraw and agree again for years.
MOST_CHANGES = 20
# Outcomes of people who saw the questions one after the other.
CARRIED = ("answered", "agreed")


@get("/surveys/responses", guards=[SEE])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    framed = await response_frame.frame(ctx)
    if kind := exports.asked_for(ctx):
        if response_table.is_asked_for(ctx):
            return await exports.export(ctx, await response_table.spec_of(ctx, framed), table.ROWS, kind)
        words = await queries.labels(ctx.db, framed.survey)
        base = queries.ROWS.where(TallyScope().responses())
        return await exports.export(ctx, response_frame.exported(ctx, framed, words, kind), base, kind)
    view = await response_frame.load(ctx, framed)
    return await page(
        ctx, "surveys/responses.html", fragment="list", view=view, outcomes=OUTCOMES, sources=SOURCES, shown=SHOWN
    )


@get("/surveys/response_modal/{receipt:str}", guards=[SEE])
async def show(ctx: NamedDependency[Context], receipt: FromPath[str]) -> Response[Any]:
    if not chain.RECEIPT.fullmatch(receipt):
        raise NotFound("There is no such response.")
    row = await queries.response(ctx.db, bytes.fromhex(receipt))
    found = responses.opened(ctx.parts.keys, ctx.workspace, row)
    read = responses.as_read(row, found)
    words, questions, answers = read.words, read.questions, read.answers
    values = {key: one.value for key, one in answers.items()}
    return await page(
        ctx,
        "surveys/response_modal.html",
        fragment="dialog",
        row=row,
        who=responses.name_of(row),
        evidence=found,
        recorded_at=chain.instant(row.recorded_at),
        words=words,
        language=read.language,
        # Sanitised when it was written, and again here, because it was stored for years.
        message=content.sanitise(words.message).html,
        closing=content.sanitise(words.closing_html).html,
        questions=questions,
        answers=answers,
        told={str(one.key): worded.told(one, values.get(str(one.key))) for one in questions},
        hidden=worded.hidden(questions, values) if row.recorded_outcome in CARRIED else (),
        verified=await verifying.verified(ctx.db, row.number),
        history=await _history(ctx, row),
        receipt=receipt,
        command_line=COMMAND_LINE.name,
        outcomes=OUTCOMES,
        changes=CHANGES,
        sources=SOURCES,
        shown=SHOWN[responses.shown_of(row)],
        types=TYPES,
        enforcements=ENFORCEMENTS,
        question_types=QUESTION_TYPES,
    )


async def _history(ctx: Context, row: Any) -> list[dict[str, Any]]:
    """The changes of an agreement since, oldest first."""
    if row.recorded_outcome != "agreed":
        return []
    return [
        {
            "kind": one.kind,
            "recorded_at": one.recorded_at,
            "source": one.source,
            "number": one.number,
            "receipt": one.row_hash.hex(),
            "evidence": responses.opened_change(ctx.parts.keys, ctx.workspace, one),
            "verified": await verifying.verified_change(ctx.db, one.number),
        }
        for one in await queries.changes(ctx.db, row.number, MOST_CHANGES)
    ]


ROUTES = [index, show]
