"""`/surveys/ratings`: every rating, filtered, with what the filtered ones come to."""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.db.session import Database
from app.host.models import Application, AppRating
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import Rating
from tests.conftest import Browser, SignIn
from tests.host.library import NOON, publish_app

LONG = "Unfallverhütungsvorschriftenunterweisungsnachweis" * 40
Rate = Callable[..., Awaitable[None]]


@pytest.fixture
def rate(database: Database) -> Rate:
    async def submit(app: UUID, user_id: int, stars: int, comment: str | None = None, **more: object) -> None:
        now = more.get("now", NOON)
        assert isinstance(now, datetime)
        rating = Rating(app, stars, str(more.get("platform", "ios")), comment)
        async with database.transaction() as db:
            await ratings.submit(db, user_id, rating, now)

    return submit


@pytest.fixture
async def canteen(database: Database, planner: UUID, rate: Rate) -> UUID:
    """Four ratings of the planner on three days, and one of this one."""
    async with database.transaction() as db:
        other = await publish_app(db, "Canteen", platforms=("web",))
    await rate(planner, 7, 5, "So quick, 100 % fine")
    await rate(planner, 8, 4, platform="android")
    await rate(planner, 7, 4, "Slower now", now=NOON + timedelta(hours=12))
    await rate(planner, 9, 1, now=NOON - timedelta(days=1))
    await rate(other, 7, 2, "Cold soup", platform="web")
    return other


