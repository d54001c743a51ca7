"""What backups call, and how Muster notices that they don't."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text, update

from app.accounts.audit import Actor
from app.db.session import Database
from app.host.backups import watch
from app.host.backups.models import BackupWatch
from app.host.pages.backups import ping
from app.problems import looking
from app.problems.models import Problem
from tests.conftest import Browser
from tests.surveys.recording import user_id

PAGE = "/admin/backups"
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_caller_is_known() -> None:
    ping._buckets.clear()


@pytest.mark.parametrize(
    ("hours_ago", "late_by"), [(None, None), (0, None), (25.9, None), (26, None), (26.5, 0.5), (100, 74)]
)
def test_a_call_is_missing_after_the_hours_and_never_before_the_first(
    hours_ago: float | None, late_by: float | None
) -> None:
    last = None if hours_ago is None else NOW - timedelta(hours=hours_ago)
    since = watch.overdue_since(last, 26, NOW)
    assert since == (None if late_by is None else NOW - timedelta(hours=late_by))


async def address_of(alice: Browser) -> str:
    """The path of a new address."""
    shown = await alice.submit(f"{PAGE}/address", {}, follow_redirects=True)
    assert shown.status_code == 200
    assert "no-store" in shown.headers["cache-control"]
    (path,) = set(re.findall(r"/ping/[\w-]+", shown.text))
    return path


async def let_pass(database: Database, hours: float) -> None:
    async with database.transaction() as db:
        await db.execute(update(BackupWatch).values(last_ping_at=BackupWatch.last_ping_at - timedelta(hours=hours)))
        await looking.look(db)


async def problems(database: Database) -> list[bool]:
    """Whether each one is open."""
    async with database.transaction() as db:
        found = await db.scalars(select(Problem.closed_at.is_(None)).where(Problem.kind == "backup_overdue"))
        return list(found)


async def test_a_missing_call_opens_a_problem_and_the_next_one_closes_it(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    path = await address_of(alice)
    async with database.transaction() as db:
        await looking.look(db)
    assert "None yet" in (await alice.get(PAGE)).text
    assert (await visitor.get(path)).status_code == 204
    await let_pass(database, 25)
    assert await problems(database) == []
    await let_pass(database, 1.1)
    assert await problems(database) == [True]
    assert "The backup is overdue" in (await alice.get(PAGE)).text
    answer = await visitor.post(path)
    assert (answer.status_code, answer.text) == (204, "")
    assert await problems(database) == [False]


async def test_a_head_is_refused_and_notes_nothing(alice: Browser, visitor: Browser, database: Database) -> None:
    path = await address_of(alice)
    for asked in (await visitor.head(path), await visitor.put(path), await visitor.options(path)):
        allowed = asked.headers["allow"]
        assert (asked.status_code, allowed) == (204 if asked.request.method == "OPTIONS" else 405, "GET, OPTIONS, POST")
    async with database.shared_transaction() as db:
        assert await db.scalar(select(BackupWatch.last_ping_at)) is None


async def test_other_hours_count_at_once(alice: Browser, visitor: Browser, database: Database) -> None:
    path = await address_of(alice)
    await visitor.get(path)
    await let_pass(database, 5)
    saved = await alice.submit(PAGE, {"expected_hours": "4"})
    assert saved.status_code == 303
    assert await problems(database) == [True]


async def test_a_new_address_replaces_the_old_one_and_removing_it_expects_nothing(
    alice: Browser, visitor: Browser, database: Database
) -> None:
    old = await address_of(alice)
    await visitor.get(old)
    new = await address_of(alice)
    assert [(await visitor.get(path)).status_code for path in (old, new)] == [404, 204]
    await let_pass(database, 30)
    assert await problems(database) == [True]
    await alice.submit(f"{PAGE}/remove", {})
    assert (await visitor.get(new)).status_code == 404
    assert await problems(database) == [False]
    assert "Make an address" in (await alice.get(PAGE)).text


async def test_the_secret_is_nowhere(alice: Browser, visitor: Browser, database: Database) -> None:
    """Not in a table, not on a page, not in the metrics."""
    secret = (await address_of(alice)).rpartition("/")[2]
    await visitor.get(f"/ping/{secret}")
    for url in (PAGE, "/admin/audit", "/admin/audit?export=jsonl", "/metrics"):
        assert secret not in (await alice.get(url)).text, url
    assert 'route="/ping/{secret}"' in (await alice.get("/metrics")).text.replace("{secret:str}", "{secret}")
    async with database.transaction() as db:
        for table in ("backup_watch", "audit_entries", "problems"):
            held = await db.scalar(text(f"SELECT string_agg(t::text, '') FROM {table} AS t"))
            assert secret not in (held or ""), table


async def test_calls_right_after_each_other_are_noted_once_and_too_many_are_refused(
    alice: Browser, visitor: Browser, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ping, "PER_MINUTE", 3)
    path = await address_of(alice)
    await visitor.get(path)
    async with database.shared_transaction() as db:
        first = await db.scalar(select(BackupWatch.last_ping_at))
    answers = [(await visitor.get("/ping/guess")).status_code for _ in range(3)]
    assert answers == [404, 404, 429]
    refused = await visitor.get(path)
    assert (refused.status_code, int(refused.headers["retry-after"]) >= 1) == (429, True)
    ping._buckets.clear()
    assert (await visitor.get(path)).status_code == 204
    async with database.shared_transaction() as db:
        assert await db.scalar(select(BackupWatch.last_ping_at)) == first
        assert await db.scalar(select(func.count()).select_from(BackupWatch)) == 1


async def test_the_page_names_no_person_who_may_be_erased(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        await watch.make_address(db, Actor(await user_id(database, "bob"), "Bob Brandt"))
        assert "Bob" not in str((await db.execute(text("SELECT * FROM backup_watch"))).all())
    assert "Bob Brandt" not in (await alice.get(PAGE)).text


async def test_a_tenant_has_no_such_page(eve: Browser, vera: Browser) -> None:
    assert (await eve.get(PAGE)).status_code == 403
    assert (await vera.get(PAGE)).status_code == 403
