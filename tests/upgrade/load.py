"""What people, apps and programs ask of a portal all the time, while its version changes under them. Nothing is asked
again after a failure, and each failure is kept."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

PAGES = (
    "/clock",
    "/clock_transactions",
    "/clock_sync",
    "/people",
    "/attendance",
    "/surveys/list",
    "/account",
    "/admin/audit",
)
PAUSE_S, PATIENCE_S = 0.02, 180
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


@dataclass
class Load:
    """`portals`: the addresses that take requests now, as a proxy knows them. `cookie` is the header of a person who is
    signed in, `tokens` are those of people who answer, each once."""

    portals: list[str]
    cookie: dict[str, str]
    tokens: list[str]
    reading_token: str
    failures: list[str] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    receipts: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    async def run(self, ended: asyncio.Event) -> None:
        """Until `ended`, and every request that was begun has its answer."""
        kinds = (self._look, self._look, self._read, self._answer, self._answer, self._add)
        async with httpx.AsyncClient(timeout=60) as client:
            await asyncio.gather(*(self._again_and_again(kind, client, ended) for kind in kinds))

    async def comes_to(self, number: int, portal: str) -> None:
        """Until so many more requests of each kind were answered by it."""
        wanted = {
            f"{kind} {portal}": self.answered[f"{kind} {portal}"] + number
            for kind in ("pages", "api", "answers", "forms")
        }
        async with asyncio.timeout(PATIENCE_S):
            while any(self.answered[key] < least for key, least in wanted.items()) and not self.failures:  # noqa: ASYNC110 - several ends
                await asyncio.sleep(0.05)
        assert self.failures == []

    async def form(
        self, client: httpx.AsyncClient, portal: str, page: str, url: str, data: dict[str, str]
    ) -> httpx.Response:
        """Sends a form with the token of the page that it is on; a page without one is the answer."""
        shown = await client.get(f"{portal}{page}", headers=self.cookie)
        token = _TOKEN.search(shown.text)
        if token is None:
            return shown
        return await client.post(f"{portal}{url}", data={**data, "csrf_token": token[1]}, headers=self.cookie)

    async def _again_and_again(
        self,
        kind: Callable[[httpx.AsyncClient, str, int], Awaitable[None]],
        client: httpx.AsyncClient,
        ended: asyncio.Event,
    ) -> None:
        for number in count():
            if ended.is_set() or self.failures:
                return
            try:
                await kind(client, self.portals[number % len(self.portals)], number)
            except httpx.HTTPError as error:
                self.failures.append(repr(error))
            await asyncio.sleep(PAUSE_S)

    async def _look(self, client: httpx.AsyncClient, portal: str, number: int) -> None:
        page = PAGES[number % len(PAGES)]
        self._note("pages", portal, await client.get(f"{portal}{page}", headers=self.cookie), 200)

    async def _read(self, client: httpx.AsyncClient, portal: str, number: int) -> None:
        url = f"{portal}/api/v1/clock/{('status', 'transactions')[number % 2]}"
        self._note("api", portal, await client.get(url, headers=_bearer(self.reading_token)), 200)

    async def _answer(self, client: httpx.AsyncClient, portal: str, _: int) -> None:
        token = self.tokens.pop()
        asked = await client.get(f"{portal}/v1/api/me/surveys", headers=_bearer(token))
        self._note("queue", portal, asked, 200)
        (survey,) = asked.json()["data"]
        answer = {
            "survey": survey["survey"],
            "action": "answer",
            "answers": [{"question": survey["questions"][0]["question"], "value": "Good"}],
        }
        told = await client.post(f"{portal}/v1/api/me/surveys/respond", headers=_bearer(token), json=answer)
        if self._note("answers", portal, told, 200):
            self.receipts.append(told.json()["data"]["receipt"])

    async def _add(self, client: httpx.AsyncClient, portal: str, number: int) -> None:
        person = {"name": f"Person {number}", "id_number": f"P{number}"}
        if self._note("forms", portal, await self.form(client, portal, "/people", "/people/add", person), 303):
            self.added.append(person["id_number"])

    def _note(self, kind: str, portal: str, answer: httpx.Response, *expected: int) -> bool:
        if answer.status_code in expected:
            self.answered[f"{kind} {portal}"] += 1
            return True
        self.failures.append(
            f"{answer.request.method} {answer.request.url} → {answer.status_code}: {answer.text[:300]}"
        )
        return False


def _bearer(token: str) -> dict[str, Any]:
    return {"Authorization": f"Bearer {token}"}
