"""Two installations for tests: one with a tenant that lived through a lot,
and an empty one with other users and other keys."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from app.config import read_settings
from app.db.migrate import migrate
from app.parts import Parts, make_parts
from app.secrets import new_key_text
from tests.cluster import DatabaseUrls, TestCluster
from tests.command_line import CommandLine
from tests.conftest import command_line
from tests.upgrade.kept import Dump

TENANT = "acme"
PASSPHRASE = "a passphrase that is long"
PASSWORD = "correct horse battery"
OTHER_KEYS = new_key_text("there")
# Accounts of the new installation: their ids are person numbers of the tenant, too.
STRANGERS = 20


@dataclass
class Installation:
    """A database with the keys of its secrets."""

    urls: DatabaseUrls
    keys: str
    folder: Path

    def parts(self) -> Parts:
        environment = {"MUSTER_DATA_DIR": str(self.folder), "MUSTER_SECRET_KEYS": self.keys}
        return make_parts(read_settings(environment), self.urls.app)

    def muster(self, **environment: str) -> CommandLine:
        made = command_line(self.urls, self.folder)
        made.environment |= {"MUSTER_SECRET_KEYS": self.keys, "MUSTER_PASSPHRASE": PASSPHRASE, **environment}
        return made

    def rows(self, query: str, *values: object, schema: str = f"tenant_{TENANT}") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.urls.owner, options=f"-c search_path={schema},shared") as connection:
            return connection.execute(query, values or None).fetchall()

    def run(self, query: str, *values: object, schema: str = f"tenant_{TENANT}") -> None:
        with psycopg.connect(self.urls.owner, options=f"-c search_path={schema},shared") as connection:
            connection.execute(query, values or None)

    def all_of(self, table: str, columns: list[str]) -> list[str]:
        """Every row as text, in order."""
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        query = sql.SQL("SELECT ROW({})::text FROM {} ORDER BY 1").format(names, sql.Identifier(table))
        with psycopg.connect(self.urls.owner, options=f"-c search_path=tenant_{TENANT},shared") as connection:
            return [row[0] for row in connection.execute(query)]

    def everything(self) -> Mapping[str, int]:
        """How many rows each table of each schema has, and which schemas there are."""
        tables = self.rows(
            "SELECT schemaname, relname FROM pg_stat_user_tables WHERE schemaname <> 'saq' ORDER BY 1, 2"
        )
        return {
            f"{schema}.{name}": self.rows(f'SELECT count(*) FROM "{schema}"."{name}"')[0][0] for schema, name in tables
        }


def fill_empty(owner_url: str, app_role: str) -> None:
    """Migrated, with users of its own."""
    asyncio.run(migrate(owner_url, app_role))
    with psycopg.connect(owner_url) as connection:
        for number in range(STRANGERS):
            connection.execute(
                "INSERT INTO shared.users (workspace, email, name) VALUES ('main', %s, 'A stranger')",
                [f"stranger{number}@there.example"],
            )


def lived_in(cluster: TestCluster, dump: Dump, folder: Path) -> Installation:
    urls = cluster.create_empty()
    dump.restore(urls)
    asyncio.run(migrate(urls.owner, cluster.app_role))
    return Installation(urls, dump.notes["keys"], folder)


def empty(cluster: TestCluster, folder: Path) -> Installation:
    template = cluster.make_template("elsewhere", lambda owner_url: _apart(owner_url, cluster.app_role))
    return Installation(cluster.clone(template), OTHER_KEYS, folder)


def _apart(owner_url: str, app_role: str) -> None:
    import threading

    # The suite's event loop may run here.
    thread = threading.Thread(target=fill_empty, args=(owner_url, app_role))
    thread.start()
    thread.join()
