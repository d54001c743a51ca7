"""An edit form that became stale is refused, shows what somebody else changed, and can be merged.
Every one of them: test_edit_forms."""

import asyncio
import html
import re
from typing import Any

from sqlalchemy import select

from app.accounts import audit
from app.accounts.erased import ERASE
from app.accounts.models import User
from app.clock.models import Device
from app.db.session import Database
from app.parts import Parts
from app.web.edits import BASE
from tests.clock.mirrored import mirror_terminal
from tests.clock.sync_rows import connected
from tests.conftest import Browser, SignIn
from tests.host.library import PNG, add_app
from tests.host.staff import employee_of, hire, record_of, work
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


async def test_a_stale_form_does_not_name_a_person_who_was_erased(
    database: Database, alice: Browser, bob: Browser
) -> None:
    async with database.transaction() as db:
        ada = await hire(db, **HIRED)
    url = f"/people/{ada}/edit"
    his, hers = await opened(bob, url), await opened(alice, url)
    await bob.submit(url, {**his, "department": "Sales"})
    async with database.transaction() as db:
        await audit.record(
            db, audit.SYSTEM, ERASE, "user", await db.scalar(select(User.id).where(User.name == "Bob Brandt"))
        )
    refused = await alice.submit(url, {**hers, "department": "Canteen"})
    assert "Not saved: Erased person changed this after you opened the form" in refused.text


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


async def test_a_decision_on_a_record_makes_its_form_stale(database: Database, alice: Browser, bob: Browser) -> None:
    """No field shows it, and new hours would be pending again."""
    async with database.transaction() as db:
        record_id = await work(db, await hire(db), "08:00 2026-11-20", "17:00 2026-11-20")
    url = f"/attendance/{record_id}/edit"
    form = await opened(alice, url)
    await bob.submit(f"/attendance/{record_id}/decide", {"status": "approved"})
    refused = await alice.submit(url, {**form, "clock_out": "2026-11-20T18:00"})
    assert "Not saved: Bob Brandt changed this" in refused.text
    assert box(refused.text) == ["Status is now approved; it was pending when you opened this form."]
    again = await alice.submit(url, filled_in(refused.text, url))
    assert again.status_code == 303
    async with database.transaction() as db:
        assert (await record_of(db, record_id)).status == "pending"


async def test_breaks_that_another_added_come_into_the_form(database: Database, alice: Browser, bob: Browser) -> None:
    async with database.transaction() as db:
        record_id = await work(db, await hire(db), "08:00 2026-11-20", "17:00 2026-11-20")
    url = f"/attendance/{record_id}/edit"
    hers, his = await opened(alice, url), await opened(bob, url)
    pause = {"break_1_out": "2026-11-20T12:00", "break_1_back": "2026-11-20T12:30"}
    assert (await bob.submit(url, {**his, **pause})).status_code == 303
    refused = await alice.submit(url, {**hers, "note": "Late train"})
    assert "Break 1, from is now 2026-11-20 12:00:00; it was empty when you opened this form." in box(refused.text)
    shown = filled_in(refused.text, url)
    more = await alice.submit(url, {**shown, "more": "1"})
    assert (await alice.submit(url, filled_in(more.text, url))).status_code == 303
    async with database.transaction() as db:
        kept = await record_of(db, record_id)
    assert (len(kept.breaks), kept.note) == (1, "Late train")


async def test_another_icon_makes_the_form_of_an_app_stale(database: Database, sign_in: SignIn) -> None:
    mine, theirs = await sign_in("alice"), await sign_in("alice")
    async with database.transaction() as db:
        app_id = await add_app(db, "Till")
    url = f"/apps/{app_id}/edit"
    form = {**await opened(mine, url), "name": "Till 2"}
    picture = {"icon": ("till.png", PNG, "image/png")}
    assert (await theirs.submit(url, await opened(theirs, url), files=picture)).status_code == 303
    refused = await mine.submit(url, form)
    assert box(refused.text)[0].startswith("Icon is now image/png, ")
    assert (await mine.submit(url, filled_in(refused.text, url))).status_code == 303
    assert "/apps/icon/" in (await mine.get(f"/apps/{app_id}")).text


async def test_a_question_before_settings_are_saved_is_as_old_as_the_form(sign_in: SignIn) -> None:
    mine, theirs = await sign_in("alice"), await sign_in("alice")
    url = "/clock_settings/sections/rules"

    async def opened_rules(browser: Browser) -> dict[str, str]:
        return filled_in((await browser.get("/clock_settings")).text, url)

    asked = await mine.submit(url, {**await opened_rules(mine), "repeat_tap_seconds": "20"})
    question = filled_in(asked.text, url)
    assert question["confirmed"] == "1"
    changed = await theirs.submit(url, {**await opened_rules(theirs), "ignore_leading_zeros": "1"})
    assert changed.status_code == 303
    refused = await mine.submit(url, question)
    assert refused.status_code == 409
    assert box(refused.text) == ["Ignore leading zeros when matching is now on; it was off when you opened this form."]
    assert filled_in(refused.text, url)["repeat_tap_seconds"] == "20"


async def test_a_connection_that_another_made_meanwhile_is_not_overwritten(sign_in: SignIn) -> None:
    mine, theirs = await sign_in("alice"), await sign_in("alice")
    url = "/clock_settings/connection"
    page = (await mine.get("/clock_settings")).text
    form = {**filled_in(page, url), "username": "mine", "password": "secret-of-mine"}
    form |= {"base_url": "https://b.example", "timezone": "UTC"}
    theirs_sent = {**form, "username": "theirs", "base_url": "https://a.example"}
    assert (await theirs.submit(url, theirs_sent)).status_code == 303
    refused = await mine.submit(url, form)
    assert refused.status_code == 409
    assert (
        box(refused.text)[0]
        == "Address is now https://a.example; it was empty when you opened this form. Keep mine Take theirs"
    )
    assert "secret-of-mine" not in refused.text


async def test_a_stale_choice_of_a_list_comes_back_in_the_dialog(
    parts: Parts, database: Database, alice: Browser, bob: Browser
) -> None:
    await connected(parts)
    async with database.transaction() as db:
        await mirror_terminal(db, "T1")
        url = f"/clock_devices/{await db.scalar(select(Device.id))}/direction"
    page = (await alice.get("/clock_devices")).text
    hers = filled_in(page, url)
    await bob.submit(
        url, {**hers, "direction": "in", BASE: filled_in((await bob.get("/clock_devices")).text, url)[BASE]}
    )
    refused = await alice.submit(url, {**hers, "direction": "out"}, headers={"HX-Request": "true"})
    assert refused.status_code == 409
    assert "<html" not in refused.text
    assert box(refused.text) == [
        "Direction is now In; it was As the settings say when you opened this form. Keep mine Take theirs"
    ]
