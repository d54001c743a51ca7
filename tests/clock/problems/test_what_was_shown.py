"""A remedy acts on what its page showed. When the problem means something else at the press, nothing is done."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from httpx import Response
from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import actions as bindings
from app.clock.models import Binding, ClockEmployee, Punch
from app.host.models import Employee
from app.parts import Parts
from tests.clock.mirror.test_shortfalls import ghosts
from tests.clock.mirrored import connect, employ, mirror_person
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk
from tests.clock.syncing import Site, site
from tests.conftest import Browser
from tests.rendered_forms import asked_with

NOW = datetime.now(UTC).replace(microsecond=0)
MEANWHILE = "changed meanwhile"
# As if the server counted 500 punches more of the days that are short.
MORE_MISSING = text(
    "UPDATE clock_sync_cursors SET pending = jsonb_set(pending, '{short,total}',"
    " to_jsonb((pending -> 'short' ->> 'total')::int + 500)) WHERE pending ? 'short'"
)


class Question:
    """The question before a remedy, as it stands in an open dialog: of one problem, or of one that is ticked."""

    def __init__(self, browser: Browser, url: str, shown: Mapping[str, str | list[str]]) -> None:
        self.browser, self.url, self.shown = browser, url, shown

    @classmethod
    async def about(cls, browser: Browser, desk: Desk, kind: str, *, bulk: bool = False) -> "Question":
        number = (await desk.the(kind)).id
        url = "/problems/bulk" if bulk else f"/problems/{number}/remedy"
        ticked = {"action": "remedy", "id": str(number)}
        page = await (browser.submit(url, ticked) if bulk else browser.get(url))
        return cls(browser, url, asked_with(page.text, url))

    async def answered(self, **given: str) -> Response:
        return await self.browser.submit(self.url, {**self.shown, **given})


async def test_a_disappearance_of_people_is_decided_only_as_it_was_shown(parts: Parts, alice: Browser) -> None:
    desk = Desk(parts)
    async with site(parts, employees=60, days=2) as here:
        await here.sync_punches()
        here.faults("half_list,at=employees")
        await desk.after(here.sync_people())
        shown = await Question.about(alice, desk, "people_gone")
        await desk.after(here.sync_people())
        refused = await shown.answered(choice="confirm")
        assert (refused.status_code, MEANWHILE in refused.text) == (409, True)
        assert await number_of(here, ClockEmployee.absent_since) == 0
        again = await Question.about(alice, desk, "people_gone")
        assert (await again.answered(choice="confirm")).status_code == 303
        assert await number_of(here, ClockEmployee.absent_since) == 30


async def test_a_disappearance_of_punches_is_decided_only_as_it_was_shown(parts: Parts, alice: Browser) -> None:
    desk = Desk(parts)
    async with site(parts, "onprem", employees=12, days=4) as here:
        await here.sync_punches()
        day = (here.now - timedelta(days=2)).date()
        await lose(here, "local_date = :day LIMIT 15", day)
        await desk.after(here.sync_punches())
        shown = await Question.about(alice, desk, "punches_gone")
        await lose(here, "local_date >= :day", day)
        await desk.after(here.sync_punches())
        refused = await shown.answered(choice="confirm")
        assert (refused.status_code, MEANWHILE in refused.text) == (409, True)
        assert await number_of(here, Punch.gone_at_utc) == 0
        again = await Question.about(alice, desk, "punches_gone")
        assert (await again.answered(choice="confirm")).status_code == 303
        assert await number_of(here, Punch.gone_at_utc) > 15


@pytest.mark.parametrize("bulk", [False, True])
async def test_days_are_accepted_as_read_only_with_the_punches_that_were_shown_as_missing(
    parts: Parts, alice: Browser, bulk: bool
) -> None:
    desk = Desk(parts)
    async with site(parts, "onprem", days=40, employees=4) as here:
        with ghosts(here):
            for _ in range(3):
                await here.sync()
                here.let_pass(days=1)
        await desk.look()
        shown = await Question.about(alice, desk, "slice_incomplete", bulk=bulk)
        async with parts.database.transaction() as db:
            await db.execute(MORE_MISSING)
        await desk.look()
        refused = await shown.answered()
        assert (refused.status_code == 303, await desk.of("slice_incomplete") == []) == (False, False)
        again = await Question.about(alice, desk, "slice_incomplete", bulk=bulk)
        assert (await again.answered()).status_code == 303
        assert await desk.of("slice_incomplete") == []


@pytest.mark.parametrize("looked", [False, True])
async def test_activate_and_bind_means_only_the_employee_whom_the_page_named(
    parts: Parts, alice: Browser, looked: bool
) -> None:
    """The ID number passes to another person who left; the problem says so only after the next look."""
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        vera = await a_leaver_with_the_number(db)
    await desk.look()
    shown = await Question.about(alice, desk, "not_found")
    async with parts.database.transaction() as db:
        await pass_on_the_number(db, vera)
        bob = await employ(db, "Bob Brandt", "100", active=False)
    if looked:
        await desk.look()
    refused = await shown.answered(choice="activate")
    assert (refused.status_code, MEANWHILE in refused.text) == (409, True)
    assert await active_and_bound(parts) == ([], None)
    await desk.look()
    again = await Question.about(alice, desk, "not_found")
    assert (await again.answered(choice="activate")).status_code == 303
    assert await active_and_bound(parts) == ([bob], bob)


async def test_activate_and_bind_does_nothing_when_the_number_was_corrected(parts: Parts, alice: Browser) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        vera = await a_leaver_with_the_number(db)
    await desk.look()
    shown = await Question.about(alice, desk, "not_found")
    async with parts.database.transaction() as db:
        await pass_on_the_number(db, vera)
    refused = await shown.answered(choice="activate")
    assert (refused.status_code, MEANWHILE in refused.text) == (409, True)
    assert await active_and_bound(parts) == ([], None)


async def test_accept_for_ticked_problems_binds_only_whom_they_named_at_the_question(
    parts: Parts, alice: Browser
) -> None:
    desk = Desk(parts)
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW, created_at=NOW)
        await employ(db, "Benn Okri", "200")
        await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
        await bindings.match_all(db)
        await stay(db, "7", "not_bound", NOW - timedelta(days=7))
    await desk.look()
    shown = await Question.about(alice, desk, "suggested", bulk=True)
    async with parts.database.transaction() as db:
        ben = await employ(db, "Ben Okri", "300")
        await bindings.match_all(db)
    await desk.look()
    asked_again = await shown.answered()
    assert (asked_again.status_code, 'name="held"' in asked_again.text) == (200, True)
    assert await bound_to(parts) is None
    again = await Question.about(alice, desk, "suggested", bulk=True)
    assert (await again.answered()).status_code == 303
    assert await bound_to(parts) == ben


async def lose(here: Site, which: str, day: object) -> None:
    """The server loses these punches."""
    found = await here.rows(f"SELECT remote_id::bigint FROM clock_transactions WHERE {which}", day=day)
    here.world.delete_punches([number for (number,) in found])


async def number_of(here: Site, mark: object) -> int:
    """How many rows have this mark."""
    async with here.parts.database.transaction() as db:
        return await db.scalar(select(func.count(mark))) or 0  # type: ignore[arg-type]


async def a_leaver_with_the_number(db: AsyncSession) -> int:
    """Vera left, and a code that waits is her ID number."""
    await connect(db, last_success_at=NOW)
    vera = await employ(db, "Vera Voss", "100", active=False)
    await mirror_person(db, "100", full_name="Quill Marrow", state="not_found")
    await stay(db, "100", "not_bound", NOW - timedelta(days=7))
    return vera


async def pass_on_the_number(db: AsyncSession, employee_id: int) -> None:
    corrected = {"id_number": "777", "id_number_key": "777"}
    await db.execute(update(Employee).where(Employee.id == employee_id).values(corrected))


async def active_and_bound(parts: Parts) -> tuple[list[int], int | None]:
    """Employees who are active, and the one whom the code has."""
    async with parts.database.transaction() as db:
        active = list(await db.scalars(select(Employee.id).where(Employee.active)))
    return active, await bound_to(parts)


async def bound_to(parts: Parts) -> int | None:
    async with parts.database.transaction() as db:
        found: int | None = await db.scalar(select(Binding.host_employee_id))
        return found
