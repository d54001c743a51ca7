"""How fast mirrored punches become records: punches a second, and the ratio to a bare UPDATE of the same rows in the
same run. Then as many punches of a terminal without a direction, judged again once it has one: the request, and the
ratio to the first import. Then another time zone: the request, and the rewriting as a ratio to a bare UPDATE of the
times of the same rows. Then a code with half of all punches that is bound to another person.

python -m tests.benchmarks.bench_import [--people 200] [--days 100]
"""

import argparse
import asyncio
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import text

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.importing import import_due
from app.clock.mirror import devices, rezoning
from app.clock.punches import daily_totals, rebinding
from app.db.direct import driver
from app.db.session import Database
from tests.benchmarks.arena import arena
from tests.benchmarks.crowd import owner_url
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal

START = datetime(2026, 1, 5, tzinfo=UTC)
TAPS = ((8, 0, 0), (12, 0, 2), (13, 0, 3), (17, 0, 1))


async def fill(database: Database, people: int, days: int) -> int:
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T2")
        for number in range(2 * people):
            await mirror_person(db, str(1000 + number), await employ(db, f"Person {number}"))
    return await punched(database, range(people), days, "T1")


async def punched(database: Database, people: range, days: int, terminal: str) -> int:
    rows = [_row(person, day, tap, terminal) for person in people for day in range(days) for tap in range(len(TAPS))]
    async with database.transaction() as db:
        await driver(db).copy_records_to_table("clock_transactions", records=rows, columns=COLUMNS)
        await daily_totals.mark_stale(db, {row[-1] for row in rows})
    owner = Database(owner_url(database))
    async with owner.transaction() as db:
        await db.execute(text("ANALYZE"))
    await owner.close()
    return len(rows)


COLUMNS = [
    "id_generation", "remote_id", "emp_code", "terminal_sn", "punch_code", "punched_at_raw", "punched_at_local",
    "punched_at_utc", "local_date",
]  # fmt: skip


def _row(person: int, day: int, tap: int, terminal: str) -> tuple[Any, ...]:
    """T1 says what a punch is, T2 does not."""
    hour, minute, code = TAPS[tap]
    at = START + timedelta(days=day, hours=hour, minutes=minute, seconds=person % 50)
    number = f"{person}-{day}-{tap}"
    known = code if terminal == "T1" else None
    return (1, number, str(1000 + person), terminal, known, str(at), at.replace(tzinfo=None), at, at.date())


async def floor(database: Database) -> float:
    """Seconds that a bare UPDATE of every punch takes: no import can be faster."""
    began = time.perf_counter()
    async with database.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET import_outcome = 'imported', judge_at = NULL"))
        spent = time.perf_counter() - began
        await db.rollback()
    return spent


async def main(people: int, days: int) -> None:
    async with arena() as database:
        punches = await fill(database, people, days)
        bare = await floor(database)
        began = time.perf_counter()
        result = await import_due.import_due(partial(database.transaction, "main"))
        spent = time.perf_counter() - began
        print(
            f"import: {punches} punches into {result.created} records in {spent:.1f} s = {punches / spent:,.0f} punches/s"
        )
        print(f"floor:  bare UPDATE of the same rows {bare:.1f} s; ratio {spent / bare:.1f}")
        await judged_again(database, range(people, 2 * people), days, punches / spent)
        await another_zone(database)
        await another_owner(database)


async def judged_again(database: Database, people: range, days: int, rate: float) -> None:
    punches = await punched(database, people, days, "T2")
    await import_due.import_due(partial(database.transaction, "main"))
    began = time.perf_counter()
    async with database.transaction() as db:
        changed = await devices.set_direction(db, SYSTEM, "T2", "undirected")
    asked = time.perf_counter() - began
    began = time.perf_counter()
    result = await import_due.import_due(partial(database.transaction, "main"))
    spent = time.perf_counter() - began
    print(
        f"again:  {changed.judged_again} punches of a terminal, {asked * 1000:.0f} ms to set it;"
        f" {result.created} records in {spent:.1f} s; ratio to the rate of the import {punches / spent / rate:.2f}"
    )


async def another_zone(database: Database) -> None:
    moved = "punched_at_utc = punched_at_utc - interval '1 hour', judge_at = now()"
    async with database.transaction() as db:
        began = time.perf_counter()
        await db.execute(text(f"UPDATE clock_transactions SET {moved}"))
        bare = time.perf_counter() - began
        await db.rollback()
    began = time.perf_counter()
    async with database.transaction() as db:
        await rezoning.begin(db, "UTC", "Europe/Berlin", "local_times")
    asked = time.perf_counter() - began
    began, slices = time.perf_counter(), 0
    while await _slice(database):
        slices += 1
    spent = time.perf_counter() - began
    print(
        f"zone:   {asked * 1000:.0f} ms to save it; {slices} slices in {spent:.1f} s; bare UPDATE {bare:.1f} s; ratio {spent / bare:.1f}"
    )


async def another_owner(database: Database) -> None:
    """One code that has half of all punches: what a request pays to bind it to another person,
    and the marks in slices."""
    theirs = "UPDATE clock_transactions SET emp_code = '1000' WHERE id % 2 = 0"
    async with database.transaction() as db:
        await db.execute(text(theirs))
        person = await employ(db, "Somebody else")
        began = time.perf_counter()
        await db.execute(text("UPDATE clock_transactions SET judge_at = now() WHERE emp_code = '1000'"))
        bare = time.perf_counter() - began
    began = time.perf_counter()
    async with database.transaction() as db:
        await bindings.bind(db, SYSTEM, await bindings.id_of_code(db, "1000"), person)
    asked = time.perf_counter() - began
    began = time.perf_counter()
    while await _marked(database):
        pass
    spent = time.perf_counter() - began
    print(
        f"owner:  {asked * 1000:.0f} ms to bind it; marks in {spent:.1f} s; bare UPDATE {bare:.1f} s; ratio {spent / bare:.1f}"
    )


async def _marked(database: Database) -> bool:
    async with database.transaction() as db:
        return await rebinding.mark_slice(db)


async def _slice(database: Database) -> bool:
    async with database.transaction() as db:
        return await rezoning.rewrite_slice(db)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--days", type=int, default=100)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.people, arguments.days))
