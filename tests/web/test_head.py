"""HEAD: status and headers of the GET, and nothing done for it."""

import asyncio

import httpx
import pytest
from sqlalchemy import func, select, text

from app.accounts.models import Session
from app.db.session import Database
from app.parts import Parts
from app.surveys.models import PromptState
from tests.clock.syncing import site
from tests.conftest import Browser, SignIn
from tests.surveys.drafted import published

OF_EACH_ANSWER = {"x-request-id", "date", "set-cookie"}


def told(answer: httpx.Response, left_out: set[str]) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in OF_EACH_ANSWER | left_out}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/people", 200), ("/people/add", 200), ("/people/4711", 404), ("/nothing", 404), ("/admin/users", 200),
        ("/health/live", 200), ("/health/ready", 200), ("/static/css/muster.css", 200), ("/static/none.css", 404),
        ("/favicon.ico", 404), ("/sign-out", 405), ("/metrics", 200), ("/people?export=none", 422),
    ],
)  # fmt: skip
async def test_status_and_headers_are_those_of_the_get(alice: Browser, path: str, status: int) -> None:
    for encoding in ("identity", "br"):
        headers = {"Accept-Encoding": encoding}
        asked, got = await alice.head(path, headers=headers), await alice.get(path, headers=headers)
        assert (asked.status_code, got.status_code, asked.content) == (status, status, b"")
        # /metrics counts itself; the token of a page is another in each answer, and compresses a little differently.
        left_out = {"content-length"} if path == "/metrics" or encoding == "br" else set()
        assert told(asked, left_out) == told(got, left_out)
        assert ("content-length" in asked.headers) == ("content-length" in got.headers)


async def test_strangers_are_sent_to_sign_in_and_back(visitor: Browser, vera: Browser) -> None:
    answer = await visitor.head("/people?q=a")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/people%3Fq%3Da")
    assert (await vera.head("/admin/users")).status_code == 403


async def test_a_page_that_refuses_another_method_names_it(visitor: Browser) -> None:
    wrong = await visitor.put("/people")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_it_takes_no_message(alice: Browser) -> None:
    await alice.submit("/people/add", {"name": "Ada Lovelace", "id_number": "1"})
    assert (await alice.head("/people")).status_code == 200
    assert "data-toast" in (await alice.get("/people")).text


async def test_it_is_no_sign_of_life_of_a_session(alice: Browser, database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(text("UPDATE sessions SET last_seen_at = now() - interval '10 minutes'"))
        before = await db.scalar(select(Session.last_seen_at))
    assert (await alice.head("/people")).status_code == 200
    async with database.shared_transaction() as db:
        assert await db.scalar(select(Session.last_seen_at)) == before


@pytest.mark.parametrize("short", ["vera", "eve"])
async def test_it_counts_no_impression_of_a_survey(sign_in: SignIn, database: Database, short: str) -> None:
    async with database.transaction() as db:
        await published(db, title="Lunch")
    person = await sign_in(short)
    assert (await person.head("/survey_prompt")).status_code == 200
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(PromptState)) == 0
    assert "Lunch" in (await person.get("/survey_prompt")).text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(PromptState)) == 1


async def test_it_starts_no_export(alice: Browser, parts: Parts) -> None:
    asked = await alice.head("/people?export=csv")
    assert (asked.status_code, asked.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    await asyncio.sleep(0)
    assert parts.exports.engine.pool.checkedin() == 0, "no connection was ever made for one"  # type: ignore[attr-defined]


async def test_it_does_not_ask_the_time_clock(alice: Browser, parts: Parts) -> None:
    async with site(parts) as here:
        await here.sync()
        async with parts.database.transaction() as db:
            await db.execute(text("INSERT INTO clock_settings (name, value) VALUES ('show_photos', 'true')"))
        who = await here.scalar("SELECT min(id) FROM clock_employees WHERE photo_ref IS NOT NULL")
        calls = await here.scalar("SELECT count(*) FROM clock_api_logs")
        for path in (f"/clock_employees/{who}/photo", f"/clock_employees/{who}/schedule"):
            answer = await alice.head(path)
            assert (answer.status_code, "HEAD" in answer.headers["allow"]) == (405, False)
        assert await here.scalar("SELECT count(*) FROM clock_api_logs") == calls
        stream = await alice.head(f"/clock_sync/live/{await here.scalar('SELECT max(id) FROM clock_sync_runs')}")
        assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


async def test_both_apis_keep_405(visitor: Browser) -> None:
    for path in ("/v1/api/openapi.json", "/api/v1/clock/openapi.json"):
        answer = await visitor.head(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, OPTIONS")
