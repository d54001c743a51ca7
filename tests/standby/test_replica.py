"""A standby that is read: what is far behind, dead or promoted is not, and pages say of when their figures are."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, text
from sqlalchemy.ext.asyncio import AsyncSession

from app import doctor_standbys
from app.accounts.models import WorkerHeartbeat
from app.config import Settings, read_settings
from app.db import replica as replicas
from app.db.replica import Mark, Replica, ReplicaProgress
from app.parts import Parts, web_parts
from tests.clock.api.test_routes import Caller, caller
from tests.command_line import CommandLine
from tests.conftest import KEYS, Browser, _make_cast, command_line
from tests.postgres15 import NoServer
from tests.standby.servers import Pair, Server, pair
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.calling import App

__all__ = ["caller", "nora"]
pytestmark = pytest.mark.slow
OVERVIEW, ANALYTICS, PEOPLE = "/surveys/overview", "/clock_analytics", "/people?export=csv"
SAID = re.compile(r'Figures of <time datetime="([0-9T:-]+Z)"[^>]*>[^<]+</time>,\s+read from a copy of the database')


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    try:
        with pair() as made:
            filling = threading.Thread(target=lambda: asyncio.run(_make_cast(made.urls.owner, "portal_app")))
            filling.start()
            filling.join()
            yield made
    except NoServer as reason:
        pytest.skip(f"PostgreSQL 15 can't be started: {reason}")


@pytest.fixture
def standby(servers: Pair) -> Iterator[Server]:
    """Follows the primary, which waits for it at no commit."""
    servers.standby.follow(servers.primary)
    yield servers.standby
    servers.standby.stop()


@pytest.fixture
def settings(servers: Pair, standby: Server, tmp_path: Path) -> Settings:
    told = {
        "MUSTER_DATA_DIR": str(tmp_path),
        "MUSTER_SECRET_KEYS": KEYS,
        "MUSTER_BASE_URL": "http://testserver",
        "MUSTER_API_RATE": "0",
        "MUSTER_REPLICA_DATABASE_URL": servers.of(standby),
    }
    return read_settings(told)


@pytest.fixture
def muster(servers: Pair, standby: Server, tmp_path: Path) -> CommandLine:
    made = command_line(servers.urls, tmp_path)
    made.environment["MUSTER_REPLICA_DATABASE_URL"] = servers.of(standby)
    return made


@pytest.fixture
async def parts(servers: Pair, settings: Settings) -> AsyncIterator[Parts]:
    made = web_parts(settings, servers.urls.app)
    yield made
    await made.close()


@pytest.fixture
def replica(parts: Parts) -> Replica:
    assert parts.replica is not None
    return parts.replica


@pytest.fixture
def asked(replica: Replica) -> list[str]:
    """The statements that the replica gets."""
    sent: list[str] = []
    for database in (replica.pages, replica.files):
        event.listen(
            database.engine.sync_engine, "before_cursor_execute", lambda _c, _u, statement, *_: sent.append(statement)
        )
    return sent


def read_of(asked: list[str]) -> list[str]:
    """Less those that ask how far it is."""
    return [one for one in asked if "pg_is_in_recovery" not in one]


async def add_ada(alice: Browser) -> str:
    number = f"N{datetime.now(UTC):%H%M%S%f}"
    assert (await alice.submit("/people/add", {"name": "Ada Byron", "id_number": number})).status_code == 303
    return number


async def responses(alice: Browser) -> tuple[int, datetime | None]:
    """How many of today the page tells of, and of when it says that this is."""
    page = (await alice.get(OVERVIEW)).text
    said = SAID.search(page)
    told = re.findall(r"(\d+) responses?</a>", page)
    assert told or "No survey yet" in page
    return int(told[0]) if told else 0, datetime.fromisoformat(said[1]) if said else None


async def test_pages_and_files_are_read_at_the_replica_and_have_what_was_just_done(
    alice: Browser, nora: App, caller: Caller, parts: Parts, asked: list[str]
) -> None:
    before, _ = await responses(alice)
    survey = await publish(parts.database, "Lunch")
    await nora.recorded(survey.uid, "opt_out")
    began = datetime.now(UTC).replace(microsecond=0)
    asked.clear()
    number, as_of = await responses(alice)
    assert read_of(asked)
    # The page waits for the replica for a moment only. Where that was not enough it says of when it is.
    assert number == before + 1 or (as_of is not None and as_of <= began)
    for url in (ANALYTICS, f"/surveys/view/{survey.uid}", f"/surveys/view/{survey.uid}/versions"):
        asked.clear()
        assert SAID.search((await alice.get(url)).text), url
        assert read_of(asked)
    asked.clear()
    summary = (await caller.data("/api/v1/clock/analytics/summary"))["as_of"]
    assert datetime.fromisoformat(summary) >= began
    assert read_of(asked)
    asked.clear()
    ada = await add_ada(alice)
    assert ada in (await alice.get(PEOPLE)).text
    assert read_of(asked)


async def test_a_page_of_a_replica_that_is_a_little_behind_says_of_when_it_is(
    alice: Browser, nora: App, parts: Parts, standby: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "FILE_WAITS_S", 0.1)
    survey = await publish(parts.database, "Lunch")
    standby.until(f"SELECT pg_last_wal_replay_lsn() >= '{await place(parts)}'")
    before, _ = await responses(alice)
    standby.scalar("SELECT pg_wal_replay_pause()")
    asked_at = datetime.now(UTC)
    await nora.recorded(survey.uid, "opt_out")
    number, as_of = await responses(alice)
    assert (number, as_of is not None) == (before, True)
    assert as_of is not None
    assert as_of <= asked_at
    assert await add_ada(alice) in (await alice.get(PEOPLE)).text, "a file lacks nothing: it comes from the primary"


async def place(parts: Parts) -> str:
    async with parts.database.shared_transaction() as db:
        return (await replicas.mark(db)).place


async def test_one_that_is_far_behind_is_not_read_and_no_file_ever_lacks_a_row(
    alice: Browser, parts: Parts, standby: Server, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "MOST_LAG", timedelta(0))
    monkeypatch.setattr(replicas, "FILE_WAITS_S", 0.1)
    standby.until(f"SELECT pg_last_wal_replay_lsn() >= '{await place(parts)}'")
    standby.scalar("SELECT pg_wal_replay_pause()")
    ada = await add_ada(alice)
    assert ada in (await alice.get(PEOPLE)).text
    for url in (OVERVIEW, ANALYTICS):
        page = await alice.get(url)
        assert page.status_code == 200
        assert not SAID.search(page.text)
    assert not read_of(asked)


@pytest.mark.parametrize("how", ["killed", "promoted"])
async def test_a_dead_or_promoted_replica_is_not_read(
    alice: Browser, standby: Server, asked: list[str], muster: CommandLine, how: str
) -> None:
    assert SAID.search((await alice.get(OVERVIEW)).text)
    standby.kill() if how == "killed" else standby.promote()
    asked.clear()
    for url in (OVERVIEW, ANALYTICS):
        page = await alice.get(url)
        assert page.status_code == 200
        assert not SAID.search(page.text)
    assert await add_ada(alice) in (await alice.get(PEOPLE)).text
    assert not read_of(asked)
    told = await muster("ledger:verify")
    assert told.code == 0, told.err
    line = await doctors_line(muster)
    assert line["level"] == "warning"
    assert "the primary is read in its place" in line["sentence"]


async def test_a_former_primary_with_a_log_of_its_own_is_not_read(
    alice: Browser, parts: Parts, standby: Server, asked: list[str]
) -> None:
    """It took changes beside the primary, and was then started as a standby.
    Its log is further than the primary's, and differs."""
    standby.promote()
    for _ in range(3):
        standby.scalar("SELECT pg_switch_wal() FROM (SELECT txid_current()) now")
    standby.stop()
    (standby.folder / "data" / "standby.signal").touch()
    standby.start()
    async with parts.database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1))
    standby.until(f"SELECT pg_last_wal_replay_lsn() > '{await place(parts)}'")
    assert not SAID.search((await alice.get(OVERVIEW)).text)
    assert not read_of(asked)


