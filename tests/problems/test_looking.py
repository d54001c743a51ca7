"""Problems of failed jobs, through the database: opened quietly at first, then told;
continued, dismissed, closed by themselves."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, event, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import roles
from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import AuditEntry, Job, User, UserRole, WorkerHeartbeat
from app.clock.models import Punch
from app.db.session import PLATFORM, Database
from app.errors import Conflict, Invalid, NotFound
from app.host.problem_kinds import failed_jobs
from app.parts import Parts
from app.problems import acts, counting, events, kinds, looking, queries
from app.problems.events import ProblemsMoved
from app.problems.findings import Finding
from app.problems.models import Problem, ProblemSweep
from app.problems.queries import ProblemFilter
from app.problems.transitions import UNTIL_IT_CHANGES
from tests.clock.mirrored import connect, employ, mirror_person
from tests.clock.problems.days import stay
from tests.direct import heard

SEEN = ("job_failed", "import_failed")


class Platform:
    """Its jobs fail and succeed, and its problems are looked for; each step is a transaction."""

    def __init__(self, database: Database) -> None:
        self.database, self.moves = database, list[ProblemsMoved]()

    async def note(self, _: AsyncSession, moved: ProblemsMoved) -> None:
        self.moves.append(moved)

    async def job(self, status: str, key: str = "housekeeping", error: str | None = "It broke.") -> int:
        async with self.database.transaction() as db:
            row = insert(Job).values(
                workspace=PLATFORM, name=key.partition(":")[0], key=key, status=status, error=error
            )
            job_id = await db.scalar(row.values(finished_at=func.now()).returning(Job.id))
        assert job_id is not None
        return job_id

    async def look(self) -> list[ProblemsMoved]:
        self.moves.clear()
        async with self.database.transaction() as db:
            assert await looking.look(db)
        return list(self.moves)

    async def open(self) -> dict[str, str]:
        async with self.database.transaction() as db:
            rows = await db.execute(queries.problems(ProblemFilter(SEEN)))
            return {row.subject_id: row.kind for row in rows}

    async def the_only_one(self) -> Problem:
        async with self.database.transaction() as db:
            return (await db.scalars(select(Problem))).one()

    async def act(self, do: str, *arguments: object) -> object:
        async with self.database.transaction() as db:
            actor = Actor(await db.scalar(select(User.id).where(User.email.like("alice%"))), "Alice Ahn")
            return await getattr(acts, do)(db, actor, [(await db.scalars(select(Problem.id))).one()], SEEN, *arguments)

    async def time_passes(self, span: timedelta) -> None:
        async with self.database.transaction() as db:
            await db.execute(update(Problem).values(updated_at=Problem.updated_at - span))

    async def to_do(self) -> int:
        async with self.database.transaction() as db:
            return int(await db.scalar(select(func.coalesce(func.sum(counting.TO_DO), 0))) or 0)

    async def counts(self) -> dict[str, int]:
        async with self.database.transaction() as db:
            return await counting.open_here(db, SEEN)


@pytest.fixture
async def platform(database: Database, monkeypatch: pytest.MonkeyPatch) -> Platform:
    """A worker of it is alive."""
    one = Platform(database)
    monkeypatch.setattr(events, "_listeners", [one.note])
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w1", host="h", pid=1))
    return one


@pytest.fixture
async def watched(platform: Platform) -> Platform:
    """A platform that was looked into before."""
    await platform.look()
    return platform


async def test_what_the_first_look_finds_opens_quietly(platform: Platform) -> None:
    await platform.job("failed")
    (moved,) = await platform.look()
    assert moved.quiet
    assert [one.title for one in moved.opened] == ["The job “Remove expired sessions, links and jobs” failed"]
    await platform.job("failed", "clock_import")
    (moved,) = await platform.look()
    assert (moved.quiet, [one.kind for one in moved.opened]) == (False, ["import_failed"])
    assert await platform.counts() == {"job_failed": 1, "import_failed": 1}


async def test_a_kind_that_was_never_looked_for_is_quiet_once(watched: Platform) -> None:
    async with watched.database.transaction() as db:
        await db.execute(update(ProblemSweep).values(kinds=func.array_remove(ProblemSweep.kinds, "job_failed")))
    await watched.job("failed")
    await watched.job("failed", "clock_import")
    assert [(one.quiet, len(one.opened)) for one in await watched.look()] == [(False, 1), (True, 1)]


async def test_it_closes_by_itself_and_continues_within_an_hour(watched: Platform) -> None:
    await watched.job("failed")
    await watched.look()
    await watched.job("done", error=None)
    (moved,) = await watched.look()
    assert [(one.closed_by, one.subject_id) for one in moved.closed] == [("itself", "housekeeping")]
    assert (await watched.open(), await watched.counts()) == ({}, {})
    await watched.job("failed")
    (moved,) = await watched.look()
    assert [one.again for one in moved.opened] == [True]
    await watched.job("done", error=None)
    await watched.look()
    await watched.time_passes(timedelta(hours=1))
    await watched.job("failed")
    (moved,) = await watched.look()
    assert [one.again for one in moved.opened] == [False]


async def test_a_day_of_long_ago_that_opens_again_within_an_hour_is_part_of_a_sum_again(watched: Platform) -> None:
    async with watched.database.transaction() as db:
        await connect(db, last_success_at=datetime.now(UTC))
        await mirror_person(db, "100", await employ(db, "Evermint Bram"))
        await stay(db, "100", "only_one_punch", datetime.now(UTC) - timedelta(days=10))
    told = []
    for settled_at in (None, func.now(), None):
        async with watched.database.transaction() as db:
            await db.execute(update(Punch).values(settled_at_utc=settled_at))
        for moved in await watched.look():
            days = [one for one in (*moved.opened, *moved.closed) if one.kind == "only_one_punch"]
            told += [(moved.quiet, one.again, one.closed_by) for one in days]
    assert told == [(True, False, None), (False, False, "itself"), (True, True, None)]


async def test_dismissed_it_stays_closed_until_there_is_new_evidence(watched: Platform) -> None:
    await watched.job("failed")
    await watched.look()
    with pytest.raises(Invalid, match="Say why"):
        await watched.act("dismiss", " ")
    watched.moves.clear()
    await watched.act("dismiss", "We know.")
    assert [one.closed_by for moved in watched.moves for one in moved.closed] == ["person"]
    assert (await watched.look(), await watched.counts()) == ([], {})
    with pytest.raises(Conflict, match="closed already"):
        await watched.act("dismiss", "We know.")
    await watched.job("failed")
    (moved,) = await watched.look()
    assert [one.again for one in moved.opened] == [True]
    problem = await watched.the_only_one()
    async with watched.database.transaction() as db:
        told = [(one.what, one.who, one.note) for one in await queries.history(db, problem.id)]
    assert told == [("opened", None, ""), ("dismissed", "Alice Ahn", "We know."), ("opened_again", None, "")]


async def test_a_person_gives_it_to_somebody_and_puts_it_off(watched: Platform) -> None:
    await watched.job("failed")
    await watched.look()
    async with watched.database.transaction() as db:
        eve = await db.scalar(select(User.id).where(User.workspace == "globex"))
        ids = {one.email: one.id for one in await db.execute(select(User.id, User.email))}
        clerks = await roles.add(db, COMMAND_LINE, "Clerk", ["host.people"])
        await db.execute(insert(UserRole).values(user_id=ids["nora@example.org"], role_id=clerks))
    bob = ids["bob@example.org"]
    for one in (eve, ids["nora@example.org"]):
        with pytest.raises(Invalid, match="who may see problems"):
            await watched.act("assign", one)
    await watched.act("assign", bob)
    with pytest.raises(Invalid, match="within the next year"):
        await watched.act("snooze", datetime.now(UTC))
    await watched.act("snooze", UNTIL_IT_CHANGES)
    assert (await watched.look(), await watched.open()) == ([], {})
    problem = await watched.the_only_one()
    assert problem.assigned_to == bob
    async with watched.database.transaction() as db:
        told = [(one.what, one.note) for one in await queries.history(db, problem.id)]
    assert told == [("opened", ""), ("assigned", "Bob Brandt"), ("snoozed", "until it changes")]
    assert await watched.to_do() == 0
    await watched.job("failed")
    assert (await watched.look(), await watched.open()) == ([], {"housekeeping": "job_failed"})
    assert await watched.to_do() == 1
    async with watched.database.transaction() as db:
        noted = await db.scalars(select(AuditEntry.act).where(AuditEntry.subject_type == "problem"))
        assert sorted(noted) == ["problem.assign", "problem.snooze"]


async def test_who_does_not_see_the_kind_finds_no_problem(watched: Platform) -> None:
    await watched.job("failed")
    await watched.look()
    problem = await watched.the_only_one()
    async with watched.database.transaction() as db:
        with pytest.raises(NotFound):
            await queries.find(db, problem.id, ["import_failed"])
        with pytest.raises(NotFound):
            await acts.snooze(db, Actor(None, "x"), [problem.id], ["import_failed"], None)


async def test_a_job_that_is_tried_again_keeps_its_problem_until_it_worked(watched: Platform, parts: Parts) -> None:
    job_id = await watched.job("failed", "clock_import:next")
    await watched.look()
    assert await watched.open() == {"clock_import": "import_failed"}
    problem = await watched.the_only_one()
    async with watched.database.transaction() as db:
        asked = kinds.RemedyAsked(parts, db, Actor(None, "Bob"), [problem.subject_id], [problem.facts])
        await failed_jobs.RETRY.do(asked)
    assert (await watched.look(), await watched.open()) == ([], {"clock_import": "import_failed"})
    async with watched.database.transaction() as db:
        await db.execute(update(Job).where(Job.id == job_id).values(status="done", error=None))
    (moved,) = await watched.look()
    assert [one.kind for one in moved.closed] == ["import_failed"]


async def test_two_looks_at_once_open_it_once(watched: Platform) -> None:
    await watched.job("failed")
    async with watched.database.transaction() as first, watched.database.transaction() as second:
        assert await looking.look(first)
        assert not await looking.look(second)
    async with watched.database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Problem)) == 1
        waiting = select(Job.key).where(Job.name == looking.JOB, Job.status == "queued")
        assert (await db.scalars(waiting)).all() == ["problems_sweep:again"]


async def test_what_a_job_tells_opens_and_closes(watched: Platform) -> None:
    """Of a kind that only its job finds, a look closes nothing."""
    finding = Finding("job_failed", "ledger", "main", "It is broken", "", 0, 0, None, 0, {})
    async with watched.database.transaction() as db:
        await looking.tell(db, ["job_failed"], [finding])
    assert [one.title for moved in watched.moves for one in moved.opened] == ["It is broken"]
    async with watched.database.transaction() as db:
        await looking.tell(db, ["job_failed"], [])
    assert await watched.open() == {}


async def test_a_look_after_which_nothing_changed_takes_two_statements(watched: Platform) -> None:
    """The first of them notes besides that nothing did."""
    await watched.job("failed")
    await watched.look()
    asked: list[str] = []
    engine = watched.database.engine.sync_engine

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        with heard(watched.database, lambda query: None if query.startswith("BEGIN") else asked.append(query)):
            assert await watched.look() == []
            assert len(asked) == 3, asked
            assert await watched.look() == []
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert len(asked) == 5, asked


async def test_a_kind_of_another_version_is_left_alone_until_the_update_is_over(watched: Platform) -> None:
    async with watched.database.transaction() as db:
        row = {"kind": "of_another_version", "subject_type": "x", "severity": "info", "title": "New"}
        for days in (6, 8):
            at = datetime.now(UTC) - timedelta(days=days)
            await db.execute(insert(Problem).values(row | {"since": at, "opened_at": at, "subject_id": f"{days} days"}))
        await counting.count_again(db, ["of_another_version"])
    assert await watched.look() == []
    async with watched.database.transaction() as db:
        await db.execute(text("UPDATE problem_sweeps SET tidied_at = now() - interval '1 day'"))
    await watched.look()
    async with watched.database.transaction() as db:
        still_open = await db.scalars(select(Problem.subject_id).where(Problem.closed_at.is_(None)))
        assert still_open.all() == ["6 days"]
        assert await counting.open_here(db, ["of_another_version"]) == {"of_another_version": 1}


async def test_old_closed_problems_leave_once_a_day(watched: Platform) -> None:
    async with watched.database.transaction() as db:
        row = {"kind": "x", "subject_type": "x", "severity": "info", "title": "Old", "since": datetime.now(UTC)}
        closed = {"closed_by": "itself", "stands": False}
        for days in (89, 91):
            at = {"closed_at": datetime.now(UTC) - timedelta(days=days), "subject_id": str(days)}
            await db.execute(insert(Problem).values(row | closed | at))
        await db.execute(text("UPDATE problem_sweeps SET tidied_at = now() - interval '1 day'"))
    await watched.look()
    assert (await watched.the_only_one()).subject_id == "89"
    async with watched.database.transaction() as db:
        await db.execute(delete(Problem))
