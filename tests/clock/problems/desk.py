"""Somebody at the list of problems: sees what is open, and uses what helps."""

from collections.abc import Awaitable
from typing import Any

from sqlalchemy import select

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.clock.problems.source import SOURCE
from app.db.session import Database
from app.parts import Parts
from app.problems import acts, looking
from app.problems.kinds import Remedy, RemedyAsked, kinds
from app.problems.models import Problem


class Desk:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.database = parts, parts.database

    async def look(self) -> None:
        async with self.database.transaction() as db:
            assert await looking.look(db)

    async def after(self, run: Awaitable[object]) -> None:
        """Looks as the worker does that a run asks."""
        await run
        async with self.database.transaction() as db:
            assert await db.scalar(select(Job.id).where(Job.name == looking.JOB, Job.status == "queued"))
        await self.look()

    async def open(self) -> dict[str, list[str]]:
        """Titles of what is open, by kind; those of the clock alone."""
        found: dict[str, list[str]] = {}
        async with self.database.transaction() as db:
            mine = Problem.closed_at.is_(None), Problem.kind.in_([one.name for one in SOURCE.kinds])
            for one in await db.scalars(select(Problem).where(*mine).order_by(Problem.id)):
                found.setdefault(one.kind, []).append(one.title)
        return found

    async def of(self, *names: str) -> list[str]:
        """Titles of what is open of these kinds."""
        return [title for kind, titles in (await self.open()).items() if kind in names for title in titles]

    async def the(self, kind: str) -> Problem:
        """The only one of its kind that is open."""
        return await _the(self.database, kind)

    async def all_of(self, kind: str) -> list[Problem]:
        """Those of a kind that are open, by subject."""
        which = select(Problem).where(Problem.kind == kind, Problem.closed_at.is_(None))
        async with self.database.transaction() as db:
            return list(await db.scalars(which.order_by(Problem.subject_id)))

    def remedy_of(self, kind: str) -> Remedy:
        remedy = kinds()[kind].remedy
        assert remedy is not None
        return remedy

    async def help(self, kind: str, choice: str = "", shown: dict[str, Any] | None = None) -> None:
        """Uses the remedy for it, by the facts that were `shown`, and looks again."""
        problem, remedy = await self.the(kind), self.remedy_of(kind)
        async with self.database.transaction() as db:
            asked = RemedyAsked(self.parts, db, COMMAND_LINE, [problem.subject_id], [shown or problem.facts], choice)
            await remedy.do(asked)
        await self.look()

    async def dismiss(self, kind: str) -> None:
        problem = await self.the(kind)
        async with self.database.transaction() as db:
            await acts.dismiss(db, COMMAND_LINE, [problem.id], [kind], "They can be spared.")


async def _the(database: Database, kind: str) -> Problem:
    async with database.transaction() as db:
        found = await db.scalars(select(Problem).where(Problem.kind == kind, Problem.closed_at.is_(None)))
        return found.one()
