"""How fast `/problems` answers with ten thousand open problems: by kind, one kind, filters, one problem, the palette,
any page with its menu, and the API; p95 in milliseconds, and the ratio to a bare indexed SELECT of fifty of them
in the same run.

    python -m tests.benchmarks.bench_problems_page [--problems 10000] [--rounds 40]
"""

import argparse
import asyncio
import statistics
import tempfile

import httpx
from sqlalchemy import text

from app.db.session import Database
from app.parts import make_parts
from app.problems import counting
from app.web import sessions
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.bench_lists import measure, person, timed

MANY = "only_one_punch"
# Days of people with one punch, and a few of every other kind.
_PROBLEMS = """
INSERT INTO problems (kind, subject_type, subject_id, severity, title, detail, held_punches, held_people, facts, since)
SELECT CASE WHEN n % 50 = 0 THEN (ARRAY['overlaps', 'arrived_late', 'not_found', 'terminal_offline', 'job_failed'])[1 + n / 50 % 5]
    ELSE :many END, 'person_day', 'e' || n || '/2026-11-22', CASE WHEN n % 50 = 0 THEN 'critical' ELSE 'warning' END,
    'Horvat ' || n || ': one punch on Sun 22 Nov', 'Add the record by hand.', 1 + n % 3, 1,
    jsonb_build_object('code', n::text, 'job', n, 'name', 'Horvat ' || n, 'department', 'Department ' || n % 40,
        'terminal', 'T' || n % 20), now() - n * interval '1 minute'
FROM generate_series(1, :problems) AS n
"""
PAGES = {
    "by kind": "",
    "one kind": f"kind={MANY}",
    "one kind, deep": f"kind={MANY}&page=150",
    "one kind, oldest first": f"kind={MANY}&sort=since",
    "all in one order": "sort=-since",
    "200 rows": f"kind={MANY}&per_page=200",
    "severity": "severity=critical",
    "department": "department=Department+7",
    "terminal": "terminal=T3",
    "words": "q=horvat+77",
    "mine": "mine=1",
    "snoozed": "state=snoozed",
    "closed": "state=closed",
}
API = {
    "first page": "",
    "deep page": "page=150",
    "500 rows": "per_page=500",
    "one kind": f"kind={MANY}",
    "severity": "severity=critical",
    "department": "department=Department+7",
    "all that changed since": "updated_since=2026-01-01T00:00:00Z",
}


async def main(problems: int, rounds: int) -> None:
    async with arena() as database:
        owner = Database(database.url.replace("muster_app", "muster_owner"))
        async with database.transaction() as db:
            await db.execute(text(_PROBLEMS), {"problems": problems, "many": MANY})
            kinds = list(await db.scalars(text("SELECT DISTINCT kind FROM problems")))
            await counting.count_again(db, kinds)
            session, token = await person(db)
        async with owner.engine.connect() as connection:
            alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
            await alone.execute(text("VACUUM ANALYZE main.problems"))
        await owner.close()
        async with database.transaction() as db:
            bare_select = text(
                f"SELECT * FROM problems WHERE closed_at IS NULL AND kind = '{MANY}' ORDER BY id LIMIT 50"
            )
            bare = statistics.median(await timed(rounds, lambda: db.execute(bare_select)))
        print(f"{problems} problems of {len(kinds)} kinds; floor: a bare SELECT of 50 rows {bare:.2f} ms")
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_in(folder)
            parts = make_parts(settings, database.url)
            transport = httpx.ASGITransport(app=site_of(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                client.cookies.set(sessions.cookie_name(settings), session)
                missed = await measure(client, "/problems", PAGES, rounds, bare)
                missed += await measure(client, "/problems/1", {"one problem": ""}, rounds, bare)
                missed += await measure(client, "/palette", {"palette": "q=horvat+77"}, rounds, bare)
                missed += await measure(client, "/account", {"a page with the menu": ""}, rounds, bare)
                client.headers["Authorization"] = f"Bearer {token}"
                missed += await measure(client, "/api/v1/problems", API, rounds, bare)
            await parts.close()
        print(f"{missed} were over the limit")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.problems, arguments.rounds))
