"""The table of one survey's responses as a list that app.web.exports writes:
the filters of Responses, a column for each question."""

from dataclasses import replace
from operator import itemgetter

from app.errors import Invalid, NotFound
from app.secrets import KeyRing
from app.surveys.models import Response
from app.surveys.pages.response_frame import ResponseListFrame
from app.surveys.pages.response_list import LONGEST_VERSION
from app.surveys.results import table
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.table import RECORDED_AT
from app.texts import whole
from app.web.context import Context
from app.web.list_spec import Column, ListSpec

NAME = "survey-responses"


def is_asked_for(ctx: Context) -> bool:
    """Raises Invalid for an unknown shape."""
    shape = ctx.request.query_params.get("shape")
    if shape not in (None, "", "table"):
        raise Invalid("The shape of an export is table, or left out.")
    return shape == "table"


async def spec_of(ctx: Context, framed: ResponseListFrame) -> ListSpec:
    """Raises Invalid without a survey, because the table has its questions as columns, and NotFound for an unknown
    survey."""
    if framed.survey_id is None and ctx.request.query_params.get("survey"):
        raise NotFound("There is no such survey.")
    if framed.survey is None:
        raise Invalid("Choose a survey first: a table has a column for each of its questions.")
    given = framed.wanted.values.get("version")
    version = (whole(given, LONGEST_VERSION) or -1) if given else None
    questions = await table.asked_of_people(ctx.db, framed.survey, version)
    return listed(framed.spec, questions, ctx.parts.keys, ctx.workspace, on_platform=ctx.on_platform)


def listed(
    spec: ListSpec, questions: tuple[AskedQuestion, ...], keys: KeyRing, workspace: str, *, on_platform: bool
) -> ListSpec:
    """`spec` with the columns of the table, oldest response first."""
    made = table.of(questions, keys, workspace, on_platform=on_platform)
    columns = tuple(
        Column(one.key, one.label, itemgetter(place), Response.recorded_at if one.key == RECORDED_AT else None)
        for place, one in enumerate(made.columns)
    )
    return replace(spec, name=NAME, columns=columns, sort=RECORDED_AT, cells=made.cells)
