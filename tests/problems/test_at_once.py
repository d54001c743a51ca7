"""Looks, acts, and who asks for a look, at the same time."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.db.session import PATIENCE_S, PLATFORM
from app.problems import acts, looking
from app.problems.models import Problem
from app.problems.transitions import UNTIL_IT_CHANGES
from tests.clock.punches.test_stale_days import until_somebody_waits
from tests.problems.test_looking import SEEN, Platform, platform, watched

__all__ = ["platform", "watched"]


@pytest.mark.parametrize(
    ("do", "said"), [("assign", None), ("snooze", UNTIL_IT_CHANGES), ("snooze", None), ("dismiss", "No.")]
)
async def test_an_act_and_a_look_never_wait_for_each_other_in_a_ring(watched: Platform, do: str, said: Any) -> None:
    for key in ("housekeeping", "clock_import"):
        await watched.job("failed", key)
        await watched.look()
    async with watched.database.transaction() as db:
        ids = list(await db.scalars(select(Problem.id).order_by(Problem.id)))
    await watched.job("failed", "clock_import")

    async def act() -> list[int]:
        async with watched.database.transaction() as db:
            done: list[int] = await getattr(acts, do)(db, COMMAND_LINE, ids, SEEN, said)
            return done

    async with watched.database.transaction() as db:
        assert await looking.look(db)
        other = asyncio.create_task(act())
        await until_somebody_waits(watched.database)
        failed = {"workspace": PLATFORM, "name": "housekeeping", "key": "housekeeping", "status": "failed"}
        await db.execute(insert(Job).values(failed | {"finished_at": func.now()}))
        assert await looking.look(db)
    assert await asyncio.wait_for(other, PATIENCE_S) == ids


async def test_who_asks_for_a_look_makes_no_other_wait(watched: Platform) -> None:
    async with asyncio.timeout(PATIENCE_S), watched.database.transaction() as first:
        await looking.look_soon(first)
        await looking.look_soon(first)
        async with watched.database.transaction() as second:
            await looking.look_soon(second)
    async with watched.database.transaction() as db:
        asked = select(Job.key).where(Job.name == looking.JOB).order_by(Job.id)
        assert (await db.scalars(asked)).all() == [looking.JOB]
        await db.execute(delete(Job))
    async with watched.database.transaction() as db:
        await looking.look_soon(db)
        await looking.look_soon(db)
    async with watched.database.transaction() as db:
        assert (await db.scalars(asked)).all() == [looking.JOB]


async def test_a_later_look_that_finds_others_at_it_asks_for_one_more(watched: Platform) -> None:
    """The one that runs is the one that was asked for when others were at it before."""
    later = f"{looking.JOB}:again"
    await watched.job("running", later)
    async with watched.database.transaction() as first, watched.database.transaction() as second:
        assert await looking.look(first)
        assert not await looking.look(second)
    async with watched.database.transaction() as db:
        waiting = select(Job.key, Job.due_at > func.now()).where(Job.name == looking.JOB, Job.status == "queued")
        assert [tuple(one) for one in await db.execute(waiting)] == [(f"{later}:next", True)]