@pytest.mark.parametrize(
    ("fault", "at_replica"),
    [
        # For a while no read waits for it.
        ("SELECT pg_terminate_backend(pg_backend_pid())", [True, False, False]),
        # One statement was ended, so the next read asks it again.
        ("SELECT pg_cancel_backend(pg_backend_pid())", [True, False, True, False]),
    ],
)
async def test_a_replica_that_breaks_off_is_replaced_by_the_primary(
    parts: Parts, replica: Replica, fault: str, at_replica: list[bool]
) -> None:
    places: list[Any] = []

    async def work(db: AsyncSession) -> str:
        places.append(await db.scalar(text("SELECT pg_is_in_recovery()")))
        if places[-1]:
            await db.execute(text(fault))
        return "read"

    async with parts.database.transaction() as db:
        found = await replica.read(db, "main", work)
        again = await replica.read(db, "main", work)
    assert (found.found, found.as_of, again.found) == ("read", None, "read")
    assert places == at_replica


@pytest.mark.parametrize("holders", [["main"] * 2, ["acme", "acme", "globex", "globex", "initech"]])
async def test_a_replica_whose_connections_are_all_held_is_not_taken_for_a_dead_one(
    parts: Parts, replica: Replica, holders: list[str]
) -> None:
    """The workspace has its share of five connections, or others have all of them."""

    async def work(db: AsyncSession) -> bool:
        return bool(await db.scalar(text("SELECT pg_is_in_recovery()")))

    async with parts.database.transaction() as db:
        async with AsyncExitStack() as held:
            for holder in holders:
                await held.enter_async_context(replica.pages.transaction(holder))
            assert (await replica.read(db, "main", work)).found is False, "no read waits for long"
        assert (await replica.read(db, "main", work)).found is True, "and the next one is read there"


