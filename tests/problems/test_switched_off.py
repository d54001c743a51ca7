"""A module that is switched off in a workspace: its problems end without being told;
once it is on again they open as if for the first time."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import policies
from app.clock.problems.source import SOURCE
from app.db.session import PLATFORM
from app.parts import Parts
from app.problems import counting, events
from app.problems.events import ProblemsMoved
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk

NOW = datetime.now(UTC).replace(microsecond=0)
CLOCK = [one.name for one in SOURCE.kinds]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[ProblemsMoved]:
    """What listeners were told of the clock."""
    heard: list[ProblemsMoved] = []

    async def note(_: AsyncSession, moved: ProblemsMoved) -> None:
        if any(one.kind in CLOCK for one in (*moved.opened, *moved.closed)):
            heard.append(moved)

    monkeypatch.setattr(events, "_listeners", [note])
    return heard


async def switch(parts: Parts, *, on: bool) -> None:
    async with parts.database.transaction(PLATFORM) as db:
        await policies.write(db, PLATFORM, {"module_clock": on})


async def counted(parts: Parts) -> dict[str, int]:
    async with parts.database.transaction(PLATFORM) as db:
        return await counting.open_here(db, CLOCK)


async def two_days(parts: Parts) -> Desk:
    """A problem of a person's day, and one of a terminal, both found."""
    desk = Desk(parts)
    await desk.look()
    async with parts.database.transaction(PLATFORM) as db:
        await connect(db, last_success_at=NOW)
        await mirror_person(db, "100", await employ(db, "Evermint Bram"))
        await stay(db, "100", "only_one_punch", NOW - timedelta(days=1))
        await mirror_terminal(db, "T1", state="offline", last_activity_at=NOW - timedelta(hours=3))
    await desk.look()
    return desk


async def test_its_problems_end_and_open_again_quietly(parts: Parts, told: list[ProblemsMoved]) -> None:
    desk = await two_days(parts)
    assert await counted(parts) == {"only_one_punch": 1, "terminal_offline": 1}
    await desk.dismiss("terminal_offline")
    told.clear()
    await switch(parts, on=False)
    await desk.look()
    assert (await desk.open(), await counted(parts), told) == ({}, {}, [])
    async with parts.database.transaction(PLATFORM) as db:
        await stay(db, "100", "overlaps", NOW - timedelta(days=1))
    await desk.look()
    assert (await desk.open(), told) == ({}, [])
    await switch(parts, on=True)
    await desk.look()
    assert set(await desk.open()) == {"only_one_punch", "overlaps"}, "what was dismissed stays so"
    assert [(one.quiet, {two.kind for two in one.opened}) for one in told] == [(True, {"only_one_punch", "overlaps"})]


async def test_a_look_for_its_kinds_finds_nothing(parts: Parts, told: list[ProblemsMoved]) -> None:
    await switch(parts, on=False)
    desk = await two_days(parts)
    assert (await desk.open(), told) == ({}, [])
