"""Work that never pauses while a server fails: people answer surveys, a supervisor decides records, a worker syncs.
Notes what was acknowledged, and says afterwards what of that is gone."""

import asyncio
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import insert, select, text

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import ApiToken, Session, User
from app.clock.sync import run_rows
from app.config import read_settings
from app.db.migrate import migrate
from app.db.session import Database
from app.parts import Parts, make_parts
from app.web import csrf
from tests.clock.syncing import Site
from tests.clock.syncing import site as clock_site
from tests.command_line import CommandLine
from tests.conftest import _make_cast, command_line
from tests.standby.servers import Pair
from tests.surveys.calling import RESPOND
from tests.surveys.drafted import published
from tests.test_cli_serve import PATIENCE_S, Running, free_port

PEOPLE, AT_ONCE, PAUSE_S = 60, 4, 0.1
_RECORDS = text(
    "INSERT INTO attendance_records (employee_id, workday, clock_in, clock_out, source)"
    " SELECT :employee, date '2020-01-01' + n, date '2020-01-01' + n + time '08:00', date '2020-01-01' + n + time '16:00', 'manual'"
    " FROM generate_series(1, :number) AS n RETURNING id"
)


def _of_each() -> dict[str, list[float]]:
    return {"page": [], "receipt": [], "decision": []}


@dataclass
class Acknowledged:
    """What people were told, and what they could see. `answered_at`, `failed_at`: of each request, on the
    clock of `time.monotonic`; `imported_at`: when new punches were seen. `statuses` counts all answers."""

    receipts: dict[tuple[str, int], str] = field(default_factory=dict)
    decided: set[int] = field(default_factory=set)
    punches: set[str] = field(default_factory=set)
    answered_at: dict[str, list[float]] = field(default_factory=_of_each)
    failed_at: dict[str, list[float]] = field(default_factory=_of_each)
    imported_at: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def numbers(self) -> dict[str, int]:
        return {"receipts": len(self.receipts), "decisions": len(self.decided), "punches": len(self.punches)}


