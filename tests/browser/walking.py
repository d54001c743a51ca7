"""Walks through the portal by its own links: every kind of page once, whatever its ids are."""

import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urlsplit

from playwright.sync_api import Page

# A link that downloads, leads to a picture, or ends the session is no page.
_NO_PAGE = re.compile(r"[?&](export|download)=|/photo$|/sign-out|/static/|/schedule$")
_LINKS = "links => links.map(a => a.getAttribute('href')).filter(href => href && href.startsWith('/'))"


def walk(page: Page, *starts: str) -> Iterator[str]:
    """Opens one page of each kind that can be reached from `starts`,
    and gives its path and query when it has loaded."""
    ahead, known = deque(starts), {kind_of(start) for start in starts}
    while ahead:
        address = ahead.popleft()
        page.goto(address)
        yield address
        for link in page.locator("a[href]:not([download])").evaluate_all(_LINKS):
            if not _NO_PAGE.search(link) and kind_of(link) not in known:
                known.add(kind_of(link))
                ahead.append(link)


def kind_of(address: str) -> str:
    """The path without what is different in every row: numbers, days, uids, receipts,
    keys of tenants and user types."""
    path = urlsplit(address).path
    path = re.sub(r"/(?:\d[\d-]*|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64})(?=/|$)", "/*", path)
    return re.sub(r"^(/admin/(?:tenants|users/types))/[a-z][^/]*", r"\1/*", path)
