"""`/surveys/view/<uid>`: one survey in full. Read-only: its definition, its figures, what people wrote,
and its own ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.charts import bars, columns
from app.charts.bars import BarHeads, BarRow
from app.charts.compared import PeriodPair, compare
from app.counting import percent
from app.db.days import utc_day
from app.errors import Invalid
from app.periods import PERIOD_OPTIONS
from app.surveys import showing
from app.surveys.authoring import audience, content
from app.surveys.pages.acts_allowed import limits
from app.surveys.pages.addresses import uid_of, version_asked_for
from app.surveys.pages.editing.gaps import called
from app.surveys.pages.overview import RESPONSE, SERIES, before_of, began_late, day_column
from app.surveys.pages.response_frame import drawn, reader
from app.surveys.pages.response_list import TABLES
from app.surveys.pages.results import anonymous, cards, rounds, split_tables
from app.surveys.pages.results.anonymous import AnonymousView
from app.surveys.question_types import QUESTION_TYPES
from app.surveys.results import kept_numbers, of_version, queries, responses, splits
from app.surveys.results.breakdowns import Results
from app.surveys.results.figures import RESPONDED, AskedQuestion, Counters, outcomes_of
from app.surveys.results.overview import stage
from app.surveys.results.queries import LedgerFilter
from app.surveys.results.tallies import TallyScope
from app.surveys.words import ANONYMITIES, ENFORCEMENTS, OUTCOMES, SHOWN_BY, SOURCES, SPLITS, STATUSES, TYPES
from app.web import list_page
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import EXPORTS, ExportKind, Filter, word_in_force
from app.web.pages import page
from app.web.templating import with_query

SEE = Requires("surveys.view", module="surveys")
# At most so many of the newest rows and comments are on the page; Responses has all.
ROWS, COMMENTS, DAYS = 10, 10, 28
MOST_TREND_DAYS = 62
SINCE = "this version has been asked since"
BY_OUTCOME = Filter(
    "outcome", "Outcome", lambda word: TallyScope(outcomes=(word,)).responses(), kind="select", options=OUTCOMES
)
BY_DAYS = Filter("", "Days", lambda days: TallyScope(days=days).responses(), kind="range")
# An anonymous survey has groups of its own.
_UNSPLIT = {"split_by": "", "split_problem": ""}
_WORDS: dict[str, Any] = {
    "types": TYPES,
    "enforcements": ENFORCEMENTS,
    "statuses": STATUSES,
    "anonymities": ANONYMITIES,
    "splits": SPLITS,
    "outcomes": OUTCOMES,
    "sources": SOURCES,
    "question_types": QUESTION_TYPES,
}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Which figures the address asks for. With `problem` they are empty: never wider than asked. `period` is the word
    of app.periods from which the days come, or ""."""

    version: int | None
    outcome: str | None
    days: tuple[date | None, date | None]
    problem: str
    period: str = ""

    @property
    def outcomes(self) -> tuple[str, ...] | None:
        if self.problem:
            return ()
        return (self.outcome,) if self.outcome else None

    @property
    def query(self) -> dict[str, Any]:
        first, last = self.days
        return {"outcome": self.outcome, "from": first, "to": last}

    @property
    def in_force(self) -> bool:
        return bool(self.problem or self.outcome or any(self.days))


