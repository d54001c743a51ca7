"""How fast the punch list answers over a million rows: page and API, every filter, first and deep pages, p95 in
milliseconds, and the ratio to a bare indexed SELECT of one page in the same run.
The whole request is measured, rendering included.

    python -m tests.benchmarks.bench_lists [--punches 1000000] [--rounds 20]
"""

import argparse
import asyncio
import hashlib
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType

import httpx
from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import ApiToken, Role, Session, User, UserRole
from app.accounts.roles import BUILT_IN
from app.accounts.tokens import SCOPES
from app.clock.punches import daily_totals
from app.db.session import PLATFORM, Database
from app.parts import make_parts
from app.web import sessions
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.clock.mirrored import connect

PEOPLE, TERMINALS, DAYS = 500, 20, 365
FIRST = date(2025, 11, 1)
LIMIT_MS = 50
NO_MORE: Mapping[str, str] = MappingProxyType({})
_PEOPLE = """
INSERT INTO clock_employees (emp_code, full_name)
SELECT (1000 + n)::text,
    (ARRAY['Ana','Boris','Chen','Dora','Emil','Fatima','Goran','Hana'])[1 + n % 8] || ' '
    || (ARRAY['Adler','Brandt','Costa','Dvorak','Eriksen','Fischer','Grant','Horvat','Ito','Jansen'])[1 + n / 8 % 10] || ' ' || n
FROM generate_series(0, :people - 1) AS n
"""
_BINDINGS = "INSERT INTO clock_employee_bindings (clock_employee_id, emp_code) SELECT id, emp_code FROM clock_employees"
_DEVICES = (
    "INSERT INTO clock_devices (sn, alias) SELECT 'T' || n, 'Gate ' || n FROM generate_series(0, :terminals - 1) AS n"
)
# Most punches are imported; a few outcomes and codes are rare, as they are in life: those are what operators look for.
_PUNCHES = """
INSERT INTO clock_transactions (id_generation, remote_id, emp_code, terminal_sn, punch_code, verify_code, punched_at_raw,
    punched_at_local, punched_at_utc, local_date, import_outcome, judge_at{columns})
SELECT 1, n::text, (1000 + n * 7919::bigint % :people)::text, 'T' || (n * 31::bigint % :terminals),
    CASE WHEN n % 5003 = 0 THEN 255 WHEN n % 997 = 0 THEN 4 ELSE n % 2 END, 1, at::text, at, at AT TIME ZONE 'UTC', at::date,
    CASE WHEN n % 20011 = 0 THEN 'overlaps' WHEN n % 1009 = 0 THEN 'arrived_late' WHEN n % 53 = 0 THEN 'only_one_punch'
        WHEN n % 31 = 0 THEN 'not_bound' WHEN n > :punches * 0.995 THEN NULL ELSE 'imported' END, NULL{values}
FROM (SELECT n, CAST(:first AS date) + n * make_interval(secs => :apart) AS at FROM generate_series(1, :punches) AS n) AS made
"""
PAGES = {
    "first page": "",
    "deep page": "page=9000",
    "last page": "page=99999999",
    "oldest first": "sort=time",
    "200 rows": "per_page=200",
    "a month": "from=2026-03-01&to=2026-03-31",
    "a month, deep": "from=2026-03-01&to=2026-03-31&page=900",
    "one terminal": "terminal=T3",
    "one terminal, deep": "terminal=T3&page=700",
    "rare outcome": "outcome=overlaps",
    "frequent outcome, deep": "outcome=imported&page=9000",
    "not judged yet": "outcome=unjudged",
    "outcome group": "group=needs_person",
    "outcome group, deep": "group=needs_person&page=500",
    "late, open": "late=open",
    "rare code": "code=unknown",
    "some code, deep": "code=4&page=10",
    "terminal and outcome": "terminal=T3&outcome=only_one_punch&page=5",
    "terminal and rare code": "terminal=T3&code=unknown",
    "one person": "emp_code=1042",
    "name": "q=horvat 42",
    "name, many": "q=horvat",
    "name, many, deep": "q=horvat&page=900",
    "name, most": "q=a",
    "name, many, a month": "q=horvat&from=2026-03-01&to=2026-03-31",
    "name and outcome": "q=horvat&outcome=only_one_punch",
    "nothing found": "q=zzz",
}
API = {
    "first page": "",
    "deep page": "page=9000",
    "500 rows": "per_page=500",
    "a month": "from=2026-03-01&to=2026-03-31",
    "one terminal": "terminal_sn=T3",
    "one person": "emp_code=1042",
    "one person, a month": "emp_code=1042&from=2026-03-01&to=2026-03-31",
}


async def fill(database: Database, punches: int, first: date = FIRST, more: Mapping[str, str] = NO_MORE) -> None:
    """DAYS days of punches from `first` on. `more` are further columns of a punch,
    each with its value in SQL over `n` and `at`."""
    await write(database, punches, first, more)
    await count(database, first)


