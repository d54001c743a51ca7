"""Whether programs that follow the feeds miss anything, while several writers change what is in them: attendance
(decisions, deletions) and responses (agreements over HTTP, withdrawals, removals, erasures). Writers end their
transactions in another order than they began them. A second reader asks from the moment of its last answer, as one
would do without `next_updated_since`: what it misses says how hard the run was.

    python -m tests.benchmarks.bench_follow [--changes 10000] [--deletions 500] [--writers 8] [attendance] [responses]
"""

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import msgspec
from sqlalchemy import func, insert, select, text, update

from app.accounts.audit import SYSTEM
from app.db.session import Database
from app.host.attendance import records
from app.host.models import AttendanceRecord
from app.surveys.models import PersonKey, Response, Tombstone
from app.surveys.results.queries import OUTCOME
from tests.benchmarks.arena import arena
from tests.benchmarks.crowd import Line, Portal, gather_people, lines, serving, settle, spread, token_of
from tests.surveys.drafted import CONSENT, Stored, published

ATTENDANCE, RESPONSES, RESPOND = "/api/v1/attendance", "/api/v1/surveys/responses", "/v1/api/me/surveys/respond"
TOKEN = "token of the reader"
PEOPLE, RECORDS_EACH = 60, 60
# A writer keeps its changes to itself for up to so long.
LONGEST_OPEN_S = 0.05
BETWEEN_S = 0.1
OK = 200
_READER = """
WITH reader AS (INSERT INTO users (workspace, email, name) VALUES ('main', 'reader@example.org', 'Reader') RETURNING id),
role AS (INSERT INTO roles (workspace, name, permissions)
    VALUES ('main', 'Follows', ARRAY['host.attendance', 'surveys.view']) RETURNING id),
given AS (INSERT INTO user_roles (user_id, role_id) SELECT reader.id, role.id FROM reader, role)
INSERT INTO api_tokens (user_id, name, token_hash, hint, scopes, last_used_at)
SELECT id, 'bench', sha256(convert_to(:token, 'UTF8')), '0000', ARRAY['attendance:read', 'surveys:read'], now() + interval '1 day' FROM reader
"""
_RECORDS = """
WITH people AS (INSERT INTO employees (name, id_number, id_number_key)
    SELECT 'Person ' || n, 'E' || n, 'e' || n FROM generate_series(1, :people) AS n RETURNING id)
INSERT INTO attendance_records (employee_id, workday, clock_in, clock_out, source)
SELECT people.id, d::date, d + interval '8 hours', d + interval '16 hours', 'manual'
FROM people, generate_series(timestamptz '2026-01-01', timestamptz '2026-01-01' + make_interval(days => :each - 1), interval '1 day') AS d
"""
Read = dict[int, tuple[Any, ...]]


@dataclass
class Reader:
    """Follows one feed. `careful`: with `next_updated_since`."""

    line: Line
    url: str
    key: str
    facts: Sequence[str]
    careful: bool
    held: Read = field(default_factory=dict)
    since: str | None = None
    rounds: int = 0

    async def round(self) -> None:
        """All pages of what changed."""
        asked_at = await self._now()
        query = {"per_page": "500", **({"updated_since": self.since} if self.since else {})}
        meta = await self._page(query)
        while meta["next_cursor"]:
            meta = await self._page({**query, "cursor": meta["next_cursor"]})
        self.since = meta["next_updated_since"] if self.careful else asked_at
        self.rounds += 1

    async def until(self, over: Callable[[], bool]) -> None:
        while not over():
            await self.round()
            await asyncio.sleep(BETWEEN_S)
        await self.round()

    async def _page(self, query: Mapping[str, str]) -> Any:
        status, body = await self.line.ask("GET", f"{self.url}?{urlencode(query)}", TOKEN)
        if status != 200:
            raise SystemExit(f"{self.url}: {status} {body[:200]!r}")
        answer = msgspec.json.decode(body)
        self.held.update({row[self.key]: tuple(row[name] for name in self.facts) for row in answer["data"]})
        return answer["meta"]

    async def _now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 1000 % 1_000_000:06}Z"


def compared(name: str, readers: Sequence[Reader], stored: Read, did: str, spent_s: float) -> bool:
    """Prints; whether the careful one holds what the tables hold."""
    wrong = {}
    for one in readers:
        wrong[one.careful] = [key for key, value in stored.items() if one.held.get(key) != value]
        wrong[one.careful] += [key for key in one.held if key not in stored]
    careful = next(one for one in readers if one.careful)
    print(
        f"{name}: {did} in {spent_s:.1f} s, {careful.rounds} rounds. Missed: {len(wrong[True])} of {len(stored)} rows;"
        f" without next_updated_since: {len(wrong[False])}"
    )
    return not wrong[True]


async def followed(
    portal: Portal, url: str, key: str, facts: Sequence[str], work: Callable[[], Awaitable[None]]
) -> tuple[list[Reader], float]:
    """Two readers while `work` is done, and the seconds that it took."""
    async with lines(portal, 2) as opened:
        readers = [Reader(line, url, key, facts, careful) for line, careful in zip(opened, (True, False), strict=True)]
        for one in readers:
            await one.round()
        began = time.perf_counter()
        working = asyncio.ensure_future(work())
        following = [asyncio.ensure_future(one.until(working.done)) for one in readers]
        await working
        spent_s = time.perf_counter() - began
        await asyncio.gather(*following)
    return readers, spent_s


