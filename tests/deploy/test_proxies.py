"""The proxies of `deploy/` in front of two web processes: one is restarted under requests, and none fails."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.accounts import accounts
from app.accounts.accounts import NewUser
from app.accounts.audit import COMMAND_LINE
from app.clock.pages.sync.center import LONGEST_STREAM_S
from app.parts import Parts
from app.web.transport.body import LARGEST
from tests.clock import sync_rows
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine
from tests.conftest import Browser
from tests.deploy.proxies import NAME, Proxy
from tests.test_cli_serve import PATIENCE_S, Running, free_port

pytestmark = pytest.mark.slow
INSTALL = {"nginx": "nginx-light", "caddy": "caddy"}
VISITORS, PAUSE_S, ANSWERS = 6, 0.05, 30
# What is asked, and what it is answered with: nothing of it is stored, and every second request may not be repeated.
ASKED = (("GET", "/sign-in", 200), ("POST", "/v1/api/auth/token", 422))
# The address of each ends in a secret; a proxy reads the last three as `/ping/`.
SECRET = "RmluZHMtdGhpcy1pbi1uby1sb2c_4-secret"
SECRET_PAGES = ("/ping/", "/welcome/", "/mail/unsubscribe/", "//ping/", "/%70ing/", "/a/../ping/")
WRONG_BODY: dict[str, Any] = {"content": b"{", "headers": {"Content-Type": "application/json"}}


def is_here(program: str) -> bool:
    """True when the proxy can be started; root has it installed."""
    if shutil.which(program) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", INSTALL[program]]
        # The packages would start a service of their own, on the usual ports.
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, capture_output=True, check=False)
        subprocess.run(command, env=quiet, capture_output=True, check=False)
    return shutil.which(program) is not None


@pytest.fixture(params=["nginx", "caddy"])
def kind(request: pytest.FixtureRequest) -> str:
    if not is_here(request.param):
        pytest.skip(f"{request.param} is not installed, and this user may not install it")
    return str(request.param)


class Site:
    """Two web processes, and the proxy before them."""

    def __init__(self, kind: str, folder: Path, environment: dict[str, str]) -> None:
        self.kind, self.folder, self.environment = kind, folder, environment
        self.ports = free_port(), free_port()
        self.serving = [self.serve(port) for port in self.ports]
        self.proxy = Proxy(kind, folder, free_port(), free_port(), self.ports)

    def serve(self, port: int) -> Running:
        return Running(self.folder, self.environment, "serve", "--port", str(port), "--no-worker")

    async def starts(self) -> None:
        for one in self.serving:
            await one.says("Muster serves")
        await asyncio.to_thread(self.proxy.await_start)
        # Caddy looked before the processes were there, and looks again a second later.
        async with asyncio.timeout(PATIENCE_S), self.client() as client:
            while (await client.get("/health/ready")).status_code != 200:  # noqa: ASYNC110 - they are other processes
                await asyncio.sleep(0.1)

    async def restart(self, number: int) -> None:
        old = self.serving[number]
        old.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(old.process.wait, PATIENCE_S) == 0
        self.serving[number] = self.serve(self.ports[number])
        await self.serving[number].says("Muster serves")

    def end(self) -> None:
        self.proxy.end()
        self.kill_processes()

    def kill_processes(self) -> None:
        for one in self.serving:
            one.kill_all()

    async def status_of(self, path: str, *headers: str, plain: bool = False) -> int:
        """Asks for the path as it is written here: clients put it into order first."""
        tls = {} if plain else {"ssl": self.proxy.trust, "server_hostname": NAME}
        port = self.proxy.plain_port if plain else self.proxy.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port, **tls)
        head = (f"GET {path} HTTP/1.1", f"Host: {NAME}", "Connection: close", *headers, "", "")
        writer.write("\r\n".join(head).encode())
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.read()
        writer.close()
        return int(answer.split()[1])

    def client(self, source: str = "127.0.0.1") -> httpx.AsyncClient:
        """As a browser that knows the name by its own: each request goes to the proxy, over TLS."""
        return httpx.AsyncClient(
            base_url=f"https://127.0.0.1:{self.proxy.port}", timeout=PATIENCE_S, headers={"Host": NAME},
            transport=Named(verify=self.proxy.trust, local_address=source),
        )  # fmt: skip

    async def answered(self, number: int) -> int:
        """How many of the asked requests this process answered since it started:
        /metrics counts on the machine itself."""
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            counted = await client.get(f"http://127.0.0.1:{self.ports[number]}/metrics")
        lines = re.findall(r'(?m)^muster_requests_total\{.*route="/sign-in".*\} (\d+)', counted.text)
        return sum(int(float(line)) for line in lines)


class Named(httpx.AsyncHTTPTransport):
    """Asks 127.0.0.1, and wants the certificate of the name."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions["sni_hostname"] = NAME
        return await super().handle_async_request(request)


@pytest.fixture
async def portal(kind: str, muster: CommandLine, tmp_path: Path) -> AsyncIterator[Site]:
    settings = {"MUSTER_TRUSTED_PROXIES": "1", "MUSTER_DRAIN_S": "5", "MUSTER_BASE_URL": f"https://{NAME}"}
    made = Site(kind, tmp_path, {**muster.environment, **settings})
    try:
        await made.starts()
        yield made
    finally:
        made.end()


