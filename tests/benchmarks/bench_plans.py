"""What grows with the rows stored: the blocks that the statements of each page, API and job read, in a workspace of some size and in one
of ten times as much. Time says little on a busy machine; blocks are the same on each.

    python -m tests.benchmarks.bench_plans [--punches 5000] [--times 10] [--told FILE] [--only WORDS]

Printed for each view: the blocks at both sizes, and their ratio, most first. FILE gets the plans of those that grew. A view that asks
for a tenth of a year is meant to read its punches; a list, a page, or a figure is not.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import httpx
from sqlalchemy import text

from app.accounts import housekeeping
from app.clock import jobs as clock_jobs
from app.clock import purge
from app.clock.days import DaySpan
from app.clock.figures import completeness
from app.clock.sync import count_check
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from app.jobs import Claim
from app.parts import Parts, make_parts
from app.surveys import jobs as survey_jobs
from app.web import sessions
from tests.benchmarks import bench_lists, bench_results, full_house
from tests.benchmarks.arena import BASE_URL, settings_in, site_of
from tests.benchmarks.explained import Read, watch

# Ten times the rows may make an index one level deeper.
GROWN = 1.3
FEW = 60
View = Callable[[], Awaitable[object]]
CLAIM = Claim(1, 1, "main", "", {})


@dataclass(frozen=True, slots=True)
class Measured:
    blocks: int
    reads: list[Read]


@dataclass
class House:
    """A filled workspace, and somebody who may see all of it."""

    parts: Parts
    client: httpx.AsyncClient
    token: str
    survey: str
    today: date

    def views(self) -> dict[str, View]:
        return {
            **{name: self._asking(url) for name, url in self._pages().items()},
            **{name: self._asking(url, token=True) for name, url in self._apis().items()},
            **self._jobs(),
        }

    def _asking(self, url: str, *, token: bool = False) -> View:
        headers = {"Authorization": f"Bearer {self.token}"} if token else {}

        async def ask() -> None:
            answer = await self.client.get(url, headers=headers)
            if answer.status_code >= httpx.codes.BAD_REQUEST or answer.headers.get("location", "").startswith(
                "/sign-in"
            ):
                raise SystemExit(f"{url} answered {answer.status_code}")

        return ask

    def _pages(self) -> dict[str, str]:
        month = f"from={self.today - timedelta(days=60)}&to={self.today - timedelta(days=31)}"
        day = self.today - timedelta(days=40)
        punches = {f"punches: {name}": f"/clock_transactions?{query}" for name, query in bench_lists.PAGES.items()}
        surveys = {
            f"surveys: {name}": url
            for name, url in bench_results.pages(self.survey, "").items()
            if "receipt" not in url and name != "response"
        }
        return {
            **punches,
            "punches: one of a record": "/clock_transactions?record=77",
            "punches: settled": "/clock_transactions?settled=yes",
            "punches: gone": "/clock_transactions?gone=all",
            "punches: gone, open": "/clock_transactions?gone=open",
            "punches: ignored": "/clock_transactions?ignored=only",
            "punches: without the ignored": "/clock_transactions?ignored=hide",
            "punches: waiting": "/clock_transactions?group=waiting",
            "punches: two groups": "/clock_transactions?group=waiting&group=needs_person",
            "punch": "/clock_transactions/500",
            "dashboard": "/clock",
            "analytics": "/clock_analytics",
            "analytics, a year": f"/clock_analytics?from={self.today - timedelta(days=364)}&to={self.today}",
            "devices": "/clock_devices",
            "device": "/clock_devices/3",
            "clock people": "/clock_employees",
            "clock people: waiting": "/clock_employees?waiting=1",
            "clock person": "/clock_employees/42",
            "organization": "/clock_organization",
            "sync center": "/clock_sync",
            "sync center, deep": "/clock_sync?page=9000",
            "sync center: failed": "/clock_sync?status=failed",
            "run": "/clock_sync/runs/2",
            "logs": "/clock_logs",
            "logs, deep": "/clock_logs?page=9000",
            "logs: code": "/clock_logs?code=TC-RATE",
            "settings": "/clock_settings",
            **surveys,
            "why a person is asked": f"/surveys/view/{self.survey}/why",
            "ratings": "/surveys/ratings",
            "ratings, deep": "/surveys/ratings?page=9000",
            "ratings: stars": "/surveys/ratings?stars=1",
            "attendance": "/attendance",
            "attendance, deep": "/attendance?page=9000",
            "attendance: a month": f"/attendance?{month}",
            "attendance: pending": "/attendance?status=pending",
            "attendance: still open": "/attendance?open=1",
            "attendance: search": "/attendance?q=person+42",
            "attendance: by name": "/attendance?sort=name",
            "attendance: edited": "/attendance?edited=1",
            "attendance: days": "/attendance/days",
            "attendance: a day": f"/attendance/days/{day}",
            "attendance: people": "/attendance/people",
            "attendance: a person": "/attendance/people/42",
            "attendance: locks": "/attendance/locks",
            "record": "/attendance/301",
            "people": "/people",
            "person": "/people/42",
            "audit": "/admin/audit",
            "audit, deep": "/admin/audit?page=900",
            "audit: act": "/admin/audit?act=person.deactivate",
            "audit: person": "/admin/audit?person=B",
            "audit: who": "/admin/audit?actor=B",
            "audit: by": "/admin/audit?by=person",
            "audit: on": "/admin/audit?subject=attendance+77",
            "audit: a month": f"/admin/audit?{month}",
            "audit: entry": "/admin/audit/77",
            "jobs": "/admin/jobs",
            "jobs, deep": "/admin/jobs?page=9000",
            "jobs: failed": "/admin/jobs?status=failed",
            "users": "/admin/users",
            "tenants": "/admin/tenants",
            "metrics": "/metrics",
            "home": "/",
            "palette": "/palette?q=person",
        }  # fmt: skip

    def _apis(self) -> dict[str, str]:
        week = datetime.now(UTC) - timedelta(days=7)
        since = week.isoformat().replace("+00:00", "Z")
        clock = "/api/v1/clock"
        punches = {f"API: {name}": f"{clock}/transactions?{query}" for name, query in bench_lists.API.items()}
        summary = f"{clock}/analytics/summary?from={self.today - timedelta(days=29)}&to={self.today}"
        return {
            **punches,
            "API: followed": f"{clock}/transactions?updated_since={since}",
            "API: followed from the start": f"{clock}/transactions?updated_since=2001-01-01T00:00:00Z",
            "API: status": f"{clock}/status",
            "API: analytics": summary,
            "API: bindings": f"{clock}/bindings",
            "API: people": f"{clock}/employees",
            "API: devices": f"{clock}/devices",
            "API: runs": f"{clock}/sync-runs",
        }

    def _jobs(self) -> dict[str, View]:
        def job(function: Callable[[Parts, Claim], Awaitable[None]]) -> View:
            return lambda: function(self.parts, CLAIM)

        return {
            "job: schedule of the clock": lambda: clock_jobs.schedule(self.parts, "main"),
            "job: schedule of the surveys": lambda: survey_jobs.schedule(self.parts, "main"),
            "job: import, nothing due": job(clock_jobs.import_punches),
            "job: purge, nothing old": lambda: purge.purge(self.parts.database, "main", datetime.now(UTC) - timedelta(days=900)),
            "job: purge of a week": self._purge_a_week,
            "job: head of the ledger": job(survey_jobs.note_head),
            "job: housekeeping, nothing old": self._housekeeping,
            "check: everything held": self._held,
            "complete up to, warnings": self._completeness,
        }  # fmt: skip

    async def _purge_a_week(self) -> None:
        async with self.parts.database.transaction() as db:
            days = [self.today - timedelta(days=364 - n) for n in range(7)]
            await purge._purge_days(db, days)
            await db.rollback()

    async def _housekeeping(self) -> None:
        await housekeeping.tidy(self.parts.database.shared_transaction)

    async def _held(self) -> None:
        async with self.parts.database.transaction() as db:
            await count_check._held(db, 1, DaySpan(self.today - timedelta(days=365), date.max))

    async def _completeness(self) -> None:
        async with self.parts.database.transaction() as db:
            await completeness.complete_up_to(db, datetime.now(UTC))


async def measure(folder: Path, punches: int, only: str) -> dict[str, Measured]:
    """Fills the folder's database where it is empty."""
    cluster = embedded.start(folder, durable=False)
    async with AsyncExitStack() as stack:
        stack.callback(cluster.stop)
        await migrate(cluster.owner_url, embedded.APP_ROLE)
        survey = await _filled(cluster, punches)
        settings = settings_in(str(folder))
        parts = make_parts(settings, cluster.app_url)
        stack.push_async_callback(parts.close)
        transport = httpx.ASGITransport(app=site_of(parts), client=("127.0.0.1", 1))
        client = httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=None)
        client.cookies.set(sessions.cookie_name(settings), "session")
        house = House(parts, await stack.enter_async_context(client), "token", survey, datetime.now(UTC).date())
        return {name: await _measured(parts, view) for name, view in house.views().items() if only in name}


