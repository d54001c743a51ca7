"""Another zone of the connection: the request writes one row, slices give punches its times, and until the last has
them the import judges nothing, and everybody who asks is told so."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert, select, text, update

from app.accounts.audit import SYSTEM
from app.clock.figures import completeness
from app.clock.importing import import_due
from app.clock.mirror import rezoning
from app.clock.mirror.punch_rows import Target, write_punches
from app.clock.models import Connection, DailyTotal, Punch, PunchChange, Rejudging, StaleDay, ZoneChange
from app.clock.parsing import ParsedPunch
from app.clock.punches import changes, daily_totals, rejudging
from app.clock.punches.changes import UnderWay
from app.clock.review import decisions
from app.clock.settings import write_settings
from app.db.session import Database
from app.errors import Conflict
from tests.clock.clock_worker import start_worker, until
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, outcomes, punch
from tests.clock.resolved import ada_works, id_of, import_all, why_of
from tests.cluster import DatabaseUrls

DAYS = ("2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22", "2024-01-29")


@pytest.fixture
async def five_days(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five days of work a week apart, imported, and slices of four punches."""
    monkeypatch.setattr(rezoning, "SLICE", 4)
    await ada_works(database, ", ".join(f"I {day} 08:00, O {day} 17:00" for day in DAYS[:4]) + f", I {DAYS[4]} 08:00")


async def change(database: Database, zone: str, kept: Any = "local_times", old: str = "UTC") -> None:
    async with database.transaction() as db:
        await db.execute(update(Connection).values(timezone=zone))
        await rezoning.begin(db, old, zone, kept)


async def slice_of(database: Database) -> bool:
    async with database.transaction() as db:
        return await rezoning.rewrite_slice(db)


async def told(database: Database) -> list[UnderWay]:
    async with database.transaction() as db:
        return await changes.under_way(db)


async def instants(database: Database) -> list[str]:
    async with database.transaction() as db:
        return [f"{at:%d %H:%M}" for at in await db.scalars(select(Punch.punched_at_utc).order_by(Punch.id))]


async def versions(database: Database) -> Sequence[Any]:
    async with database.transaction() as db:
        return (await db.execute(text("SELECT id, xmin::text, ctid::text FROM clock_transactions ORDER BY id"))).all()


@pytest.mark.usefixtures("five_days")
async def test_the_request_writes_no_punch(database: Database) -> None:
    before = await versions(database)
    await change(database, "Europe/Berlin")
    assert await versions(database) == before


@pytest.mark.usefixtures("five_days")
async def test_slices_go_from_the_newest_to_the_oldest_and_say_how_far_they_are(database: Database) -> None:
    await change(database, "Europe/Berlin")
    assert await told(database) == [UnderWay(None, 0, None, "Europe/Berlin")]
    for moved in (4, 8, 9):
        assert await slice_of(database)
        assert await told(database) == [UnderWay(None, moved, 9, "Europe/Berlin")]
        hours = [at[3:] for at in await instants(database)]
        assert hours[9 - moved :] == (["07:00", "16:00"] * 5)[:-1][9 - moved :]
        assert hours[: 9 - moved] == (["08:00", "17:00"] * 5)[: 9 - moved]
    assert not await slice_of(database)
    assert await told(database) == []


@pytest.mark.usefixtures("five_days")
async def test_nothing_is_judged_until_the_last_punch_has_its_times(database: Database) -> None:
    async with database.transaction() as db:
        before = await outcomes(db)
        await punch(db, "100", f"O {DAYS[4]} 17:00")
        await db.execute(update(Punch).where(Punch.import_outcome.is_(None)).values(zone_generation=2))
    await change(database, "Asia/Manila", "instants")
    for _ in range(3):
        await import_due.import_marked(partial(database.transaction, "main"), now=FAR)
        async with database.transaction() as db:
            assert [word for _, word in await outcomes(db)] == [*(word for _, word in before), None]
        await slice_of(database)
    await import_all(database)
    async with database.transaction() as db:
        assert [word for _, word in await outcomes(db)] == ["imported"] * 10


