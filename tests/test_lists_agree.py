"""Every list, under every choice of its filters: the page, its counts and its export mean the same rows."""

import html
import re
from collections.abc import Iterator
from urllib.parse import urlencode

from app.parts import Parts
from tests.conftest import Browser
from tests.markup import squeezed
from tests.one_of_each import one_of_each
from tests.rendered_forms import Rendered

# Every address that draws `lists.frame`; `the_walk_knows_every_list` finds one that is missing.
LISTS = (
    "/admin/audit",
    "/admin/jobs",
    "/admin/roles",
    "/admin/tenants",
    "/admin/tokens",
    "/admin/users",
    "/apps",
    "/attendance",
    "/attendance/locks",
    "/clock_devices",
    "/clock_employees",
    "/clock_logs",
    "/clock_organization",
    "/clock_sync",
    "/clock_transactions",
    "/kiosk",
    "/people",
    "/problems",
    "/surveys/list",
    "/surveys/ratings",
    "/surveys/responses",
    "/webhooks/log",
)
TYPED = ("a", "1", "zzz")
DAYS = (("2026-01-01", "2026-12-31"), ("2020-01-01", "2020-01-02"))


def queries(page: Rendered, url: str) -> Iterator[str]:
    """No filter, then each choice of each filter by itself, as the page offers it."""
    yield ""
    asks = page.controls_to(url)
    for one in asks:
        if one.name.endswith(("from", "to")):
            continue
        offered = one.offered or ([one.value] if one.kind == "checkbox" else TYPED if one.free else [])
        yield from (urlencode({one.name: value}) for value in offered if value)
    for first in (one.name for one in asks if one.name.endswith("from")):
        last = first.removesuffix("from") + "to"
        yield from (urlencode({first: early, last: late}) for early, late in DAYS)


def total_of(text: str) -> int:
    said = re.search(r'class="pager-count"[^>]*>(?:[^<]* of<strong>([\d,]+)</strong>|No )', squeezed(text))
    assert said is not None, html.unescape(text[:2000])
    return int((said[1] or "0").replace(",", ""))


async def test_page_and_export_have_the_same_rows(alice: Browser, parts: Parts) -> None:
    differing = []
    asked = 0
    async with one_of_each(parts):
        await the_walk_knows_every_list(alice)
        for url in LISTS:
            first = await alice.get(url)
            for query in queries(Rendered(first.text, url), url):
                asked += 1
                # As the filters of the page ask: for the list alone, with few rows, since the total says how many.
                shown = total_of((await alice.fragment(f"{url}?{query}&per_page=25")).text)
                lines = (await alice.get(f"{url}?{query}&export=jsonl")).text.count("\n")
                if shown != lines:
                    differing.append(f"{url}?{query}: {shown} on the page, {lines} in the export")
    assert differing == []
    assert asked > 250


async def the_walk_knows_every_list(alice: Browser) -> None:
    here = await alice.get("/help")
    menu = set(re.findall(r'<a href="(/[^"#?]*)"', here.text.partition("<main")[0]))
    lists = {url for url in menu if 'class="pager-count"' in (await alice.get(url)).text}
    assert lists <= set(LISTS)
    assert len(lists) > 12
