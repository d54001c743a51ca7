"""Where a person can go from the page of an error, and where signing in leads."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from litestar import Request

from app.errors import (
    Refusal,
)
from app.languages import tag_of
from app.web.returning import OVERLAYS, is_ours, told, with_its_query
from app.wording.marked import marked, worded

# The page may work when it is requested again.
PASSING = (408, 429, 500, 503)


def language_of(address: str) -> str:
    """The tag in an address (`?lang=`), in which the sign-in form speaks too; "" for none."""
    return tag_of(parse_qs(urlsplit(address).query).get("lang", [""])[0]) or ""


def asked_for(request: Request[Any, Any, Any]) -> str:
    """Where signing in leads; "" after an act, because it is not repeated by itself."""
    return with_its_query(request.url.path, request.url.query) if request.method == "GET" else ""


def page_in_browser(request: Request[Any, Any, Any]) -> str:
    """The page that sent the request. "" when the request asks for a page itself, such as a filtered list, or something
    in the drawer or dialog. Anything else is a part of a page, such as the figures of a current run, and no page to
    return to."""
    host, shown = told(request.headers.get("hx-current-url", ""))
    asks_for_page = request.headers.get("hx-target", "") in OVERLAYS or urlsplit(shown).path == request.url.path
    ours = host == request.headers.get("host") and not (asks_for_page and request.method == "GET")
    return shown if ours else ""


def ways_on(request: Request[Any, Any, Any], refusal: Refusal, menu: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(label, address) of ways on from here, the likeliest first: again, what the refusal names (`way`), back, the list
    above, the first page."""
    asks, here = request.method == "GET", with_its_query(request.url.path, request.url.query)
    host, came = told(request.headers.get("referer", ""))
    back = came if host == request.headers.get("host") else ""
    section = [(item["label"], item["url"]) for group in menu for item in group["items"] if item["active"]]
    ways = {here: marked("Try again")} if asks and refusal.status in PASSING else {}
    if better := getattr(refusal, "way", None):
        ways[_changed(request, better[1])] = better[0]
    if back and not (asks and back == here):
        ways.setdefault(back, marked("Back to where you were"))
    for label, url in section:
        if url != here:
            ways.setdefault(url, worded("To {page}", page=label))
    ways.setdefault("/", marked("To the first page"))
    return [(label, url) for url, label in ways.items() if is_ours(url)]


def _changed(request: Request[Any, Any, Any], changes: Mapping[str, str]) -> str:
    """The address of this request with a changed query."""
    from app.web.templating import with_query

    query = request.query_params
    return with_query(request.url.path, {name: query.getall(name) for name in query}, **changes)