@pytest.mark.usefixtures("five_days")
async def test_a_batch_that_has_begun_is_waited_for_and_one_that_begins_later_judges_nothing(
    database: Database,
) -> None:
    await change(database, "Europe/Berlin")
    async with database.transaction() as judging:
        assert not await changes.may_judge(judging)
    await import_all(database)
    async with database.transaction() as judging:
        assert await changes.may_judge(judging)
        await change(database, "Asia/Manila", old="Europe/Berlin")
        async with database.transaction() as db:
            await db.execute(text("SET LOCAL lock_timeout = '50ms'"))
            with pytest.raises(Exception, match="lock timeout"):
                await rezoning.rewrite_slice(db)
            await db.rollback()


@pytest.mark.usefixtures("five_days")
async def test_everybody_who_asks_is_told_what_it_waits_for(database: Database) -> None:
    await change(database, "Europe/Berlin")
    await slice_of(database)
    sentence = "The time zone changes to Europe/Berlin: 4 of 9 punches have the new times."
    async with database.transaction() as db:
        assert await completeness.complete_up_to(db, FAR) == (None, sentence)
        found = await db.scalar(select(rejudging.CHANGES))
        punches = list(await db.scalars(select(Punch).order_by(Punch.id)))
    assert [rejudging.awaits(found, one) for one in punches] == [True] * 5 + [False] * 4
    told_why = await why_of(database, "Mon 08:00")
    assert (told_why.waits, told_why.retry, told_why.use, told_why.pending) == (sentence, None, None, None)
    await import_all(database)
    assert (await why_of(database, "Mon 08:00")).waits is None


@pytest.mark.usefixtures("five_days")
async def test_a_decision_that_judges_by_itself_is_refused_meanwhile_and_a_retry_is_left_to_the_import(
    database: Database,
) -> None:
    await change(database, "Europe/Berlin")
    single = await id_of(database, "Mon 08:00")
    async with database.transaction() as db:
        with pytest.raises(Conflict, match="The time zone changes to Europe/Berlin"):
            await decisions.use_punches(db, SYSTEM, single)
    async with database.transaction() as db:
        lone = await db.scalar(select(Punch.id).where(Punch.import_outcome == "only_one_punch")) or 0
        retried = await decisions.retry(db, SYSTEM, Punch.id == lone)
    assert (retried.punches, retried.outcomes) == (1, None)


@pytest.mark.usefixtures("five_days")
async def test_a_second_zone_joins_and_a_rule_is_done_with_it(database: Database) -> None:
    await change(database, "Europe/Berlin")
    await slice_of(database)
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"import_single_punches": "true"})
    await change(database, "Asia/Manila", old="Europe/Berlin")
    assert await told(database) == [UnderWay(None, 0, None, "Asia/Manila"), UnderWay(None, 0, None)]
    await import_all(database)
    assert await told(database) == []
    assert {at[3:] for at in await instants(database)} == {"00:00", "09:00"}
    async with database.transaction() as db:
        assert await db.scalar(select(Rejudging.finished_at)) is not None
        assert {word for _, word in await outcomes(db)} == {"imported"}


@pytest.mark.usefixtures("five_days")
async def test_an_import_that_dies_is_followed_by_one_that_continues(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: Any) -> int:
        raise ZeroDivisionError

    await change(database, "Europe/Berlin")
    with monkeypatch.context() as patched:
        patched.setattr(daily_totals, "roll_up_in", die)
        with pytest.raises(ZeroDivisionError):
            await import_all(database)
    assert await told(database) == [UnderWay(None, 4, 9, "Europe/Berlin")]
    await import_all(database)
    assert {at[3:] for at in await instants(database)} == {"07:00", "16:00"}


