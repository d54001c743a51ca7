"""The figures of the Dashboard beyond app.clock.figures.status: outcomes by day, what needs a person, the last run.
Reads only."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.codes import BindingState
from app.clock.days import LONGEST_OFFSET
from app.clock.models import Binding, Punch, PunchCount, StaleDay, SyncRun
from app.clock.outcomes import OUTCOMES, Outcome, OutcomeGroup
from app.clock.punches import settled
from app.clock.punches.day_counts import STALE_OUTCOMES
from app.clock.review.settling import GONE_WAITS
from app.clock.sync.run_rows import OPEN

BAR_DAYS = 14
PERSON_DAYS = 30
GROUPS = (OutcomeGroup.GOOD, OutcomeGroup.WAITING, OutcomeGroup.NEEDS_PERSON, OutcomeGroup.NOT_COUNTED)
_STALE = select(StaleDay.local_date)
_KEPT = select(
    PunchCount.local_date,
    PunchCount.import_outcome.label("outcome"),
    (PunchCount.total - PunchCount.gone).label("n"),
    PunchCount.settled.label("settled"),
).where(PunchCount.local_date >= bindparam("since"), PunchCount.local_date.not_in(_STALE))
_BOTH = union_all(_KEPT, STALE_OUTCOMES.where(StaleDay.local_date >= bindparam("since"))).subquery()
_BY_DAY = select(_BOTH.c.local_date, _BOTH.c.outcome, func.sum(_BOTH.c.n), func.sum(_BOTH.c.settled)).group_by(
    _BOTH.c.local_date, _BOTH.c.outcome
)
# An ignored code is a person's decision: its punches still say "Not bound", but need no decision.
# Settled ones are counted as such.
_IGNORED = (
    select(Punch.local_date, func.count().label("punches"))
    .join(Binding, and_(Binding.emp_code == Punch.emp_code, Binding.state == BindingState.IGNORED.value))
    .where(
        Punch.import_outcome == Outcome.NOT_BOUND.value,
        Punch.gone_at_utc.is_(None),
        settled.OPEN,
        Punch.local_date >= bindparam("since"),
        Punch.punched_at_utc
        >= bindparam("since_utc"),  # before the first local day on any clock: the index goes by instants
    )
    .group_by(Punch.local_date)
)
_GONE = select(func.count()).where(GONE_WAITS, Punch.local_date >= bindparam("since"))
_LAST = (
    select(SyncRun.id, SyncRun.status, SyncRun.started_at, SyncRun.finished_at, SyncRun.error_code, SyncRun.resources)
    .where(SyncRun.status.not_in(OPEN))
    .order_by(SyncRun.id.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class DayBar:
    """Punches of one local day by outcome group, in the order of GROUPS."""

    day: date
    values: tuple[int, ...]


class DayOutcome(NamedTuple):
    """Punches of one local day with one outcome; "" means that the import has not judged them yet. `settled` of them
    are settled."""

    day: date
    outcome: str
    punches: int
    settled: int = 0


@dataclass(frozen=True, slots=True)
class Punches:
    """`days` are the last fourteen, oldest first, zeros included. `needs_person` is (outcome, punches), most first, of
    the thirty days since `since` and of all days in the future. `ignored` are the punches of ignored codes: they need
    no decision. `settled` are punches of these outcomes that are settled. `gone` are punches of these days that are
    gone from the server and whose record waits for a person.
    `by_day` are all punches of those thirty days, by local day."""

    days: Sequence[DayBar]
    since: date
    needs_person: Sequence[tuple[Outcome, int]]
    total: int
    ignored: int
    settled: Mapping[Outcome, int]
    by_day: Mapping[date, int]
    gone: int = 0


async def punches(db: AsyncSession, today: date) -> Punches:
    """One SELECT over the kept counts; only days that changed since the last rollup are counted from the punches."""
    since = today - timedelta(days=PERSON_DAYS - 1)
    found = await db.execute(_BY_DAY, {"since": since})
    rows = [DayOutcome(day, outcome, int(n), int(settled)) for day, outcome, n, settled in found]
    gone = await db.scalar(_GONE, {"since": since}) or 0
    return replace(summed(rows, today, await _ignored(db, rows, since)), gone=gone)


async def _ignored(db: AsyncSession, rows: Sequence[DayOutcome], since: date) -> dict[date, int]:
    """Punches of ignored codes that show "Not bound", by local day."""
    if not any(row.outcome == Outcome.NOT_BOUND for row in rows):
        return {}
    since_utc = datetime.combine(since, time(), UTC) - LONGEST_OFFSET
    found = await db.execute(_IGNORED, {"since": since, "since_utc": since_utc})
    return {row.local_date: row.punches for row in found}


def summed(rows: Sequence[DayOutcome], today: date, ignored: Mapping[date, int]) -> Punches:
    """Sums over thirty days; `ignored` are punches of "Not bound", not settled, that need no decision, by local day.
    Pure."""
    by_day: dict[date, Counter[OutcomeGroup]] = {}
    totals: Counter[date] = Counter()
    by_outcome: Counter[Outcome] = Counter()
    settled_by_outcome: Counter[Outcome] = Counter()
    for row in rows:
        outcome = Outcome(row.outcome or Outcome.AWAITING)
        group = OUTCOMES[outcome].group
        settled_now = row.settled if group is OutcomeGroup.NEEDS_PERSON else 0
        left_out = settled_now + (ignored.get(row.day, 0) if outcome is Outcome.NOT_BOUND else 0)
        totals[row.day] += row.punches
        groups = by_day.setdefault(row.day, Counter())
        groups[group] += row.punches - left_out
        groups[OutcomeGroup.NOT_COUNTED] += left_out
        by_outcome[outcome] += row.punches - left_out
        settled_by_outcome[outcome] += settled_now
    days = [today - timedelta(days=back) for back in range(BAR_DAYS - 1, -1, -1)]
    needs_person = [
        (one, n) for one, n in by_outcome.most_common() if n and OUTCOMES[one].group is OutcomeGroup.NEEDS_PERSON
    ]
    return Punches(
        [DayBar(day, tuple(by_day.get(day, Counter())[group] for group in GROUPS)) for day in days],
        today - timedelta(days=PERSON_DAYS - 1),
        needs_person,
        sum(row.punches for row in rows),
        sum(ignored.values()),
        +settled_by_outcome,
        totals,
    )


async def last_run(db: AsyncSession) -> Any:
    """The latest run that is over: id, status, started_at, finished_at, error_code, resources.
    None before the first."""
    return (await db.execute(_LAST)).one_or_none()
