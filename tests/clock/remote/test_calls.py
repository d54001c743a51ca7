"""What goes over the wire when all is well: sign-in, headers, paths, paging, schedules, pictures."""

from collections.abc import AsyncIterator
from datetime import date, datetime

import pytest

from app.clock.profiles import CLOUD, ONPREM, Profile, overridden
from app.clock.remote import ClockError, NotOfferedError
from tests.clock.remotes import PASSWORD, Rig, rig, says_page, says_sign_in
from tests.fakes.liar import Liar, answer, says_json

START, END = datetime(2026, 11, 1), datetime(2026, 11, 20, 23, 59, 59)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.fixture(params=[CLOUD, ONPREM], ids=lambda profile: profile.name)
async def any_server(liar: Liar, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    made = rig(liar, request.param)
    async with made.outbound:
        yield made


@pytest.fixture
async def cloud(liar: Liar) -> AsyncIterator[Rig]:
    made = rig(liar, CLOUD)
    async with made.outbound:
        yield made


async def test_a_page_is_fetched_with_one_sign_in_and_one_call(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, [{"id": 1}, {"id": 2}], total=7))

    page = await any_server.clock.fetch_page("transactions", 1, 500, START, END)

    assert (page.rows, page.total, page.number) == ([{"id": 1}, {"id": 2}], 7, 1)
    assert [heard.path for heard in any_server.liar.heard] == [any_server.profile.sign_in.path, any_server.punches_path]
    assert any_server.liar.heard[0].said == {"username": "operator", "password": PASSWORD}


async def test_every_later_call_carries_the_four_headers(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, []))

    await any_server.clock.fetch_page("transactions", 1, 500)

    (heard,) = any_server.liar.asked(any_server.punches_path)
    assert heard.headers["authorization"] == "JWT first-token-0001"
    assert heard.headers["timezone"] == "Asia/Manila"
    assert heard.headers["accessor"] == "Web"
    assert heard.headers["accept"] == "application/json"
    assert heard.headers["accept-encoding"] == "identity"
    assert "cookie" not in heard.headers


async def test_the_sign_in_carries_no_token(any_server: Rig) -> None:
    await any_server.clock.sign_in()

    (heard,) = any_server.liar.heard
    assert "authorization" not in heard.headers
    assert heard.headers["timezone"] == "Asia/Manila"


async def test_the_window_is_written_in_local_time(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, []))

    await any_server.clock.fetch_page("transactions", 3, 200, START, END)

    query = any_server.liar.asked(any_server.punches_path)[0].query
    sizes = {"page_size": "200", "limit": "200"} if any_server.profile is ONPREM else {"page_size": "200"}
    assert query == {"page": "3", **sizes, "start_time": "2026-11-01 00:00:00", "end_time": "2026-11-20 23:59:59"}


async def test_the_page_size_never_exceeds_what_the_profile_allows(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, []))

    await any_server.clock.fetch_page("transactions", 1, 100_000)

    assert any_server.liar.heard[-1].query["page_size"] == str(any_server.profile.paging.cap)


async def test_every_offered_resource_has_a_path_with_a_slash_at_its_end(any_server: Rig) -> None:
    for resource in any_server.profile.resources:
        any_server.liar.says(any_server.profile.paths[resource], says_page(any_server.profile, [{"id": resource}]))
        page = await any_server.clock.fetch_page(resource, 1, 50)
        assert page.rows == [{"id": resource}]
    assert all(heard.path.endswith("/") for heard in any_server.liar.heard)


async def test_counting_asks_for_one_row_and_reads_the_total(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, [{"id": 1}], total=784))

    assert await any_server.clock.count("transactions", START, END) == 784
    assert any_server.liar.heard[-1].query["page_size"] == "1"


async def test_one_connection_serves_many_calls(any_server: Rig) -> None:
    any_server.says_punches(says_page(any_server.profile, [{"id": 1}]))

    for number in range(1, 6):
        await any_server.clock.fetch_page("transactions", number, 50)

    assert any_server.liar.connections == 1


async def test_a_cookie_of_the_server_is_never_sent_back(any_server: Rig) -> None:
    page = says_page(any_server.profile, []).replace(b"\r\n\r\n", b"\r\nSet-Cookie: sid=abc; Path=/\r\n\r\n", 1)
    any_server.says_punches(page)

    await any_server.clock.fetch_page("transactions", 1, 50)
    await any_server.clock.fetch_page("transactions", 2, 50)

    assert all("cookie" not in heard.headers for heard in any_server.liar.heard)


async def test_locations_are_not_offered_in_ones_own_building(liar: Liar) -> None:
    made = rig(liar, ONPREM)
    async with made.outbound:
        assert "locations" not in made.profile.resources
        with pytest.raises(NotOfferedError):
            await made.clock.fetch_page("locations", 1, 50)
        with pytest.raises(NotOfferedError):
            await made.clock.schedules("7", date(2026, 11, 16), date(2026, 11, 22))
    assert liar.heard == []


