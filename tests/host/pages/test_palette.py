"""`/palette`: finds pages, people and users, each only for those who may see them."""

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Connection, SyncRun
from app.db.session import Database
from app.host.pages import palette
from app.web.context import Context
from app.web.site import MOST_EACH, Found, PaletteSource
from tests.clock.mirrored import connect
from tests.conftest import Browser, SignIn
from tests.host.staff import hire


@pytest.fixture
async def ada(database: Database) -> int:
    async with database.transaction() as db:
        return await hire(db, "Ada Lovelace", "4711", department="Engines")


@pytest.fixture
def sources() -> Iterator[list[PaletteSource]]:
    before = list(palette.PALETTE_SOURCES)
    yield palette.PALETTE_SOURCES
    palette.PALETTE_SOURCES[:] = before


async def test_with_nothing_typed_it_offers_the_pages_that_the_person_may_open(alice: Browser, sign_in: SignIn) -> None:
    nora = await sign_in("nora")
    offered = (await alice.fragment("/palette")).text
    assert 'href="/admin/users"' in offered
    assert 'href="/account"' in offered
    hers = (await nora.fragment("/palette?q=")).text
    assert 'href="/admin/users"' not in hers
    assert 'href="/account"' in hers


async def test_a_tenant_is_not_led_to_the_platforms_pages(alice: Browser, eve: Browser) -> None:
    assert 'href="/admin/tenants"' in (await alice.fragment("/palette?q=tenants")).text
    assert 'href="/admin/tenants"' not in (await eve.fragment("/palette?q=tenants")).text


async def test_pages_that_begin_with_what_was_typed_come_first(alice: Browser) -> None:
    text = (await alice.fragment("/palette?q=pol")).text
    assert text.index('href="/admin/policies"') < text.find('href="/account"') % len(text + " ")


async def test_the_page_of_exactly_that_name_comes_before_longer_names(alice: Browser) -> None:
    text = (await alice.fragment("/palette?q=attendance")).text
    assert text.index('href="/attendance"') < text.index('href="/clock_transactions"')


@pytest.mark.parametrize("asked", ["ada", "LOVE ada", "4711"])
async def test_people_are_found_by_name_and_number(alice: Browser, ada: int, asked: str) -> None:
    text = (await alice.fragment("/palette", params={"q": asked})).text
    assert f'href="/people/{ada}"' in text
    assert "4711 · Engines" in text


@pytest.mark.usefixtures("ada")
async def test_people_and_users_are_for_those_who_may_see_them(vera: Browser, bob: Browser) -> None:
    assert "Ada Lovelace" not in (await vera.fragment("/palette?q=ada")).text
    assert "Ada Lovelace" in (await bob.fragment("/palette?q=ada")).text
    assert "alice@example.org" not in (await bob.fragment("/palette?q=alice")).text


async def test_users_are_those_of_the_own_workspace(alice: Browser, eve: Browser) -> None:
    assert "bob@example.org" in (await alice.fragment("/palette?q=brandt")).text
    assert "bob@example.org" not in (await eve.fragment("/palette?q=brandt")).text
    assert "eve@example.org" not in (await alice.fragment("/palette?q=egger")).text


@pytest.mark.parametrize("asked", ["%", "_", "\\", "<script>", "'", "x" * 5000, "\x00"])
async def test_signs_mean_themselves(alice: Browser, ada: int, asked: str) -> None:
    answer = await alice.fragment("/palette", params={"q": asked})
    assert answer.status_code == 200
    assert f"/people/{ada}" not in answer.text
    assert "<script>" not in answer.text


async def test_nothing_found_says_what_to_try(alice: Browser) -> None:
    assert "Nothing found" in (await alice.fragment("/palette?q=zzzzzz")).text


async def test_without_script_it_is_a_page_and_needs_signing_in(alice: Browser, visitor: Browser) -> None:
    answer = await alice.get("/palette?q=users")
    assert "<html" in answer.text
    assert 'href="/admin/users"' in answer.text
    assert (await visitor.get("/palette?q=users")).status_code == 303


async def test_another_module_adds_what_it_holds(alice: Browser, sources: list[PaletteSource]) -> None:
    async def terminals(ctx: Context, asked: str) -> tuple[str, list[Found]]:
        found = [Found("/clock_devices?q=GATE", "Gate 7", "GATE7", "devices")]
        return "Terminals", found if ctx.may("clock.devices") and asked in "gate 7" else []

    for _ in range(2):
        palette.offer(terminals)
    assert sources.count(terminals) == 1
    text = (await alice.fragment("/palette?q=gate")).text
    assert "Terminals" in text
    assert 'href="/clock_devices?q=GATE"' in text


async def test_at_most_six_of_a_kind_are_shown(alice: Browser, db: AsyncSession) -> None:
    for number in range(8):
        await hire(db, f"Twin {number}", f"9{number}")
    await db.commit()
    assert (await alice.fragment("/palette?q=twin")).text.count('href="/people/') == MOST_EACH


async def test_it_offers_acts_to_those_who_may(sign_in: SignIn, alice: Browser, vera: Browser, bob: Browser) -> None:
    offered = (await alice.fragment("/palette?q=a")).text
    for url in ("/people/add", "/attendance/add", "/admin/users/new", "/admin/roles/new", "/account/tokens/new"):
        assert f'href="{url}"' in (await alice.fragment(f"/palette?q={url.split('/')[1][:3]}")).text + offered, url
    assert 'href="/surveys/new"' in (await alice.fragment("/palette?q=new+survey")).text
    assert 'href="/surveys/new"' not in (await bob.fragment("/palette?q=new+survey")).text
    assert "/people/add" not in (await vera.fragment("/palette?q=add+a+person")).text
    assert 'href="/account/tokens/new"' in (await (await sign_in("nora")).fragment("/palette?q=token")).text


async def test_a_sync_starts_from_it_as_from_its_page(database: Database, alice: Browser, vera: Browser) -> None:
    async with database.transaction() as db:
        await connect(db)
    found = (await alice.fragment("/palette?q=start+sync")).text
    [url, token] = re.findall(r'action="([^"]+)"|name="csrf_token" value="([^"]+)"', found)
    answer = await alice.post(url[0], data={"csrf_token": token[1]})
    assert answer.status_code == 303
    async with database.transaction() as db:
        assert await db.scalar(select(SyncRun.trigger)) == "manual"
    assert "/clock_sync/start" not in (await vera.fragment("/palette?q=start+sync")).text


async def test_a_paused_sync_is_refused_with_what_to_do(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await connect(db)
        await db.execute(update(Connection).values(status="paused"))
    answer = await alice.submit("/clock_sync/start")
    assert answer.status_code == 409
    assert "resume syncing in the Sync Center first" in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(SyncRun.id)) is None
