"""Verifying a ledger with changes in it: whatever the owner of the tables does to them is found,
and its row is named."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from app.db.direct import driver
from app.db.session import Database
from app.parts import Parts
from app.surveys.ledger import verifying
from app.surveys.ledger.verifying import LedgerVerdict, verified, verified_change
from tests.surveys.changing import agree, badges, change, close
from tests.surveys.drafted import Stored
from tests.surveys.owner import Owner
from tests.surveys.recording import record, verify, verify_tampered

ROWS = 9
WITHDRAWN = 4


@pytest.fixture
async def survey(database: Database, parts: Parts) -> Stored:
    """1–3 agree, the second withdraws (4), agrees again (5), another declines (6), the third withdraws (7), 8 agrees,
    9 is a closing."""
    stored = await badges(database)
    one, two, three = [await agree(database, parts.keys, stored, person) for person in (1, 2, 3)]
    await change(database, parts.keys, two)
    await change(database, parts.keys, replace(two, turns=1))
    await record(database, parts.keys, stored, 4, None, outcome="declined")
    await change(database, parts.keys, three)
    await agree(database, parts.keys, stored, 5)
    await close(database, await badges(database))
    assert one.number == 1
    return stored


async def _is_verified(database: Database, number: int) -> bool:
    async with database.transaction() as db:
        return await verified_change(db, number)


async def test_an_untouched_chain_of_both_tables_fits(
    database: Database, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as db:
        await verifying.note_head(db)
        head = await db.scalar(text("SELECT encode(row_hash, 'hex') FROM survey_ledger_head"))
    for batch in (1000, 2, 1):
        monkeypatch.setattr(verifying, "BATCH", batch)
        assert await verify(database, "main") == LedgerVerdict(ROWS, head)
    async with database.transaction() as db:
        responses = [await verified(db, number) for number in range(1, ROWS + 1)]
        changes = [await verified_change(db, number) for number in range(1, ROWS + 1)]
    assert responses == [number not in (4, 5, 7, 9) for number in range(1, ROWS + 1)]
    assert changes == [number in (4, 5, 7, 9) for number in range(1, ROWS + 1)]


ANOTHER_LETTER = "CASE substr(sealed, length(sealed) - 3, 1) WHEN '_' THEN '-' ELSE '_' END"
# What is changed of row 4, a withdrawal → what the verdict says.
CHANGES = {
    "entry": ("entry = replace(entry, '\"user\":2', '\"user\":9')", "its hash does not fit"),
    "row_hash": ("row_hash = set_byte(row_hash, 5, get_byte(row_hash, 5) # 1)", "its hash does not fit"),
    "kind": ("kind = 'agreed_again', turn = 4", "kind"),
    "survey_id": ("survey_id = survey_id + 1", "survey_id"),
    "version": ("version = 2", "version"),
    "response_number": ("response_number = 1", "response_number"),
    "turn": ("turn = 3", "turn"),
    "user_id": ("user_id = 33", "user_id"),
    "source": ("source = 'api'", "source"),
    "recorded_at": ("recorded_at = recorded_at + interval '1 microsecond'", "recorded_at"),
    "sealed": (f"sealed = overlay(sealed placing {ANOTHER_LETTER} from length(sealed) - 3)", "sealed"),
    "sealed taken away": ("sealed = NULL, key_id = NULL", "sealed"),
    "key_id": ("key_id = key_id + 1", "key_id"),
}
# The same of row 9, a closing.
CLOSING = {
    "ballots": ("ballots = 8", "ballots"),
    "results": ("results = 'ab'", "results"),
    "version": ("version = 2", "version"),
}


async def test_a_changed_column_is_found_and_its_row_named(database: Database, survey: Stored, owner: Owner) -> None:
    for number, changes in ((WITHDRAWN, CHANGES), (ROWS, CLOSING)):
        for what, (statement, problem) in changes.items():
            with owner.tampering(f"UPDATE survey_changes SET {statement} WHERE number = {number}"):
                verdict = await verify(database, "main")
                assert (what, verdict.number, verdict.rows, verdict.fits) == (what, number, number - 1, False)
                assert problem in str(verdict.problem), (what, verdict.problem)
                assert not await _is_verified(database, number), what
    assert (await verify(database, "main")).fits


async def test_every_column_of_changes_is_tried(database: Database) -> None:
    async with database.transaction() as db:
        columns = (
            await db.scalars(
                text(
                    "SELECT column_name FROM information_schema.columns"
                    " WHERE table_schema = 'main' AND table_name = 'survey_changes'"
                )
            )
        ).all()
    # A row that moves leaves a gap, see below. When a row was stored proves nothing.
    assert set(columns) - set(CHANGES) - set(CLOSING) == {"number", "stored_at"}


_FORGED = "replace(replace(c.entry, '\"number\":4', '\"number\":10'), {})"
_APPENDED = (
    "INSERT INTO survey_changes (number, kind, survey_id, version, response_number, turn, user_id, source, recorded_at, key_id, sealed,"
    " entry, row_hash) SELECT 10, c.kind, c.survey_id, c.version, {number}, {turn}, {user}, c.source, c.recorded_at, c.key_id,"
    " c.sealed, {entry}, sha256(h.row_hash || convert_to({entry}, 'UTF8')) FROM survey_changes c, survey_ledger_head h"
    " WHERE c.number = 4"
)
_HEAD_AT_10 = (
    "UPDATE survey_ledger_head SET (number, row_hash) = (SELECT number, row_hash FROM survey_changes WHERE number = 10)"
)
_RECEIPT_OF = "(SELECT encode(row_hash, 'hex') FROM survey_responses WHERE number = {})"


def _of_response(number: int, user: int, turn: int = 1) -> list[str]:
    """A withdrawal of that response, appended with a fitting hash and head."""
    receipt = f"replace(c.entry, {_RECEIPT_OF.format(2)}, {_RECEIPT_OF.format(number)})"
    renamed = f"replace({receipt}, '\"user\":2', '\"user\":{user}')"
    entry = f"replace(replace({renamed}, '\"number\":4', '\"number\":10'), '\"turn\":1', '\"turn\":{turn}')"
    return [_APPENDED.format(number=number, turn=turn, user=user, entry=entry), _HEAD_AT_10]


_SIXTH = (
    "INSERT INTO survey_changes (number, kind, survey_id, version, recorded_at, ballots, results, entry, row_hash)"
    " SELECT 6, kind, survey_id, 9, recorded_at, ballots, results, entry, sha256(row_hash) FROM survey_changes WHERE number = 9"
)
REARRANGED: dict[str, Any] = {
    "a change taken away": (["DELETE FROM survey_changes WHERE number = 4"], 4, "missing: after row 3 comes row 5"),
    "a response before it taken away": (["DELETE FROM survey_responses WHERE number = 3"], 3, "missing"),
    "two changes swapped": (
        [
            "UPDATE survey_changes SET number = 99 WHERE number = 5",
            "UPDATE survey_changes SET number = 5 WHERE number = 7",
            "UPDATE survey_changes SET number = 7 WHERE number = 99",
        ],
        5,
        "hash does not fit",
    ),
    "a change and a response swapped": (
        [
            "UPDATE survey_changes SET number = 99 WHERE number = 4",
            "UPDATE survey_responses SET number = 4 WHERE number = 3",
            "UPDATE survey_changes SET number = 3 WHERE number = 99",
        ],
        3,
        "hash does not fit",
    ),
    "a change of the number of a response": (
        ["UPDATE survey_changes SET number = 6 WHERE number = 4"], 4, "missing",
    ),
    "a second row of one number": (
        _SIXTH,
        6,
        "both have a row of this number",
    ),
    "a change before the first row": (["UPDATE survey_changes SET number = -3 WHERE number = 7"], -3, "it was added"),
    "the last number that there is": ([f"UPDATE survey_changes SET number = {2**63 - 1} WHERE number = 9"], 9, "missing"),
    "the tail cut off": (["DELETE FROM survey_changes WHERE number = 9"], 9, "the ledger continued to row 9"),
    "the head moved back to before a change": ("UPDATE survey_ledger_head SET number = 8", 9, "past the head"),
    "a choice of a change": ("INSERT INTO survey_answers VALUES (4, gen_random_uuid(), 'soup')", 4, "a change has no answers"),
    "a withdrawal of a response that declined": (_of_response(6, 4), 10, "not an earlier agreement"),
    "a withdrawal by another person": (
        [
            _APPENDED.format(number=1, turn=1, user=5, entry=_FORGED.format("'\"user\":2', '\"user\":5'").replace(
                "c.entry", f"replace(c.entry, {_RECEIPT_OF.format(2)}, {_RECEIPT_OF.format(1)})"
            )),
            _HEAD_AT_10,
        ],
        10,
        "not an earlier agreement",
    ),
}  # fmt: skip


async def test_whatever_else_is_done_is_found_and_its_row_named(
    database: Database, survey: Stored, owner: Owner
) -> None:
    for what, (statements, number, problem) in REARRANGED.items():
        verdict = await verify_tampered(database, owner, statements)
        assert (what, verdict.number, verdict.fits) == (what, number, False)
        assert problem in str(verdict.problem), (what, verdict.problem)
    assert (await verify(database, "main")).fits


async def test_a_forged_row_that_says_nothing_wrong_fits_until_the_head_was_noted(
    database: Database, survey: Stored, owner: Owner
) -> None:
    """What proves that a row was appended by somebody else is the noted head, as with responses."""
    with owner.tampering(*_of_response(1, 1)):
        assert (await verify(database, "main")).rows == 10


async def test_two_turns_of_one_kind_are_found(database: Database, survey: Stored, owner: Owner) -> None:
    owner.connection.execute("ALTER TABLE survey_changes DROP CONSTRAINT survey_changes_turn_check")
    with owner.tampering(*_of_response(1, 1, turn=2)):
        verdict = await verify(database, "main")
        assert (verdict.number, verdict.problem) == (
            10,
            "its turn is not one of its kind: a person withdraws first, then agrees again",
        )
    owner.connection.execute(
        "ALTER TABLE survey_changes ADD CONSTRAINT survey_changes_turn_check"
        " CHECK (turn > 0 AND (turn % 2 = 1) = (kind = 'withdrawn')) NOT VALID"
    )


async def test_a_change_whose_key_was_changed_is_named(database: Database, parts: Parts) -> None:
    """The key was made with the change alone: the agreement said nothing personal."""
    agreed = await agree(database, parts.keys, await badges(database), 7, ip=None, browser=None)
    await change(database, parts.keys, agreed)
    async with database.transaction() as db:
        await db.execute(text("UPDATE survey_person_keys SET sealed_key = 'x'"))
    verdict = await verify(database, "main")
    assert verdict.number == 2
    assert "does not open" in str(verdict.problem)


async def test_a_note_of_a_head_that_is_a_change_covers_it(database: Database, survey: Stored, owner: Owner) -> None:
    async with database.transaction() as db:
        await verifying.note_head(db)
    with owner.tampering(
        "DELETE FROM survey_changes WHERE number = 9",
        "UPDATE survey_ledger_head SET (number, row_hash) = (SELECT number, row_hash FROM survey_responses WHERE number = 8)",
    ):
        verdict = await verify(database, "main")
        assert verdict.problem == "it is missing: the ledger continued to row 9, and ends with row 8"


async def test_windows_hold_a_bounded_number_of_rows_of_both_tables(
    database: Database, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "BATCH", 4)
    async with database.snapshot() as db:
        windows = [[one.number for one in rows] async for rows, _ in verifying._batches(driver(db))]
    assert windows == [[1, 2, 3, 4], [5, 6, 7, 8], [9]]
