"""The App Library: which apps there are, which of them accept ratings, and what an icon may be."""

import base64
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.host.applications import applications, icons
from app.host.applications.applications import ApplicationDetails
from app.host.models import Application, AppRating
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import Rating
from tests.conftest import Browser, SignIn
from tests.host.library import JPEG, NOON, PNG, WEBP, add_app, app_of, icon, publish_app
from tests.host.staff import ALICE, acts_on

LONG = "Betriebsratsvorsitzendenwahlvorbereitungsanwendung" * 4


async def rate(db: AsyncSession, app_id: int, user_id: int = 7) -> None:
    app = await app_of(db, app_id)
    await ratings.submit(db, user_id, Rating(app.uid, 5, "ios"), NOON)


class TestDetails:
    async def test_a_new_app_is_a_draft_trimmed_and_audited(self, db: AsyncSession) -> None:
        app_id = await applications.add(db, ALICE, ApplicationDetails("  Café  ", ("web", "ios"), " ", icon=icon()))
        app = await app_of(db, app_id)
        assert (app.name, app.platforms, app.description, app.status) == ("Café", ["ios", "web"], None, "draft")
        (act,) = await acts_on(db, "application", app_id)
        assert (act.act, act.before) == ("app.add", None)
        assert act.after
        assert act.after["icon"] == f"image/png, 46 bytes, {icon().digest[:12]}"

    async def test_every_field_that_is_wrong_is_named(self, db: AsyncSession) -> None:
        with pytest.raises(Invalid) as refused:
            await applications.add(db, ALICE, ApplicationDetails(" ", (), "x" * 1001))
        assert {one.field for one in refused.value.details} == {"name", "description", "platforms"}
        for wrong in (
            ApplicationDetails("x" * 201, ("ios",)),
            ApplicationDetails("a\x00b", ("ios",)),
            ApplicationDetails("a", ("ios", "beos")),
        ):
            with pytest.raises(Invalid):
                await applications.add(db, ALICE, wrong)

    async def test_a_name_is_one_apps_alone_whatever_its_case(self, db: AsyncSession) -> None:
        await add_app(db, "Planner")
        other = await add_app(db, "Canteen")
        with pytest.raises(Invalid, match="Another app has this name"):
            await add_app(db, "PLANNER")
        with pytest.raises(Invalid, match="Another app has this name"):
            await applications.edit(db, ALICE, other, ApplicationDetails("planner", ("ios",)))
        assert await applications.edit(db, ALICE, other, ApplicationDetails("CANTEEN", ("ios", "android")))

    async def test_the_name_of_a_removed_demo_app_is_free(self, db: AsyncSession) -> None:
        gone = await add_app(db)
        await db.execute(update(Application).where(Application.id == gone).values(deleted_at=NOON))
        assert await add_app(db) != gone
        with pytest.raises(NotFound):
            await applications.edit(db, ALICE, gone, ApplicationDetails("Other", ("ios",)))

    async def test_an_edit_is_audited_with_what_changed_alone(self, db: AsyncSession) -> None:
        app_id = await add_app(db)
        assert not await applications.edit(db, ALICE, app_id, ApplicationDetails("Shift Planner", ("ios", "android")))
        assert await applications.edit(
            db, ALICE, app_id, ApplicationDetails("Shift Planner", ("web",), admin_restricted=True)
        )
        first, second = await acts_on(db, "application", app_id)
        assert (first.act, second.act) == ("app.add", "app.edit")
        assert second.before == {"platforms": ["ios", "android"], "admin_restricted": False}
        assert second.after == {"platforms": ["web"], "admin_restricted": True}

    async def test_another_picture_of_the_same_size_is_a_change(self, db: AsyncSession) -> None:
        app_id = await add_app(db, icon=icon())
        kept = ApplicationDetails("Shift Planner", ("ios", "android"), icon=icon())
        assert not await applications.edit(db, ALICE, app_id, kept)
        other = ApplicationDetails("Shift Planner", ("ios", "android"), icon=icon(PNG[:-1] + b"\x01"))
        assert await applications.edit(db, ALICE, app_id, other)
        assert (await app_of(db, app_id)).icon == other.icon.data  # type: ignore[union-attr]


