"""The long-lived commands as processes: `serve` with its worker, `demo`, and how they end, kindly or not."""

import asyncio
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from app.accounts.audit import SYSTEM
from app.clock.sync import run_rows
from app.db.session import Database
from tests.clock.clock_worker import until
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine

pytestmark = pytest.mark.slow
# For what would else hang: a start takes two seconds of a core, which on a busy machine may be minutes.
PATIENCE_S = 180
Start = Callable[..., "Running"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def two_free_ports() -> int:
    """The first of two that follow each other."""
    while True:
        port = free_port()
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port + 1))
            return port


class Running:
    """A `muster` process, what it printed, and the processes below it.
    `program`: the folder of another version than this one."""

    def __init__(self, folder: Path, environment: dict[str, str], *arguments: str, program: Path | None = None) -> None:
        self.log = folder / f"{arguments[0]}-{time.monotonic_ns()}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", *arguments],
                env={"PATH": os.environ["PATH"], **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=program,
            )
        self.family = psutil.Process(self.process.pid)

    @property
    def printed(self) -> str:
        return self.log.read_text()

    async def says(self, words: str, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.printed.count(words) < times:
            assert self.process.poll() is None, self.printed
            assert time.monotonic() < deadline, self.printed
            await asyncio.sleep(0.05)

    def children(self, word: str) -> list[psutil.Process]:
        return [one for one in self.family.children(recursive=True) if word in one.cmdline()]

    async def end(self, number: int) -> int:
        """Sends a signal; the exit code. Whatever it left behind has ended as well, soon."""
        below = self.family.children(recursive=True)
        self.process.send_signal(number)
        code = await asyncio.to_thread(self.process.wait, PATIENCE_S)
        _, alive = await asyncio.to_thread(psutil.wait_procs, below, PATIENCE_S)
        assert alive == [], f"{alive} outlived their parent"
        return code

    def kill_all(self) -> None:
        below = self.family.children(recursive=True) if self.process.poll() is None else []
        for one in (*below, self.process):
            one.kill()
        self.process.wait()


@pytest.fixture
def start(muster: CommandLine, tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def begin(*arguments: object, **environment: str) -> Running:
        started.append(Running(tmp_path, {**muster.environment, **environment}, *map(str, arguments)))
        return started[-1]

    yield begin
    for one in started:
        one.kill_all()


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=10, headers={"host": "muster.example"}) as client:
        yield client


async def test_serve_keeps_idle_connections_answers_with_a_worker_beside_it_starts_that_again_and_ends_with_it(
    start: Start, http: httpx.AsyncClient
) -> None:
    """One after the other, since each portal takes seconds to start."""
    port = free_port()
    serving = start("serve", "--port", port, MUSTER_KEEP_ALIVE_S="7")
    await serving.says("worker started")
    await an_idle_connection_is_kept_as_long_as_the_setting_says(port)
    answer = await http.get(f"http://127.0.0.1:{port}/health/ready")
    assert answer.status_code == 200
    assert "server" not in answer.headers
    (worker,) = serving.children("worker")
    worker.kill()
    await serving.says("starting it again")
    await serving.says("worker started", times=2)
    assert await serving.end(signal.SIGTERM) == 0
    assert "worker stopped" in serving.printed


async def an_idle_connection_is_kept_as_long_as_the_setting_says(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    visitors = Visitors(port)
    assert await visitors.ask(reader, writer)
    await asyncio.sleep(6)
    assert await visitors.ask(reader, writer), "uvicorn itself ends it after 5 s"
    assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
    writer.close()


def counted(text: str, name: str) -> float:
    """The sum of a figure over all its labels."""
    found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
    return sum(map(float, found))


class Counting:
    """Asks the web processes of one `serve`, each time over a connection of its own, so that both get some."""

    def __init__(self, port: int, folder: Path) -> None:
        self.url, self.folder, self.asked = f"http://127.0.0.1:{port}", folder, 0

    @property
    def pids(self) -> set[int]:
        """Who has counted."""
        return {int(path.stem.rpartition("_")[2]) for path in self.files("counter_*.db")}

    def files(self, name: str) -> list[Path]:
        return list(self.folder.glob(f"muster-metrics-*/{name}"))

    async def ask(self) -> None:
        async with httpx.AsyncClient(timeout=30, headers={"host": "muster.example"}) as http:
            assert (await http.get(f"{self.url}/health/live")).status_code == 200
        self.asked += 1

    async def ask_until(self, processes: int) -> None:
        while len(self.pids) < processes:
            await asyncio.gather(*(self.ask() for _ in range(20)))

    async def scrape(self) -> str:
        async with httpx.AsyncClient(timeout=30, headers={"host": "muster.example"}) as http:
            return (await http.get(f"{self.url}/metrics")).text

    async def said(self) -> float:
        text = await self.scrape()
        return counted("\n".join(line for line in text.splitlines() if "/health/live" in line), "muster_requests_total")


async def database_knows(urls: DatabaseUrls, number: int) -> bool:
    """True once `muster doctor` would count so many web processes."""
    names = "SELECT count(DISTINCT application_name) FROM pg_stat_activity WHERE application_name LIKE 'muster web %'"
    with psycopg.connect(urls.app) as db:
        return db.execute(names).fetchone() == (number,)


async def test_two_processes_count_together_what_they_answered_also_by_one_that_died_and_keep_one_limit(
    start: Start, muster: CommandLine, tmp_path: Path, urls: DatabaseUrls
) -> None:
    """One after the other, since each pair of web processes takes seconds to start."""
    port = free_port()
    made = await muster("token:create", "alice@example.org", "--scope", "metrics:read", "--scope", "me", "--json")
    left = tmp_path / "muster-metrics-left"
    left.mkdir()
    os.utime(left, (0, 0))
    serving = start("serve", "--port", port, "--workers", 2, "--no-worker", TMPDIR=str(tmp_path), MUSTER_API_RATE="100")
    await serving.says("Application startup complete", times=2)
    assert not left.exists()
    # Neither was asked anything yet.
    await until(partial(database_knows, urls, 2))
    both = Counting(port, tmp_path)
    await both.ask_until(processes=2)
    assert {await both.said() for _ in range(10)} == {both.asked}
    connections = counted(await both.scrape(), "muster_db_connections")
    first, *_ = both.pids
    os.kill(first, signal.SIGKILL)
    await serving.says("Application startup complete", times=3)
    assert {await both.said() for _ in range(10)} == {both.asked}
    assert both.files(f"gauge_livesum_{first}.db") == []
    assert counted(await both.scrape(), "muster_db_connections") <= connections + 1
    await both.ask_until(processes=3)
    assert {await both.said() for _ in range(10)} == {both.asked}
    await they_serve_no_more_than_a_tenth_above_the_limit_of_a_token(both, made.json["token"])
    assert await serving.end(signal.SIGTERM) == 0
    assert both.files("") == []


async def they_serve_no_more_than_a_tenth_above_the_limit_of_a_token(both: Counting, token: str) -> None:
    """A hundred requests a minute."""

    async def ask() -> int:
        async with httpx.AsyncClient(timeout=60, headers={"host": "muster.example"}) as http:
            headers = {"Authorization": f"Bearer {token}"}
            return (await http.get(f"{both.url}/v1/api/me/surveys", headers=headers)).status_code

    started = time.monotonic()
    statuses = [status for _ in range(10) for status in await asyncio.gather(*(ask() for _ in range(25)))]
    refilled = (time.monotonic() - started) * 100 / 60
    assert set(statuses) == {200, 429}
    assert 90 <= statuses.count(200) <= 110 + refilled


class Visitors:
    """Ask one page after the other over kept connections, as a proxy does, and note every answer that did not come."""

    def __init__(self, port: int) -> None:
        self.port, self.answered, self.told, self.failed = port, 0, 0, list[str]()

    async def go_on(self) -> None:
        """Until the socket no longer takes connections: a proxy then asks the other process."""
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except ConnectionRefusedError:
                return
            try:
                while await self.ask(reader, writer):
                    self.answered += 1
                self.told += 1
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.failed.append(repr(error))
            finally:
                writer.close()

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """False where the server says that it will close the connection."""
        writer.write(b"GET /sign-in HTTP/1.1\r\nHost: muster.example\r\n\r\n")
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
        assert head.startswith("http/1.1 200 ")
        return "connection: close" not in head


async def not_ready(http: httpx.AsyncClient, port: int) -> httpx.Response:
    while True:
        answer = await http.get(f"http://127.0.0.1:{port}/health/ready")
        if answer.status_code == 503:
            return answer
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("workers", [1, 2])
async def test_at_sigterm_the_portal_says_so_and_answers_what_still_comes(
    start: Start, http: httpx.AsyncClient, workers: int
) -> None:
    port = free_port()
    serving = start("serve", "--port", port, "--workers", workers, "--no-worker", MUSTER_DRAIN_S="2")
    await serving.says("Application startup complete", times=workers)
    assert serving.children("worker") == []
    below = serving.family.children(recursive=True)
    visitors = Visitors(port)
    asking = [asyncio.create_task(visitors.go_on()) for _ in range(8)]
    while visitors.answered < 8:  # noqa: ASYNC110 - the portal is another process
        await asyncio.sleep(0.05)
    assert (await http.get(f"http://127.0.0.1:{port}/health/ready")).status_code == 200
    serving.process.send_signal(signal.SIGTERM)
    refused = await not_ready(http, port)
    assert (refused.json(), refused.headers["connection"]) == ({"status": "is stopping"}, "close")
    await asyncio.wait_for(asyncio.gather(*asking), PATIENCE_S)
    assert visitors.failed == []
    assert visitors.told > 8
    assert await asyncio.to_thread(serving.process.wait, PATIENCE_S) == 0
    _, alive = await asyncio.to_thread(psutil.wait_procs, below, PATIENCE_S)
    assert alive == [], f"{alive} outlived their parent"


async def test_a_killed_portal_takes_its_worker_and_its_web_processes_with_it(start: Start) -> None:
    serving = start("serve", "--port", free_port(), "--workers", 2, "--worker")
    await serving.says("worker started")
    await serving.says("Application startup complete", times=2)
    assert await serving.end(signal.SIGKILL) == -signal.SIGKILL


async def test_a_taken_port_is_refused_in_one_line(muster: CommandLine) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        serving = await muster("serve", "--port", port)
        demo = await muster("demo", "--port", free_port(), "--clock-port", port)
        mailing = await muster("demo", "--port", free_port(), "--clock-port", free_port(), "--mail-port", port - 1)
    assert serving.refusal == f"Cannot listen on 127.0.0.1, port {port}: Address already in use."
    assert demo.code == 1
    assert "--clock-port" in demo.err.splitlines()[-1]
    assert "Give --mail-port." in mailing.err.splitlines()[-1]


async def test_the_demo_refuses_production(muster: CommandLine) -> None:
    demo = await muster("demo", "--port", free_port(), "--clock-port", free_port(), MUSTER_ENV="production")
    assert demo.code == 1
    assert "prints its passwords" in demo.err


def signing_in(printed: str) -> list[list[str]]:
    lines = (line for line in printed.splitlines() if "export" not in line)
    return [line.split() for line in lines if "@example.org" in line]


def exported(printed: str) -> dict[str, str]:
    words = (word for line in printed.splitlines() if "  export " in line for word in shlex.split(line)[1:])
    return dict(word.split("=", 1) for word in words)


async def test_the_demo_fills_an_empty_machine_and_starts_again_in_seconds(
    start: Start, muster: CommandLine, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    port, clock_port = free_port(), free_port()
    mail_port = two_free_ports()
    options = ("--port", port, "--clock-port", clock_port, "--mail-port", mail_port, "--employees", 30, "--days", 3)
    environment = {"MUSTER_BASE_URL": f"http://127.0.0.1:{port}", "MUSTER_DATA_DIR": str(tmp_path / "data")}
    demo = start("demo", *options, **environment)
    await demo.says("Muster is ready")
    page = await http.get(f"http://127.0.0.1:{port}/sign-in", headers={"host": f"127.0.0.1:{port}"})
    assert page.status_code == 200
    sign_ins = signing_in(demo.printed)
    assert [one[0] for one in sign_ins] == ["Administrator", "Operator", "Viewer", "No"]
    assert "tina@acme.example.org" in demo.printed
    await demo.says("job done")
    assert f"Its mails: http://127.0.0.1:{mail_port}/" in demo.printed
    assert "No mail yet." in (await http.get(f"http://127.0.0.1:{mail_port}/")).text
    allowed = f":{clock_port},127.0.0.1/32:{mail_port}"
    assert f"{allowed} MUSTER_BASE_URL=http://127.0.0.1:{port}\n" in demo.printed, "what other commands need"
    mailed = await muster("mail:test", "ada@example.org", **exported(demo.printed))
    assert "took a mail for ada@example.org" in mailed.out
    deadline = time.monotonic() + PATIENCE_S
    while "sync.finished" not in (await http.get(f"http://127.0.0.1:{mail_port}/webhooks")).text:
        assert time.monotonic() < deadline, demo.printed
        await asyncio.sleep(0.05)
    assert "is ignored: the demo" in demo.printed, "the configured database was not touched"
    assert await demo.end(signal.SIGINT) == 0
    again = start("demo", *options, **environment)
    await again.says("Muster is ready")
    assert signing_in(again.printed) == sign_ins
    assert await again.end(signal.SIGTERM) == 0


async def test_a_sync_whose_worker_is_killed_is_gone_on_with_within_a_minute(
    start: Start, muster: CommandLine, database: Database, urls: DatabaseUrls
) -> None:
    """With the pace and the lease of production."""
    clock_port = free_port()
    simulator = start("clock:simulate", "--port", clock_port, "--employees", 60, "--days", 20, "--fault", "slow=0.4")
    await simulator.says("watch it at")
    connect = ("clock:connect", f"http://127.0.0.1:{clock_port}", "--username", "clock", "--profile", "cloud")
    zone = ("--timezone", "Europe/Berlin", "--no-test", "--password-stdin")
    assert (await muster(*connect, *zone, stdin="clock-demo\n")).code == 0
    assert (await muster("clock:settings", "page_size=20", "sync_interval_minutes=0")).code == 0
    async with database.transaction() as opened:
        await run_rows.queue_run(opened, "manual", {}, SYSTEM)
    first = start("worker")
    with psycopg.connect(urls.owner, autocommit=True) as db:
        await comes(db, "SELECT count(*) FROM main.clock_employees", 1, within_s=40)
        first.process.kill()
        first.process.wait()
        killed = time.monotonic()
        second = start("worker")
        await comes(db, "SELECT count(*) FROM main.clock_sync_runs WHERE trigger = 'resume'", 1, within_s=70)
        assert time.monotonic() - killed < 60
        (died,) = db.execute("SELECT status FROM main.clock_sync_runs WHERE id = 1").fetchone() or ("",)
    assert died == "truncated"
    assert await second.end(signal.SIGTERM) == 0


async def comes(db: "psycopg.Connection[tuple[int, ...]]", statement: str, least: int, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while (db.execute(statement).fetchone() or (0,))[0] < least:  # type: ignore[call-overload]
        assert time.monotonic() < deadline, statement
        await asyncio.sleep(0.2)
