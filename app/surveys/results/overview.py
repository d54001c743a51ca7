"""What the Overview shows of a workspace: how many surveys there are, the results of those that run, and the last 30
days."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import and_, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.days import utc_day
from app.db.rows import plan_each
from app.surveys.models import Response, Survey, Wording
from app.surveys.results import tallies
from app.surveys.results.figures import Counters, counters
from app.surveys.results.tallies import TallyScope
from app.surveys.results.tally_rows import ASKED

DAYS = 30


@dataclass(frozen=True, slots=True)
class RunningSurvey:
    """A published survey and the counters of its current version. `stage` is "" inside its window."""

    survey: Any
    counters: Counters
    stage: str


@dataclass(frozen=True, slots=True)
class Overview:
    """`together` sums the current versions of the published surveys; `required` of them are required. `days` are the
    last 30 UTC days, oldest first, with the responses of every survey and version by outcome; `by_day` are all
    responses of these days and of the 30 before them. `since` is the day of the first publish or response; None before
    any."""

    statuses: Mapping[str, int]
    required: int
    together: Counters
    running: Sequence[RunningSurvey]
    days: Sequence[tuple[date, Mapping[str, int]]]
    by_day: Mapping[date, int]
    since: date | None

    @property
    def surveys(self) -> int:
        return sum(self.statuses.values())

    @property
    def lately(self) -> int:
        return sum(sum(outcomes.values()) for _, outcomes in self.days)


_whole = tallies.whole(TallyScope()).subquery("whole")
_STATUSES = select(Survey.status, func.count()).where(Survey.deleted_at.is_(None)).group_by(Survey.status)
_RUNNING = (
    select(
        Survey.id,
        Survey.uid,
        Survey.title,
        Survey.type,
        Survey.enforcement,
        Survey.version,
        Survey.starts_at,
        Survey.ends_at,
        Survey.published_at,
        _whole.c.outcome,
        func.sum(_whole.c.people).label("people"),
        func.sum(_whole.c.unprompted).label("unprompted"),
    )
    .outerjoin(_whole, and_(_whole.c.survey_id == Survey.id, _whole.c.version == Survey.version))
    .where(Survey.status == text("'published'"), Survey.deleted_at.is_(None))
    .group_by(Survey.id, _whole.c.outcome)
    .order_by(Survey.id)
)


async def read(db: AsyncSession, now: datetime) -> Overview:
    """Four SELECTs. `now` decides which days are the last 30, and which windows are open."""
    statuses = {row[0]: row[1] for row in await db.execute(_STATUSES)}
    rows = (await db.execute(_RUNNING)).all()
    running = [_running(list(group), now) for _, group in groupby(rows, key=lambda row: row.id)]
    running.sort(key=lambda one: (bool(one.stage), -one.counters.responses, one.survey.title.casefold()))
    required = sum(one.survey.enforcement == "required" for one in running)
    together = counters([_figure(row) for row in rows if row.outcome], asked=ASKED)
    await plan_each(db)
    days, by_day = await _days(db, utc_day(now))
    known = [day for day in (await _since(db), min(by_day, default=None)) if day]
    return Overview(statuses, required, together, running, days, by_day, min(known, default=None))


def stage(survey: Any, now: datetime) -> str:
    """The state of a published survey's window; "" while it is open."""
    if survey.starts_at and now < survey.starts_at:
        return "not open yet"
    return "over" if survey.ends_at and now >= survey.ends_at else ""


def _running(rows: Sequence[Any], now: datetime) -> RunningSurvey:
    counted = counters([_figure(row) for row in rows if row.outcome], asked=ASKED)
    return RunningSurvey(rows[0], counted, stage(rows[0], now))


def _figure(row: Any) -> tuple[str, int, int]:
    return row.outcome, int(row.people), int(row.unprompted)


async def _since(db: AsyncSession) -> date | None:
    """Since when people have been asked, as far as is known: the first published words, or the first response."""
    worded = select(Wording.created_at).order_by(Wording.id).limit(1).scalar_subquery()
    answered = select(Response.recorded_at).order_by(Response.number).limit(1).scalar_subquery()
    first: datetime | None = await db.scalar(select(func.least(worded, answered)))
    return utc_day(first) if first else None


async def _days(db: AsyncSession, today: date) -> tuple[Sequence[tuple[date, Mapping[str, int]]], Mapping[date, int]]:
    first = today - timedelta(days=DAYS - 1)
    counted = await tallies.by_day(db, TallyScope(days=(first - timedelta(days=DAYS), today)))
    days: dict[date, dict[str, int]] = {first + timedelta(days=n): {} for n in range(DAYS)}
    by_day = Counter[date]()
    for day, outcome, people in counted:
        by_day[day] += people
        if day in days:
            days[day][outcome] = people
    return list(days.items()), by_day