async def attendance(database: Database, portal: Portal, changes: int, deletions: int, writers: int) -> bool:
    async with database.transaction() as db:
        await db.execute(text(_RECORDS), {"people": PEOPLE, "each": RECORDS_EACH})
        ids = list(await db.scalars(select(AttendanceRecord.id)))
    chance = random.Random(7)
    gone = chance.sample(ids, deletions)
    kept = sorted(set(ids) - set(gone))
    jobs: list[tuple[int, str]] = [(number, "") for number in gone]
    jobs += [(kept[n % len(kept)], ("approved", "rejected", "pending")[n // len(kept) % 3]) for n in range(changes)]
    # Each record's changes in their order, so that each of them changes something; deletions anywhere between.
    places = sorted(range(len(jobs)), key=lambda n: chance.random() * changes if n < deletions else n - deletions)
    waiting = [jobs[n] for n in places][::-1]
    done = 0

    async def writer() -> None:
        nonlocal done
        while waiting:
            number, status = waiting.pop()
            async with database.transaction() as db:
                if status:
                    decided = await records.decide(db, SYSTEM, [number], status)
                    done += len(decided)
                else:
                    await records.remove(db, SYSTEM, [number])
                await asyncio.sleep(chance.random() ** 4 * LONGEST_OPEN_S)

    async def work() -> None:
        await asyncio.gather(*(writer() for _ in range(writers)))

    readers, spent_s = await followed(portal, ATTENDANCE, "id", ("status", "deleted"), work)
    async with database.transaction() as db:
        columns = AttendanceRecord.id, AttendanceRecord.status, AttendanceRecord.deleted_at.is_not(None)
        stored: Read = {row[0]: (row[1], row[2]) for row in await db.execute(select(*columns))}
    return compared(
        "attendance", readers, stored, f"{done} changes and {deletions} deletions by {writers} writers", spent_s
    )


@dataclass
class Crowd:
    """People who agree over HTTP and change their minds, while others of them are removed and erased."""

    database: Database
    portal: Portal
    survey: Stored
    people: int
    removals: int
    writers: int
    agreed: list[tuple[int, str]] = field(default_factory=list)
    turned = removed = erased = 0

    async def work(self) -> None:
        async with lines(self.portal, self.writers) as opened:
            taking = asyncio.ensure_future(self._take_away(random.Random(7)))
            await self._agree(opened)
            await self._turn(opened)
            await taking

    async def _agree(self, opened: list[Line]) -> None:
        body = msgspec.json.encode({"survey": self.survey.uid, "action": "agree"})
        people = range(1, self.people + 1)
        answers, _ = await spread(opened, [("POST", RESPOND, token_of(one), body) for one in people])
        for person, (status, answer) in zip(people, answers, strict=True):
            if status != OK:
                raise SystemExit(f"respond: {status} {answer[:200]!r}")
            self.agreed.append((person, msgspec.json.decode(answer)["data"]["receipt"]))

    async def _turn(self, opened: list[Line]) -> None:
        """A third withdraw, and another third agree again after that."""
        for act, of in (("withdraw", 1), ("agree", 2)):
            some = [one for place, one in enumerate(self.agreed) if place % 3 >= of]
            calls = [
                ("POST", f"/v1/api/me/responses/{receipt}/{act}", token_of(person), b"") for person, receipt in some
            ]
            answers, _ = await spread(opened, calls)
            self.turned += sum(status == OK for status, _ in answers)

    async def _take_away(self, chance: random.Random) -> None:
        while self.removed < self.removals:
            async with self.database.transaction() as db:
                left = select(Response.number).where(Response.number.not_in(select(Tombstone.number)))
                some = list(await db.scalars(left.order_by(func.random()).limit(5)))
                if some:
                    await db.execute(insert(Tombstone), [{"number": number} for number in some])
                live = select(PersonKey.id).where(PersonKey.erased_at.is_(None)).order_by(func.random()).limit(1)
                gone = update(PersonKey).where(PersonKey.id.in_(live)).values(sealed_key=None, erased_at=func.now())
                self.erased += len((await db.execute(gone.returning(PersonKey.id))).all())
                self.removed += len(some)
                await asyncio.sleep(chance.random() * LONGEST_OPEN_S)

    async def stored(self) -> Read:
        removed = Response.number.in_(select(Tombstone.number))
        columns: tuple[Any, ...] = (Response.number, OUTCOME, PersonKey.erased_at.is_not(None), removed)
        found = select(*columns).outerjoin(PersonKey, PersonKey.id == Response.key_id)
        async with self.database.transaction() as db:
            return {row[0]: (row[1], row[2], row[3]) for row in await db.execute(found)}


async def responses(crowd: Crowd) -> bool:
    readers, spent_s = await followed(crowd.portal, RESPONSES, "number", ("outcome", "erased", "deleted"), crowd.work)
    did = (
        f"{crowd.people} agreements, {crowd.turned} changes of them, {crowd.removed} removals and {crowd.erased} erasures"
        f" by {crowd.writers + 1} writers"
    )
    return compared("responses", readers, await crowd.stored(), did, spent_s)


async def main(changes: int, deletions: int, writers: int, feeds: Sequence[str]) -> None:
    async with arena() as database:
        wide = Database(database.url, pool_size=writers + 4)
        async with database.transaction() as db:
            await gather_people(db, changes // 2)
            await db.execute(text(_READER), {"token": TOKEN})
            survey = await published(db, title="Badges", type="consent", questions=[CONSENT])
        await settle(database)
        async with serving(database, workers=2) as portal:
            good = []
            if "attendance" in feeds:
                good.append(await attendance(wide, portal, changes, deletions, writers))
            if "responses" in feeds:
                good.append(await responses(Crowd(wide, portal, survey, changes // 2, deletions, writers)))
        await wide.close()
    if not all(good):
        raise SystemExit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--deletions", type=int, default=500)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("feeds", nargs="*", default=["attendance", "responses"])
    arguments = parser.parse_args()
    asyncio.run(main(arguments.changes, arguments.deletions, arguments.writers, arguments.feeds))
