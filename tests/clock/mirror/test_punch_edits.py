"""Punches that are edited on the server, over real HTTP: the mirror continues, records follow, and *Why?*
says what was before."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert, update

from app.accounts.audit import COMMAND_LINE
from app.clock import purge
from app.clock.models import Device, Punch, PunchChange
from app.clock.review import punch_history
from app.clock.review.why import why
from app.clock.sync import backfill
from app.dates import PageZone
from app.host.attendance import day_locks
from app.host.models import AttendanceRecord
from tests.clock.mirrored import employ
from tests.clock.syncing import ZONE, Site, site

PAIRS = """
    SELECT t.id, t.remote_id::bigint AS number, t.emp_code, t.punched_at_utc AS at, r.id AS record_id, r.clock_in, r.clock_out
    FROM clock_transactions t JOIN attendance_records r ON r.id = t.host_attendance_id AND r.clock_out = t.punched_at_utc
    WHERE t.punched_at_utc < :before ORDER BY t.punched_at_utc DESC, t.id
"""
HOUR = timedelta(hours=1)
# Marks bear the database's own time: the import's has to be later.
LATER = datetime(2036, 11, 20, 11, 0, tzinfo=UTC)


@dataclass
class Employed:
    """A site whose people are employees, synced and imported once."""

    site: Site
    employees: dict[str, int]

    async def clock_outs(self) -> Any:
        """Imported clock-outs of finished days, the latest first, with their records."""
        return await self.site.rows(PAIRS, before=self.site.now - timedelta(days=1))

    async def record(self, record_id: int) -> Any:
        (found,) = await self.site.rows("SELECT * FROM attendance_records WHERE id = :id", id=record_id)
        return found

    async def punch(self, punch_id: int) -> Any:
        (found,) = await self.site.rows("SELECT * FROM clock_transactions WHERE id = :id", id=punch_id)
        return found

    def move(self, out: Any, by: timedelta) -> None:
        assert self.site.world.edit_punch(out.number, punched=int((out.at + by).timestamp()))

    async def why(self, punch_id: int) -> Any:
        async with self.site.parts.database.transaction() as db:
            return await why(db, punch_id, self.site.now)


@asynccontextmanager
async def employed(parts, employees=4, days=9):
    async with site(parts, "onprem", employees=employees, days=days, now=LATER) as here:
        async with parts.database.transaction() as db:
            people = {one.code: await employ(db, f"Person {one.code}", one.code) for one in here.world.people}
        assert (await here.sync()).status == "succeeded"
        yield Employed(here, people)


async def test_a_punch_with_another_time_is_written_and_its_record_brought_up_to_date(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        here.move(out, -HOUR)
        end = await here.site.sync_punches()
        assert (end.status, end.resources["transactions"]["updated"]) == ("succeeded", 1)
        assert (await here.record(out.record_id)).clock_out == out.at - HOUR
        punch = await here.punch(out.id)
        assert (punch.import_outcome, punch.host_attendance_id) == ("imported", out.record_id)
        assert (punch.edited_record_id, punch.edited_from_utc) == (None, None)
        await here.site.holds_everything()
        again = await here.site.sync_punches()
        assert (again.status, again.resources["transactions"]["updated"]) == ("succeeded", 0)


async def test_why_says_what_a_punch_was_until_when(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        was = out.at.astimezone(ZoneInfo(ZONE))
        here.move(out, HOUR)
        await here.site.sync_punches()
        (sentence,) = (await here.why(out.id)).history
        assert sentence.startswith(f"It was {was:%H:%M}")
        assert "on the server until" in sentence
        assert f"Record {out.record_id} was made with that." in sentence


async def test_why_calls_the_terminal_that_a_punch_had_as_people_call_it(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        async with parts.database.transaction() as db:
            zone = PageZone.at(ZoneInfo(ZONE), LATER)
            await db.execute(insert(Device).values(sn="OLD1", alias="Old gate"))
            for serial in ("OLD1", "OLD2"):
                was, now = {"terminal_sn": serial}, {"terminal_sn": "T9"}
                await db.execute(
                    insert(PunchChange).values(punch_id=out.id, run_id=1, seen_at=LATER, before=was, after=now)
                )
            told = await punch_history.told(db, out.id, zone)
    assert [one.partition(" on the server")[0] for one in told] == ["It was terminal OLD2", "It was terminal Old gate"]


async def test_an_edited_punch_is_settled_no_more_before_the_import_comes_to_it(parts):
    async with employed(parts) as here:
        moved, stays = (await here.clock_outs())[:2]
        async with parts.database.transaction() as db:
            await db.execute(
                update(Punch).where(Punch.id.in_([moved.id, stays.id])).values(settled_at_utc=LATER, settled_by="Bob")
            )
        here.move(moved, HOUR)
        await here.site.sync_punches(**{"import": False})
        punch = await here.punch(moved.id)
        assert (punch.import_outcome, punch.settled_at_utc, punch.settled_by) == (None, None, None)
        assert (await here.punch(stays.id)).settled_by == "Bob"


async def test_a_record_that_is_approved_or_on_a_locked_day_stays_and_its_punch_says_why(parts):
    async with employed(parts) as here:
        approved, *others = await here.clock_outs()
        closed = next(one for one in others if approved.at.date() != one.at.date())
        async with parts.database.transaction() as db:
            await db.execute(
                update(AttendanceRecord).where(AttendanceRecord.id == approved.record_id).values(status="approved")
            )
            day = (await here.record(closed.record_id)).workday
            await day_locks.lock(db, COMMAND_LINE, day, day)
        here.move(approved, HOUR)
        here.move(closed, HOUR)
        assert (await here.site.sync_punches()).status == "succeeded"
        words = [(await here.punch(one.id)).import_outcome for one in (approved, closed)]
        assert words == ["record_decided", "date_locked"]
        for one in (approved, closed):
            assert (await here.record(one.record_id)).clock_out == one.at


async def test_a_punch_that_the_server_gave_to_another_person_arrives_late_there(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        other = next(index for index, one in enumerate(here.site.world.people) if one.code != out.emp_code)
        assert here.site.world.edit_punch(out.number, person=other)
        assert (await here.site.sync_punches()).status == "succeeded"
        punch = await here.punch(out.id)
        assert punch.emp_code == here.site.world.people[other].code
        assert (punch.import_outcome, punch.host_attendance_id) == ("arrived_late", out.record_id)
        assert (await here.record(out.record_id)).clock_out == out.at
        assert f"code {out.emp_code}" in (await here.why(out.id)).history[0]


async def test_two_rows_with_both_are_set_aside_and_everything_else_continues(parts):
    async with employed(parts, employees=12) as here:
        outs = await here.clock_outs()
        turn_over(here, outs[:2])
        here.move(outs[2], HOUR)
        here.site.world.punch(0, 0, here.site.world.now - 60, 0)
        end = await here.site.sync_punches()
        assert (end.status, end.code) == ("partial", "TC-SHAPE")
        counts = end.resources["transactions"]
        assert (counts["created"], counts["updated"], counts["set_aside"]) == (1, 1, 2)
        for out in outs[:2]:
            assert (await here.punch(out.id)).emp_code == out.emp_code
        rows = await here.site.rows("SELECT raw, reason FROM clock_set_aside")
        assert all("restored" in row.reason for row in rows)
        assert {json.loads(row.raw)["id"] for row in rows} == {out.number for out in outs[:2]}


def turn_over(here: Employed, outs: Any) -> None:
    """Another person and another time."""
    for out in outs:
        other = next(index for index, one in enumerate(here.site.world.people) if one.code != out.emp_code)
        at = int((out.at + 2 * HOUR).timestamp())
        assert here.site.world.edit_punch(out.number, person=other, punched=at)


async def test_three_rows_with_both_and_one_in_a_hundred_are_a_restored_database(parts):
    async with employed(parts, employees=12) as here:
        outs = [one for one in await here.clock_outs() if here.site.now - one.at < timedelta(days=3)]
        turn_over(here, outs[:3])
        end = await here.site.sync_punches()
        assert (end.status, end.code) == ("failed", "TC-SHAPE")
        assert "Start over" in (end.message or "")
        async with parts.database.transaction() as db:
            await backfill.start_over(db, COMMAND_LINE, date(2036, 10, 1), here.site.now)
        assert (await here.site.sync_punches()).status == "succeeded"


async def test_what_is_kept_of_a_punch_goes_with_it(parts):
    async with employed(parts, days=70) as here:
        out = (await here.clock_outs())[0]
        here.move(out, HOUR)
        await here.site.sync_punches()
        assert await here.site.scalar("SELECT count(*) FROM clock_punch_changes") == 1
        async with parts.database.transaction() as db:
            await db.execute(update(Punch).values(judge_at=None, import_outcome="not_bound"))
        await here.site.set(retain_transactions_days=62)
        await purge.purge(parts.database, "main", here.site.now + timedelta(days=200))
        assert await here.site.punches() == 0
        assert await here.site.scalar("SELECT count(*) FROM clock_punch_changes") == 0


@pytest.mark.parametrize("profile", ["onprem", "cloud"])
async def test_an_edited_hour_is_an_edit_on_either_server(parts, profile):
    async with site(parts, profile, employees=3, days=3) as here:
        await here.sync_punches()
        punch = here.world.punches[len(here.world.punches) - 1]
        assert here.world.edit_punch(punch.number, punched=punch.punched - 3600)
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()
        assert await here.scalar("SELECT count(*) FROM clock_punch_changes") == 1