class TestLife:
    async def test_only_those_that_change_are_moved_and_audited(self, db: AsyncSession) -> None:
        first, second = await add_app(db, "One"), await add_app(db, "Two")
        assert await applications.retire(db, ALICE, [first]) == []
        assert await applications.publish(db, ALICE, [first]) == [first]
        assert await applications.publish(db, ALICE, [second, first, 404]) == [second]
        assert await applications.retire(db, ALICE, [second]) == [second]
        assert await applications.publish(db, ALICE, [second]) == [second]
        acts = [(one.act, one.before, one.after) for one in (await acts_on(db, "application", second))[1:]]
        assert acts == [
            ("app.publish", {"status": "draft"}, {"status": "published"}),
            ("app.retire", {"status": "published"}, {"status": "retired"}),
            ("app.publish", {"status": "retired"}, {"status": "published"}),
        ]

    async def test_an_app_without_ratings_can_be_deleted(self, db: AsyncSession) -> None:
        app_id = await add_app(db)
        assert await applications.remove(db, ALICE, app_id) == "Shift Planner"
        assert (await db.scalars(select(Application.id))).all() == []
        last = (await acts_on(db, "application", app_id))[-1]
        assert (last.act, last.before["name"], last.before["status"]) == ("app.delete", "Shift Planner", "draft")  # type: ignore[index]
        with pytest.raises(NotFound):
            await applications.remove(db, ALICE, app_id)

    async def test_a_rated_app_cannot_but_removed_demo_ratings_hold_nothing(self, db: AsyncSession) -> None:
        await publish_app(db)
        app_id = await db.scalar(select(Application.id)) or 0
        await rate(db, app_id)
        with pytest.raises(Conflict, match="Retire it instead"):
            await applications.remove(db, ALICE, app_id)
        await db.execute(update(AppRating).values(deleted_at=NOON))
        await ratings.recount(db)
        assert await applications.remove(db, ALICE, app_id)


