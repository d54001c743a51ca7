"""The ledger against the application's own role: a note of the head is always the true head,
and a lost key is found."""

import psycopg
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from app.accounts import audit
from app.accounts.audit import SYSTEM
from app.accounts.models import AuditEntry
from app.db.session import Database
from app.parts import Parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger.verifying import NOTE, note_head
from tests.cluster import DatabaseUrls
from tests.surveys import changing
from tests.surveys.changing import agree, badges
from tests.surveys.drafted import Stored
from tests.surveys.recording import lunch, record, verify

FALSE_NOTE = (
    "INSERT INTO shared.audit_entries (workspace, actor_name, act, subject_type, subject_id, after)"
    " VALUES ('main', 'Muster', 'ledger.head', 'ledger', 'main', '{\"number\": 2, \"head\": \"00\"}')"
)
OWN_OPERATORS = (
    "CREATE OPERATOR saq.<> (FUNCTION = pg_catalog.nameeq, LEFTARG = name, RIGHTARG = name)",
    "SET LOCAL search_path = saq, pg_catalog",
)


@pytest.fixture
async def survey(database: Database, parts: Parts) -> Stored:
    """Lunch, with three responses that have evidence."""
    stored = await lunch(database)
    for person in (1, 2, 3):
        await record(database, parts.keys, stored, person)
    return stored


async def notes(database: Database) -> list[tuple[str, object]]:
    async with database.shared_transaction() as db:
        rows = await db.scalars(select(AuditEntry).where(AuditEntry.act == NOTE).order_by(AuditEntry.id))
        return [(one.workspace, one.after) for one in rows]


async def change(database: Database, *statements: str) -> None:
    """As the application's role."""
    async with database.transaction() as db:
        for one in statements:
            await db.execute(text(one.replace(":", r"\:")))


async def test_the_note_says_what_the_last_row_is(database: Database, survey: Stored) -> None:
    async with database.transaction() as db:
        await note_head(db)
    head = (await verify(database, "main")).head
    assert await notes(database) == [("main", {"number": 3, "head": head})]


async def test_the_note_covers_a_change_that_is_the_last_row(database: Database, parts: Parts) -> None:
    agreed = await agree(database, parts.keys, await badges(database), 7)
    told = await changing.change(database, parts.keys, agreed)
    async with database.transaction() as db:
        await note_head(db)
    assert told is not None
    assert await notes(database) == [("main", {"number": 2, "head": told.receipt})]


@pytest.mark.parametrize("before", [(), OWN_OPERATORS], ids=["plainly", "with operators of its own"])
async def test_the_apps_role_writes_no_note_itself(database: Database, survey: Stored, before: tuple[str, ...]) -> None:
    with pytest.raises(DBAPIError, match="only note_ledger_head"):
        await change(database, *before, FALSE_NOTE)
    assert await notes(database) == []


async def test_the_audit_of_every_other_act_stays_open(database: Database) -> None:
    async with database.transaction() as db:
        await audit.record(db, SYSTEM, "ledger.heads", "ledger", "main")


async def test_no_note_is_made_of_a_head_that_the_apps_role_moved(database: Database, survey: Stored) -> None:
    for moved in ("row_hash = decode(repeat('ab', 32), 'hex')", "number = 2", "number = 9", "number = -1"):
        with pytest.raises(DBAPIError, match="run ledger:verify"):
            await change(database, f"UPDATE survey_ledger_head SET {moved}", "SELECT note_ledger_head()")
    assert await notes(database) == []


async def test_the_function_reads_the_ledger_whatever_the_callers_path_is(database: Database, survey: Stored) -> None:
    await change(
        database,
        "CREATE TEMP TABLE survey_ledger_head ON COMMIT DROP AS SELECT CAST(1 AS bigint) AS number, CAST('' AS bytea) AS row_hash",
        "SET LOCAL search_path = pg_temp, saq",
        "SELECT main.note_ledger_head()",
    )
    assert await notes(database) == [("main", {"number": 3, "head": (await verify(database, "main")).head})]


async def test_each_workspace_has_its_own(database: Database, parts: Parts) -> None:
    await record(database, parts.keys, await lunch(database, "globex"), 7)
    async with database.transaction("globex") as db:
        await note_head(db)
    assert await notes(database) == [("globex", {"number": 1, "head": (await verify(database, "globex")).head})]


def test_the_apps_role_replaces_neither_the_function_nor_the_guard(urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.app, autocommit=True) as app:
        for statement in (
            "CREATE OR REPLACE FUNCTION main.note_ledger_head() RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb'",
            "ALTER FUNCTION main.note_ledger_head() SET search_path = pg_temp",
            "ALTER TABLE shared.audit_entries DISABLE TRIGGER ledger_notes",
            "DROP TRIGGER ledger_notes ON shared.audit_entries",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(statement)


def test_no_other_role_calls_it(urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        may = "SELECT has_function_privilege('pg_monitor', 'main.note_ledger_head()', 'EXECUTE')"
        assert owner.execute(may).fetchone() == (False,)


# --- keys of evidence, which the application's role may change: an erasure destroys one

FLIPPED = "sealed_key = overlay(sealed_key placing reverse(right(sealed_key, 9)) from length(sealed_key) - 8)"
KEYS_CHANGED = {
    "flipped": (f"UPDATE survey_person_keys SET {FLIPPED} WHERE user_id = 2", "does not open"),
    "another person's": (
        "UPDATE survey_person_keys k SET sealed_key = o.sealed_key FROM survey_person_keys o WHERE k.user_id = 2 AND o.user_id = 1",
        "does not open",
    ),
    "given to another person": ("UPDATE survey_person_keys SET user_id = 22 WHERE user_id = 2", "does not open"),
    "garbage": ("UPDATE survey_person_keys SET sealed_key = 'x' WHERE user_id = 2", "does not open"),
    "destroyed": (
        "UPDATE survey_person_keys SET sealed_key = NULL, erased_at = now() WHERE user_id = 2",
        "no erasure of that person",
    ),
}


@pytest.mark.parametrize(("statement", "problem"), KEYS_CHANGED.values(), ids=KEYS_CHANGED)
async def test_a_changed_key_is_found_at_the_first_row_that_needs_it(
    database: Database, survey: Stored, statement: str, problem: str
) -> None:
    await change(database, statement)
    verdict = await verify(database, "main")
    assert (verdict.number, verdict.rows) == (2, 1)
    assert problem in str(verdict.problem)


async def test_an_erased_person_is_no_lost_key(database: Database, survey: Stored) -> None:
    await erasing.erase(database, SYSTEM, EvidenceOwner(2, "two@example.org", "main"))
    assert (await verify(database, "main")).fits


async def test_an_erasure_of_another_person_or_time_does_not_account_for_it(database: Database, survey: Stored) -> None:
    await erasing.erase(database, SYSTEM, EvidenceOwner(1, "one@example.org", "main"))
    await change(database, "UPDATE survey_person_keys SET sealed_key = NULL, erased_at = now() WHERE user_id = 2")
    assert (await verify(database, "main")).number == 2
