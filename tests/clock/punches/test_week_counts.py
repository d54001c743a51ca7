"""Totals and pages of a search for many people: always what a plain count over the punches says."""

import asyncio
import random
from datetime import UTC, date, datetime, time, timedelta
from itertools import product

import pytest
from sqlalchemy import func, insert, select, text

from app.clock import purge
from app.clock.days import LONGEST_OFFSET
from app.clock.models import ClockEmployee, Punch
from app.clock.punches import daily_totals, day_counts, queries, week_counts
from app.clock.punches.punch_filter import PunchFilter
from app.clock.punches.queries import by_time
from app.db.direct import driver

COLUMNS = (
    "id_generation", "remote_id", "emp_code", "punched_at_raw", "punched_at_local", "punched_at_utc", "local_date",
    "terminal_sn", "punch_code", "import_outcome",
)  # fmt: skip
PEOPLE = [f"{number:03}" for number in range(60)]
FEW, MOST, REST = tuple(PEOPLE[:25]), tuple(PEOPLE[5:]), tuple(PEOPLE[:5])
WHO = {
    "few": {"emp_codes": FEW},
    "most": {"emp_codes": MOST},
    "most, by the others": {"emp_codes": MOST, "other_codes": REST},
    "everybody": {"emp_codes": tuple(PEOPLE), "other_codes": ()},
}
WHAT = {
    "terminal": {"terminal_sn": "T2"},
    "outcome": {"outcomes": ("imported",)},
    "not judged yet": {"outcomes": ("", "overlaps")},
    "code": {"punch_codes": (4,)},
    "unknown code": {"punch_codes": (day_counts.UNKNOWN,)},
    "all of them": {"terminal_sn": "T1", "outcomes": ("imported", ""), "punch_codes": (0, 1)},
}


@pytest.fixture
async def quarter(database):
    """Sixty people's punches from 20 August to 10 November, some at the very ends of their day;
    counted up, and then some more."""
    dice = random.Random(4)
    days = [date(2026, 8, 20) + timedelta(days=n) for n in range(83)]
    async with database.transaction("main") as db:
        await db.execute(insert(ClockEmployee), [{"emp_code": code, "full_name": code} for code in PEOPLE])
        await add(db, dice, [day for day in days if dice.random() < 0.9])
    await daily_totals.roll_up(database, "main")
    async with database.transaction("main") as db:
        await add(db, dice, [days[-1], days[40]])
    return days


async def add(db, dice, days):
    rows = []
    for day in days:
        for code in dice.sample(PEOPLE, 12):
            local = datetime.combine(day, time(dice.choice([0, 8, 17, 23]), dice.choice([0, 30, 59])))
            away = dice.choice([-LONGEST_OFFSET, timedelta(), LONGEST_OFFSET])
            rows.append(
                (
                    1, f"{code}{local}{dice.random()}", code, "", local, local.replace(tzinfo=UTC) + away, day,
                    dice.choice(["T1", "T1", "T2", None]), dice.choice([0, 0, 1, 1, 4, 255, None]),
                    dice.choice(["imported", "imported", "overlaps", None]),
                )
            )  # fmt: skip
    await driver(db).copy_records_to_table("clock_transactions", records=rows, columns=COLUMNS)
    await daily_totals.mark_stale(db, days)


RANGES = [
    (None, None),
    (date(2026, 9, 5), None),
    (None, date(2026, 10, 17)),
    (date(2026, 9, 1), date(2026, 9, 30)),
    (date(2026, 8, 31), date(2026, 10, 25)),
    (date(2026, 10, 5), date(2026, 11, 27)),
    (date(2026, 10, 31), date.max),
    (date.min, date(2026, 8, 31)),
    (date(2026, 9, 10), date(2026, 9, 12)),
    (date(2027, 1, 1), None),
]