class Work:
    """A portal and a worker as processes of their own over the pair, and those who use them."""

    def __init__(self, pair: Pair, folder: Path) -> None:
        self.pair, self.folder, self.port = pair, folder, free_port()
        self.muster: CommandLine = command_line(pair.urls, folder)
        here = f"http://127.0.0.1:{self.port}"
        self.muster.environment |= {"MUSTER_BASE_URL": here, "MUSTER_API_RATE": "0", "HOME": str(folder)}
        self.parts: Parts = make_parts(read_settings(self.muster.environment), pair.urls.app, pool_size=5)
        self.client = httpx.AsyncClient(base_url=here, timeout=PATIENCE_S)
        self.heard = Acknowledged()
        self._replies: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
        self._records: asyncio.Queue[int] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def database(self) -> Database:
        return self.parts.database

    async def fill(self) -> None:
        """The cast, and people with an app each."""
        await migrate(self.pair.urls.owner, "portal_app", workspaces=["main"])
        await _make_cast(self.pair.urls.owner, "portal_app")
        self.tokens = [secrets.token_urlsafe(16) for _ in range(PEOPLE)]
        async with self.database.shared_transaction() as db:
            for number, token in enumerate(self.tokens):
                named = {
                    "workspace": "main",
                    "email": f"p{number}@example.org",
                    "name": f"P {number}",
                    "type": "employee",
                }
                user_id = await db.scalar(insert(User).values(**named).returning(User.id))
                hashed = hashlib.sha256(token.encode()).digest()
                await db.execute(
                    insert(ApiToken).values(
                        user_id=user_id, name="app", token_hash=hashed, hint=token[-4:], scopes=["me"]
                    )
                )
        await self._sign_alice_in()

    async def _sign_alice_in(self) -> None:
        session_id = secrets.token_urlsafe(16)
        key = hashlib.sha256(session_id.encode()).digest()
        ends = datetime.now(UTC) + timedelta(hours=8)
        async with self.database.shared_transaction() as db:
            alice = await db.scalar(select(User.id).where(User.email == "alice@example.org"))
            given = {"user_id": alice, "ip": "127.0.0.1", "user_agent": "tests", "expires_at": ends}
            await db.execute(insert(Session).values(id_hash=key, **given))
        self.client.cookies.set("muster", session_id)
        self.csrf_token = csrf.masked(csrf.sign(self.parts.keys, key), b"m" * csrf.SIZE)

    async def add(self, surveys: int, records: int) -> None:
        """More to answer and to decide."""
        async with self.database.transaction("main") as db:
            made = [(await published(db, title=f"Survey {secrets.token_hex(3)}")).uid for _ in range(surveys)]
            employee = await db.scalar(
                text("INSERT INTO employees (id_number, id_number_key, name) VALUES ('x', 'x', 'Ada') RETURNING id")
            )
            for record in await db.scalars(_RECORDS, {"employee": employee, "number": records}):
                self._records.put_nowait(record)
        for survey in made:
            for person in range(PEOPLE):
                self._replies.put_nowait((str(survey), person))

    async def start(self) -> None:
        self.portal = Running(self.folder, self.muster.environment, "serve", "--port", str(self.port), "--no-worker")
        self.worker = Running(self.folder, self.muster.environment, "worker", "--concurrency", "2")
        await self.portal.says("Muster serves")
        await self.worker.says("worker started")
        self._begin(
            self._open_pages(), self._decide(), self._look_at_punches(), *(self._answer() for _ in range(AT_ONCE))
        )

    def _begin(self, *work: Coroutine[Any, Any, None]) -> None:
        self._tasks += [asyncio.create_task(one) for one in work]

    async def sync(self) -> int:
        async with self.database.transaction("main") as db:
            return (await run_rows.queue_run(db, "manual", {}, COMMAND_LINE))[0]

    async def _answer(self) -> None:
        while True:
            survey, person = await self._replies.get()
            sent = {"survey": survey, "action": "opt_out"}
            headers = {"Authorization": f"Bearer {self.tokens[person]}"}
            answer = await self._insist("receipt", "POST", RESPOND, json=sent, headers=headers)
            assert answer.status_code == 200, answer.text
            self.heard.receipts[survey, person] = answer.json()["data"]["receipt"]

    async def _decide(self) -> None:
        while True:
            record = await self._records.get()
            form = {"status": "approved", csrf.FIELD: self.csrf_token}
            answer = await self._insist("decision", "POST", f"/attendance/{record}/decide", data=form)
            assert answer.status_code == 303, answer.text
            self.heard.decided.add(record)

    async def _open_pages(self) -> None:
        while True:
            answer = await self._insist("page", "GET", "/people")
            assert answer.status_code == 200, answer.text
            await asyncio.sleep(PAUSE_S)

    async def _look_at_punches(self) -> None:
        """By the number that the time clock gives: the last page before a failure may be read again."""
        while True:
            try:
                found = await self.rows("SELECT remote_id FROM clock_transactions")
            except Exception:  # noqa: BLE001 - the server is away, in one of many ways
                await asyncio.sleep(PAUSE_S)
                continue
            if new := {one.remote_id for one in found} - self.heard.punches:
                self.heard.punches |= new
                self.heard.imported_at.append(time.monotonic())
            await asyncio.sleep(PAUSE_S)

    async def _insist(self, what: str, method: str, url: str, **sent: Any) -> httpx.Response:
        """As a person who is told to try again does. Anything but 503 is an answer."""
        while True:
            answer = await self.client.request(method, url, **sent)
            self.heard.statuses[answer.status_code] += 1
            assert answer.status_code < 500 or answer.status_code == 503, self.portal.printed[-8000:]
            if answer.status_code != 503:
                self.heard.answered_at[what].append(time.monotonic())
                return answer
            assert int(answer.headers["retry-after"]) > 0
            self.heard.failed_at[what].append(time.monotonic())
            await asyncio.sleep(PAUSE_S)

    async def rows(self, statement: str, **values: Any) -> Sequence[Any]:
        async with self.database.transaction("main") as db:
            return (await db.execute(text(statement), values)).all()

    async def answered_again(self, killed: float, promoted: float) -> dict[str, float]:
        """Seconds from the first moment until each kind of request worked, and failed no more. Waits for that."""
        times = self.heard.answered_at
        async with asyncio.timeout(PATIENCE_S):
            while not all(one and one[-1] > promoted for one in times.values()):
                self.refuse_broken()
                await asyncio.sleep(0.02)
        failed = {what: max([killed, *one]) for what, one in self.heard.failed_at.items()}
        return {what: min(at for at in one if at > failed[what]) - killed for what, one in times.items()}

    async def imported_again(self, killed: float, promoted: float) -> float:
        """Seconds from the kill until new punches of the time clock were seen. Waits for that, and asks for a run:
        a job gives up after many deaths of its server."""
        imported = self.heard.imported_at
        while not imported or imported[-1] < promoted:
            self.refuse_broken()
            await self.sync()
            await asyncio.sleep(1)
        return next(at for at in imported if at > promoted) - killed

    def refuse_broken(self) -> None:
        """What a task met ends the test here, and so does a process that ended."""
        for task in self._tasks:
            if task.done():
                task.result()
        for process in (self.portal, self.worker):
            assert process.process.poll() is None, process.printed

    async def pause(self) -> None:
        for task in self._tasks:
            task.cancel()
        for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
            assert isinstance(ended, asyncio.CancelledError), ended
        self._tasks.clear()

    async def lost(self) -> dict[str, list[Any]]:
        """What was acknowledged until now and is not there. The work may continue meanwhile. A sync commits its pages
        without waiting for the standby, so punches are complete once the sync is beyond where it was."""
        heard = set(self.heard.receipts.values()), set(self.heard.decided), set(self.heard.punches)
        receipts = {row.hash for row in await self.rows("SELECT encode(row_hash, 'hex') AS hash FROM survey_responses")}
        decided = {row.id for row in await self.rows("SELECT id FROM attendance_records WHERE status = 'approved'")}
        punches = {row.remote_id for row in await self.rows("SELECT remote_id FROM clock_transactions")}
        return {
            "receipts": sorted(heard[0] - receipts),
            "decisions": sorted(heard[1] - decided),
            "punches": sorted(heard[2] - punches),
        }

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for name in ("portal", "worker"):
            if running := getattr(self, name, None):
                running.kill_all()
        await self.client.aclose()
        await self.parts.close()


@asynccontextmanager
async def working(
    pair: Pair, folder: Path, *, employees: int, days: int, slow_s: float
) -> AsyncIterator[tuple[Work, Site]]:
    """The work over a pair whose standby has joined, and the time clock that it syncs with,
    `slow_s` for each answer."""
    work = Work(pair, folder)
    try:
        await work.fill()
        now = datetime.now(UTC).replace(microsecond=0)
        async with clock_site(work.parts, employees=employees, days=days, now=now) as here:
            await here.set(page_size=20, sync_interval_minutes=0)
            here.faults(f"slow={slow_s}")
            await asyncio.to_thread(pair.join)
            await work.start()
            yield work, here
    finally:
        await work.close()
