"""Whatever code the mirror holds: a link leads to exactly its rows, and to no one else's."""

import html
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import update

from app.clock.models import Connection
from app.db.session import Database
from app.problems import looking
from tests.clock.mirrored import connect, mirror_person, mirror_terminal, punch
from tests.clock.pages.test_transactions import import_all
from tests.conftest import Browser

CODES = (
    "7",
    "007",
    " 7",
    "7 ",
    "  7  7  ",
    "null",
    "NULL",
    "7,8",
    "100%",
    "1_0",
    "a&b=c",
    "a+b",
    "a#b?c",
    '"7"',
    "O'Neil",
    "<b>7</b>",
    "\\7",
    "%37",
    "7/8",
    "Ünï-番号",
    "x" * 64,
)


@pytest.fixture
async def crowd(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        await db.execute(update(Connection).values(last_success_at=datetime.now(UTC)))
        for number, code in enumerate(CODES):
            await mirror_terminal(db, code, alias=f"Gate {number}", clock_skew_seconds=-90)
            await mirror_person(db, code, full_name=f"Person {number}")
            await punch(db, code, "I 08:00", sn=code)
    await import_all(database)


async def followed(bob: Browser, page: str, beginning: str) -> list[list[str]]:
    """Who stands in the list that each link of the page's list leads to."""
    listed = (await bob.get(page)).text.partition("<tbody>")[2].partition("</tbody>")[0]
    found = [
        html.unescape(url) for url in re.findall(rf'href="({re.escape(beginning)}[^"]*?)(?:&amp;from=[^"]*)?"', listed)
    ]
    return [people((await bob.get(url)).text) for url in found]


def people(page: str) -> list[str]:
    return re.findall(r'aria-label="Select [^"]*(Person \d+)', page)


EACH_ALONE = sorted([f"Person {number}"] for number in range(len(CODES)))


async def test_a_person_leads_to_exactly_their_punches(crowd: None, bob: Browser) -> None:
    assert sorted(await followed(bob, "/clock_employees", "/clock_transactions?emp_code=")) == EACH_ALONE


async def test_a_punch_leads_to_exactly_its_person(crowd: None, bob: Browser) -> None:
    assert sorted(await followed(bob, "/clock_transactions", "/clock_employees?code=")) == EACH_ALONE


async def test_a_terminal_leads_to_exactly_its_punches(crowd: None, bob: Browser) -> None:
    assert sorted(await followed(bob, "/clock_devices", "/clock_transactions?terminal=")) == EACH_ALONE


async def test_a_problem_leads_to_exactly_its_terminal(crowd: None, database: Database, bob: Browser) -> None:
    async with database.transaction() as db:
        await looking.look(db)
    listed = (await bob.get("/problems?kind=terminal_skew&per_page=200")).text
    found = sorted(set(re.findall(r'href="(/clock_devices\?serial=[^"]*)"', listed)))
    assert len(found) == len(CODES)
    for url in found:
        assert len(re.findall(r">Gate \d+</a>", (await bob.get(html.unescape(url))).text)) == 1


async def test_programs_find_the_punches_of_any_code_too(crowd: None, visitor: Browser, token: Any) -> None:
    headers = {"Authorization": f"Bearer {await token('vera', 'clock:read')}"}
    for code in CODES:
        answer = await visitor.get("/api/v1/clock/transactions", params={"emp_code": code}, headers=headers)
        assert [row["emp_code"] for row in answer.json()["data"]] == [code]
