"""A filled workspace (full_house.py) in a folder of its own, somebody who may see all of it, and all that can be asked
of it: pages, APIs, the first bytes of exports, and jobs.
bench_plans counts what they read, bench_growth how long they take."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import text

from app import wiring
from app.accounts import housekeeping
from app.clock import jobs as clock_jobs
from app.clock import purge
from app.clock.days import DaySpan
from app.clock.figures import completeness
from app.clock.importing import preview
from app.clock.settings import read_settings
from app.clock.sync import count_check
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import PLATFORM, Database
from app.host import jobs as host_jobs
from app.jobs import Claim
from app.parts import Parts, make_parts
from app.surveys import jobs as survey_jobs
from app.web import sessions
from tests.benchmarks import addresses, bench_lists, full_house
from tests.benchmarks.arena import BASE_URL, settings_in, site_of

View = Callable[[], Awaitable[object]]
Job = Callable[[Parts, Claim], Awaitable[None]]
CLAIM = Claim(1, 1, PLATFORM, "", {})
# So many bytes of an export hold its heading and the first rows.
FIRST_BYTES = 4096


@dataclass
class House:
    """A filled workspace that is served in this process. `survey` has most of the answers."""

    parts: Parts
    app: Any
    client: httpx.AsyncClient
    cookie: str
    server: psutil.Process
    token: str
    survey: str
    today: date

    def views(self) -> dict[str, View]:
        return {
            **{name: self._asking(url) for name, url in addresses.pages(self.survey, self.today).items()},
            **{name: self._asking(url, token=True) for name, url in addresses.apis(self.survey, self.today).items()},
            **{f"export: {name}": self._exporting(url) for name, url in addresses.exports(self.today).items()},
            **self._jobs(),
        }

    def worked_s(self) -> float:
        """Processor time of this process and of the server's connections."""
        theirs = [one.cpu_times() for one in self.server.children()]
        return time.process_time() + sum(one.user + one.system for one in theirs)

    def _asking(self, url: str, *, token: bool = False) -> View:
        headers = {"Authorization": f"Bearer {self.token}"} if token else {}

        async def ask() -> None:
            answer = await self.client.get(url, headers=headers)
            if answer.status_code >= httpx.codes.BAD_REQUEST or answer.headers.get("location", "").startswith(
                "/sign-in"
            ):
                raise SystemExit(f"{url} answered {answer.status_code}")

        return ask

    def _exporting(self, url: str) -> View:
        """Until the first rows came; then the reader leaves."""
        path, _, query = url.partition("?")
        headers = {"host": BASE_URL.partition("://")[2], "cookie": self.cookie, "accept-encoding": "identity"}
        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "root_path": "", "path": path,
            "raw_path": path.encode(), "query_string": query.encode(), "client": ("127.0.0.1", 1), "server": ("testserver", 80),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip

        async def ask() -> None:
            begun, size = asyncio.Event(), 0

            async def receive() -> dict[str, Any]:
                await begun.wait()
                return {"type": "http.disconnect"}

            async def send(message: MutableMapping[str, Any]) -> None:
                nonlocal size
                if message["type"] == "http.response.start" and message["status"] != httpx.codes.OK:
                    raise SystemExit(f"{url} answered {message['status']}")
                size += len(message.get("body", b""))
                if size >= FIRST_BYTES or (message["type"] == "http.response.body" and not message.get("more_body")):
                    begun.set()

            answering = asyncio.ensure_future(self.app({**scope, "state": {}}, receive, send))
            await asyncio.wait([answering, asyncio.ensure_future(begun.wait())], return_when=asyncio.FIRST_COMPLETED)
            await answering

        return ask

    def _jobs(self) -> dict[str, View]:
        def job(function: Job) -> View:
            return lambda: function(self.parts, CLAIM)

        return {
            "job: schedule of the clock": lambda: clock_jobs.schedule(self.parts, PLATFORM),
            "job: schedule of the surveys": lambda: survey_jobs.schedule(self.parts, PLATFORM),
            "job: schedule of the host": lambda: host_jobs.schedule(self.parts, PLATFORM),
            "job: import, nothing due": job(clock_jobs.import_punches),
            "job: purge, nothing old": lambda: purge.purge(self.parts.database, PLATFORM, datetime.now(UTC) - timedelta(days=900)),
            "job: purge of a week": self._purge_a_week,
            "job: head of the ledger": job(survey_jobs.note_head),
            "job: housekeeping, nothing old": self._housekeeping,
            "job: look for problems": job(host_jobs.look_for_problems),
            "job: tell of problems": job(host_jobs.tell_alerts),
            "job: old webhooks": job(host_jobs.tidy_webhooks),
            "check: everything held": self._held,
            "complete up to, warnings": self._completeness,
            "preview of other rules": self._preview,
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

    async def _preview(self) -> None:
        now = datetime.now(UTC)
        async with self.parts.database.transaction() as db:
            other = replace(await read_settings(db, now), default_direction="undirected")
            await preview.preview(db, other, now)


@contextmanager
def folder_of(kept: Path | None) -> Iterator[Path]:
    """The folder of the houses: one that stays, or one for this run."""
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as made:
        Path(made).chmod(
            0o755
        )  # else the server's own user, who can't reach it, puts the rows elsewhere, and leaves them there
        yield kept or Path(made)


@asynccontextmanager
async def opened(folder: Path, punches: int) -> AsyncIterator[House]:
    """The house in this folder; where the folder is empty, it is filled first."""
    wiring.connect()
    cluster = embedded.start(folder, durable=False)
    async with AsyncExitStack() as stack:
        stack.callback(cluster.stop)
        await migrate(cluster.owner_url, embedded.APP_ROLE)
        survey = await _filled(cluster, punches)
        settings = settings_in(str(folder))
        parts = make_parts(settings, cluster.app_url)
        stack.push_async_callback(parts.close)
        app = site_of(parts)
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
        client = httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=None)
        name = sessions.cookie_name(settings)
        client.cookies.set(name, "session")
        await stack.enter_async_context(client)
        async with parts.database.transaction() as db:
            server = psutil.Process(await db.scalar(text("SELECT pg_backend_pid()"))).parent()
        yield House(parts, app, client, f"{name}=session", server, "token", survey, datetime.now(UTC).date())


async def _filled(cluster: embedded.EmbeddedCluster, punches: int) -> str:
    database, owner = Database(cluster.app_url), Database(cluster.owner_url)
    try:
        async with database.transaction() as db:
            most = await db.scalar(text("SELECT s.uid::text FROM surveys s ORDER BY s.id LIMIT 1"))
        if most is None:
            most = await full_house.fill(database, owner, punches, datetime.now(UTC).date())
            async with database.transaction() as db:
                await bench_lists.person(db)
        async with database.transaction() as db:
            await db.execute(text("UPDATE sessions SET last_seen_at = now(), expires_at = now() + interval '1 hour'"))
        await full_house.settle(owner)
        return str(most)
    finally:
        await database.close()
        await owner.close()
