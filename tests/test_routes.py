"""Who may: walks every route with every role and from every workspace.
A route without a guard, or a new one, fails here."""

import re
from typing import Any

import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute

from app.accounts import policies
from app.accounts.roles import BUILT_IN
from app.api.pages import PageOrScope
from app.api.tokens import TokenGuard
from app.db.session import Database
from app.web.guards import Public, Requires
from app.web.transport.methods import API
from tests.conftest import CAST, Browser, SignIn

# Reachable without signing in, each for a reason that stands beside it.
PUBLIC = {
    "/health/live": "load balancers",
    "/health/ready": "load balancers",
    "/metrics": "its own check: loopback or a token",
    "/sign-in": "no person is signed in yet",
    "/sign-in/forgot": "the password is what they lack",
    "/welcome/{secret}": "the link is the secret",
    "/mail/unsubscribe/{token}": "the link is signed, and mail programs have no session",
    "/mail/unsubscribe/{token}/undo": "as above",
    "/ping/{secret}": "programs that make backups call it, and the secret is what allows it",
    "/api/v1/clock/openapi.json": "anybody may read it, without a token",
    "/v1/api/openapi.json": "anybody may read it, without a token",
    "/apps/icon/{uid}": "mobile apps show the icons of published apps, and have no session",
    "/v1/api/auth/token": "it is where tokens come from",
}
# Of the host, which has no switch.
WITHOUT_MODULE = {"/api/v1/attendance", "/api/v1/problems"}
# Pages that a program opens too, because rows of an API lead there.
BY_TOKEN_TOO = {"/clock_employees/{employee_id}/photo", "/clock_transactions/{punch_id}/photo"}
NOWHERE = "987654321"


def routes(app: Any) -> list[tuple[str, str, Any]]:
    """Path, method and guard of every handler but the static files."""
    litestar: Litestar = app.app.site
    found = []
    for route in litestar.routes:
        if not isinstance(route, HTTPRoute) or route.path.startswith("/static"):
            continue
        for handler in route.route_handlers:
            guards = [g for g in handler.resolve_guards() if isinstance(g, (Requires, TokenGuard, Public))]
            found += [(route.path_format, method, guards) for method in handler.http_methods - {"OPTIONS", "HEAD"}]
    return sorted(found, key=lambda one: one[:2])


def address(path: str) -> str:
    return re.sub(r"\{[^}]+\}", NOWHERE, path.replace("{day}", "2001-02-03"))


def test_every_route_has_exactly_one_guard(app: Any) -> None:
    assert [path for path, _, guards in routes(app) if len(guards) != 1] == []


def test_nothing_is_public_by_accident(app: Any) -> None:
    open_to_all = {path for path, _, guards in routes(app) if isinstance(guards[0], Public)}
    assert open_to_all <= set(PUBLIC)


async def test_strangers_are_sent_to_sign_in(app: Any, visitor: Browser) -> None:
    for path, method, (guard,) in routes(app):
        if isinstance(guard, Requires):
            answer = await visitor.request(method, address(path))
            assert answer.status_code == 303, (method, path)
            assert answer.headers["location"].startswith("/sign-in"), (method, path)


