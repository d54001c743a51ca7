"""Who is asked a survey and has not answered it: people of its audience, with how often it was shown to them."""

import csv
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, update

from app.accounts.models import User
from app.db.session import Database
from app.host.models import Employee
from app.secrets import KeyRing
from app.surveys.models import PromptState, Survey
from tests.conftest import KEYS, Browser, SignIn
from tests.host.staff import hire
from tests.surveys.drafted import drafted, published
from tests.surveys.recording import record, user_id


async def rows(browser: Browser, uid: Any, query: str = "") -> list[dict[str, str]]:
    answer = await browser.get(f"/surveys/waiting/{uid}?export=csv{query}")
    assert answer.status_code == 200
    return list(csv.DictReader(answer.text.splitlines()))


async def names(browser: Browser, uid: Any, query: str = "") -> list[str]:
    return sorted(row["Name"] for row in await rows(browser, uid, query))


async def test_those_who_answered_the_version_are_left_out(alice: Browser, database: Database) -> None:
    bob, vera, nora = [await user_id(database, short) for short in ("bob", "vera", "nora")]
    async with database.transaction() as db:
        stored = await published(db, user_types=["staff"])
        await db.execute(update(User).where(User.id == vera).values(active=False))
        other = await published(db)
    # Who answered another survey is still waited for.
    await record(database, KeyRing.from_text(KEYS), other, nora, None)
    await record(database, KeyRing.from_text(KEYS), other, bob, None)
    before = await names(alice, stored.uid)
    assert "Bob Brandt" in before
    assert "Vera Voss" not in before, "a deactivated account is not asked"
    await record(database, KeyRing.from_text(KEYS), stored, bob, None)
    assert await names(alice, stored.uid) == [name for name in before if name != "Bob Brandt"]
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == stored.id).values(version=2))
    assert await names(alice, stored.uid) == before, "the next version asks again"


async def test_each_is_told_with_department_and_what_they_were_shown(alice: Browser, database: Database) -> None:
    seen, bob = datetime(2026, 11, 20, 9, 30, tzinfo=UTC), await user_id(database, "bob")
    async with database.transaction() as db:
        stored = await published(db, user_types=["staff"])
        await hire(db, "Bob Brandt", department="Workshop")
        await db.execute(update(Employee).values(user_id=bob))
        state = {"survey_id": stored.id, "version": 1, "user_id": bob, "impressions": 3}
        await db.execute(insert(PromptState).values(**state, first_shown_at=seen, last_shown_at=seen))
    (row,) = await rows(alice, stored.uid, "&department=Workshop")
    assert (row["Name"], row["Department"], row["Type"], row["Shown"]) == ("Bob Brandt", "Workshop", "Staff", "3")
    assert "Bob Brandt" not in await names(alice, stored.uid, "&unseen=1")
    shown = (await alice.get(f"/surveys/waiting/{stored.uid}?q=bob")).text
    assert "Fri 20 Nov, 09:30" in shown
    assert f"/surveys/view/{stored.uid}/why?user={bob}" in shown


async def test_a_tenants_survey_waits_for_its_own_people_and_the_platforms_for_all(
    alice: Browser, eve: Browser, database: Database
) -> None:
    async with database.transaction("globex") as db:
        theirs = await published(db)
    async with database.transaction() as db:
        ours = await published(db)
        acme = await published(db, tenants=["acme"])
    assert "Bob Brandt" not in await names(eve, theirs.uid)
    assert {"Bob Brandt", *await names(eve, theirs.uid)} <= set(await names(alice, ours.uid))
    assert "Bob Brandt" not in await names(alice, acme.uid)
    assert (await eve.get(f"/surveys/waiting/{ours.uid}")).status_code == 404


async def test_it_says_whether_the_portal_still_asks_them(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        open_one, archived = await published(db), await published(db, status="archived")
    for stored, said in (
        (open_one, "The portal asks them by itself."),
        (archived, "The portal does not ask them now."),
    ):
        assert said in (await alice.get(f"/surveys/waiting/{stored.uid}")).text


async def test_a_draft_waits_for_no_one(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        stored = await drafted(db)
    assert "people are asked once it is published" in (await alice.get(f"/surveys/waiting/{stored.uid}")).text


async def test_it_needs_a_sign_in_and_the_right(visitor: Browser, sign_in: SignIn, database: Database) -> None:
    async with database.transaction() as db:
        stored = await published(db)
    assert (await visitor.get(f"/surveys/waiting/{stored.uid}")).status_code == 303
    assert (await (await sign_in("nora")).get(f"/surveys/waiting/{stored.uid}")).status_code == 403


async def test_publishing_says_how_many_of_which_type_are_asked(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        everyone, staff = await drafted(db), await drafted(db, user_types=["staff"])
    assert "people are in its audience (" in (await alice.get(f"/surveys/publish/{everyone.uid}")).text
    assert "in its audience (" not in (await alice.get(f"/surveys/publish/{staff.uid}")).text


@pytest.mark.parametrize(
    ("status", "window", "offered"),
    [
        ("published", (None, None), True),
        ("published", (-1, 1), True),
        ("published", (1, None), False),
        ("published", (None, -1), False),
        ("archived", (None, None), False),
    ],
)
async def test_people_are_reminded_while_they_can_answer(
    alice: Browser, database: Database, status: str, window: tuple[int | None, ...], offered: bool
) -> None:
    async with database.transaction() as db:
        survey = await published(db)
        starts_at, ends_at = (days and datetime.now(UTC) + timedelta(days=days) for days in window)
        changed = {"status": status, "starts_at": starts_at, "ends_at": ends_at}
        await db.execute(update(Survey).where(Survey.id == survey.id).values(changed))
    url = f"/surveys/waiting/{survey.uid}"
    assert (f'action="{url}/remind"' in (await alice.get(url)).text) is offered
    answer = await alice.submit(f"{url}/remind", {"action": "remind", "all": "1"})
    assert (answer.status_code != 409) is offered
