"""Input that keyboards do not type, sent to every page, form and address for programs:
it is taken or refused in words, and breaks nothing.

A route that a walk can't fill in fails it: tests.one_of_each says what stands in its parts, UNSHOWN which fields a form
has that no page shows.
"""

import ast
import hashlib
import inspect
import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
import pytest
from litestar.routes import HTTPRoute

from app.api import integration, parameters, sign_in
from app.api.openapi import Endpoint
from app.bodies import fields_of
from app.clock.settings import NAMES
from app.parts import Parts
from app.surveys.api import apps as api_apps
from app.surveys.api import surveys as survey_api
from app.web import csrf, sessions
from app.web.edits import BASE
from app.web.list_spec import Filter, ListSpec
from tests import odd_values
from tests.clock.syncing import Site
from tests.conftest import BASE_URL, Browser
from tests.odd_values import VALUES
from tests.one_of_each import addresses, one_of_each
from tests.rendered_forms import Control, Rendered, RenderedForm

END_USERS = (*survey_api.ENDPOINTS, *api_apps.ENDPOINTS, *sign_in.ENDPOINTS)
PROGRAMS = ("/api/", "/v1/", "/health/", "/metrics", "/ping/", "/static")
WITHOUT_PARAMETERS = {
    "/api/v1/clock/openapi.json", "/v1/api/openapi.json", "/health/live", "/health/ready", "/metrics",
    "/ping/{secret}", "/static/{file_path}",
}  # fmt: skip
# Streams that end when somebody leaves.
UNENDING = {"/clock_sync/live/{run_id}", "/clock_settings/connection/test/live"}
# What changes who asks, or what they may, comes last.
UPSETTING = (
    "/account/sessions/end-others",
    "/account/password",
    "/account/second-factor",
    "/admin/policies",
    "/sign-out",
)
# Posts for which no page shows a form in the state that the walk finds, and the names of its fields.
UNSHOWN: dict[str, tuple[str, ...]] = {
    "/account/passkeys": ("name", "answer"),
    "/account/passkeys/new": ("name", "current"),
    "/account/second-factor/off": ("current",),
    "/attendance/days/{day}/bulk": ("action", "number", "confirmed", "all", "id"),
    "/attendance/locks/unlock": ("from", "to"),
    "/clock_settings": NAMES,
    "/clock_settings/setup/connect": ("base_url", "username", "company", "password", "profile", "timezone"),
    "/clock_settings/setup/test": ("base_url", "username", "company", "password", "profile", "timezone"),
    "/clock_settings/unlock": (),
    "/clock_sync/disappearance/transactions": ("number", "run", "verdict"),
    "/clock_sync/resume": (),
    "/webhooks/{webhook_id}/on": (),
    "/clock_sync/windows/accept": ("window",),
    "/clock_sync/windows/read_again": ("window",),
    "/clock_sync/runs/{run_id}/stop": (),
    "/clock_transactions/{punch_id}/accept": ("agreed",),
    "/clock_transactions/{punch_id}/keep": (),
    "/clock_transactions/{punch_id}/retry": (),
    "/clock_transactions/{punch_id}/settle": ("note",),
    "/clock_transactions/{punch_id}/terminal": ("agreed",),
    "/clock_transactions/{punch_id}/unsettle": (),
    "/clock_transactions/{punch_id}/use": (),
    "/mail/unsubscribe/{token}/undo": (),
    "/me/answers/{receipt}/agree": (),
    "/sign-in": ("email", "password", "otp", "passkey", "next"),
    "/sign-in/forgot": ("email",),
    "/surveys/languages/{uid}": ("to", "revision", "title", "message", "closing_html"),
    "/surveys/preview": ("title", "message", "revision", "label-1", "options-1"),
    "/surveys/preview/{uid}": ("title", "message", "revision", "label-1", "options-1"),
    "/surveys/waiting/{uid}/remind": ("action", "id"),
}
LONGEST_ADDRESS = 60_000
NOT_OURS = (csrf.FIELD, "back", BASE)
_REFUSED = re.compile(r'class="[^"]*is-invalid[^"]*"[^>]*\bname="([^"]+)"')
_AT_A_FIELD = re.compile(r"error-summary|is-invalid|alert-danger|alert-warning")
_UNREAD = re.compile(r"Choose from the list\.|one of the periods of the list\.|Give a date such as|There is no such")
_NO_ROW = re.compile(r'class="empty"')
_SENTENCE = re.compile(r"[A-Z`].*[.!?]", re.DOTALL)


