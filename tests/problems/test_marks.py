"""A look that knows by a mark that facts are as they were: it leaves the same problems as one
that compares everything."""

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import policies
from app.clock.models import Binding, ClockEmployee, Department, Device, Punch
from app.clock.problems.person_days import KINDS
from app.db.session import PLATFORM, Database
from app.host.models import Employee
from app.problems import looking, marks
from app.problems.models import Problem, ProblemSweep
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal
from tests.clock.problems.days import stay

NOW = datetime.now(UTC).replace(microsecond=0)
CODES, TERMINALS = ("100", "200", "300"), ("T1", "T2")
Step = Callable[[AsyncSession, random.Random], Awaitable[object]]


async def _open(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db, last_success_at=NOW)
        db.add(Department(code="1", name="Ward"))
        for sn in TERMINALS:
            await mirror_terminal(db, sn, alias=f"Gate {sn}")
        for code in CODES:
            await mirror_person(db, code, await employ(db, f"Person {code}"), department_code="1")


async def _a_punch(db: AsyncSession, chance: random.Random) -> None:
    kind = chance.choice(("only_one_punch", "overlaps", "over_24h", "imported"))
    number = await db.scalar(select(func.count()).select_from(Punch)) or 0
    at = NOW - timedelta(days=chance.randrange(1, 4), minutes=number)
    await stay(db, chance.choice(CODES), kind, at, sn=chance.choice(TERMINALS))


async def _settled(db: AsyncSession, chance: random.Random) -> None:
    which = Punch.id % 3 == chance.randrange(3)
    at = None if chance.random() < 0.3 else NOW
    await db.execute(update(Punch).where(which).values(settled_at_utc=at, settled_by=at and "Alice"))


async def _gone(db: AsyncSession, chance: random.Random) -> None:
    at = None if chance.random() < 0.5 else NOW
    await db.execute(update(Punch).where(Punch.id % 4 == 0).values(gone_at_utc=at))


async def _a_name(db: AsyncSession, chance: random.Random) -> None:
    """One of two, so that names come back."""
    word = chance.choice(("Ada", "Bea"))
    table, name = chance.choice(
        ((Employee, "name"), (Department, "name"), (Device, "alias"), (ClockEmployee, "full_name"))
    )
    await db.execute(update(table).values({name: word}))


async def _a_link(db: AsyncSession, chance: random.Random) -> None:
    host = await db.scalar(select(Employee.id).order_by(func.random()).limit(1))
    bound = {"host_employee_id": host, "state": "bound", "method": "manual"}
    values = bound if chance.random() < 0.6 else {"host_employee_id": None, "state": "unbound", "method": None}
    await db.execute(update(Binding).where(Binding.emp_code == chance.choice(CODES)).values(values))


async def _looked_for_some(db: AsyncSession, chance: random.Random) -> None:
    await looking.look(db, {chance.choice(KINDS)})


async def _switched(db: AsyncSession, chance: random.Random) -> None:
    await policies.write(db, PLATFORM, {"module_clock": chance.random() < 0.6})


STEPS: tuple[Step, ...] = (
    _a_punch, _a_punch, _settled, _gone, _a_name, _a_name, _a_link, _looked_for_some, _switched,
)  # fmt: skip


async def _look(database: Database) -> list[tuple[object, ...]]:
    """What is open after a look."""
    columns = (Problem.kind, Problem.subject_id, Problem.facts, Problem.evidence, Problem.held_punches)
    async with database.transaction() as db:
        assert await looking.look(db)
        is_open = Problem.closed_at.is_(None), Problem.kind.in_(KINDS)
        rows = await db.execute(select(*columns).where(*is_open).order_by(*columns[:2]))
        return [tuple(row) for row in rows]


@pytest.mark.parametrize("seed", range(5))
async def test_after_random_histories_nothing_differs_from_a_look_that_compares_all(
    database: Database, seed: int
) -> None:
    await _open(database)
    chance = random.Random(seed)
    for _ in range(25):
        for _ in range(chance.choice((1, 1, 2))):
            async with database.transaction() as db:
                await chance.choice(STEPS)(db, chance)
        for _ in range(chance.choice((0, 1, 2))):
            await _look(database)
        by_mark = await _look(database)
        async with database.transaction() as db:
            kept = await db.scalar(select(ProblemSweep.marks))
            await marks.forget(db)
        assert by_mark == await _look(database)
        async with database.transaction() as db:
            await db.execute(update(ProblemSweep).values(marks=kept))


async def _a_day(database: Database) -> None:
    await _open(database)
    async with database.transaction() as db:
        await looking.look(db)
        await stay(db, "100", "only_one_punch", NOW - timedelta(days=1))
    for _ in range(2):
        await _look(database)


async def test_what_a_mark_stands_for_is_not_compared_for_an_hour(database: Database) -> None:
    await _a_day(database)
    async with database.transaction() as db:
        await db.execute(update(Problem).where(Problem.kind == "only_one_punch").values(held_punches=7))
    assert [row[-1] for row in await _look(database)] == [7]
    async with database.transaction() as db:
        ago = NOW - marks.HOLDS - timedelta(seconds=5)
        await db.execute(
            text("UPDATE problem_sweeps SET marks = marks || jsonb_build_object('at', CAST(:ago AS text))"),
            {"ago": ago.isoformat()},
        )
    assert [row[-1] for row in await _look(database)] == [1]


async def test_a_look_for_some_kinds_forgets_the_mark_of_what_it_changed(database: Database) -> None:
    """The facts then become again what they were."""
    await _a_day(database)
    for name in ("Ada", "Person 100"):
        async with database.transaction() as db:
            await db.execute(update(Employee).values(name=name))
            if name == "Ada":
                await looking.look(db, {"only_one_punch"})
    ((*_, facts, _, _),) = await _look(database)
    assert facts["name"] == "Person 100"
