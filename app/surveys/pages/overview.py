"""`/surveys/overview`: how the surveys do, and on the platform how the apps are rated."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy.ext.asyncio import AsyncSession

from app.charts import bars, columns
from app.charts.bars import BarHeads, BarRow
from app.charts.columns import DayColumn, Series
from app.charts.compared import Noun, PeriodPair, compare
from app.counting import count, percent
from app.dates import day_words
from app.db.days import utc_day
from app.surveys.ratings import ratings
from app.surveys.ratings.figures import RatingFigures
from app.surveys.results import overview
from app.surveys.words import OUTCOMES, TYPES
from app.web.context import Context
from app.web.formats import number
from app.web.guards import Requires
from app.web.pages import page
from app.web.templating import with_query

TONES = {"answered": "info", "agreed": "ok", "declined": "note", "withdrawn": "warn", "opted_out": "mute"}
RESPONSE = Noun("response", "responses")
SERIES = [Series(label, TONES[outcome]) for outcome, label in OUTCOMES.items()]
# So many surveys are listed, most responses first, and so many apps; the Surveys page has all.
MOST_LISTED = 12
RESPONSES, RATINGS = "/surveys/responses", "/surveys/ratings"


@get("/surveys/overview", guards=[Requires("surveys.view", module="surveys")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    now = datetime.now(UTC)
    recent = await ctx.read_recent(partial(_figures, now=now, on_platform=ctx.on_platform))
    found, rated = recent.found
    today = utc_day(now)
    pair = PeriodPair(today - timedelta(days=overview.DAYS - 1), today, today)
    return await page(
        ctx,
        "surveys/overview.html",
        fragment="board",
        found=found,
        running=found.running[:MOST_LISTED],
        chart=_chart(found, pair),
        since=pair.first,
        earlier=pair.earlier,
        types=TYPES,
        rated=rated,
        stars=_stars(rated) if rated else None,
        most=MOST_LISTED,
        now=now,
        as_of=recent.as_of,
    )


async def _figures(
    db: AsyncSession, *, now: datetime, on_platform: bool
) -> tuple[overview.Overview, RatingFigures | None]:
    """In a tenant's workspace ratings are neither shown nor queried."""
    return await overview.read(db, now), await ratings.figures(db) if on_platform else None


def _chart(found: overview.Overview, pair: PeriodPair) -> columns.ColumnChart:
    unknown = began_late(pair, found.since, "people have been asked since")
    drawn = [
        day_column(day, outcomes, {}, pair.today, before=before_of(found.by_day, day, pair, unknown))
        for day, outcomes in found.days
    ]
    title, said = (
        f"Responses of the last {pair.length} days by outcome",
        compare(pair, found.by_day, RESPONSE, unknown=unknown),
    )
    return columns.day_columns(drawn, SERIES, title=title, unit="Responses a day", said=said)


def began_late(pair: PeriodPair, since: date | None, words: str) -> str:
    """Why the days before are not compared: not all of them had surveys; "" when they are. `words` come before the
    day."""
    if since is None or pair.counterparts is None or since <= pair.counterparts[0]:
        return ""
    return f"{words} {day_words(since, pair.today)}."


def before_of(by_day: Mapping[date, int], day: date, pair: PeriodPair, unknown: str) -> int | None:
    """The result of the day to compare with; None when the days before are unknown."""
    return None if unknown or pair.earlier is None else by_day.get(day - timedelta(days=pair.length), 0)


def day_column(
    day: date,
    outcomes: Mapping[str, int],
    query: Mapping[str, Any],
    today: date,
    shown: Sequence[str] = tuple(OUTCOMES),
    *,
    before: int | None = None,
) -> DayColumn:
    """People by outcome, with a value for each of `shown`; the column leads to the day's rows under `query`."""
    said = ", ".join(f"{number(outcomes[one])} {OUTCOMES[one].lower()}" for one in OUTCOMES if outcomes.get(one))
    people = sum(outcomes.values())
    return DayColumn(
        name=day_words(day, today),
        label=day.strftime("%d"),
        sub=day.strftime("%b") if day.day == 1 else "",
        url=with_query(RESPONSES, {**query, "from": day.isoformat(), "to": day.isoformat()}),
        title=f"{day_words(day, today)}: {count(people, 'response', 'responses')}{': ' + said if said else ''}",
        values=tuple(outcomes.get(one, 0) for one in shown),
        before=before,
    )


def _stars(rated: RatingFigures) -> bars.BarChart:
    """Each row leads to its ratings."""
    rows = [
        BarRow(f"{star} ★", people, percent(people, rated.n), with_query(RATINGS, {"stars": star}), "warn")
        for star, people in rated.distribution.items()
    ]
    return bars.distribution(rows, BarHeads("Stars", "Ratings"), title="Stars of the app ratings")


ROUTES = [index]
