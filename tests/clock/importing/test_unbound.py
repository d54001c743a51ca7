"""Punches that no employee stands behind, settled many at a time:
the word is the pairing core's, and no mark is lost."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial

import psycopg
import pytest
from sqlalchemy import insert, select, text, update

from app.clock.importing import due, import_due, unbound
from app.clock.importing import rows as import_rows
from app.clock.importing.owners import OwnedCodes
from app.clock.models import Binding, Cursor, Punch, StaleDay
from app.clock.pairing.inputs import Case, TimeSpan, Unbound
from app.clock.pairing.judge import judge
from app.clock.punches import marks
from app.db.direct import driver
from app.db.session import Database
from tests.clock.mirror_store import FAR, when
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, outcomes, punch
from tests.cluster import DatabaseUrls

EVER = TimeSpan(when("2020-01-01 00:00"), when("2030-01-01 00:00"))
NOW = when("2026-03-06 10:00")
TAPS = "I 08:00, O 17:00, I Tue 08:00, x Wed 08:00, I Sat 08:00, O Sat 12:00"


@pytest.fixture
async def crowd(database: Database) -> None:
    """Seven without an owner and Ada with one, under every condition that decides before or after "Not bound"."""
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "DOOR", kind_mark="access")
        for code in ("7", "8", "door", "memory", "again", "kept"):
            await mirror_person(db, code)
        await mirror_person(db, "100", await employ(db, "Ada"))
        for code in ("7", "8", "100", "memory", "again", "kept", "unknown"):
            await punch(db, code, TAPS)
        await punch(db, "door", TAPS, sn="DOOR")
        for code, change in (
            ("memory", {"imported_role": "in", "import_outcome": "attendance_deleted"}),
            ("again", {"retry": True, "imported_role": "out"}),
            ("kept", {"import_outcome": "not_bound"}),
            ("8", {"import_outcome": "only_one_punch"}),
        ):
            await db.execute(update(Punch).where(Punch.emp_code == code).values(**change))
        await read_until_tuesday(db)


async def read_until_tuesday(db) -> None:
    common = {"resource": "transactions"}
    await db.execute(
        insert(Cursor),
        [
            {**common, "window": "live", "kind": "live", "state": "complete", "starts_on": date(2026, 3, 3),
             "ends_on": None, "done_until": None, "covered_until": NOW},
            {**common, "window": "check:2026-03-02", "kind": "check", "state": "open", "starts_on": date(2026, 3, 2),
             "ends_on": date(2026, 3, 2), "done_until": date(2026, 3, 2), "covered_until": None},
        ],
    )  # fmt: skip


async def found(database: Database, now=FAR) -> list[int]:
    return [one async for ids in unbound.find(partial(database.transaction, "main"), now) for one in ids]


async def test_page_after_page_finds_the_same(database: Database, crowd: None, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = await found(database)
    monkeypatch.setattr(unbound, "FOUND", 2)
    assert await found(database) == at_once
    assert len(at_once) > 2


async def test_pages_after_the_first_follow_the_ids(database: Database, crowd: None, urls: DatabaseUrls) -> None:
    """With statistics from before a large sync, few punches seem to wait."""
    async with database.transaction() as db:
        await db.execute(update(Punch).values(judge_at=None))
    with psycopg.connect(urls.owner) as owner:
        owner.execute("ANALYZE main.clock_transactions")
    async with database.transaction() as db:
        await db.execute(text("SET LOCAL enable_seqscan = off"))
        await db.execute(text("SET LOCAL enable_bitmapscan = off"))
        plans = []
        for query, may_sort in ((unbound.FIND, "on"), (unbound.FIND_NEXT, "off")):
            await db.execute(text(f"SET LOCAL enable_sort = {may_sort}"))
            rows = await driver(db).fetch(f"EXPLAIN {query}", NOW, NOW, [], [], [], 0, unbound.FOUND)
            plans.append("\n".join(row[0] for row in rows))
    assert ["clock_transactions_judge" in plan for plan in plans] == [True, False], plans
    assert "clock_transactions_pkey" in plans[1]


@pytest.mark.parametrize("now", [NOW, FAR], ids=["then", "much later"])
async def test_whatever_is_settled_gets_the_word_of_the_core(database: Database, crowd: None, now) -> None:
    async with database.transaction() as db:
        world = await import_rows.read_world(db, now)
        expected = {}
        for code in ("7", "8", "door", "memory", "again", "kept", "unknown"):
            (read,) = await import_rows.read_spans(db, world, [(OwnedCodes(Unbound(), (code,)), EVER)])
            judged = judge(Case(Unbound(), read.punches, read.records, world.rules, now, unread=world.unread))
            expected |= {
                one.punch_id: (one.outcome.value, one.judge_at, one.role, one.retry, one.is_news)
                for one in judged.verdicts
            }
    ids = await found(database, now)
    assert ids, "there is something to settle"
    assert {expected[one][:4] for one in ids} == {("not_bound", None, None, False)}
    async with database.transaction() as db:
        judged, news = await unbound.settle(db, ids, now)
        assert (judged, news) == (len(ids), sum(expected[one][4] for one in ids))
        rows = await db.execute(select(Punch.id, Punch.import_outcome, Punch.judge_at).where(Punch.id.in_(ids)))
        assert {(outcome, at) for _, outcome, at in rows} == {("not_bound", None)}
    memory = await with_codes(database, ids)
    assert memory.keys() <= {"7", "8", "kept", "unknown"}, "what has a past, and a door's taps, go through the core"


async def with_codes(database: Database, ids: list[int]) -> Counter[str]:
    async with database.transaction() as db:
        return Counter(await db.scalars(select(Punch.emp_code).where(Punch.id.in_(ids))))


async def test_what_is_not_settled_at_once_is_judged_all_the_same(database: Database, crowd: None) -> None:
    async with database.transaction() as db:
        await db.execute(text("DELETE FROM clock_sync_cursors"))
    result = await import_due.import_due(partial(database.transaction, "main"), now=FAR)
    async with database.transaction() as db:
        assert result.judged == await db.scalar(text("SELECT count(*) FROM clock_transactions"))
        assert await db.scalar(text("SELECT count(*) FROM clock_transactions WHERE judge_at IS NOT NULL")) == 0
        words = {code: {word for _, word in await outcomes(db, code)} for code in ("7", "8", "kept", "unknown", "door")}
    assert words == {**{code: {"not_bound"} for code in ("7", "8", "kept", "unknown")}, "door": {"access_terminal"}}


async def test_only_news_make_a_day_stale_and_a_punch_updated(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "7", "I 08:00, O Tue 17:00")
        await db.execute(
            update(Punch)
            .where(Punch.local_date == date(2026, 3, 2))
            .values(import_outcome="not_bound", updated_at=when("09:00"))
        )
    async with database.transaction() as db:
        await db.execute(text("DELETE FROM clock_stale_days"))
    result = await import_due.import_due(partial(database.transaction, "main"), now=FAR)
    assert (result.judged, result.outcomes) == (2, {"not_bound": 1})
    async with database.transaction() as db:
        assert list(await db.scalars(select(StaleDay.local_date))) == [date(2026, 3, 3)]
        assert await db.scalar(select(Punch.updated_at).where(Punch.local_date == date(2026, 3, 2))) == when("09:00")


async def test_a_code_that_is_bound_meanwhile_keeps_its_mark(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "7")
        await punch(db, "7", "I 08:00, O 17:00")
    ids = await found(database)
    async with database.transaction() as db:
        employee_id = await employ(db, "Bea")
        await db.execute(update(Binding).values(state="bound", method="manual", host_employee_id=employee_id))
        await marks.mark(db, Punch.emp_code == "7")
        late = asyncio.create_task(settle(database, ids))
        await asyncio.sleep(0.2)
        assert not late.done(), "it waits for the transaction that binds the code"
    assert await late == (0, 0)
    await import_due.import_due(partial(database.transaction, "main"), now=FAR)
    async with database.transaction() as db:
        assert {word for _, word in await outcomes(db)} == {"imported"}


async def settle(database: Database, ids: list[int]) -> tuple[int, int]:
    async with database.transaction() as db:
        return await unbound.settle(db, ids, FAR)


SLOW = """
CREATE FUNCTION main.slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
CREATE TRIGGER slowly BEFORE INSERT ON main.clock_analytics_daily FOR EACH STATEMENT EXECUTE FUNCTION main.slowly();
"""


@contextmanager
def slow_counting(urls: DatabaseUrls) -> Iterator[None]:
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        owner.execute(SLOW)
        try:
            yield
        finally:
            owner.execute("DROP FUNCTION main.slowly CASCADE")


async def test_while_days_are_counted_slowly_no_transaction_waits(
    database: Database, urls: DatabaseUrls, monkeypatch
) -> None:
    """The server ends one that waits between two statements, for minutes in a job; here for half a second."""
    monkeypatch.setattr(unbound, "FOUND", 2)
    monkeypatch.setattr(unbound, "SLICE", 2)
    monkeypatch.setattr(due, "PORTION", 2)
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "7", "I 08:00, O 17:00, I Tue 08:00, O Tue 17:00, I Wed 08:00")
    impatient = Database(urls.app, idle_s=0.5)
    try:
        with slow_counting(urls):
            result = await import_due.import_due(partial(impatient.transaction, "main"), now=FAR)
    finally:
        await impatient.close()
    assert (result.judged, result.complete) == (5, True)


async def test_an_import_that_is_stopped_says_that_it_is_not_complete(database: Database, monkeypatch) -> None:
    monkeypatch.setattr(unbound, "SLICE", 2)
    async with database.transaction() as db:
        await connect(db)
        await punch(db, "7", "I 08:00, O 17:00, I Tue 08:00")
    told = []

    async def stop(done: int, of: int) -> bool:
        told.append((done, of))
        return False

    result = await import_due.import_due(partial(database.transaction, "main"), now=FAR, progress=stop)
    assert (told, result.judged, result.complete) == ([(2, 3)], 2, False)
    result = await import_due.import_due(partial(database.transaction, "main"), now=FAR)
    assert (result.judged, result.complete) == (1, True)
