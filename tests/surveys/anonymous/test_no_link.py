"""Two hundred people answer an anonymous survey at once, over real HTTP. Then everything that any table, page, file,
log or API holds is searched for a link between a person and an answer: before the survey closes, and after it."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest
import structlog
from sqlalchemy import text

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring.stored import Stored
from tests.cluster import DatabaseUrls
from tests.conftest import Browser, SignIn
from tests.serving import served
from tests.surveys.anonymous.team import MOOD, ask_crew, crew, end, token_of
from tests.surveys.calling import RESPOND
from tests.surveys.recording import verify

PEOPLE, AT_ONCE = 200, 20
NUMBER = {"label": "How many?", "type": "number"}
WORDS = {"label": "Why?", "type": "free_text"}
# What each answered is theirs alone, so that it can be found wherever it lies.
SECRET = re.compile(r"secret-\d{3}-of-one|77\d{3}1177")
COLUMNS = {
    "survey_ballots": {"id", "survey_id", "version", "sealed"},
    "survey_results": {"id", "survey_id", "version", "question_key", "grouped", "joined", "choice", "people"},
}
PAGES = (
    "/surveys/view/{uid}", "/surveys/view/{uid}?split=department", "/surveys/view/{uid}?outcome=answered",
    "/surveys/view/{uid}/versions", "/surveys/view/{uid}/rounds", "/surveys/responses?survey={uid}",
    "/surveys/responses?survey={uid}&export=csv", "/surveys/responses?survey={uid}&export=jsonl",
    "/surveys/responses?survey={uid}&shape=table&export=csv", "/surveys/responses?survey={uid}&question={number}&choice=7700011177",
    "/surveys/waiting/{uid}", "/surveys/overview", "/surveys/list", "/admin/audit", "/admin/jobs", "/admin/audit?export=jsonl", "/metrics",
    "/people/erase/{person}", "/surveys/response_modal/{receipt}",
)  # fmt: skip
RESULTS = (
    "/surveys/results/{uid}?per_page=500",
    "/surveys/results/{uid}?export=csv",
    "/surveys/results/{uid}?export=jsonl",
)


def comment_of(n: int) -> str:
    return f"secret-{n:03}-of-one"


def number_of(n: int) -> int:
    return int(f"77{n:03}1177")


@pytest.fixture
async def survey(database: Database) -> Stored:
    await crew(database, [("North", "South", "East")[n % 3] if n < PEOPLE - 4 else "Attic" for n in range(PEOPLE)])
    return await ask_crew(database, questions=[MOOD, NUMBER, WORDS], split="department")


async def answer_at_once(app: Any, survey: Stored) -> list[int]:
    """Everybody answers, AT_ONCE of them together; some twice, since a phone repeats what it is not sure of."""
    keys = [str(one.key) for one in survey.questions]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(client: httpx.AsyncClient, n: int) -> list[int]:
        values = ("Good" if n % 2 else "Bad", number_of(n), comment_of(n))
        told = [{"question": key, "value": value} for key, value in zip(keys, values, strict=True)]
        body = {"survey": str(survey.uid), "action": "answer", "answers": told}
        headers = {"Authorization": f"Bearer {token_of(n)}"}
        async with gate:
            answers = await asyncio.gather(
                *(client.post(RESPOND, json=body, headers=headers) for _ in range(1 if n % 10 else 2))
            )
        return [answer.status_code for answer in answers]

    async with served(app, grace_s=5) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as client:
        each = await asyncio.gather(*(one(client, n) for n in range(PEOPLE)))
    return [status for pair in each for status in pair]


def every_row(urls: DatabaseUrls) -> Iterator[tuple[str, str]]:
    """Each row of each table as the owner reads it, with where it lies on the disk."""
    tables = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT LIKE 'pg\\_%' AND schemaname <> 'information_schema' ORDER BY 1, 2"
    with psycopg.connect(urls.owner) as connection, psycopg.connect(urls.app) as app:
        for schema, table in connection.execute(tables).fetchall():
            # The tables of the queue are the app's own.
            for (row,) in (
                (app if schema == "saq" else connection)
                .execute(f'SELECT to_jsonb(t)::text FROM "{schema}"."{table}" t')
                .fetchall()
            ):
                yield table, row
        for (statistics,) in connection.execute("SELECT to_jsonb(s)::text FROM pg_stats s"):
            yield "pg_stats", statistics


def tables_with_secrets(urls: DatabaseUrls) -> set[str]:
    return {table for table, row in every_row(urls) if SECRET.search(row)}


async def read(browser: Browser, urls: tuple[str, ...], **named: Any) -> dict[str, str]:
    answers = {url: await browser.get(url.format(**named)) for url in urls}
    return {url: answer.text for url, answer in answers.items() if answer.status_code == 200}


async def found(database: Database, sql: str) -> list[Any]:
    async with database.transaction() as db:
        return [tuple(row) for row in await db.execute(text(sql))]


def correlation(ranks: list[int]) -> float:
    """Spearman's, of the places against what stands there."""
    n = len(ranks)
    return 1 - 6 * sum((place - rank) ** 2 for place, rank in enumerate(ranks)) / (n * (n * n - 1))


