"""In which order and by how many processes the suite is run:
files that take long begin first, and every other test waits."""

import inspect
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.statements import FOLDER, Asked, enough, written_down

# A file is run by one process, which takes the next one when it is through. What takes longest stands at the top, so
# that nothing long is left for the end; what waits for processes and what keeps a core busy take turns.
LONG = (
    "browser/test_pages.py",
    "test_cli_serve.py",
    "upgrade/test_side_by_side.py",
    "faults/test_kill.py",
    "browser/test_flows.py",
    "db/test_embedded.py",
    "test_odd_requests.py",
    "gallery/test_gallery.py",
    "test_jobs.py",
    "clock/api/test_fuzz.py",
    "clock/connection/test_saved.py",
    "clock/sync/test_sync_faults.py",
    "outbound/test_client.py",
    "clock/sync/test_run.py",
    "clock/bindings/test_actions.py",
    "clock/pages/test_transactions.py",
    "test_cli_clock.py",
    "test_cli.py",
)
_TESTS = Path(__file__).parent
_MOST = 8
# Every test that asks for a database has one of these behind it.
_DATABASE = {"cluster", "own_cluster"}
# What these ask about lies on this side of the database: what is typed, what a client or a proxy does, what a
# time-clock server says, how a process begins and ends, and what it takes of memory.
# What they store on the way, others store as well.
THIS_SIDE = (
    # A portal of its own answers them, and what it sends is not seen; its pages are made of the same answers.
    "browser/",
    "clock/sync/test_sync_faults.py",
    "deploy/test_proxies.py",
    # Programs are killed there, whose transactions any version gives up alike.
    "faults/",
    "gallery/",
    "moving/test_memory.py",
    "test_cli_odd_input.py",
    "test_cli_serve.py",
    "test_ways.py",
    # Two versions of the program over one server. What migrates under them is sent by upgrade/test_upgrade.py.
    "upgrade/test_side_by_side.py",
    "web/test_gate.py",
    "web/test_head.py",
    "web/test_refusals.py",
    "web/test_way_back.py",
    "web/transport/",
)
# These stay beside another server whatever they send: they ask what another version or role may answer otherwise, and
# the rule below misses it. They are about snapshots, migrations, sessions, roles, triggers, plans, and old dumps.
STAYS = (
    "clock/api/test_attendance.py",
    "clock/api/test_following.py",
    "db/",
    "surveys/api/integration/test_responses.py",
    "surveys/ledger/test_append.py",
    "surveys/ledger/test_guarded_notes.py",
    "test_flat_lists.py",
    "test_flat_reads.py",
    "upgrade/",
)
# So do tests that do several things at once, since another version may lock otherwise, and those that name what is the
# server's own business: plans, sessions, locks, deadlines and rights.
_SPECIAL = re.compile(
    r"\b(gather|create_task|TaskGroup|Thread|watch)\(|EXPLAIN|pg_[a-z]|_timeout\b|privilege|\b(psycopg|asyncpg)\b"
)
_NAME = re.compile(r"\w+")
# Each process that looks at pages starts a portal and a browser of its own, for half a minute of a small machine: the
# one that walks through all pages, and one for all the rest.
_ALONE = "tests/browser/test_pages.py"
_TOGETHER = "tests/browser/"


def keep_those_with_a_database(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes out in place what would do the very same beside another PostgreSQL."""
    kept = [item for item in items if _is_kept(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _is_kept(item)])
    items[:] = kept


def _is_kept(item: pytest.Item) -> bool:
    return asks_the_database(item) and (item.nodeid not in _asked() or item.nodeid in _chosen())


def asks_the_database(item: pytest.Item) -> bool:
    return not (_name(item).startswith(THIS_SIDE) or _DATABASE.isdisjoint(getattr(item, "fixturenames", ())))


def stays(item: pytest.Item) -> bool:
    """True for a test that asks another server too, whatever it sends."""
    return _name(item).startswith(STAYS) or _asks_at_once_or_the_server(item)


def _name(item: pytest.Item) -> str:
    return f"{item.path.relative_to(_TESTS).as_posix()}::{item.name}"


def _asks_at_once_or_the_server(item: pytest.Item) -> bool:
    """By its own words, or those of a function beside it that it names."""
    test = getattr(item, "function", type(item))
    words = inspect.getsource(test)
    return bool(_SPECIAL.search(words)) or not _special_ones(test.__module__).isdisjoint(_NAME.findall(words))


@cache
def _special_ones(module: str) -> set[str]:
    beside = inspect.getmembers(sys.modules[module], inspect.isfunction)
    ours = [one for name, one in beside if one.__module__ == module and not name.startswith("test_")]
    return {one.__name__ for one in ours if _SPECIAL.search(inspect.getsource(one))}


def is_left_out(path: Path) -> bool:
    """True for a file of which no test is kept: to import it takes time too."""
    if not path.name.startswith("test_") or not path.is_relative_to(_TESTS):
        return False
    file = path.relative_to(_TESTS).as_posix()
    return file.startswith(THIS_SIDE) or f"tests/{file}" in _files_left_out()


@cache
def _files_left_out() -> set[str]:
    return _files(_asked()) - _files(_chosen())


def _files(tests: Iterable[str]) -> set[str]:
    return {test.partition("::")[0] for test in tests}


@cache
def _asked() -> dict[str, Asked]:
    return written_down(FOLDER)


@cache
def _chosen() -> set[str]:
    """Without what was written down, all tests are kept."""
    return enough(_asked())


def long_ones_first(items: list[pytest.Item]) -> None:
    """Sorts in place; all else keeps its order."""
    place = {_TESTS / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))


class InFiles(LoadFileScheduling):
    """A file is run by one process, and the flows of the browser are as one file."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return _TOGETHER if file.startswith(_TOGETHER) and file != _ALONE else file


def processes() -> int:
    """Three for two cores: while one test waits for a server, a browser or a deadline, another one can use the core.
    More of them lose in beginning what they gain in waiting."""
    return min((3 * len(os.sched_getaffinity(0)) + 1) // 2, _MOST)
