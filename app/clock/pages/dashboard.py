"""`/clock`: is the mirror healthy, how far is it complete, and what needs a person."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency

from app.charts import bars, columns
from app.charts.bars import BarHeads, BarRow, StatePart
from app.charts.columns import DayColumn, Series
from app.charts.compared import Noun, PeriodPair, compare
from app.clock import failure_words, zones
from app.clock.codes import BINDING_STATES, BindingState
from app.clock.connection import saved as connection
from app.clock.figures import completeness, dashboard, earlier
from app.clock.figures import status as status_figures
from app.clock.figures.dashboard import BAR_DAYS, GROUPS, PERSON_DAYS, DayBar, Punches
from app.clock.mirror import cursors, set_aside
from app.clock.outcomes import GROUP_LABELS, OUTCOMES, Outcome
from app.clock.pages import health, setup
from app.clock.pages.sync.run_words import STATUS_LABELS
from app.clock.punches import changes
from app.clock.sync import run_rows, when_due
from app.dates import PageZone, day_words
from app.host.pages.problems import top as top_of_problems
from app.web.context import Context
from app.web.formats import ago, instant, number
from app.web.guards import Requires
from app.web.long_acts import known
from app.web.pages import page
from app.web.templating import with_query

PUNCHES, PEOPLE = "/clock_transactions", "/clock_employees"
TONES = {"good": "ok", "waiting": "info", "needs_person": "warn", "not_counted": "mute"}
SERIES = [Series(GROUP_LABELS[group], TONES[group]) for group in GROUPS]
STATE_ORDER = (
    BindingState.BOUND,
    BindingState.AUTO_MATCHED,
    BindingState.SUGGESTED,
    BindingState.CONFLICT,
    BindingState.NOT_FOUND,
    BindingState.UNBOUND,
    BindingState.MISSING_REMOTE,
    BindingState.DISABLED,
    BindingState.IGNORED,
)


@get("/clock", guards=[Requires("clock.dashboard", module="clock")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if first := await setup.way_in(ctx, "Dashboard"):
        return first
    now = datetime.now(UTC)
    found = await connection.required(ctx.db)
    ctx.tell_times_in(found.timezone)
    today = zones.zone_day(found, now)
    punches = await dashboard.punches(ctx.db, today)
    up_to, held_back_by = await completeness.complete_up_to(ctx.db, now)
    last = await dashboard.last_run(ctx.db)
    state = health.of(found, now)
    read = await cursors.read_all(ctx.db)
    aside = set_aside.standing(last, read)
    pair = PeriodPair(today - timedelta(days=BAR_DAYS - 1), today, today)
    unknown = earlier.why_unknown(pair, await earlier.first_day(ctx.db), read, found.timezone)
    current = await run_rows.current_run(ctx.db)
    return await page(
        ctx,
        "clock/dashboard.html",
        fragment="board",
        now=now,
        health=state,
        connection_kinds=health.PROBLEM_KINDS,
        words=failure_words.words(state.code),
        may_see_sync=ctx.may("clock.sync.view"),
        # While the zone changes there is no instant either, long after the set-up: so look whether anything was read.
        to_set_up=up_to is None and not await setup.has_read(ctx.db),
        complete=complete_tile(up_to, held_back_by, aside.rows if aside else 0, await ctx.zone()),
        aside=aside,
        last=last,
        current=current,
        next=next_tile(
            current, state.state, await when_due.next_due(ctx.db), now, await ctx.zone(), awaits_test=found.awaits_test
        ),
        status_labels=STATUS_LABELS,
        states=_states(await status_figures.binding_counts(ctx.db)),
        days=days_chart(punches, pair, unknown),
        person=_person(punches),
        since=punches.since,
        person_days=PERSON_DAYS,
        problems=await top_of_problems.top(ctx),
        under_way=await _under_way(ctx),
    )


@dataclass(frozen=True)
class CompleteTile:
    at: datetime | None
    tone: str
    hint: str


@dataclass(frozen=True)
class NextTile:
    """`hint` is "" while a run is under way: the template shows a badge of the run in its place."""

    value: str
    hint: str = ""


def complete_tile(up_to: datetime | None, held_back_by: str | None, aside: int, zone: PageZone) -> CompleteTile:
    """How far the mirror is complete, and what is in the way: a cause, or rows that were set aside."""
    parts = [f"{instant(up_to, zone)}."] if up_to else []
    if held_back_by:
        parts.append(held_back_by)
    elif not aside:
        parts.append("Everything until then has been read.")
    if aside:
        rows = "1 row was set aside and is" if aside == 1 else f"{number(aside)} rows were set aside and are"
        parts.append(f"{rows} missing here.")
    return CompleteTile(up_to, "warn" if held_back_by or aside else "ok" if up_to else "", " ".join(parts))


def next_tile(
    current: object | None,
    state: str,
    due: datetime | None,
    now: datetime,
    zone: PageZone,
    *,
    awaits_test: bool = False,
) -> NextTile:
    """What happens next: the run under way, nothing while the connection rests, the next planned run,
    or a start by hand."""
    if current is not None:
        return NextTile("Now")
    if state in ("paused", "locked"):
        return NextTile(state.capitalize(), "No sync starts by itself.")
    if awaits_test:
        return NextTile("After a good test", "The connection has not passed a test yet.")
    if due is not None:
        return NextTile(ago(due, now) if due > now else "Due now", instant(due, zone))
    return NextTile("By hand", "The schedule is off.")


def _states(counts: Any) -> bars.StateBar:
    parts = [
        StatePart(BINDING_STATES[state].label, counts[state.value], f"{PEOPLE}?state={state.value}", state.value)
        for state in STATE_ORDER
    ]
    return bars.state_bar(parts, title="People by binding state", unit="people")


def days_chart(punches: Punches, pair: PeriodPair, unknown: str) -> columns.ColumnChart:
    """`unknown` says why the days before are not known in full; then they are not drawn."""
    before = {} if unknown else {day + timedelta(days=BAR_DAYS): n for day, n in punches.by_day.items()}
    return columns.day_columns(
        [_day(one, None if unknown else before.get(one.day, 0), pair.today) for one in punches.days],
        SERIES,
        title=f"Punches of the last {len(punches.days)} days by what the import made of them",
        unit="Punches a day",
        said=compare(pair, punches.by_day, Noun("punch", "punches"), unknown=unknown),
    )


def _day(one: DayBar, before: int | None, today: date) -> DayColumn:
    parts = ", ".join(
        f"{number(n)} {GROUP_LABELS[group].lower()}" for group, n in zip(GROUPS, one.values, strict=True) if n
    )
    return DayColumn(
        name=day_words(one.day, today),
        label=one.day.strftime("%d"),
        sub=one.day.strftime("%a"),
        url=with_query(PUNCHES, {"from": one.day.isoformat(), "to": one.day.isoformat()}),
        title=f"{day_words(one.day, today)}: {number(sum(one.values))} punches{': ' + parts if parts else ''}",
        values=one.values,
        before=before,
    )


def _person(punches: Punches) -> bars.BarChart:
    """One row an outcome."""
    rows = [_row(outcome, n, _narrowed(punches, outcome)) for outcome, n in punches.needs_person]
    rows += [_gone(punches)] if punches.gone else []
    return bars.ranking(rows, BarHeads("Outcome", "Punches"), title="Punches that need a person")


def _narrowed(punches: Punches, outcome: Outcome) -> dict[str, str]:
    """The filter that lists exactly the punches that are counted here. Others with this outcome may be settled, or of
    ignored codes."""
    found = {"ignored": "without"} if outcome is Outcome.NOT_BOUND and punches.ignored else {}
    if punches.settled.get(outcome):
        found["settled"] = "no"
    return {**found, "from": punches.since.isoformat()}


def _gone(punches: Punches) -> BarRow:
    return BarRow(
        "Gone from the server",
        punches.gone,
        url=with_query(PUNCHES, {"gone": "open", "from": punches.since.isoformat()}),
        tone="warn",
        hint="The server no longer has these punches, and a record was made with them.",
    )


def _row(outcome: Outcome, n: int, narrowed: dict[str, str]) -> BarRow:
    known = OUTCOMES[outcome]
    url = with_query(PUNCHES, {"outcome": outcome.value, **narrowed})
    return BarRow(known.label, n, url=url, tone="warn", hint=known.meaning)


async def _under_way(ctx: Context) -> list[dict[str, str]]:
    """Changes that concern very many punches, and acts on many rows. `url` is empty when the person may not open it."""
    watches = ctx.may("clock.sync.view")
    found = [{"sentence": one.line, "url": one.url if watches else ""} for one in await changes.under_way(ctx.db)]
    return [*found, *({"sentence": one.line, "url": one.url} for one in await known.under_way(ctx))]


ROUTES = [index]