class TestIcons:
    @pytest.mark.parametrize(("data", "kind"), [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp")])
    def test_a_picture_is_known_by_its_bytes(self, data: bytes, kind: str) -> None:
        assert icons.read(data).type == kind

    @pytest.mark.parametrize(
        "data",
        [
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"<html>",
            b"GIF89a",
            b"RIFF\x00\x00\x00\x00WAVE",
            PNG[:8],
            b"x",
        ],
    )
    def test_anything_else_is_refused_svg_above_all(self, data: bytes) -> None:
        with pytest.raises(Invalid, match="not a PNG, JPEG or WebP"):
            icons.read(data)

    def test_64_kib_fit_and_one_byte_more_does_not(self) -> None:
        assert icons.read(PNG.ljust(64 * 1024, b"\0"))
        with pytest.raises(Invalid, match="65,537 bytes"):
            icons.read(PNG.ljust(64 * 1024 + 1, b"\0"))

    async def test_a_published_apps_icon_is_there_for_everybody_and_costs_nothing_twice(
        self, database: Database, visitor: Browser, eve: Browser
    ) -> None:
        async with database.transaction() as db:
            uid = await publish_app(db, icon=icon())
        url = f"/apps/icon/{uid}"
        answer = await visitor.get(url)
        assert (answer.status_code, answer.content) == (200, PNG)
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "public, no-cache"
        tag = answer.headers["etag"]
        assert tag == f'"{icon().digest}"'
        for told in (tag, f'"other", W/{tag}', "*"):
            again = await visitor.get(url, headers={"If-None-Match": told})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert (await visitor.get(url, headers={"If-None-Match": '"other"'})).status_code == 200
        assert (await eve.get(url)).status_code == 200, "a tenant's person sees the platform's icon"

    @pytest.mark.parametrize("state", ["draft", "retired", "restricted"])
    async def test_other_icons_are_for_who_manages_the_library(
        self, database: Database, visitor: Browser, sign_in: SignIn, state: str
    ) -> None:
        async with database.transaction() as db:
            uid = await publish_app(db, icon=icon(), admin_restricted=state == "restricted")
            if state != "restricted":
                await db.execute(update(Application).values(status=state))
        alice = await sign_in("alice")
        assert (await alice.get(f"/apps/icon/{uid}")).headers["cache-control"] == "private, no-cache"
        for stranger in (visitor, await sign_in("vera"), await sign_in("eve")):
            assert (await stranger.get(f"/apps/icon/{uid}")).status_code == 404

    async def test_there_is_none_without_an_app_or_a_picture(self, database: Database, visitor: Browser) -> None:
        async with database.transaction() as db:
            uid = await publish_app(db)
        for which in (uid, uuid4(), "x"):
            assert (await visitor.get(f"/apps/icon/{which}")).status_code == 404


class TestPage:
    async def test_it_lists_every_app_with_what_people_think_of_it(
        self, database: Database, alice: Browser, selects: list[str]
    ) -> None:
        async with database.transaction() as db:
            uid = await publish_app(db, LONG[:200], icon=icon())
            await add_app(db, "Zebra", admin_restricted=True)
            for user_id, stars in ((7, 5), (8, 4), (9, 4)):
                await ratings.submit(db, user_id, Rating(uid, stars, "ios"), NOON)
        selects.clear()
        page = (await alice.get("/apps")).text
        assert len(selects) <= 3
        assert LONG[:200] in page
        assert f'src="/apps/icon/{uid}"' in page
        assert page.count(f'href="/surveys/ratings?app={uid}"') == 2
        assert ">4.33<" in page
        assert "Administrators only" in page

    @pytest.mark.parametrize(
        ("query", "shown"),
        [
            ("q=plan", ["Planner"]),
            ("status=draft", ["Canteen"]),
            ("platform=web", ["Canteen"]),
            ("rateable=1", ["Planner"]),
            ("sort=-name", ["Planner", "Canteen"]),
            ("status=nonsense", []),
        ],
    )
    async def test_filters_are_in_the_address_and_exported(
        self, database: Database, alice: Browser, query: str, shown: list[str]
    ) -> None:
        async with database.transaction() as db:
            await publish_app(db, "Planner")
            await add_app(db, "Canteen", ("web",))
        export = (await alice.get(f"/apps?{query}&export=csv")).text.splitlines()
        assert [line.split(",")[0] for line in export[1:]] == shown
        page = (await alice.fragment(f"/apps?{query}")).text
        assert [name for name in ("Planner", "Canteen") if f">{name}</a>" in page] == sorted(shown, reverse=True)

    async def test_an_empty_library_says_what_to_do(self, alice: Browser) -> None:
        assert 'href="/apps/add"' in (await alice.get("/apps")).text

    async def test_it_belongs_to_the_platform_and_to_its_permission(
        self, database: Database, sign_in: SignIn, visitor: Browser
    ) -> None:
        alice, vera, bob, eve = [await sign_in(short) for short in ("alice", "vera", "bob", "eve")]
        async with database.transaction() as db:
            app_id = await add_app(db)
        for url in ("/apps", "/apps/add", f"/apps/{app_id}", f"/apps/{app_id}/edit", f"/apps/{app_id}/publish"):
            assert (await visitor.get(url)).status_code == 303
            for browser in (vera, bob, eve):
                assert (await browser.get(url)).status_code == 403
            assert "<html" not in (await alice.fragment(url)).text
        for url in ("/apps/add", f"/apps/{app_id}/publish", f"/apps/{app_id}/delete", "/apps/bulk"):
            assert (await eve.submit(url, {"name": "x"})).status_code == 403
        assert 'href="/apps"' in (await alice.get("/account")).text
        assert 'href="/apps"' not in (await eve.get("/account")).text

    async def test_one_app_says_whether_it_accepts_ratings_and_what_was_done(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            app_id = await add_app(db)
        assert "People can rate it once it is published" in (await alice.get(f"/apps/{app_id}")).text
        assert "Publish Shift Planner?" in (await alice.fragment(f"/apps/{app_id}/publish")).text
        assert (await alice.submit(f"/apps/{app_id}/publish")).status_code == 303
        shown = (await alice.get(f"/apps/{app_id}")).text
        assert "Accepts ratings" in shown
        assert "<strong>App published</strong>" in shown
        await alice.submit(f"/apps/{app_id}/publish")
        assert "published already" in (await alice.get("/account")).text
        await alice.submit(f"/apps/{app_id}/retire")
        assert "It accepts no more ratings" in (await alice.get(f"/apps/{app_id}")).text
        assert (await alice.get(f"/apps/{app_id}/nonsense")).status_code == 404
        assert (await alice.submit(f"/apps/{app_id}/nonsense")).status_code == 404
        assert (await alice.get("/apps/404")).status_code == 404

    async def test_deleting_asks_first_and_a_rated_one_stays(self, database: Database, alice: Browser) -> None:
        async with database.transaction() as db:
            await publish_app(db)
            rated, free = await db.scalar(select(Application.id)) or 0, await add_app(db, "Free")
            await rate(db, rated)
        for answer in (await alice.get(f"/apps/{rated}/delete"), await alice.submit(f"/apps/{rated}/delete")):
            assert answer.status_code == 409
            assert "Retire it instead" in answer.text
        assert "Delete…" not in (await alice.get(f"/apps/{rated}")).text
        assert "Delete Free?" in (await alice.get(f"/apps/{free}/delete")).text
        assert (await alice.submit(f"/apps/{free}/delete")).status_code == 303
        assert "Free was deleted." in (await alice.get("/apps")).text

    async def test_many_are_published_at_once_after_the_number_was_agreed_to(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            await publish_app(db, "Already")
            ids = [await add_app(db, name) for name in ("One", "Two")]
        everything: dict[str, Any] = {"action": "publish", "all": "1"}
        assert "Publish 2 apps?" in (await alice.submit("/apps/bulk", everything)).text
        assert (await alice.submit("/apps/bulk", {**everything, "confirmed": "1", "number": "2"})).status_code == 303
        assert "2 apps were published." in (await alice.get("/apps")).text
        assert (await alice.submit("/apps/bulk", everything)).status_code == 409
        chosen = {"action": "retire", "id": [str(one) for one in ids], "confirmed": "1", "number": "2"}
        await alice.submit("/apps/bulk", chosen)
        assert "2 apps were retired." in (await alice.get("/apps")).text
        assert (await alice.submit("/apps/bulk", {"action": "delete", "all": "1"})).status_code == 404

    async def test_the_palette_finds_apps_for_who_manages_them(
        self, database: Database, alice: Browser, eve: Browser, sign_in: SignIn
    ) -> None:
        async with database.transaction() as db:
            app_id = await add_app(db)
        assert f'href="/apps/{app_id}"' in (await alice.fragment("/palette?q=planner")).text
        for browser in (eve, await sign_in("nora")):
            assert "Shift Planner" not in (await browser.fragment("/palette?q=planner")).text


class TestForm:
    FIELDS = {"name": "Shift Planner", "platforms": ["ios", "web"], "description": "Who works when"}  # noqa: RUF012 - no test changes it

    async def test_an_app_is_added_with_its_icon(self, database: Database, alice: Browser) -> None:
        answer = await alice.submit("/apps/add", self.FIELDS, files={"icon": ("icon.svg", PNG, "image/svg+xml")})
        assert answer.status_code == 303
        async with database.transaction() as db:
            app = await app_of(db, int(answer.headers["location"].rpartition("/")[2]))
        assert (app.name, app.platforms, app.icon, app.icon_type) == ("Shift Planner", ["ios", "web"], PNG, "image/png")

    async def test_nothing_typed_is_lost_not_even_the_picture(self, database: Database, alice: Browser) -> None:
        refused = await alice.submit("/apps/add", {**self.FIELDS, "platforms": []}, files={"icon": ("i.png", PNG)})
        assert refused.status_code == 422
        kept = base64.b64encode(PNG).decode()
        for what in ("Shift Planner", "Who works when", "Choose at least one.", f'value="{kept}"'):
            assert what in refused.text
        answer = await alice.submit("/apps/add", {**self.FIELDS, "icon_kept": kept}, files={"icon": ("", b"")})
        assert answer.status_code == 303
        async with database.transaction() as db:
            assert (await db.scalars(select(Application.icon))).all() == [PNG]

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({"files": {"icon": ("i.png", b"<svg/>")}}, "not a PNG, JPEG or WebP"),
            ({"files": {"icon": ("i.png", PNG.ljust(70_000, b"0"))}}, "At most 64 KiB"),
            ({"icon_kept": "§"}, "Choose the picture again"),
            ({"icon_kept": base64.b64encode(b"<svg/>").decode()}, "not a PNG, JPEG or WebP"),
            ({"name": "shift planner "}, "Another app has this name"),
            ({"name": "x" * 201}, "At most 200 characters"),
        ],
    )
    async def test_what_is_wrong_is_said_at_the_field(
        self, database: Database, alice: Browser, sent: dict[str, Any], said: str
    ) -> None:
        async with database.transaction() as db:
            await add_app(db)
        fields = {**self.FIELDS, "name": "Other", **{key: one for key, one in sent.items() if key != "files"}}
        answer = await alice.submit("/apps/add", fields, files=sent.get("files"))
        assert answer.status_code == 422
        assert said in answer.text
        assert "Who works when" in answer.text

    async def test_an_edit_keeps_the_icon_until_it_is_replaced_or_taken_away(
        self, database: Database, alice: Browser
    ) -> None:
        async with database.transaction() as db:
            app_id = await add_app(db, icon=icon())

        async def after(data: dict[str, Any], **more: Any) -> tuple[bytes | None, str | None]:
            assert (await alice.submit(f"/apps/{app_id}/edit", {**self.FIELDS, **data}, **more)).status_code == 303
            async with database.transaction() as db:
                app = await app_of(db, app_id)
                return app.icon, app.icon_type

        assert "Take the icon away" in (await alice.get(f"/apps/{app_id}/edit")).text
        assert await after({}, files={"icon": ("", b"")}) == (PNG, "image/png")
        await alice.get("/apps")
        await after({})
        assert "Nothing was changed." in (await alice.get("/apps")).text
        assert await after({}, files={"icon": ("i.jpg", JPEG)}) == (JPEG, "image/jpeg")
        assert await after({"remove_icon": "1"}) == (None, None)