async def test_the_apis_want_a_token_before_anything_else(app: Any, visitor: Browser) -> None:
    for path, method, (guard,) in routes(app):
        if isinstance(guard, TokenGuard):
            answer = await visitor.request(method, address(path) + "?nonsense=1")
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized"), (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_apis_refuse_a_token_without_the_scope(app: Any, visitor: Browser, token: Any) -> None:
    text = await token("alice", "nothing")
    for path, method, (guard,) in routes(app):
        if isinstance(guard, TokenGuard):
            answer = await visitor.request(method, address(path), headers={"Authorization": f"Bearer {text}"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope"), (method, path)


def offered(app: Any) -> dict[str, set[str]]:
    """The methods of every address of an API that wants a token whatever one does there."""
    found: dict[str, set[str]] = {}
    for path, method, _ in routes(app):
        found.setdefault(path, set()).add(method)
    open_to_all = {path for path, _, guards in routes(app) if not isinstance(guards[0], TokenGuard)}
    return {path: methods for path, methods in found.items() if path not in open_to_all}


async def test_the_apis_refuse_a_wrong_method_last(app: Any, visitor: Browser, token: Any, database: Database) -> None:
    """401 for a stranger, 403 without the scope, 405 for who may, and 404 where the module is off."""
    tokens = {
        None: (401, "unauthorized"),
        await token("alice", "nothing"): (403, "insufficient_scope"),
        await token("alice", "clock:read", "attendance:read", "surveys:read", "problems:read", "me"): (
            405,
            "method_not_allowed",
        ),
        await token("eve", "clock:read", "attendance:read", "surveys:read", "problems:read", "me"): (
            404,
            "module_unavailable",
        ),
    }
    async with database.shared_transaction() as db:
        await policies.write(db, "globex", {"module_clock": False, "module_surveys": False})
    addresses = offered(app)
    assert len(addresses) == 22
    for named, methods in addresses.items():
        path = address(named)
        for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} - methods:
            for text, expected in tokens.items():
                if expected[0] == 404 and named in WITHOUT_MODULE:
                    continue
                headers = {"Authorization": f"Bearer {text}"} if text else {}
                answer = await visitor.request(method, path, headers=headers)
                code = expected[1] if method == "HEAD" else answer.json()["error"]["code"]
                assert (answer.status_code, code) == expected, (method, path)
                allowed = ", ".join(sorted(methods | {"OPTIONS"})) if answer.status_code == 405 else None
                assert answer.headers.get("allow") == allowed, (method, path)
                assert answer.headers["cache-control"] == "no-store"


def test_the_walk_above_has_addresses_with_a_part_that_varies(app: Any) -> None:
    """`app.api.methods` finds their guard by a pattern; without it such an address would say 405 to a stranger."""
    assert {path for path in offered(app) if "{" in path} == {
        "/api/v1/surveys/{uid}/results",
        *(f"/v1/api/me/responses/{{receipt}}/{act}" for act in ("withdraw", "agree")),
    }


async def test_an_api_tells_anybody_which_methods_it_takes(app: Any, visitor: Browser) -> None:
    """The documents, which need no token, say it too."""
    for named, methods in offered(app).items():
        path = address(named)
        answer = await visitor.options(path)
        assert (answer.status_code, answer.text) == (204, ""), path
        assert {one.strip() for one in answer.headers["allow"].split(",")} == methods | {"OPTIONS"}, path


async def test_every_page_tells_the_same_methods_to_who_asks_and_to_who_errs(app: Any, alice: Browser) -> None:
    """GET, POST and HEAD of one address have handlers of their own, and the answer names them all."""
    asked = {path for path, _, _ in routes(app) if "{" not in path} | {"/attendance/1", "/static/js/htmx/htmx.js"}
    for path in sorted(one for one in asked if not one.startswith(API)):
        told, wrong = await alice.options(path), await alice.request("PROPFIND", path)
        assert (told.status_code, wrong.status_code) == (204, 405), path
        assert told.headers["allow"] == wrong.headers["allow"] != "", path
    assert (await alice.options("/account/password")).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert (await alice.options("/attendance/1")).headers["allow"].startswith("GET, HEAD, OPTIONS")


async def test_where_anybody_may_come_a_wrong_method_is_one_at_once(visitor: Browser) -> None:
    for path, allowed in (("/v1/api/auth/token", "DELETE, OPTIONS, POST"), ("/v1/api/openapi.json", "GET, OPTIONS")):
        answer = await visitor.put(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_no_page_takes_a_token_by_accident(app: Any) -> None:
    taking = {(path, method) for path, method, (guard,) in routes(app) if isinstance(guard, PageOrScope)}
    assert taking == {(path, "GET") for path in BY_TOKEN_TOO}


@pytest.mark.parametrize("short", CAST)
async def test_a_page_that_takes_a_token_asks_for_its_scope(app: Any, visitor: Browser, token: Any, short: str) -> None:
    """In the envelope: 401 for no token of ours, 403 without scope or permission, and a foreign id is a 404."""
    permissions, _ = _rights(short)
    for path, method, (guard,) in routes(app):
        if not isinstance(guard, PageOrScope):
            continue
        needed = guard.scope
        may = set(needed.permissions) <= permissions
        for text, expected in (
            ("nonsense", (401, "unauthorized")),
            (await token(short, "nothing"), (403, "insufficient_scope")),
            (await token(short, needed.scope), (404, "not_found") if may else (403, "insufficient_scope")),
        ):
            answer = await visitor.request(method, address(path), headers={"Authorization": f"Bearer {text}"})
            assert (answer.status_code, answer.json()["error"]["code"]) == expected, (method, path)


@pytest.mark.parametrize("short", CAST)
async def test_every_page_asks_for_its_permission(app: Any, sign_in: SignIn, short: str) -> None:
    """403 exactly where the role lacks the permission or the page is the platform's; never a 500;
    a foreign id is a 404."""
    browser = await sign_in(short)
    permissions, workspace = _rights(short)
    for path, method, (guard,) in routes(app):
        if not isinstance(guard, Requires) or path == "/sign-out":
            continue
        url = address(path)
        answer = await (browser.get(url) if method == "GET" else browser.submit(url))
        may = guard.permission is None or guard.permission in permissions
        may = may and not (guard.platform_only and workspace != "main")
        assert (answer.status_code == 403) is not may, (method, path, answer.status_code)
        assert answer.status_code < 500, (method, path, answer.text[:500])
        if may and "{" in path.replace("{day}", "") and method == "GET":
            assert answer.status_code in (404, 422), (method, path, answer.status_code)


def _rights(short: str) -> tuple[frozenset[str], str]:
    _, workspace, role, _ = CAST[short]
    return (BUILT_IN[role] if role else frozenset()), workspace
