"""A drawer opens over a page that keeps its own ids: where both have one,
a label names the field of the page behind."""

import re
from typing import Any

from app.parts import Parts
from tests.conftest import SignIn
from tests.one_of_each import addresses, one_of_each
from tests.test_odd_requests import handlers

_ID = re.compile(r'\sid="([^"]+)"')
_DRAWER = re.compile(r'<a\s[^>]*?href="([^"]+)"[^>]*\bdata-drawer\b')
OVER = {"HX-Request": "true", "HX-Target": "drawer"}


def _kind(url: str) -> str:
    return re.sub(r"/[^/]*\d[^/]*", "/*", url.partition("?")[0])


async def test_no_drawer_has_an_id_of_the_page_below_it(app: Any, parts: Parts, sign_in: SignIn) -> None:
    alice, faults, opened = await sign_in("alice"), [], set[tuple[str, str]]()
    async with one_of_each(parts) as found:
        for path, _ in handlers(app, "GET"):
            for url in await addresses(found, path):
                page = (await alice.get(url)).text
                if ' id="f-' not in page:  # no field of its own
                    continue
                for link in _DRAWER.findall(page):
                    if (path, _kind(link)) in opened:
                        continue
                    opened.add((path, _kind(link)))
                    drawer = await alice.get(link.replace("&amp;", "&"), headers=OVER)
                    assert drawer.status_code == 200, link
                    both = set(_ID.findall(page)) & set(_ID.findall(drawer.text))
                    faults += [f"{link} over {url}: {one}" for one in both]
    assert faults == []
    assert len(opened) >= 10