async def test_no_link_between_a_person_and_an_answer(
    app: Any, survey: Stored, parts: Parts, urls: DatabaseUrls, sign_in: SignIn
) -> None:
    with structlog.testing.capture_logs() as logged:
        assert set(await answer_at_once(app, survey)) == {200}
    assert not SECRET.search(str(logged))
    assert await found(parts.database, "SELECT count(*), count(DISTINCT user_id) FROM survey_responses") == [
        (PEOPLE, PEOPLE)
    ]
    receipt, person = (
        await found(
            parts.database, "SELECT encode(row_hash, 'hex'), user_id FROM survey_responses ORDER BY number LIMIT 1"
        )
    )[0]
    named = {"uid": survey.uid, "number": survey.questions[1].key, "receipt": receipt, "person": person}

    # While it is open: sealed ballots of one length, with nothing beside.
    assert tables_with_secrets(urls) == set()
    ballots = await found(
        parts.database, "SELECT id::text, length(sealed), id::text LIKE '________-____-4%' FROM survey_ballots"
    )
    assert len({length for _, length, _ in ballots}) == 1
    assert all(random for *_, random in ballots)
    for short, places in (
        ("alice", (*PAGES, *RESULTS)),
        ("crew000", ("/me/answers", f"/me/questions/{survey.uid}", "/me/answers/download")),
    ):
        pages = await read(await sign_in(short), places, **named)
        assert len(pages) == len(places), set(places) - set(pages)
        assert [url for url, page in pages.items() if SECRET.search(page)] == [], short

    await end(parts, survey)

    # Afterwards: each answer in the results alone, without person, time or order.
    assert tables_with_secrets(urls) <= {"survey_results", "pg_stats"}
    for table, columns in COLUMNS.items():
        told = await found(
            parts.database,
            f"SELECT column_name FROM information_schema.columns WHERE table_schema = 'main' AND table_name = '{table}'",
        )
        assert {name for (name,) in told} == columns
    for kind in ("secret-%", "77%"):
        stored = await found(
            parts.database,
            f"SELECT choice, people, grouped FROM survey_results WHERE choice LIKE '{kind}' ORDER BY ctid",
        )
        places = [int(re.sub(r"^77|1177$|\D", "", choice)) for choice, *_ in stored]
        assert len(stored) == PEOPLE
        # Numbers that are each one person's have a group; it is one of five people at least.
        assert {people for _, people, _ in stored} == {1}
        assert abs(correlation(places)) < 0.35, "results lie in the order of the answers"
    # One transaction wrote them all, and so the mark of a row's transaction tells none apart.
    assert await found(parts.database, "SELECT count(DISTINCT xmin::text) FROM survey_results") == [(1,)]
    groups = await found(
        parts.database,
        "SELECT grouped, joined, people FROM survey_results WHERE choice = '' AND question_key = (SELECT key FROM survey_questions WHERE position = 0)",
    )
    assert sum(people for *_, people in groups) == PEOPLE
    assert all(people >= 5 for *_, people in groups)
    assert "Attic" not in {grouped for grouped, *_ in groups}
    assert (await verify(parts.database, "main")).fits
    for short in ("alice", "vera"):
        browser = await sign_in(short)
        pages = await read(browser, PAGES, **named)
        assert [url for url, page in pages.items() if SECRET.search(page) and "view/{uid}" not in url] == []
        results = await read(browser, RESULTS, **named)
        assert all(SECRET.search(page) for page in results.values())
        assert not any(re.search(r"Crew \d|crew\d", page) for page in results.values())
    mine = await read(await sign_in("crew000"), ("/me/answers", "/me/answers/download", f"/me/questions/{survey.uid}"))
    assert not any(SECRET.search(page) for page in mine.values())


async def test_one_answer_more_changes_no_figure_before_the_end(
    app: Any, survey: Stored, visitor: Browser, alice: Browser
) -> None:
    """So that no answer is the difference between two looks."""

    async def seen() -> str:
        page = (await alice.get(f"/surveys/view/{survey.uid}")).text
        return page + (await alice.get(f"/surveys/results/{survey.uid}?export=jsonl")).text

    before = await seen()
    told = [
        {"question": str(survey.questions[1].key), "value": number_of(0)},
        {"question": str(survey.questions[0].key), "value": "Good"},
    ]
    body = {"survey": str(survey.uid), "action": "answer", "answers": told}
    answer = await visitor.post(RESPOND, json=body, headers={"Authorization": f"Bearer {token_of(0)}"})
    assert answer.status_code == 200
    after = await seen()
    assert "1 person has answered so far" in after
    assert "question-card" not in before + after
    assert not SECRET.search(after)
