"""Saved views: one's own, shared ones, and what may not be saved, shared or removed."""

import re
from html import unescape

import pytest
from sqlalchemy import insert, select, update

from app.accounts.models import AuditEntry, User
from app.db.session import Database
from app.host import saved_views
from app.host.models import SavedView
from app.registry import list_rights
from tests.conftest import Browser, SignIn

LIST = "/views/attendance"
LAST_WEEK = "/attendance?period=last-week&status=pending&page=3"


async def saved(browser: Browser, name: str, at: str = LAST_WEEK, **more: str) -> int:
    answer = await browser.submit(LIST, {"name": name, "at": at, **more})
    return int(answer.status_code)


def lines(page: str) -> list[tuple[str, str]]:
    """(address, name) of each view."""
    found = re.findall(r'<a class="menu-item" href="([^"]+)"><span class="text-break">([^<]+)</span>', page)
    return [(unescape(url), unescape(name)) for url, name in found]


async def test_a_view_keeps_filters_and_order_but_no_page(bob: Browser, vera: Browser) -> None:
    assert await saved(bob, " Last week ") == 303
    page = (await bob.fragment(f"{LIST}?at=/attendance")).text
    assert lines(page) == [("/attendance?period=last-week&status=pending", "Last week")]
    assert "<html" not in page
    assert "Last week" in (await bob.get(lines(page)[0][0])).text
    # It is one's own.
    assert lines((await vera.fragment(LIST)).text) == []


async def test_the_same_name_replaces_the_view_after_a_question(bob: Browser) -> None:
    await saved(bob, "Mine")
    asked = await bob.submit(LIST, {"name": "mine", "at": "/attendance?sort=-day"})
    assert asked.status_code == 200
    assert "Replace the view “Mine”?" in asked.text
    assert [name for _, name in lines((await bob.fragment(LIST)).text)] == ["Mine"]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', asked.text))
    agreed = await bob.submit(LIST, {key: unescape(value) for key, value in hidden.items()})
    assert "The view “mine” was replaced." in (await bob.get(agreed.headers["location"])).text
    assert lines((await bob.fragment(LIST)).text) == [("/attendance?sort=-day", "mine")]


async def test_a_shared_view_is_for_all_who_see_the_list(
    bob: Browser, vera: Browser, eve: Browser, sign_in: SignIn
) -> None:
    assert await saved(bob, "To decide", shared="1") == 303
    shown = (await vera.fragment(LIST)).text
    assert [name for _, name in lines(shown)] == ["To decide"]
    assert "/remove" not in shown
    assert "/rename" not in shown
    assert 'name="shared"' not in shown
    assert (await (await sign_in("nora")).get(LIST)).status_code == 403
    assert lines((await eve.fragment(LIST)).text) == []


async def test_the_same_name_with_the_same_rows_is_saved_without_a_question(bob: Browser) -> None:
    await saved(bob, "Mine")
    assert await saved(bob, "Mine", shared="1") == 303


async def test_two_shared_views_of_one_name_are_told_apart_by_their_owners(
    alice: Browser, bob: Browser, vera: Browser
) -> None:
    for owner, at in ((alice, LAST_WEEK), (bob, "/attendance?sort=-day")):
        assert await saved(owner, "To decide", at, shared="1") == 303

    async def told(person: Browser) -> list[str]:
        notes = re.findall(r'<span class="menu-count[^"]*">(.*?)</span>', (await person.fragment(LIST)).text, re.DOTALL)
        return sorted(" ".join(one.split()) for one in notes)

    assert await told(vera) == ["shared by Alice Ahn", "shared by Bob Brandt"]
    assert await told(bob) == ["shared", "shared by Alice Ahn"]


async def test_sharing_and_removing_take_the_right_to_edit(
    bob: Browser, vera: Browser, alice: Browser, database: Database
) -> None:
    assert await saved(vera, "Hers", shared="1") == 403
    assert await saved(vera, "Hers") == 303
    assert await saved(bob, "His", shared="1") == 303
    async with database.transaction() as db:
        ids = dict((await db.execute(select(SavedView.name, SavedView.id))).all())
    assert (await vera.submit(f"{LIST}/{ids['His']}/remove")).status_code == 404
    assert (await bob.submit(f"{LIST}/{ids['Hers']}/remove")).status_code == 404
    assert (await bob.submit(f"/views/people/{ids['His']}/remove")).status_code == 404
    assert (await alice.submit(f"{LIST}/{ids['His']}/remove")).status_code == 303
    assert (await vera.submit(f"{LIST}/{ids['Hers']}/remove")).status_code == 303
    async with database.transaction() as db:
        assert (await db.scalars(select(SavedView.id))).all() == []
        acts = (await db.scalars(select(AuditEntry.act).where(AuditEntry.subject_type == "saved_view"))).all()
    assert sorted(acts) == ["view.remove", "view.remove", "view.save", "view.save"]


