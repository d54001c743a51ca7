"""An edit form that became stale is refused, shows what somebody else changed, and can be merged. Every one of them: test_edit_forms."""

import asyncio
import html
import re
from typing import Any

from app.db.session import Database
from app.web.edits import BASE
from tests.conftest import Browser, SignIn
from tests.host.staff import employee_of, hire
from tests.rendered_forms import Rendered

HIRED = {"department": "Office", "position": "Clerk", "email": "ada@example.org"}


async def opened(browser: Browser, url: str) -> dict[str, Any]:
    """The form of that address as it would be sent."""
    return filled_in((await browser.get(url)).text, url)


def filled_in(text: str, url: str) -> dict[str, Any]:
    form = next(one for one in Rendered(text, url).forms if (one.method, one.action) == ("post", url))
    return {name: value for name, value in form.untouched().items() if name != "csrf_token"}


def box(text: str) -> list[str]:
    """The lines of the box above the form, as they are read."""
    inside = text.partition('class="alert alert-warning error-summary stale"')[2].partition("</ul>")[0]
    lines = re.findall(r"<li>(.*?)</li>", inside, re.DOTALL)
    return [
        " ".join(html.unescape(re.sub(r"<[^>]+>", " ", one)).split()).replace(" ;", ";").replace(" .", ".")
        for one in lines
    ]


async def test_a_stale_form_is_refused_and_says_what_changed(database: Database, alice: Browser, bob: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    his, hers = await opened(bob, url), await opened(alice, url)
    assert (await bob.submit(url, {**his, "department": "Sales", "position": "Head"})).status_code == 303
    refused = await alice.submit(url, {**hers, "department": "Canteen", "name": "Ada King"})
    assert refused.status_code == 409
    assert "Not saved: Bob Brandt changed this after you opened the form" in refused.text
    assert box(refused.text) == [
        "Department is now Sales; it was Office when you opened this form. Keep mine Take theirs",
        "Position is now Head; it was Clerk when you opened this form.",
    ]
    shown = filled_in(refused.text, url)
    assert (shown["department"], shown["position"], shown["name"]) == ("Canteen", "Head", "Ada King")
    async with database.transaction() as db:
        kept = await employee_of(db, ada)
    assert (kept.department, kept.position, kept.name) == ("Sales", "Head", "Ada Lovelace")
    assert (await alice.submit(url, shown)).status_code == 303
    async with database.transaction() as db:
        kept = await employee_of(db, ada)
    assert (kept.department, kept.position, kept.name) == ("Canteen", "Head", "Ada King")


async def test_the_person_can_take_what_the_other_typed(database: Database, alice: Browser, bob: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    hers, his = await opened(alice, url), await opened(bob, url)
    del his["active"]
    await bob.submit(url, {**his, "department": "Sales"})
    refused = await alice.submit(url, {**hers, "department": "Canteen"})
    assert box(refused.text)[-1] == "Active is now off; it was on when you opened this form."
    merged = {**filled_in(refused.text, url), "take-department": "theirs"}
    await bob.submit(url, {**await opened(bob, url), "position": "Head"})
    again = await alice.submit(url, merged)
    assert box(again.text) == ["Position is now Head; it was Clerk when you opened this form."]
    assert (await alice.submit(url, filled_in(again.text, url))).status_code == 303
    async with database.transaction() as db:
        kept = await employee_of(db, ada)
    assert (kept.department, kept.position, kept.active) == ("Sales", "Head", False)


async def test_of_two_saves_at_once_one_is_refused(database: Database, alice: Browser, bob: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    form = {"alice": await opened(alice, url), "bob": await opened(bob, url)}
    answers = await asyncio.gather(
        alice.submit(url, {**form["alice"], "department": "Sales"}),
        bob.submit(url, {**form["bob"], "department": "Mill"}),
    )
    assert sorted(one.status_code for one in answers) == [303, 409]


async def test_a_second_press_of_save_is_no_conflict(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    form = {**await opened(alice, url), "department": "Sales"}
    assert [(await alice.submit(url, form)).status_code for _ in range(2)] == [303, 303]


async def test_what_is_wrong_is_said_beside_what_changed(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    old = await opened(alice, url)
    await alice.submit(url, {**old, "department": "Sales"})
    refused = await alice.submit(url, {**old, "email": "nonsense"})
    assert refused.status_code == 409
    assert "Not saved: you changed this after you opened the form" in refused.text
    assert "E-mail: Give an e-mail address" in refused.text
    assert filled_in(refused.text, url)["email"] == "nonsense"


async def test_a_form_that_was_only_wrong_stays_as_old_as_it_is(
    database: Database, alice: Browser, bob: Browser
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    wrong = await alice.submit(url, {**await opened(alice, url), "name": ""})
    assert wrong.status_code == 422
    await bob.submit(url, {**await opened(bob, url), "department": "Sales"})
    assert (await alice.submit(url, {**filled_in(wrong.text, url), "name": "Ada"})).status_code == 409


async def test_a_base_that_was_not_sealed_for_this_person_says_nothing(
    database: Database, alice: Browser, bob: Browser, sign_in: SignIn
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    form = await opened(alice, url)
    others = (await opened(bob, url))[BASE]
    for base in ("", "!", "AAAA", form[BASE][:-4], others):
        refused = await alice.submit(url, {**form, "department": "Sales", BASE: base})
        assert refused.status_code == 409
        assert box(refused.text) == ["Department is now Office. Keep mine Take theirs"]
    elsewhere = await sign_in("alice")
    assert (await elsewhere.submit(url, {**form, "department": "Sales"})).status_code == 303
