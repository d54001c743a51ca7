"""Taking back and moving what a code's punches made: what goes, what stays and why, what the punches show,
in slices and at once."""

import asyncio
from collections.abc import Iterable
from datetime import date, timedelta
from functools import partial

import pytest
from sqlalchemy import BigInteger, func, select, text, update

from app import jobs
from app.accounts.audit import Actor
from app.accounts.models import AuditEntry, Job
from app.clock.bindings import actions as bindings
from app.clock.bindings import undoing
from app.clock.models import Punch
from app.clock.review import long_work
from app.db.session import Database
from app.errors import Conflict
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from app.long_acts import acts as long_acts
from app.long_acts import progress as progress_of
from app.long_acts.acts import ItemOutcome
from app.long_acts.models import LongAct, LongActItem
from app.long_acts.progress import Progress
from tests.clock.mirrored import employ, everything_due, mirror_person, outcomes
from tests.clock.resolved import ada_works, import_all, record_id, records_of, then
from workers import claims

BOB = Actor(2, "Bob Brandt")
# The names of the first version with long acts: its workers take these jobs alone.
OLDER_JOBS = {"clock_long_act", "clock_purge", "clock_sync", "housekeeping", "long_act"}
WEEK = "I Mon 08:00, O Mon 17:00, I Tue 08:00, O Tue 17:00, I Wed 08:00, O Wed 17:00"


async def person_of(database: Database, code: str = "100") -> int:
    async with database.transaction() as db:
        return await bindings.id_of_code(db, code)


async def clear(database: Database, *codes: str) -> Progress:
    ids = [await person_of(database, code) for code in codes or ("100",)]
    async with database.transaction() as db:
        _, progress = await undoing.clear(db, BOB, ids)
    await import_all(database)
    return progress


async def rebind(database: Database, host: int, undo: undoing.Undo, code: str = "100") -> Progress:
    who = await person_of(database, code)
    async with database.transaction() as db:
        progress = await undoing.bind(db, BOB, who, host, undo)
    await import_all(database)
    return progress


async def hire(database: Database, name: str, code: str | None = None) -> int:
    async with database.transaction() as db:
        found = await employ(db, name)
        if code:
            await mirror_person(db, code, found)
    return found


async def words(database: Database, code: str = "100") -> list[str | None]:
    async with database.transaction() as db:
        return [word for _, word in await outcomes(db, code)]


async def left(database: Database, act_id: int) -> dict[int, str]:
    async with database.transaction() as db:
        return {row.item_id: row.became for row in await progress_of.left(db, act_id)}


async def forgotten(database: Database) -> Iterable[object]:
    """Whatever a released punch still remembers of a record."""
    async with database.transaction() as db:
        rows = await db.execute(select(Punch.host_attendance_id, Punch.imported_at_utc, Punch.imported_role))
        return {one for row in rows for one in row}


