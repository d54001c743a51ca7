"""`/palette`: finds pages, people and users, each only for those who may see them."""

from collections.abc import Iterator

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.host.pages import palette
from app.web.context import Context
from app.web.site import MOST_EACH, Found, PaletteSource
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