async def test_every_page_holds_what_a_plain_select_holds(database, quarter, subtests):
    for who, people in WHO.items():
        with subtests.test(who):
            async with database.transaction("main") as db:
                for days, newest_first in product(RANGES, (True, False)):
                    wanted = PunchFilter(**people, days=days)
                    counted = await queries.counted_by_day(db, wanted)
                    assert isinstance(counted, week_counts.ByWeek)
                    await compare(db, wanted, counted, newest_first=newest_first)


async def test_what_else_narrows_all_or_many_people_is_counted_as_exactly(database, quarter, subtests):
    for who, people in {**WHO, "without a search": {}}.items():
        with subtests.test(who):
            async with database.transaction("main") as db:
                for what, days in product(WHAT, ((None, None), (date(2026, 9, 5), date(2026, 10, 2)))):
                    wanted = PunchFilter(**people, **WHAT[what], days=days)
                    counted = await queries.counted_by_day(db, wanted)
                    await compare(db, wanted, counted, newest_first=bool(people) or days[0] is None)


async def compare(db, wanted, counted, *, newest_first=True):
    order = by_time(Punch, newest_first=newest_first)
    plain = list(await db.scalars(select(Punch.id).where(wanted.condition()).order_by(*order)))
    assert counted.total == len(plain), wanted
    counted = counted if newest_first else counted.reversed()
    for offset in range(0, len(plain) + 90, 90):
        rows = await queries.located_rows(db, wanted, counted, newest_first=newest_first, offset=offset, per_page=90)
        assert [row.id for row in rows] == plain[offset : offset + 90], (wanted, offset)


async def test_of_most_people_the_others_are_counted(database, quarter, executed):
    async with database.transaction("main") as db:
        for what in ({}, WHAT["outcome"]):
            counted = await queries.counted_by_day(db, PunchFilter(**WHO["most, by the others"], **what))
        await week_counts.narrowed(
            db, await queries.counted_by_day(db, PunchFilter(**WHO["most, by the others"])), 0, 40
        )
    assert counted.total
    assert [one for _, one in executed if REST[0] in one]
    assert not [one for _, one in executed if MOST[-1] in one]


async def test_a_purge_takes_the_counts_of_what_it_took(database, quarter):
    async with database.transaction("main") as db:
        await db.execute(text("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'not_bound'"))
        await purge._purge_days(db, [day for day in quarter if day < date(2026, 8, 31)])
        wanted = PunchFilter(emp_codes=MOST)
        plain = list(await db.scalars(select(Punch.id).where(wanted.condition())))
        assert (await queries.counted_by_day(db, wanted)).total == len(plain)
        weeks = set(await db.scalars(text("SELECT week FROM clock_person_counts")))
        assert min(weeks) == date(2026, 8, 31)


async def test_a_purge_waits_for_who_counts_another_day_of_its_week(database, quarter):
    first = quarter[0]
    async with database.transaction("main") as db:
        await db.execute(text("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'not_bound'"))
        await daily_totals.mark_stale(db, [first + timedelta(days=1)])
    async with database.transaction("main") as db:
        await daily_totals.count_days(db, await daily_totals._take(db, first))
        purging = asyncio.create_task(purge._purge_punches(database, "main", first + timedelta(days=1)))
        await asyncio.sleep(0.3)
    assert await purging
    async with database.transaction("main") as db:
        wanted = PunchFilter(emp_codes=MOST)
        plain = list(await db.scalars(select(Punch.id).where(wanted.condition())))
        assert (await queries.counted_by_day(db, wanted)).total == len(plain)


async def test_totals_are_exact_also_where_a_purge_froze_the_daily_ones(database, quarter):
    async with database.transaction("main") as db:
        await check_totals(db)
        await db.execute(text("UPDATE clock_transactions SET judge_at = NULL WHERE import_outcome IS NOT NULL"))
        assert await purge._purge_days(db, [day for day in quarter if day.month == 8])
        await check_totals(db)
        await add(db, random.Random(5), [quarter[0], quarter[40]])
    async with database.transaction("main") as db:
        await check_totals(db)
        await daily_totals.count_days(db, await daily_totals._take(db, quarter[0]))
        await check_totals(db)


