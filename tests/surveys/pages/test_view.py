"""`/surveys/view/<uid>`: one survey in full, its figures narrowed and linked, its comments and its own ledger."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import uuid4

import pytest
from sqlalchemy import update

from app.accounts.models import Tenant
from app.db.session import Database
from app.parts import Parts
from app.periods import PERIODS
from app.surveys import erasing
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import load
from app.surveys.erasing import EvidenceOwner
from app.surveys.results import tally_marks
from tests.conftest import Browser, SignIn
from tests.host.staff import ALICE
from tests.surveys.authored import make
from tests.surveys.drafted import AUTHOR, CONSENT, Stored, defined, drafted, published
from tests.surveys.ledger_rows import Placed, bury, show
from tests.surveys.recording import AT, lunch, record, user_id


@pytest.fixture
async def meal(database: Database, parts: Parts) -> Stored:
    """Lunch, with a question of every type, answered by three of five who saw it; Eve opted out."""
    survey = await lunch(database)
    for n, (short, values) in enumerate(
        {
            "nora": (5, "much", "soup", ("rice", "beans"), "Cold soup"),
            "bob": (4, "much", "salad", ("rice",), "Warm salad"),
            "vera": (4, "little", "soup", None, None),
        }.items()
    ):
        at = AT - timedelta(days=n)
        await record(database, parts.keys, survey, await user_id(database, short), *values, recorded_at=at)
    eve = await user_id(database, "eve")
    await record(database, parts.keys, survey, eve, None, outcome="opted_out", shown="in_queue")
    async with database.transaction() as db:
        for short in ("nora", "bob", "vera", "alice"):
            await show(db, Placed(survey.id, survey.uid, 0), await user_id(database, short), at=AT)
    return survey


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", page, flags=re.DOTALL).split())


async def test_a_mean_beside_its_stars_is_read_aloud_once(meal: Stored, vera: Browser) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}")).text
    assert 'class="stars" aria-hidden="true"' in page
    assert "of 5 stars" not in page


async def shown(browser: Browser, survey: Stored, query: str = "") -> str:
    answer = await browser.get(f"/surveys/view/{survey.uid}?{query}")
    assert answer.status_code == 200, answer.text
    return words_of(answer.text)


@pytest.mark.parametrize("counted_up", [False, True])
async def test_each_question_says_what_it_came_to(
    database: Database, meal: Stored, vera: Browser, *, counted_up: bool
) -> None:
    if counted_up:
        async with database.transaction() as db:
            await tally_marks.count_up(db)
    page = await shown(vera, meal)
    for words in (
        "4.33 of 5, mean of 3",
        "5 ★ 1 33.3 % 4 ★ 2 66.7 % 3 ★ 0 0.0 %",
        "little 1 33.3 % much 2 66.7 %",
        "soup 2 66.7 % salad 1 33.3 %",
        "rice 2 100.0 % bread 0 0.0 % beans 1 50.0 %",
        "Cold soup",
        "Warm salad",
    ):
        assert words in page


@pytest.mark.parametrize(("query", "rows"), [("", 4), ("outcome=answered", 3)])
async def test_the_export_holds_the_responses_of_the_view(meal: Stored, vera: Browser, query: str, rows: int) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}?{query}")).text
    links = {url[-5:]: unescape(url) for url in re.findall(r'href="([^"]*export=[^"]*)"', page)}
    assert len((await vera.get(links["jsonl"])).text.splitlines()) == rows
    answer = await vera.get(links["t=csv"])
    assert (answer.headers["content-type"], len(answer.text.splitlines())) == ("text/csv; charset=utf-8", rows + 1)


async def test_counters_and_funnel_are_of_everybody_asked(meal: Stored, vera: Browser) -> None:
    page = await shown(vera, meal)
    for words in (
        "Responses 4 version 1",
        "Response rate 60.0 % 5 asked",
        "Opted out 1 of 5 asked",
        "Asked 5 100.0 %",
        "Shown at least once 4 80.0 %",
        "Responded 3 60.0 %",
        "Without having been shown it: 1 opted out.",
    ):
        assert words in page


async def test_results_come_before_trends_and_tiles_apply(meal: Stored, vera: Browser) -> None:
    page = await shown(vera, meal)
    places = [page.index(words) for words in ("Response rate", "Stars?", "Its ledger", "Responses per day")]
    assert places == sorted(places)
    assert "Acceptance" not in page
    assert "Agreed" not in page


async def test_a_draft_has_no_figures_yet(database: Database, vera: Browser) -> None:
    page = await shown(vera, await make(database, title="Later"))
    for words in ("Response rate", "Responses per day", "From shown to answered"):
        assert words not in page
    assert "No response yet" in page


async def test_one_number_is_rounded_one_way_on_every_page(database: Database, parts: Parts, vera: Browser) -> None:
    survey = await lunch(database)
    async with database.transaction() as db:
        for person in range(1, 17):
            await show(db, Placed(survey.id, survey.uid, 0), person, at=AT)
    await record(database, parts.keys, survey, 1)
    page = await shown(vera, survey)
    assert "Response rate 6.3 %" in page
    assert "Responded 1 6.3 %" in page
    assert "6.3 %" in words_of((await vera.get("/surveys/list")).text)
    assert "6.3 %" in words_of((await vera.get("/surveys/overview")).text)
    assert "6.3" in (await vera.get("/surveys/list?export=csv")).text


async def test_every_figure_leads_to_its_rows(meal: Stored, vera: Browser) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}")).text
    choices = re.findall(r'href="(/surveys/responses\?[^"]*choice=[^"]*)"', page)
    counts = {}
    for url in choices:
        listed = (await vera.get(url.replace("&amp;", "&"))).text
        counts[url.rpartition("choice=")[2]] = len(re.findall("response_modal/", listed))
    assert counts == {"5": 1, "4": 2, "little": 1, "much": 2, "soup": 2, "salad": 1, "rice": 2, "beans": 1}


async def test_days_and_outcomes_narrow_the_answers_and_not_the_rates(meal: Stored, vera: Browser) -> None:
    page = await shown(vera, meal, f"from={AT:%Y-%m-%d}")
    assert "4, 2 in this filter" not in page
    assert "version 1, 2 in this filter" in page
    assert "5.00 of 5, mean of 1" in page
    assert "60.0 % 5 asked" in page
    assert "Warm salad" not in page
    assert "Nothing matches these filters" in await shown(vera, meal, "outcome=declined")


@pytest.mark.parametrize("query", ["from=soon", "outcome=lost", "from=2026-02-02&to=2026-01-01"])
async def test_a_filter_that_cannot_be_read_shows_nothing_and_says_why(meal: Stored, vera: Browser, query: str) -> None:
    page = await shown(vera, meal, query)
    assert "The filter can&#39;t be read" in page
    assert "4.33" not in page


async def test_an_older_version_keeps_its_words_and_figures(
    database: Database, meal: Stored, parts: Parts, vera: Browser
) -> None:
    async with database.transaction() as db:
        asked = [{"label": "Was it good, really?", "type": "star_rating", "key": meal.questions[0].key}]
        revision = (await load(db, meal.uid)).revision
        await authoring.save(
            db,
            AUTHOR,
            meal.uid,
            defined(title="Dinner", questions=asked),
            revision=revision,
            new_version=True,
            ceiling="full",
        )
    now = await shown(vera, meal)
    assert "Dinner" in now
    assert "Was it good, really? Star rating · 0 people" in now
    assert "Cold soup" not in now
    before = await shown(vera, meal, "version=1")
    assert "Stars? Star rating · 3 people" in before
    assert "version 1 of 2" in before
    assert "Cold soup" in before
    assert meal.content_hash in before


@pytest.mark.parametrize("version", ["7", "0", "x", "99999999999"])
async def test_a_version_that_never_was_is_not_found(meal: Stored, vera: Browser, version: str) -> None:
    assert (await vera.get(f"/surveys/view/{meal.uid}?version={version}")).status_code == 404


async def test_what_erased_people_wrote_is_gone(database: Database, meal: Stored, vera: Browser) -> None:
    await erasing.erase(database, ALICE, EvidenceOwner(await user_id(database, "nora"), "nora@example.org", "main"))
    page = await shown(vera, meal)
    assert "Cold soup" not in page
    assert "Warm salad" in page
    assert "Nora" not in page
    assert "Erased person" in page
    assert "4.33 of 5, mean of 3" in page


async def test_removed_demo_rows_are_nowhere(database: Database, meal: Stored, vera: Browser) -> None:
    async with database.transaction() as db:
        await tally_marks.count_up(db)
        await bury(db, 1)
        await tally_marks.recount(db, [meal.id])
    page = await shown(vera, meal)
    assert "4.00 of 5, mean of 2" in page
    assert "Cold soup" not in page
    assert "Nora" not in page


async def test_a_consent_shows_its_text_and_acceptance(database: Database, parts: Parts, vera: Browser) -> None:
    async with database.transaction() as db:
        survey = await published(
            db,
            title="Doors",
            enforcement="required",
            type="consent",
            message="<p>Be <em>kind</em></p>",
            questions=[CONSENT],
        )
    for short, outcome in (("nora", "agreed"), ("bob", "agreed"), ("vera", "declined")):
        await record(database, parts.keys, survey, await user_id(database, short), None, outcome=outcome)
    page = (await vera.get(f"/surveys/view/{survey.uid}")).text
    assert "<em>kind</em>" in page
    assert "66.7 % agreed, of 3 who decided" in words_of(page)


async def test_a_draft_shows_its_definition(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        survey = await drafted(
            db, title="Later <b>", user_types=["staff"], questions=[{"label": "<i>So?</i>", "type": "free_text"}]
        )
    answer = (await vera.get(f"/surveys/view/{survey.uid}")).text
    assert "&lt;i&gt;So?&lt;/i&gt;" in answer
    for words in (
        "A draft is asked once it is published",
        "Staff; every workspace",
        "at most 5 prompts",
        survey.content_hash,
    ):
        assert words in answer


async def test_the_ceiling_does_not_cap_it_and_an_edit_above_it_is_not_offered(
    database: Database, eve: Browser
) -> None:
    async with database.transaction("globex") as db:
        survey = await published(db, enforcement="required", title="Ours")
    for ceiling, may_edit in (("full", True), ("optional", False), ("none", False)):
        async with database.shared_transaction() as db:
            await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling=ceiling))
        answer = await eve.get(f"/surveys/view/{survey.uid}")
        assert answer.status_code == 200
        assert (f"/surveys/edit/{survey.uid}" in answer.text) is may_edit


async def test_it_is_read_only(meal: Stored, vera: Browser) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}")).text
    forms = re.findall(r'method="post" action="([^"]+)"', page)
    assert set(forms) <= {"/sign-out"}
    assert "/surveys/edit/" not in page


async def test_other_workspaces_and_unknown_surveys_are_not_found(meal: Stored, eve: Browser, vera: Browser) -> None:
    for part in ("", "/why", "/why?user=1"):
        assert (await eve.get(f"/surveys/view/{meal.uid}{part}")).status_code == 404
    for uid in (uuid4(), "7"):
        assert (await vera.get(f"/surveys/view/{uid}")).status_code == 404


async def test_strangers_sign_in_and_people_without_the_right_are_refused(
    meal: Stored, visitor: Browser, sign_in: SignIn
) -> None:
    nora = await sign_in("nora")
    for part in ("", "/why", "/people?q=n"):
        url = f"/surveys/view/{meal.uid}{part}"
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")
        assert (await nora.get(url)).status_code == 403


async def test_htmx_gets_the_figures_and_a_page_costs_four_selects(
    meal: Stored, vera: Browser, selects: list[str]
) -> None:
    answer = (await vera.fragment(f"/surveys/view/{meal.uid}?outcome=answered")).text
    assert "survey-figures" in answer
    assert "<html" not in answer
    assert len(selects) == 4  # one of them for the zone of its times


async def test_chosen_days_are_compared_with_as_many_before_and_are_the_days_of_the_trend(
    meal: Stored, vera: Browser
) -> None:
    page = await shown(vera, meal, "from=2026-11-21&to=2026-11-21")
    assert page.count("2 responses, 1 more than on the day before (1).") == 2  # beside the filter, and over the trend
    assert "1 UTC day, version 1" in page
    assert "Sat 21 Nov 1 1 2 1" in page  # answered, opted out, together, a day earlier
    page = await shown(vera, meal, "from=2026-11-21&to=2026-11-21&outcome=opted_out")
    assert "No comparison: there are no responses on the day before." in page


async def test_days_before_the_version_was_asked_are_not_compared(meal: Stored, vera: Browser) -> None:
    page = await shown(vera, meal, "from=2026-11-18&to=2026-11-21")
    assert "No comparison with the 4 days before: this version has been asked since Thu 19 Nov." in page


@pytest.mark.parametrize("word", ["today", "last-week", "this-month"])
async def test_periods_are_offered_as_in_the_lists_and_count_in_utc(meal: Stored, vera: Browser, word: str) -> None:
    page = (await vera.get(f"/surveys/view/{meal.uid}?period={word}")).text
    assert f'<option value="{word}" selected>' in page
    first, last = PERIODS[word].days(datetime.now(UTC).date())
    assert f"from={first}&amp;to={last}" in page  # the export and the ledger have the same days
    assert "Days (UTC)" in page


async def test_a_period_that_is_none_says_so(meal: Stored, vera: Browser) -> None:
    page = await shown(vera, meal, "period=eternity")
    assert "The filter can&#39;t be read" in page
    assert "Stars? Star rating · 0 people" in page
