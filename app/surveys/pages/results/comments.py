"""`/surveys/view/<uid>/comments`: what people wrote, with a search, and narrowed by their other answers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.surveys.pages.addresses import uid_of, version_asked_for
from app.surveys.pages.response_frame import reader
from app.surveys.results import comments, kinds, queries, responses
from app.surveys.results.comments import CommentSearch, FoundComments
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope
from app.texts import is_keepable_line, uuid_of, whole
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import LONGEST_FILTER
from app.web.pages import go, page
from app.web.templating import with_query

SEE = Requires("surveys.view", module="surveys")
LONGEST_NUMBER = 18
UNREADABLE = "The filter can't be read. Choose from the list. A search takes at most 200 plain characters."


@get("/surveys/view/{uid:str}/comments", guards=[SEE])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any] | Redirect:
    """The comments of an anonymous survey have no people and no time, so its results show them."""
    asked = version_asked_for(ctx)
    survey = await queries.survey(ctx.db, uid_of(uid), asked)
    version = asked or survey.version
    if survey.anonymity == "anonymous":
        return go(with_query(f"/surveys/results/{survey.uid}", {"version": version}))
    words, questions = responses.definition(survey, version)
    written = [one for one in questions if one.type == "free_text"]
    query = {name: str(ctx.request.query_params.get(name) or "").strip() for name in ("question", "by", "q", "before")}
    search = _search(query, questions, TallyScope(survey.id, version))
    read = reader(ctx)
    found = await comments.find(ctx.db, search, lambda row: read(row).texts) if search else FoundComments((), None)
    url = f"/surveys/view/{survey.uid}/comments"
    kept = {"version": version, **query}
    return await page(
        ctx,
        "surveys/comments.html",
        fragment="comments",
        survey=survey,
        words=words,
        version=version,
        query=query,
        problem="" if search else UNREADABLE,
        question_options=[{"value": str(one.key), "label": one.label} for one in written],
        answer_options=_answers(questions),
        comments=[_drawn(row, texts, questions) for row, texts in found.rows],
        older=with_query(url, kept, before=found.older) if found.older else "",
        newest=with_query(url, kept, before=None) if query["before"] else "",
        is_cut=found.is_cut,
        most=comments.MOST_READ,
        url=url,
        now=datetime.now(UTC),
    )


def _search(query: Mapping[str, str], questions: Sequence[AskedQuestion], scope: TallyScope) -> CommentSearch | None:
    """None when the address asks for something unknown. Then nothing is found, never more than asked."""
    key, by, text, before = (query[name] for name in ("question", "by", "q", "before"))
    question, number = uuid_of(key) if key else None, whole(before, LONGEST_NUMBER) if before else None
    known = {f"{one.key}/{choice}": (one.key, choice) for one in questions for choice in kinds.choices(one)}
    unreadable = (
        (key and question not in {one.key for one in questions if one.type == "free_text"})
        or (before and number is None)
        or (by and by not in known)
        or len(text) > LONGEST_FILTER
        or not is_keepable_line(text)
    )
    if unreadable:
        return None
    narrowed = TallyScope(scope.survey_id, scope.version, answer=known[by] if by else None)
    return CommentSearch(narrowed, question, text, number)


def _answers(questions: Sequence[AskedQuestion]) -> list[dict[str, Any]]:
    """Every choice of every question with choices."""
    return [
        {"value": f"{one.key}/{choice}", "label": f"{one.label}: {choice}"}
        for one in questions
        for choice in kinds.choices(one)
    ]


def _drawn(row: Any, texts: Mapping[str, str], questions: Sequence[AskedQuestion]) -> dict[str, Any]:
    labels = {str(one.key): one.label for one in questions}
    return {
        "texts": [(labels.get(key, ""), text) for key, text in texts.items()],
        "who": responses.name_of(row),
        "when": row.recorded_at,
        "receipt": row.row_hash.hex(),
    }


ROUTES = [show]
