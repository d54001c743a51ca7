"""Profiles as data, overrides, base addresses, and the question whether another page follows."""

from typing import Any

import pytest

from app.clock.profiles import CLOUD, ONPREM, PROFILES, RESOURCES, OverrideError, overridden
from app.clock.remote import Page, checked_base_url


def test_every_path_of_every_profile_ends_in_a_slash() -> None:
    for profile in PROFILES.values():
        for path in (*profile.paths.values(), profile.sign_in.path, profile.sign_in.refresh_path):
            assert path.startswith("/")
            assert path.endswith("/")


def test_the_paths_and_words_of_the_spec_are_ours() -> None:
    assert CLOUD.sign_in.path == "/web/oauth/api/v2/user_sign_in/"
    assert CLOUD.paths["schedules"] == "/web/att/api/v2/schedules/"
    assert CLOUD.success_codes == {"ZBSY0000"}
    assert CLOUD.headers["Authorization"] == ONPREM.headers["Authorization"] == "JWT {token}"
    assert CLOUD.headers["Accessor"] == "Web"


def test_a_profile_lists_what_it_offers_in_the_order_of_a_run() -> None:
    assert CLOUD.resources == RESOURCES
    assert ONPREM.resources == tuple(name for name in RESOURCES if name != "locations")
    assert not ONPREM.offers("schedules")


def test_an_override_changes_one_thing_and_leaves_the_table_alone() -> None:
    changed = overridden(
        ONPREM, {"paths.locations": "/personnel/api/locations/", "paths.sign_in": "/auth/", "params.page_size": "limit"}
    )
    assert changed.offers("locations")
    assert (changed.sign_in.path, changed.paging.sizes) == ("/auth/", ("limit",))
    assert not ONPREM.offers("locations")
    assert overridden(CLOUD, {}) is CLOUD


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"paths.transactions": "/x"}, "ends in a slash"),
        ({"paths.transactions": ""}, "ends in a slash"),
        ({"paths.transactions": "x/"}, "is not a path"),
        ({"paths.transactions": "/"}, "is not a path"),
        ({"paths.transactions": "//evil.example/"}, "is not a path"),
        ({"paths.transactions": "http://evil.example/"}, "is not a path"),
        ({"paths.transactions": "/a/../b/"}, "is not a path"),
        ({"paths.transactions": "/a?b=/"}, "is not a path"),
        ({"paths.transactions": "/a\r\nX: y/"}, "is not a path"),
        ({"paths.sign_in": "/api/jwt-api-token-auth/"}, "known to be wrong"),
        ({"paths.sign_in": "/web/oauth/api/v2/sign_in/"}, "known to be wrong"),
        ({"paths.schedules": "/web/att/api/v2/employee_schedules/"}, "known to be wrong"),
        ({"paths.everything": "/x/"}, "There is no setting"),
        ({"params.page": ""}, "name of a parameter"),
        ({"params.page": "a&b"}, "name of a parameter"),
        ({"params.start": "x" * 65}, "name of a parameter"),
        ({"nonsense": "/x/"}, "There is no setting"),
    ],
)
def test_an_override_that_cannot_be_used_says_why(overrides: dict[str, str], said: str) -> None:
    with pytest.raises(OverrideError, match=said):
        overridden(CLOUD, overrides)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://clock.example.com", "https://clock.example.com"),
        (" https://clock.example.com/ ", "https://clock.example.com"),
        ("http://10.0.0.5:8081/prefix/", "http://10.0.0.5:8081/prefix"),
        ("http://[::1]:9009", "http://[::1]:9009"),
    ],
)
def test_an_address_is_a_server_with_or_without_a_prefix(text: str, url: str) -> None:
    assert checked_base_url(text) == url


@pytest.mark.parametrize(
    "text",
    ["", "clock.example.com", "ftp://clock.example.com", "https://", "https://u:p@clock.example.com", "https://clock.example.com?x=1",
     "https://clock.example.com/#x", "http://clock.example.com:99999", "http://clock.example.com:0", "http://a b", "http://[::1",
     "javascript:alert(1)", "file:///etc/passwd", "https://clock.example.com\\@evil.example", "http://０.０.０.０", "http://00.00.00.01",
     "http://256.1.1.1", "http://xn--", "http://xn--a.example", "http://a\u200db", "http://．example"],
)  # fmt: skip
def test_what_is_not_an_address_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        checked_base_url(text)


def page(rows: list[Any], total: int, *, number: int = 1, pages: int | None = None, said: int | None = None) -> Page:
    return Page("transactions", number, rows, total, pages, said)


@pytest.mark.parametrize(
    ("rows", "total", "received", "more"),
    [
        (50, 784, 50, True),
        (50, 784, 750, True),
        (34, 784, 784, False),
        (0, 784, 400, False),
        (50, 50, 50, False),
        (0, 0, 0, False),
        (500, 784, 900, False),
    ],
)
def test_the_next_page_is_asked_for_while_rows_are_missing_and_still_come(
    rows: int, total: int, received: int, more: bool
) -> None:
    assert page([{}] * rows, total).more_after(received) is more


def test_a_page_given_twice_is_noticed() -> None:
    first = page([{"id": 1}, {"id": 2}], 4)
    assert page([{"id": 1}, {"id": 2}], 4, number=2).repeats(first.digest)
    assert not page([{"id": 3}, {"id": 4}], 4, number=2).repeats(first.digest)
    assert not first.repeats(None)
    assert not page([], 4, number=2).repeats(page([], 4).digest)


def test_a_page_that_calls_itself_an_earlier_one_is_a_repeat() -> None:
    assert page([{"id": 3}], 4, number=3, said=1).repeats(None)
    assert not page([{"id": 3}], 4, number=3, said=3).repeats(None)
