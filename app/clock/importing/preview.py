"""What other import rules would make of the last 30 days: judges them twice and compares. Reads only; nothing is written.

The rules are app.clock.pairing.judge's, the reading is import_rows'. Bounded in time: what was not looked at is said.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import rows as import_rows
from app.clock.importing.owners import Who, codes_of_people, read_owners
from app.clock.importing.rows import Read, World
from app.clock.models import Punch
from app.clock.pairing.inputs import PairingEmployee, TimeSpan
from app.clock.pairing.judge import judge
from app.clock.pairing.verdicts import Judgement
from app.clock.punches.marks import NEAR
from app.clock.settings import ClockSettings
from app.db.days import midnight

DAYS = 30
SECONDS = 4.0
BATCH = 50
AHEAD = timedelta(days=2)
_CODES = (
    select(Punch.emp_code)
    .where(Punch.local_date.between(bindparam("first"), bindparam("last")))
    .group_by(Punch.emp_code)
    .order_by(func.count().desc(), Punch.emp_code)
)
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
    codes = (await db.scalars(_CODES, {"first": first, "last": today})).all()
    groups = await _people(db, codes)
    locked = await import_rows.locked_days(db, {first + timedelta(days=n) for n in range(-3, DAYS + 3)})
    since = midnight(first, before.rules.zone)
    comparison = _Comparison(before, then, locked, now, TimeSpan(since, now + AHEAD), Preview(people=len(groups)))
    for start in range(0, len(groups), BATCH):
        batch = groups[start : start + BATCH]
        reading = TimeSpan(since - NEAR, comparison.within.end)
        reads = await import_rows.read_spans(db, before, [(who, mine, reading) for who, mine in batch])
        cases = [(who, read) for (who, _), read in zip(batch, reads, strict=True)]
        # In a thread: judging takes the processor for itself, and other requests wait for this loop.
        await asyncio.to_thread(comparison.look_at, cases)
        if time.monotonic() > ends:
            break
    return comparison.found


async def _people(db: AsyncSession, codes: Sequence[str]) -> list[tuple[Who, tuple[str, ...]]]:
    """Owners with all their codes, as the import judges them: those with the most punches first."""
    owners = await read_owners(db, codes)
    siblings = await codes_of_people(db, {who.id for who in owners.values() if isinstance(who, PairingEmployee)})
    groups: dict[object, tuple[Who, tuple[str, ...]]] = {}
    for code in codes:
        who = owners[code]
        if isinstance(who, PairingEmployee):
            groups.setdefault(who.id, (who, tuple(siblings[who.id])))
        else:
            groups.setdefault(code, (who, (code,)))
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two worlds that differ in their rules, and what was found so far. Only punches `within` count."""

    before: World
    then: World
    locked: set[date]
    now: datetime
    within: TimeSpan
    found: Preview

    def look_at(self, cases: Sequence[tuple[Who, Read]]) -> None:
        for who, read in cases:
            old = self._fates(who, read, self.before)
            new = self._fates(who, _as_in(read, self.then), self.then)
            self.found.looked_at += 1
            self.found.punches += sum(1 for one in read.punches if self.within.start <= one.at < self.within.end)
            for punch_id in old.keys() | new.keys():
                was, will_be = old.get(punch_id, (None, None)), new.get(punch_id, (None, None))
                if was != will_be:
                    self.found.moves[was[0], will_be[0]] += 1

    def _fates(self, who: Who, read: Read, world: World) -> dict[int, Fate]:
        judged = judge(
            who,
            read.punches,
            read.records,
            self.locked,
            world.rules,
            self.now,
            unread=world.unread,
            within=self.within,
            elsewhere=read.elsewhere,
        )
        return _fates(judged)


def _as_in(read: Read, world: World) -> Read:
    """The same punches with the directions that their terminals would have."""
    return replace(
        read, punches=[replace(one, direction=world.terminal(one.terminal_sn).direction) for one in read.punches]
    )


def _fates(judgement: Judgement) -> dict[int, Fate]:
    """Of each punch its outcome, and the hours of the record it goes into."""
    hours: dict[int, Any] = {one.key: (one.clock_in, one.clock_out, one.breaks) for one in judgement.creates}
    hours |= {one.record_id: (one.clock_in, one.clock_out, one.breaks) for one in judgement.updates}
    return {
        one.punch_id: (one.outcome.value, hours.get(one.record, one.record) if one.record is not None else None)
        for one in judgement.verdicts
    }
