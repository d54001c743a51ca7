"""Verifying: whatever is done to the ledger behind the portal's back, by the owner of the tables,
is found and its row is named."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, text

from app.db.direct import driver
from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.demo import seed as demo
from app.surveys.ledger import verifying
from app.surveys.ledger.verifying import LedgerVerdict, verified
from app.surveys.models import Survey
from tests.command_line import CommandLine
from tests.surveys.drafted import Stored, published
from tests.surveys.ledger_rows import bury
from tests.surveys.owner import Owner
from tests.surveys.recording import AT, lunch, record, record_as_before, verify, verify_tampered

ROWS = 6


@pytest.fixture
async def survey(database: Database, parts: Parts) -> Stored:
    """Lunch, with six responses; the fifth says nothing personal, the last has opted out."""
    stored = await lunch(database)
    async with database.transaction() as db:
        await published(db, title="Another", version=2)
    for person in range(1, ROWS - 1):
        await record(database, parts.keys, stored, person)
    await record(database, parts.keys, stored, ROWS - 1, 2, ip=None, browser=None)
    await record(database, parts.keys, stored, ROWS, answers=(), outcome="opted_out")
    return stored


async def note(database: Database) -> None:
    async with database.transaction() as db:
        await verifying.note_head(db)


async def is_verified(database: Database, number: int) -> bool:
    async with database.transaction() as db:
        return await verified(db, number)


async def test_an_untouched_ledger_fits(database: Database, survey: Stored, parts: Parts) -> None:
    await note(database)
    seen: list[tuple[int, int]] = []
    verdict = await verify(database, "main", lambda *told: seen.append(told))
    async with database.transaction() as db:
        head = await db.scalar(text("SELECT encode(row_hash, 'hex') FROM survey_ledger_head"))
    assert verdict == LedgerVerdict(ROWS, head)
    assert verdict.fits
    assert seen == [(0, ROWS), (ROWS, ROWS)]
    assert [await is_verified(database, number) for number in range(1, ROWS + 1)] == [True] * ROWS
    assert not await is_verified(database, ROWS + 1)


async def test_entries_from_before_they_said_what_was_shown_fit_beside_new_ones(
    database: Database, parts: Parts
) -> None:
    stored = await lunch(database)
    await record_as_before(database, stored, 1, prompted=True)
    await record_as_before(database, stored, 2, prompted=False)
    for person, shown in enumerate(("first", "in_queue", "not_handed_out"), 3):
        await record(database, parts.keys, stored, person, shown=shown)
    assert (await verify(database, "main")).rows == 5
    assert [await is_verified(database, number) for number in range(1, 6)] == [True] * 5


async def test_an_empty_ledger_fits_and_its_head_is_not_noted(database: Database) -> None:
    await note(database)
    assert await verify(database, "globex") == LedgerVerdict(0, "0" * 64)
    async with database.transaction() as db:
        assert await db.scalar(text("SELECT count(*) FROM audit_entries")) == 0


async def test_rows_that_come_while_it_walks_are_not_taken_for_intruders(
    database: Database, parts: Parts, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "BATCH", 2)
    late: list[asyncio.Task[Any]] = []

    def answer_meanwhile(done: int, total: int) -> None:
        late.append(asyncio.create_task(record(database, parts.keys, survey, 100 + done)))

    assert (await verify(database, "main", answer_meanwhile)).fits
    await asyncio.gather(*late)
    assert (await verify(database, "main")).rows == ROWS + len(late)


ANOTHER_LETTER = "CASE substr(sealed, length(sealed) - 3, 1) WHEN '_' THEN '-' ELSE '_' END"
# What is changed → what the verdict says. Each is one act on row 3 (or the rows around it).
CHANGES = {
    "entry": ("entry = replace(entry, '\"user\":3', '\"user\":9')", "its hash does not fit"),
    "a byte of the entry": ("entry = overlay(entry placing 'X' from 40)", "its hash does not fit"),
    "row_hash": ("row_hash = set_byte(row_hash, 5, get_byte(row_hash, 5) # 1)", "its hash does not fit"),
    "sealed": (f"sealed = overlay(sealed placing {ANOTHER_LETTER} from length(sealed) - 3)", "sealed"),
    "sealed taken away": ("sealed = NULL", "sealed"),
    "survey_id": ("survey_id = survey_id + 1", "survey_id"),
    "version": ("version = 2", "version"),
    "wording_id": ("wording_id = wording_id + 1", "wording_id"),
    "user_id": ("user_id = 33", "user_id"),
    "outcome": ("outcome = 'agreed'", "outcome"),
    "source": ("source = 'api'", "source"),
    "recorded_at": ("recorded_at = recorded_at + interval '1 microsecond'", "recorded_at"),
    "prompted": ("prompted = NOT prompted", "prompted"),
    "language": ("language = 'de'", "language"),
    "has_text": ("has_text = NOT has_text", "has_text"),
    "key_id": ("key_id = key_id + 1", "key_id"),
    "key_id taken away": ("key_id = NULL", "key_id"),
}


async def test_a_changed_column_is_found_and_its_row_named(database: Database, survey: Stored, owner: Owner) -> None:
    for what, (change, problem) in CHANGES.items():
        with owner.tampering(f"UPDATE survey_responses SET {change} WHERE number = 3"):
            verdict = await verify(database, "main")
            assert (what, verdict.number, verdict.rows, verdict.fits) == (what, 3, 2, False)
            assert problem in str(verdict.problem), (what, verdict.problem)
            assert [await is_verified(database, number) for number in (2, 3)] == [True, False], what
    assert (await verify(database, "main")).fits


async def test_every_column_of_the_ledger_is_tried(database: Database) -> None:
    async with database.transaction() as db:
        columns = (
            await db.scalars(
                text(
                    "SELECT column_name FROM information_schema.columns"
                    " WHERE table_schema = 'main' AND table_name = 'survey_responses'"
                )
            )
        ).all()
        # A row that moves leaves a gap, see below.
        # When a row was stored is for those who follow the ledger: it proves nothing.
        assert set(columns) - set(CHANGES) == {"number", "stored_at"}


_ADDED = (
    "INSERT INTO survey_responses SELECT {}, survey_id, version, wording_id, 77, outcome, source, recorded_at, prompted,"
    " has_text, key_id, sealed, entry, sha256(row_hash) FROM survey_responses"
)
_SEVENTH = "replace(replace(entry, '\"number\":6', '\"number\":7'), '\"user\":6', '\"user\":77')"
REARRANGED: dict[str, Any] = {
    "a row taken away": (
        ["DELETE FROM survey_answers WHERE number = 3", "DELETE FROM survey_responses WHERE number = 3"],
        3,
        "missing",
    ),
    "two rows swapped": (
        [
            "UPDATE survey_responses SET number = 99 WHERE number = 3",
            "UPDATE survey_responses SET number = 3 WHERE number = 4",
            "UPDATE survey_responses SET number = 4 WHERE number = 99",
        ],
        3,
        "hash does not fit",
    ),
    "a row renumbered": (["UPDATE survey_responses SET number = 99 WHERE number = 3"], 3, "missing"),
    "a row before the first": (
        ["UPDATE survey_responses SET number = 0 WHERE number = 3"],
        0,
        "it was added: the first row of a ledger is row 1",
    ),
    "an added row 0": (f"{_ADDED.format(0)} WHERE number = 6", 0, "it was added"),
    "an added row of a negative number": (f"{_ADDED.format(-7)} WHERE number = 6", -7, "it was added"),
    "a row past the head": (
        (f"INSERT INTO survey_responses SELECT 7, survey_id, version, wording_id, 77, outcome, source, recorded_at, prompted,"
        f" has_text, key_id, sealed, {_SEVENTH}, sha256(row_hash || convert_to({_SEVENTH}, 'UTF8')) FROM survey_responses"
        " WHERE number = 6"),
        7,
        "past the head",
    ),
    "the tail cut off": (
        ["DELETE FROM survey_answers WHERE number > 4", "DELETE FROM survey_responses WHERE number > 4"],
        5,
        "the ledger continued to row 6",
    ),
    "the head moved back": ("UPDATE survey_ledger_head SET number = 4", 5, "past the head"),
    "the head moved before the first": ("UPDATE survey_ledger_head SET number = -4", None, "its head (survey_ledger_head) is row -4"),
    "the head moved on": ("UPDATE survey_ledger_head SET number = 9", 7, "the ledger continued to row 9"),
    "the head's hash": (
        "UPDATE survey_ledger_head SET row_hash = set_byte(row_hash, 0, get_byte(row_hash, 0) # 1)",
        6,
        "head of the ledger",
    ),
    "a changed wording": (
        "UPDATE survey_wordings SET content = replace(content, 'Why', 'How') WHERE id = (SELECT min(id) FROM survey_wordings)",
        1,
        "text of its wording",
    ),
    "a wording that claims the new hash": (
        ("UPDATE survey_wordings SET content = content || ' ', content_hash = encode(sha256(convert_to(content || ' ', 'UTF8')), 'hex')"
        " WHERE id = (SELECT min(id) FROM survey_wordings)"),
        1,
        "a different wording",
    ),
    "a wording's questions swapped": (
        ("UPDATE survey_wordings SET question_keys[1] = question_keys[2], question_keys[2] = question_keys[1]"
        " WHERE id = (SELECT min(id) FROM survey_wordings)"),
        1,
        "a different wording",
    ),
    "a wording without answers": (
        "UPDATE survey_wordings SET content = content || ' ' WHERE id = (SELECT max(id) FROM survey_wordings)",
        None,
        "wording",
    ),
    "a changed choice": (
        "UPDATE survey_answers SET choice = 'salad' WHERE number = 3 AND choice = 'soup'", 3, "survey_answers",
    ),
    "a choice taken away": ("DELETE FROM survey_answers WHERE number = 3 AND choice = 'rice'", 3, "survey_answers"),
    "a text's row taken away": ("DELETE FROM survey_answers WHERE number = 3 AND choice = ''", 3, "survey_answers"),
    "all choices of a row": ("DELETE FROM survey_answers WHERE number = 3", 3, "survey_answers"),
    "an added choice": (
        "INSERT INTO survey_answers SELECT 6, question_key, choice FROM survey_answers WHERE number = 3 AND choice = '4'",
        6,
        "survey_answers",
    ),
    "a choice of another question": (
        "UPDATE survey_answers SET question_key = gen_random_uuid() WHERE number = 3 AND choice = '4'", 3, "survey_answers",
    ),
    "a choice of no row": (
        "INSERT INTO survey_answers VALUES (8, gen_random_uuid(), 'soup')", 8, "no such row",
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


async def test_a_row_rewritten_with_a_fitting_hash_breaks_the_next_one(
    database: Database, survey: Stored, owner: Owner
) -> None:
    new = "replace(r.entry, '\"value\":4', '\"value\":1')"
    owner.run(
        f"UPDATE survey_responses r SET entry = {new}, row_hash = sha256(b.row_hash || convert_to({new}, 'UTF8'))"
        " FROM survey_responses b WHERE b.number = r.number - 1 AND r.number = 3",
        "UPDATE survey_answers SET choice = '1' WHERE number = 3 AND choice = '4'",
    )
    verdict = await verify(database, "main")
    assert (verdict.number, verdict.problem) == (4, "its hash does not fit what it says and the row before it")


async def _cut(owner: Owner, rows: int) -> None:
    """As somebody would who owns everything but the audit: rows, choices and the head agree afterwards."""
    owner.run(
        f"DELETE FROM survey_answers WHERE number > {rows}",
        f"DELETE FROM survey_responses WHERE number > {rows}",
        "UPDATE survey_ledger_head SET (number, row_hash) ="
        " (SELECT number, row_hash FROM survey_responses ORDER BY number DESC LIMIT 1)",
    )


async def test_a_cut_tail_whose_head_was_noted_is_missed(database: Database, survey: Stored, owner: Owner) -> None:
    await note(database)
    await _cut(owner, 4)
    verdict = await verify(database, "main")
    assert (verdict.number, verdict.rows) == (5, 4)
    assert verdict.problem == "it is missing: the ledger continued to row 6, and ends with row 4"


async def test_a_tail_that_was_cut_and_grew_again_is_not_the_one_that_was_noted(
    database: Database, parts: Parts, survey: Stored, owner: Owner
) -> None:
    await note(database)
    await _cut(owner, 4)
    for person in range(50, 55):
        await record(database, parts.keys, survey, person)
    verdict = await verify(database, "main")
    assert verdict.number == ROWS
    assert "is not the head that was noted at" in str(verdict.problem)


# --- rows under a tombstone, which the app's own role may lay


async def _bury(database: Database, number: int) -> None:
    async with database.transaction() as db:
        await bury(db, number)


async def test_a_persons_answer_under_a_tombstone_is_named(database: Database, survey: Stored) -> None:
    for number in (5, 3):
        await _bury(database, number)
    verdict = await verify(database, "main")
    assert (verdict.number, verdict.rows) == (3, 2)
    assert verdict.problem == "it is kept out of lists and figures as a removed demo answer, which it is not"
    assert [await is_verified(database, number) for number in (2, 3, 4, 5)] == [True, False, True, False]


async def test_an_answer_that_came_by_the_api_is_a_persons_too(
    database: Database, parts: Parts, survey: Stored
) -> None:
    await record(database, parts.keys, survey, 20, source="api")
    await _bury(database, ROWS + 1)
    assert (await verify(database, "main")).number == ROWS + 1


async def test_a_tombstone_on_an_answer_that_only_says_it_is_the_demos_is_named(
    database: Database, parts: Parts, survey: Stored
) -> None:
    """The demo answers no survey but its own."""
    await record(database, parts.keys, survey, 20, source="demo")
    await _bury(database, ROWS + 1)
    assert (await verify(database, "main")).number == ROWS + 1


async def test_what_removing_the_demo_lays_fits_beside_what_people_answered_to_it(
    database: Database, parts: Parts, survey: Stored
) -> None:
    async with database.transaction() as db:
        await demo.seed(db, parts.keys, AT, crowd=3)
        asked = select(Survey.uid).where(Survey.demo, Survey.status == "published").order_by(Survey.id).limit(1)
        held = await authoring.load(db, await db.scalar(asked) or uuid4())
    await record(database, parts.keys, held, 20, ())
    async with database.transaction() as db:
        assert (await demo.remove(db)).responses
    verdict = await verify(database, "main")
    assert verdict.fits, verdict
    await _bury(database, verdict.rows)
    assert (await verify(database, "main")).number == verdict.rows


async def test_heads_of_another_workspace_do_not_matter(database: Database, parts: Parts, survey: Stored) -> None:
    await note(database)
    await record(database, parts.keys, await lunch(database, "globex"), 7)
    assert (await verify(database, "globex")).fits


async def test_memory_and_batches_do_not_grow_with_the_ledger(
    database: Database, parts: Parts, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "BATCH", 4)
    async with database.snapshot() as db:
        batches = verifying._batches(driver(db))
        sizes = [(len(rows), sorted(choices)) async for rows, choices in batches]
    assert sizes == [(4, [1, 2, 3, 4]), (2, [5])]


# --- the command and the daily note


async def test_the_command_says_how_many_rows_fit_and_the_head(
    muster: CommandLine, database: Database, survey: Stored
) -> None:
    head = (await verify(database, "main")).head
    ended = await muster("ledger:verify")
    assert (ended.code, ended.out) == (0, f"All {ROWS} rows of the ledger of main fit; its head is {head}.\n")
    document = (await muster("ledger:verify", "--json")).json
    assert document == {"workspace": "main", "fits": True, "rows": ROWS, "head": head, "number": None, "problem": None}
    assert (await muster("ledger:verify", "--workspace", "acme")).out == "The ledger of acme is empty.\n"


async def test_the_command_names_the_row_that_is_broken(muster: CommandLine, survey: Stored, owner: Owner) -> None:
    owner.run("UPDATE survey_responses SET outcome = 'agreed' WHERE number = 3")
    assert (await muster("ledger:verify")).refusal == (
        "Row 3 of the ledger of main is broken: its column outcome does not say what its entry says. The 2 rows before it fit."
    )
    ended = await muster("ledger:verify", "--json")
    assert (ended.code, ended.json["number"], ended.json["fits"]) == (1, 3, False)


async def test_a_ledger_without_its_head_is_broken(muster: CommandLine, survey: Stored, owner: Owner) -> None:
    owner.run("CREATE TEMP TABLE kept_head AS TABLE survey_ledger_head", "DELETE FROM survey_ledger_head")
    assert (await muster("ledger:verify")).refusal == (
        "The ledger of main is broken: the row that holds its head (survey_ledger_head) is missing."
    )
    owner.run("INSERT INTO survey_ledger_head TABLE kept_head")
    assert (await muster("ledger:verify")).code == 0


async def test_the_command_refuses_a_workspace_that_is_not(muster: CommandLine) -> None:
    assert (await muster("ledger:verify", "--workspace", "nowhere")).code == 1
