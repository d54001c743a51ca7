"""The second run of the suite asks another server everything that the first one asked, by fewer tests."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from app.db.direct import driver
from app.db.session import Database
from tests.cluster import ROOT
from tests.statements import Asked, Notes, enough, written_down

ASKED = st.builds(Asked, st.frozensets(st.sampled_from("abcdefgh")), st.floats(0, 5), st.booleans())


def sent_by(asked: dict[str, Asked], tests: set[str]) -> set[str]:
    return set[str]().union(*(asked[test].statements for test in tests))


@given(st.dictionaries(st.sampled_from([f"test_{number}" for number in range(12)]), ASKED))
def test_those_that_are_chosen_send_every_statement_and_each_of_them_has_a_reason(asked: dict[str, Asked]) -> None:
    chosen = enough(asked)
    assert sent_by(asked, chosen) == sent_by(asked, set(asked))
    assert {test for test, one in asked.items() if one.stays} <= chosen
    for test in (one for one in chosen if not asked[one].stays):
        assert sent_by(asked, chosen - {test}) != sent_by(asked, chosen), "the others send all of it"


def test_of_two_that_send_the_same_the_quicker_one_is_chosen() -> None:
    both = frozenset("ab")
    asked = {"slow": Asked(both, 3, stays=False), "quick": Asked(both, 1, stays=False)}
    assert enough(asked) == {"quick"}
    assert enough({**asked, "needed": Asked(both, 9, stays=True)}) == {"needed"}


def test_one_that_came_first_goes_when_those_after_it_send_all_of_it() -> None:
    sent = {"first": ("abcd", 1), "one": ("abx", 1), "other": ("cdy", 1)}
    asked = {test: Asked(frozenset(letters), seconds, stays=False) for test, (letters, seconds) in sent.items()}
    assert enough(asked) == {"one", "other"}


class Writing:
    """`with writing.as_test("rows"):` what is sent within is written down as that test's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = Notes(folder / "alone.jsonl", asks=lambda item: item.name != "aside", stays=lambda item: False)

    @contextmanager
    def as_test(self, name: str) -> Iterator[None]:
        line = self.notes.pytest_runtest_protocol(SimpleNamespace(nodeid=name, name=name))  # type: ignore[arg-type]
        next(line)
        yield
        with suppress(StopIteration):
            line.send(None)

    def asked(self) -> dict[str, Asked]:
        return written_down(self.folder)


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Writing]:
    made = Writing(tmp_path / "statements")
    yield made
    made.notes.pytest_unconfigure()


def of_the_program(ask: Any) -> Any:
    """The same function, as if it stood in app/."""
    return FunctionType(ask.__code__.replace(co_filename=str(ROOT / "app" / "asking.py")), ask.__globals__)


async def by_sqlalchemy(database: Database, statement: str, value: int) -> None:
    async with database.transaction() as db:
        await db.execute(text(statement), {"value": value})


async def by_the_driver(database: Database, statement: str, value: int) -> None:
    async with database.transaction() as db:
        await driver(db).fetch(statement.replace(":value", "$1"), value)


async def by_a_cursor(database: Database, statement: str, value: int) -> None:
    async with database.transaction() as db:
        await driver(db).cursor(statement.replace(":value", "$1"), value)


async def prepared(database: Database, statement: str, value: int) -> None:
    async with database.transaction() as db:
        await (await driver(db).prepare(statement.replace(":value", "$1"))).fetch(value)


async def nothing(database: Database, _statement: str, _value: int) -> None:
    async with database.transaction():
        pass


async def written_in(database: Database, statement: str, value: int) -> None:
    async with database.transaction() as db:
        await db.execute(text(statement.replace(":value", str(value))))


@pytest.mark.parametrize("ask", [by_sqlalchemy, by_the_driver, written_in])
async def test_a_statement_is_one_whatever_its_values_and_its_answer_are_and_each_error_is_another_one(
    database: Database, writing: Writing, ask: Any
) -> None:
    ask = of_the_program(ask)
    await ask(database, "SELECT :value + 0", 1)  # a new connection asks for more
    statement = "SELECT 1 WHERE 100 / CAST(:value AS int) > 10"
    for name, values in {"rows": [1], "none": [50], "other rows": [2, 3], "both": [4, 60], "aside": [5]}.items():
        with writing.as_test(name):
            for value in values:
                await ask(database, statement, value)
    with writing.as_test("error"), suppress(Exception):
        await ask(database, statement, 0)
    asked = {name: one.statements for name, one in writing.asked().items()}
    assert asked["rows"] == asked["other rows"] == asked["none"] == asked["both"] != frozenset()
    assert asked["aside"] == frozenset()
    # The one itself, and the end of its transaction.
    assert len(asked["rows"] - asked["error"]) == len(asked["error"] - asked["rows"]) == 2


@pytest.mark.parametrize("ask", [by_sqlalchemy, by_the_driver, by_a_cursor, prepared])
async def test_what_a_test_itself_asks_does_not_count(database: Database, writing: Writing, ask: Any) -> None:
    with writing.as_test("looks"):
        await ask(database, "SELECT 1 WHERE 100 > CAST(:value AS int)", 1)
    with writing.as_test("asks the program"):
        await of_the_program(ask)(database, "SELECT 1 WHERE 100 > CAST(:value AS int)", 1)
    with writing.as_test("asks nothing"):
        await of_the_program(nothing)(database, "", 1)
    asked = writing.asked()
    assert asked["looks"].statements == frozenset()
    assert len(asked["asks the program"].statements - asked["asks nothing"].statements) == 1


async def test_a_list_of_values_counts_once_whatever_its_length_is(database: Database, writing: Writing) -> None:
    for name, places in {"two": ":value, :value", "three": ":value, :value, :value"}.items():
        with writing.as_test(name):
            await of_the_program(by_sqlalchemy)(database, f"SELECT 1 WHERE 1 IN ({places})", 1)
    assert writing.asked()["two"].statements == writing.asked()["three"].statements != frozenset()


def test_what_is_not_seen_whole_stays(writing: Writing) -> None:
    with writing.as_test("passes"):
        pass
    with writing.as_test("starts a process"):
        subprocess.run([sys.executable, "-c", ""], check=True)
    with writing.as_test("fails"):
        writing.notes.pytest_runtest_logreport(SimpleNamespace(passed=False))  # type: ignore[arg-type]
    assert {name for name, one in writing.asked().items() if one.stays} == {"starts a process", "fails"}
