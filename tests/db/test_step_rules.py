"""No step since the version before stops a portal that serves meanwhile."""

import re
from importlib import import_module

import pytest

from app.db.base import Base
from app.db.steps import MODULES, ROOT
from tests import version_before
from tests.db.step_rules import BIG, LEDGER, later, problems

STEP = "CODE = 'clock_transactions'\n\ndef upgrade() -> None:\n    {}\n"


@pytest.mark.parametrize("module", MODULES)
def test_every_step_since_the_version_before_leaves_it_running(module: str) -> None:
    steps = later(module, ROOT / "versions" / module)
    assert {path.name: found for path in steps if (found := problems(path.read_text()))} == {}


def test_the_version_before_is_one_that_there_was() -> None:
    for module, newest in version_before.NEWEST.items():
        every = [*(ROOT / "versions" / module).glob("*.py")]
        assert len(every) - len(later(module, ROOT / "versions" / module)) > 0, newest


@pytest.mark.parametrize(
    "line",
    [
        'op.add_column("users", sa.Column("x", sa.Text(), nullable=False))',
        'op.add_column("users", sa.Column("x", sa.Uuid(), server_default=sa.text("gen_random_uuid()")))',
        'op.add_column("users", sa.Column("x", sa.BigInteger(), sa.Identity()))',
        'op.alter_column("users", "x", type_=sa.BigInteger())',
        'op.alter_column("users", "x", nullable=False)',
        'op.alter_column("users", "x", new_column_name="y")',
        'op.create_index("i", "clock_transactions", ["x"])',
        'op.create_index("i", CODE, ["x"], postgresql_concurrently=True)',
        'op.drop_index("i", postgresql_concurrently=True)',
        'op.execute("CREATE INDEX CONCURRENTLY i ON users (x)")',
        'op.execute("DROP INDEX i")',
        'for one in "abcd": [op.add_column("a", X), op.add_column("b", X), op.alter_column("c", X), op.create_index("i", "d", ["x"])]',
        'op.create_index("i", CODE, ["x"], unique=True)',
        'op.create_check_constraint("c", "clock_transactions", "x > 0")',
        'op.drop_column("users", "x")',
        'op.drop_table("users")',
        'op.drop_constraint("users_type_check", "users", type_="check")',
        'op.execute("ALTER TABLE users ALTER COLUMN x TYPE bigint")',
        'op.execute("ALTER TABLE users DROP COLUMN x")',
        'op.execute("ALTER TABLE users RENAME x TO y")',
        'op.execute("CREATE INDEX i ON users (x)")',
        'op.execute("LOCK TABLE users")',
        'op.execute("UPDATE clock_transactions SET x = 1")',
        'op.execute("WITH a AS (UPDATE survey_responses SET x = 1 RETURNING 1) SELECT 1")',
        'op.execute("DELETE FROM shared.audit_entries")',
    ],
)
def test_a_step_that_would_stop_a_portal_is_found(line: str) -> None:
    assert len(problems(STEP.format(line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        'op.add_column(CODE, sa.Column("x", sa.Integer(), server_default="0", nullable=False))',
        'op.add_column(CODE, sa.Column("x", sa.Text()))',
        'op.alter_column("users", "x", nullable=True)',
        'op.create_index("i", "roles", ["x"])',
        '[op.add_column("a", X), op.add_column("b", X), op.alter_column("c", X), op.alter_column("a", X)]',
        'op.create_check_constraint("c", CODE, "x > 0", postgresql_not_valid=True)',
        'op.execute("UPDATE roles SET x = 1")',
        'op.drop_constraint("c", CODE, type_="check"); op.create_check_constraint("c", CODE, "x > 0", postgresql_not_valid=True)',
        'op.create_table("audit_entries", sa.Column("id", sa.BigInteger(), nullable=False)); op.create_index("i", "audit_entries", ["id"])',
    ],
)
def test_a_step_that_lets_it_run_is_left_alone(line: str) -> None:
    assert problems(STEP.format(line)) == []


def test_a_function_that_a_step_calls_is_read_too() -> None:
    assert problems(STEP.format("_more()") + "\n\ndef _more() -> None:\n    op.drop_table('users')\n") != []


def test_the_tables_of_the_rules_are_tables_of_ours() -> None:
    for names in MODULES.values():
        for name in names:
            import_module(name)
    assert (BIG | LEDGER) - Base.metadata.tables.keys() == set()


def test_what_was_given_up_a_release_ago_may_go() -> None:
    assert problems("CONTRACTS = '2026_11_24_passkeys'\n\n" + STEP.format('op.drop_column("users", "x")')) == []


@pytest.mark.parametrize("module", MODULES)
def test_a_step_that_takes_away_names_one_that_the_version_before_knows(module: str) -> None:
    folder = ROOT / "versions" / module
    new = {path.stem for path in later(module, folder)}
    known = {path.stem for path in folder.glob("*.py")} - new
    named = {
        found[1] for path in folder.glob("*.py") if (found := re.search(r"(?m)^CONTRACTS = (.*)$", path.read_text()))
    }
    assert {one.strip("\"'") for one in named} <= known


CONCURRENT, SLICED = "CONCURRENT = True\n\n", "SLICED = True\n\n"


@pytest.mark.parametrize(
    ("says", "line", "found"),
    [
        (CONCURRENT, 'op.create_index(op.f("i"), CODE, ["x"], postgresql_concurrently=True)', 0),
        (CONCURRENT, 'op.drop_index("i", postgresql_concurrently=True)', 0),
        (CONCURRENT, 'op.create_index("i", "roles", ["x"])', 1),
        (CONCURRENT, 'op.add_column("users", sa.Column("x", sa.Text()))', 1),
        (SLICED, 'op.execute("UPDATE clock_transactions SET x = 1 WHERE id IN (SELECT id FROM y LIMIT 9)")', 0),
        (SLICED, 'op.execute("UPDATE clock_transactions SET x = 1")', 1),
        (SLICED, 'op.execute("UPDATE survey_responses SET x = 1 WHERE id IN (SELECT id FROM y LIMIT 9)")', 1),
    ],
)
def test_a_step_keeps_to_what_it_says_of_itself(says: str, line: str, found: int) -> None:
    assert len(problems(says + STEP.format(line))) == found