class TestClearing:
    async def test_the_records_go_and_the_punches_forget_them(self, database: Database) -> None:
        await ada_works(database, WEEK)
        progress = await clear(database)
        assert (progress.total, progress.done, progress.finished_at is not None) == (3, 3, True)
        assert await records_of(database) == []
        assert await words(database) == ["not_bound"] * 6
        assert await forgotten(database) == {None}

    async def test_bound_again_the_records_are_made_again(self, database: Database) -> None:
        """`attendance_deleted` would ask for a Retry of each."""
        ada = await ada_works(database, WEEK)
        await clear(database)
        await rebind(database, ada, "take_back")
        assert len(await records_of(database)) == 3
        assert await words(database) == ["imported"] * 6

    async def test_decided_edited_and_locked_records_stay_and_say_why(self, database: Database) -> None:
        await ada_works(database, f"{WEEK}, I Thu 08:00, O Thu 17:00")
        monday, tuesday, wednesday = [await record_id(database, place) for place in range(3)]
        async with database.transaction() as db:
            await attendance.decide(db, BOB, [monday], "approved")
            stands = (await db.execute(select(*attendance.RECORD).where(AttendanceRecord.id == tuesday))).one()
            await attendance.edit(db, BOB, tuesday, Hours(stands.clock_in, stands.clock_out.replace(hour=18)))
            await day_locks.lock(db, BOB, date(2026, 3, 4), date(2026, 3, 4))
        progress = await clear(database)
        assert (progress.total, progress.done) == (4, 1)
        assert await left(database, progress.id) == {monday: "decided", tuesday: "edited", wednesday: "locked"}
        assert len(await records_of(database)) == 3
        assert await words(database) == ["imported"] * 6 + ["not_bound"] * 2

    async def test_a_record_that_another_code_of_the_person_shares_stays_until_both_are_cleared(
        self, database: Database
    ) -> None:
        ada = await ada_works(database, "I 08:00")
        async with database.transaction() as db:
            await mirror_person(db, "101", ada)
        await then(database, "O 17:00", "101")
        progress = await clear(database)
        assert list((await left(database, progress.id)).values()) == ["shared"]
        assert (await clear(database, "101")).done == 1
        assert await forgotten(database) == {None}

    async def test_codes_cleared_together_share_nothing_with_one_that_stays(self, database: Database) -> None:
        ada = await ada_works(database, "I 08:00")
        async with database.transaction() as db:
            await mirror_person(db, "101", ada)
        await then(database, "O 17:00", "101")
        assert (await clear(database, "100", "101")).done == 1

    async def test_what_waited_beside_a_record_that_went_is_judged_again(self, database: Database) -> None:
        """The code is Ben's now; its record is still Ada's, and keeps the punches of her other code out."""
        ada = await ada_works(database, "I 08:00, O 17:00")
        ben = await hire(database, "Ben")
        async with database.transaction() as db:
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), ben)
            await mirror_person(db, "101", ada)
        await then(database, "I 09:00, O 11:00", "101")
        assert await words(database, "101") == ["overlaps", "overlaps"]
        await clear(database)
        assert await words(database, "101") == ["imported", "imported"]

    async def test_a_record_that_its_punches_left_when_they_were_edited_on_the_server_goes_too(
        self, database: Database
    ) -> None:
        await ada_works(database, "I 08:00, O 17:00")
        left_it = {
            "host_attendance_id": None,
            "edited_record_id": await record_id(database),
            "import_outcome": "record_decided",
        }
        async with database.transaction() as db:
            await db.execute(update(Punch).values(left_it))
        assert (await clear(database)).done == 1
        assert await forgotten(database) == {None}
        async with database.transaction() as db:
            assert set(await db.scalars(select(Punch.edited_record_id))) == {None}

    async def test_each_record_is_told_in_the_audit(self, database: Database) -> None:
        ada = await ada_works(database, "I 08:00, O 17:00")
        gone = await record_id(database)
        await clear(database)
        async with database.transaction() as db:
            entry = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "clock.take_back"))).one()
            deleted_by = await db.scalar(select(AttendanceRecord.deleted_by))
        assert (entry.subject_type, entry.subject_id, entry.after) == ("attendance", str(gone), {"deleted": True})
        assert (entry.before["employee_id"], entry.before["status"], entry.actor_name) == (ada, "pending", BOB.name)
        assert deleted_by == BOB.name


class TestRebinding:
    async def test_taken_back_the_punches_are_judged_as_the_new_person_s(self, database: Database) -> None:
        await ada_works(database, WEEK)
        ben = await hire(database, "Ben")
        assert (await rebind(database, ben, "take_back")).done == 3
        assert [owner for owner, _ in await records_of(database)] == [ben] * 3
        assert await words(database) == ["imported"] * 6

    async def test_moved_the_very_records_get_the_new_owner_and_the_punches_stay_imported(
        self, database: Database
    ) -> None:
        ada = await ada_works(database, WEEK)
        ben, first = await hire(database, "Ben"), await record_id(database)
        assert (await rebind(database, ben, "move")).done == 3
        assert [owner for owner, _ in await records_of(database)] == [ben] * 3
        assert (await record_id(database), await words(database)) == (first, ["imported"] * 6)
        async with database.transaction() as db:
            entry = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "clock.move_record"))).first()
        assert entry is not None
        assert (entry.before, entry.after) == ({"employee_id": ada}, {"employee_id": ben})

    async def test_what_an_earlier_rebinding_left_can_be_moved_later(self, database: Database) -> None:
        await ada_works(database, "I 08:00, O 17:00")
        ben, cleo = await hire(database, "Ben"), await hire(database, "Cleo")
        async with database.transaction() as db:
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), ben)
        await import_all(database)
        assert await words(database) == ["arrived_late", "arrived_late"]
        assert (await rebind(database, cleo, "move")).done == 1
        assert await words(database) == ["imported", "imported"]

    async def test_a_record_that_overlaps_one_of_the_new_person_is_not_moved_and_can_be_taken_back(
        self, database: Database
    ) -> None:
        await ada_works(database, WEEK)
        ben = await hire(database, "Ben", "200")
        await then(database, "I Tue 16:00, O Tue 20:00, I Wed 17:00, O Wed 18:00", "200")
        tuesday = await record_id(database, 1)
        async with database.transaction() as db:
            foretold = await undoing.foretell(db, ["100"], ben)
        assert (foretold.total, foretold.done_by("move"), foretold.done_by("take_back")) == (3, 2, 3)
        assert (foretold.left_by("move"), foretold.left_by("take_back")) == ({"overlaps": 1}, {})
        progress = await rebind(database, ben, "move")
        assert await left(database, progress.id) == {tuesday: "overlaps"}
        assert await words(database) == ["imported"] * 2 + ["arrived_late"] * 2 + ["imported"] * 2

    async def test_records_of_two_people_that_overlap_each_other_do_not_both_move(self, database: Database) -> None:
        """The code was Ada's, then Ben's; it is Cleo's."""
        await ada_works(database, "I 08:00, O 17:00")
        ben, cleo = await hire(database, "Ben"), await hire(database, "Cleo")
        async with database.transaction() as db:
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), ben)
        await then(database, "oi 17:30, oo 20:00")
        async with database.transaction() as db:
            second = await db.scalar(select(func.max(AttendanceRecord.id)))
            early = text(
                "UPDATE attendance_records SET kind = 'regular', clock_in = clock_in - interval '2 hours' WHERE id = :id"
            )
            await db.execute(early, {"id": second})
            written = text(
                "UPDATE clock_imported_records SET clock_in = clock_in - interval '2 hours' WHERE record_id = :id"
            )
            await db.execute(written, {"id": second})
        progress = await rebind(database, cleo, "move")
        assert (progress.done, await left(database, progress.id)) == (1, {second: "overlaps"})

    async def test_leaving_is_still_there(self, database: Database) -> None:
        await ada_works(database, "I 08:00, O 17:00")
        ben = await hire(database, "Ben")
        async with database.transaction() as db:
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), ben)
        await import_all(database)
        assert await words(database) == ["arrived_late", "arrived_late"]

    async def test_a_refused_binding_undoes_nothing(self, database: Database) -> None:
        ada = await ada_works(database, "I 08:00, O 17:00")
        with pytest.raises(Conflict):
            await rebind(database, ada, "take_back")
        async with database.transaction() as db:
            assert await db.scalar(select(func.count()).select_from(LongAct)) == 0
        assert len(await records_of(database)) == 1


