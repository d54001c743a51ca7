"""Attendance as an integrator reads and follows it."""

import asyncio
import random
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.db import following
from app.db.session import Database
from app.host.attendance import day_locks, records
from app.host.attendance.feed import feed
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord, DayLock, Employee
from app.host.people import people
from tests.clock.api.test_routes import PUNCHES, Caller, week
from tests.conftest import Browser
from tests.host.staff import ALICE

__all__ = ["week"]
URL = "/api/v1/attendance"


@pytest.fixture
async def payroll(visitor: Browser, token: Any) -> Caller:
    return Caller(visitor, await token("alice", "attendance:read", "clock:read"))


async def monday(payroll: Caller) -> Any:
    return (await payroll.data(URL))[0]


async def watermark(payroll: Caller) -> str:
    found: str = (await payroll.get(URL)).json()["meta"]["next_updated_since"]
    return found


@pytest.mark.usefixtures("week")
class TestRecords:
    async def test_a_record_says_whose_hours_it_holds_and_which_punches(self, payroll: Caller) -> None:
        row = await monday(payroll)
        assert row["employee"] | {"id": 0} == {"id": 0, "id_number": "100", "name": "Ada", "department": None}
        assert (row["clock_in_local"][10:], row["clock_out_local"][10:]) == ("T08:00:00", "T17:00:00")
        assert row["clock_in_utc"].endswith("Z")
        assert (row["worked_minutes"], row["break_minutes"], row["breaks"]) == (540, 0, [])
        assert (row["status"], row["source"], row["kind"]) == ("pending", "clock", "regular")
        assert (row["deleted"], row["locked"], row["edited_by_hand"]) == (False, False, False)
        punches = [one for one in await payroll.data(PUNCHES) if one["host_attendance_id"] == row["id"]]
        assert sorted(row["punch_ids"]) == sorted(one["id"] for one in punches)
        assert len(punches) == 2

    async def test_an_open_record_has_no_minutes_and_a_break_is_taken_off(
        self, payroll: Caller, database: Database
    ) -> None:
        row = await monday(payroll)
        async with database.transaction() as db:
            record = await db.get_one(AttendanceRecord, row["id"])
            noon = record.clock_in + timedelta(hours=4)
            pause = (noon, noon + timedelta(minutes=30, seconds=30))
            await records.edit(db, ALICE, row["id"], Hours(record.clock_in, record.clock_out, (pause,)), note="")
            open_one = (await db.scalars(select(AttendanceRecord).order_by(AttendanceRecord.id))).all()[1]
            await records.edit(db, ALICE, open_one.id, Hours(open_one.clock_in, None), note="")
        first, second, *_ = await payroll.data(URL)
        assert (first["worked_minutes"], first["break_minutes"], first["edited_by_hand"]) == (510, 31, True)
        assert first["breaks"][0]["start_local"][10:] == "T12:00:00"
        assert (second["worked_minutes"], second["clock_out_utc"], second["clock_out_local"]) == (None, None, None)

    @pytest.mark.parametrize(
        ("query", "number"),
        [
            ({"status": "approved"}, 0),
            ({"status": "pending"}, 5),
            ({"department": "Stock"}, 0),
            ({"employee": 10**9}, 0),
            ({"from": "1999-01-01", "to": "1999-01-02"}, 0),
            ({"per_page": 2}, 2),
        ],
    )
    async def test_a_filter_narrows_the_list(self, payroll: Caller, query: dict[str, Any], number: int) -> None:
        assert len(await payroll.data(URL, **query)) == number

    async def test_a_cursor_leads_through_all_of_them_once(self, payroll: Caller) -> None:
        seen: list[int] = []
        answer = (await payroll.get(URL, per_page=2)).json()
        assert (answer["meta"]["total"], answer["meta"]["pages"]) == (5, 3)
        seen += [row["id"] for row in answer["data"]]
        while cursor := answer["meta"]["next_cursor"]:
            answer = (await payroll.get(URL, per_page=2, cursor=cursor)).json()
            seen += [row["id"] for row in answer["data"]]
        assert len(seen) == len(set(seen)) == 5

    async def test_beyond_what_is_counted_a_cursor_is_asked_for(
        self, payroll: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("app.api.paging.MOST_COUNTED", 3)
        meta = (await payroll.get(URL, per_page=2)).json()["meta"]
        assert "total" not in meta
        assert meta["next_cursor"]
        refused = await payroll.get(URL, per_page=2, page=3)
        assert refused.status_code == 422
        assert "Read on with `cursor`" in refused.text


@pytest.mark.usefixtures("week")
class TestFollowing:
    async def test_what_is_deleted_comes_once_more_as_deleted(self, payroll: Caller, database: Database) -> None:
        row, since = await monday(payroll), await watermark(payroll)
        async with database.transaction() as db:
            await records.remove(db, ALICE, [row["id"]])
        (gone,) = await payroll.data(URL, updated_since=since)
        assert (gone["id"], gone["deleted"]) == (row["id"], True)
        assert row["id"] not in [one["id"] for one in await payroll.data(URL)]

    async def test_a_new_name_is_news_of_all_records_of_the_person(self, payroll: Caller, database: Database) -> None:
        since = await watermark(payroll)
        assert await payroll.data(URL, updated_since=since) == []
        async with database.transaction() as db:
            ada = (await db.scalars(select(Employee))).one()
            await people.edit(db, ALICE, ada.id, people.EmployeeDetails("100", "Ada Byron", department="Stock"))
        assert {row["employee"]["name"] for row in await payroll.data(URL, updated_since=since)} == {"Ada Byron"}
        assert len(await payroll.data(URL, updated_since=since)) == 5
        assert len(await payroll.data(URL, department="Stock")) == 5

    async def test_a_day_that_is_locked_or_opened_is_news(self, payroll: Caller, database: Database) -> None:
        day = date.fromisoformat((await monday(payroll))["workday"])
        since = await watermark(payroll)
        async with database.transaction() as db:
            await day_locks.lock(db, ALICE, day, day)
        assert [row["locked"] for row in await payroll.data(URL, updated_since=since)] == [True]
        since = await watermark(payroll)
        async with database.transaction() as db:
            await day_locks.unlock(db, ALICE, day, day)
        assert [row["locked"] for row in await payroll.data(URL, updated_since=since)] == [False]

    async def test_a_day_that_the_version_before_locks_during_an_update_is_news(
        self, payroll: Caller, database: Database
    ) -> None:
        """It writes the lock, and nothing into `day_lock_changes`."""
        day = date.fromisoformat((await monday(payroll))["workday"])
        since = await watermark(payroll)
        async with database.transaction() as db:
            db.add(DayLock(day=day, locked_by="Alice"))
        assert [row["locked"] for row in await payroll.data(URL, updated_since=since)] == [True]

    @pytest.mark.parametrize("query", [{"employee": 1}, {"department": "Stock"}, {"status": "pending"}])
    async def test_what_a_record_can_leave_is_not_followed(self, payroll: Caller, query: dict[str, Any]) -> None:
        since = await watermark(payroll)
        refused = await payroll.get(URL, updated_since=since, **query)
        assert refused.status_code == 422
        assert "Follow all records" in refused.text
        assert [one["field"] for one in refused.json()["error"]["details"]] == list(query)
        assert (await payroll.get(URL, **query)).status_code == 200

    async def test_days_narrow_what_is_followed(self, payroll: Caller) -> None:
        since = (await monday(payroll))["updated_at"]
        assert len(await payroll.data(URL, updated_since=since)) == 5
        assert await payroll.data(URL, updated_since=since, to="1999-01-02") == []

    async def test_what_commits_late_is_not_missed(self, payroll: Caller, database: Database) -> None:
        row = await monday(payroll)
        async with database.transaction() as late:
            await records.remove(late, ALICE, [row["id"]])
            since = await watermark(payroll)
            assert await payroll.data(URL, updated_since=since) == []
        assert [one["id"] for one in await payroll.data(URL, updated_since=since)] == [row["id"]]

    async def test_many_writers_and_one_reader_end_with_the_same(self, payroll: Caller, database: Database) -> None:
        """Each writer decides on records, and deletes some;
        the reader follows meanwhile and holds at the end what the tables hold."""
        async with database.transaction() as db:
            ada = (await db.scalars(select(Employee.id))).one()
            first = (await db.scalars(select(AttendanceRecord).order_by(AttendanceRecord.id))).first()
            assert first is not None
            made = [
                AttendanceRecord(
                    employee_id=ada,
                    workday=first.workday + timedelta(days=10 + n),
                    clock_in=first.clock_in + timedelta(days=10 + n),
                    clock_out=first.clock_in + timedelta(days=10 + n, hours=8),
                    source="manual",
                )
                for n in range(60)
            ]
            db.add_all(made)
            await db.flush()
            ids = [one.id for one in made]
        held: dict[int, Any] = {}
        since = await watermark(payroll)
        await self._read(payroll, held, None)
        random.Random(7).shuffle(ids)
        writers = [asyncio.create_task(self._write(database, ids[n::3], n)) for n in range(3)]
        while not all(one.done() for one in writers):
            since = await self._read(payroll, held, since)
        await asyncio.gather(*writers)
        await self._read(payroll, held, since)
        async with database.transaction() as db:
            stored = {one.id: one for one in await db.scalars(select(AttendanceRecord))}
        assert set(held) == set(stored)
        for number, row in held.items():
            expected = (stored[number].deleted_at is not None, stored[number].status)
            assert (row["deleted"], row["status"]) == expected, number
        assert sum(row["deleted"] for row in held.values()) == 15

    @staticmethod
    async def _read(payroll: Caller, held: dict[int, Any], since: str | None) -> str:
        """A round: all pages of what changed since."""
        query: dict[str, Any] = {"updated_since": since} if since else {}
        answer = (await payroll.get(URL, per_page=7, **query)).json()
        held.update({row["id"]: row for row in answer["data"]})
        while cursor := answer["meta"]["next_cursor"]:
            answer = (await payroll.get(URL, per_page=7, cursor=cursor, **query)).json()
            held.update({row["id"]: row for row in answer["data"]})
        following: str = answer["meta"]["next_updated_since"]
        return following

    @staticmethod
    async def _write(database: Database, ids: list[int], n: int) -> None:
        for place, number in enumerate(ids):
            async with database.transaction() as db:
                await records.decide(db, ALICE, [number], "approved")
                await asyncio.sleep(0)
                if place % 4 == 0:
                    await records.remove(db, ALICE, [number])


async def test_the_instant_to_follow_from_is_older_than_the_names_that_were_read(
    payroll: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody is renamed right after the names were read: then the next round begins before that."""
    asked: list[str] = []
    known = following.nothing_missed_since

    async def noted(db: Any) -> Any:
        asked.append("instant")
        return await known(db)

    async def noted_feed(*arguments: Any) -> Any:
        asked.append("names")
        return await feed(*arguments)

    monkeypatch.setattr("app.db.following.nothing_missed_since", noted)
    monkeypatch.setattr("app.clock.api.paging.feed", noted_feed)
    await payroll.data(URL)
    assert asked == ["instant", "names"]
