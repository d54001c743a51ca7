"""Times in the forms of a record keep their instants in the night when the clocks go back."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from app.db.session import Database
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from tests.conftest import Browser
from tests.host.staff import ALICE, hire, record_of

# Both are 01:30 in Vancouver.
FIRST, SECOND = datetime(2013, 11, 3, 8, 30, tzinfo=UTC), datetime(2013, 11, 3, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def held(page: str) -> dict[str, str]:
    """What the form in a page holds, as a browser would post it back."""
    form = page[page.index('<form method="post" action="/attendance/') :]
    inputs = re.findall(r'<input[^>]*name="([a-z_0-9]+)"[^>]*? value="([^"]*)"', form[: form.index("</form>")])
    return {name: unescape(value) for name, value in inputs} | {"kind": "regular"}


@pytest.mark.parametrize(
    "kept",
    [
        Hours(FIRST, SECOND + 5 * HOUR, ((SECOND, SECOND + HOUR),)),
        Hours(FIRST, SECOND),
        Hours(FIRST - HOUR, SECOND + HOUR, ((FIRST, SECOND),)),
    ],
    ids=["clock-in and break", "clock-in and clock-out", "both ends of a break"],
)
async def test_a_changed_note_leaves_two_times_that_look_the_same(
    database: Database, alice: Browser, in_vancouver: None, kept: Hours
) -> None:
    async with database.transaction() as db:
        record_id = await attendance.add(db, ALICE, await hire(db), kept)
        await attendance.decide(db, ALICE, [record_id], "approved")
    form = held((await alice.get(f"/attendance/{record_id}/edit")).text)
    answer = await alice.submit(f"/attendance/{record_id}/edit", {**form, "note": "Seen"})
    assert answer.status_code == 303
    async with database.transaction() as db:
        after = await record_of(db, record_id)
    assert (Hours.of(after), after.status, after.note) == (kept, "approved", "Seen")


async def test_a_record_is_added_at_the_instants_of_the_link_that_opened_its_form(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    given = {"clock_in": SECOND.astimezone(ZoneInfo("America/Vancouver")), "break_1_out": SECOND + HOUR}
    address = urlencode({"employee": f"#{ada}", **{name: at.isoformat() for name, at in given.items()}})
    form = held((await alice.get(f"/attendance/add?{address}")).text)
    assert (form["clock_in"], form["break_1_out"]) == ("2013-11-03T01:30:00", "2013-11-03T02:30:00")

    refused = await alice.submit("/attendance/add", {**form, "break_1_back": ""})
    assert refused.status_code == 422
    more = await alice.submit("/attendance/add", {**held(refused.text), "more": "1"})
    form = held(more.text) | {"break_1_back": "2013-11-03T03:00", "clock_out": "2013-11-03T08:00"}
    added = await alice.submit("/attendance/add", form)

    assert added.status_code == 303
    async with database.transaction() as db:
        after = await record_of(db, int(added.headers["location"].rpartition("/")[2]))
    assert (after.clock_in, after.breaks[0].lower) == (SECOND, SECOND + HOUR)


async def test_a_time_that_is_typed_over_is_the_one_that_was_typed(
    database: Database, alice: Browser, in_vancouver: None
) -> None:
    async with database.transaction() as db:
        ada = await hire(db)
    form = held((await alice.get("/attendance/add?" + urlencode({"clock_in": SECOND.isoformat()}))).text)
    typed = {"employee": f"#{ada}", "clock_in": "2013-11-03T05:00", "clock_out": "2013-11-03T08:00"}
    added = await alice.submit("/attendance/add", form | typed)
    async with database.transaction() as db:
        after = await record_of(db, int(added.headers["location"].rpartition("/")[2]))
    assert after.clock_in == datetime(2013, 11, 3, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "odd",
    ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59", "0001-01-01", "x", "2013-13-01"],
)
async def test_an_odd_time_in_an_address_or_a_hidden_field_breaks_no_form(
    alice: Browser, in_vancouver: None, odd: str
) -> None:
    page = await alice.get("/attendance/add?" + urlencode({"clock_in": odd}))
    assert page.status_code == 200
    assert held(page.text)["clock_in"] == ""
    typed = {"clock_in": "2013-11-03T05:00", "clock_in_at": odd, "kind": "regular"}
    assert (await alice.submit("/attendance/add", typed)).status_code == 422
