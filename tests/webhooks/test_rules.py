"""What the pure parts decide."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import func, select
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from app.db.session import Database
from app.errors import Invalid
from app.webhooks import addresses, signing
from app.webhooks.calling import refusal
from app.webhooks.gathering import NotedChange, events_of
from app.webhooks.kinds import ATTENDANCE_CHANGED as CHANGED
from app.webhooks.kinds import ATTENDANCE_DELETED as DELETED
from app.webhooks.kinds import BINDING_CHANGED
from app.webhooks.payloads import Told, body_of
from app.webhooks.retry_pauses import PAUSES

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def fact(number: int, ids: str, cause: str = "", kind: str = CHANGED, *, of: int = 0) -> NotedChange:
    """Its ids are single letters; `of`: how many changed, where it names none."""
    return NotedChange(
        number, kind, list(ids), of or len(ids), cause or f"transaction {number}", NOW + timedelta(seconds=number)
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], []),
        ([fact(1, "a"), fact(2, "b")], ["a", "b"]),
        ([fact(1, "ab", "run"), fact(2, "bc", "run")], ["abc"]),
        ([fact(1, "a"), fact(2, "a")], ["a"]),
        ([fact(1, "ab"), fact(2, "b")], ["a", "b"]),
        ([fact(2, "b"), fact(1, "ab")], ["a", "b"]),
        ([fact(1, "a"), fact(2, "a", kind=DELETED)], ["a", "a"]),
        ([fact(1, "a"), fact(2, "", of=500)], ["a", "500 since 2"]),
        ([fact(1, "", of=500), fact(3, "", of=200)], ["700 since 1"]),
        ([fact(1, "a", "run"), fact(2, "", "run", of=500)], ["501 since 1"]),
    ],
)
def test_what_was_noted_becomes_events(facts: list[NotedChange], expected: list[str]) -> None:
    def said(told: Told) -> str:
        since = told.since and f"{told.number} since {(told.since - NOW).seconds}"
        return since or "".join(told.ids)

    assert [said(one) for one in events_of(facts)] == expected


def test_an_event_names_a_hundred_and_counts_more() -> None:
    ids = [str(number) for number in range(101)]
    for number, expected in ((100, None), (101, NOW)):
        (told,) = events_of(NotedChange(place, CHANGED, [one], 1, "run", NOW) for place, one in enumerate(ids[:number]))
        assert (told.number, told.since) == (number, expected)


def test_a_newer_event_replaces_only_what_it_tells() -> None:
    older, newer = events_of([fact(1, "abc"), fact(2, "b")])
    assert (list(older.ids), older.number, list(newer.ids)) == (["a", "c"], 2, ["b"])


@pytest.mark.parametrize(
    ("told", "data"),
    [
        (Told(CHANGED, ["7", "8"], 2, None, NOW), '{"ids":[7,8],"count":2}'),
        (Told(BINDING_CHANGED, ["007"], 1, None, NOW), '{"ids":["007"],"count":1}'),
        (Told(CHANGED, [], 500, NOW, NOW), '{"count":500,"updated_since":"2026-11-25T12:00:00.000000Z"}'),
        (Told("webhook.test", [], 0, None, NOW), "{}"),
    ],
)
def test_an_event_says_which_things_changed(told: Told, data: str) -> None:
    head = f'{{"type":"{told.type}","timestamp":"2026-11-25T12:00:00.000000Z","workspace":"acme","data":'
    assert body_of("acme", told).decode() == f"{head}{data}}}"


def test_signatures_are_taken_by_a_library_of_others() -> None:
    new, old, other = (signing.secret_of(bytes([number]) * 32) for number in range(3))
    at_s = int(datetime.now(UTC).timestamp())
    body = b'{"n":"\xc3\xa9"}'
    headers = signing.headers("msg_1", body, (new, old), at_s)
    assert Webhook(new).verify(body, headers) == Webhook(old).verify(body, headers) == {"n": "é"}
    for secret, sent, with_headers in (
        (other, body, headers),
        (new, body + b" ", headers),
        (new, body, {**headers, "webhook-id": "msg_2"}),
        (new, body, {**headers, "webhook-timestamp": str(at_s - 1)}),
        (new, body, signing.headers("msg_1", body, (new,), at_s - 600)),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(sent, with_headers)


def test_the_code_of_the_help_page_checks_an_event() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import base64.*?)```", page, re.DOTALL)
    assert code
    given: dict[str, Any] = {}
    exec(code[1], given)
    check = given["is_from_muster"]
    new, old, other = (signing.secret_of(bytes([number]) * 32) for number in range(3))
    at_s = int(datetime.now(UTC).timestamp())
    headers = signing.headers("msg_1", b"{}", (new, old), at_s)
    assert [check(headers, b"{}", secret) for secret in (new, old, other)] == [True, True, False]
    assert not check(headers, b"{ }", new)
    assert not check(signing.headers("msg_1", b"{}", (new,), at_s - 600), b"{}", new)


def test_ten_attempts_take_three_days() -> None:
    assert PAUSES.attempts == 10
    assert (
        timedelta(days=2.9) < sum((PAUSES.after(one, 0.5) for one in range(1, 10)), timedelta()) < timedelta(days=3.1)
    )
    random = Random(1)
    drawn = {PAUSES.after(3, random.random()).total_seconds() for _ in range(200)}
    assert 480 <= min(drawn) < 500
    assert 700 < max(drawn) <= 720
    assert PAUSES.after(1, 0, asked_s=60) == timedelta(minutes=1)


@pytest.mark.parametrize(
    ("attempt", "failures", "days", "over"),
    [(9, 9, 3, False), (10, 10, 3, True), (10, 1, 0, True), (1, 10, 2.9, False), (1, 10, 3, True), (1, 9, 4, False)],
)
def test_when_an_endpoint_is_given_up(attempt: int, failures: int, days: float, over: bool) -> None:
    assert PAUSES.is_over(attempt, failures, NOW - timedelta(days=days), NOW) is over


@pytest.mark.parametrize(
    ("status", "word"), [(200, None), (204, None), (302, "Redirects"), (410, "no more"), (500, "2xx"), (404, "2xx")]
)
def test_what_an_answer_means(status: int, word: str | None) -> None:
    said = refusal(status)
    assert said is None if word is None else said and word in said


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://example.org/hook?key=1", None),
        ("http://[::1]:8080", None),
        ("ftp://example.org", "https://"),
        ("example.org/hook", "https://"),
        ("https://", "https://"),
        ("https://ada:pw@example.org", "password"),
        ("https://example.org/#x", "#"),
        ("https://example.org:99999/", "not an address"),
        ("https://exa mple.org/", "not an address"),
        ("https://example.org/é", "ASCII"),
        ("https://example.org/" + "a" * 1000, "1000"),
    ],
)
def test_which_addresses_can_be_told(url: str, word: str | None) -> None:
    if word is None:
        assert addresses.checked(f" {url} ") == url
    else:
        with pytest.raises(Invalid, match=word.replace("(", "")):
            addresses.checked(url)


SHORTENED = {
    "https://a.example": "https://a.example",
    "https://a.example/": "https://a.example/",
    "https://a.example/secret": "https://a.example/…",
    "https://a.example/secret/": "https://a.example/…",
    "https://a.example?secret=1/2": "https://a.example/…",
    "https://a.example/?secret=1": "https://a.example/…",
    "https://a.example/secret?key=/1": "https://a.example/…",
    "https://a.example/secret/?key=1": "https://a.example/…",
    "https://a.example//secret/1": "https://a.example/…",
    "http://10.0.0.7:8/webhook/secret": "http://10.0.0.7:8/webhook/…",
    "https://a.example/hooks/catch/1/secret/?key=a": "https://a.example/hooks/…",
}


async def test_where_many_read_an_address_it_says_no_more_than_the_first_part_of_a_longer_path(
    database: Database,
) -> None:
    assert {url: addresses.shortened(url) for url in SHORTENED} == SHORTENED
    async with database.shared_transaction() as db:
        for url, short in SHORTENED.items():
            in_sql = func.regexp_replace(url, addresses.LEFT_OUT, addresses.SHORT)
            assert await db.scalar(select(in_sql)) == short


def test_an_address_is_shown_without_its_query_and_sent_whole() -> None:
    assert addresses.shown("https://a.example/x?key=1") == "https://a.example/x?…"
    assert addresses.split("https://a.example:8/x/?key=%201") == ("https://a.example:8", "/x/?key=%201")
    assert addresses.split("https://a.example") == ("https://a.example", "/")
