"""The results of an anonymous version on a survey's page, and `/surveys/results/<uid>`: every answer with its group and
its number of people, as a list and as a file. Nothing here leads to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Text, cast, func, literal
from sqlalchemy.dialects.postgresql import ARRAY

from app.db.searching import contains
from app.errors import NotFound
from app.surveys.anonymous.models import AnonymousResult
from app.surveys.authoring import audience
from app.surveys.pages.addresses import uid_of, version_asked_for
from app.surveys.pages.results import cards, split_tables
from app.surveys.pages.results.cards import QuestionCard
from app.surveys.pages.results.split_tables import SplitTable
from app.surveys.results import anonymous, queries, responses
from app.surveys.results.anonymous import AnonymousOutcome
from app.surveys.results.figures import AskedQuestion
from app.surveys.words import SPLITS, Names
from app.web import exports, list_page, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import EXPORTS, Column, Empty, Filter, ListSpec
from app.web.pages import page
from app.web.templating import with_query

SEE = Requires("surveys.view", module="surveys")
URL = "/surveys/results"
FEWEST_TOLD = "five"


@dataclass(frozen=True, slots=True)
class AnonymousView:
    """What a survey's page shows of an anonymous version. `split_label` names the kind of its groups, "" without
    groups."""

    outcome: AnonymousOutcome
    cards: Sequence[QuestionCard]
    comments: Mapping[str, list[dict[str, Any]]]
    tables: Sequence[SplitTable]
    split_label: str
    url: str
    version: int


async def view_of(
    ctx: Context, survey: Any, version: int, questions: Sequence[AskedQuestion], names: Names
) -> AnonymousView | None:
    """None for a survey that is not anonymous."""
    if survey.anonymity != "anonymous":
        return None
    outcome = await anonymous.read(ctx.db, survey.id, version, questions)
    url = f"{URL}/{survey.uid}"
    if not outcome.is_shown:
        return AnonymousView(outcome, (), {}, (), "", url, version)
    called = outcome.group_names(anonymous.names_of(survey.split, names))
    has_groups = anonymous.is_split(questions, survey.split)
    return AnonymousView(
        outcome,
        cards.drawn(outcome.breakdowns(questions), None),
        {str(key): [{"text": text, "people": people} for text, people in said] for key, said in outcome.texts.items()},
        split_tables.of_questions(outcome.split(), questions, called) if has_groups else (),
        SPLITS[survey.split] if has_groups else "",
        url,
        version,
    )


def exports_of(view: AnonymousView) -> dict[str, list[tuple[str, str]]]:
    """Files of the results, if there are some, by what they contain."""
    if not view.outcome.is_shown:
        return {}
    kinds = list_page.offered(EXPORTS, view.outcome.answers)
    links = [(one.label, with_query(view.url, {"version": view.version, **one.query})) for one in kinds]
    return {"Results: question, group, value, people": links}


@get(f"{URL}/{{uid:str}}", guards=[SEE])
async def index(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    """Raises NotFound for a survey that is not anonymous; its responses have a list of their own."""
    asked = version_asked_for(ctx)
    survey = await queries.survey(ctx.db, uid_of(uid), asked)
    if survey.anonymity != "anonymous":
        raise NotFound("Only an anonymous survey has such a list. A named one has Responses.")
    version = asked or survey.version
    words, questions = responses.definition(survey, version)
    names = anonymous.names_of(survey.split, audience.named(survey.type_names, survey.tenant_names))
    spec, base = (
        _spec(survey, version, questions, names),
        anonymous.listed(survey.id, version, [one.key for one in questions]),
    )
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, base, kind)
    view = await lists.load(ctx, spec, base)
    return await page(
        ctx,
        "surveys/results.html",
        fragment="list",
        view=view,
        survey=survey,
        words=words,
        version=version,
        labels={one.key: one.label for one in questions},
        group_name=lambda row: anonymous.group_name(row, names),
        told=anonymous.told,
    )


def _spec(survey: Any, version: int, questions: Sequence[AskedQuestion], names: Mapping[str, str]) -> ListSpec:
    labels = {one.key: one.label for one in questions}
    place: ColumnElement[int] = func.array_position(
        literal([str(one.key) for one in questions], ARRAY(Text)), cast(AnonymousResult.question_key, Text)
    )
    keys = {str(one.key): one.label for one in questions}
    return ListSpec(
        name="survey-results",
        label="answers",
        url=f"{URL}/{survey.uid}",
        columns=(
            Column("question", "Question", lambda row: labels[row.question_key], place, titles=True),
            Column("group", "Group", lambda row: anonymous.group_name(row, names), AnonymousResult.grouped),
            Column("value", "Value", lambda row: anonymous.told(row.choice), AnonymousResult.choice),
            Column("people", "People", lambda row: row.people, AnonymousResult.people, numeric=True),
            Column("answered", "Answered it", lambda row: row.answered, shown=False, numeric=True),
        ),
        filters=(
            Filter("q", "Search", contains(AnonymousResult.choice), placeholder="In the answers"),
            Filter(
                "question",
                "Question",
                lambda key: cast(AnonymousResult.question_key, Text) == key,
                kind="select",
                options=keys,
            ),
            Filter("version", "Version", lambda _: literal(True), kind="select", options=_versions(survey, version)),
        ),
        key=AnonymousResult.id,
        sort="question",
        empty=Empty(
            "clipboard-list",
            "No results",
            f"They appear when the version is over, if at least {FEWEST_TOLD} people answered.",
            f"/surveys/view/{survey.uid}",
            "Open the survey",
        ),
    )


def _versions(survey: Any, version: int) -> dict[str, str]:
    return {str(one): f"Version {one}" for one in survey.versions or [version]}


ROUTES = [index]