class Walk:
    """A browser that notes what is wrong with the answers: `met` stays empty where all is well.
    `kinds`: the values that it sends."""

    def __init__(self, browser: Browser, parts: Parts, kinds: Sequence[str] = tuple(VALUES)) -> None:
        self.browser, self.parts, self.kinds = browser, parts, kinds
        self.met: dict[str, list[str]] = {}

    async def get(self, url: str, pairs: Iterable[tuple[str, bytes]], kind: str) -> httpx.Response:
        return self._judged("GET", url, kind, await self.browser.get(asking(url, pairs)))

    async def post(
        self, url: str, content: str | bytes, kind: str, content_type: str = "application/x-www-form-urlencoded"
    ) -> httpx.Response:
        headers = {"content-type": content_type, csrf.HEADER: self.browser.csrf_token}
        answer = await self.browser.post(url, content=content, headers=headers)
        name = sessions.cookie_name(self.parts.settings)
        if session := answer.cookies.get(name):
            self.browser.cookies = {name: session}  # type: ignore[assignment]
            self.browser.csrf_token = csrf.sign(self.parts.keys, hashlib.sha256(session.encode()).digest())
        return self._judged("POST", url, kind, answer)

    def _judged(self, method: str, url: str, kind: str, answer: httpx.Response) -> httpx.Response:
        if fault := fault_of(answer):
            self.met.setdefault(f"{method} {url}: {answer.status_code} {fault}", []).append(kind)
        return answer


def fault_of(answer: httpx.Response) -> str:
    """What is wrong with the answer of a page, "" for nothing: a refusal says why in a sentence, or at the fields."""
    if answer.status_code >= 500:
        return "it broke"
    if answer.status_code < 400:
        return ""
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return "no page"
    told = re.search(r'class="empty-title">([^<]+[.?!])<', answer.text) or _AT_A_FIELD.search(answer.text)
    return "" if told else "not a word"


def encoded(pairs: Iterable[tuple[str, bytes]]) -> str:
    return "&".join(
        f"{quote_from_bytes(name.encode(), safe='')}={quote_from_bytes(value, safe='')}" for name, value in pairs
    )


def asking(url: str, pairs: Iterable[tuple[str, bytes]]) -> httpx.URL:
    """httpx looks at every letter of an address that it is given as text, several times:
    that took longer than most answers."""
    whole = httpx.URL(f"{BASE_URL}{url}")
    whole._uri_reference = whole._uri_reference._replace(query=encoded(pairs))
    return whole