async def _measured(parts: Parts, view: View) -> Measured:
    with watch(parts.database.engine, parts.exports.engine) as found:
        await view()
    return Measured(found.blocks, found.reads)


async def _filled(cluster: embedded.EmbeddedCluster, punches: int) -> str:
    database, owner = Database(cluster.app_url), Database(cluster.owner_url)
    try:
        async with database.transaction() as db:
            most = await db.scalar(text("SELECT s.uid::text FROM surveys s ORDER BY s.id LIMIT 1"))
        if most is None:
            most = await full_house.fill(database, punches, datetime.now(UTC).date())
            async with database.transaction() as db:
                await bench_lists.person(db)
        async with database.transaction() as db:
            await db.execute(text("UPDATE sessions SET last_seen_at = now(), expires_at = now() + interval '1 hour'"))
        await full_house.settle(owner)
        return str(most)
    finally:
        await database.close()
        await owner.close()


def report(small: Mapping[str, Measured], large: Mapping[str, Measured]) -> int:
    """Prints all views, and returns how many grew."""
    grown = 0
    ratios = {name: one.blocks / max(small[name].blocks, FEW) for name, one in large.items()}
    for name in sorted(ratios, key=lambda one: -ratios[one]):
        grown += ratios[name] > GROWN
        print(f"{name:36} {small[name].blocks:10,} {large[name].blocks:10,}  × {ratios[name]:5.2f}{'  GREW' if ratios[name] > GROWN else ''}")  # fmt: skip
    print(f"{grown} of {len(ratios)} views read more blocks where there is more")
    return grown


def tell(told: Path, small: Mapping[str, Measured], large: Mapping[str, Measured]) -> None:
    """The plans of what grew, in the larger workspace."""
    with told.open("w") as out:
        for name, one in large.items():
            if one.blocks <= GROWN * max(small[name].blocks, FEW):
                continue
            out.write(f"== {name}: {small[name].blocks:,} -> {one.blocks:,}\n")
            for read in sorted(one.reads, key=lambda read: -read.blocks)[:3]:
                out.write(f"{read.told()}\n\n")


async def main(punches: int, times: int, told: Path | None, only: str, kept: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        found = []
        for number in (punches, punches * times):
            print(f"{number:,} punches, {number // 5:,} records, {number // 10:,} answers and entries of the audit", flush=True)  # fmt: skip
            found.append(await measure((kept or Path(folder)) / str(number), number, only))
        report(*found)
        if told:
            tell(told, *found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--punches", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--told", type=Path, help="a file for the plans of what grew")
    parser.add_argument("--only", default="", help="views with these words in their name")
    parser.add_argument("--kept", type=Path, help="a folder for the databases, which the next run finds filled")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.punches, arguments.times, arguments.told, arguments.only, arguments.kept))