async def test_a_company_changes_the_three_fields_of_the_sign_in(liar: Liar) -> None:
    made = rig(liar, ONPREM, company="acme")
    async with made.outbound:
        await made.clock.sign_in()
    assert liar.heard[0].said == {"company": "acme", "email": "operator", "password": PASSWORD}


async def test_some_builds_call_the_list_results_and_have_no_code(liar: Liar) -> None:
    made = rig(liar, ONPREM)
    made.says_punches(says_json({"count": 1, "next": None, "previous": None, "results": [{"id": 5}]}))
    async with made.outbound:
        page = await made.clock.fetch_page("transactions", 1, 50)
    assert (page.rows, page.total) == ([{"id": 5}], 1)


async def test_schedules_are_asked_for_one_person_and_week(cloud: Rig) -> None:
    path = "/web/att/api/v2/schedules/"
    cloud.liar.says(path, says_page(CLOUD, [{"att_date": "2026-11-16"}]))

    rows = await cloud.clock.schedules("0012", date(2026, 11, 16), date(2026, 11, 22))

    query = cloud.liar.asked(path)[0].query
    assert rows == [{"att_date": "2026-11-16"}]
    assert (query["emp_code"], query["start_date"], query["end_date"]) == ("0012", "2026-11-16", "2026-11-22")


async def test_overridden_paths_and_names_are_the_ones_used(liar: Liar) -> None:
    profile = overridden(CLOUD, {"paths.transactions": "/x/punches/", "params.page": "pageNo", "params.start": "from"})
    made = rig(liar, profile)
    liar.says("/x/punches/", says_page(profile, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 2, 10, START, END)
    assert liar.heard[-1].query == {
        "pageNo": "2",
        "page_size": "10",
        "from": "2026-11-01 00:00:00",
        "end_time": "2026-11-20 23:59:59",
    }


async def test_a_prefix_of_the_address_stays_in_front_of_every_path(liar: Liar) -> None:
    made = rig(liar, ONPREM, base_url=f"{liar.url}/clock/")
    liar.says("/clock/jwt-api-token-auth/", says_sign_in(ONPREM, "t0ken-behind-a-prefix"))
    liar.says("/clock/iclock/api/transactions/", says_page(ONPREM, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert [heard.path for heard in liar.heard] == ["/clock/jwt-api-token-auth/", "/clock/iclock/api/transactions/"]


async def test_a_picture_is_fetched_with_the_token(cloud: Rig) -> None:
    cloud.liar.says("/media/people/7/", answer(PNG, media_type="image/png"))

    photo = await cloud.clock.photo("/media/people/7/")

    assert (photo.content, photo.media_type) == (PNG, "image/png")
    assert cloud.liar.heard[-1].headers["authorization"] == "JWT first-token-0001"
    assert cloud.records[-1].excerpt == f"[{len(PNG)} bytes of image/png]"


@pytest.mark.parametrize(
    "reference",
    [
        "http://elsewhere.example/p.png",
        "//elsewhere.example/p",
        "/media/../../etc/",
        "",
        "data:image/png;base64,AAAA",
        "/a\\b",
        "/" + "x" * 600,
    ],
)
async def test_a_picture_elsewhere_is_never_asked_for(cloud: Rig, reference: str) -> None:
    with pytest.raises(ClockError) as caught:
        await cloud.clock.photo(reference)
    assert caught.value.code == "TC-SHAPE"
    assert cloud.liar.heard == []


async def test_what_is_not_a_picture_is_not_handed_on(cloud: Rig) -> None:
    cloud.liar.says("/p/", answer(b"<svg onload=alert(1)>", media_type="image/svg+xml"))
    with pytest.raises(ClockError, match="not a picture"):
        await cloud.clock.photo("/p/")


@pytest.mark.parametrize("profile", [CLOUD, ONPREM], ids=lambda profile: profile.name)
async def test_the_connection_test_names_each_step(liar: Liar, profile: Profile) -> None:
    made = rig(liar, profile)
    liar.says(profile.paths["departments"], says_page(profile, [{"id": 1}], total=12))
    async with made.outbound:
        steps = [step async for step in made.clock.test_steps()]
    assert [(step.name, step.ok) for step in steps] == [
        ("resolve", True),
        ("connect", True),
        ("tls", True),
        ("sign_in", True),
        ("list", True),
    ]
    assert steps[-1].sentence == "The server lists 12 departments."


async def test_the_connection_test_ends_at_the_step_that_fails(cloud: Rig) -> None:
    cloud.liar.says(CLOUD.sign_in.path, says_json({"code": "ZBSY0011", "message": "wrong"}, status=401))
    steps = [step async for step in cloud.clock.test_steps()]
    assert [(step.name, step.ok, step.code) for step in steps][-1] == ("sign_in", False, "TC-AUTH")
    assert "wrong" in steps[-1].sentence


async def test_the_connection_test_says_which_address_is_forbidden(liar: Liar) -> None:
    made = rig(liar, CLOUD, allow="")
    async with made.outbound:
        steps = [step async for step in made.clock.test_steps()]
    assert [(step.name, step.ok, step.code) for step in steps] == [("resolve", False, "TC-POLICY")]
    assert liar.connections == 0
