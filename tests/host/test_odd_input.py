"""Values that keyboards do not type and databases do not keep: a NUL, or a number beyond every id.
It is refused, and breaks no page."""

import pytest
from sqlalchemy import insert, update

from app.accounts.models import User
from app.clock.models import Device
from app.db.session import Database
from app.parts import Parts
from app.web import preferences
from tests.conftest import Browser
from tests.host.staff import hire


@pytest.mark.parametrize(
    ("url", "typed", "status"),
    [
        ("/attendance/add", {"employee": "7\x00", "clock_in": "2026-11-20T08:00", "kind": "regular"}, 422),
        ("/attendance/add", {"employee": "7\x00"}, 422),
        ("/kiosk/enrol", {"employee": "7\x00", "code": "0007"}, 422),
        ("/preferences/columns/people", {"columns": "na\x00me"}, 303),
        ("/preferences/columns/pe%00ople", {"columns": "name"}, 404),
        ("/clock_devices/{terminal}/remarks", {"remarks": "by the\x00 gate"}, 422),
    ],
)
async def test_a_nul_in_a_form_breaks_no_page(
    database: Database, alice: Browser, url: str, typed: dict[str, str], status: int
) -> None:
    async with database.transaction() as db:
        terminal = await db.scalar(insert(Device).values(sn="T1").returning(Device.id))
    assert (await alice.submit(url.format(terminal=terminal), typed)).status_code == status


@pytest.mark.parametrize("url", ["/attendance/add?employee=7%00", "/kiosk/enrol?employee=7%00", "/people?q=%00"])
async def test_a_nul_in_an_address_breaks_no_page(alice: Browser, url: str) -> None:
    assert (await alice.get(url)).status_code < 500


@pytest.mark.parametrize("number", [2**63, 10**20, -(10**20)])
@pytest.mark.parametrize("url", ["/people/{}", "/attendance/people/{}", "/clock_transactions/{}", "/admin/jobs/{}"])
async def test_an_id_that_no_row_can_have_is_not_found(alice: Browser, url: str, number: int) -> None:
    assert (await alice.get(url.format(number))).status_code == 404


@pytest.mark.parametrize(
    "url", ["/admin/tenants/7%00", "/admin/users/types/7%00", "/surveys/view/7%00", "/welcome/7%00"]
)
async def test_a_key_that_no_row_can_have_is_not_found(alice: Browser, url: str) -> None:
    assert (await alice.get(url)).status_code == 404


async def test_a_bulk_act_on_an_id_that_no_row_can_have_reaches_no_person(alice: Browser) -> None:
    assert (await alice.submit("/people/bulk", {"action": "deactivate", "id": str(10**20)})).status_code == 422
    assert (await alice.submit("/people/999999999999999999999/deactivate")).status_code == 404


async def test_columns_that_a_list_does_not_have_leave_its_own(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        await hire(db)
    await alice.submit("/preferences/columns/people", {"columns": "of_an_earlier_version"})
    assert (await alice.get("/people?export=csv")).text.startswith("Name,ID number,")


async def test_columns_of_lists_that_there_are_not_fill_nobodys_row(parts: Parts, alice: Browser) -> None:
    assert (await alice.submit(f"/preferences/columns/{'x' * 51}", {"columns": "name"})).status_code == 404
    async with parts.database.transaction() as db:
        many = {"columns": {f"list{number}": ["name"] for number in range(preferences.MOST_LISTS)}}
        await db.execute(update(User).values(preferences=many))
    assert (await alice.submit("/preferences/columns/one_more", {"columns": "name"})).status_code == 404
    assert (await alice.submit("/preferences/columns/list7", {"columns": "name"})).status_code == 303


@pytest.mark.parametrize(
    ("encoding", "value"),
    [
        ("nonsense", b"Ada"),
        ("hex", b"Ada"),
        ("utf-8", b"\xff"),
        ("unicode_escape", b"\\ud800"),
    ],
)
async def test_a_form_that_is_no_text_is_refused_in_words(alice: Browser, encoding: str, value: bytes) -> None:
    """A part names its own encoding, and may mean half of a surrogate pair by it."""
    head = (
        f'--xx\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: text/plain; charset={encoding}\r\n\r\n'
    )
    headers = {"content-type": "multipart/form-data; boundary=xx", "x-csrf-token": alice.csrf_token}
    answer = await alice.post("/people/add", content=head.encode() + value + b"\r\n--xx--\r\n", headers=headers)
    assert answer.status_code == 422
    assert "The form holds something that is not text." in answer.text


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://h:x"])
async def test_an_origin_that_is_no_address_is_not_ours(alice: Browser, origin: str) -> None:
    assert (await alice.submit("/people/add", {}, headers={"Origin": origin})).status_code == 403


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"name=Ada"),
        ("multipart/form-data; boundary=xx", b"name=Ada"),
        ("multipart/form-data; boundary=xx", b'--xx\r\nContent-Disposition: form-data; name="name"\r\n\r\nAda'),
        ("multipart/form-data; boundary=xx", b'--xx\r\nContent-Disposition: form-data; name="id"\r\n\r\n7\r\n' * 1001),
    ],
)
async def test_a_form_that_broke_on_its_way_is_refused_with_what_to_do(
    alice: Browser, content_type: str, body: bytes
) -> None:
    headers = {"content-type": content_type, "x-csrf-token": alice.csrf_token}
    answer = await alice.post("/people/add", content=body, headers=headers)
    assert answer.status_code == 422
    assert "Reload the page and repeat." in answer.text
