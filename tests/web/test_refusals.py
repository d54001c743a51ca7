"""What a person meets who is refused: the frame around it, words that help, and ways on."""

import re
from urllib.parse import quote

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError

from app.accounts.permissions import EXPLAINED
from app.web.errors.refusals import as_refusal
from app.web.templating import render
from tests.conftest import Browser, SignIn

WAY = re.compile(r'<a class="btn[^"]*" href="([^"]*)">([^<]+)</a>')
HERE = "http://testserver"
FRAGMENT = "errors/fragment.html"


def ways(text: str) -> list[tuple[str, str]]:
    return WAY.findall(text.partition('class="empty-action"')[2].partition("</div>")[0])


@pytest.mark.parametrize("short", ["vera", "nora"])
async def test_a_person_who_is_signed_in_keeps_the_frame_around_a_refusal_even_without_any_right(
    sign_in: SignIn, short: str
) -> None:
    person = await sign_in(short)
    for url in ("/admin/users", "/nothing-here", "/people/4711"):
        text = (await person.get(url)).text
        assert 'class="shell-workspace"' in text
        assert 'action="/sign-out"' in text


async def test_the_right_that_is_missing_is_named_as_the_roles_page_names_it(vera: Browser) -> None:
    text = (await vera.get("/admin/users")).text
    assert "You need the right “Keep users” for this." in text
    assert "admin.users" not in text


async def test_no_page_names_a_permission_by_its_key_when_it_refuses(sign_in: SignIn) -> None:
    nora = await sign_in("nora")
    for url in ("/clock_settings", "/people", "/surveys/overview", "/apps", "/admin/audit", "/kiosk", "/clock_sync"):
        answer = await nora.get(url)
        assert answer.status_code == 403
        assert [key for key in EXPLAINED if key in answer.text] == []


async def test_a_refused_act_leads_back_to_where_one_came_from(vera: Browser) -> None:
    came = {"Referer": f"{HERE}/people?q=ada", "Origin": HERE}
    answer = await vera.submit("/admin/policies", {}, headers=came)
    assert answer.status_code == 403
    assert ways(answer.text)[0] == ("/people?q=ada", "Back to where you were")
    elsewhere = await vera.get("/nothing-here", headers={"Referer": "https://evil.example/people"})
    assert "evil.example" not in elsewhere.text


async def test_what_is_gone_leads_to_the_list_it_was_in(alice: Browser) -> None:
    answer = await alice.get("/people/4711")
    assert ways(answer.text) == [("/people", "To People"), ("/", "To the first page")]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (asyncpg.DiskFullError("could not extend file"), "is full"),
        (asyncpg.TooManyConnectionsError("too many clients"), "is full"),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT"), "takes no changes"),
        (asyncpg.UndefinedColumnError("column"), "must be updated"),
        (asyncpg.InvalidCachedStatementError("cached plan must not change result type"), "must be updated"),
    ],
)
def test_what_the_database_alone_is_to_blame_for_is_503_and_tells_nothing_of_it(error: Exception, words: str) -> None:
    for met in (error, DBAPIError("SELECT 1", {}, Translated(error))):
        refusal = as_refusal(met)
        assert (refusal.status, words in refusal.message) == (503, True)
        assert str(error) not in refusal.message


class Translated(Exception):
    """As SQLAlchemy hands on what the driver raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.sqlstate = error.sqlstate  # type: ignore[attr-defined]


async def test_an_address_of_a_form_says_what_it_is(alice: Browser) -> None:
    answer = await alice.get("/sign-out")
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")
    assert "Only a form sends to this address." in answer.text


async def test_htmx_gets_a_refusal_as_a_piece_with_its_words_marked(vera: Browser) -> None:
    for target in ("drawer", "dialog", "list"):
        answer = await vera.get("/admin/users", headers={"HX-Request": "true", "HX-Target": target})
        assert (answer.status_code, answer.headers["x-refusal"]) == (403, "403")
        assert "<html" not in answer.text
        said = answer.text.partition("data-refusal>")[2].partition("<")[0]
        assert said.startswith("You need the right “Keep users” for this.")


def test_only_where_the_words_lead_to_the_number_it_stands_beside_them() -> None:
    said = {"heading": "No", "message": "Because", "details": (), "request_id": "4711", "target": ""}
    assert [
        status for status in (403, 409, 500, 503) if "data-refusal-number" in render(FRAGMENT, status=status, **said)
    ] == [500]


@pytest.mark.parametrize("header", ["Referer", "HX-Current-URL"])
async def test_a_header_that_holds_no_address_is_no_way_back(alice: Browser, header: str) -> None:
    over = {"HX-Request": "true", "HX-Target": "drawer"} if header == "HX-Current-URL" else {}
    assert (await alice.get("/people/4711", headers={header: "http://[", **over})).status_code == 404
    assert (await alice.get("/people/add", headers={header: "http://[", **over})).status_code == 200


async def test_no_way_on_leads_to_another_site(alice: Browser) -> None:
    from_two_slashes = {"Referer": f"{HERE}//evil.example/people"}
    answer = await alice.get("/people/4711", headers=from_two_slashes)
    assert ways(answer.text) == [("/people", "To People"), ("/", "To the first page")]


@pytest.mark.parametrize(
    ("method", "asked", "target", "led_to"),
    [
        ("GET", "/clock_sync/now/3", "", "/clock_sync"),  # the figures of a run, which are no page
        ("GET", "/palette?q=a", "palette-results", "/clock_sync"),
        ("POST", "/clock_devices/1/kind", "dialog", "/clock_sync"),
        ("GET", "/clock_sync?status=failed", "runs-results", "/clock_sync?status=failed"),  # a list narrowed
        ("GET", "/people/1", "drawer", "/people/1"),  # has an address of its own
    ],
)
async def test_a_part_of_a_page_leads_over_sign_in_back_to_its_page(
    visitor: Browser, method: str, asked: str, target: str, led_to: str
) -> None:
    headers = {"HX-Request": "true", "HX-Target": target, "HX-Current-URL": f"{HERE}/clock_sync", "Origin": HERE}
    answer = await visitor.request(method, asked, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == f"/sign-in?next={quote(led_to)}"


async def test_signing_in_leads_to_no_page_of_another_site(visitor: Browser) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.example/clock_sync"}
    answer = await visitor.get("/clock_sync/now/3", headers=headers)
    assert answer.headers["HX-Redirect"] == "/sign-in?next=/clock_sync/now/3"
