"""`/clock_logs`: the calls that were made, their excerpts, and how long they took."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from app.clock.models import ApiLog
from app.clock.pages import logs

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
async def calls(database):
    """Ten good calls of 10 to 100 ms and a failed one, which took 900."""
    good = [
        {
            "at": NOON + timedelta(seconds=n),
            "path": "/iclock/api/transactions/",
            "http_status": 200,
            "duration_ms": n * 10,
        }
        for n in range(1, 11)
    ]
    bad = {"at": NOON, "path": "/jwt-api-token-auth/", "http_status": 401, "duration_ms": 900}
    common = {
        "method": "GET",
        "host": "clock.example",
        "query": "page=1",
        "bytes": 4200,
        "run_id": 7,
        "body_code": None,
    }
    async with database.transaction("main") as db:
        for row in (*good, bad):
            values = {
                **common,
                **row,
                "tc_code": "TC-AUTH" if row is bad else None,
                "excerpt": '{"token": "[redacted]"}',
            }
            await db.execute(insert(ApiLog).values(values))


async def test_it_lists_the_calls_and_how_long_they_took(vera, calls):
    text = (await vera.get("/clock_logs")).text
    assert text.count("/iclock/api/transactions/") == 10
    assert "half took at most 60 ms" in text
    assert "the longest 900 ms" in text


async def test_of_very_many_the_newest_are_measured_and_the_page_says_that_there_are_more(vera, calls, monkeypatch):
    monkeypatch.setattr(logs, "COUNTED", 10)
    text = (await vera.get("/clock_logs?page=9")).text
    assert "of <strong>10</strong> or more: narrow the filter" in text
    assert "All 10 or more rows of this filter" in text
    assert "Of 10 calls under this filter (the newest)" in text
    assert "the longest 100 ms" in text
    monkeypatch.setattr(logs, "COUNTED", 11)
    text = (await vera.get("/clock_logs")).text
    assert "All 11 rows of this filter" in text
    assert "the newest" not in text


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("result=failed", 1),
        ("result=ok", 10),
        ("code=tc-auth", 1),
        ("status=401", 1),
        ("slower=95", 2),
        ("slower=95+ms", 2),
        ("run=7", 11),
        ("run=8", 0),
        ("run=nonsense", 0),
        ("q=token-auth", 1),
        ("from=2026-11-21", 0),
        ("to=2026-11-20", 11),
    ],
)
async def test_its_filters_narrow_the_calls_and_their_durations(vera, calls, query, number):
    text = (await vera.get(f"/clock_logs?{query}")).text
    assert text.count('href="/clock_logs/') == number
    assert (f"Of {number} call" in text) is (number > 0)


async def test_a_call_shows_what_came_back_without_its_secrets(vera, calls):
    answer = await vera.get("/clock_logs/11")
    assert answer.status_code == 200
    assert "{&#34;token&#34;: &#34;[redacted]&#34;}" in answer.text
    assert "TC-AUTH" in answer.text
    fragment = await vera.fragment("/clock_logs/11")
    assert "<html" not in fragment.text
    assert (await vera.get("/clock_logs/12")).status_code == 404


async def test_another_workspace_sees_none_of_them(eve, calls):
    assert (await eve.get("/clock_logs/1")).status_code == 404
    assert "No calls yet" in (await eve.get("/clock_logs")).text


async def test_it_needs_a_sign_in_and_the_permission(visitor, nora):
    assert (await visitor.get("/clock_logs")).headers["location"].startswith("/sign-in")
    assert (await nora.get("/clock_logs")).status_code == 403


async def test_an_export_holds_the_filtered_calls(vera, calls):
    lines = (await vera.get("/clock_logs?export=csv&result=failed")).text.splitlines()
    assert len(lines) == 2
    assert "/jwt-api-token-auth/" in lines[1]


@pytest.fixture
async def nora(sign_in):
    return await sign_in("nora")
