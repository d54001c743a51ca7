"""What wraps the rows, and how each profile says no."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import msgspec

from app.simulator.calls import Answer, Call
from app.simulator.profiles import Profile

SUCCESS = "ZBSY0000"
UNAUTHENTICATED = "ZBSY0002"
FAILURE = "ZBSY0099"
BAD_CREDENTIALS = "ZBSY0005"
NO_ACCESSOR = "ZBSY0010"


@dataclass(slots=True)
class Page:
    """One page of a listing: the rows as JSON text, and where in how many they stand."""

    rows: list[str]
    total: int
    page: int
    size: int
    next_page: str | None = None
    """JSON text that stands in the place of the next page's address."""
    list_name: str = "data"

    @property
    def pages(self) -> int:
        """How many pages there are; at least one."""
        return max(1, -(-self.total // self.size))


def wrap(page: Page, call: Call, profile: Profile) -> bytes:
    """A page as the body of a success."""
    rows = ",".join(page.rows)
    if profile.name == "cloud":
        return (
            f'{{"code":"{SUCCESS}","message":"","data":{{"total":{page.total},"num_pages":{page.pages},"page":{page.page},'
            f'"page_size":{page.size},"{page.list_name}":[{rows}]}}}}'
        ).encode()
    after = page.next_page or _address(call, page.page + 1 if page.page < page.pages else None)
    before = _address(call, page.page - 1 if page.page > 1 else None)
    return (
        f'{{"count":{page.total},"next":{after},"previous":{before},"msg":"","code":0,"{page.list_name}":[{rows}]}}'
    ).encode()


def _address(call: Call, page: int | None) -> str:
    """JSON text. The organisation lists say "null" in quotes, as in the vendor's own samples."""
    if page is None:
        return '"null"' if call.resource in ("departments", "positions", "areas") else "null"
    query = urlencode(call.query | {"page": str(page)})
    return msgspec.json.encode(f"http://{call.headers.get('host', 'localhost')}{call.path}?{query}").decode()


def say(status: int, value: Any) -> Answer:
    """Any JSON value."""
    return Answer(status, msgspec.json.encode(value))


def refuse(profile: Profile, status: int, code: str, message: str) -> Answer:
    """An error in the profile's own words."""
    if profile.name == "cloud":
        return say(status, {"code": code, "message": message, "data": None})
    return say(status, {"detail": message})


def unauthenticated(profile: Profile, scheme: str) -> Answer:
    """401. The answer to a Bearer token gives no hint."""
    if scheme == "Bearer":
        return refuse(profile, 401, UNAUTHENTICATED, "")
    return refuse(profile, 401, UNAUTHENTICATED, "Authentication credentials were not provided or have expired.")


def bad_credentials(profile: Profile) -> Answer:
    """The cloud says 401; the on-prem server 400, as its framework does."""
    if profile.name == "cloud":
        return refuse(profile, 401, BAD_CREDENTIALS, "Wrong username or password.")
    return say(400, {"non_field_errors": ["Unable to log in with provided credentials."]})
