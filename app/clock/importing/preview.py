"""What other import rules would make of the last 30 days: judges them twice and compares.
Reads only; nothing is written.

It judges with app.clock.pairing.judge, and reads with importing/facts.py, as the import does. Its time is limited, and
the answer says what was not looked at.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import rows as import_rows
from app.clock.importing.facts import Facts, over
from app.clock.importing.owners import OwnedCodes, owned_codes, read_owners
from app.clock.importing.rows import World
from app.clock.models import Punch
from app.clock.pairing.inputs import Case, TimeSpan
from app.clock.pairing.judge import judge
from app.clock.pairing.shifts import AHEAD
from app.clock.pairing.verdicts import Judgement
from app.clock.settings import ClockSettings
from app.db.days import midnight

DAYS = 30
SECONDS = 4.0
# So many punches are judged before the next look at the clock. A person with more punches is judged alone.
MOST_PUNCHES = 3_000
_CODES = (
    select(Punch.emp_code, func.count().label("punches"))
    .where(Punch.local_date.between(bindparam("first"), bindparam("last")))
    .group_by(Punch.emp_code)
    .order_by(func.count().desc(), Punch.emp_code)
)
K = TypeVar("K")
Fate = tuple[str | None, Any]


@dataclass(slots=True)
class Preview:
    """`moves` counts punches by (outcome now, outcome then); equal ones keep the outcome in a record of other hours.

    `looked_at` of `people` were judged before the time ran out; the busiest come first.
    """

    people: int = 0
    looked_at: int = 0
    punches: int = 0
    moves: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)

    @property
    def days(self) -> int:
        """How many local days were looked at, today included."""
        return DAYS

    @property
    def changed(self) -> int:
        return sum(self.moves.values())

    @property
    def is_complete(self) -> bool:
        return self.looked_at == self.people


async def preview(db: AsyncSession, after: ClockSettings, now: datetime, *, seconds: float = SECONDS) -> Preview:
    """Compares the rules that hold with those of `after`, over the punches of the last 30 local days."""
    ends = time.monotonic() + seconds
    before = await import_rows.read_world(db, now)
    then = replace(before, rules=import_rows.rules_of(after, before.rules.zone), settings=after)
    today = now.astimezone(before.rules.zone).date()
    first = today - timedelta(days=DAYS - 1)
    counted = (await db.execute(_CODES, {"first": first, "last": today})).all()
    punches = {row.emp_code: row.punches for row in counted}
    owned = await owned_codes(db, await read_owners(db, list(punches)))
    people: Counter[OwnedCodes] = Counter()
    for code, number in punches.items():
        people[owned[code]] += number
    within = TimeSpan(midnight(first, before.rules.zone), now + 2 * AHEAD)
    comparison = _Comparison(then, Preview(people=len(people)))
    for some in in_batches(people, MOST_PUNCHES):
        found = await over(db, before, some, within, now)
        # In a thread: judging takes the processor for itself, and other requests wait for this loop.
        await asyncio.to_thread(comparison.look_at, found)
        if time.monotonic() > ends:
            break
    return comparison.found


def in_batches(sizes: Mapping[K, int], most: int) -> Iterator[list[K]]:
    """The keys in their order, in lists whose sizes add up to `most` at most. A larger one is a list of its own."""
    batch: list[K] = []
    held = 0
    for key, size in sizes.items():
        if batch and held + size > most:
            yield batch
            batch, held = [], 0
        batch.append(key)
        held += size
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The world with other rules, and what was found so far."""

    then: World
    found: Preview

    def look_at(self, people: Sequence[Facts]) -> None:
        for facts in people:
            old, new = _fates(judge(facts.case)), _fates(judge(_as_in(facts.case, self.then)))
            self.found.looked_at += 1
            within = facts.within
            self.found.punches += sum(1 for one in facts.case.punches if within.start <= one.at < within.end)
            for punch_id in old.keys() | new.keys():
                was, will_be = old.get(punch_id, (None, None)), new.get(punch_id, (None, None))
                if was != will_be:
                    self.found.moves[was[0], will_be[0]] += 1


def _as_in(case: Case, world: World) -> Case:
    """The same punches under other rules, with the directions that their terminals would have."""
    punches = [replace(one, direction=world.terminal(one.terminal_sn).direction) for one in case.punches]
    return replace(case, punches=punches, rules=world.rules)


def _fates(judgement: Judgement) -> dict[int, Fate]:
    """For each punch its outcome, and the hours of its record."""
    hours: dict[int, Any] = {one.key: (one.clock_in, one.clock_out, one.breaks) for one in judgement.creates}
    hours |= {one.record_id: (one.clock_in, one.clock_out, one.breaks) for one in judgement.updates}
    return {
        one.punch_id: (one.outcome.value, hours.get(one.record, one.record) if one.record is not None else None)
        for one in judgement.verdicts
    }
