"""Tenants, Users and the palette of an installation with many tenants: milliseconds of each view, the ratio to a bare
SELECT of one page in the same run, and the blocks that its statements read.

    python -m tests.benchmarks.bench_tenants [--tenants 5000] [--users 500000] [--rounds 10] [--told FILE]

The accounts of all workspaces are real rows of the shared tables; no tenant has a schema. A tenth of the accounts
belong to the platform. FILE gets the plans of the three statements of each view that read most.
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

import httpx
from sqlalchemy import text

from app.db.session import PLATFORM, Database
from app.parts import make_parts
from app.web import sessions
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.bench_lists import person, timed
from tests.benchmarks.explained import watch

PLATFORM_SHARE = 10
_TENANTS = """
INSERT INTO tenants (key, name, active)
SELECT 'tenant_' || n, 'Company ' || md5(n::text), n % 50 > 0 FROM generate_series(1, :tenants) AS n
"""
_ROLES = """
INSERT INTO roles (workspace, name, permissions, builtin)
SELECT key, role.name, role.permissions, true
FROM tenants, (VALUES ('Administrator', CAST(:permissions AS text[])), ('Viewer', ARRAY['host.attendance'])) AS role (name, permissions)
WHERE key LIKE 'tenant%'
"""
# Every hundredth tenant has no administrator yet.
_USERS = """
INSERT INTO users (workspace, email, name, password_hash, active, last_sign_in_at)
SELECT CASE WHEN n % :share = 0 THEN 'main' ELSE 'tenant_' || 1 + n / :share % :tenants END, 'user' || n || '@example.org',
    initcap(substr(md5(n::text), 1, 7)) || ' ' || initcap(substr(md5(n::text), 8, 9)),
    CASE WHEN n % 20 > 0 THEN 'x' END, n % 30 > 0, now() - n * interval '1 minute'
FROM generate_series(1, :users) AS n
"""
_GIVEN = """
INSERT INTO user_roles (user_id, role_id)
SELECT u.id, r.id FROM (
    SELECT id, workspace, row_number() OVER (PARTITION BY workspace ORDER BY id) AS place FROM users WHERE workspace LIKE 'tenant%'
) u JOIN roles r ON r.workspace = u.workspace
    AND r.name = CASE WHEN u.place = 1 AND u.workspace NOT LIKE '%00' THEN 'Administrator' ELSE 'Viewer' END
"""
_SIGNED_IN = """
INSERT INTO sessions (id_hash, user_id, ip, user_agent, expires_at)
SELECT sha256(int8send(id)), id, '127.0.0.1', 'bench', now() + interval '1 hour' FROM users WHERE id % 10 = 0
"""
_TOKENS = """
INSERT INTO api_tokens (user_id, name, token_hash, hint, scopes)
SELECT id, 'Token', sha256(int8send(-id)), 'abcd', '{me}' FROM users WHERE id % 25 = 0
"""
VIEWS = {
    "tenants": "/admin/tenants",
    "tenants, deep": "/admin/tenants?page=90",
    "tenants, search": "/admin/tenants?q=company+a1",
    "tenants, by users": "/admin/tenants?sort=-users",
    "tenants, by state": "/admin/tenants?sort=state",
    "tenants, without administrator": "/admin/tenants?state=no_administrator",
    "tenants, deactivated": "/admin/tenants?state=deactivated",
    "tenant": "/admin/tenants/tenant_42",
    "users": "/admin/users",
    "users, deep": "/admin/users?page=900",
    "users, by e-mail": "/admin/users?sort=email",
    "users, by last sign-in": "/admin/users?sort=-last_sign_in_at",
    "users, search": "/admin/users?q=user4711",
    "users, nothing found": "/admin/users?q=zzzz",
    "users, by state": "/admin/users?state=invited",
    "users, by role": "/admin/users?role=Bench",
    "user": "/admin/users/40",
    "tokens": "/admin/tokens",
    "tokens, search": "/admin/tokens?q=user4711",
    "roles": "/admin/roles",
    "jobs": "/admin/jobs",
    "audit": "/admin/audit",
    "palette": "/palette?q=user47",
    "palette, rare": "/palette?q=abcdef1",
    "palette, nothing": "/palette?q=zzzz",
    "metrics": "/metrics",
}


async def fill(database: Database, tenants: int, users: int, share: int = PLATFORM_SHARE) -> None:
    """One account in `share` is the platform's."""
    async with database.shared_transaction() as db:
        await db.execute(text(_TENANTS), {"tenants": tenants})
        await db.execute(text(_ROLES), {"permissions": ["admin.users", "admin.roles"]})
        await db.execute(text(_USERS), {"tenants": tenants, "users": users, "share": share})
        for statement in (_GIVEN, _SIGNED_IN, _TOKENS):
            await db.execute(text(statement))


async def settle(owner: Database) -> None:
    """As autovacuum leaves the tables."""
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        for table in ("tenants", "users", "roles", "user_roles", "sessions", "api_tokens"):
            await alone.execute(text(f"VACUUM ANALYZE shared.{table}"))


async def main(tenants: int, users: int, rounds: int) -> str:
    """The plans."""
    async with arena() as database:
        owner = Database(database.url.replace("muster_app", "muster_owner"))
        await fill(database, tenants, users)
        await settle(owner)
        await owner.close()
        async with database.transaction(PLATFORM) as db:
            session, _ = await person(db)
        async with database.shared_transaction() as db:
            page = "SELECT * FROM users WHERE workspace = 'main' ORDER BY name, id LIMIT 50"
            bare = statistics.median(await timed(rounds, lambda: db.execute(text(page))))
        print(f"{tenants:,} tenants, {users:,} accounts; floor: a bare SELECT of 50 rows {bare:.1f} ms")
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_in(folder)
            parts = make_parts(settings, database.url)
            transport = httpx.ASGITransport(app=site_of(parts), client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=None) as client:
                client.cookies.set(sessions.cookie_name(settings), session)
                plans = [await _measured(client, parts.database, name, rounds, bare) for name in VIEWS]
            await parts.close()
        return "\n\n".join(plans)


async def _measured(client: httpx.AsyncClient, database: Database, name: str, rounds: int, bare: float) -> str:
    """Prints the view's line, and returns its plans."""

    async def ask() -> None:
        answer = await client.get(VIEWS[name])
        if answer.status_code != httpx.codes.OK:
            raise SystemExit(f"{VIEWS[name]} answered {answer.status_code}")

    with watch(database.engine) as found:
        await ask()
    median = statistics.median(await timed(rounds, ask))
    print(f"{name:32} median {median:8.1f} ms  ratio {median / bare:6.1f}  {found.blocks:9,} blocks, {len(found.reads)} statements")  # fmt: skip
    most = sorted(found.reads, key=lambda read: -read.blocks)[:3]
    return "\n".join([f"== {name}", *(read.told() for read in most)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tenants", type=int, default=5_000)
    parser.add_argument("--users", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--told", type=Path, help="a file for the plans")
    arguments = parser.parse_args()
    plans = asyncio.run(main(arguments.tenants, arguments.users, arguments.rounds))
    if arguments.told:
        arguments.told.write_text(plans)
