"""What `migrate:modules` takes over many real tenants: seconds from a step before, and where nothing is to do; as a
ratio to a floor, the same SQL sent by psql in one loop, a transaction for each tenant.
A step that is made for this adds a column and an index, as most do.

    python -m tests.benchmarks.bench_migrate [--tenants 100] [--jobs 4]

The figures of docs/operate.md are those of 500, which take minutes to make. The first tenant is made as tenant:create
makes it, and the others from its dump, which takes a fifth of the time. The server waits for no
disk, since both sides would wait for it the same: what is compared is the work.
"""

import argparse
import asyncio
import resource
import subprocess
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

import psycopg

from app.accounts.tenants import create_tenant, found_all
from app.db import embedded
from app.db.cluster.home import bundled_binaries
from app.db.migrate import migrate
from app.db.session import Database
from tests.cluster import quick_folder
from tests.db.more_steps import MoreSteps

FIRST = "t00000"
PSQL = bundled_binaries() / "psql"
BODY = """
op.add_column("employees", sa.Column("bench", sa.Integer(), server_default="0", nullable=False))
op.create_index("employees_bench", "employees", ["bench"])
"""
SQL = """
BEGIN;
SET LOCAL search_path TO {schema}, shared;
ALTER TABLE employees ADD COLUMN bench integer DEFAULT 0 NOT NULL;
CREATE INDEX employees_bench ON employees (bench);
UPDATE migrations_host SET version_num = 'bench';
COMMIT;
"""
UNDO = """
ALTER TABLE {schema}.employees DROP COLUMN bench;
UPDATE {schema}.migrations_host SET version_num = '{before}';
"""


async def seconds_of(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def psql(url: str, statements: str) -> float:
    """Seconds of one psql that takes all of it from its standard input."""
    began = time.perf_counter()
    quietly = [str(PSQL), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", url]
    subprocess.run(quietly, input=statements, text=True, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


async def run(tenants: int, jobs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="muster-bench-", dir=quick_folder()) as folder:
        cluster = embedded.start(Path(folder), durable=False, extra_settings={"max_connections": "50"})
        database = Database(cluster.app_url, pool_size=2)
        try:
            await migrate(cluster.owner_url, embedded.APP_ROLE)
            await found_all(database)
            first = await seconds_of(
                create_tenant(database, cluster.owner_url, embedded.APP_ROLE, key=FIRST, name="First")
            )
            others = multiply(cluster.owner_url, tenants - 1)
            print(f"the first tenant {first:.2f} s, {tenants - 1} others {others:.0f} s")
            more = MoreSteps.copied(Path(folder) / "migrations")
            await measure(cluster.owner_url, database, more, [1, jobs])
        finally:
            await database.close()
            cluster.stop()


def multiply(owner_url: str, others: int) -> float:
    """Seconds for tenants like the first one."""
    command = [str(PSQL.with_name("pg_dump")), f"--schema=tenant_{FIRST}", owner_url]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    keys = [f"t{number:05}" for number in range(1, others + 1)]
    spent = sum(psql(owner_url, f"BEGIN;\n{dump.replace(FIRST, key)}\nCOMMIT;") for key in keys)
    rows = ", ".join(f"('{key}', '{key}')" for key in keys)
    return spent + psql(owner_url, f"INSERT INTO shared.tenants (key, name) VALUES {rows};")


async def measure(owner_url: str, database: Database, more: MoreSteps, several: list[int]) -> None:
    with psycopg.connect(owner_url) as owner:
        schemas = [
            name for (name,) in owner.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(main$|tenant_)'")
        ]
        (before,) = owner.execute("SELECT version_num FROM main.migrations_host").fetchone() or ("",)
    undo = "".join(UNDO.format(schema=schema, before=before) for schema in schemas)
    forth = "".join(SQL.format(schema=schema) for schema in schemas)
    nothing = "".join(f"SELECT version_num FROM {schema}.migrations_host;\n" for schema in schemas)
    more.use()
    more.add("host", "bench", BODY)
    for jobs in several:
        floor, none = psql(owner_url, forth), psql(owner_url, nothing)
        psql(owner_url, undo)
        cpu = cpu_s()
        step = await seconds_of(migrate(owner_url, embedded.APP_ROLE, jobs=jobs))
        cpu = cpu_s() - cpu
        idle = await seconds_of(migrate(owner_url, embedded.APP_ROLE, jobs=jobs))
        founded = await seconds_of(found_all(database))
        print(
            f"jobs {jobs}: a step of {len(schemas)} workspaces {step:6.2f} s  psql {floor:6.2f} s  ratio {step / floor:4.1f}"
            f"  (our processor {cpu:5.2f} s); nothing to do {idle:5.2f} s  psql {none:5.2f} s  ratio {idle / none:4.1f};"
            f"  roles {founded:5.2f} s"
        )
        psql(owner_url, undo)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=4)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.tenants, arguments.jobs))


if __name__ == "__main__":
    main()
