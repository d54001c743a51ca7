"""`/surveys/overview`: how the surveys do, and on the platform alone how the apps are rated."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from app.db.session import Database
from app.surveys.pages.overview import day_column
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import Rating
from app.surveys.results import overview, tally_marks
from tests.conftest import Browser, SignIn
from tests.host.library import publish_app
from tests.surveys.drafted import drafted
from tests.surveys.ledger_rows import Placed, bury, respond, show, survey

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def test_one_response_of_a_day_is_one() -> None:
    told = [
        day_column(TODAY.date(), outcomes, {}, TODAY.date()).title.partition(": ")[2]
        for outcomes in ({"opted_out": 1}, {})
    ]
    assert told == ["1 response: 1 opted out", "0 responses"]


def tile(page: str, label: str) -> str:
    """A tile's text, from its value on."""
    found = re.search(rf"{label}</span>(.*?)</a>", page, re.DOTALL)
    assert found, label
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())


@pytest.fixture
async def busy(database: Database) -> list[Placed]:
    """Doors asked five and was answered by three, two of whom agreed; Lunch's old version does not count.
    Late is over."""
    async with database.transaction() as db:
        doors = await survey(db, "Doors", enforcement="required", type="consent")
        lunch = await survey(db, "Lunch", version=2)
        late = await survey(db, "Late", ends_at=TODAY - timedelta(days=1))
        await survey(db, "Gone", status="archived")
        await drafted(db, title="Not yet")
        for user in range(4):
            await show(db, doors, user, at=TODAY)
        for user, outcome in enumerate(["agreed", "agreed", "declined"]):
            await respond(db, doors, user + 2, outcome, recorded_at=TODAY - timedelta(days=user), prompted=user < 2)
        await respond(db, lunch, 1, recorded_at=TODAY - timedelta(days=40))
        await respond(db, lunch, 1, "opted_out", version=2, recorded_at=TODAY - timedelta(days=29), prompted=True)
        await show(db, lunch, 1, version=2, at=TODAY - timedelta(days=30))
    return [doors, lunch, late]


@pytest.mark.parametrize("counted_up", [False, True])
async def test_tiles_say_how_many_and_of_how_many(
    database: Database, busy: list[Placed], vera: Browser, *, counted_up: bool
) -> None:
    if counted_up:
        async with database.transaction() as db:
            await tally_marks.count_up(db)
    page = (await vera.get("/surveys/overview")).text
    assert tile(page, "Published") == "3 of 5 surveys; 1 in draft, 1 archived"
    assert tile(page, "Required") == "1 of the published ones"
    assert tile(page, "Response rate") == "50.0 % 6 asked, 3 responded"
    assert tile(page, "Acceptance") == "66.7 % of 3 who agreed or declined"


