"""Every page tells its days and times in words, and names once the zone that they are in."""

import html
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import update

from app.clock.models import Connection
from app.parts import Parts
from app.surveys.models import Survey
from tests.clock.syncing import Site
from tests.conftest import Browser, SignIn
from tests.one_of_each import addresses, one_of_each
from tests.test_odd_requests import handlers

ZONE = "Pacific/Chatham"
NAMED = f">Times in {ZONE}<"
OPENS, CLOSES = datetime(2099, 2, 3, 23, 30, tzinfo=UTC), datetime(2099, 3, 5, 8, tzinfo=UTC)
# These show or change the zone itself.
SETTINGS = ("/clock_settings", "/clock_devices/")
# Two worked cases of the rules name their night in the notation in which tests play them.
_PLAYED = re.compile(r"zone=\S+; I [\d: -]+, O [\d: -]+")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
# What programs read and write, and what a person typed: shown as it is.
_AS_IT_IS = re.compile(
    r"(?s)<(code|pre|textarea|script|title)\b.*?</\1>|<[^>]*class=\"[^\"]*\bmono\b[^\"]*\"[^>]*>[^<]*|<[^>]+>|<!--.*?-->"
)


def seen(page: str) -> str:
    """The text that a reader sees, without values of fields, and without code."""
    return html.unescape(_AS_IT_IS.sub(" ", page))


def raw_dates(page: str) -> list[str]:
    text = _PLAYED.sub("", re.sub(r"\s+", " ", seen(page)))
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in ISO.finditer(text)]


async def pages(app: Any, found: Site, browser: Browser) -> dict[str, str]:
    """By the address: every page that a walk through all routes meets."""
    read = {}
    for route, _ in handlers(app, "GET"):
        for url in await addresses(found, route):
            answer = await browser.get(url)
            if answer.headers.get("content-type", "").startswith("text/html"):
                read[url] = answer.text
    return read


async def test_a_page_shows_no_date_as_programs_write_it_and_names_the_zone_of_its_times_once(
    app: Any, parts: Parts, sign_in: SignIn
) -> None:
    """One walk for all: to fill a workspace and to ask for all its pages takes seconds."""
    browser = await sign_in("alice")
    async with one_of_each(parts) as found:
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(timezone=ZONE))
        read = await pages(app, found, browser)
        await survey_windows_survey_days_and_rating_days_say_that_they_are_in_utc(parts, found, browser)
    # What programs send and get is written as programs write it.
    pages_for_people = {url: page for url, page in read.items() if not url.startswith("/help/api/")}
    shown = {url: dates for url, page in pages_for_people.items() if (dates := raw_dates(page))}
    assert len(read) > 100
    assert shown == {}
    timed = {url: page for url, page in read.items() if "<time datetime" in page}
    assert len(timed) > 25
    assert {url: named for url, page in timed.items() if (named := page.count(NAMED)) != 1} == {}
    again = {
        url: told
        for url, page in timed.items()
        if (told := seen(page).count(ZONE)) > 1 and not url.startswith(SETTINGS)
    }
    assert again == {}


async def survey_windows_survey_days_and_rating_days_say_that_they_are_in_utc(
    parts: Parts, found: Site, browser: Browser
) -> None:
    async with parts.database.transaction() as db:
        window = {"starts_at": OPENS, "ends_at": CLOSES}
        await db.execute(update(Survey).where(Survey.status == "published").values(window))
    uid = await found.scalar("SELECT max(uid::text) FROM surveys WHERE status = 'published'")
    urls = ("/surveys/overview", "/surveys/list", f"/surveys/view/{uid}", "/surveys/responses", "/surveys/ratings")
    overview, listed, survey, responses, ratings = [seen((await browser.get(one)).text) for one in urls]
    assert "Days are those of UTC" in overview
    assert "Window (UTC)" in listed
    assert "Tue 3 Feb 2099, 23:30 – Thu 5 Mar 2099, 08:00" in listed
    assert re.search(r"Tue 3 Feb 2099, 23:30 UTC\s+to\s+Thu 5 Mar 2099, 08:00 UTC", survey)
    assert "Days (UTC)" in survey
    assert "Days (UTC)" in responses
    assert "Date (UTC)" in ratings