class Visitors:
    """Ask one page after the other, and note every answer that is another one than it must be."""

    def __init__(self, portal: Site) -> None:
        self.portal, self.answered, self.failed, self.stopped = portal, 0, list[str](), False

    async def visit(self) -> None:
        async with self.portal.client() as client:
            while not self.stopped:
                for method, path, expected in ASKED:
                    await self.ask(client, method, path, expected)
                    await asyncio.sleep(PAUSE_S)

    async def ask(self, client: httpx.AsyncClient, method: str, path: str, expected: int) -> None:
        try:
            answer = await client.request(method, path, **(WRONG_BODY if method == "POST" else {}))
        except httpx.HTTPError as error:
            self.failed.append(f"{method} {path}: {error!r}")
        else:
            self.answered += 1
            if answer.status_code != expected:
                self.failed.append(f"{method} {path}: {answer.status_code}")

    async def see_more(self, number: int = ANSWERS) -> None:
        before = self.answered
        while self.answered < before + number:  # noqa: ASYNC110 - the answers come from other processes
            await asyncio.sleep(0.02)


# With Caddy it was tried by hand: it learns within a second that a process is about to end,
# which a busy machine may not grant.
@pytest.mark.parametrize("kind", ["nginx"], indirect=True)
async def test_each_process_is_restarted_and_no_request_fails(portal: Site) -> None:
    visitors = Visitors(portal)
    visiting = [asyncio.create_task(visitors.visit()) for _ in range(VISITORS)]
    async with asyncio.timeout(PATIENCE_S):
        await visitors.see_more()
        for number in (0, 1):
            await portal.restart(number)
            before = await portal.answered(number)
            while await portal.answered(number) < before + 5:  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.05)
        await visitors.see_more()
    visitors.stopped = True
    await asyncio.gather(*visiting)
    assert visitors.failed == [], portal.proxy.said


async def test_what_a_request_is_and_what_is_answered_come_through_as_they_are(
    portal: Site, parts: Parts, bob: Browser, urls: DatabaseUrls
) -> None:
    """One after the other, since each pair of web processes takes seconds to start."""
    await pages_are_compressed_once(portal)
    await a_body_is_as_large_as_the_portal_allows(portal, bob)
    await an_event_comes_as_soon_as_it_is_sent(portal, parts, bob)
    await the_audit_has_the_address_of_the_caller(portal, parts, urls)
    await no_log_has_a_secret_address(portal)


async def pages_are_compressed_once(portal: Site) -> None:
    async with portal.client() as client:
        answer = await client.get("/sign-in", headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200, portal.proxy.said
    assert answer.headers["content-encoding"] == "gzip"


async def a_body_is_as_large_as_the_portal_allows(portal: Site, bob: Browser) -> None:
    async with portal.client() as client:
        headers = {"Cookie": _secure(bob), "Content-Type": "application/x-www-form-urlencoded"}
        most = await client.post("/clock_sync", content=b"a" * LARGEST, headers=headers)
        assert most.status_code not in (413, 502), "the portal itself answers"
        # Caddy counts what comes, and closes the connection under a client that is still sending.
        if portal.kind == "nginx":
            more = await client.post("/clock_sync", content=b"a" * (LARGEST + 1), headers=headers)
            assert (more.status_code, "x-request-id" in more.headers) == (413, False), "the proxy answers"


async def an_event_comes_as_soon_as_it_is_sent(portal: Site, parts: Parts, bob: Browser) -> None:
    await sync_rows.connected(parts)
    async with parts.database.transaction() as db:
        address = f"/clock_sync/live/{await sync_rows.run(db, 'running')}"
    headers = {"Cookie": _secure(bob), "Accept-Encoding": "gzip"}
    async with portal.client() as client, client.stream("GET", address, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        # The run works on, so the stream stays open. A proxy that waited for more would not hand this on.
        first = await asyncio.wait_for(anext(answer.aiter_lines()), LONGEST_STREAM_S / 2)
    assert first == "event: run"


async def the_audit_has_the_address_of_the_caller(portal: Site, parts: Parts, urls: DatabaseUrls) -> None:
    async with parts.database.transaction() as db:
        new = NewUser("ida@example.org", "Ida", "employee", (), "correct horse battery")
        await accounts.create(db, COMMAND_LINE, new)
    async with portal.client(source="127.0.0.7") as client:
        signing = {"email": "ida@example.org", "password": "correct horse battery"}
        made_up = {"X-Forwarded-For": "203.0.113.9"}
        answer = await client.post("/v1/api/auth/token", json=signing, headers=made_up)
    assert answer.status_code == 201, answer.text
    with psycopg.connect(urls.owner) as db:
        (address,) = db.execute("SELECT ip FROM shared.audit_entries WHERE ip IS NOT NULL").fetchone() or ("",)
    assert str(address) == "127.0.0.7"


async def no_log_has_a_secret_address(portal: Site) -> None:
    """Neither that it was asked for, nor that no process answered."""
    assert await portal.status_of(f"/ping/{SECRET}") == 404
    portal.kill_processes()
    # Caddy's next look finds them gone; until then it calls them in vain.
    assert await portal.status_of("/control") in (502, 503)
    assert "/control" in portal.proxy.said
    for page in SECRET_PAGES:
        assert await portal.status_of(page + SECRET) in (502, 503), page
        if portal.kind == "nginx":
            assert await portal.status_of(page + SECRET, plain=True) == 301
    if portal.kind == "nginx":
        for line in ('"GET /control HTTP/1.1" 502', 'request: "GET /control HTTP/1.1", upstream'):
            assert line in portal.proxy.said, "both logs are looked at"
        refused_at_once = f"Cookie: {'a' * 40_000}"
        for path in (f"/welcome/{SECRET}", "/refused"):
            assert await portal.status_of(path, refused_at_once) == 400
        async with asyncio.timeout(PATIENCE_S):
            while '"GET /refused HTTP/1.1" 400' not in portal.proxy.said:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.1)
    assert SECRET not in portal.proxy.said


def _secure(browser: Browser) -> str:
    """The session under the name that it has over TLS."""
    return "; ".join(f"__Host-muster={cookie.value}" for cookie in browser.cookies.jar)
