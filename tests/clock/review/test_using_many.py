"""Use the punches in bulk: each shift by itself, refusals with their reason, the same verb as for one,
in slices and at once."""

from collections.abc import Iterable
from datetime import date
from functools import partial

import pytest
from sqlalchemy import ColumnElement, func, select, true

from app.accounts.models import AuditEntry, Job
from app.clock.bindings import actions as bindings
from app.clock.importing.owners import OwnersChangedError
from app.clock.models import Punch
from app.clock.review import decisions, long_work, settling, using_many
from app.db.session import Database
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.long_acts import acts as long_acts
from app.long_acts import progress as progress_of
from app.long_acts.acts import ItemOutcome
from app.long_acts.models import LongActItem
from app.long_acts.progress import DONE, Progress
from tests.clock.mirrored import employ, mirror_person, outcomes
from tests.clock.resolved import ada_works, id_of, import_all, record_id, records_of, then
from tests.host.staff import ALICE

DAYS = ("Mon", "Tue", "Wed")


async def late_days(database: Database, days: Iterable[str] = DAYS) -> int:
    """Each day a second clock-in, of a shift that its record reaches beyond (case 22b of the page)."""
    ada = await ada_works(database, ", ".join(f"I {day} 08:00, O {day} 17:00" for day in days))
    await then(database, ", ".join(f"I {day} 10:00" for day in days))
    return ada


async def use(database: Database, which: ColumnElement[bool] | None = None) -> Progress:
    async with database.transaction() as db:
        progress = await using_many.use(db, ALICE, true() if which is None else which)
    await import_all(database)
    return progress


async def foretold(database: Database) -> dict[str, int] | None:
    async with database.transaction() as db:
        return await using_many.foretell(db, true())


async def words(database: Database, code: str = "100") -> list[str | None]:
    async with database.transaction() as db:
        return [word for _, word in await outcomes(db, code)]


async def left(database: Database, act_id: int) -> list[tuple[str, str | None]]:
    async with database.transaction() as db:
        return [(row.became, row.note) for row in await progress_of.left(db, act_id)]


async def test_every_shift_is_used(database: Database) -> None:
    ada = await late_days(database)
    assert await foretold(database) == {"done": 3}
    progress = await use(database)
    assert (progress.total, progress.done, progress.left) == (3, 3, {})
    assert await records_of(database) == [(ada, f"{day} 10:00-17:00") for day in DAYS]
    assert await foretold(database) == {}


async def test_a_punch_whose_binding_changes_at_the_same_moment_is_left_and_the_others_are_used() -> None:
    async def decide(punch_id: int) -> tuple[list[int], ItemOutcome]:
        if punch_id == 1:
            raise OwnersChangedError
        return [punch_id], ItemOutcome(DONE)

    answers = await using_many._each([1, 2], decide)
    assert {punch_id: answer.became for punch_id, answer in answers.items()} == {1: "changed", 2: DONE}


async def test_it_does_what_using_each_does(database: Database) -> None:
    ada = await late_days(database)
    for day in DAYS:
        punch_id = await id_of(database, f"{day} 10:00")
        async with database.transaction() as db:
            await decisions.use_punches(db, ALICE, punch_id)
    await import_all(database)
    assert await records_of(database) == [(ada, f"{day} 10:00-17:00") for day in DAYS]
    assert await words(database) == ["only_one_punch", "imported", "imported"] * 3


async def test_a_refused_shift_does_not_stop_the_others_and_says_why(database: Database) -> None:
    await late_days(database)
    monday, tuesday = await record_id(database, 0), date(2026, 3, 3)
    async with database.transaction() as db:
        await attendance.decide(db, ALICE, [monday], "approved")
        await day_locks.lock(db, ALICE, tuesday, tuesday)
    assert await foretold(database) == {"done": 1, "record_decided": 1, "date_locked": 1}
    progress = await use(database)
    assert (progress.done, progress.left) == (1, {"record_decided": 1, "date_locked": 1})
    assert [became for became, note in await left(database, progress.id) if note] == ["record_decided", "date_locked"]
    assert [at for _, at in await records_of(database)] == ["Mon 08:00-17:00", "Tue 08:00-17:00", "Wed 10:00-17:00"]


async def test_taps_of_one_shift_share_its_answer(database: Database) -> None:
    """After a re-binding both taps of each record arrived late; its record goes to Ben once."""
    await ada_works(database, "I Mon 08:00, O Mon 17:00, I Tue 08:00, O Tue 17:00")
    async with database.transaction() as db:
        ben = await employ(db, "Ben")
        await bindings.bind(db, ALICE, await bindings.id_of_code(db, "100"), ben)
    await import_all(database)
    progress = await use(database)
    assert (progress.total, progress.done) == (4, 4)
    assert await records_of(database) == [(ben, "Mon 08:00-17:00"), (ben, "Tue 08:00-17:00")]
    async with database.transaction() as db:
        acts = AuditEntry.act == "clock.use_punches", AuditEntry.subject_type == "punch"
        assert await db.scalar(select(func.count()).where(*acts)) == 2


async def test_what_waited_beside_a_record_that_went_to_somebody_else_is_judged_again(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        ben = await employ(db, "Ben")
        await bindings.bind(db, ALICE, await bindings.id_of_code(db, "100"), ben)
        await mirror_person(db, "200", ada)
    await then(database, "I 09:00, O 11:00", "200")
    assert await words(database, "200") == ["overlaps", "overlaps"]
    await use(database)
    assert await words(database, "200") == ["imported", "imported"]


async def test_only_what_is_meant_and_waits_for_a_decision_is_used(database: Database) -> None:
    ada = await late_days(database)
    async with database.transaction() as db:
        await settling.keep_record(db, ALICE, Punch.local_date == date(2026, 3, 2))
    progress = await use(database, Punch.local_date <= date(2026, 3, 3))
    assert progress.total == 1
    assert [at for _, at in await records_of(database)] == ["Mon 08:00-17:00", "Tue 10:00-17:00", "Wed 08:00-17:00"]
    assert ada


class TestInSlices:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(long_acts, "INLINE_LIMIT", 2)
        monkeypatch.setattr(long_acts, "SLICE", 2)

    async def test_many_are_left_to_a_job_that_continues_where_another_was_killed(self, database: Database) -> None:
        await late_days(database)
        assert await foretold(database) is None
        progress = await use(database)
        assert (progress.looked_at, progress.finished_at) == (0, None)
        async with database.transaction() as db:
            assert await db.scalar(select(Job.arguments).where(Job.name == "clock_long_act")) == {"act_id": progress.id}
            assert await long_acts.resume(db, progress.id, long_work.WORKS)
        await long_work.carry_on(partial(database.transaction, "main"), progress.id)
        await import_all(database)
        assert [at for _, at in await records_of(database)] == [f"{day} 10:00-17:00" for day in DAYS]
        async with database.transaction() as db:
            assert set(await db.scalars(select(LongActItem.became))) == {"done"}

    async def test_a_punch_that_somebody_used_meanwhile_is_left(self, database: Database) -> None:
        await late_days(database)
        progress = await use(database)
        used = await id_of(database, "Mon 10:00")
        async with database.transaction() as db:
            await decisions.use_punches(db, ALICE, used)
        await import_all(database)
        await long_work.carry_on(partial(database.transaction, "main"), progress.id)
        assert [became for became, _ in await left(database, progress.id)] == ["not_late"]