def summary(page: str) -> tuple[str, list[int]]:
    """The mean with its n, and how many have 5, 4, 3, 2 and 1 stars."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    mean = re.search(r"([\d.]+ of 5|–) (?:mean of|.*?mean of) ([\d,]+) rating", text)
    assert mean, text
    bars = re.findall(r"\d stars? ([\d,]+)", text)
    return f"{mean[1]}, n={mean[2]}", [int(one) for one in bars[:5]]


@pytest.mark.parametrize(
    ("query", "shown", "bars"),
    [
        ("", "3.20 of 5, n=5", [1, 2, 0, 1, 1]),
        ("app={planner}", "3.50 of 5, n=4", [1, 2, 0, 0, 1]),
        ("app={planner}&platform=ios", "3.33 of 5, n=3", [1, 1, 0, 0, 1]),
        ("stars=4", "4.00 of 5, n=2", [0, 2, 0, 0, 0]),
        ("stars=1&stars=2", "1.50 of 5, n=2", [0, 0, 0, 1, 1]),
        ("from=2026-11-21&to=2026-11-21", "3.67 of 5, n=3", [1, 1, 0, 1, 0]),
        ("to=2026-11-20", "1.00 of 5, n=1", [0, 0, 0, 0, 1]),
        ("from=2026-11-22", "4.00 of 5, n=1", [0, 1, 0, 0, 0]),
        ("q=100 %25", "5.00 of 5, n=1", [1, 0, 0, 0, 0]),
        ("q=soup&stars=5", "–, n=0", [0, 0, 0, 0, 0]),
        ("commented=1&app={planner}", "4.50 of 5, n=2", [1, 1, 0, 0, 0]),
        ("stars=nonsense", "–, n=0", [0, 0, 0, 0, 0]),
        ("app=nonsense", "–, n=0", [0, 0, 0, 0, 0]),
    ],
)
@pytest.mark.usefixtures("canteen")
async def test_the_summary_and_the_export_are_of_the_filtered_rows(
    planner: UUID, vera: Browser, query: str, shown: str, bars: list[int]
) -> None:
    address = "/surveys/ratings?" + query.format(planner=planner)
    assert summary((await vera.fragment(address)).text) == (shown, bars)
    exported = (await vera.get(f"{address}&export=csv")).text.splitlines()
    assert len(exported) - 1 == sum(bars)


@pytest.mark.usefixtures("canteen")
async def test_rows_are_newest_first_with_four_selects(planner: UUID, vera: Browser, selects: list[str]) -> None:
    page = (await vera.get("/surveys/ratings")).text
    assert re.findall(r'datetime="2026-11-(\d\dT\d\d)', page) == ["22T00", "21T12", "21T12", "21T12", "20T12"]
    selects.clear()
    await vera.get("/surveys/ratings?from=2026-11-01")
    assert len(selects) == 4  # one of them for the zone of its times
    selects.clear()
    await vera.get(f"/surveys/ratings?app={planner}&stars=5")
    assert len(selects) == 3, "the kept counts know the figures of these filters; one is for the zone"


@pytest.mark.usefixtures("canteen")
async def test_every_row_says_what_was_rated_how_and_nobodys_name(vera: Browser) -> None:
    lowest = (await vera.get("/surveys/ratings?sort=stars&export=jsonl")).text.splitlines()[0]
    assert lowest == (
        '{"rated_at":"2026-11-20T12:00:00Z","app":"Shift Planner","platform":"ios","stars":1,"comment":null}'
    )
    assert 'aria-label="1 of 5 stars"' in (await vera.get("/surveys/ratings")).text


async def test_a_bar_leads_to_the_rows_that_it_counts(planner: UUID, vera: Browser, canteen: UUID) -> None:
    page = (await vera.get(f"/surveys/ratings?app={planner}")).text
    assert f'href="/surveys/ratings?app={planner}&amp;stars=4"' in page
    assert f'<option value="{canteen}">Canteen</option>' in page
    chosen = (await vera.get("/surveys/ratings?stars=4")).text.partition("rating-summary")[2].partition("</section>")[0]
    assert re.findall(r'href="/surveys/ratings\?stars=(\d)"', chosen) == ["4"]  # no way to the rows of a bar of none


@pytest.mark.usefixtures("canteen")
async def test_removed_demo_rows_never_count(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        await db.execute(update(AppRating).where(AppRating.rating == 1).values(deleted_at=NOON))
        await ratings.recount(db)
    for query in ("", "?to=2026-12-31"):
        assert summary((await vera.get(f"/surveys/ratings{query}")).text) == ("3.75 of 5, n=4", [1, 2, 0, 1, 0])


async def test_a_rating_of_an_app_that_left_the_library_stays(
    database: Database, planner: UUID, vera: Browser, rate: Rate
) -> None:
    await rate(planner, 7, 5)
    async with database.transaction() as db:
        await db.execute(update(Application).values(deleted_at=NOON))
    assert summary((await vera.get(f"/surveys/ratings?app={planner}")).text)[0] == "5.00 of 5, n=1"


async def test_nothing_and_too_much_are_both_shown(planner: UUID, vera: Browser, alice: Browser, rate: Rate) -> None:
    nothing = (await vera.get("/surveys/ratings")).text
    assert "No app has ratings yet" in nothing
    assert 'href="/apps"' not in nothing, "she may not open it"
    assert "Open the App Library" in (await alice.get("/surveys/ratings")).text
    await rate(planner, 7, 5, f"<b>{LONG[:1000]}")
    assert f"&lt;b&gt;{LONG[:1000]}" in (await vera.get("/surveys/ratings?page=99")).text


async def test_it_is_the_platforms_and_the_modules(
    database: Database, vera: Browser, eve: Browser, visitor: Browser, sign_in: SignIn
) -> None:
    assert (await visitor.get("/surveys/ratings")).status_code == 303
    for browser in (eve, await sign_in("bob")):
        assert (await browser.get("/surveys/ratings")).status_code == 403
        assert (await browser.get("/surveys/ratings?export=csv")).status_code == 403
    assert "<html" not in (await vera.fragment("/surveys/ratings")).text
    async with database.transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    assert (await vera.get("/surveys/ratings")).status_code == 404


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("from=2026-11-21&to=2026-11-21", "3 ratings, 2 more than on the day before (1)."),
        ("from=2026-11-21&to=2026-11-22", "apps have been rated since Fri 20 Nov"),
        ("from=2026-11-21&to=2026-11-21&platform=web", "No comparison: there are no ratings on the day before."),
        ("from=2026-11-20&to=2026-11-20", "apps have been rated since Fri 20 Nov"),
    ],
)
@pytest.mark.usefixtures("canteen")
async def test_chosen_days_are_compared_with_as_many_before(vera: Browser, query: str, sentence: str) -> None:
    assert sentence in (await vera.get(f"/surveys/ratings?{query}")).text


@pytest.mark.parametrize("query", ["", "from=2026-11-21", "from=nonsense&to=2026-11-21"])
@pytest.mark.usefixtures("canteen")
async def test_without_two_ends_there_is_nothing_to_compare_with(vera: Browser, query: str) -> None:
    answer = await vera.get(f"/surveys/ratings?{query}")
    assert (answer.status_code, 'class="compared"' in answer.text) == (200, False)
