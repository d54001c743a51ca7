"""News of problems: noted in the transaction of their cause, and planned later for the people who want to be told."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ScalarSelect, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.alerts import timing, waiting
from app.alerts.models import AlertNews
from app.alerts.people import AlertReader
from app.alerts.timing import AlertInTurn
from app.alerts.waiting import WaitingAlert
from app.db.among import among
from app.problems.events import ProblemsMoved
from app.problems.models import Problem

JOB: Final = "alerts"
# Several first looks, or a year that is read slice by slice, give one sum. It is told when nothing new came for a
# while, or at the latest after this time.
SUM_AFTER, SUM_AT_LATEST = timedelta(minutes=10), timedelta(days=1)
# When no worker has mail, older news are removed.
KEPT: Final = timedelta(days=1)
MOST_NEWS: Final = 100


async def note(db: AsyncSession, moved: ProblemsMoved) -> None:
    """Listens to problems. Two statements in the transaction of the cause; a worker does the rest."""
    row = {"opened": [one.id for one in moved.opened], "closed": [one.id for one in moved.closed], "quiet": moved.quiet}
    await db.execute(insert(AlertNews).values(row))
    jobs.request_at_end(db, JOB)


async def spread(db: AsyncSession, people: Mapping[int, AlertReader], now: datetime) -> bool:
    """Plans the alerts of each person for the oldest news, and removes these news. Returns True while there may be
    more."""
    loud = select(AlertNews).where(~AlertNews.quiet).order_by(AlertNews.id).limit(MOST_NEWS)
    found = (await db.scalars(loud)).all()
    for news in found:
        await _spread(db, news, people, now)
    await db.execute(delete(AlertNews).where(among(AlertNews.id, [one.id for one in found])))
    return len(found) == MOST_NEWS


async def _spread(db: AsyncSession, news: AlertNews, people: Mapping[int, AlertReader], now: datetime) -> None:
    if news.opened:
        known = await waiting.of_problems(db, among(Problem.id, news.opened))
        problems = await db.execute(
            select(Problem.id, Problem.kind, Problem.severity, Problem.closed_at, Problem.snoozed_until).where(
                among(Problem.id, news.opened)
            )
        )
        new = [
            (row.id, AlertInTurn(row.kind, row.severity, news.at, "over", None, row.closed_at, row.snoozed_until))
            for row in problems
        ]
        await waiting.write(db, _opened(new, known, people, news.at, now))
    if news.closed:
        known = await waiting.of_problems(db, among(Problem.id, news.closed))
        await waiting.write(db, _closed(known, people, now))


def _opened(
    problems: Sequence[tuple[int, AlertInTurn]],
    known: Iterable[WaitingAlert],
    people: Mapping[int, AlertReader],
    at: datetime,
    now: datetime,
) -> list[WaitingAlert]:
    """The alerts that change, for people who may see the problem and want to be told of it."""
    rows = {(one.user_id, one.problem_id): one for one in known}
    before = [
        (person, rows.get((person.user_id, problem_id)) or WaitingAlert(person.user_id, problem_id, fresh))
        for person in people.values()
        if person.rules.tells_something
        for problem_id, fresh in problems
        if fresh.kind in person.kinds
    ]
    after = [replace(one, alert=timing.opened(person.rules, one.alert, at, now)) for person, one in before]
    return [one for one in after if one.alert.state != "over"]


def _closed(known: Iterable[WaitingAlert], people: Mapping[int, AlertReader], now: datetime) -> list[WaitingAlert]:
    return [
        WaitingAlert(one.user_id, one.problem_id, after, one.thread)
        for one in known
        if (person := people.get(one.user_id)) and (after := timing.closed(person.rules, one.alert, now)) != one.alert
    ]


async def quiet_sums(db: AsyncSession, now: datetime) -> dict[str, int]:
    """Counts the problems of the quiet news that are still open, by kind, and removes these news. Empty while more news
    may come, and when there are none."""
    due: datetime | None = await db.scalar(select(_sum_due()))
    if due is None or due > now:
        return {}
    opened = (await db.scalars(select(func.unnest(AlertNews.opened)).where(AlertNews.quiet))).all()
    kinds = await db.scalars(select(Problem.kind).where(among(Problem.id, opened), Problem.closed_at.is_(None)))
    await db.execute(delete(AlertNews).where(AlertNews.quiet))
    return dict(Counter(kinds).most_common())


async def next_at(db: AsyncSession) -> datetime | None:
    """When there is something to do: news, an alert, or a sum of what was found quietly. News ask for their job by
    themselves. But that job may fail, and a cause of the version before may commit after the jobs
    that waited have run."""
    loud = select(func.min(AlertNews.at)).where(~AlertNews.quiet).scalar_subquery()
    found: datetime | None = await db.scalar(select(func.least(loud, waiting.first_due(), _sum_due())))
    return found


def _sum_due() -> ScalarSelect[datetime]:
    """When the quiet news are told; null when there are none."""
    due = func.least(func.max(AlertNews.at) + SUM_AFTER, func.min(AlertNews.at) + SUM_AT_LATEST)
    return select(due).where(AlertNews.quiet).scalar_subquery()


async def forget_old(db: AsyncSession, now: datetime) -> None:
    """For a worker without mail: removes news that no other worker planned for this long."""
    await db.execute(delete(AlertNews).where(AlertNews.at < now - KEPT))