async def test_the_ledger_is_verified_at_the_replica(
    standby: Server, parts: Parts, nora: App, muster: CommandLine
) -> None:
    survey = await publish(parts.database, "Lunch")
    await nora.recorded(survey.uid, "opt_out")
    sessions = "SELECT sum(sessions) FROM pg_stat_database WHERE datname = 'muster'"
    before = standby.scalar(sessions)
    told = await muster("ledger:verify")
    assert told.code == 0, told.err
    standby.until(f"SELECT ({sessions}) > {before}")


async def doctors_line(muster: CommandLine, name: str = "replica") -> Any:
    told = await muster("doctor", "--json")
    (line,) = [one for one in told.json if one["name"] == name]
    return line


async def test_doctor_tells_of_standby_and_replica(servers: Pair, standby: Server, muster: CommandLine) -> None:
    assert (await doctors_line(muster))["level"] == "ok"
    line = await doctors_line(muster, "standby")
    assert (line["level"], "set synchronous_standby_names" in line["sentence"]) == ("warning", True)
    servers.primary.wait_for(standby.name)
    try:
        line = await doctors_line(muster, "standby")
        assert (line["level"], "waits for other" in line["sentence"]) == ("ok", True)
    finally:
        servers.primary.wait_for("")


class Follower:
    def __init__(self, name: str, sync_state: str | None) -> None:
        self.name, self.sync_state = name, sync_state


@pytest.mark.parametrize(
    ("followers", "waited_for", "several", "level"),
    [
        ([], "", False, None),
        ([], "", True, "warning"),
        ([], "db2", True, "failed"),
        ([Follower("db2", None)], "", True, "warning"),
        ([Follower("db2", None)], "db2", True, "ok"),
        ([Follower("db2", "async")], "db3", True, "failed"),
        ([Follower("db2", "async"), Follower("db3", "quorum")], "ANY 1 (db3, db4)", True, "ok"),
    ],
)
def test_what_is_said_of_a_standby(followers: list[Any], waited_for: str, several: bool, level: str | None) -> None:
    line = doctor_standbys.judged(followers, waited_for, several=several)
    assert (line[1] if line else None) == level


NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("found", "level", "words"),
    [
        (ReplicaProgress(True, True, None), "ok", "0 seconds behind."),
        (ReplicaProgress(True, False, NOW - timedelta(seconds=1)), "ok", "1 second behind."),
        (
            ReplicaProgress(True, False, NOW - timedelta(seconds=60)),
            "warning",
            "60 seconds behind: the primary is read",
        ),
        (ReplicaProgress(True, False, None), "warning", "not known"),
        (ReplicaProgress(False, False, NOW), "warning", "no standby"),
    ],
)
def test_what_is_said_of_a_replica(found: ReplicaProgress, level: str, words: str) -> None:
    said = doctor_standbys.standing(found, Mark("0/1", NOW))
    assert (said[0], words in said[1]) == (level, True)
