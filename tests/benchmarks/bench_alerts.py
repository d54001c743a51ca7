"""From a cause to the mail about it: seconds until a fact that a look finds is an open problem, and until the mail has
reached the mail server; and the same for its end.
With a real worker process and *after 0 minutes*; at most 5 s and 15 s on a quiet machine.

    python -m tests.benchmarks.bench_alerts [--rounds 10]
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable
from datetime import UTC, datetime

from sqlalchemy import func, insert, select, update

from app import wiring
from app.accounts.models import Job, Role, User, UserRole
from app.accounts.roles import BUILT_IN
from app.alerts import choosing
from app.alerts.rules import AlertRules, SeverityRule
from app.db.session import Database
from app.mail.models import OutgoingMail
from app.problems import looking
from app.problems.models import Problem
from app.registry import ADMINISTRATOR
from tests.benchmarks.arena import arena
from tests.benchmarks.bench_beside import a_worker_is_there, until, worker
from tests.fakes.mailbox import Mailbox, open_mailbox

MOST_S_TO_OPEN, MOST_S = 5, 15
AT_ONCE = AlertRules(SeverityRule("at_once", 0), SeverityRule("at_once", 0), SeverityRule("at_once", 0))


async def gather(database: Database) -> None:
    """One administrator who is told of everything at once; and a first look, so that what opens later is news."""
    async with database.transaction() as db:
        user = await db.scalar(
            insert(User).values(workspace="main", email="ada@example.org", name="Ada").returning(User.id)
        )
        role = select(Role.id).where(Role.workspace == "main", Role.name == ADMINISTRATOR)
        if await db.scalar(role) is None:
            everything = sorted(BUILT_IN[ADMINISTRATOR])
            await db.execute(
                insert(Role).values(workspace="main", name=ADMINISTRATOR, permissions=everything, builtin=True)
            )
        await db.execute(insert(UserRole).values(user_id=user, role_id=await db.scalar(role)))
        await choosing.choose(db, user or 0, AT_ONCE)
        await looking.look(db)


async def fail(database: Database, number: int) -> None:
    """A job fails for good, and a look is asked for, as after a run that failed."""
    async with database.transaction() as db:
        values = {"workspace": "main", "name": "housekeeping", "key": f"work {number}", "status": "failed"}
        await db.execute(insert(Job).values(**values, error="It broke.", finished_at=datetime.now(UTC)))
        await looking.look_soon(db)


async def mend(database: Database, number: int) -> None:
    async with database.transaction() as db:
        await db.execute(update(Job).where(Job.key == f"work {number}").values(status="done", error=None))
        await looking.look_soon(db)


async def measure(database: Database, mailbox: Mailbox, act: Awaitable[None]) -> tuple[float, float]:
    """Seconds until the problem has opened or closed, and until the mail about it is there."""
    before, were_open, moved = len(mailbox.messages), await open_problems(database), 0.0
    began = time.perf_counter()
    await act
    while len(mailbox.messages) == before or not moved:
        if not moved and await open_problems(database) != were_open:
            moved = time.perf_counter() - began
        await asyncio.sleep(0.02)
        if time.perf_counter() - began > 10 * MOST_S:
            raise SystemExit("no mail came")
    return moved, time.perf_counter() - began


async def open_problems(database: Database) -> int:
    failed = Problem.kind == "job_failed", Problem.closed_at.is_(None)
    async with database.transaction() as db:
        return await db.scalar(select(func.count()).select_from(Problem).where(*failed)) or 0


async def calm(database: Database) -> None:
    """So that the next mails are no storm."""
    async with database.transaction() as db:
        await db.execute(update(OutgoingMail).values(created_at=datetime(2020, 1, 1, tzinfo=UTC)))


def told(name: str, spent: list[float], most: float) -> None:
    missed = "  MISSED" if max(spent) > most else ""
    print(f"{name:24} median {statistics.median(spent):5.2f} s  worst {max(spent):5.2f} s{missed}")


async def main(rounds: int) -> None:
    wiring.connect()
    opened, closed = [], []
    async with arena() as database, open_mailbox() as mailbox:
        await gather(database)
        server = {
            "MUSTER_SMTP_URL": f"smtp://127.0.0.1:{mailbox.port}?starttls=none",
            "MUSTER_MAIL_FROM": "m@example.org",
        }
        async with worker(database, **server):
            await until(database, a_worker_is_there)
            for number in range(rounds):
                await calm(database)
                opened.append(await measure(database, mailbox, fail(database, number)))
                closed.append(await measure(database, mailbox, mend(database, number)))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    told("fact to open problem", [moved for moved, _ in opened], MOST_S_TO_OPEN)
    told("fact to mail", [both for _, both in opened], MOST_S)
    told("end to closed problem", [moved for moved, _ in closed], MOST_S_TO_OPEN)
    told("end to mail", [both for _, both in closed], MOST_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    asyncio.run(main(parser.parse_args().rounds))