@pytest.mark.usefixtures("five_days")
async def test_daily_totals_and_local_dates_follow(database: Database) -> None:
    await change(database, "Asia/Tokyo", "instants")
    await import_all(database)
    await daily_totals.roll_up(database, "main")
    async with database.transaction() as db:
        days = select(DailyTotal.local_date, DailyTotal.total).where(
            DailyTotal.dimension == "all", DailyTotal.total > 0
        )
        found = {f"{day:%m-%d}": total for day, total in await db.execute(days)}
        assert await db.scalar(select(StaleDay.local_date)) is None
    # 17:00 in London is two in the night of the next day in Tokyo.
    assert found == {
        "01-01": 1, "01-02": 1, "01-08": 1, "01-09": 1, "01-15": 1, "01-16": 1, "01-22": 1, "01-23": 1, "01-29": 1,
    }  # fmt: skip


MANY = text(
    """
    INSERT INTO clock_transactions (id_generation, remote_id, emp_code, punched_at_raw, punched_at_local, punched_at_utc,
        uploaded_at_utc, local_date, import_outcome, judge_at)
    SELECT 1, n, n % 500, at, at, at AT TIME ZONE 'UTC', at AT TIME ZONE 'UTC', at::date, 'not_bound', NULL
    FROM (SELECT n, timestamp '2024-01-01 12:00' + n * interval '10 minutes' AS at FROM generate_series(1, 50000) AS n) AS them
    """
)


@pytest.mark.slow
async def test_a_worker_that_is_killed_in_the_middle_is_followed_by_one_that_continues(
    database: Database, urls: DatabaseUrls
) -> None:
    async with database.transaction() as db:
        await connect(db)
        await db.execute(MANY)
    first = start_worker(urls)
    try:
        await change(database, "Asia/Tokyo")
        await until(lambda: has_rewritten(database, 1))
        first.kill()
        first.wait()
        assert not await has_rewritten(database, 50_000)
        second = start_worker(urls)
        try:
            await until(lambda: has_rewritten(database, 50_000))
            await until(lambda: is_judged(database))
        finally:
            second.kill()
            second.wait()
    finally:
        first.kill()
        first.wait()
    async with database.transaction() as db:
        wrong = "punched_at_utc <> punched_at_local AT TIME ZONE 'Asia/Tokyo' OR uploaded_at_utc <> punched_at_utc"
        assert await db.scalar(text(f"SELECT count(*) FROM clock_transactions WHERE {wrong}")) == 0
        assert await db.scalar(select(ZoneChange.rewritten)) == 50_000


async def has_rewritten(database: Database, number: int) -> bool:
    async with database.transaction() as db:
        return (await db.scalar(select(ZoneChange.rewritten)) or 0) >= number


async def is_judged(database: Database) -> bool:
    async with database.transaction() as db:
        finished = await db.scalar(select(ZoneChange.finished_at))
        return (
            finished is not None
            and await db.scalar(select(Punch.id).where(Punch.judge_at.is_not(None)).limit(1)) is None
        )


def sent(number: int, local: datetime, zone: str, **more: Any) -> ParsedPunch:
    at = local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    return ParsedPunch(
        remote_id=str(number), emp_code="1", terminal_sn="T1", terminal_alias="Gate", code=0, verify=1,
        punched_at_raw=str(local), punched_at_local=local, punched_at_utc=at, temperature=None, photo_ref=None,
        uploaded_at_utc=at + timedelta(minutes=1), **more,
    )  # fmt: skip