async def test_a_single_survey_is_no_surveys(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        await survey(db, "Doors")
    assert tile((await vera.get("/surveys/overview")).text, "Published") == "1 of 1 survey; 0 in draft, 0 archived"


async def test_each_figure_leads_to_the_rows_that_it_counts(busy: list[Placed], vera: Browser) -> None:
    page = unescape((await vera.get("/surveys/overview")).text)
    tiles = dict(
        re.findall(r'<a href="([^"]+)" class="card stat[^"]*"><span class="stat-label">(?:<svg.*?</svg>)?([^<]+)', page)
    )
    of_current = "/surveys/responses?current=1"
    assert tiles[f"{of_current}&outcome=agreed&outcome=declined"] == "Acceptance"
    assert tiles[f"{of_current}&outcome=answered&outcome=agreed&outcome=declined"] == "Response rate"
    assert "6 asked, 3 responded" in page
    first, last = TODAY - timedelta(days=59), TODAY - timedelta(days=30)
    assert f'href="/surveys/responses?from={first:%Y-%m-%d}&to={last:%Y-%m-%d}">Show the days before</a>' in page


async def test_the_published_surveys_stand_below_the_busiest_first_the_over_ones_last(
    busy: list[Placed], vera: Browser
) -> None:
    page = (await vera.get("/surveys/overview")).text
    assert re.findall(r'href="/surveys/view/[^"]+">([^<]+)', page) == ["Doors", "Lunch", "Late"]
    assert "over since" in page
    assert f'href="/surveys/responses?survey={busy[0].uid}&amp;version=1">3</a>' in page


async def test_the_last_thirty_days_count_every_version_and_lead_to_their_rows(
    database: Database, busy: list[Placed], vera: Browser
) -> None:
    async with database.transaction() as db:
        found = await overview.read(db, TODAY + timedelta(hours=5))
    assert len(found.days) == 30
    assert found.days[-1] == (TODAY.date(), {"agreed": 1})
    assert found.days[0] == (TODAY.date() - timedelta(days=29), {"opted_out": 1})
    assert (found.lately, sum(found.by_day.values())) == (4, 5)
    assert found.since == TODAY.date() - timedelta(days=40)  # the first response
    page = (await vera.get("/surveys/overview")).text
    assert f"/surveys/responses?from={TODAY:%Y-%m-%d}&amp;to={TODAY:%Y-%m-%d}" in page


async def test_removed_demo_rows_are_in_no_figure(database: Database, busy: list[Placed]) -> None:
    async with database.transaction() as db:
        await tally_marks.count_up(db)
        await bury(db, 1)
        await tally_marks.recount(db, [busy[0].id])
        found = await overview.read(db, TODAY)
    assert found.together.outcomes == {"agreed": 1, "declined": 1, "opted_out": 1}


async def test_the_platform_shows_how_the_apps_are_rated(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        app = await publish_app(db)
        for user, stars in enumerate([5, 4, 4]):
            await ratings.submit(db, user + 1, Rating(app, stars, "ios"), datetime.now(UTC))
    page = (await vera.get("/surveys/overview")).text
    assert tile(page, "App ratings") == "4.33 ★ 3 ratings; latest of each person 4.33"
    assert "By platform" in page
    assert f"/surveys/ratings?app={app}" in page
    assert "/surveys/ratings?platform=ios" in page
    assert "/surveys/ratings?stars=4" in page


async def test_a_tenant_neither_sees_nor_reads_a_rating(eve: Browser, vera: Browser, statements: list[str]) -> None:
    page = (await eve.get("/surveys/overview")).text
    assert not [one for one in statements if "rating" in one or "applications" in one]
    await vera.get("/surveys/overview")
    assert [one for one in statements if "rating" in one]
    for words in ("App ratings", "Stars of the apps", "By app", "/surveys/ratings"):
        assert words not in page


async def test_an_empty_workspace_says_what_to_do_next_and_draws_nothing(
    vera: Browser, alice: Browser, selects: list[str]
) -> None:
    page = (await vera.get("/surveys/overview")).text
    assert len(selects) == 6  # four, one for the ratings, and one for the zone of its times
    assert "No survey yet" in page
    assert "Response rate" not in page
    assert "/surveys/start" not in page
    assert (
        '<a class="btn btn-primary" href="/surveys/start">New survey</a>' in (await alice.get("/surveys/overview")).text
    )


async def test_strangers_sign_in_and_people_without_the_right_are_refused(visitor: Browser, sign_in: SignIn) -> None:
    assert (await visitor.get("/surveys/overview")).headers["location"].startswith("/sign-in")
    assert (await (await sign_in("nora")).get("/surveys/overview")).status_code == 403


async def test_htmx_gets_the_board_alone(busy: list[Placed], vera: Browser) -> None:
    answer = (await vera.fragment("/surveys/overview")).text
    assert "h-running" in answer
    assert "<html" not in answer


async def test_another_workspace_s_surveys_are_not_counted(busy: list[Placed], eve: Browser) -> None:
    page = (await eve.get("/surveys/overview")).text
    assert "Doors" not in page
    assert "No survey yet" in page