@get("/surveys/view/{uid:str}", guards=[SEE])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    now = datetime.now(UTC)
    asked = narrowed(ctx, utc_day(now))
    survey = await queries.survey(ctx.db, uid_of(uid), asked.version)
    version = asked.version or survey.version
    words, questions = responses.definition(survey, version)
    scope = TallyScope(survey.id, version, asked.outcomes, asked.days)
    recent = await ctx.read_recent(partial(of_version.read, scope=scope, questions=questions))
    found = recent.found
    if found.due:
        await kept_numbers.request(ctx.db, survey.id, [version])
    rows = await queries.latest(ctx.db, LedgerFilter(scope), responses=ROWS, texts=COMMENTS)
    read = reader(ctx)
    shown = outcomes_of(questions, words.enforcement, found.counters)
    names = audience.named(survey.type_names, survey.tenant_names)
    since = _since(survey.begun_at, found)
    apart = await anonymous.view_of(ctx, survey, version, questions, names)
    linked = {"survey": survey.uid, "version": version, **asked.query}
    return await page(
        ctx,
        "surveys/view.html",
        fragment="figures",
        survey=survey,
        version=version,
        version_options=[_version(number, survey) for number in survey.versions or [survey.version]],
        words=words,
        message=content.sanitise(words.message).html,
        closing=content.sanitise(words.closing_html).html,
        questions=questions,
        notes={str(one.key): showing.notes(questions, one) for one in questions},
        asked=asked,
        found=found,
        as_of=recent.as_of,
        anonymous=apart,
        cards=apart.cards if apart else cards.drawn(found.questions, linked),
        comments=apart.comments if apart else comments(rows, read),
        rows=[drawn(row, read) for row in rows[:ROWS]],
        outcomes_shown=shown,
        outcome_options=[{"value": one, "label": OUTCOMES[one]} for one in shown],
        trend=_trend(
            found, {"survey": survey.uid, "version": version}, _trend_days(asked, found, utc_day(now)), since, shown
        ),
        said=_said(found, asked, since, utc_day(now)),
        periods=PERIOD_OPTIONS,
        funnel=funnel(
            found.counters, shown, with_query("/surveys/responses", {"survey": survey.uid, "version": version})
        ),
        may_edit=ctx.may("surveys.author") and not limits(survey.ceiling, survey.enforcement),
        names=names,
        languages=[called(tag) for tag in (survey.language, *(survey.translations or ()))],
        rounds=rounds.state(survey, await ctx.zone(), now),
        stage=stage(survey, now) if survey.status == "published" else "",
        now=now,
        **_ledger(survey.uid, version, asked, found.narrowed, apart),
        **(_UNSPLIT if apart else await _split(ctx, scope, questions, found.counters.responses, names.types)),
        **_WORDS,
    )


async def _split(
    ctx: Context, scope: TallyScope, questions: Sequence[AskedQuestion], responses: int, names: Mapping[str, str]
) -> dict[str, Any]:
    """The groups that the address asks for. An unknown word asks for none; a message says so."""
    offered = {key: label for key, label in SHOWN_BY.items() if key != "tenant" or ctx.on_platform}
    asked = str(ctx.request.query_params.get("split") or "")
    by = asked if asked in offered else ""
    found = await splits.read(ctx.db, scope, by, questions, responses=responses, now=datetime.now(UTC)) if by else None
    return {
        "split_by": by,
        "split_problem": "Choose from the list." if asked != by else "",
        "split_options": offered,
        "split_choices": [{"value": key, "label": label} for key, label in offered.items()],
        "split_known": found is not None,
        "split_tables": split_tables.tables(found, questions, split_tables.names_of(found, by, names)) if found else [],
        "counted_at": found.counted_at if found else None,
        "counted_to_now": found is not None and found.to_now,
        "most_live": splits.MOST_LIVE,
    }


def _ledger(uid: UUID, version: int, asked: Narrowed, rows: int, apart: AnonymousView | None) -> dict[str, Any]:
    """The rows behind the figures, as a list and as files; for an anonymous survey, they say who took part."""
    query = {"survey": uid, "version": version, **asked.query}
    note = list_page.too_long(rows)

    def urls(kinds: Sequence[ExportKind]) -> list[tuple[str, str]]:
        return [
            (one.label, with_query("/surveys/responses", query, **one.query)) for one in list_page.offered(kinds, rows)
        ]

    if apart:
        exports = {"Who took part": urls(EXPORTS)} | anonymous.exports_of(apart)
        return {"ledger": with_query("/surveys/responses", query), "exports": exports, "too_long": note}
    exports = {"A row per response, a column per question": urls(TABLES), "As the list shows them": urls(EXPORTS)}
    return {"ledger": with_query("/surveys/responses", query), "exports": exports, "too_long": note}


