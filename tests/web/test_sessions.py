"""A session that is over, and what the sign-in page says of it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from app.accounts.models import Session
from app.db.session import Database
from app.languages import TAGS
from app.web.sessions import ABSOLUTE, ENDED, IDLE, LASTED, LEFT_IDLE
from app.wording.speech import speech_in
from tests.conftest import Browser
from tests.host.signing_in import change_user, submit_sign_in

REASONS = (LEFT_IDLE, LASTED, ENDED)


def numbers(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", text)]


@pytest.mark.parametrize("tag", TAGS)
def test_each_language_says_the_limits_that_hold(tag: str) -> None:
    speech = speech_in(tag)
    assert numbers(speech(LEFT_IDLE)) == [IDLE // timedelta(minutes=1)]
    assert numbers(speech(LASTED)) == numbers(speech(ENDED)) == [ABSOLUTE // timedelta(hours=1)]


async def make(database: Database, **changed: Any) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Session).values(**changed) if changed else delete(Session))


async def told(browser: Browser) -> list[str]:
    asked = await browser.get("/people")
    assert asked.headers["location"] == "/sign-in?next=/people"
    shown = await browser.get("/sign-in?next=/people")
    return [reason for reason in REASONS if reason in shown.text]


@pytest.mark.parametrize(
    ("over", "reason"),
    [("last_seen_at", LEFT_IDLE), ("expires_at", LASTED), ("", ENDED)],
    ids=["left alone for 30 minutes", "signed in 12 hours ago", "ended elsewhere"],
)
async def test_the_sign_in_page_says_why_a_session_is_over(
    bob: Browser, database: Database, over: str, reason: str
) -> None:
    await make(database, **({over: datetime.now(UTC) - IDLE - timedelta(minutes=1)} if over else {}))
    assert await told(bob) == [reason]


async def test_it_says_so_of_an_account_that_was_switched_off_too(bob: Browser, database: Database) -> None:
    await change_user(database, "bob", active=False)
    assert await told(bob) == [ENDED]


async def test_a_stranger_and_a_person_who_mistyped_read_nothing_of_it(
    visitor: Browser, bob: Browser, database: Database
) -> None:
    assert await told(visitor) == []
    await make(database)
    refused = await submit_sign_in(bob, "bob", "not the password")
    assert refused.status_code == 422
    assert ENDED not in refused.text
