"""`/surveys/overview`: how the surveys do, and on the platform how the apps are rated."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency

from app.charts import bars, columns
from app.charts.bars import BarRow
from app.charts.columns import DayColumn, Series
from app.counting import count, percent
from app.surveys.ratings import ratings
from app.surveys.ratings.figures import RatingFigures
from app.surveys.results import overview
from app.surveys.words import OUTCOMES, TYPES
from app.web.context import Context
from app.web.formats import number
from app.web.guards import Requires
from app.web.pages import page
from app.web.templating import with_query

TONES = {"answered": "info", "agreed": "ok", "declined": "note", "opted_out": "mute"}
SERIES = [Series(label, TONES[outcome]) for outcome, label in OUTCOMES.items()]
# The list names that many, most responses first; the Surveys page has all. So with apps.
MOST_LISTED = 12
RESPONSES, RATINGS = "/surveys/responses", "/surveys/ratings"


@get("/surveys/overview", guards=[Requires("surveys.view", module="surveys")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    now = datetime.now(UTC)
    found = await overview.read(ctx.db, now)
    # In a tenant's workspace ratings are neither rendered nor queried.
    rated = await ratings.figures(ctx.db) if ctx.on_platform else None
    return await page(
        ctx,
        "surveys/overview.html",
        fragment="board",
        found=found,
        running=found.running[:MOST_LISTED],
        chart=_chart(found.days),
        since=found.days[0][0],
        earlier=(found.days[0][0] - timedelta(days=overview.DAYS), found.days[0][0] - timedelta(days=1)),
        types=TYPES,
        rated=rated,
        stars=_stars(rated) if rated else None,
        most=MOST_LISTED,
        now=now,
    )


def _chart(days: Sequence[tuple[date, Mapping[str, int]]]) -> columns.ColumnChart:
    title = f"Responses of the last {len(days)} days by outcome"
    drawn = [day_column(day, outcomes, {}) for day, outcomes in days]
    return columns.day_columns(drawn, SERIES, title=title, unit="Responses a day")


def day_column(
    day: date, outcomes: Mapping[str, int], query: Mapping[str, Any], shown: Sequence[str] = tuple(OUTCOMES)
) -> DayColumn:
    """People by outcome, with a value for each of `shown`; the column leads to the day's rows under `query`."""
    said = ", ".join(f"{number(outcomes[one])} {OUTCOMES[one].lower()}" for one in OUTCOMES if outcomes.get(one))
    people = sum(outcomes.values())
    return DayColumn(
        name=f"{day:%a %Y-%m-%d}",
        label=day.strftime("%d"),
        sub=day.strftime("%b") if day.day == 1 else "",
        url=with_query(RESPONSES, {**query, "from": day.isoformat(), "to": day.isoformat()}),
        title=f"{day:%a %Y-%m-%d}: {count(people, 'response', 'responses')}{': ' + said if said else ''}",
        values=tuple(outcomes.get(one, 0) for one in shown),
    )


def _stars(rated: RatingFigures) -> bars.BarChart:
    """Each row leads to its ratings."""
    rows = [
        BarRow(f"{star} ★", people, percent(people, rated.n), with_query(RATINGS, {"stars": star}), "warn")
        for star, people in rated.distribution.items()
    ]
    return bars.distribution(rows, title="Stars of the app ratings", what="Stars", unit="Ratings")


ROUTES = [index]
