"""The rating half of the end-user API as a mobile app meets it, on the platform and from a tenant."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import func, select, update

from app.accounts import policies
from app.db.session import Database
from app.host.models import Application, AppRating
from app.surveys.api import apps as api_apps
from tests.conftest import BASE_URL, Browser
from tests.host.library import PNG, add_app, icon, publish_app

APPS, RATE = "/v1/api/me/apps", "/v1/api/me/app-rating"


class Phone:
    """A mobile app with somebody's token."""

    def __init__(self, browser: Browser, token: str) -> None:
        self.browser, self.headers = browser, {"Authorization": f"Bearer {token}"}

    async def apps(self) -> Any:
        answer = await self.browser.get(APPS, headers=self.headers)
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"success", "data"}
        return answer.json()["data"]

    async def rate(self, app: Any, rating: Any = 4, platform: Any = "ios", **more: Any) -> httpx.Response:
        return await self.send({"app": str(app), "rating": rating, "platform": platform, **more})

    async def send(self, body: Any) -> httpx.Response:
        return await self.browser.post(RATE, json=body, headers=self.headers)


@pytest.fixture
async def nora(visitor: Browser, token: Any) -> Phone:
    return Phone(visitor, await token("nora", "me"))


@pytest.fixture
async def eve(visitor: Browser, token: Any) -> Phone:
    """Of a tenant."""
    return Phone(visitor, await token("eve", "me"))


async def switch_off(database: Database, name: str, workspace: str = "main") -> None:
    async with database.transaction(workspace) as db:
        await policies.write(db, workspace, {name: False})


async def kept(database: Database, workspace: str = "main") -> list[Any]:
    async with database.transaction(workspace) as db:
        columns = (AppRating.rating, AppRating.platform, AppRating.comment, AppRating.app_version)
        return [tuple(row) for row in await db.execute(select(*columns).order_by(AppRating.id))]


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def fields(answer: httpx.Response) -> set[str]:
    return {one["field"] for one in answer.json()["error"]["details"]}


async def test_the_list_has_exactly_the_fields_of_the_contract(database: Database, planner: UUID, nora: Phone) -> None:
    async with database.transaction() as db:
        drawn = await publish_app(db, "Canteen", platforms=("web",), icon=icon())
        await add_app(db, "Draft")
    assert (await nora.rate(planner, 2, "android")).status_code == 201
    first, second = await nora.apps()
    url = f"{BASE_URL}/apps/icon/{drawn}"
    assert first == {
        "app": str(drawn),
        "name": "Canteen",
        "platforms": ["web"],
        "icon_url": url,
        "my_rating_today": None,
    }
    assert second == {
        "app": str(planner),
        "name": "Shift Planner",
        "platforms": ["ios", "android"],
        "icon_url": None,
        "my_rating_today": 2,
    }
    assert (await nora.browser.get(url)).content == PNG, "without a token"


async def test_a_rating_is_answered_as_the_contract_says(database: Database, planner: UUID, nora: Phone) -> None:
    answer = await nora.rate(planner, 5, "ios", comment="  Cafe\u0301! ", app_version="2.1")
    assert answer.status_code == 201
    assert answer.json()["success"] is True
    made = answer.json()["data"]
    assert isinstance(made.pop("rating_id"), int)
    today = made.pop("rated_on")
    assert made == {"app": str(planner), "rating": 5, "platform": "ios"}
    async with database.transaction() as db:
        assert today == str(await db.scalar(select(AppRating.rated_on)))
        assert await db.scalar(select(AppRating.rated_on == func.date(func.timezone("UTC", AppRating.rated_at))))
    assert await kept(database) == [(5, "ios", "Caf\u00e9!", "2.1")]


async def test_a_second_the_same_day_is_a_duplicate_and_the_first_stands(
    database: Database, planner: UUID, nora: Phone
) -> None:
    await nora.rate(planner, 5)
    for again in (await nora.rate(planner, 1), await nora.rate(planner, 5), await nora.rate(planner, 1, "android")):
        assert refusal(again) == (409, "duplicate")
    assert await kept(database) == [(5, "ios", None, None)]
    assert (await nora.apps())[0]["my_rating_today"] == 5


async def test_of_four_identical_posts_at_once_one_is_made(database: Database, planner: UUID, nora: Phone) -> None:
    answers = await asyncio.gather(*(nora.rate(planner) for _ in range(4)))
    assert sorted(one.status_code for one in answers) == [201, 409, 409, 409]
    assert len(await kept(database)) == 1


