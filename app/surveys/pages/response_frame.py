"""One request for the ledger's list: what it asks for, and its rows as they are shown and exported.

The fast queries are in app.surveys.results.queries, columns and filters in response_list.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Select, and_, false, func, or_, select
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from app.accounts.models import User
from app.periods import today_in
from app.surveys.models import Question, Survey
from app.surveys.pages.response_list import COLUMNS, FILTERS, SPEC, TABLES, key_of, named, number_of, tag_in
from app.surveys.results import queries, responses
from app.surveys.results.queries import MOST_COUNTED, MOST_PEOPLE, LedgerFilter
from app.surveys.results.responses import Opened
from app.surveys.results.tallies import TallyScope
from app.web import lists
from app.web.context import Context
from app.web.list_page import ListPage, ListQuery
from app.web.list_spec import ListSpec, Query

# With more surveys than this there is no choice of surveys; the one in the address is always offered.
MOST_CHOICES = 300


@dataclass(frozen=True, slots=True)
class ResponseListFrame:
    """What a request for the list needs to know before it reads rows; one SELECT. `people` is None when no person is
    chosen."""

    spec: ListSpec
    wanted: ListQuery
    survey_id: int | None
    people: tuple[int, ...] | None

    @property
    def survey(self) -> UUID | None:
        chosen = self.wanted.values.get("survey")
        return UUID(chosen) if chosen else None

    def ledger_filter(self) -> LedgerFilter:
        values = self.wanted.values
        question = values["question"]
        scope = TallyScope(
            survey_id=(self.survey_id or -1) if values["survey"] else None,
            version=number_of(values["version"]) if values["version"] else None,
            outcomes=tuple(values["outcome"]) if values["outcome"] else None,
            days=values[""] or (None, None),
            current=bool(values["current"]),
            answer=(key_of(question), values["choice"] or "") if question else None,
        )
        return LedgerFilter(scope, self.people, tag_in(values["language"]) if values["language"] else None)


async def frame(ctx: Context) -> ResponseListFrame:
    """Reads the surveys to choose from, the people that a search means, and the names on the chips."""
    query = ctx.request.query_params
    uid, user = key_of(str(query.get("survey") or "")), number_of(str(query.get("user") or ""))
    question, choice = key_of(str(query.get("question") or "")), str(query.get("choice") or "")
    searched = _searched(query)
    row = (await ctx.db.execute(_around(uid, searched, user, question))).one()
    spec = _spec(ctx, question, choice, of_one=uid.int != 0).offering(
        survey=dict(row.surveys or []),
        user={str(user): row.person or "not known"},
        question={str(question): row.question or "a question"},
    )
    wanted = lists.asked(spec, query)
    people = tuple(row.people) if searched else None
    if people is not None and len(people) > MOST_PEOPLE:
        wanted.errors["q"] = f"More than {MOST_PEOPLE:,} people match; type more of the name."
    if wanted.values.get("user"):
        people = tuple({user}.intersection(people)) if people is not None else (user,)
    return ResponseListFrame(spec, wanted, row.survey_id, people)


def _searched(query: Query) -> str | None:
    """The text of the search; None when there is none, or when it can't be read, which the list says."""
    text: str | None = lists.asked(replace(SPEC, filters=FILTERS[:1]), query).values.get("q")
    return text


def _spec(ctx: Context, question: UUID, choice: str, *, of_one: bool) -> ListSpec:
    """A choice belongs to the question beside it. `of_one`: the list of one survey, which has a table too."""
    answered = {
        "question": lambda _: TallyScope(answer=(question, "")).responses(),
        "choice": lambda _: TallyScope(answer=(question, choice)).responses(),
    }
    filters = tuple(replace(one, where=answered.get(one.name, one.where)) for one in FILTERS)
    columns = tuple(one for one in COLUMNS if one.key != "workspace" or ctx.on_platform)
    kinds = (*SPEC.exports, *TABLES) if of_one else SPEC.exports
    return replace(SPEC, filters=filters, columns=columns, today=today_in("UTC"), exports=kinds)