async def view_id(database: Database, name: str) -> int:
    async with database.transaction() as db:
        return int((await db.execute(select(SavedView.id).where(SavedView.name == name))).scalar_one())


async def test_a_view_is_renamed_and_never_takes_the_name_of_another(
    bob: Browser, alice: Browser, vera: Browser, eve: Browser, database: Database
) -> None:
    for name, shared in (("Open", "1"), ("Mine", "0")):
        await saved(bob, name, shared=shared)
    url = f"{LIST}/{await view_id(database, 'Open')}/rename"
    form = await bob.fragment(f"{url}?back=/attendance")
    assert form.status_code == 200
    assert 'value="Open"' in form.text
    taken = await bob.submit(url, {"name": "MINE"})
    assert taken.status_code == 422
    assert "Another view has this name" in taken.text
    assert 'value="MINE"' in taken.text
    assert (await alice.submit(url, {"name": "To decide"})).status_code == 303
    assert [name for _, name in lines((await bob.fragment(LIST)).text)] == ["Mine", "To decide"]
    for other in (vera, eve):
        assert (await other.get(url)).status_code == 404
        assert (await other.submit(url, {"name": "Theirs"})).status_code == 404
    own = f"{LIST}/{await view_id(database, 'Mine')}/rename"
    assert (await alice.submit(own, {"name": "Hers"})).status_code == 404
    assert (await bob.submit(own, {"name": " "})).status_code == 422
    async with database.transaction() as db:
        entry = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "view.rename"))).one()
    assert (entry.before, entry.after) == ({"name": "Open"}, {"name": "To decide"})


async def leads_to(browser: Browser, url: str) -> str:
    answer = await browser.get(url)
    return str(answer.headers["location"]) if answer.status_code == 303 else url


async def test_a_list_opens_with_the_view_that_a_person_chose(
    bob: Browser, vera: Browser, eve: Browser, database: Database
) -> None:
    await saved(bob, "Last week", shared="1")
    url = f"{LIST}/{await view_id(database, 'Last week')}/default"
    assert (await eve.submit(url, {"on": "1"})).status_code == 404
    assert (await bob.submit(url, {"on": "1"})).status_code == 303
    assert await leads_to(bob, "/attendance") == "/attendance?period=last-week&status=pending"
    assert await leads_to(vera, "/attendance") == "/attendance"
    # Filters in the address go before it, and so does the wish for all rows.
    for asked in ("/attendance?status=approved", "/attendance?view=all"):
        assert await leads_to(bob, asked) == asked
    narrowed = (await bob.get("/attendance?period=last-week")).text
    assert 'href="/attendance?view=all"' in narrowed
    assert 'href="/attendance?view=all">All rows' in (await bob.fragment(LIST)).text
    # A view keeps what is narrowed, not that the list was opened whole.
    assert await saved(bob, "All", "/attendance?view=all") == 422
    assert (await bob.submit(url, {"on": "0"})).status_code == 303
    assert await leads_to(bob, "/attendance") == "/attendance"


async def test_a_page_from_before_another_view_was_chosen_does_not_take_it_away(
    bob: Browser, database: Database
) -> None:
    urls = []
    for name in ("First", "Second"):
        await saved(bob, name, f"/attendance?status={'pending' if name == 'First' else 'approved'}")
        urls.append(f"{LIST}/{await view_id(database, name)}/default")
        await bob.submit(urls[-1], {"on": "1"})
    assert (await bob.submit(urls[0], {"on": "0"})).status_code == 303
    assert await leads_to(bob, "/attendance") == "/attendance?status=approved"


async def test_every_list_opens_with_a_view_and_leads_to_all_its_rows(alice: Browser, database: Database) -> None:
    every = list_rights().values()
    async with database.transaction() as db:
        row = insert(SavedView).returning(SavedView.id)
        given = {"name": "First", "query": "per_page=25", "user_id": 1, "shared": True}
        chosen = {one.name: await db.scalar(row.values(list=one.name, **given)) for one in every}
        await db.execute(update(User).where(User.email == "alice@example.org").values(preferences={"views": chosen}))
    for one in every:
        assert await leads_to(alice, one.url) == f"{one.url}?per_page=25"
        # The list as it stands, to which acts lead back and a view is saved.
        assert f'?at={one.url}%3Fview%3Dall"' in (await alice.get(f"{one.url}?view=all")).text, one.url


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("/surveys/overview", "All surveys"),
        ("/attendance", "All records"),
        ("/attendance/days/2026-11-20", "All records"),
        ("/attendance/people", "All records"),
    ],
)
async def test_a_link_that_says_all_leads_past_a_default_view(alice: Browser, page: str, words: str) -> None:
    text = (await alice.get(page)).text
    (url,) = re.findall(rf'href="([^"]+)"[^>]*>(?:<svg.*?</svg>)?{words}', text)
    assert url.endswith("?view=all")


