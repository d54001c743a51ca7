"""*Accept* and *Reject* for many people of the clock are about the employees who were suggested at the question."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.clock.bindings import actions as bindings
from app.clock.models import Binding, ClockEmployee
from app.parts import Parts
from app.web.long_acts import bulk
from tests.clock.mirrored import connect, employ, mirror_person
from tests.clock.problems.days import stay
from tests.clock.problems.desk import Desk
from tests.conftest import Browser
from tests.host.pages.test_acts import carry_on
from tests.rendered_forms import asked_with

BULK = "/clock_employees/bulk"
NOW = datetime.now(UTC).replace(microsecond=0)
ACTS = pytest.mark.parametrize("act", ["accept", "reject"])


@pytest.fixture
async def benn(parts: Parts) -> int:
    """Suggested for the code 7 of “Okri, Ben”; Vera is for the code 8."""
    async with parts.database.transaction() as db:
        await connect(db, last_success_at=NOW, updated_at=NOW, created_at=NOW)
        benn = await employ(db, "Benn Okri", "200")
        await employ(db, "Vera Vossberg", "201")
        await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
        await mirror_person(db, "8", full_name="Vossberg, Vera", seen=1)
        await bindings.match_all(db)
    assert await states(parts) == {"7": "suggested", "8": "suggested"}
    return benn


async def suggest_ben(parts: Parts) -> int:
    """His name fits the code 7 better than Benn's."""
    async with parts.database.transaction() as db:
        ben = await employ(db, "Ben Okri", "300")
        await bindings.match_all(db)
        return ben


async def states(parts: Parts) -> dict[str, str]:
    async with parts.database.transaction() as db:
        return {row.emp_code: row.state for row in await db.execute(select(Binding.emp_code, Binding.state))}


async def decided(parts: Parts, code: str) -> tuple[int | None, list[int]]:
    """Who is bound to the code, and who is rejected for good."""
    async with parts.database.transaction() as db:
        row = (
            await db.execute(select(Binding.host_employee_id, Binding.rejected).where(Binding.emp_code == code))
        ).one()
    return row.host_employee_id, row.rejected


@ACTS
async def test_another_employee_than_at_the_question_is_asked_about_again(
    parts: Parts, alice: Browser, benn: int, act: str
) -> None:
    async with parts.database.transaction() as db:
        person = await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == "7"))
    asked = await alice.submit(BULK, {"action": act, "id": str(person)})
    ben = await suggest_ben(parts)
    again = await alice.submit(BULK, asked_with(asked.text, BULK))
    assert (again.status_code, await decided(parts, "7")) == (200, (None, []))
    assert (await alice.submit(BULK, asked_with(again.text, BULK))).status_code == 303
    assert await decided(parts, "7") == ((ben, []) if act == "accept" else (None, [ben]))


@ACTS
async def test_a_job_leaves_codes_whose_suggestion_changed_after_its_question(
    parts: Parts, alice: Browser, benn: int, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    asked = await alice.submit(BULK, {"action": act, "all": "1"})
    await suggest_ben(parts)
    begun = (await alice.submit(BULK, asked_with(asked.text, BULK))).headers["location"]
    await carry_on(parts, int(begun.removeprefix("/acts/")))
    assert await states(parts) == {"7": "suggested", "8": "bound" if act == "accept" else "unbound"}
    assert "1 stays: 1 changed meanwhile." in (await alice.get(begun)).text


async def test_a_job_leaves_problems_that_changed_after_its_question(
    parts: Parts, alice: Browser, benn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, url = Desk(parts), "/problems/bulk?kind=suggested"
    async with parts.database.transaction() as db:
        for code in ("7", "8"):
            await stay(db, code, "not_bound", NOW - timedelta(days=7))
    await desk.look()
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    asked = await alice.submit(url, {"action": "remedy", "all": "1"})
    await suggest_ben(parts)
    await desk.look()
    begun = (await alice.submit(url, asked_with(asked.text, url))).headers["location"]
    await carry_on(parts, int(begun.removeprefix("/acts/")))
    assert await states(parts) == {"7": "suggested", "8": "bound"}
    assert "1 stays: 1 changed meanwhile." in (await alice.get(begun)).text
