"""The shell of every request: headers, transaction, sessions, CSRF."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from litestar import Litestar
from sqlalchemy import func, select, update
from sqlalchemy.exc import InvalidRequestError

from app.accounts.models import Session, User
from app.main import open_site
from app.parts import Parts
from app.web.gate import client_ip
from tests.conftest import Browser, SignIn


async def test_every_answer_carries_the_security_headers(visitor: Browser) -> None:
    for url in ("/sign-in", "/nothing", "/health/live", "/static/css/muster.css"):
        headers = (await visitor.get(url)).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; img-src 'self' data:;")
        assert "object-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["permissions-policy"] == "camera=(), geolocation=(), microphone=()"
        assert headers["x-request-id"]
        assert "strict-transport-security" not in headers


async def test_pages_are_never_kept(visitor: Browser) -> None:
    assert (await visitor.get("/sign-in")).headers.get_list("cache-control") == ["no-store"]
    assert (await visitor.get("/static/css/muster.css")).headers.get("cache-control") != "no-store"


@pytest.mark.parametrize(("base_url", "secure"), [("https://testserver", True), ("http://testserver", False)])
async def test_where_the_portal_has_https_browsers_keep_to_it(
    site: Litestar, parts: Parts, base_url: str, secure: bool
) -> None:
    gate = open_site(site, replace(parts, settings=replace(parts.settings, env="production", base_url=base_url)))
    async with Browser(transport=httpx.ASGITransport(app=gate), base_url=base_url) as browser:
        headers = (await browser.get("/sign-in")).headers
    assert headers.get("strict-transport-security") == ("max-age=31536000; includeSubDomains" if secure else None)
    assert ("; Secure" in headers["set-cookie"]) is secure
    assert headers["set-cookie"].startswith("__Host-muster-visitor=" if secure else "muster-visitor=")
    assert "; Path=/; " in headers["set-cookie"]
    assert "; HttpOnly; SameSite=Lax" in headers["set-cookie"]


@pytest.mark.parametrize(
    ("trusted", "forwarded", "ip"),
    [
        (0, "", "10.0.0.9"),
        (0, "198.51.100.1", "10.0.0.9"),
        (1, "", "10.0.0.9"),
        (1, "198.51.100.1", "198.51.100.1"),
        (1, "203.0.113.6, 198.51.100.1", "198.51.100.1"),
        (1, " 203.0.113.6 ,, 198.51.100.1 ", "198.51.100.1"),
        (2, "198.51.100.1", "10.0.0.9"),
        (2, "198.51.100.1, 10.0.0.8", "198.51.100.1"),
        (2, "203.0.113.6, 198.51.100.1, 10.0.0.8", "198.51.100.1"),
    ],
)
def test_what_a_caller_says_of_its_address_counts_as_far_back_as_proxies_are_trusted(
    trusted: int, forwarded: str, ip: str
) -> None:
    scope: Any = {"client": ("10.0.0.9", 1), "headers": [(b"x-forwarded-for", forwarded.encode())] if forwarded else []}
    assert client_ip(scope, trusted) == ip
    assert client_ip({**scope, "client": None}, trusted) == ("" if ip == "10.0.0.9" else ip)


@pytest.fixture
async def in_production(site: Litestar, parts: Parts) -> AsyncIterator[Browser]:
    """Somebody who asks under any name they like."""
    gate = open_site(site, replace(parts, settings=replace(parts.settings, env="production")))
    async with Browser(transport=httpx.ASGITransport(app=gate), base_url="http://10.0.0.7:8000") as browser:
        yield browser


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
async def test_a_person_who_watches_the_server_may_ask_under_its_bare_address(
    in_production: Browser, path: str
) -> None:
    for host in ("127.0.0.1:8000", "10.0.0.7", "[::1]:8000", "evil.example", ""):
        assert (await in_production.get(path, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/", "/sign-in", "/metrics", "/static/css/muster.css", "/api/v1/clock/status", "/v1/api/openapi.json",
        "/health", "/health/", "/health/live/../../sign-in", "/health/lively", "/health/live/more", "/HEALTH/LIVE", "//health/live",
    ],
)  # fmt: skip
async def test_everything_else_answers_for_hosts_of_ours_alone(in_production: Browser, path: str) -> None:
    answer = await in_production.get(path)
    assert (answer.status_code, "does not answer for that host name" in answer.text) == (400, True)


async def test_what_is_refused_before_there_is_a_page_leads_to_no_other_site(in_production: Browser) -> None:
    answer = await in_production.get("http://10.0.0.7:8000//evil.example/people")
    assert 'href="//' not in answer.text
    assert 'href="/people"' in (await in_production.get("/people")).text


@pytest.mark.parametrize("host", ["testserver", "testserver:8000", "testserver:", "TestServer"])
async def test_a_host_of_ours_is_served_in_production(in_production: Browser, host: str) -> None:
    assert (await in_production.get("/sign-in", headers={"Host": host})).status_code == 200


async def test_every_host_is_served_in_development(visitor: Browser) -> None:
    assert (await visitor.get("/sign-in", headers={"Host": "muster.example"})).status_code == 200


async def test_a_page_sends_strangers_to_sign_in_and_back(visitor: Browser) -> None:
    answer = await visitor.get("/?q=a")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/%3Fq%3Da")


async def test_an_unknown_session_id_is_never_adopted(visitor: Browser, parts: Any) -> None:
    visitor.cookies.set("muster", "an-id-that-the-client-brought")
    page = await visitor.get("/sign-in")
    assert page.status_code == 200
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Session)) == 0


async def test_a_form_without_its_token_is_refused(alice: Browser) -> None:
    assert (await alice.post("/sign-out")).status_code == 403
    assert (await alice.submit("/sign-out")).status_code == 303


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("http://testserver.evil.example", 403),
        ("https://evil.example/testserver", 403),
        ("null", 403),
        ("http://testserver", 303),
    ],
)
async def test_a_form_from_another_site_is_refused_even_with_the_token(
    alice: Browser, origin: str, status: int
) -> None:
    assert (await alice.submit("/sign-out", headers={"Origin": origin})).status_code == status


async def test_a_file_is_no_token(alice: Browser) -> None:
    answer = await alice.post("/sign-out", files={"csrf_token": ("token.txt", alice.csrf_token)})
    assert answer.status_code == 403


@pytest.mark.parametrize("other", ["a/b=c", "x[y]=1", "expires", "=", 'q="open', "é=1"])
async def test_an_odd_cookie_of_another_application_on_this_host_signs_no_person_out(
    alice: Browser, other: str
) -> None:
    own = f"muster={alice.cookies['muster']}"
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        alice.cookies.clear()
        assert (await alice.get("/account", headers={"Cookie": cookies.encode()})).status_code == 200


async def test_the_token_of_another_session_does_not_fit(sign_in: SignIn) -> None:
    alice, bob = await sign_in("alice"), await sign_in("bob")
    bob.csrf_token = alice.csrf_token
    assert (await bob.submit("/sign-out")).status_code == 403


async def test_signing_out_ends_the_session_in_the_database(alice: Browser) -> None:
    answer = await alice.submit("/sign-out")
    assert answer.headers["set-cookie"].startswith("muster=; Path=/; Max-Age=0; ")
    alice.cookies.delete("muster")
    assert (await alice.get("/")).status_code == 303


async def test_a_deactivated_user_is_out_at_once(alice: Browser, parts: Any) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(update(User).where(User.email == "alice@example.org").values(active=False))
    assert (await alice.get("/")).headers["location"].startswith("/sign-in")


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
async def test_signing_in_never_leads_to_another_site(alice: Browser, target: str) -> None:
    answer = await alice.get("/sign-in", params={"next": target})
    assert answer.headers["location"] == "/"


async def test_a_transaction_that_ended_opens_no_other_one_in_no_workspace(parts: Any) -> None:
    async with parts.database.transaction() as db:
        pass
    with pytest.raises(InvalidRequestError):
        await db.scalar(select(1))


ODD_HOSTS = (
    "name:evil", "testserver:80:80", "testserver:99999", "test server", "[::1", "::1", "a/b", "user@testserver", "tëst",
    "testserver:-1", "testserver:８０", "[x]:80", "a,b",
)  # fmt: skip


@pytest.mark.parametrize("host", ODD_HOSTS)
@pytest.mark.parametrize(
    "path", ["/sign-in", "/health/live", "/static/js/toasts.js", "/api/v1/clock/status", "/nowhere"]
)
async def test_a_host_that_is_no_name_is_a_400(visitor: Browser, in_production: Browser, host: str, path: str) -> None:
    for browser in (visitor, in_production):
        answer = await browser.get(path, headers={"Host": host.encode()})
        assert (answer.status_code, "Host header is not the name of a server" in answer.text) == (400, True), browser


async def test_two_hosts_are_a_400(visitor: Browser) -> None:
    answer = await visitor.get("/sign-in", headers=[("Host", "testserver"), ("Host", "name:evil")])
    assert answer.status_code == 400
