"""What the daily purge takes of the history of runs and of acts on many records.
Punches: sync/test_run.py, punches/test_week_counts.py."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from app.clock.models import OwnerChange, Rejudging, SyncRun, ZoneChange
from app.clock.purge import ACTS_AT_ONCE, purge
from app.db.session import Database
from app.long_acts.models import LongAct, LongActItem
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


async def test_finished_acts_on_many_records_go_with_their_items(database: Database) -> None:
    async with database.transaction() as db:
        ends = [LONG_AGO] * (ACTS_AT_ONCE + 1) + [NOW - timedelta(days=30), NOW, None]
        acts = [LongAct(kind="use", actor_name="Bob", emp_codes=[], begun_at=LONG_AGO, finished_at=end) for end in ends]
        db.add_all(acts)
        await db.flush()
        db.add_all(LongActItem(act_id=act.id, item_id=item) for act in acts for item in (1, 2))
        kept = [act.id for act in acts[ACTS_AT_ONCE + 1 :]]
    assert (await purge(database, "main", NOW))["long_acts"] == ACTS_AT_ONCE + 1
    async with database.transaction() as db:
        assert list(await db.scalars(select(LongAct.id).order_by(LongAct.id))) == kept
        assert list(await db.scalars(select(LongActItem.act_id).distinct().order_by(LongActItem.act_id))) == kept


async def test_an_act_that_is_not_finished_stays_however_old(database: Database) -> None:
    async with database.transaction() as db:
        db.add(LongAct(kind="take_back", actor_name="Bob", emp_codes=["1"], begun_at=LONG_AGO - timedelta(days=999)))
    assert (await purge(database, "main", NOW))["long_acts"] == 0


async def test_changes_that_all_punches_followed_go_and_those_under_way_stay(database: Database) -> None:
    zone = {"generation": 2, "old_zone": "UTC", "zone": "Asia/Tokyo", "kept": "instants"}
    async with database.transaction() as db:
        for ended in (LONG_AGO, NOW, None):
            db.add_all(
                [Rejudging(finished_at=ended), ZoneChange(finished_at=ended, **zone), OwnerChange(finished_at=ended)]
            )
    assert (await purge(database, "main", NOW))["changes"] == 3
    async with database.transaction() as db:
        for table in (Rejudging, ZoneChange, OwnerChange):
            assert list(await db.scalars(select(table.finished_at).order_by(table.id))) == [NOW, None]