async def write(database: Database, punches: int, first: date, more: Mapping[str, str]) -> None:
    apart = DAYS * 86400 / punches
    async with database.transaction() as db:
        await connect(db)
        await db.execute(text(_PEOPLE), {"people": PEOPLE})
        await db.execute(text(_BINDINGS))
        await db.execute(text(_DEVICES), {"terminals": TERMINALS})
        given = {"people": PEOPLE, "terminals": TERMINALS, "first": first, "apart": apart, "punches": punches}
        columns, values = ("".join(f", {one}" for one in these) for these in (more, more.values()))
        await db.execute(text(_PUNCHES.format(columns=columns, values=values)), given)


async def count(database: Database, first: date) -> None:
    """The days that were written."""
    async with database.transaction() as db:
        await daily_totals.count_days(db, [first + timedelta(days=n) for n in range(DAYS + 2)])
        # The days of the last sync are not rolled up yet.
        stale = [{"day": first + timedelta(days=DAYS - n)} for n in range(4)]
        await db.execute(text("INSERT INTO clock_stale_days (local_date) VALUES (:day)"), stale)


async def settle(owner: Database) -> None:
    """As autovacuum leaves the tables."""
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("SET search_path TO main"))
        for table in (
            "clock_transactions",
            "clock_transaction_counts",
            "clock_analytics_daily",
            "clock_person_counts",
            "clock_employees",
            "clock_employee_bindings",
        ):
            await alone.execute(text(f"VACUUM ANALYZE {table}"))


async def person(db: AsyncSession) -> tuple[str, str]:
    """A session and a token of somebody who may see the list."""
    role = await db.scalar(
        insert(Role)
        .values(workspace=PLATFORM, name="Bench", permissions=sorted(BUILT_IN["Administrator"]))
        .returning(Role.id)
    )
    user = await db.scalar(
        insert(User).values(workspace=PLATFORM, email="b@example.org", name="B", type="admin").returning(User.id)
    )
    await db.execute(insert(UserRole).values(user_id=user, role_id=role))
    soon = datetime.now(UTC) + timedelta(hours=2)
    key = hashlib.sha256(b"session").digest()
    await db.execute(
        insert(Session).values(id_hash=key, user_id=user, ip="127.0.0.1", user_agent="bench", expires_at=soon)
    )
    await db.execute(
        insert(ApiToken).values(
            user_id=user, name="b", token_hash=hashlib.sha256(b"token").digest(), hint="oken", scopes=list(SCOPES)
        )
    )
    return "session", "token"


async def timed(rounds: int, act: Callable[[], Awaitable[object]]) -> list[float]:
    """Milliseconds, sorted; two rounds warm up."""
    spent = []
    for _ in range(rounds + 2):
        began = time.perf_counter()
        await act()
        spent.append((time.perf_counter() - began) * 1000)
    return sorted(spent[2:])


def p95(spent: list[float]) -> float:
    return spent[min(len(spent) - 1, int(len(spent) * 0.95))]


async def floor(database: Database, rounds: int) -> float:
    """Milliseconds of a bare indexed SELECT of one page: no list can be faster."""
    order = "ORDER BY local_date DESC, punched_at_utc DESC, id DESC LIMIT 50"
    async with database.transaction() as db:
        spent = await timed(rounds, lambda: db.execute(text(f"SELECT * FROM clock_transactions {order}")))
    return statistics.median(spent)


async def measure(client: httpx.AsyncClient, path: str, queries: dict[str, str], rounds: int, bare: float) -> int:
    missed = 0
    for name, query in queries.items():
        url = f"{path}?{query}"
        answer = await client.get(url)
        if answer.status_code != httpx.codes.OK:
            raise SystemExit(f"{url} answered {answer.status_code}")
        spent = await timed(rounds, lambda url=url: client.get(url))  # type: ignore[misc]
        late = p95(spent) > LIMIT_MS
        missed += late
        median = statistics.median(spent)
        print(
            f"{path:26} {name:24} p95 {p95(spent):7.1f} ms  median {median:7.1f}  ratio {median / bare:5.1f}{'  MISSED' if late else ''}"
        )
    return missed


async def main(punches: int, rounds: int) -> None:
    async with arena() as database:
        owner = Database(database.url.replace("muster_app", "muster_owner"))
        await fill(database, punches)
        await settle(owner)
        await owner.close()
        async with database.transaction() as db:
            session, token = await person(db)
            count = await db.scalar(select(text("count(*) FROM clock_transactions")))
        bare = await floor(database, rounds)
        print(f"{count} punches; floor: a bare SELECT of 50 rows {bare:.1f} ms")
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_in(folder)
            parts = make_parts(settings, database.url)
            transport = httpx.ASGITransport(app=site_of(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                client.cookies.set(sessions.cookie_name(settings), session)
                missed = await measure(client, "/clock_transactions", PAGES, rounds, bare)
                client.headers["Authorization"] = f"Bearer {token}"
                missed += await measure(client, "/api/v1/clock/transactions", API, rounds, bare)
            await parts.close()
        print(f"{missed} of {len(PAGES) + len(API)} were over {LIMIT_MS} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--punches", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.punches, arguments.rounds))
