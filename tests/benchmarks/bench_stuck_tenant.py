"""How others' pages answer while one tenant's tables are locked and 30 of its requests wait.

    python -m tests.benchmarks.bench_stuck_tenant [--seconds 15]

Printed: the p99 of eight clients of the platform without and with the stuck tenant, and their ratio; and what became of
the tenant's own requests. It only talks to this machine, and stops by itself.
"""

import argparse
import asyncio
import hashlib
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

import asyncpg
from sqlalchemy import insert

from app.accounts.models import Role, Session, Tenant, User, UserRole
from app.accounts.roles import BUILT_IN
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from tests.benchmarks.arena import arena
from tests.benchmarks.crowd import Line, Portal, lines, owner_url, serving

CLIENTS, STUCK = 8, 30
PAGE = "/people"
PAUSE_S = 0.1


async def main(seconds: int) -> None:
    async with arena() as database:
        await migrate(owner_url(database), embedded.APP_ROLE, workspaces=["main", "stuck"])
        await _people(database)
        async with serving(database, workers=1) as portal:
            await _browsing(portal, 3)
            alone = await _browsing(portal, seconds)
            owner = await asyncpg.connect(owner_url(database))
            async with owner.transaction():
                await owner.execute("LOCK TABLE tenant_stuck.employees IN ACCESS EXCLUSIVE MODE")
                waiting = [asyncio.create_task(_ask_again(portal, seconds)) for _ in range(STUCK)]
                await asyncio.sleep(1)
                beside = await _browsing(portal, seconds)
                ended = sum(await asyncio.gather(*waiting), Counter[int]())
            await owner.close()
    print(f"others alone: p99 {alone:.0f} ms; beside {STUCK} requests of a stuck tenant: p99 {beside:.0f} ms,", end=" ")
    print(f"{beside / alone:.1f} × the floor; the tenant's own answers: {dict(ended)}")


async def _people(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(insert(Tenant).values(key="stuck", name="Stuck"))
        for workspace in ("main", "stuck"):
            role = insert(Role).values(workspace=workspace, name="B", permissions=sorted(BUILT_IN["Administrator"]))
            role_id = await db.scalar(role.returning(Role.id))
            user = insert(User).values(workspace=workspace, email=f"{workspace}@b.example", name="B", type="admin")
            user_id = await db.scalar(user.returning(User.id))
            await db.execute(insert(UserRole).values(user_id=user_id, role_id=role_id))
            key, soon = hashlib.sha256(workspace.encode()).digest(), datetime.now(UTC) + timedelta(hours=2)
            session = insert(Session).values(
                id_hash=key, user_id=user_id, ip="127.0.0.1", user_agent="b", expires_at=soon
            )
            await db.execute(session)


async def _browsing(portal: Portal, seconds: int) -> float:
    """The p99 in milliseconds of clients of the platform; each must be answered."""
    spent: list[float] = []

    async def client(line: Line) -> None:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            began = time.perf_counter()
            status = await _page(line, "main")
            if status != 200:
                raise SystemExit(f"somebody else was answered with {status}")
            spent.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(PAUSE_S)

    async with lines(portal, CLIENTS) as opened:
        await asyncio.gather(*(client(line) for line in opened))
    return sorted(spent)[int(len(spent) * 0.99)]


async def _ask_again(portal: Portal, seconds: int) -> Counter[int]:
    """What the stuck tenant's people were answered, who try again at once."""
    ended: Counter[int] = Counter()
    until = time.perf_counter() + seconds
    async with lines(portal, 1) as (line,):
        while time.perf_counter() < until:
            ended[await _page(line, "stuck")] += 1
    return ended


async def _page(line: Line, session: str) -> int:
    line.writer.write(f"GET {PAGE} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: muster={session}\r\n\r\n".encode())
    answer = await line.reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await line.reader.readexactly(length)
    return int(answer[9:12])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=15)
    asyncio.run(main(parser.parse_args().seconds))
