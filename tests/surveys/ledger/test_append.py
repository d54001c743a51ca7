"""The ledger: one row for each version and person, even at once, numbers without gaps,
and a chain that anybody can recompute."""

import asyncio
import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import msgspec
import psycopg
import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.db.session import Database
from app.parts import Parts, make_parts
from app.surveys import decimals
from app.surveys.ledger import append as ledger
from app.surveys.ledger import chain
from app.surveys.ledger.answers import Answered, Given
from app.surveys.ledger.entries import LONGEST_BROWSER, LONGEST_IP
from app.surveys.ledger.same_answers import same
from tests.cluster import DatabaseUrls
from tests.surveys.drafted import published
from tests.surveys.recording import AT, VALUES, entry, lunch, open_evidence, record


async def rows(database: Database, query: str, workspace: str = "main", **values: Any) -> list[Any]:
    async with database.transaction(workspace) as db:
        return list((await db.execute(text(query), values)).all())


async def test_a_row_says_everything_but_what_is_personal(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    recorded = await record(database, parts.keys, survey, 7)
    ((row, sealed, row_hash),) = await rows(database, "SELECT entry, sealed, row_hash FROM survey_responses")
    stars, scale, single, multiple, why = (str(one.key) for one in survey.questions)
    assert json.loads(row) == {
        "number": 1,
        "survey": str(survey.uid),
        "version": 1,
        "content_hash": survey.content_hash,
        "questions": hashlib.sha256(rfc8785.dumps([stars, scale, single, multiple, why])).hexdigest(),
        "user": 7,
        "outcome": "answered",
        "source": "web",
        "recorded_at": "2026-11-21T08:00:00.250000Z",
        "prompted": True,
        "shown": "first",
        "answers": [
            {"question": stars, "value": 4},
            {"question": scale, "value": "much"},
            {"question": single, "value": "soup"},
            {"question": multiple, "value": ["rice", "beans"]},
            {"question": why, "value": None},
        ],
        "evidence": hashlib.sha256(sealed.encode()).hexdigest(),
    }
    assert row.encode() == rfc8785.dumps(json.loads(row))
    assert row_hash == hashlib.sha256(bytes.fromhex("0" * 64) + row.encode()).digest()
    assert recorded.receipt == row_hash.hex()
    assert not any(personal in row + sealed for personal in ("198.51", "Firefox", "cold soup"))
    async with database.transaction() as db:
        opened = await open_evidence(db, parts.keys, 1)
    assert (opened.ip, opened.browser, opened.texts) == ("198.51.100.7", "Firefox", {why: "Nora was served cold soup"})


async def test_the_projection_holds_a_row_a_tick_and_an_empty_choice_for_a_text(
    database: Database, parts: Parts
) -> None:
    survey = await lunch(database)
    await record(database, parts.keys, survey, 7)
    stars, scale, single, multiple, why = (one.key for one in survey.questions)
    held = {tuple(one) for one in await rows(database, "SELECT number, question_key, choice FROM survey_answers")}
    expected = {(stars, "4"), (scale, "much"), (single, "soup"), (multiple, "rice"), (multiple, "beans"), (why, "")}
    assert held == {(1, key, choice) for key, choice in expected}
    ((has_text,),) = await rows(database, "SELECT has_text FROM survey_responses")
    assert has_text is True


async def test_nothing_personal_leaves_no_evidence_and_makes_no_key(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    await record(database, parts.keys, survey, 7, 4, ip=None, browser=None)
    ((sealed, key_id, has_text, row),) = await rows(
        database, "SELECT sealed, key_id, has_text, entry FROM survey_responses"
    )
    assert (sealed, key_id, has_text, json.loads(row)["evidence"]) == (None, None, False, None)
    assert await rows(database, "SELECT id FROM survey_person_keys") == []


async def test_each_row_is_chained_to_the_one_before_and_the_head_is_the_last(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    for person in range(1, 5):
        await record(database, parts.keys, survey, person, outcome="opted_out" if person == 3 else "answered")
    told = await rows(database, "SELECT number, entry, row_hash FROM survey_responses ORDER BY number")
    assert [one.number for one in told] == [1, 2, 3, 4]
    for before, after in pairwise(told):
        assert after.row_hash == hashlib.sha256(before.row_hash + after.entry.encode()).digest()
    assert await rows(database, "SELECT number, row_hash FROM survey_ledger_head") == [(4, told[-1].row_hash)]


async def test_each_workspace_has_a_chain_of_its_own(database: Database, parts: Parts) -> None:
    here, there = await lunch(database), await lunch(database, "globex")
    first = await record(database, parts.keys, here, 7)
    second = await record(database, parts.keys, there, 7)
    assert (first.number, second.number) == (1, 1)
    assert first.receipt != second.receipt


async def test_who_comes_again_gets_what_they_recorded_first(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    first = await record(database, parts.keys, survey, 7)
    again = await record(database, parts.keys, survey, 7, 1, recorded_at=AT + timedelta(days=1), outcome="declined")
    assert (first.fresh, again.fresh) == (True, False)
    assert (again.number, again.receipt, again.outcome, again.recorded_at) == (1, first.receipt, "answered", AT)
    assert again.answers == first.answers
    assert await rows(database, "SELECT number FROM survey_ledger_head") == [(1,)]
    assert await rows(database, "SELECT count(*) FROM survey_answers") == [(6,)]


async def test_what_was_recorded_reads_as_the_same_answers(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    await record(database, parts.keys, survey, 7)
    async with database.transaction() as db:
        found = await ledger.recorded(db, parts.keys, survey.id, 1, 7)
        assert await ledger.recorded(db, parts.keys, survey.id, 2, 7) is None
    assert found is not None
    given = [Given(one.key, value) for one, value in zip(survey.questions, VALUES, strict=True) if one.key]
    assert same(found.answers, reversed(given))
    assert not same(found.answers, given[:-1])


async def test_a_new_version_is_a_row_of_its_own(database: Database, parts: Parts) -> None:
    async with database.transaction() as db:
        second = await published(db, version=2)
    assert (await record(database, parts.keys, second, 7, "Fine")).number == 1
    held = await rows(database, "SELECT survey_id, version, user_id FROM survey_responses")
    assert held == [(second.id, 2, 7)]


async def test_times_are_written_in_utc_whatever_zone_they_came_in(database: Database, parts: Parts) -> None:
    survey = await lunch(database)
    east = datetime(2026, 11, 21, 9, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    await record(database, parts.keys, survey, 7, 4, recorded_at=east)
    ((row, at),) = await rows(database, "SELECT entry, recorded_at FROM survey_responses")
    assert json.loads(row)["recorded_at"] == "2026-11-21T03:30:00Z"
    assert at == datetime(2026, 11, 21, 3, 30, tzinfo=UTC)


async def test_appending_takes_three_statements_and_a_fourth_for_a_persons_first_evidence(
    database: Database, parts: Parts, statements: list[str]
) -> None:
    first, second = await lunch(database), await lunch(database)
    statements.clear()
    await record(database, parts.keys, first, 7)
    assert sorted(one.split()[0] for one in statements) == ["INSERT", "SELECT", "SET", "WITH"]
    statements.clear()
    await record(database, parts.keys, second, 7)
    assert sorted(one.split()[0] for one in statements) == ["SELECT", "SET", "WITH"]


async def test_what_a_sender_makes_up_of_address_and_browser_is_kept_in_bounds(
    database: Database, parts: Parts
) -> None:
    survey = await lunch(database)
    await record(database, parts.keys, survey, 7, ip="y" * 9000, browser="x" * 9000)
    async with database.transaction() as db:
        kept = await open_evidence(db, parts.keys, 1)
    assert (len(kept.ip), len(kept.browser)) == (LONGEST_IP, LONGEST_BROWSER)


async def test_an_answer_to_a_question_that_the_wording_lacks_is_never_recorded(
    database: Database, parts: Parts
) -> None:
    survey, other = await lunch(database), await lunch(database)
    stray = (Answered(other.questions[0].key, 4),)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        await record(database, parts.keys, survey, 7, answers=stray)
    assert await rows(database, "SELECT number FROM survey_ledger_head") == [(0,)]


# --- many at once


async def test_the_same_person_from_many_connections_gets_one_row_and_one_key(
    urls: DatabaseUrls, settings: Any
) -> None:
    wide = make_parts(settings, urls.app, pool_size=24)
    survey = await lunch(wide.database)
    told = await asyncio.gather(*(record(wide.database, wide.keys, survey, 7, 1 + n % 5) for n in range(24)))
    assert sum(one.fresh for one in told) == 1
    assert len({(one.number, one.receipt, one.answers) for one in told}) == 1
    assert await rows(wide.database, "SELECT number FROM survey_ledger_head") == [(1,)]
    assert await rows(wide.database, "SELECT count(*) FROM survey_person_keys") == [(1,)]
    await wide.close()


async def test_many_people_at_once_get_numbers_without_gaps_and_one_chain(urls: DatabaseUrls, settings: Any) -> None:
    wide = make_parts(settings, urls.app, pool_size=24)
    surveys = [await lunch(wide.database) for _ in range(2)]
    work = [record(wide.database, wide.keys, one, person) for person in range(1, 31) for one in surveys]
    # Some change their mind within the transaction: their number is taken by the next.
    undone = [_gives_up(wide, surveys[0], person) for person in range(100, 110)]
    told = await asyncio.gather(*work, *undone)
    assert sorted(one.number for one in told if one) == list(range(1, 61))
    held = await rows(wide.database, "SELECT number, entry, row_hash FROM survey_responses ORDER BY number")
    assert [one.number for one in held] == list(range(1, 61))
    before = bytes(32)
    for one in held:
        before = hashlib.sha256(before + one.entry.encode()).digest()
        assert one.row_hash == before
    assert await rows(wide.database, "SELECT count(*) FROM survey_person_keys") == [(30,)]
    await wide.close()


async def _gives_up(parts: Parts, survey: Any, person: int) -> None:
    with suppress(ZeroDivisionError):
        async with parts.database.transaction() as db:
            await ledger.append(db, parts.keys, entry(survey, person))
            raise ZeroDivisionError


# --- nothing of it changes


COLUMN = {
    "survey_wordings": "content",
    "survey_responses": "outcome",
    "survey_answers": "choice",
    "survey_changes": "entry",
}
CHANGES = [
    change.format(f"main.{table}", column)
    for table, column in COLUMN.items()
    for change in ("UPDATE {0} SET {1} = {1}", "DELETE FROM {0}", "TRUNCATE {0} CASCADE")
]


async def test_the_apps_role_may_not_change_the_ledger(database: Database, parts: Parts) -> None:
    await record(database, parts.keys, await lunch(database), 7)
    for change in CHANGES:
        with pytest.raises(DBAPIError, match="permission denied"):
            await rows(database, change)


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO main.survey_ledger_head VALUES (1, 0, '')",
        "DELETE FROM main.survey_ledger_head",
        "TRUNCATE main.survey_ledger_head",
        "UPDATE main.survey_tombstones SET number = number",
        "DELETE FROM main.survey_tombstones",
        "TRUNCATE main.survey_tombstones",
    ],
)
async def test_the_apps_role_may_move_the_head_and_add_a_tombstone_and_nothing_else_of_them(
    database: Database, change: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        await rows(database, change)


def test_not_even_the_owner_changes_it_while_the_guard_stands(urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        for change in CHANGES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                owner.execute(change)


def test_the_guard_stands_where_ordinary_triggers_are_switched_off(urls: DatabaseUrls) -> None:
    """The suite's owner may switch them off; that of an installation may not."""
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        owner.execute("SET session_replication_role = replica")
        for change in CHANGES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                owner.execute(change)
        guards = owner.execute(
            "SELECT tgrelid::regclass::text, tgenabled FROM pg_trigger WHERE tgname = 'append_only' AND tgrelid ="
            " ANY(ARRAY['main.survey_wordings', 'main.survey_responses', 'main.survey_answers', 'main.survey_changes']::regclass[])"
        ).fetchall()
        assert sorted(guards) == [(f"main.{table}", "A") for table in sorted(COLUMN)]


# --- the canonical form

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_numbers = st.decimals(-999_999_999, 999_999_999, places=6).map(lambda one: decimals.exact(float(one)))
_cells = st.lists(st.builds(chain.MatrixCell, _texts, _texts), max_size=3)
_values = st.none() | st.integers(1, 5) | _numbers | _texts | st.lists(_texts, max_size=3) | _cells


# A busy machine is slow at drawing characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.uuids().map(str), _values), max_size=4), _texts, st.integers(0, 2**53 - 1))
def test_what_is_written_is_rfc_8785_and_reads_back(said: list[Any], word: str, number: int) -> None:
    line = chain.LedgerEntry(
        number=number,
        survey=word,
        version=1,
        content_hash=word,
        questions=word,
        user=number,
        outcome=word,
        source=word,
        recorded_at=word,
        prompted=False,
        answers=[chain.LedgerAnswer(question, value) for question, value in said],
        evidence=None,
    )
    entry = chain.written(line)
    assert entry.encode() == rfc8785.dumps(json.loads(entry))
    assert chain.read(entry) == line


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ('"prompted":true,', "first"),
        ('"prompted":false,', "not_known"),
        ('"prompted":true,"shown":"first",', "first"),
        ('"prompted":false,"shown":"in_queue",', "in_queue"),
        ('"prompted":false,"shown":"not_handed_out",', "not_handed_out"),
    ],
)
def test_an_entry_reads_how_far_the_survey_came_to_the_person_and_keeps_its_bytes(said: str, read: str) -> None:
    prompted, _, shown = said.rstrip(",").partition(",")
    words = (
        '{"answers":[],"content_hash":"h","evidence":null,"number":1,"outcome":"agreed",' + prompted
        + ',"questions":"q","recorded_at":"2026-11-21T08:00:00Z",' + (f"{shown}," if shown else "")
        + '"source":"api","survey":"s","user":7,"version":1}'
    )  # fmt: skip
    line = chain.read(words)
    assert line.was_shown == read
    assert chain.written(line) == words


def test_a_number_that_comes_later_makes_the_same_text() -> None:
    line = chain.LedgerEntry(
        number=0, survey="s", version=1, content_hash="h", questions="q", user=7, outcome="answered", source="web",
        recorded_at="2026-11-21T08:00:00Z", prompted=True, answers=[chain.LedgerAnswer("k", '"number":0,"outcome":')], evidence=None,
    )  # fmt: skip
    before, after = chain.around_number(line)
    for number in (1, 10, 2**62):
        assert before + str(number) + after == chain.written(msgspec.structs.replace(line, number=number))