@pytest.mark.parametrize("generation", [1, 2])
async def test_a_sync_that_reads_punches_before_their_turn_takes_none_for_edited_or_new(
    database: Database, generation: int
) -> None:
    local = [datetime(2024, 1, day, 8) for day in range(1, 9)]
    async with database.transaction() as db:
        await connect(db)
        await write_punches(db, Target(7, 1, by_instant=False), [sent(n, at, "UTC") for n, at in enumerate(local)])
    await change(database, "Asia/Manila")
    async with database.transaction() as db:
        page = [sent(n + 100 * (generation - 1), at, "Asia/Manila") for n, at in enumerate(local)]
        counts = (await write_punches(db, Target(8, generation, by_instant=False), page)).counts
    assert (counts.created, counts.updated) == (0, 0)
    while await slice_of(database):
        pass
    async with database.transaction() as db:
        rows = (await db.scalars(select(Punch).order_by(Punch.punched_at_utc))).all()
        assert await db.scalar(select(PunchChange.id)) is None
    assert [one.punched_at_utc for one in rows] == [at.replace(tzinfo=UTC) - timedelta(hours=8) for at in local]
    assert {one.uploaded_at_utc - one.punched_at_utc for one in rows if one.uploaded_at_utc} == {timedelta(minutes=1)}


ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Manila", "Australia/Lord_Howe", "Pacific/Apia")


def directly(row: dict[str, Any], old: str, zone: str, kept: str) -> dict[str, Any]:
    """What one change makes of one punch, said once more and without SQL."""
    to = ZoneInfo(zone)
    if kept == "instants" or row["raw"].endswith("+00:00"):
        return {**row, "local": row["utc"].astimezone(to).replace(tzinfo=None)}
    sent_at = row["uploaded"].astimezone(ZoneInfo(old)).replace(tzinfo=None)
    return {
        **row,
        "utc": row["local"].replace(tzinfo=to).astimezone(UTC),
        "uploaded": sent_at.replace(tzinfo=to).astimezone(UTC),
    }


@pytest.mark.parametrize("seed", range(12))
async def test_any_story_ends_as_if_each_change_had_been_carried_out_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    monkeypatch.setattr(rezoning, "SLICE", dice.choice([1, 3, 7]))
    zone, expected = dice.choice(ZONES), dict[int, dict[str, Any]]()
    async with database.transaction() as db:
        await connect(db, zone)

    async def comes(number: int) -> None:
        """A new punch, by the zone of now; some were written with their offset."""
        local = datetime(2025, dice.choice([3, 7, 10, 11]), dice.randint(1, 28), dice.randint(0, 23), 30)
        row = sent(number, local, zone)
        raw = f"{row.punched_at_utc:%Y-%m-%d %H:%M:%S}+00:00" if dice.random() < 0.3 else str(local)
        async with database.transaction() as db:
            await db.execute(
                insert(Punch).values(
                    id_generation=1, remote_id=row.remote_id, emp_code="1", punched_at_raw=raw, punched_at_local=local,
                    punched_at_utc=row.punched_at_utc, uploaded_at_utc=row.uploaded_at_utc, local_date=local.date(),
                    zone_generation=await db.scalar(select(Connection.zone_generation)),
                )
            )  # fmt: skip
        expected[number] = {
            "raw": raw, "local": local, "utc": row.punched_at_utc, "uploaded": row.uploaded_at_utc
        }  # fmt: skip

    for number in range(12):
        await comes(number)
    for step in range(12, 40):
        match dice.choice(["slice", "slice", "slice", "change", "comes"]):
            case "slice":
                await slice_of(database)
            case "comes":
                await comes(step)
            case _:
                to, kept = dice.choice(ZONES), dice.choice(["local_times", "instants"])
                await change(database, to, kept, old=zone)
                expected = {number: directly(row, zone, to, kept) for number, row in expected.items()}
                zone = to
    while await slice_of(database):
        pass
    async with database.transaction() as db:
        rows = (await db.scalars(select(Punch))).all()
        assert await db.scalar(select(ZoneChange.id).where(ZoneChange.finished_at.is_(None))) is None
    assert {
        int(one.remote_id): {
            "raw": one.punched_at_raw, "local": one.punched_at_local, "utc": one.punched_at_utc, "uploaded": one.uploaded_at_utc
        }
        for one in rows
    } == expected  # fmt: skip
    assert all(one.local_date == one.punched_at_local.date() for one in rows)
