"""`/help/api/<name>`: the reference of each API, for everybody who is signed in."""

import pytest

from tests.conftest import Browser, SignIn


@pytest.mark.parametrize(
    ("name", "path"), [("integration", "/api/v1/clock/status"), ("end-user", "/v1/api/me/surveys")]
)
async def test_it_shows_each_endpoint(sign_in: SignIn, name: str, path: str) -> None:
    answer = await (await sign_in("nora")).get(f"/help/api/{name}")
    assert answer.status_code == 200
    for part in (f"<code>{path}</code>", "Authorization: Bearer $TOKEN", "urllib.request", "All status codes"):
        assert part in answer.text
    assert f'href="/help/api/{name}"' in (await (await sign_in("nora")).get("/help")).text


async def test_another_name_is_not_found(alice: Browser) -> None:
    assert (await alice.get("/help/api/other")).status_code == 404


async def test_it_needs_a_sign_in(visitor: Browser) -> None:
    assert (await visitor.get("/help/api/integration")).headers["location"] == "/sign-in?next=/help/api/integration"