async def test_undoing_and_imports_at_the_same_time_do_not_block_each_other(database: Database) -> None:
    """Each holds the employees before it marks a punch; the other way round two of them would wait for each other."""
    ada = await ada_works(database, WEEK)
    ben = await hire(database, "Ben")
    for owner, other in ((ben, ada), (ada, ben)) * 3:
        async with database.transaction() as db:
            await everything_due(db)
        await asyncio.gather(rebind(database, owner, "take_back"), import_all(database), import_all(database))
        assert [one for one, _ in await records_of(database)] == [owner] * 3, other
    assert await words(database) == ["imported"] * 6


class TestInSlices:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is said of a thousand holds of two."""
        monkeypatch.setattr(long_acts, "INLINE_LIMIT", 2)
        monkeypatch.setattr(long_acts, "SLICE", 2)

    async def carry_on(self, database: Database, act_id: int) -> None:
        await long_work.carry_on(partial(database.transaction, "main"), act_id)
        await import_all(database)

    async def test_many_records_are_left_to_a_job_and_the_link_ends_at_once(self, database: Database) -> None:
        await ada_works(database, WEEK)
        progress = await clear(database)
        assert (progress.total, progress.looked_at, progress.finished_at) == (3, 0, None)
        async with database.transaction() as db:
            job = (await db.scalars(select(Job).where(Job.name == "clock_long_act"))).one()
            assert await db.scalar(select(progress_of.newest("take_back"))) == progress.id
        assert job.arguments == {"act_id": progress.id}
        await self.carry_on(database, progress.id)
        assert await words(database) == ["not_bound"] * 6
        async with database.transaction() as db:
            done = await progress_of.read(db, progress.id)
        assert (done.done, done.finished_at is not None) == (3, True)

    async def test_killed_after_a_slice_the_next_worker_continues_and_nothing_is_done_twice(
        self, database: Database
    ) -> None:
        await ada_works(database, WEEK)
        progress = await clear(database)
        async with database.transaction() as db:
            assert await long_acts.resume(db, progress.id, long_work.WORKS)
        assert len(await records_of(database)) == 1
        for _ in range(2):
            await self.carry_on(database, progress.id)
        assert await records_of(database) == []
        async with database.transaction() as db:
            told = await db.scalar(select(func.count()).where(AuditEntry.act == "clock.take_back"))
        assert told == 3

    async def test_records_are_not_moved_once_the_code_is_somebody_else_s(self, database: Database) -> None:
        await ada_works(database, WEEK)
        ben, cleo = await hire(database, "Ben"), await hire(database, "Cleo")
        progress = await rebind(database, ben, "move")
        async with database.transaction() as db:
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), cleo)
        await self.carry_on(database, progress.id)
        assert set((await left(database, progress.id)).values()) == {"rebound"}

    async def test_a_record_that_went_meanwhile_is_left_alone(self, database: Database) -> None:
        await ada_works(database, WEEK)
        progress = await clear(database)
        first = await record_id(database)
        async with database.transaction() as db:
            await db.execute(update(AttendanceRecord).where(AttendanceRecord.id == first).values(deleted_at=func.now()))
        await self.carry_on(database, progress.id)
        assert await left(database, progress.id) == {first: "gone"}

    async def test_where_the_punches_are_very_many_the_job_names_the_records_too(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(undoing, "MOST_LINKED", 5)
        await ada_works(database, WEEK)
        ben = await hire(database, "Ben")
        async with database.transaction() as db:
            assert not (await undoing.foretell(db, ["100"])).is_known
        progress = await clear(database)
        assert not progress.counted
        assert await self.queued(database) == [f"clock_unnamed_act:{progress.id}"]
        async with database.transaction() as db:
            assert await db.scalar(select(func.count()).select_from(LongActItem)) == 0
            await bindings.bind(db, BOB, await bindings.id_of_code(db, "100"), ben)
        # What the import makes for the new owner before the job begins is not meant.
        await then(database, "I Thu 08:00, O Thu 17:00")
        await import_all(database)
        assert [one for one, _ in await records_of(database)].count(ben) == 1
        await self.carry_on(database, progress.id)
        async with database.transaction() as db:
            done = await progress_of.read(db, progress.id)
        assert (done.total, done.done, done.left, done.finished_at is not None) == (3, 3, {}, True)
        assert {one for one, _ in await records_of(database)} == {ben}

    @pytest.mark.parametrize("noted_by", ["older", "new"])
    @pytest.mark.parametrize(
        "workers", ["older new new", "new older new", "new new older", "new older older", "older older older"]
    )
    async def test_what_workers_of_an_older_version_did_is_counted_too(
        self, database: Database, monkeypatch: pytest.MonkeyPatch, workers: str, noted_by: str
    ) -> None:
        monkeypatch.setattr(long_acts, "SLICE", 1)
        await ada_works(database, WEEK)
        act_id = (await clear(database)).id
        if noted_by == "older":
            async with database.transaction() as db:
                await db.execute(update(LongAct).values(total=None))
        for number, worker in enumerate(workers.split(), 1):
            await self.slice(database, act_id, worker)
            if worker == "new":
                async with database.transaction() as db:
                    kept = (await db.execute(select(LongAct.total, LongAct.counts))).one()
                assert kept == (3, {"done": number})
        async with database.transaction() as db:
            both = [await progress_of.read(db, act_id)]
            both += await progress_of.newest_of_all(db, ["take_back"], 20, over=True)
        for told in both:
            assert (told.counted, told.total, told.done, told.looked_at) == (True, 3, 3, 3)

    async def slice(self, database: Database, act_id: int, worker: str) -> None:
        """A worker of an older version notes what became of the items, and nothing else."""
        kept = (LongAct.total, LongAct.counts, LongAct.reached)
        async with database.transaction() as db:
            before = (await db.execute(select(*kept).where(LongAct.id == act_id))).one()
            await long_acts.resume(db, act_id, long_work.WORKS)
            if worker == "older":
                await db.execute(update(LongAct).where(LongAct.id == act_id).values(before._asdict()))

    async def queued(self, database: Database) -> list[str]:
        async with database.transaction() as db:
            return list(await db.scalars(select(Job.key).where(Job.arguments["act_id"].astext.is_not(None))))

    async def test_a_worker_of_an_older_version_leaves_an_act_alone_whose_items_are_not_named(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It would find no item, and end the act with nothing done.
        The same holds for the job that a person asks for who stops it."""
        monkeypatch.setattr(undoing, "MOST_LINKED", 5)
        await ada_works(database, WEEK)
        progress = await clear(database)
        async with database.transaction() as db:
            await db.execute(update(Job).values(status="failed", finished_at=func.now()))
            await long_acts.stop(db, BOB, progress.id)
        async with database.shared_transaction() as db:
            assert await claims.due(db, OLDER_JOBS, timedelta(minutes=1)) == []
            assert len(await claims.due(db, jobs.KINDS, timedelta(minutes=1))) == 1
        await self.carry_on(database, progress.id)
        async with database.transaction() as db:
            assert (await progress_of.read(db, progress.id)).stopped_by == BOB.name

    async def test_an_act_that_is_over_does_nothing(self, database: Database) -> None:
        async with database.transaction() as db:
            nothing = text("SELECT id FROM attendance_records WHERE id < 0").columns(id=BigInteger)
            act = await long_acts.note(db, BOB, "take_back", nothing)

            async def never(*_: object) -> dict[int, ItemOutcome]:
                raise AssertionError

            assert (await long_acts.start(db, act, never)).finished_at is not None
            assert not await long_acts.resume(db, act.id, {"take_back": never})
            assert await db.scalar(select(func.count()).select_from(LongActItem)) == 0
