"""What people stored with an earlier version is there after the upgrade:
its dump restored, migrated, and read again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from app import doctor, wiring
from app.accounts.models import AuditEntry
from app.clock.importing import import_due
from app.clock.models import Punch, StaleDay
from app.config import read_settings
from app.db.migrate import migrate
from app.parts import Parts, make_parts
from app.surveys.ledger import verifying
from app.surveys.ledger.changes import Agreement
from tests.cluster import DatabaseUrls, TestCluster
from tests.conftest import command_line
from tests.surveys.changing import AGREED, agree, badges, change
from tests.upgrade.kept import Dump, kept
from tests.upgrade.reading import everything

# A job that still waits in the queue then says nothing about the upgrade.
_OF_A_RUNNING_SITE = {"jobs", "workers"}
_JUDGE_ALL = text("UPDATE clock_transactions SET judge_at = 'epoch'")


@pytest.fixture(scope="module", params=kept(), ids=lambda dump: dump.name)
def dump(request: pytest.FixtureRequest) -> Dump:
    chosen: Dump = request.param
    return chosen


@pytest.fixture(scope="module")
def upgraded(cluster: TestCluster, dump: Dump, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseUrls]:
    """A database of its own with everything from the dump, at the newest step."""
    urls = cluster.create_empty()
    dump.restore(urls)
    migrated = asyncio.run(command_line(urls, tmp_path_factory.mktemp("upgraded"))("migrate:modules"))
    assert migrated.code == 0, migrated.err
    yield urls
    cluster.drop(urls)


@pytest.fixture
async def old_parts(upgraded: DatabaseUrls, dump: Dump, tmp_path: Path) -> AsyncIterator[Parts]:
    wiring.connect()
    environment = {"MUSTER_DATA_DIR": str(tmp_path), "MUSTER_SECRET_KEYS": dump.notes["keys"]}
    made = make_parts(read_settings(environment), upgraded.app)
    yield made
    await made.close()


def _now(dump: Dump) -> datetime:
    return datetime.fromisoformat(dump.notes["now"])


def _kept(told: Any, found: Any) -> Any:
    """`found` without what the earlier version did not know: a later one may say more, never less or something else."""
    if isinstance(told, dict) and isinstance(found, dict):
        return {name: _kept(value, found[name]) for name, value in told.items() if name in found}
    if isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        return [_kept(one, other) for one, other in zip(told, found, strict=True)]
    return found


async def _read(parts: Parts, dump: Dump) -> dict[str, Any]:
    return await everything(parts, dump.notes["workspaces"], _now(dump))


async def test_everything_that_was_stored_is_there(old_parts: Parts, dump: Dump) -> None:
    found = await _read(old_parts, dump)
    for workspace, told in dump.notes["told"].items():
        for part, before in told.items():
            assert _kept(before, found[workspace][part]) == before, f"{workspace}: {part}"


async def test_a_record_that_was_kept_is_a_punch_that_is_settled(old_parts: Parts, dump: Dump) -> None:
    for workspace, told in dump.notes["told"].items():
        kept = sorted(one["remote_id"] for one in told["punches"] if one["reviewed"])
        assert kept
        async with old_parts.database.transaction(workspace) as db:
            marked = select(Punch).where(Punch.settled_at_utc.is_not(None)).order_by(Punch.remote_id)
            found = list(await db.scalars(marked))
            assert sorted(one.remote_id for one in found) == kept
            assert {(one.settled_by, one.covered_by_id) for one in found} == {("a person", None)}
            assert all(one.settled_at_utc is not None and one.settled_at_utc < one.updated_at for one in found)
            stale = set(await db.scalars(select(StaleDay.local_date)))
            assert {one.local_date for one in found} <= stale


async def test_judging_every_punch_again_changes_nothing(old_parts: Parts, dump: Dump) -> None:
    for workspace, told in dump.notes["told"].items():
        opened = partial(old_parts.database.transaction, workspace)
        async with opened() as db:
            await db.execute(_JUDGE_ALL)
        await import_due.import_due(opened, now=_now(dump))
        found = (await _read(old_parts, dump))[workspace]
        assert _kept(told["attendance"], found["attendance"]) == told["attendance"]
        assert _kept(told["punches"], found["punches"]) == told["punches"]


async def test_the_commands_that_look_after_a_site_are_content(
    upgraded: DatabaseUrls, old_parts: Parts, dump: Dump, tmp_path: Path
) -> None:
    muster = command_line(upgraded, tmp_path)
    muster.environment["MUSTER_SECRET_KEYS"] = dump.notes["keys"]
    for workspace in dump.notes["workspaces"]:
        verified = (await muster("ledger:verify", "--workspace", workspace, "--json")).json
        assert (verified["fits"], verified["head"]) == (True, dump.notes["told"][workspace]["ledger"]["head"])
    found = await doctor.examine(old_parts, upgraded.owner)
    assert [one for one in found if one.level == "failed" and one.name not in _OF_A_RUNNING_SITE] == []


async def test_the_head_is_noted_as_it_was(old_parts: Parts, dump: Dump) -> None:
    """Comes behind the tests that compare the audit: it adds to it."""
    for workspace, told in dump.notes["told"].items():
        async with old_parts.database.transaction(workspace) as db:
            await verifying.note_head(db)
            last = select(AuditEntry.after).where(AuditEntry.workspace == workspace, AuditEntry.act == verifying.NOTE)
            noted = await db.scalar(last.order_by(AuditEntry.id.desc()).limit(1))
        assert noted == {"number": told["ledger"]["rows"], "head": told["ledger"]["head"]}


async def test_the_chain_continues_with_responses_and_changes(old_parts: Parts, dump: Dump) -> None:
    """Comes behind the tests that compare what was stored: it adds to it."""
    database, keys = old_parts.database, old_parts.keys
    for workspace, told in dump.notes["told"].items():
        before = told["ledger"]["rows"]
        async with database.transaction(workspace) as db:
            agreed = Agreement(*(await db.execute(AGREED)).one(), turns=0)
        assert await change(database, keys, agreed, workspace=workspace)
        await agree(database, keys, await badges(database, workspace), 9_000)
        await change(database, keys, replace(agreed, turns=1), workspace=workspace)
        verdict = await verifying.verify(database, keys, workspace)
        assert (verdict.problem, verdict.rows) == (None, before + 3)


async def test_a_second_upgrade_changes_nothing(upgraded: DatabaseUrls, cluster: TestCluster) -> None:
    assert [one for one in await migrate(upgraded.owner, cluster.app_role) if one.changed] == []