async def test_a_private_view_takes_no_shared_one_from_those_who_use_it(
    bob: Browser, vera: Browser, database: Database
) -> None:
    await saved(bob, "Late", shared="1")
    await vera.submit(f"{LIST}/{await view_id(database, 'Late')}/default", {"on": "1"})
    refused = await bob.submit(LIST, {"name": "late", "at": "/attendance?q=A+private+search"})
    assert refused.status_code == 422
    assert "You share the view “late”. Others use it. Choose another name." in refused.text
    assert await leads_to(vera, "/attendance") == "/attendance?period=last-week&status=pending"
    # With the box ticked it is replaced for all.
    assert await saved(bob, "Late", "/attendance?sort=-day", shared="1", confirmed="1") == 303
    assert await leads_to(vera, "/attendance") == "/attendance?sort=-day"
    # Names are each person's own.
    assert await saved(vera, "Late") == 303


async def test_a_default_view_that_is_gone_or_private_again_changes_nothing(
    bob: Browser, vera: Browser, database: Database
) -> None:
    await saved(bob, "Last week", shared="1")
    number = await view_id(database, "Last week")
    for browser in (bob, vera):
        await browser.submit(f"{LIST}/{number}/default", {"on": "1"})
    async with database.transaction() as db:
        await db.execute(update(SavedView).values(shared=False))
    assert await leads_to(vera, "/attendance") == "/attendance"
    assert await leads_to(bob, "/attendance") != "/attendance"
    await bob.submit(f"{LIST}/{number}/remove")
    assert await leads_to(bob, "/attendance") == "/attendance"


async def test_only_who_may_see_a_list_is_led_to_its_view(alice: Browser, database: Database, sign_in: SignIn) -> None:
    nora = await sign_in("nora")
    async with database.transaction() as db:
        row = insert(SavedView).values(list="attendance", name="All", query="q=a", user_id=1, shared=True)
        number = await db.scalar(row.returning(SavedView.id))
        chosen = update(User).where(User.email == "nora@example.org")
        await db.execute(chosen.values(preferences={"views": {"attendance": number}}))
    assert (await nora.get("/attendance")).status_code == 403
    assert (await nora.submit(f"{LIST}/{number}/default", {"on": "1"})).status_code == 403


@pytest.mark.parametrize(
    ("name", "at", "words"),
    [
        ("", LAST_WEEK, "Give the view a name"),
        ("x" * 61, LAST_WEEK, "Give the view a name"),
        ("a\nb", LAST_WEEK, "Give the view a name"),
        ("All", "/attendance", "Narrow or sort the list first"),
        ("Other", "/people?q=ada", "does not belong to the list"),
        ("Odd", "http://[no address", "does not belong to the list"),
        ("Away", "//evil.example/attendance?q=a", "does not belong to the list"),
        ("Run", "javascript:/attendance?q=a", "does not belong to the list"),
        ("Mail", "mailto:/attendance?q=a", "does not belong to the list"),
        ("Long", "/attendance?q=" + "x" * 2001, "does not belong to the list"),
    ],
)
async def test_what_is_not_a_view_is_refused_with_what_to_do(bob: Browser, name: str, at: str, words: str) -> None:
    answer = await bob.submit(LIST, {"name": name, "at": at})
    assert answer.status_code == 422
    assert words in answer.text
    # In the form, with what was typed, beside the views that there are.
    assert "<h1" in answer.text
    assert 'aria-invalid="true"' in answer.text or name in ("All", "Other", "Odd", "Away", "Run", "Mail", "Long")
    assert f'value="{name}"' in answer.text or name in ("", "a\nb")
    assert "Save the view</button>" in answer.text
    assert "Something in the request is wrong" not in answer.text


async def test_no_more_than_fifty_of_a_list(bob: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_views, "MOST_EACH", 2)
    assert [await saved(bob, name) for name in ("a", "b", "c", "B")] == [303, 303, 422, 303]


async def test_each_list_with_views_offers_the_menu_and_each_name_is_of_a_list(alice: Browser) -> None:
    for rights in list_rights().values():
        page = (await alice.get(rights.url)).text
        assert f'hx-get="/views/{rights.name}?at=' in page, rights.name
        assert (await alice.get(f"/views/{rights.name}?at={rights.url}")).status_code == 200
    assert (await alice.get("/views/nonsense")).status_code == 404
    assert (await alice.get(f"{LIST}?at=//evil.example/")).text.count("evil") == 0


async def test_a_day_of_attendance_is_no_list_to_save_views_of(bob: Browser) -> None:
    assert "/views/" not in (await bob.get("/attendance/days/2026-11-20")).text
