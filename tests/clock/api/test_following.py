"""Following what changed, as an integrator does: ask again with `next_updated_since`, and page by page with cursors."""

import base64
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.mirror.listing_rows import write_listing
from app.clock.models import Binding, ClockEmployee, Punch
from app.clock.parsing import Enrolment, ParsedEmployee, Unit
from app.clock.punches import queries
from app.db import following as watermarks
from app.db.session import Database
from app.host.people import people
from app.host.people.people import EmployeeDetails
from tests.clock.api.test_routes import PUNCHES, Caller, caller, week
from tests.clock.mirrored import employ, mirror_person, punch
from tests.host.staff import ALICE

__all__ = ["caller", "week"]
EMPLOYEES, BINDINGS, RUNS = (f"/api/v1/clock/{name}" for name in ("employees", "bindings", "sync-runs"))
LISTS = (EMPLOYEES, BINDINGS, PUNCHES)


async def since(caller: Caller, url: str) -> str:
    """Where an integrator who has read everything continues from."""
    found: str = (await caller.get(url)).json()["meta"]["next_updated_since"]
    return found


def forged(*keys: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(keys)).decode().rstrip("=")


class Following:
    """Who asks a list again for what changed."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.url, self.watermark = caller, "", ""

    async def begin(self, url: str) -> None:
        self.url, self.watermark = url, await since(self.caller, url)

    async def one_change(self) -> Any:
        """Ada's row, the only one; its `updated_at` fits the filter that found it."""
        (row,) = await self.caller.data(self.url, updated_since=self.watermark)
        assert row["emp_code"] == "100"
        assert row["updated_at"] >= self.watermark
        assert await self.caller.data(self.url, updated_since=row["updated_at"]) == [row]
        return row


def named(code: str, name: str, email: str | None = None) -> ParsedEmployee:
    """A row of the server's list of people."""
    nothing = Enrolment(fingerprint=False, face=False, palm=False, card=False, password=False)
    return ParsedEmployee(f"1{code}", code, name, None, None, None, (), email, None, True, nothing, None)


async def stamps(database: Database) -> list[Any]:
    async with database.transaction() as db:
        return list(await db.scalars(select(Punch.updated_at).order_by(Punch.id)))


@pytest.fixture
def following(caller: Caller) -> Following:
    return Following(caller)


@pytest.mark.usefixtures("week")
class TestWhereToGoOnFrom:
    async def test_a_transaction_that_has_only_read_so_far_holds_it_back(
        self, caller: Caller, database: Database
    ) -> None:
        async with database.transaction() as db:
            await db.scalar(select(Punch.id).limit(1))
            watermark = await since(caller, PUNCHES)
            await punch(db, "100", "I Sun 08:00")
        rows = await caller.data(PUNCHES, updated_since=watermark)
        assert "2026-03-08" in {row["local_date"] for row in rows}

    async def test_it_is_never_later_than_the_answer_itself(self, caller: Caller, database: Database) -> None:
        watermark = await since(caller, PUNCHES)
        async with database.transaction() as db:
            assert await db.scalar(text("SELECT CAST(:it AS text)::timestamptz <= now()"), {"it": watermark})

    async def test_it_takes_one_statement_on_the_first_page_and_none_on_the_others(
        self, caller: Caller, selects: list[str]
    ) -> None:
        cursor = (await caller.get(PUNCHES, per_page=3)).json()["meta"]["next_cursor"]
        first = [one for one in selects if "pg_stat_activity" in one]
        selects.clear()
        await caller.data(PUNCHES, per_page=3, cursor=cursor)
        assert (len(first), [one for one in selects if "pg_stat_activity" in one]) == (1, [])

    @pytest.mark.parametrize("url", LISTS)
    async def test_what_changes_behind_the_cursor_is_found_by_the_next_round(
        self, caller: Caller, database: Database, url: str
    ) -> None:
        first = (await caller.get(url, per_page=1)).json()
        (behind,) = first["data"]
        async with database.transaction() as db:
            for table in (Binding, ClockEmployee, Punch):
                await db.execute(update(table).where(table.id == behind["id"]).values(updated_at=text("now()")))
        answer = first
        while cursor := answer["meta"]["next_cursor"]:
            answer = (await caller.get(url, per_page=5, cursor=cursor)).json()
        assert answer["meta"]["next_updated_since"] == first["meta"]["next_updated_since"]
        again = await caller.data(url, updated_since=answer["meta"]["next_updated_since"])
        assert behind["id"] in {row["id"] for row in again}