@pytest.mark.parametrize("rating", [5.0, "5", True, 0, 6, -1, None, [5], 4.5, 10**30])
async def test_an_integer_of_1_to_5_is_a_json_integer_of_1_to_5(planner: UUID, nora: Phone, rating: Any) -> None:
    answer = await nora.rate(planner, rating)
    assert refusal(answer) == (422, "invalid_body")
    assert fields(answer) == {"rating"}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"app": "x"}, "app"),
        ({"app": 5}, "app"),
        ({"platform": "beos"}, "platform"),
        ({"platform": "IOS"}, "platform"),
        ({"platform": "web"}, "platform"),
        ({"platform": None}, "platform"),
        ({"comment": "x" * 2001}, "comment"),
        ({"comment": "a\x00b"}, "comment"),
        ({"comment": 5}, "comment"),
        ({"app_version": "x" * 51}, "app_version"),
        ({"stars": 5}, "stars"),
        ({"rating": ...}, "rating"),
    ],
)
async def test_what_is_wrong_is_named_and_does_not_use_up_the_day(
    planner: UUID, nora: Phone, change: dict[str, Any], wrong: str
) -> None:
    body = {"app": str(planner), "rating": 4, "platform": "ios", **change}
    answer = await nora.send({name: value for name, value in body.items() if value is not ...})
    assert refusal(answer) == (422, "invalid_body")
    assert fields(answer) == {wrong}
    longest = {"comment": "\U0001f600" * 2000, "app_version": "x" * 50}
    assert (await nora.rate(planner, **longest)).status_code == 201


async def test_a_query_parameter_is_refused(planner: UUID, nora: Phone) -> None:
    listed = await nora.browser.get(f"{APPS}?page=1", headers=nora.headers)
    assert refusal(listed) == (422, "invalid_parameter")
    body = {"app": str(planner), "rating": 4, "platform": "ios"}
    assert refusal(await nora.browser.post(f"{RATE}?x=1", json=body, headers=nora.headers)) == (
        422,
        "invalid_parameter",
    )


async def test_what_accepts_no_ratings_is_not_found(database: Database, planner: UUID, nora: Phone) -> None:
    assert refusal(await nora.rate(uuid4())) == (404, "app_not_found")
    for change in ({"status": "draft"}, {"status": "retired"}, {"status": "published", "admin_restricted": True}):
        async with database.transaction() as db:
            await db.execute(update(Application).values(**change))
        assert refusal(await nora.rate(planner)) == (404, "app_not_found")
        assert await nora.apps() == []


async def test_a_tenants_people_rate_the_platforms_apps(
    database: Database, planner: UUID, eve: Phone, nora: Phone
) -> None:
    async with database.transaction("globex") as db:
        stray = await publish_app(db, "Stray")
    assert [row["name"] for row in await eve.apps()] == ["Shift Planner"]
    assert refusal(await eve.rate(stray)) == (404, "app_not_found")
    assert (await eve.rate(planner, 3)).status_code == 201
    assert refusal(await eve.rate(planner, 3)) == (409, "duplicate")
    assert (await eve.apps())[0]["my_rating_today"] == 3
    assert (await nora.apps())[0]["my_rating_today"] is None
    assert (await kept(database), await kept(database, "globex")) == ([(3, "ios", None, None)], [])


async def test_more_tenants_at_once_than_there_are_connections_all_get_through(planner: UUID, eve: Phone) -> None:
    answers = await asyncio.gather(*(eve.rate(planner) for _ in range(12)))
    assert sorted(one.status_code for one in answers) == [201] + [409] * 11


@pytest.mark.parametrize("switch", ["module_surveys", "me_apps", "me_app_rating"])
async def test_what_is_switched_off_is_unavailable_in_the_callers_workspace_alone(
    database: Database, planner: UUID, nora: Phone, eve: Phone, switch: str
) -> None:
    await switch_off(database, switch)
    listed = await nora.browser.get(APPS, headers=nora.headers)
    rated = await nora.rate(planner, "wrong")
    assert (listed.status_code == 404) == (switch != "me_app_rating")
    assert (rated.status_code == 404) == (switch != "me_apps")
    assert "module_unavailable" in {listed.json().get("error", {}).get("code"), rated.json()["error"]["code"]}
    assert len(await eve.apps()) == 1
    assert (await eve.rate(planner)).status_code == 201


async def test_a_body_that_is_no_strict_json_is_refused(nora: Phone, planner: UUID) -> None:
    twice = f'{{"app": "{planner}", "rating": 1, "rating": 5, "platform": "ios"}}'
    for body, kind, status in (
        (twice, "application/json", 422),
        ("[]", "application/json", 422),
        (twice, "text/plain", 415),
        ('{"comment": "' + "x" * 70_000 + '"}', "application/json", 413),
    ):
        answer = await nora.browser.post(RATE, content=body, headers={**nora.headers, "Content-Type": kind})
        assert answer.status_code == status


def test_the_document_bounds_the_list_of_apps() -> None:
    assert [(one.method, one.path, one.status) for one in api_apps.ENDPOINTS] == [
        ("GET", APPS, 200),
        ("POST", RATE, 201),
    ]