def within(names: Iterable[str], kind: str) -> list[tuple[str, bytes]]:
    """All names with that value, as long as an address may be."""
    chosen = sorted(set(names))
    return [(name, VALUES[kind][: LONGEST_ADDRESS // (4 * len(chosen))]) for name in chosen]


def handlers(app: Any, method: str) -> list[tuple[str, Any]]:
    """`path_format` and module of every page."""
    routes = [one for one in app.app.site.routes if isinstance(one, HTTPRoute) and not one.path.startswith(PROGRAMS)]
    found = [(route.path_format, one) for route in routes for one in route.route_handlers if method in one.http_methods]
    pages = [(path, sys.modules[one.fn.__module__]) for path, one in found if path not in UNENDING]
    return sorted(pages, key=lambda one: (one[0] in UPSETTING, one[0]))


async def shown(walk: Walk, app: Any, found: Site) -> AsyncIterator[tuple[str, Any, Rendered]]:
    """Every page as it stands: its address, its module and what it asks for."""
    for path, module in handlers(app, "GET"):
        for url in await addresses(found, path):
            yield url, module, Rendered((await walk.get(url, (), "as it stands")).text, url)


@cache
def asked_for(module: Any) -> frozenset[str]:
    """The names that a module reads from queries and forms."""
    calls = (one for one in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(one, ast.Call) and one.args)
    read = (one.args[0] for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr in ("get", "getall"))
    names = (one.value for one in read if isinstance(one, ast.Constant))
    return frozenset(name for name in names if isinstance(name, str)) - {*NOT_OURS, "export"}


@cache
def page_modules() -> tuple[Any, ...]:
    return tuple(module for name, module in sys.modules.items() if re.match(r"app\.(\w+\.pages\.|web\.)", name))


def filters() -> Iterator[Filter]:
    for module in page_modules():
        for value in vars(module).values():
            given = value.filters if isinstance(value, ListSpec) else value if isinstance(value, tuple) else ()
            yield from (one for one in given if isinstance(one, Filter))


async def test_no_request_breaks_a_page(app: Any, parts: Parts, alice: Browser, pytestconfig: pytest.Config) -> None:
    """One walk for queries, addresses and forms: to fill a workspace and to look at all its pages costs as much
    as what is sent."""
    is_another_server = pytestconfig.getoption("database_only")
    walk = Walk(alice, parts, odd_values.TO_ANOTHER_SERVER if is_another_server else tuple(VALUES))
    async with one_of_each(parts) as found:
        forms = await _send_queries(walk, app, found)
        if not is_another_server:
            await _go_astray(walk, app, found)
        await _send_forms(walk, app, found, forms)
    assert walk.met == {}


async def _send_queries(walk: Walk, app: Any, found: Site) -> dict[str, RenderedForm]:
    """The forms that the pages show, by their address."""
    forms = dict[str, RenderedForm]()
    known = {"back"}.union(*map(asked_for, page_modules()), *(one.parameters for one in filters()))
    hidden = {one.name for one in filters() if one.kind == "hidden"}
    async for url, module, page in shown(walk, app, found):
        forms |= {form.action: form for form in page.forms if form.method == "post" and form.action not in forms}
        asks = page.controls_to(url)
        await walk.get(url, within(known, odd_values.NUL), "NUL everywhere")
        if asks:
            await _send_to_list(walk, url, asks, hidden)
        elif "query_params" in inspect.getsource(module):
            for kind in filter(walk.kinds.__contains__, odd_values.OF_QUERIES):
                await walk.get(url, within(known, kind), kind)
    return forms


async def _send_to_list(walk: Walk, url: str, asks: list[Control], hidden: set[str]) -> None:
    """One value in all filters that take any text, since the list asks the database for nothing once one filter is
    refused."""
    free = {one.name for one in asks if one.free} | hidden
    for kind in filter(walk.kinds.__contains__, odd_values.OF_QUERIES):
        days = {one.name for one in asks if one.kind == "date" and kind in (odd_values.FIRST, odd_values.LAST)}
        await walk.get(url, within(free | days, kind), kind)
    signs = within(free, odd_values.SIGNS)
    await walk.get(url, [*signs, ("export", b"csv"), *signs], "signs, twice, in an export")
    for one in asks:
        if one.kind in ("select", "date") and one.name not in ("sort", "per_page"):
            answer = await walk.get(url, within([one.name], odd_values.DIGIT), one.name)
            if not _UNREAD.search(answer.text) and not _NO_ROW.search(answer.text):
                walk.met[f"{url}: {one.name} was not read, and the rows are those without it"] = []


async def _go_astray(walk: Walk, app: Any, found: Site) -> None:
    for method in ("GET", "POST"):
        for path, _ in handlers(app, method):
            for part in re.findall(r"\{\w+\}", path):
                for kind in odd_values.OF_ADDRESSES:
                    odd = path.replace(part, quote_from_bytes(VALUES[kind], safe=""))
                    url = (await addresses(found, odd))[0]
                    await (walk.get(url, (), kind) if method == "GET" else walk.post(url, b"", kind))


async def _send_forms(walk: Walk, app: Any, found: Site, forms: dict[str, RenderedForm]) -> None:
    for path, module in handlers(app, "POST"):
        same = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
        form = next((form for action, form in forms.items() if same.fullmatch(action)), None)
        assert form or path in UNSHOWN, f"no page has a form for {path}: say in UNSHOWN what its fields are"
        form = form or unshown(path)
        for number, _ in enumerate(await addresses(found, path)):
            await _send_form(walk, found, (path, number), form, asked_for(module))


def unshown(path: str) -> RenderedForm:
    kinds = {"current": "password"}
    return RenderedForm("post", path, [Control(name, kinds.get(name, "text"), "", free=True) for name in UNSHOWN[path]])


async def _send_form(walk: Walk, found: Site, route: tuple[str, int], form: RenderedForm, read: frozenset[str]) -> None:
    """Each value in all fields at once; then in those alone for which it was not refused,
    to come to what is behind the form.

    What is only compared, a button's word or a password, is right wherever the value is no other text to it.
    """
    path, number = route
    own = [name for name in form.names if name not in NOT_OURS]
    right = {name: text.encode() for name, text in (*form.buttons(), *form.valid())}
    words = {one.name for one in form.controls if one.kind in ("submit", "password")}
    url, taken = "", 0
    for kind in walk.kinds:
        value = VALUES[kind]
        compared = words if kind not in odd_values.OF_WORDS else set[str]()
        if own and compared >= set(own):
            continue
        url = url or (await addresses(found, path))[number]
        sent = {**dict.fromkeys({*own, *read}, value), **{name: right[name] for name in compared}}
        answer = await walk.post(url, encoded(sent.items()), kind)
        taken += answer.status_code < 400
        if kind == odd_values.LONG and (taken == 2 or not own):
            return  # it does not look at what is sent
        refused = {*compared, *_REFUSED.findall(answer.text)} if answer.status_code != 404 else words
        if refused - compared and (kept := [name for name in own if name not in refused]):
            again = {**{name: right[name] for name in refused if name in right}, **dict.fromkeys(kept, value)}
            answer = await walk.post(url, encoded(again.items()), f"{kind} in {kept}")
        url = url if answer.status_code == 422 else ""  # what it was about may be gone


async def test_no_body_breaks_a_page(parts: Parts, alice: Browser) -> None:
    """All forms are read in one place, and these two read a file besides."""
    walk = Walk(alice, parts)
    for kind, (content_type, body) in odd_values.BODIES.items():
        for url in ("/people/import", "/apps/add"):
            await walk.post(url, body, kind, content_type)
    assert walk.met == {}


async def test_no_header_breaks_an_answer(alice: Browser, token: Any) -> None:
    bearer = f"Bearer {await token('alice', 'me')}"
    given = {csrf.HEADER: alice.csrf_token, "hx-request": "true", "hx-target": "drawer", "authorization": bearer}
    for header in odd_values.HEADERS:
        right = [(name.encode(), text.encode()) for name, text in given.items() if name != header]
        for kind in odd_values.OF_HEADERS:
            headers = [*right, (header.encode(), VALUES[kind].replace(b"\r\n", b""))]
            for url in ("/people/add", "/v1/api/me/surveys/respond"):
                answer = await alice.post(url, content=b"name=Ada", headers=headers)
                assert 400 <= answer.status_code < 500, (header, kind, url)
            answer = await alice.get("/people?export=csv", headers=headers)
            assert answer.status_code < 500, (header, kind)


def test_every_address_for_programs_is_asked(app: Any) -> None:
    there = {one.path_format for one in app.app.site.routes if isinstance(one, HTTPRoute)}
    walked = {one.path for one in (*integration.endpoints(), *END_USERS)}
    assert {path for path in there if path.startswith(PROGRAMS)} - walked == WITHOUT_PARAMETERS


async def test_no_request_breaks_an_answer_to_a_program(visitor: Browser, parts: Parts, token: Any) -> None:
    async with one_of_each(parts) as found:
        bearer = (
            f"Bearer {await token('alice', 'clock:read', 'attendance:read', 'surveys:read', 'problems:read', 'me')}"
        )
        await _send_parameters(visitor, found, bearer)
        await _send_bodies(visitor, found, f"Bearer {await token('alice', 'me')}")


async def _send_parameters(visitor: Browser, found: Site, bearer: str) -> None:
    uid = await found.scalar("SELECT max(uid::text) FROM surveys WHERE status = 'published'")
    for one in (*integration.endpoints(), *END_USERS):
        names = parameters.fields_of(one.parameters or parameters.Nothing)
        for kind in odd_values.OF_PARAMETERS if one.method == "GET" else ():
            for name in (*names, "nonsense"):
                answer = await visitor.get(
                    asking(one.path.replace("{uid}", uid), [(name, VALUES[kind])]), headers={"Authorization": bearer}
                )
                check(answer, one, (kind, name))


async def _send_bodies(visitor: Browser, found: Site, bearer: str) -> None:
    for one in (one for one in END_USERS if one.body is not None):
        headers = {"Authorization": bearer, "Content-Type": "application/json"}
        for body in (*_one_wrong(await _right(found, one), fields_of(one.body)), *odd_values.JSON_BODIES):
            check(await visitor.post(one.path, content=body, headers=headers), one, (body[:200],))
        for content_type in odd_values.JSON_TYPES:
            named = [(b"authorization", bearer.encode()), (b"content-type", content_type)]
            check(await visitor.post(one.path, content=b"{}", headers=named), one, (content_type,))


async def _right(found: Site, one: Endpoint) -> dict[str, Any]:
    body = odd_values.RIGHT[one.path]
    for name, table in (("survey", "surveys"), ("app", "applications")):
        if name in body:
            body = {**body, name: await found.scalar(f"SELECT max(uid::text) FROM {table} WHERE status = 'published'")}
    return body


def _one_wrong(right: dict[str, Any], names: Iterable[str]) -> Iterator[bytes]:
    """The body with an odd value in the place of each."""
    for name in names:
        around = json.dumps({**right, name: "HERE"})
        yield from (around.replace('"HERE"', value).encode() for value in odd_values.JSON_VALUES)


def check(answer: httpx.Response, one: Endpoint, case: tuple[Any, ...]) -> None:
    """A documented status below 500, and a failure in the envelope of the JSON APIs, in sentences."""
    assert answer.status_code in {one.status, *one.errors} - {500, 503}, (one.path, case, answer.text)
    told = answer.json()
    assert told["success"] is (answer.status_code == one.status), (one.path, case)
    if not told["success"]:
        error = told["error"]
        assert (set(told), set(error) - {"details"}) == ({"success", "error"}, {"code", "message"}), (one.path, case)
        sentences = [error["message"], *(detail["message"] for detail in error.get("details", ()))]
        assert all(map(_SENTENCE.fullmatch, sentences)), (one.path, case, sentences)
