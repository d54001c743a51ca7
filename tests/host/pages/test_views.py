"""Saved views: one's own, shared ones, and what may not be saved, shared or removed."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from app.accounts.models import AuditEntry
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


async def test_the_same_name_replaces_the_view(bob: Browser) -> None:
    await saved(bob, "Mine")
    await saved(bob, "mine", "/attendance?sort=-day")
    assert lines((await bob.fragment(LIST)).text) == [("/attendance?sort=-day", "mine")]


async def test_a_shared_view_is_for_all_who_see_the_list(
    bob: Browser, vera: Browser, eve: Browser, sign_in: SignIn
) -> None:
    assert await saved(bob, "To decide", shared="1") == 303
    shown = (await vera.fragment(LIST)).text
    assert [name for _, name in lines(shown)] == ["To decide"]
    assert "/remove" not in shown
    assert 'name="shared"' not in shown
    assert (await (await sign_in("nora")).get(LIST)).status_code == 403
    assert lines((await eve.fragment(LIST)).text) == []


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
        ("Long", "/attendance?q=" + "x" * 2001, "does not belong to the list"),
    ],
)
async def test_what_is_not_a_view_is_refused_with_what_to_do(bob: Browser, name: str, at: str, words: str) -> None:
    answer = await bob.submit(LIST, {"name": name, "at": at})
    assert answer.status_code == 422
    assert words in answer.text


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
