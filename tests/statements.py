"""What each test asks of the database, written down while the suite runs with `--write-statements`,
and which tests send all of it together.

A statement of the program counts once if it is answered, since another server parses and plans it whatever the answer
is, and once for each error by its code. Its values do not count, nor how many there are of them in a row. What a test
itself asks, to look or to prepare, does not count.
"""

import hashlib
import json
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import greenlet
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from tests.cluster import ROOT

FOLDER = ROOT / ".pytest_cache" / "statements"
# An event of the interpreter for each way to start a process: what a process sends is not seen here.
_STARTS = {"subprocess.Popen", "os.posix_spawn", "os.fork"}
# What a test costs before its first line, in seconds.
_BEFORE = 0.02
_ANSWERED = "answered"
# Values, and what is named by chance or by a tenant.
_VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+\b|\btenant_\w+|(?<=sa_savepoint_)\d+")
_PLACES = re.compile(r"(\$(?:::[\w ]+(?:\[\])?)?)(?:, ?\1)+")
_ROWS = re.compile(r"(\([^()]*\))(?:, ?\1)+")
# The driver's own methods, through which all other ones of it pass; a statement comes first. Those that only prepare
# one have no answer yet.
_OF_THE_DRIVER = ("execute", "_execute", "_executemany", "_copy_in", "_copy_out")
_PREPARING = ("prepare", "cursor")


# Who sends a statement is the nearest of these behind it; what app/db sends, it sends for others.
_OURS, _FOR_OTHERS = tuple(f"{ROOT / one}/" for one in ("app", "workers", "tests")), f"{ROOT / 'app' / 'db'}/"


class Asked(NamedTuple):
    """By one test, in so many seconds. `stays` is true for one that runs beside another server whatever it sends."""

    statements: frozenset[str]
    seconds: float
    stays: bool


class Notes:
    """A plugin of pytest: one process of the suite writes down what its tests send. Of those that `asks` denies it
    writes that they send nothing."""

    def __init__(self, file: Path, asks: Callable[[pytest.Item], bool], stays: Callable[[pytest.Item], bool]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("w", encoding="utf-8", buffering=1)
        self._asks, self._stays = asks, stays
        self._sent: set[tuple[str, str]] = set()
        self._is_unsure = False
        self._heard = {"after_cursor_execute": self._answered, "handle_error": self._failed}
        for name, hear in self._heard.items():
            event.listen(Engine, name, hear)
        self._drivers = {name: getattr(asyncpg.Connection, name) for name in (*_OF_THE_DRIVER, *_PREPARING)}
        for name, ask in self._drivers.items():
            hear = self._overheard_preparing if name in _PREPARING else self._overheard
            setattr(asyncpg.Connection, name, hear(ask))
        sys.addaudithook(self._met)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._sent.clear()
        self._is_unsure = False
        began = time.process_time()
        done = yield
        asks = self._asks(item)
        line = {
            "test": item.nodeid,
            "seconds": time.process_time() - began,
            "stays": asks and (self._is_unsure or self._stays(item)),
            "sent": sorted(_short(*one) for one in self._sent) if asks else [],
        }
        self._file.write(json.dumps(line) + "\n")
        return done

    def pytest_unconfigure(self) -> None:
        for name, hear in self._heard.items():
            event.remove(Engine, name, hear)
        for name, ask in self._drivers.items():
            setattr(asyncpg.Connection, name, ask)
        self._file.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._is_unsure = self._is_unsure or not report.passed

    def _answered(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        self._note(statement, _ANSWERED)

    def _failed(self, context: Any) -> None:
        if context.statement:
            self._note(context.statement, _code(context.original_exception))

    def _note(self, statement: str, answer: str) -> None:
        if (statement, answer) not in self._sent and not _is_of_a_test():
            self._sent.add((statement, answer))

    def _overheard(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Of what goes to the driver itself (app/db/direct.py) SQLAlchemy tells nothing."""

        async def asking(connection: asyncpg.Connection, statement: str, *given: Any, **named: Any) -> Any:
            try:
                answer = await ask(connection, statement, *given, **named)
            except Exception as error:
                self._note(statement, _code(error))
                raise
            self._note(statement, _ANSWERED)
            return answer

        return asking

    def _overheard_preparing(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asking(connection: asyncpg.Connection, statement: str, *given: Any, **named: Any) -> Any:
            # SQLAlchemy prepares each one, and tells of it when it is answered.
            if "/sqlalchemy/" not in sys._getframe(1).f_code.co_filename:
                self._note(statement, _ANSWERED)
            return ask(connection, statement, *given, **named)

        return asking

    def _met(self, happened: str, _: Any) -> None:
        self._is_unsure = self._is_unsure or happened in _STARTS


def _is_of_a_test() -> bool:
    for file in _files_behind():
        if file.startswith(_OURS) and file != __file__ and not file.startswith(_FOR_OTHERS):
            return file.startswith(_OURS[-1])
    return False


def _files_behind() -> Iterator[str]:
    """From the nearest on. SQLAlchemy sends in a greenlet of its own, behind which the caller waits in another one."""
    frame, here = sys._getframe(), greenlet.getcurrent()
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back
        if frame is None and here.parent is not None:
            here = here.parent
            frame = here.gr_frame


def _code(error: BaseException) -> str:
    return getattr(error, "sqlstate", None) or type(error).__name__


@cache
def _short(statement: str, answer: str) -> str:
    bare = _VALUES.sub("0", re.sub(r"\$\d+", "$", statement))
    bare = _ROWS.sub(r"\1", _PLACES.sub(r"\1", " ".join(bare.split())))
    return hashlib.blake2b(f"{answer} {bare}".encode(), digest_size=8).hexdigest()


def clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def written_down(folder: Path) -> dict[str, Asked]:
    """By the id of the test; empty where nothing was."""
    lines = (line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines())
    found = map(json.loads, lines)
    return {one["test"]: Asked(frozenset(one["sent"]), one["seconds"], one["stays"]) for one in found}


def enough(asked: Mapping[str, Asked]) -> set[str]:
    """The tests that stay, and beside them as many as send every statement of all: first those that send most of what
    is missing for their time. None of them sends only what others of them send too."""
    kept = {test for test, one in asked.items() if one.stays}
    chosen = _most_for_their_time_first(asked, kept)
    senders = Counter(chain.from_iterable(asked[test].statements for test in kept | chosen))
    for test in sorted(chosen, key=lambda test: (-asked[test].seconds, test)):
        if all(senders[statement] > 1 for statement in asked[test].statements):
            chosen.remove(test)
            senders.subtract(asked[test].statements)
    return kept | chosen


def _most_for_their_time_first(asked: Mapping[str, Asked], kept: set[str]) -> set[str]:
    """Tests that send what those that are kept do not."""
    chosen = set[str]()
    met = set[str]().union(*(asked[test].statements for test in kept))

    def worth(test: str) -> float:
        return len(asked[test].statements - met) / (asked[test].seconds + _BEFORE)

    # What a test adds only shrinks: the first of the heap is the best one if it is still worth what it was.
    heap = [(-worth(test), test) for test in sorted(asked.keys() - kept)]
    heapify(heap)
    while heap:
        before, test = heappop(heap)
        now = worth(test)
        if now == 0:
            continue
        if now < -before:
            heappush(heap, (-now, test))
            continue
        chosen.add(test)
        met |= asked[test].statements
    return chosen
