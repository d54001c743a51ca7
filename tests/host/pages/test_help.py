"""`/help`: reachable for everybody, names whom to ask, and says what is kept of an answer where people are asked."""

import re

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.accounts.models import User
from app.db.session import Database
from app.main import build_site
from app.web import help as manual
from tests.conftest import Browser, SignIn


@pytest.mark.parametrize("short", ["alice", "vera", "nora", "eve"])
async def test_everybody_who_is_signed_in_gets_help(sign_in: SignIn, short: str) -> None:
    answer = await (await sign_in(short)).get("/help")
    assert answer.status_code == 200
    assert "Whom to ask" in answer.text


async def test_help_needs_sign_in(visitor: Browser) -> None:
    assert (await visitor.get("/help")).headers["location"] == "/sign-in?next=/help"


async def test_it_names_who_manages_users_in_the_own_workspace_alone(sign_in: SignIn, alice: Browser) -> None:
    globex = (await (await sign_in("eve")).get("/help")).text
    platform = (await alice.get("/help")).text
    assert "mailto:eve@example.org" in globex
    assert "mailto:alice@example.org" not in globex
    assert "mailto:alice@example.org" in platform
    assert "mailto:vera@example.org" not in platform


async def test_a_person_who_left_is_not_named(alice: Browser, vera: Browser, database: Database) -> None:
    assert "mailto:alice@example.org" in (await vera.get("/help")).text
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.email == "alice@example.org").values(active=False))
    answer = (await vera.get("/help")).text
    assert "mailto:alice@example.org" not in answer
    assert "has no administrator now" in answer


async def test_the_prompt_is_explained_where_people_are_asked(vera: Browser, database: Database) -> None:
    answer = (await vera.get("/help")).text
    assert 'id="kept"' in answer
    assert "opens by itself" in answer
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"web_prompts": False})
    answer = (await vera.get("/help")).text
    assert 'id="kept"' in answer
    assert "opens by itself" not in answer
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    answer = (await vera.get("/help")).text
    assert 'id="kept"' not in answer
    assert "/me/questions" not in answer


@pytest.mark.parametrize("name", manual.SHOWN)
async def test_everybody_who_is_signed_in_reads_the_pages(sign_in: SignIn, name: str) -> None:
    answer = await (await sign_in("nora")).get(f"/help/{name}")
    assert answer.status_code == 200
    assert manual.pages()[name].title in answer.text
    assert f'href="/help/{name}"' in (await (await sign_in("nora")).get("/help")).text


async def test_a_page_of_help_needs_sign_in(visitor: Browser) -> None:
    assert (await visitor.get("/help/rules")).headers["location"] == "/sign-in?next=/help/rules"


@pytest.mark.parametrize("name", ["architecture", "none", "rules.md"])
async def test_there_are_no_other_pages_and_the_answer_says_so(alice: Browser, name: str) -> None:
    answer = await alice.get(f"/help/{name}")
    assert answer.status_code == 404
    assert "Help has no such page." in answer.text


async def test_no_address_leads_out_of_the_folder_of_help(alice: Browser) -> None:
    assert (await alice.get("/help/..%2Fapi")).status_code == 404


def test_the_pages_are_made_before_anybody_asks_for_one() -> None:
    manual.pages.cache_clear()
    build_site()
    assert manual.pages.cache_info().currsize == 1


def test_what_could_be_html_in_a_page_is_text() -> None:
    assert "<script" not in manual.pages()["rules"].text
    assert manual._reader().render("<script>x</script>\n\n`<b>`") == (
        "<p>&lt;script&gt;x&lt;/script&gt;</p>\n<p><code>&lt;b&gt;</code></p>\n"
    )


@pytest.mark.parametrize("name", manual.SHOWN)
def test_each_cell_of_a_table_says_what_it_is(name: str) -> None:
    """Where a row is a card, no heading stands above it."""
    cells = re.findall(r"<td([^>]*)>", str(manual.pages()[name].text))
    assert all(re.search(r'data-(title=""|label="[^"]+")', one) for one in cells), cells
    assert 'data-title=""' in "".join(cells) or not cells
