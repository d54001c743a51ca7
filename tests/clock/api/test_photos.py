"""Pictures as the integration API's rows name them: a whole address, which opens with the token that read the row."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.clock.models import ClockEmployee, Punch
from app.db.session import Database
from app.parts import Parts
from tests.clock.api.test_routes import Caller, caller
from tests.clock.syncing import Site, site
from tests.conftest import BASE_URL, Browser, SignIn

__all__ = ["caller"]
LISTS = ("/api/v1/clock/employees", "/api/v1/clock/transactions")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
async def mirrored(parts: Parts) -> AsyncIterator[Site]:
    """A few people and punches with pictures, from a server that still runs."""
    async with site(parts, employees=3, days=2) as made:
        await made.sync_punches()
        await made.set(show_photos=True)
        async with parts.database.transaction() as db:
            await db.execute(update(Punch).values(photo_ref="/media/punches/" + Punch.remote_id + "/"))
        yield made


async def addresses(caller: Caller) -> list[str]:
    """One of a person, one of a punch."""
    found = []
    for url in LISTS:
        rows = await caller.data(url)
        found.append(next(row["photo_url"] for row in rows if row["photo_url"]))
    return found


@pytest.mark.usefixtures("mirrored")
class TestAPicture:
    async def test_opens_with_the_token_that_read_its_row(self, caller: Caller) -> None:
        for address in await addresses(caller):
            assert address.startswith(f"{BASE_URL}/clock_")
            answer = await caller.get(address)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), answer.text
            assert answer.content.startswith(PNG)

    async def test_opens_for_the_person_who_is_signed_in(self, caller: Caller, vera: Browser) -> None:
        for address in await addresses(caller):
            assert (await vera.get(address)).content.startswith(PNG)
            # A proxy before the portal may ask for a password of its own.
            assert (await vera.get(address, headers={"Authorization": "Basic dTpw"})).content.startswith(PNG)

    async def test_of_another_workspace_is_not_there(self, caller: Caller, visitor: Browser, token: Any) -> None:
        eve = Caller(visitor, await token("eve", "clock:read"))
        for address in await addresses(caller):
            assert _refusal(await eve.get(address)) == (404, "not_found")

    async def test_is_not_there_while_pictures_are_off(self, caller: Caller, mirrored: Site) -> None:
        found = await addresses(caller)
        await mirrored.set(show_photos=False)
        for address in found:
            assert _refusal(await caller.get(address)) == (404, "not_found")
        assert "photo_url" not in (await caller.data(LISTS[0]))[0]

    async def test_that_the_server_does_not_give_is_503(self, caller: Caller, database: Database) -> None:
        async with database.transaction() as db:
            for table in (Punch, ClockEmployee):
                await db.execute(update(table).values(photo_ref="/media/people/missing/"))
        for address in await addresses(caller):
            assert _refusal(await caller.get(address)) == (503, "unavailable")


def _refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


ANY = [f"/clock_{kind}/987654321/photo" for kind in ("employees", "transactions")]


@pytest.mark.parametrize("address", ANY)
async def test_a_program_is_refused_in_the_envelope(
    visitor: Browser, token: Any, database: Database, address: str
) -> None:
    """In this order: 401, 403, then 404."""
    for header in ("Bearer nonsense", "bearer", "Basic dTpw", "nonsense"):
        answer = await visitor.get(address, headers={"Authorization": header})
        assert (_refusal(answer), answer.headers["www-authenticate"]) == ((401, "unauthorized"), "Bearer"), header
    nora, me, eve, vera = (
        await token("nora", "clock:read"), await token("vera", "me"), await token("eve", "clock:read"),
        await token("vera", "clock:read"),
    )  # fmt: skip
    async with database.shared_transaction() as db:
        await policies.write(db, "globex", {"module_clock": False})
    for text, expected in (
        (nora, (403, "insufficient_scope")), (me, (403, "insufficient_scope")), (eve, (404, "module_unavailable")),
        (vera, (404, "not_found")),
    ):  # fmt: skip
        assert _refusal(await Caller(visitor, text).get(address)) == expected


@pytest.mark.parametrize("address", ANY)
async def test_a_browser_is_refused_by_a_page(visitor: Browser, sign_in: SignIn, address: str) -> None:
    assert (await visitor.get(address)).headers["location"].startswith("/sign-in")
    for short, status in (("nora", 403), ("vera", 404)):
        answer = await (await sign_in(short)).get(address)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")


@pytest.mark.parametrize("address", ANY)
async def test_a_token_that_can_not_be_used_is_not_made_good_by_a_session(vera: Browser, address: str) -> None:
    assert _refusal(await vera.get(address, headers={"Authorization": "Bearer nonsense"})) == (401, "unauthorized")
