"""Each change that may open a problem asks for a look in the same transaction: else it is found up to an hour later."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import delete, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.clock import jobs as clock_jobs
from app.clock.connection import saved as connection
from app.clock.connection.shared_session import LOCK_AFTER
from app.clock.importing import import_due
from app.clock.mirror import devices
from app.clock.models import Punch
from app.clock.punches import daily_totals
from app.clock.review import settling
from app.clock.settings import write_settings
from app.clock.sync import run_rows
from app.db.session import Database
from app.jobs import Claim
from app.parts import Parts
from app.problems import looking
from app.problems.kinds import kinds
from app.webhooks import testing
from tests.clock.clock_worker import until
from tests.clock.mirrored import connect, mirror_person, mirror_terminal, punch
from tests.clock.problems.days import stay
from tests.clock.syncing import site
from tests.cluster import DatabaseUrls
from tests.fakes.liar import answer, lying
from tests.problems.test_sweeping import waits
from tests.webhooks.receiving import HOOK, add
from workers import claims

NOW = datetime.now(UTC).replace(microsecond=0)
# Makes ready, yields, and then changes.
Change = Callable[[Parts], AsyncIterator[None]]


async def a_run_ends(parts: Parts) -> AsyncIterator[None]:
    async with site(parts, days=2, now=NOW) as here:
        run_id = await here.start(resources=["areas"])
        yield
        await here.run_of(run_id)


async def a_dead_run_is_closed(parts: Parts) -> AsyncIterator[None]:
    async with site(parts, days=2, now=NOW) as here:
        run_id = await here.start(resources=["areas"])
        async with parts.database.transaction() as db:
            await run_rows.begin(db, run_id, timedelta(0), NOW)
        yield
        async with parts.database.transaction() as db:
            assert await run_rows.close_dead(db)


async def a_run_loses_its_lease(parts: Parts) -> AsyncIterator[None]:
    async with site(parts, days=2, now=NOW) as here:
        run_id = await here.start(resources=["areas"])
        async with parts.database.transaction() as db:
            await run_rows.begin(db, run_id, timedelta(minutes=1), NOW)
        yield
        async with parts.database.transaction() as db:
            await run_rows.close_lost(db, run_id)


async def a_run_is_stopped_before_it_begins(parts: Parts) -> AsyncIterator[None]:
    async with site(parts, days=2, now=NOW) as here:
        run_id = await here.start(resources=["areas"])
        yield
        async with parts.database.transaction() as db:
            await run_rows.stop_run(db, COMMAND_LINE, run_id)


async def the_fifth_sign_in_is_refused(parts: Parts) -> AsyncIterator[None]:
    async with site(parts, days=2, now=NOW) as here:
        store = connection.session_of(parts, "main", await here.connection())
        for _ in range(LOCK_AFTER - 1):
            await store.sign_in_rejected()
        yield
        await store.sign_in_rejected()
        assert (await here.connection()).status == "locked"


async def a_paused_connection_is_resumed(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await connect(db)
        await connection.pause(db, COMMAND_LINE)
    yield
    async with parts.database.transaction() as db:
        await connection.resume(db, COMMAND_LINE)


async def a_limit_is_set(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await connect(db)
    yield
    async with parts.database.transaction() as db:
        await write_settings(db, COMMAND_LINE, {"silence_hours": 3}, NOW)


async def a_terminal_gets_a_kind(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T1", state="offline", last_activity_at=NOW - timedelta(hours=9))
    yield
    async with parts.database.transaction() as db:
        assert (await devices.set_kind(db, COMMAND_LINE, "T1", "attendance")).changed


async def codes_are_matched(parts: Parts) -> AsyncIterator[None]:
    yield
    await clock_jobs.match(parts, Claim(1, 1, "main", "clock_match", {}))


async def punches_are_imported(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await connect(db)
        await mirror_person(db, "100")
        await punch(db, "100", "I 08:00")
    yield
    done = await import_due.import_due(partial(parts.database.transaction, "main"))
    assert done.outcomes == {"not_bound": 1}


async def a_settled_punch_waits_again(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await stay(db, "100", "only_one_punch", NOW, settled_at_utc=NOW, settled_by="Bob")
    yield
    async with parts.database.transaction() as db:
        assert (await settling.unsettle(db, COMMAND_LINE, Punch.emp_code == "100")).punches


async def a_job_loses_its_last_worker(parts: Parts) -> AsyncIterator[None]:
    async with parts.database.transaction() as db:
        await jobs.request(db, "clock_import")
    last = {
        "status": "running",
        "attempt": jobs.KINDS["clock_import"].attempts,
        "heartbeat_at": NOW - timedelta(hours=1),
    }
    async with parts.database.shared_transaction() as db:
        await db.execute(update(Job).values(last))
    yield
    async with parts.database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, timedelta(seconds=30)) == []


async def a_receiver_says_that_it_is_gone(parts: Parts) -> AsyncIterator[None]:
    """To a test, which a person sends from the command line."""
    async with lying() as liar:
        liar.says(HOOK, answer(status=410))
        made = await add(parts, liar.url + HOOK)
        yield
        assert (await testing.try_out(parts, "main", made.id)).http_status == 410


RUN, IMPORT, MATCH, JOB = a_run_ends, punches_are_imported, codes_are_matched, a_job_loses_its_last_worker
OPENED_BY: dict[str, tuple[Change, ...]] = {
    "connection_failing": (RUN, a_paused_connection_is_resumed),
    "connection_locked": (the_fifth_sign_in_is_refused,),
    "sync_overdue": (a_limit_is_set, a_dead_run_is_closed),
    "silence": (a_limit_is_set,),
    "server_restored": (RUN,),
    "rows_set_aside": (RUN, a_run_loses_its_lease, a_run_is_stopped_before_it_begins),
    "people_gone": (RUN,),
    "punches_gone": (RUN,),
    "slice_incomplete": (RUN,),
    "terminal_offline": (RUN, a_terminal_gets_a_kind),
    "silent_terminal": (a_limit_is_set,),
    "terminal_skew": (RUN, a_limit_is_set),
    "terminal_backlog": (RUN,),
    "access_terminal_used": (RUN,),
    "no_direction": (IMPORT, a_settled_punch_waits_again),
    "one_key": (IMPORT, a_settled_punch_waits_again),
    **dict.fromkeys(("conflict", "not_found", "unbound", "suggested", "code_disabled"), (MATCH, IMPORT)),
    "department_unbound": (MATCH, IMPORT),
    **dict.fromkeys(
        ("only_one_punch", "overlaps", "arrived_late", "over_24h", "future_timestamp", "employee_inactive"),
        (IMPORT, a_settled_punch_waits_again),
    ),
    "attendance_deleted": (IMPORT, a_settled_punch_waits_again),
    "awaiting_too_long": (IMPORT,),
    "import_failed": (JOB,),
    "job_failed": (JOB,),
    "webhook_failing": (a_receiver_says_that_it_is_gone,),
}
CHANGES = sorted({change for several in OPENED_BY.values() for change in several}, key=lambda one: one.__name__)


def test_the_table_names_every_kind_of_a_tenant_that_a_look_finds() -> None:
    """On the platform a look comes every five minutes in any case."""
    assert OPENED_BY.keys() == {one.name for one in kinds().values() if one.detect and not one.platform_only}


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
async def test_who_changes_something_asks_for_a_look(parts: Parts, change: Change) -> None:
    steps = change(parts)
    await anext(steps)
    await forget(parts.database)
    assert [_ async for _ in steps] == []
    assert await waits(parts, "main")


async def forget(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(delete(Job).where(Job.name == looking.JOB))


async def test_a_look_follows_the_counting_of_the_days_too(parts: Parts) -> None:
    """The one that the import itself asked for came before."""
    async with parts.database.transaction() as db:
        await stay(db, "100", "only_one_punch", NOW)
    await forget(parts.database)
    async with parts.database.transaction() as db:
        await daily_totals.hold_weeks(db, [NOW.date()])
        job = asyncio.create_task(clock_jobs.import_punches(parts, Claim(1, 1, "main", "clock_import", {})))
        await until(lambda: waits(parts, "main"))
        await forget(parts.database)
    await job
    assert await waits(parts, "main")


async def test_an_import_that_fails_says_why_also_where_the_database_is_away() -> None:
    attempts: list[None] = []

    def away() -> AbstractAsyncContextManager[AsyncSession]:
        attempts.append(None)
        raise ConnectionRefusedError

    with pytest.raises(import_due.ImportFailedError):
        await import_due.import_due(away)
    assert len(attempts) > 1


async def test_an_import_that_fails_asks_as_well(parts: Parts, urls: DatabaseUrls) -> None:
    """Batches before may have been written."""
    owner = Database(urls.owner)
    steps = punches_are_imported(parts)
    await anext(steps)
    await forget(parts.database)
    broken = "ALTER TABLE clock_transactions {} CONSTRAINT nothing_goes"
    try:
        async with owner.transaction() as db:
            await db.execute(text(f"{broken.format('ADD')} CHECK (import_outcome IS NULL)"))
        with pytest.raises(import_due.ImportFailedError):
            await anext(steps)
        assert await waits(parts, "main")
    finally:
        async with owner.transaction() as db:
            await db.execute(text(broken.format("DROP")))
