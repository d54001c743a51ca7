"""The integration API as an integrator meets it: shapes, parameters, cursors, following what changed."""

import json
from functools import partial
from itertools import product
from typing import Any

import jsonschema_rs
import pytest

from app.accounts.audit import SYSTEM
from app.api import integration
from app.clock.api.routes import openapi_document
from app.clock.importing import import_due
from app.clock.models import Punch
from app.clock.review import settling
from app.db.session import Database
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch
from tests.conftest import Browser

PUNCHES = "/api/v1/clock/transactions"


class Caller:
    """An integrator with a token."""

    def __init__(self, browser: Browser, token: str) -> None:
        self.browser, self.headers = browser, {"Authorization": f"Bearer {token}"}

    async def get(self, url: str, **query: Any) -> Any:
        return await self.browser.get(url, params=query, headers=self.headers)

    async def data(self, url: str, **query: Any) -> Any:
        answer = await self.get(url, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@pytest.fixture
async def caller(visitor: Browser, token: Any) -> Caller:
    return Caller(visitor, await token("vera", "clock:read", "attendance:read", "surveys:read", "problems:read"))


@pytest.fixture
async def week(database: Database) -> None:
    """Ada (100) works five days in Vancouver; code 7 belongs to no employee."""
    async with database.transaction() as db:
        await connect(db, "America/Vancouver")
        await mirror_person(db, "100", await employ(db, "Ada", "100"), full_name="Ada Ångström")
        await mirror_person(db, "7")
        await mirror_terminal(db, "T1", alias="Gate")
        for day in ("Mon", "Tue", "Wed", "Thu", "Fri"):
            await punch(db, "100", f"I {day} 08:00, O {day} 17:00", zone="America/Vancouver")
        await punch(db, "7", "x Mon 09:00", zone="America/Vancouver", sn="T2")
    await import_due.import_due(partial(database.transaction, "main"), now=FAR)


@pytest.mark.usefixtures("week")
class TestTransactions:
    async def test_a_settled_punch_says_since_when_and_why_and_is_news(
        self, caller: Caller, database: Database
    ) -> None:
        before = (await caller.get(PUNCHES)).json()["meta"]["next_updated_since"]
        async with database.transaction() as db:
            await settling.settle(db, SYSTEM, Punch.emp_code == "7", "A test card")
        (row,) = await caller.data(PUNCHES, updated_since=before, emp_code="7")
        assert row["settled_note"] == "A test card"
        assert row["settled_at_utc"] == row["updated_at"]
        (other, *_) = await caller.data(PUNCHES, emp_code="100")
        assert (other["settled_at_utc"], other["settled_note"]) == (None, None)

    async def test_a_row_has_exactly_the_fields_of_the_contract(self, caller: Caller) -> None:
        row = (await caller.data(PUNCHES, emp_code="100", per_page=1))[0]
        assert set(row) == {
            "id", "remote_id", "emp_code", "employee_name", "terminal_sn", "terminal_alias", "punch_code", "punch_label",
            "verify_code", "verify_label", "punched_at_raw", "punched_at_local", "punched_at_utc", "uploaded_at_utc",
            "local_date", "host_attendance_id", "imported_at_utc", "import_outcome", "import_note", "gone_at_utc",
            "settled_at_utc", "settled_note", "updated_at",
        }  # fmt: skip
        assert (row["punched_at_local"], row["punched_at_utc"]) == ("2026-03-06T17:00:00", "2026-03-07T01:00:00Z")
        assert (row["local_date"], row["punch_label"], row["terminal_alias"]) == ("2026-03-06", "Check Out", "Gate")
        assert (row["import_outcome"], row["import_note"]) == ("imported", "Imported")
        assert isinstance(row["host_attendance_id"], int)
        assert row["imported_at_utc"].endswith("Z")

    async def test_an_unknown_code_keeps_its_number(self, caller: Caller) -> None:
        (row,) = await caller.data(PUNCHES, emp_code="7")
        assert (row["punch_code"], row["punch_label"], row["import_note"]) == (255, "Unknown (255)", "Not bound")
        assert row["host_attendance_id"] is None

    async def test_from_and_to_are_local_days_and_both_included(self, caller: Caller) -> None:
        rows = await caller.data(PUNCHES, **{"from": "2026-03-03", "to": "2026-03-04"})
        assert {row["local_date"] for row in rows} == {"2026-03-03", "2026-03-04"}
        assert len(rows) == 4

    async def test_pages_and_cursors_read_the_same_rows(self, caller: Caller) -> None:
        by_page = [row["id"] for page in (1, 2, 3, 4) for row in await caller.data(PUNCHES, page=page, per_page=3)]
        by_cursor: list[int] = []
        answer = (await caller.get(PUNCHES, per_page=3)).json()
        by_cursor += [row["id"] for row in answer["data"]]
        while cursor := answer["meta"]["next_cursor"]:
            answer = (await caller.get(PUNCHES, per_page=3, cursor=cursor)).json()
            by_cursor += [row["id"] for row in answer["data"]]
        assert by_page == by_cursor
        assert len(set(by_page)) == 11

    async def test_totals_are_exact_under_every_filter(self, caller: Caller) -> None:
        for query, total in (
            ({}, 11),
            ({"from": "2026-03-02", "to": "2026-03-02"}, 3),
            ({"terminal_sn": "T1"}, 10),
            ({"emp_code": "100"}, 10),
            ({"terminal_sn": "T2", "from": "2026-03-03"}, 0),
        ):
            meta = (await caller.get(PUNCHES, per_page=2, **query)).json()["meta"]
            assert (meta["total"], meta["pages"]) == (total, -(-total // 2)), query

    async def test_following_what_changed_misses_nothing(self, caller: Caller, database: Database) -> None:
        since = (await caller.get(PUNCHES)).json()["meta"]["next_updated_since"]
        async with database.transaction() as db:
            await punch(db, "100", "I Sat 08:00")
        rows = await caller.data(PUNCHES, updated_since=since)
        assert "2026-03-07" in {row["local_date"] for row in rows}

    async def test_an_open_write_holds_back_where_to_follow_from(self, caller: Caller, database: Database) -> None:
        async with database.transaction() as db:
            await punch(db, "100", "I Sun 08:00")
            since = (await caller.get(PUNCHES)).json()["meta"]["next_updated_since"]
        rows = await caller.data(PUNCHES, updated_since=since)
        assert "2026-03-08" in {row["local_date"] for row in rows}


@pytest.mark.usefixtures("week")
async def test_every_answer_fits_the_document(caller: Caller) -> None:
    document = openapi_document("http://testserver")
    for endpoint in (one for one in integration.endpoints() if not one.in_path):
        schema = document["paths"][endpoint.path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        answer = (await caller.get(endpoint.path)).json()
        jsonschema_rs.validator_for({**schema, "components": document["components"]}).validate(answer)


@pytest.mark.usefixtures("week")
async def test_the_nine_bindings_add_up_to_the_people(caller: Caller) -> None:
    status = await caller.data("/api/v1/clock/status")
    assert len(status["bindings"]) == 9
    assert sum(status["bindings"].values()) == status["counts"]["employees"] == 2
    assert status["counts"]["transactions"] == 11
    assert status["connection"]["status"] == "healthy"


async def test_a_workspace_without_a_connection_says_so(caller: Caller) -> None:
    status = await caller.data("/api/v1/clock/status")
    assert status["connection"]["configured"] is False
    assert status["connection"]["status"] == "not_configured"
    assert status["last_sync"] is None


@pytest.mark.parametrize(
    ("url", "query", "fields"),
    [
        (PUNCHES, {"form": "2026-01-01"}, ["form"]),
        (PUNCHES, {"from": "2026-02-30"}, ["from"]),
        (PUNCHES, {"from": "2026-1-1"}, ["from"]),
        (PUNCHES, {"from": "2026-03-02", "to": "2026-03-01"}, ["from"]),
        (PUNCHES, {"from": "2025-01-01", "to": "2026-03-01"}, ["to"]),
        (PUNCHES, {"page": "0"}, ["page"]),
        (PUNCHES, {"page": "1.0"}, ["page"]),
        (PUNCHES, {"page": "two", "per_page": "501"}, ["page", "per_page"]),
        (PUNCHES, {"page": "1", "cursor": "x"}, ["cursor"]),
        (PUNCHES, {"cursor": "garbage!"}, ["cursor"]),
        (PUNCHES, {"updated_since": "yesterday"}, ["updated_since"]),
        (PUNCHES, {"emp_code": "a\x00b"}, ["emp_code"]),
        (PUNCHES, {"emp_code": ["1", "2"]}, ["emp_code"]),
        ("/api/v1/clock/bindings", {"status": "married"}, ["status"]),
        ("/api/v1/clock/devices", {"page": "1"}, ["page"]),
        ("/api/v1/clock/status", {"x": "1"}, ["x"]),
        ("/api/v1/clock/analytics/summary", {"from": "2020-13-01"}, ["from"]),
    ],
)
async def test_bad_parameters_are_named_all_at_once(caller: Caller, url: str, query: Any, fields: list[str]) -> None:
    answer = await caller.get(url, **query)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "invalid_parameter")
    assert [detail["field"] for detail in error["details"]] == fields


FAR_AWAY = ("0001-01-01", "0001-01-15", "9999-12-31")


@pytest.mark.usefixtures("week")
async def test_an_instant_however_far_is_one(caller: Caller, subtests: pytest.Subtests) -> None:
    instants = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-01-01T00:00:00-23:59")
    for name, at in product(("employees", "bindings", "transactions"), instants):
        with subtests.test(f"{name} {at}"):
            rows = await caller.data(f"/api/v1/clock/{name}", updated_since=at)
            assert bool(rows) is (at < "3000")


@pytest.mark.parametrize(
    "at",
    [
        "0001-01-01T00:00:00+00:01", "0001-01-01T13:59:59+14:00", "9999-12-31T23:59:59-00:01", "9999-12-31T10:00:00-14:00",
        "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00-99:99", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:01Z", "2026-01-01T23:59:60Z",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["employees", "bindings", "transactions"])
async def test_an_instant_that_there_is_not_is_named(caller: Caller, name: str, at: str) -> None:
    answer = await caller.get(f"/api/v1/clock/{name}", updated_since=at)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["code"] == "invalid_parameter"
    assert [detail["field"] for detail in answer.json()["error"]["details"]] == ["updated_since"]


@pytest.mark.usefixtures("week")
async def test_a_day_however_far_is_no_fault(caller: Caller, subtests: pytest.Subtests) -> None:
    names, sides = ("transactions", "analytics/summary"), (("from",), ("to",), ("from", "to"))
    for name, on, bounds in product(names, FAR_AWAY, sides):
        with subtests.test(f"{name} {on} {bounds}"):
            answer = await caller.get(f"/api/v1/clock/{name}", **dict.fromkeys(bounds, on))
            if name == "analytics/summary" and bounds == ("to",) and on < "0002":
                # The thirty days that end there would begin before the first year.
                assert [detail["field"] for detail in answer.json()["error"]["details"]] == ["to"]
            else:
                assert answer.status_code == 200, answer.text


async def test_a_method_that_is_not_offered_is_405(caller: Caller) -> None:
    answer = await caller.browser.post(PUNCHES, headers=caller.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


async def test_an_unknown_address_below_the_api_is_an_envelope(visitor: Browser) -> None:
    answer = await visitor.get("/api/v1/clock/nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_the_owner_must_still_hold_the_permissions(visitor: Browser, token: Any) -> None:
    caller = Caller(visitor, await token("nora", "clock:read"))
    answer = await caller.get(PUNCHES)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope")


@pytest.mark.usefixtures("week")
async def test_a_tenant_sees_nothing_of_the_platform(visitor: Browser, token: Any) -> None:
    eve = Caller(visitor, await token("eve", "clock:read"))
    assert await eve.data(PUNCHES) == []
    assert await eve.data("/api/v1/clock/employees") == []


@pytest.mark.usefixtures("week")
async def test_the_summary_has_every_day_zeros_included(caller: Caller) -> None:
    summary = await caller.data("/api/v1/clock/analytics/summary", **{"from": "2026-03-01", "to": "2026-03-10"})
    assert [day["date"] for day in summary["days"]][:2] == ["2026-03-01", "2026-03-02"]
    assert len(summary["days"]) == 10
    assert json.dumps(summary["totals"])


async def test_answers_are_never_stored(caller: Caller) -> None:
    answer = await caller.get("/api/v1/clock/devices")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"]


async def test_the_document_needs_no_token(visitor: Browser) -> None:
    answer = await visitor.get("/api/v1/clock/openapi.json")
    assert (answer.status_code, answer.json()["openapi"]) == (200, "3.1.0")
