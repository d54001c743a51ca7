"""Short ways to add a passkey and to sign in with one, as a browser with script does."""

import re
from html import unescape
from typing import Any

import httpx

from tests.accounts.soft_key import SoftKey
from tests.conftest import Browser
from tests.host.signing_in import PASSWORD

ORIGIN = "http://localhost:8000"
NAME = "Work laptop"
_REQUEST = re.compile(r'data-request="([^"]+)"')
_HIDDEN = re.compile(r'type="hidden" name="([^"]+)"(?: value="([^"]*)")?')


def soft_key(**options: Any) -> SoftKey:
    return SoftKey(ORIGIN, **options)


def request_in(shown: httpx.Response) -> str:
    """What the page asks the browser for."""
    found = _REQUEST.search(shown.text)
    assert found, shown.text
    return unescape(found[1])


async def begin_adding(browser: Browser, name: str = NAME) -> str:
    return request_in(await browser.submit("/account/passkeys/new", {"name": name, "current": PASSWORD}))


async def add_passkey(browser: Browser, name: str = NAME, **options: Any) -> SoftKey:
    key = soft_key(**options)
    answer = await browser.submit(
        "/account/passkeys", {"name": name, "answer": key.make(await begin_adding(browser, name))}
    )
    assert answer.status_code == 303, answer.text
    return key


async def send_passkey(browser: Browser, shown: httpx.Response, answer: str, **other: str) -> httpx.Response:
    """Fills in the form beside the digits."""
    form = shown.text.partition("data-passkey")[2]
    hidden = {name: unescape(value) for name, value in _HIDDEN.findall(form)}
    return await browser.post("/sign-in", data={**hidden, "passkey": answer, **other})
