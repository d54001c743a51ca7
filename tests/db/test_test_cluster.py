"""What every other test relies on: its database is its own, migrated, and gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cluster import TestCluster, open_cluster


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[TestCluster]:
    with open_cluster() as opened:
        yield opened


@pytest.fixture
def migration(tmp_path: Path) -> Path:
    file = tmp_path / "migration.py"
    file.write_text("CREATE TABLE thing (name text); GRANT SELECT, INSERT ON thing TO {app}")
    return file


class Migrator:
    """Runs the file as the owner, and counts how often it was asked to."""

    def __init__(self, cluster: TestCluster, file: Path) -> None:
        self.cluster, self.file, self.runs = cluster, file, 0

    def __call__(self, owner_url: str) -> None:
        self.runs += 1
        with psycopg.connect(owner_url) as connection:
            connection.execute(self.file.read_text().format(app=self.cluster.app_role).encode())

    def template(self) -> str:
        return self.cluster.make_template("selftest", self, [self.file])


def things(url: str) -> int:
    with psycopg.connect(url) as connection:
        return len(connection.execute("SELECT name FROM thing").fetchall())


def test_clones_hold_what_was_migrated_and_nothing_of_each_other(own_cluster: TestCluster, migration: Path) -> None:
    template = Migrator(own_cluster, migration).template()
    one, two = own_cluster.clone(template), own_cluster.clone(template)
    with psycopg.connect(one.app) as connection:
        connection.execute("INSERT INTO thing VALUES ('mine')")
    assert (things(one.owner), things(two.owner)) == (1, 0)


def test_the_two_roles_differ_and_only_the_owner_may_alter_tables(own_cluster: TestCluster, migration: Path) -> None:
    urls = own_cluster.clone(Migrator(own_cluster, migration).template())
    assert own_cluster.app_role != own_cluster.owner_role
    with psycopg.connect(urls.app) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("ALTER TABLE thing ADD more text")
    with psycopg.connect(urls.owner) as connection:
        connection.execute("ALTER TABLE thing ADD more text")


def test_a_template_is_migrated_once_until_its_sources_change(own_cluster: TestCluster, migration: Path) -> None:
    migrator = Migrator(own_cluster, migration)
    assert migrator.template() == migrator.template()
    assert migrator.runs == 1
    migration.write_text(migration.read_text() + "; CREATE TABLE other ()")
    migrator.template()
    assert migrator.runs == 2


def test_a_migration_that_fails_leaves_no_template_behind(own_cluster: TestCluster, migration: Path) -> None:
    migrator = Migrator(own_cluster, migration)
    migration.write_text("CREATE TABLE half (); SELECT 1/0")
    for _ in range(2):
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrator.template()
    assert migrator.runs == 2


def test_a_clone_is_dropped_though_the_app_is_still_connected(own_cluster: TestCluster, migration: Path) -> None:
    urls = own_cluster.clone(Migrator(own_cluster, migration).template())
    lingering = psycopg.connect(urls.app)
    own_cluster.drop(urls)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(urls.app)
    lingering.close()


def test_the_clones_of_a_killed_session_go_with_the_next_one_and_those_of_a_living_one_stay(
    own_cluster: TestCluster, migration: Path
) -> None:
    template = Migrator(own_cluster, migration).template()
    with open_cluster() as killed, open_cluster() as alive:
        lost, kept = killed.clone(template), alive.clone(template)
        killed._admin.close()  # what the server sees of a kill -9
        killed.close = lambda: None  # type: ignore[method-assign] # nor did it tidy up
        with open_cluster():
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(lost.app)
            assert things(kept.app) == 0