class TestARenaming:
    """The names that a row shows are part of it."""

    @pytest.fixture
    async def ada(self, database: Database) -> int:
        """Ada, of a department, a position and two areas, and Linus who has nothing in common with her;
        Ada's employee."""
        async with database.transaction() as db:
            for resource, code in (("departments", "D"), ("positions", "P"), ("areas", "A"), ("areas", "B")):
                await write_listing(db, resource, 1, [Unit(f"1{code}", code, "Old", None)], {})
            host = await employ(db, "Ada", "100")
            units = {"department_code": "D", "position_code": "P", "area_codes": ["B", "A"]}
            await mirror_person(db, "100", host, full_name="Ada A.", **units)
            await mirror_person(db, "200", await employ(db, "Linus", "200"), full_name="Linus L.")
        return host

    @pytest.mark.usefixtures("ada")
    @pytest.mark.parametrize(
        ("resource", "code", "shown"),
        [
            ("departments", "D", lambda row: row["department"]["name"]),
            ("positions", "P", lambda row: row["position"]["name"]),
            ("areas", "A", lambda row: row["areas"][1]["name"]),
            ("areas", "B", lambda row: row["areas"][0]["name"]),
        ],
    )
    async def test_of_a_unit_is_a_change_of_its_people(
        self, following: Following, database: Database, resource: str, code: str, shown: Any
    ) -> None:
        await following.begin(EMPLOYEES)
        async with database.transaction() as db:
            await write_listing(db, resource, 2, [Unit(f"1{code}", code, "New", None)], {})
        assert shown(await following.one_change()) == "New"

    async def test_of_the_employee_is_a_change_of_person_and_binding(
        self, following: Following, database: Database, ada: int
    ) -> None:
        for url, shown in ((EMPLOYEES, lambda row: row["binding"]), (BINDINGS, lambda row: row)):
            await following.begin(url)
            async with database.transaction() as db:
                await people.edit(db, ALICE, ada, EmployeeDetails("100", f"New {url}"))
            assert shown(await following.one_change())["host_employee_name"] == f"New {url}"

    @pytest.mark.usefixtures("ada")
    async def test_of_the_person_on_the_clock_is_a_change_of_the_binding(
        self, following: Following, database: Database
    ) -> None:
        await following.begin(BINDINGS)
        renamed = update(ClockEmployee).where(ClockEmployee.emp_code == "100")
        async with database.transaction() as db:
            await db.execute(renamed.values(full_name="New", updated_at=text("now()")))
        assert (await following.one_change())["employee_name"] == "New"

    @pytest.mark.usefixtures("ada")
    @pytest.mark.parametrize("few", [queries.FEW, 1])
    async def test_of_the_person_on_the_clock_is_a_change_of_their_punches_which_are_not_written(
        self, caller: Caller, database: Database, monkeypatch: pytest.MonkeyPatch, few: int
    ) -> None:
        monkeypatch.setattr(queries, "FEW", few)  # both ways in which changes are counted
        async with database.transaction() as db:
            await punch(db, "100", "I 08:00, O 17:00")
            await punch(db, "200", "I 08:00")
        watermark = await since(caller, PUNCHES)
        before = await stamps(database)
        async with database.transaction() as db:
            await write_listing(db, "employees", 2, [named("100", "New"), named("200", "Linus L.")], {})
        rows = await caller.data(PUNCHES, updated_since=watermark)
        assert [(row["emp_code"], row["employee_name"]) for row in rows] == [("100", "New")] * 2
        assert min(row["updated_at"] for row in rows) >= watermark
        assert await caller.data(PUNCHES, updated_since=watermark, emp_code="200") == []
        (first,) = (answer := (await caller.get(PUNCHES, updated_since=watermark, per_page=1)).json())["data"]
        (second,) = await caller.data(PUNCHES, updated_since=watermark, cursor=answer["meta"]["next_cursor"])
        assert (answer["meta"]["total"], [first, second]) == (2, rows)
        assert await stamps(database) == before

    @pytest.mark.usefixtures("ada")
    async def test_of_the_person_on_the_clock_that_ends_within_a_request_is_not_missed(
        self, caller: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with database.transaction() as db:
            await punch(db, "100", "I 08:00")
        watermark = await since(caller, PUNCHES)
        renaming = AsyncExitStack()
        db = await renaming.enter_async_context(database.transaction())
        await write_listing(db, "employees", 2, [named("100", "New")], {})
        asked = watermarks.nothing_missed_since

        async def ends_first(of: AsyncSession) -> datetime:
            await renaming.aclose()
            return await asked(of)

        monkeypatch.setattr(watermarks, "nothing_missed_since", ends_first)
        (row,) = await caller.data(PUNCHES, updated_since=watermark)
        assert row["employee_name"] == "New"

    @pytest.mark.usefixtures("ada")
    async def test_a_listing_that_changes_no_name_changes_no_punch(self, caller: Caller, database: Database) -> None:
        async with database.transaction() as db:
            await punch(db, "100", "I 08:00")
        watermark = await since(caller, PUNCHES)
        async with database.transaction() as db:
            await write_listing(db, "employees", 2, [named("100", "Ada A.", email="ada@clock.example")], {})
        assert await caller.data(PUNCHES, updated_since=watermark) == []


@pytest.mark.usefixtures("week")
class TestCursors:
    @pytest.mark.parametrize("other", [EMPLOYEES, BINDINGS, RUNS, PUNCHES])
    @pytest.mark.parametrize("url", LISTS)
    async def test_one_lists_cursor_is_refused_by_every_other(self, caller: Caller, url: str, other: str) -> None:
        cursor = (await caller.get(url, per_page=1)).json()["meta"]["next_cursor"]
        answer = await caller.get(other, cursor=cursor)
        if other == url:
            assert answer.status_code == 200, answer.text
            return
        assert answer.status_code == 422, answer.text
        (detail,) = answer.json()["error"]["details"]
        assert detail == {
            "field": "cursor",
            "message": "The cursor belongs to another list. Send a cursor of this list.",
        }

    @pytest.mark.parametrize(
        "keys",
        [
            ("employees", "2026-01-01T00:00:00Z", 2**63),
            ("employees", "2026-01-01T00:00:00Z", -(2**70)),
            ("employees", "2026-01-01T00:00:00", 1),
            ("employees", "0001-01-01T00:00:00+14:00", 1),
            ("employees", "9999-12-31T23:59:59-14:00", 1),
            ("employees", "2026-01-01T00:00:00Z", "1"),
            ("employees", "2026-01-01T00:00:00Z"),
            ("employees",),
            (),
            ({"employees": 1}, 1, 1),
        ],
    )
    async def test_a_forged_one_is_refused(self, caller: Caller, keys: tuple[Any, ...]) -> None:
        answer = await caller.get(EMPLOYEES, cursor=forged(*keys))
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_parameter"), answer.text
        assert [detail["field"] for detail in answer.json()["error"]["details"]] == ["cursor"]

    @pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00"])
    async def test_a_forged_instant_among_the_keys_of_punches_is_refused(self, caller: Caller, at: str) -> None:
        for keys in (("2026-01-01T00:00:00Z", "2026-01-01", at, 1), (at, "2026-01-01", "2026-01-01T00:00:00Z", 1)):
            answer = await caller.get(PUNCHES, cursor=forged("transactions", *keys))
            assert answer.status_code == 422, answer.text
