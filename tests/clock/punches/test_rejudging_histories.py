"""Changes of rules and terminals in slices, whatever happens meanwhile: at the end, judging everything changes nothing.
What fails is printed as lines. `REJUDGED_HISTORIES=500` tries more."""

import asyncio
import os
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update

from app.clock.importing import import_due
from app.clock.models import Cursor, Punch, Rejudging
from app.clock.punches import changes, rejudging
from app.db.session import Database
from app.errors import Refusal
from tests.clock.mirror_store import FAR, MONDAY
from tests.clock.mirrored import punch
from tests.clock.punches import missing_marks
from tests.clock.punches.workplace import CODES, Workplace
from tests.reset import forget

HISTORIES = int(os.environ.get("REJUDGED_HISTORIES", "5"))
# Far from each other: what is nearer than two days is judged together, whatever slice it is in.
DAYS = tuple(MONDAY + timedelta(days=10 * part) for part in range(4))
HOURS = ("08:00:00", "08:00:05", "08:04:00", "12:00:00", "17:00:00", "17:00:30")
CHANGES = (
    "set import_single_punches true",
    "set import_single_punches false",
    "set repeat_tap_seconds 60",
    "set repeat_tap_seconds 0",
    "set double_tap_fix false",
    "set default_direction undirected",
    "direction T1 undirected",
    "direction T1 by_code",
    "direction T1 in",
    "direction T2 by_code",
    "kind T1 access",
    "kind T1 attendance",
    "kind T2 access",
)
OTHERS = ("clear 1", "bind 1 Bea", "bind 4 Bea", "bind 3 Ada", "deactivate Bea", "activate Bea", "is_read")
ACTS = st.one_of(
    st.sampled_from(CHANGES),
    st.sampled_from(OTHERS),
    st.builds("tap {} {} {}".format, st.sampled_from(CODES), st.sampled_from(DAYS), st.sampled_from(HOURS)),
    st.builds("differs {}".format, st.sampled_from(DAYS)),
)
TAPS = st.lists(
    st.tuples(
        st.sampled_from(CODES),
        st.sampled_from(DAYS),
        st.sampled_from(HOURS),
        st.sampled_from(("I", "I", "O", "x", "a")),
    ),
    min_size=4,
    max_size=12,
)
# An import after some changes: how it ends, at which batch, and what happens there.
IMPORTS = st.tuples(
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2),
    st.sampled_from(("whole", "stopped", "dies", "two", "older worker")),
    st.integers(1, 5),
    st.none() | ACTS,
)


class DiedError(Exception):
    """A worker that dies."""


class Place(Workplace):
    """A workplace whose imports end in the middle, or meet another import or an act of a person."""

    async def carries_out(self, line: str) -> None:
        self.done.append(line)
        try:
            await super().carries_out(line)
        except Refusal as refused:
            self.done[-1] += f" (refused: {refused})"

    async def tap(self, text: str) -> None:
        code, _, moment = text.partition(" ")
        async with self.database.transaction() as db:
            await punch(db, code, f"I {moment}")

    async def differs(self, day: str) -> None:
        """The nightly check found it so; it is to be read again."""
        row = {"resource": "transactions", "window": f"check:{day}", "kind": "check", "state": "open"}
        found = self.when(f"{day} 12:00").date()
        async with self.database.transaction() as db:
            await db.execute(delete(Cursor))
            await db.execute(insert(Cursor).values(**row, starts_on=found, ends_on=found))

    async def is_read(self, _: str = "") -> None:
        async with self.database.transaction() as db:
            await db.execute(delete(Cursor))

    async def imports(self, how: str, batch: int, meanwhile: str | None) -> None:
        self.done.append(f"import ({how}, at batch {batch}: {meanwhile})")
        told = 0

        async def progress(done: int, of: int) -> bool:
            nonlocal told
            told += 1
            if told == batch and meanwhile:
                await self.carries_out(meanwhile)
            if told >= batch and how == "dies":
                raise DiedError
            return told < batch or how != "stopped"

        if how == "older worker":
            await mark_as_before(self.database)
        opened = partial(self.database.transaction, "main")
        once = partial(import_due.import_due, opened, now=self.now)
        others = [once()] if how == "two" else []
        for found in await asyncio.gather(once(progress=progress), *others, return_exceptions=True):
            if isinstance(found, BaseException) and not isinstance(found, DiedError):
                raise found


async def mark_as_before(database: Database) -> None:
    """A slice as a worker of the version before marks it. It dies before it judges it."""
    async with database.transaction() as db:
        if await changes.what_holds_back(db) or not (
            part := await rejudging.next_slice(db, await rejudging.under_way(db))
        ):
            return
        change = (await db.execute(select(Rejudging).where(Rejudging.id == part.change_id))).scalar_one()
        change.reached_day, change.reached_at, change.reached_id = part.last
        change.judged = change.marked
        change.marked += sum(map(len, part.instants.values()))
        instants = [at for some in part.instants.values() for at in some]
        slice_of = (rejudging.JUDGED_BEFORE, Punch.emp_code.in_(part.instants), Punch.punched_at_utc.in_(instants))
        await db.execute(update(Punch).where(*slice_of).values(judge_at=part.now))


HISTORY = st.tuples(
    st.integers(1, 8), TAPS, st.none() | st.sampled_from(DAYS), st.lists(IMPORTS, min_size=1, max_size=2)
)


# Not cut down: that takes minutes, and the lines of a history are few.
@settings(
    max_examples=HISTORIES,
    phases=(Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(HISTORY)
async def test_everything_follows_a_change_whatever_happens_meanwhile(
    database: Database, eraser: psycopg.Connection, history: Any
) -> None:
    size, taps, unread, parts = history
    forget(eraser)
    place = Place(database, FAR)
    with pytest.MonkeyPatch.context() as small:
        small.setattr(rejudging, "SLICE", size)
        small.setattr(import_due, "BATCH", 1)
        await place.open()
        await place.carries_out("bind 2 Cleo")
        for code, day, hour, sign in taps:
            await place.carries_out(f"taps {code} {sign} {day} {hour}")
        await place.imports("whole", 0, None)
        if unread:
            await place.carries_out(f"differs {unread}")
        for lines, how, batch, meanwhile in parts:
            for line in lines:
                await place.carries_out(line)
            await place.imports(how, batch, meanwhile)
        await place.carries_out("is_read")
        await missing_marks.refuse(database, CODES, FAR, place.done)
    async with database.transaction() as db:
        assert not await changes.under_way(db), place.done
        assert not (await db.scalars(select(Punch.id).where(Punch.judge_at <= FAR))).all(), place.done