async def check_totals(db):
    twice = {"a code, said twice": {"punch_codes": (1, 1, day_counts.UNKNOWN)}, "no code": {"punch_codes": ()}}
    for what, days in product([{}, *WHAT.values(), *twice.values()], RANGES):
        wanted = PunchFilter(**what, days=days)
        rows = select(Punch.local_date, func.count()).where(wanted.condition()).group_by(Punch.local_date)
        plain = await db.execute(rows.order_by(Punch.local_date.desc()))
        assert list((await queries.counted_by_day(db, wanted)).days) == [tuple(row) for row in plain], wanted


async def test_what_changed_since_is_counted_from_either_side(database, quarter, monkeypatch, subtests):
    async with database.transaction("main") as db:
        await db.execute(
            text("UPDATE clock_transactions SET updated_at = CAST('2026-11-01' AS timestamptz) + id * interval '1 s'")
        )
        edges = (await db.execute(text("SELECT min(updated_at), max(updated_at) FROM clock_transactions"))).one()
    for few in (1, 300, 10_000):
        monkeypatch.setattr(queries, "FEW", few)
        with subtests.test(few=few):
            async with database.transaction("main") as db:
                for since, share in product(
                    (edges[0], edges[0] + (edges[1] - edges[0]) / 10, edges[1]), ({}, WHAT["code"], WHO["few"])
                ):
                    for moment in (since, since + timedelta(microseconds=1), since - timedelta(days=1)):
                        wanted = PunchFilter(updated_since=moment, **share)
                        await compare(db, wanted, await queries.counted_by_day(db, wanted))


async def test_who_begins_to_follow_has_nothing_counted_afresh(database, quarter, monkeypatch, executed):
    monkeypatch.setattr(queries, "FEW", 5)
    async with database.transaction("main") as db:
        await queries.counted_by_day(db, PunchFilter(updated_since=datetime(2000, 1, 1, tzinfo=UTC)))
    assert [one for one, _ in executed if "clock_transactions.updated_at <" in one]
    assert not [one for one, _ in executed if "clock_transactions.updated_at >=" in one]


async def test_one_person_is_counted_by_week_too(database, quarter):
    wanted = PunchFilter(emp_codes=(PEOPLE[0],))
    async with database.transaction("main") as db:
        counted = await queries.counted_by_day(db, wanted)
        plain = await queries._counted_fresh(db, wanted)
    assert isinstance(counted, week_counts.ByWeek)
    assert counted.total == plain.total > 0


async def test_a_week_is_counted_once_however_many_of_its_days_changed(database, quarter, executed):
    async with database.transaction("main") as db:
        await daily_totals.mark_stale(db, quarter)
    assert await daily_totals.roll_up(database, "main") == len(quarter)
    assert len([one for one, _ in executed if "INSERT INTO clock_person_counts" in one]) == len(
        {day.isocalendar()[:2] for day in quarter}
    )


async def test_rollups_at_once_leave_every_week_counted(database, quarter):
    for _ in range(3):
        async with database.transaction("main") as db:
            await daily_totals.mark_stale(db, quarter)
        done = await asyncio.gather(*(daily_totals.roll_up(database, "main") for _ in range(3)))
        assert sum(done) == len(quarter)
    async with database.transaction("main") as db:
        kept = await db.execute(text("SELECT week, emp_code, total FROM clock_person_counts ORDER BY 1, 2"))
        plain = await db.execute(
            text("SELECT date_trunc('week', local_date)::date, emp_code, count(*) FROM clock_transactions GROUP BY 1, 2 ORDER BY 1, 2")
        )  # fmt: skip
        assert [tuple(row) for row in kept] == [tuple(row) for row in plain]
