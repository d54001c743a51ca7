"""`/surveys/responses` and one response in full: what they show, to whom, and how they narrow,
export and stay quick."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import select, update

from app.accounts import tokens
from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import ApiToken, User
from app.db.session import Database
from app.parts import Parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import chain
from app.surveys.models import Response, Survey
from app.surveys.results import tally_marks
from tests.conftest import Browser, SignIn
from tests.host.staff import ALICE
from tests.markup import squeezed
from tests.surveys.calling import App
from tests.surveys.drafted import CONSENT, Stored, published
from tests.surveys.ledger_rows import bury
from tests.surveys.recording import AT, lunch, record, record_as_before, user_id, verify

ROW = re.compile(r'href="/surveys/response_modal/([0-9a-f]{64})"')


async def told(parts: Parts, survey: Stored, short: str, *values: Any, **changed: Any) -> str:
    """Records what one of the cast says; returns the receipt."""
    who = await user_id(parts.database, short)
    return (await record(parts.database, parts.keys, survey, who, *values, **changed)).receipt


@pytest.fixture
async def meal(database: Database) -> Stored:
    return await lunch(database)


@pytest.fixture
async def doors(database: Database) -> Stored:
    async with database.transaction() as db:
        return await published(db, title="Doors", type="consent", enforcement="required", questions=[CONSENT])


@pytest.fixture
async def receipts(parts: Parts, meal: Stored, doors: Stored) -> dict[str, str]:
    """Nora had lunch and agreed; Bob had lunch a day before and declined by the API."""
    return {
        "bob ate": await told(parts, meal, "bob", 2, "little", "salad", ("bread",), None, recorded_at=AT - timedelta(days=1)),
        "bob declined": await told(parts, doors, "bob", None, outcome="declined", source="api", answers=()),
        "nora ate": await told(parts, meal, "nora", recorded_at=AT + timedelta(minutes=1)),
        "nora agreed": await told(parts, doors, "nora", None, outcome="agreed", answers=(), recorded_at=AT + timedelta(minutes=2)),
    }  # fmt: skip


async def listed(browser: Browser, receipts: dict[str, str], query: str = "") -> list[str]:
    """The names of the rows that a query lists, in their order."""
    answer = await browser.get(f"/surveys/responses?{query}")
    assert answer.status_code == 200, answer.text
    names = {receipt: name for name, receipt in receipts.items()}
    return [names[receipt] for receipt in ROW.findall(answer.text)]


async def test_the_ledger_shows_who_said_what_with_which_evidence(receipts: dict[str, str], vera: Browser) -> None:
    page = (await vera.get("/surveys/responses")).text
    for words in ("Nora Nemo", "Bob Brandt", "Doors", "Lunch", "Agreed", "Declined", "4 ★", "rice, beans", "“Nora was"):
        assert words in page
    for flag in ("IP", "Browser", "Text"):
        assert f">{flag}</span>" in page


async def test_the_newest_come_first_and_the_oldest_on_demand(receipts: dict[str, str], vera: Browser) -> None:
    newest = ["nora agreed", "nora ate", "bob declined", "bob ate"]
    assert await listed(vera, receipts) == newest
    assert await listed(vera, receipts, "sort=when") == newest[::-1]


@pytest.mark.parametrize("counted_up", [False, True])
async def test_filters_narrow_list_total_and_export_alike(
    database: Database, receipts: dict[str, str], meal: Stored, doors: Stored, vera: Browser, *, counted_up: bool
) -> None:
    if counted_up:
        async with database.transaction() as db:
            await tally_marks.count_up(db)
    nora, stars, ticks = await user_id(database, "nora"), meal.questions[0].key, meal.questions[3].key
    for query, expected in {
        f"survey={meal.uid}": {"nora ate", "bob ate"},
        "outcome=declined": {"bob declined"},
        "outcome=declined&outcome=agreed": {"bob declined", "nora agreed"},
        f"from={AT:%Y-%m-%d}": {"nora ate", "nora agreed", "bob declined"},
        f"to={AT - timedelta(days=1):%Y-%m-%d}": {"bob ate"},
        "version=1": set(receipts),
        "version=2": set(),
        "version=x": set(),
        "q=nora": {"nora ate", "nora agreed"},
        "q=bob%40example": {"bob ate", "bob declined"},
        "current=1": set(receipts),
        f"current=1&survey={doors.uid}&outcome=agreed": {"nora agreed"},
        f"user={nora}&survey={doors.uid}": {"nora agreed"},
        f"q=bob&user={nora}": set(),
        f"question={stars}": {"nora ate", "bob ate"},
        f"question={stars}&choice=4": {"nora ate"},
        f"question={ticks}&choice=bread&survey={meal.uid}&version=1&outcome=answered": {"bob ate"},
        f"question={ticks}&choice=bread&q=nora": set(),
    }.items():
        page = (await vera.fragment(f"/surveys/responses?{query}")).text
        assert set(ROW.findall(page)) == {receipts[name] for name in expected}, query
        assert f"of <strong>{len(expected)}</strong>" in page or not expected, query
        if not counted_up:
            lines = (await vera.get(f"/surveys/responses?export=jsonl&{query}")).text.splitlines()
            assert len(lines) == len(expected), query


async def test_the_filters_send_no_more_than_was_chosen(
    database: Database, receipts: dict[str, str], meal: Stored, vera: Browser
) -> None:
    """What a link brought along stays while somebody filters on;
    where there is none, "None" was sent and matched nothing."""
    assert sent_unseen((await vera.get("/surveys/responses")).text) == {}
    chosen = {"user": str(await user_id(database, "nora")), "question": str(meal.questions[0].key), "choice": "4"}
    shown = (await vera.get(f"/surveys/responses?{urlencode(chosen)}")).text
    assert sent_unseen(shown) == chosen
    assert await listed(vera, receipts, urlencode({**sent_unseen(shown), "outcome": "answered"})) == ["nora ate"]


def sent_unseen(page: str) -> dict[str, str]:
    """The hidden fields of the form with the filters."""
    (form,) = re.findall(r'<form[^>]*id="filters-.*?</form>', page, re.DOTALL)
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


@pytest.mark.parametrize("counted_up", [False, True])
async def test_the_current_versions_of_published_surveys_are_those_that_the_overview_counts(
    database: Database, receipts: dict[str, str], meal: Stored, doors: Stored, vera: Browser, *, counted_up: bool
) -> None:
    async with database.transaction() as db:
        if counted_up:
            await tally_marks.count_up(db)
        await db.execute(update(Survey).where(Survey.uid == doors.uid).values(version=2))
    assert set(await listed(vera, receipts, "current=1")) == {"nora ate", "bob ate"}
    assert len((await vera.get("/surveys/responses?export=jsonl&current=1")).text.splitlines()) == 2
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.uid == meal.uid).values(status="archived"))
    assert await listed(vera, receipts, "current=1") == []


@pytest.mark.parametrize("query", ["outcome=lost", "from=yesterday", "survey=7", "from=2026-02-02&to=2026-01-01"])
async def test_a_filter_that_cannot_be_read_finds_nothing_and_says_so(
    receipts: dict[str, str], vera: Browser, query: str
) -> None:
    assert await listed(vera, receipts, query) == []
    assert "Clear all" in (await vera.get(f"/surveys/responses?{query}")).text


async def test_an_export_holds_the_answers_under_their_labels(receipts: dict[str, str], vera: Browser) -> None:
    lines = [json.loads(one) for one in (await vera.get("/surveys/responses?export=jsonl")).text.splitlines()]
    by_person = {(one["person"], one["survey"]): one for one in lines}
    told = {one["label"]: one["value"] for one in by_person["Nora Nemo", "Lunch"]["answers"]}
    assert told == {
        "Stars?": 4,
        "How much?": "much",
        "Which?": "soup",
        "What all?": ["rice", "beans"],
        "Why?": "Nora was served cold soup",
    }
    assert by_person["Nora Nemo", "Lunch"]["outcome"] == "answered"  # the fixed word, not the label of the day
    answer = await vera.get("/surveys/responses?export=csv&q=nora")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert "What all?: rice, beans; Why?: Nora was served cold soup" in rows[1]["Answers"]
    assert rows[1]["Evidence"] == "IP, Browser, Text"


async def test_a_formula_in_an_answer_stays_text(parts: Parts, database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        survey = await published(db, questions=[{"label": "=1+1", "type": "free_text"}])
    await told(parts, survey, "nora", "harmless")
    rows = list(csv.DictReader(io.StringIO((await vera.get("/surveys/responses?export=csv")).text)))
    assert rows[0]["Answers"] == "'=1+1: harmless"


async def test_a_response_in_full_shows_words_answers_evidence_and_chain(
    receipts: dict[str, str], meal: Stored, vera: Browser
) -> None:
    page = (await vera.get(f"/surveys/response_modal/{receipts['nora ate']}")).text
    assert "<html" in page
    for words in ("Nora Nemo", "How much?", "much", "rice\nbeans", "4 of 5 stars", "Nora was served cold soup", "198.51.100.7",
        "Firefox", meal.content_hash, receipts["nora ate"], "Row 3 of 4", ">Verified<", receipts["bob declined"]):  # fmt: skip
        assert words in page, words
    # The very instant that the chain covers and that the API told the app, so that the two can be compared by eye.
    assert f">{chain.instant(AT + timedelta(minutes=1))}<" in page
    assert "Agreed" in (await vera.get(f"/surveys/response_modal/{receipts['nora agreed']}")).text
    fragment = (await vera.fragment(f"/surveys/response_modal/{receipts['nora ate']}")).text
    assert fragment.lstrip().startswith("<article")


async def test_each_response_says_how_far_the_survey_came_to_the_person(
    database: Database, parts: Parts, meal: Stored, vera: Browser
) -> None:
    words = {
        "first": "First in the queue",
        "in_queue": "In the queue, behind another survey",
        "not_handed_out": "Not handed out",
    }
    receipts = {
        (await record(database, parts.keys, meal, 10 + n, shown=shown)).receipt: (shown, told)
        for n, (shown, told) in enumerate(words.items())
    }
    receipts[await record_as_before(database, meal, 20, prompted=True)] = ("first", "First in the queue")
    receipts[await record_as_before(database, meal, 21, prompted=False)] = ("not_known", "Not known")
    for receipt, (_, told) in receipts.items():
        evidence = (await vera.get(f"/surveys/response_modal/{receipt}")).text
        assert f"<dt>Shown</dt><dd>{told}</dd>" in squeezed(evidence)
        assert "they were shown" not in evidence, "no other sentence says more than that"
    async with database.shared_transaction() as db:
        chosen = {"columns": {"responses": ["shown", "receipt"]}}
        await db.execute(update(User).where(User.email == "vera@example.org").values(preferences=chosen))
    page = (await vera.get("/surveys/responses")).text
    assert all(f">{told}</td>" in page for _, told in receipts.values())
    lines = (await vera.get("/surveys/responses?export=jsonl")).text.splitlines()
    exported = {one["receipt"]: one["shown"] for one in map(json.loads, lines)}
    assert exported == {receipt: shown for receipt, (shown, _) in receipts.items()}


async def test_an_answer_by_a_token_that_somebody_else_made_says_so(
    database: Database, parts: Parts, meal: Stored, vera: Browser, visitor: Browser
) -> None:
    nora = await user_id(database, "nora")
    for maker, said in (
        (
            Actor(await user_id(database, "alice"), "Alice Ahn"),
            "<dt>API token</dt><dd>Made by Alice Ahn, not by this person</dd>",
        ),
        (COMMAND_LINE, "<dt>API token</dt><dd>Made by a command on the server, not by this person</dd>"),
        (Actor(nora, "Nora Nemo"), ""),
        (None, ""),
    ):
        async with database.transaction() as db:
            stored = await published(db, title="Lunch", questions=[CONSENT])
            made = await tokens.create(db, maker or COMMAND_LINE, nora, ["me"])
            if maker is None:  # made before makers were kept
                await db.execute(update(ApiToken).where(ApiToken.id == made.id).values(made_by=None, made_by_id=None))
        receipt = (await App(visitor, made.text).recorded(stored.uid, "agree"))["receipt"]
        page = squeezed((await vera.get(f"/surveys/response_modal/{receipt}")).text)
        assert (said in page, "API token" in page) == (True, bool(said))
        async with database.transaction() as db:
            entry = await db.scalar(select(Response.entry).where(Response.row_hash == bytes.fromhex(receipt)))
        assert maker is None or maker.name not in (entry or "")
    assert (await vera.get("/surveys/responses")).text.count(">Token</span>") == 2
    await erasing.erase(database, ALICE, EvidenceOwner(nora, "nora@example.org", "main"))
    assert ">Token</span>" not in (await vera.get("/surveys/responses")).text
    assert (await verify(database, "main")).fits


async def test_a_row_that_was_tampered_with_is_not_verified(receipts: dict[str, str], urls: Any, vera: Browser) -> None:
    import psycopg

    with psycopg.connect(urls.owner) as owner:
        owner.execute("ALTER TABLE main.survey_responses DISABLE TRIGGER append_only")
        owner.execute("UPDATE main.survey_responses SET outcome = 'agreed' WHERE outcome = 'declined'")
        owner.execute("ALTER TABLE main.survey_responses ENABLE ALWAYS TRIGGER append_only")
    page = (await vera.get(f"/surveys/response_modal/{receipts['bob declined']}")).text
    assert ">Not verified<" in page
    assert ">Verified<" not in page


async def test_an_erased_person_has_no_name_text_or_evidence_anywhere(
    database: Database, receipts: dict[str, str], vera: Browser
) -> None:
    nora = await user_id(database, "nora")
    await erasing.erase(database, ALICE, EvidenceOwner(nora, "nora@example.org", "main"))
    pages = [
        (await vera.get("/surveys/responses")).text,
        (await vera.get("/surveys/responses?export=csv")).text,
        (await vera.get(f"/surveys/response_modal/{receipts['nora ate']}")).text,
    ]
    for page in pages:
        assert "Erased person" in page
        assert "nora" not in page.lower()
        assert "cold soup" not in page
    assert "198.51.100.7" not in pages[2]
    assert await listed(vera, receipts, "q=nora") == []
    assert await listed(vera, receipts, f"user={nora}") == []


async def test_removed_demo_rows_are_in_no_list_and_no_export(
    database: Database, receipts: dict[str, str], vera: Browser
) -> None:
    async with database.transaction() as db:
        await bury(db, 1)
    assert await listed(vera, receipts) == ["nora agreed", "nora ate", "bob declined"]
    assert len((await vera.get("/surveys/responses?export=jsonl")).text.splitlines()) == 3
    assert (await vera.get(f"/surveys/response_modal/{receipts['bob ate']}")).status_code == 404


async def test_a_tenant_s_person_is_shown_on_the_platform_with_the_workspace(
    parts: Parts, meal: Stored, vera: Browser
) -> None:
    await told(parts, meal, "eve")
    page = (await vera.get("/surveys/responses")).text
    assert "Eve Egger" in page
    assert "Globex" in page


async def test_another_workspace_sees_none_of_it(receipts: dict[str, str], eve: Browser) -> None:
    assert ROW.findall((await eve.get("/surveys/responses")).text) == []
    assert (await eve.get(f"/surveys/response_modal/{receipts['nora ate']}")).status_code == 404


@pytest.mark.parametrize("receipt", ["1", "z" * 64, "A" * 64, "0" * 64])
async def test_what_is_not_a_receipt_is_not_found(vera: Browser, receipt: str) -> None:
    assert (await vera.get(f"/surveys/response_modal/{receipt}")).status_code == 404


async def test_strangers_sign_in_and_people_without_the_right_are_refused(
    receipts: dict[str, str], visitor: Browser, sign_in: SignIn
) -> None:
    nora = await sign_in("nora")
    for url in ("/surveys/responses", f"/surveys/response_modal/{receipts['nora ate']}"):
        assert (await visitor.get(url)).headers["location"].startswith("/sign-in")
        assert (await nora.get(url)).status_code == 403


async def test_htmx_gets_the_list_alone_and_a_page_costs_four_selects(
    receipts: dict[str, str], vera: Browser, selects: list[str]
) -> None:
    answer = await vera.fragment("/surveys/responses?outcome=agreed")
    assert 'id="responses-results"' in answer.text
    assert "<html" not in answer.text
    selects.clear()
    await vera.get(f"/surveys/responses?outcome=agreed&from={AT:%Y-%m-%d}")
    assert len(selects) == 4  # one of them for the zone of its times


@pytest.mark.parametrize("counted_up", [False, True])
async def test_days_at_the_ends_of_the_calendar_leave_nothing_out(
    receipts: dict[str, str], database: Database, meal: Stored, vera: Browser, *, counted_up: bool
) -> None:
    if counted_up:
        async with database.transaction() as db:
            await tally_marks.count_up(db)
    ends = "from=0001-01-01&to=9999-12-31"
    assert await listed(vera, receipts, ends) == await listed(vera, receipts)
    for path in (f"/surveys/view/{meal.uid}", "/surveys/ratings"):
        assert (await vera.get(f"{path}?{ends}")).status_code == 200, path


async def test_a_deep_page_reads_its_own_days(parts: Parts, database: Database, meal: Stored, vera: Browser) -> None:
    receipts = {}
    for n in range(60):
        done = await record(database, parts.keys, meal, 1000 + n, recorded_at=AT - timedelta(hours=7 * n))
        receipts[done.receipt] = str(n)
    async with database.transaction() as db:
        await tally_marks.count_up(db)
    names = {number: receipt for receipt, number in receipts.items()}
    assert await listed(vera, names, "per_page=25&page=3") == [str(n) for n in range(50, 60)]
    assert await listed(vera, names, "per_page=25&page=2&sort=when") == [str(n) for n in range(34, 9, -1)]
    assert await listed(vera, names, "per_page=25&page=99") == [str(n) for n in range(50, 60)]