def _around(uid: UUID, searched: str | None, user: int, question: UUID) -> Select[Any]:
    some = (
        select(Survey.uid, Survey.title, Survey.id)
        .where(or_(and_(Survey.deleted_at.is_(None), Survey.status != "draft"), Survey.uid == uid))
        .order_by((Survey.uid == uid).desc(), Survey.id.desc())
        .limit(MOST_CHOICES)
        .subquery()
    )
    surveys = select(func.json_agg(aggregate_order_by(func.json_build_array(some.c.uid, some.c.title), some.c.title)))
    people = named(searched or "").limit(MOST_PEOPLE + 1) if searched else select(User.id).where(false())
    return select(
        surveys.scalar_subquery().label("surveys"),
        func.array(people.scalar_subquery(), type_=ARRAY(BigInteger)).label("people"),
        select(Question.label).where(Question.key == question).scalar_subquery().label("question"),
        select(User.name).where(User.id == user).scalar_subquery().label("person"),
        select(Survey.id).where(Survey.uid == uid).scalar_subquery().label("survey_id"),
    )


async def load(ctx: Context, framed: ResponseListFrame) -> ListPage:
    """One page of the list: one SELECT for the total, one for the rows, at any depth."""
    wanted = framed.wanted
    if wanted.errors:
        return lists.listing(ctx, framed.spec, wanted, [], 0)
    narrowed = framed.ledger_filter()
    found = await queries.counted(ctx.db, narrowed)
    wanted.stay_within(found.total)
    rows = await queries.located(
        ctx.db,
        narrowed,
        found,
        newest_first=wanted.sort.startswith("-"),
        offset=wanted.offset,
        rows=wanted.per_page,
    )
    read = reader(ctx)
    view = lists.listing(ctx, framed.spec, wanted, [drawn(row, read) for row in rows], found.total)
    if not narrowed.has_tallies and found.total == MOST_COUNTED:
        view.total_note = "or more: the newest are listed"
    return view


def reader(ctx: Context) -> Callable[[Any], Opened]:
    """Opens the evidence of a row once, for all columns that need it."""
    last: dict[int, Opened] = {}

    def opened(row: Any) -> Opened:
        if row.number not in last:
            last.clear()
            last[row.number] = responses.opened(ctx.parts.keys, ctx.workspace, row)
        return last[row.number]

    return opened


def drawn(row: Any, read: Callable[[Any], Opened]) -> dict[str, Any]:
    """A row as the templates show it."""
    found = read(row)
    return {
        "number": row.number,
        "receipt": row.row_hash.hex(),
        "when": row.recorded_at,
        "erased": row.erased_at is not None,
        "who": responses.name_of(row),
        "email": None if row.erased_at else row.email,
        "user_id": row.user_id,
        "workspace": row.workspace,
        "workspace_name": row.workspace_name,
        "survey": row.survey,
        "title": row.title,
        "version": row.version,
        "outcome": row.outcome,
        "language": row.language,
        "source": row.source,
        "shown": responses.shown_of(row),
        "flags": found.flags,
        "ip": found.ip,
        "browser": found.browser,
        "answers": " · ".join(responses.short(one) for one in responses.answers(row, found)),
    }


def exported(ctx: Context, framed: ResponseListFrame, words: responses.Labels, kind: str) -> ListSpec:
    """The list's columns for an export: people, evidence and answers are opened row by row; answers in words, except in
    JSON Lines."""
    read = reader(ctx)

    def answers(row: Any) -> Any:
        said = responses.labelled(row, read(row), words)
        return (
            "; ".join(f"{one['label']}: {responses.plain(one['value'])}" for one in said) if kind != "jsonl" else said
        )

    values: dict[str, Callable[[Any], Any]] = {
        "answers": answers,
        "evidence": lambda row: read(row).flags,
        "ip": lambda row: read(row).ip,
        "browser": lambda row: read(row).browser,
    }
    columns = tuple(replace(one, value=values.get(one.key, one.value)) for one in framed.spec.columns)
    return replace(framed.spec, columns=columns)
