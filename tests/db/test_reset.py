"""What each test finds in its database: what the template held, whatever the test before did."""

import psycopg
import pytest

from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine
from tests.reset import forget

NEW_USER = "INSERT INTO shared.users (workspace, email, name) VALUES ('main', 'zoe@example.org', 'Zoe') RETURNING id"
PERSON = "INSERT INTO {}.employees (id_number, id_number_key, name) VALUES ('1', '1', 'Ada')"


def first(owner: psycopg.Connection, query: str) -> object:
    row = owner.execute(query.encode()).fetchone()
    return row and row[0]


@pytest.fixture
def owner(urls: DatabaseUrls) -> psycopg.Connection:
    return psycopg.connect(urls.owner, autocommit=True)


def test_rows_are_those_of_the_template_and_ids_continue_from_there(
    owner: psycopg.Connection, urls: DatabaseUrls, eraser: psycopg.Connection
) -> None:
    new, cast = first(owner, NEW_USER), first(owner, "SELECT count(*) - 1 FROM shared.users")
    owner.execute("DELETE FROM shared.user_roles")
    owner.execute(PERSON.format("tenant_acme").encode())
    forget(eraser)
    with pytest.raises(psycopg.OperationalError):
        owner.execute("SELECT 1")
    with psycopg.connect(urls.owner) as again:
        assert first(again, "SELECT count(*) FROM shared.users") == cast
        assert first(again, "SELECT count(*) FROM shared.user_roles") == 4
        assert first(again, "SELECT count(*) FROM tenant_acme.employees") == 0
        assert first(again, NEW_USER) == new


async def test_a_workspace_that_a_test_made_is_emptied_too(
    muster: CommandLine, urls: DatabaseUrls, eraser: psycopg.Connection
) -> None:
    assert (await muster("tenant:create", "initech", "--name", "Initech")).code == 0
    with psycopg.connect(urls.owner) as owner:
        owner.execute(PERSON.format("tenant_initech").encode())
    forget(eraser)
    with psycopg.connect(urls.owner) as owner:
        assert first(owner, "SELECT count(*) FROM tenant_initech.employees") == 0
        owner.execute("DROP SCHEMA tenant_initech CASCADE")
    forget(eraser)