def narrowed(ctx: Context, today: date) -> Narrowed:
    """`today` is the UTC day from which words such as "last week" count. Raises NotFound for an impossible version."""
    query, version = ctx.request.query_params, version_asked_for(ctx)
    try:
        return Narrowed(
            version,
            BY_OUTCOME.read(query),
            BY_DAYS.read(query, today) or (None, None),
            "",
            word_in_force(BY_DAYS, query),
        )
    except Invalid as wrong:
        return Narrowed(version, None, (None, None), wrong.message)


def comments(rows: Sequence[Any], read: Any) -> dict[str, list[dict[str, Any]]]:
    """The newest texts by question id, without those of erased people."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for one in responses.answers(row, read(row)):
            said = found.setdefault(one.question, [])
            if one.is_text and one.value is not None and len(said) < COMMENTS:
                said.append(
                    {
                        "text": one.value,
                        "who": responses.name_of(row),
                        "when": row.recorded_at,
                        "receipt": row.row_hash.hex(),
                    }
                )
    return found


def _version(number: int, survey: Any) -> dict[str, Any]:
    return {"value": number, "label": f"{number}, current" if number == survey.version else str(number)}


OF_RESPONDED = "&".join(f"outcome={one}" for one in RESPONDED)


def funnel(counted: Counters, shown: Sequence[str], rows: str) -> bars.BarChart:
    """From who was asked to who answered, each a share of those asked; `rows` is the address of the responses."""
    steps = [
        BarRow("Asked", counted.asked, tone="mute"),
        BarRow("Shown at least once", counted.impressed, tone="info"),
        BarRow("Responded", counted.responded, url=f"{rows}&{OF_RESPONDED}", tone="ok"),
        BarRow("Opted out", counted.opted_out, url=f"{rows}&outcome=opted_out", tone="mute"),
    ]
    drawn = [
        replace(one, percent=percent(one.value, counted.asked), url=one.url if one.value else None)
        for one in steps
        if one.label != "Opted out" or "opted_out" in shown
    ]
    return bars.distribution(drawn, BarHeads("Step", "People"), title="From asked to answered")


def _trend_days(asked: Narrowed, found: Results, today: date) -> PeriodPair:
    """The chosen days, if there is room for a column each; otherwise the four weeks until the last response, or until
    today."""
    first, last = asked.days
    if first and last and (last - first).days < MOST_TREND_DAYS:
        return PeriodPair(first, last, today)
    last = min(today, max(found.days, default=today))
    return PeriodPair(last - timedelta(days=DAYS - 1), last, today)


def _trend(
    found: Results, query: Mapping[str, Any], pair: PeriodPair, since: date | None, shown: Sequence[str]
) -> columns.ColumnChart:
    unknown = began_late(pair, since, SINCE)
    by_day = {day: sum(outcomes.values()) for day, outcomes in found.days.items()}
    every = [pair.first + timedelta(days=n) for n in range(pair.length)]
    drawn = [
        day_column(day, found.days.get(day, {}), query, pair.today, shown, before=before_of(by_day, day, pair, unknown))
        for day in every
    ]
    series = [part for outcome, part in zip(OUTCOMES, SERIES, strict=True) if outcome in shown]
    said = compare(pair, by_day, RESPONSE, unknown=unknown)
    return columns.day_columns(drawn, series, title="Responses per day by outcome", unit="Responses a day", said=said)


def _since(begun_at: datetime | None, found: Results) -> date | None:
    """The day of a version's first publish or first response; None before both."""
    begun = {utc_day(begun_at)} if begun_at else set()
    return min({*begun, *found.days}, default=None)


def _said(found: Results, asked: Narrowed, since: date | None, today: date) -> str:
    """Compares the responses of the chosen days and outcome with the days before; "" unless days with two ends are
    chosen."""
    first, last = asked.days
    if first is None or last is None:
        return ""
    pair = PeriodPair(first, last, today)
    outcomes = asked.outcomes or tuple(OUTCOMES)
    by_day = {day: sum(those.get(one, 0) for one in outcomes) for day, those in found.days.items()}
    return compare(pair, by_day, RESPONSE, unknown=began_late(pair, since, SINCE))


ROUTES = [show]
