"""What the daily purge takes of the history of runs. Punches: test_sync's and test_person_counts'."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from app.clock.models import SyncRun
from app.clock.purge import purge
from app.db.session import Database
from tests.clock.mirrored import connect

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=30, seconds=1)


async def test_runs_of_the_schedule_that_went_well_go_with_their_calls(database: Database) -> None:
    assert await kept(database, ("schedule", "succeeded", LONG_AGO), ("schedule", "succeeded", NOW)) == [2]


async def test_what_went_wrong_or_was_begun_by_a_person_stays(database: Database) -> None:
    stays = [("schedule", status, LONG_AGO) for status in ("failed", "partial", "truncated")]
    stays += [(trigger, "succeeded", LONG_AGO) for trigger in ("manual", "command", "resume")]
    stays += [("schedule", "succeeded", NOW - timedelta(days=30)), ("schedule", "queued", None)]
    assert await kept(database, *stays) == list(range(1, len(stays) + 1))


async def test_the_last_good_run_stays_however_old(database: Database) -> None:
    good, bad = ("schedule", "succeeded", LONG_AGO), ("schedule", "failed", NOW)
    assert await kept(database, good, good, bad) == [2, 3]


async def kept(database: Database, *runs: tuple[str, str, datetime | None]) -> list[int]:
    """The numbers, from 1 on, of those of `runs` (trigger, status, end) that a purge leaves."""
    async with database.transaction() as db:
        await connect(db)
        made = [SyncRun(trigger=trigger, status=status, finished_at=ended) for trigger, status, ended in runs]
        db.add_all(made)
        await db.flush()
        ids = [run.id for run in made]
    gone = await purge(database, "main", NOW)
    async with database.transaction() as db:
        left = [ids.index(run_id) + 1 for run_id in await db.scalars(select(SyncRun.id).order_by(SyncRun.id))]
    assert gone["sync_runs"] == len(runs) - len(left)
    return left
