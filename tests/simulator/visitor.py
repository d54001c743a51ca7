"""A client for tests: signs in as Muster does, and walks listings page by page."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx

from app.simulator import PASSWORD, USERNAME, Simulator, World, build_world, create_simulator, serving
from tests.simulator.worlds import fresh_world

NOW = datetime(2025, 3, 12, 15, 30, tzinfo=UTC)
ZONE = "Europe/Berlin"
# one for all: httpx would read the certificates of the whole world for every client
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def small_world(employees: int = 40, days: int = 7) -> World:
    return build_world(7, employees, days, 8, NOW, ZONE)


class Visitor:
    """One signed-in client of a served simulator."""

    def __init__(self, simulator: Simulator, http: httpx.AsyncClient) -> None:
        self.simulator = simulator
        self.http = http
        self.profile = simulator.profile
        self.refresh = ""

    async def sign_in(self, password: str = PASSWORD) -> httpx.Response:
        answer = await self.http.post(self.profile.sign_in, json={"username": USERNAME, "password": password})
        if answer.status_code == 200 and "json" in answer.headers["content-type"]:
            self.carry(answer.json())
        return answer

    async def renew(self) -> httpx.Response:
        word = "refresh" if self.profile.name == "cloud" else "token"
        answer = await self.http.post(self.profile.refresh, json={word: self.refresh})
        if answer.status_code == 200:
            self.carry(answer.json())
        return answer

    def carry(self, body: dict[str, Any]) -> None:
        tokens = body.get("data") or {} if self.profile.name == "cloud" else body
        token = tokens.get("access") or tokens.get("token") or tokens.get("access_token") or "none"
        self.refresh = tokens.get("refresh", token)
        self.http.headers["Authorization"] = f"JWT {token}"

    async def get(self, resource: str, **query: object) -> httpx.Response:
        return await self.http.get(
            self.profile.paths[resource], params={key: str(value) for key, value in query.items()}
        )

    async def page(self, resource: str, **query: object) -> tuple[list[Any], int]:
        """Rows and total of one page."""
        return unwrap(await self.get(resource, **query))

    async def walk(self, resource: str, size: int = 100, **query: object) -> list[Any]:
        """Every row, page after page until the total is reached or a page is empty."""
        rows: list[Any] = []
        page = 1
        while True:
            more, total = await self.page(resource, page=page, page_size=size, **query)
            rows += more
            if not more or len(rows) >= total:
                return rows
            page += 1

    async def control(self, what: str, /, **body: object) -> dict[str, Any]:
        answer = await self.http.post(f"/_control/{what}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def faults(self, *names: str) -> None:
        await self.control("faults", set=list(names))


def unwrap(answer: httpx.Response) -> tuple[list[Any], int]:
    assert answer.status_code == 200, answer.text
    body = answer.json()
    if "count" in body:
        return body["data"], body["count"]
    return body["data"]["data"], body["data"]["total"]


@asynccontextmanager
async def visiting(
    profile: str = "cloud", faults: Sequence[str] = (), world: World | None = None, **options: Any
) -> AsyncIterator[Visitor]:
    """A served simulator and a client who has signed in, unless a fault kept it out."""
    simulator = create_simulator(world or fresh_world(7, 40, 7, 8, NOW, ZONE), profile, faults, **options)
    async with serving(simulator) as address, httpx.AsyncClient(base_url=address, timeout=10, verify=PLAIN) as http:
        http.headers.update({"Accessor": "Web", "Timezone": ZONE})
        visitor = Visitor(simulator, http)
        await visitor.sign_in()
        yield visitor
