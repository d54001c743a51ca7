"""A server that counts more punches than it gives: what lies behind is read, the gap is named,
and a person may accept it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from app.accounts.audit import COMMAND_LINE
from app.clock.days import DAY, DaySpan
from app.clock.figures import completeness as progress
from app.clock.mirror import shortfalls
from app.clock.mirror.shortfalls import Shortfall, explains, pending_with
from app.clock.models import Cursor
from app.dates import day_words
from app.errors import Conflict, NotFound
from tests.clock.syncing import Site, site

GHOSTS = datetime(2026, 10, 30, 12, 0)
FIRST = date(2026, 3, 1)


@contextmanager
def ghosts(here: Site, count: int = 1, at: datetime = GHOSTS) -> Iterator[None]:
    """So many punches of one instant are counted by the server and never listed."""
    answer = here.simulator.answer

    def counting(call: Any, struck: Any) -> Any:
        given = answer(call, struck)
        start, end = call.query.get("start_time"), call.query.get("end_time") or "9999"
        if call.resource == "transactions" and start <= f"{at:%Y-%m-%d %H:%M:%S}" <= end:
            body = msgspec.json.decode(given.body)
            body["count"] += count
            given.body = msgspec.json.encode(body)
        return given

    here.simulator.answer = counting  # type: ignore[method-assign]
    try:
        yield
    finally:
        here.simulator.answer = answer  # type: ignore[method-assign]


async def acceptable(here: Site) -> list[str]:
    rows = await here.rows(
        "SELECT \"window\", pending FROM clock_sync_cursors WHERE state = 'open' AND pending ? 'short'"
    )
    return sorted(name for name, pending in rows if Shortfall(**pending["short"]).may_be_accepted)


async def accept(here: Site, windows: list[str]) -> None:
    async with here.parts.database.transaction() as db:
        await shortfalls.accept(db, COMMAND_LINE, windows, here.now)


async def complete_up_to(here: Site) -> tuple[datetime | None, str | None]:
    async with here.parts.database.transaction() as db:
        return await progress.complete_up_to(db, here.now)


UNJUDGED = "SELECT count(*) FROM clock_transactions WHERE import_outcome IS NULL AND local_date < :today"


async def test_what_lies_behind_a_slice_that_stays_incomplete_is_read_and_the_gap_is_named(parts):
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            end = await here.sync()
        assert (end.status, end.code) == ("partial", "TC-TRUNCATED")
        await here.holds_everything()
        up_to, why = await complete_up_to(here)
        assert up_to.date() <= GHOSTS.date() < up_to.date() + timedelta(days=32)
        assert "is incomplete:" in why
        assert "punches came" in why
        assert await acceptable(here) == []


async def test_after_three_runs_with_the_same_number_missing_it_can_be_accepted_and_everything_continues(parts):
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            for _ in range(3):
                assert await acceptable(here) == []
                await here.sync()
            windows = await acceptable(here)
            assert len(windows) == 1
            await accept(here, windows)
            assert await complete_up_to(here) == (here.now, None)
            end = await here.sync()
            assert (end.status, end.message) == ("succeeded", None)
            assert await here.scalar(UNJUDGED, today=here.now.date()) == 0
        act = "SELECT actor_name, after FROM shared.audit_entries WHERE act = 'clock.sync.accept'"
        ((_, after),) = await here.rows(act)
        assert after["total"] == after["came"] + 1


async def test_the_nightly_check_remembers_what_was_accepted_until_the_count_differs(parts):
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            for _ in range(3):
                await here.sync_punches()
            await accept(here, await acceptable(here))
            here.let_pass(hours=24)
            assert (await here.sync_punches()).status == "succeeded"
            assert await here.scalar("SELECT count(*) FROM clock_sync_cursors WHERE state = 'open'") == 0
        with ghosts(here, 2):
            here.let_pass(hours=24)
            end = await here.sync_punches()
            assert (end.status, end.code) == ("partial", "TC-TRUNCATED")
            _, why = await complete_up_to(here)
            assert day_words(GHOSTS.date(), here.now.date()) in why


async def test_a_server_that_counts_one_too_many_everywhere_is_accepted_once_and_stays_so(parts):
    async with site(parts, "onprem", ["total_off,at=transactions"], days=9, employees=4) as here:
        for _ in range(3):
            assert (await here.sync()).status == "partial"
        windows = await acceptable(here)
        assert "live" in windows
        await accept(here, windows)
        assert (await here.sync()).status == "succeeded"
        assert await complete_up_to(here) == (here.now, None)
        here.let_pass(hours=24)
        end = await here.sync()
        assert (end.status, end.message) == ("succeeded", None)
        await here.holds_everything()
        here.faults("total_off=2,at=transactions")
        here.let_pass(hours=1)
        assert (await here.sync()).status == "partial"


async def test_accepted_days_can_be_read_again_and_are_complete_where_the_punches_have_come(parts):
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            for _ in range(3):
                await here.sync_punches()
            windows = await acceptable(here)
            await accept(here, windows)
        async with parts.database.transaction() as db:
            await shortfalls.read_again(db, COMMAND_LINE, windows[0])
        assert (await complete_up_to(here))[1] is not None
        assert (await here.sync_punches()).status == "succeeded"
        assert await complete_up_to(here) == (here.now, None)
        assert await here.scalar("SELECT count(*) FROM clock_sync_cursors WHERE pending ? 'short'") == 0


async def test_only_what_was_shown_can_be_accepted(parts):
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            await here.sync_punches()
        (window,) = (await here.rows("SELECT \"window\" FROM clock_sync_cursors WHERE pending ? 'short'"))[0]
        with pytest.raises(Conflict, match="figures have changed"):
            await accept(here, [window])
        with pytest.raises(NotFound):
            await accept(here, ["backfill:1999-01-01"])
        async with parts.database.transaction() as db:
            with pytest.raises(Conflict, match="Nothing is accepted"):
                await shortfalls.read_again(db, COMMAND_LINE, window)


@pytest.mark.parametrize(
    ("before", "now", "runs", "is_accepted"),
    [
        (None, Shortfall(499, 500, run_id=1), 1, False),
        (Shortfall(499, 500, run_id=1), Shortfall(499, 500, run_id=2), 2, False),
        (Shortfall(499, 500, run_id=1), Shortfall(499, 500, run_id=1), 1, False),
        (Shortfall(499, 500, 2, 2), Shortfall(503, 504, run_id=3), 3, False),
        (Shortfall(499, 500, 2, 2), Shortfall(498, 500, run_id=3), 1, False),
        (Shortfall(499, 500, 3, 3, accepted_by="Bob"), Shortfall(520, 521, run_id=4), 4, True),
        (Shortfall(499, 500, 3, 3, accepted_by="Bob"), Shortfall(519, 521, run_id=4), 1, False),
    ],
)
def test_the_same_number_missing_counts_runs(before, now, runs, is_accepted):
    after = now.after(before)
    assert (after.runs, after.is_accepted) == (runs, is_accepted)


def accepted(first: date, days: int | None, missing: int) -> Cursor:
    short = Shortfall(10, 10 + missing, 3, accepted_by="Bob")
    ends_on = first + (days - 1) * DAY if days else None
    return Cursor(kind="backfill", starts_on=first, ends_on=ends_on, pending=pending_with(None, short))


@pytest.mark.parametrize(
    ("span", "difference", "explained"),
    [
        (DaySpan(FIRST, FIRST + 7 * DAY), 2, True),  # the very days: exactly that many
        (DaySpan(FIRST, FIRST + 7 * DAY), 1, False),
        (DaySpan(FIRST, FIRST + 7 * DAY), 3, False),
        (DaySpan(FIRST + DAY, FIRST + 2 * DAY), 1, True),  # one of them: at most that many
        (DaySpan(FIRST + DAY, FIRST + 2 * DAY), 3, False),
        (DaySpan(FIRST + DAY, FIRST + 2 * DAY), -1, False),  # the server has fewer: something else
        (DaySpan(FIRST + 7 * DAY, FIRST + 8 * DAY), 1, False),  # the day behind
        (DaySpan(FIRST - DAY, FIRST), 1, False),  # the day before
        (DaySpan(FIRST, date.max), 5, True),  # everything: both together
        (DaySpan(FIRST, date.max), 6, False),
    ],
)
def test_a_difference_is_explained_by_what_was_accepted(span, difference, explained):
    rows = [accepted(FIRST, 7, 2), accepted(FIRST + 20 * DAY, None, 3), Cursor(kind="live")]
    assert explains(rows, span, difference) is explained
