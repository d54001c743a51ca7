"""An anonymous survey from the first answer to its results:
what is written when, and what an author and a respondent may do."""

from datetime import UTC, datetime
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from app.db.session import Database
from app.errors import Invalid
from app.parts import Parts
from app.secrets import KeyRing, SecretError
from app.surveys.authoring import actions as authoring
from tests.cluster import DatabaseUrls
from tests.conftest import KEYS, Browser
from tests.surveys.anonymous.team import MOOD, TICKS, WORDS, apps, ask_crew, crew, end, results, run_job
from tests.surveys.authored import ANN, archive, publish, read, save
from tests.surveys.calling import refused
from tests.surveys.recording import record, verify

FOUR, FIVE = 4, 5
ADDED = (
    "INSERT INTO survey_results (survey_id, version, question_key, joined, choice, people)"
    " SELECT survey_id, 9, question_key, false, 'x', 5 FROM survey_results LIMIT 1"
)


async def rows(database: Database, sql: str) -> list[tuple[Any, ...]]:
    async with database.transaction() as db:
        return [tuple(one) for one in await db.execute(text(sql))]


@pytest.fixture
async def team(database: Database) -> list[int]:
    return await crew(database, ["A"] * 6 + ["B"] * 4)


def said(survey: Any, mood: str = "Good", comment: str | None = None) -> list[tuple[Any, Any]]:
    keys = [one.key for one in survey.questions]
    return [(keys[0], mood), (keys[1], ["Rest"]), *([(keys[2], comment)] if comment else [])]


async def test_answers_wait_in_sealed_ballots_and_the_ledger_says_who_took_part(
    team: list[int], visitor: Browser, database: Database
) -> None:
    survey = await ask_crew(database)
    nora = apps(visitor, 1)[0]
    assert (await nora.recorded(survey.uid, "answer", *said(survey, comment="Cold soup")))["outcome"] == "answered"
    (response,) = await rows(
        database, "SELECT user_id, outcome, has_text, entry::json ->> 'answers' FROM survey_responses"
    )
    assert response == (team[0], "answered", False, "[]")
    assert await rows(database, "SELECT * FROM survey_answers") == []
    (ballot,) = await rows(database, "SELECT survey_id, version, sealed FROM survey_ballots")
    assert ballot[:2] == (survey.id, 1)
    assert "soup" not in ballot[2]
    assert await results(database, survey) == {}
    assert (await verify(database, "main")).fits


@pytest.mark.parametrize(("people", "shown"), [(FOUR, False), (FIVE, True)])
async def test_results_appear_at_the_end_and_of_five_at_least(
    people: int, shown: bool, team: list[int], visitor: Browser, parts: Parts
) -> None:
    database = parts.database
    survey = await ask_crew(database)
    for n, one in enumerate(apps(visitor, people)):
        await one.recorded(survey.uid, "answer", *said(survey, "Good" if n else "Bad", comment=f"Word {n}"))
    await run_job(parts)
    assert len(await rows(database, "SELECT * FROM survey_ballots")) == people
    await end(parts, survey)
    found = await results(database, survey)
    assert bool(found) is shown
    if shown:
        assert (found[MOOD["label"], None, "Good"], found[MOOD["label"], None, "Bad"]) == (4, 1)
        assert (found[TICKS["label"], None, "Rest"], found[WORDS["label"], None, ""]) == (5, 5)
    assert await rows(database, "SELECT * FROM survey_ballots") == []
    assert await rows(database, "SELECT sealed_key, destroyed_at IS NULL FROM survey_ballot_keys") == [(None, False)]
    assert await rows(database, "SELECT kind, ballots, user_id FROM survey_changes") == [("closed", people, None)]
    assert (await verify(database, "main")).fits
    await run_job(parts)
    assert len(await rows(database, "SELECT * FROM survey_changes")) == 1


async def test_small_groups_are_joined_at_the_end(team: list[int], visitor: Browser, parts: Parts) -> None:
    survey = await ask_crew(parts.database, split="department")
    for one in apps(visitor, 10):
        await one.recorded(survey.uid, "answer", *said(survey))
    await end(parts, survey)
    assert (await results(parts.database, survey))[MOOD["label"], None, "Good"] == 10


async def test_groups_of_five_stand_alone(database: Database, visitor: Browser, parts: Parts) -> None:
    await crew(database, ["A"] * 5 + ["B"] * 4 + [None] * 2 + ["C"] * 7)
    survey = await ask_crew(database, split="department", questions=[MOOD])
    for one in apps(visitor, 18):
        await one.recorded(survey.uid, "answer", (survey.questions[0].key, "Good"))
    await end(parts, survey)
    found = {group: people for (_, group, choice), people in (await results(database, survey)).items() if choice}
    assert found == {"A": 5, "C": 7, "Others": 6}


async def test_a_second_answer_is_already_recorded_whatever_it_holds(
    team: list[int], visitor: Browser, parts: Parts
) -> None:
    survey = await ask_crew(parts.database)
    one, other = apps(visitor, 2)
    first = await one.recorded(survey.uid, "answer", *said(survey))
    for action, told, more in (
        ("answer", said(survey), {}),
        ("answer", said(survey, "Bad", "Other"), {}),
        ("answer", [(survey.questions[0].key, "Neither")], {"version": 1}),
        ("answer", [], {"version": 1, "content_hash": "0" * 64}),
        ("opt_out", [], {}),
        ("snooze", [], {"version": 1}),
    ):
        again = await one.recorded(survey.uid, action, *told, **more)
        assert (again["status"], again["receipt"]) == ("already_recorded", first["receipt"])
    assert len(await rows(parts.database, "SELECT * FROM survey_ballots")) == 1
    assert (await other.recorded(survey.uid, "opt_out"))["status"] == "opted_out"
    assert len(await rows(parts.database, "SELECT * FROM survey_ballots")) == 1
    await end(parts, survey)
    again = await one.recorded(survey.uid, "answer", *said(survey, "Bad"), version=1)
    assert again["status"] == "already_recorded"


async def test_a_version_that_is_closed_takes_no_answer(team: list[int], visitor: Browser, parts: Parts) -> None:
    """Also where somebody had read it as open: the key is gone."""
    survey = await ask_crew(parts.database)
    one, other = apps(visitor, 2)
    await one.recorded(survey.uid, "answer", *said(survey))
    await end(parts, survey)
    async with parts.database.transaction() as db:
        await db.execute(text("UPDATE surveys SET ends_at = '2999-01-01'"))
    assert refused(await other.respond(survey.uid, "answer", *said(survey))) == (404, "survey_not_found")
    assert await rows(parts.database, "SELECT * FROM survey_ballots") == []
    assert (await verify(parts.database, "main")).fits


async def test_an_archived_one_comes_back_as_its_next_version(team: list[int], visitor: Browser, parts: Parts) -> None:
    database = parts.database
    survey = await ask_crew(database)
    one = apps(visitor, 1)[0]
    await one.recorded(survey.uid, "answer", *said(survey))
    assert await archive(database, survey)
    assert (await rows(database, "SELECT name FROM shared.jobs")) == [("surveys_close",)]
    await run_job(parts)
    async with database.transaction() as db:
        await db.execute(text("UPDATE surveys SET reminded = 2"))
    assert await publish(database, survey, datetime.now(UTC))
    again = await read(database, survey.uid)
    assert (again.status, again.version) == ("published", 2)
    assert await rows(database, "SELECT reminded FROM surveys") == [(0,)]
    assert (await one.recorded(survey.uid, "answer", *said(survey)))["version"] == 2
    assert await rows(database, "SELECT version, kind FROM survey_changes") == [(1, "closed")]
    assert (await verify(database, "main")).fits


async def test_a_new_version_closes_the_one_before(team: list[int], visitor: Browser, parts: Parts) -> None:
    survey = await ask_crew(parts.database)
    for one in apps(visitor, 5):
        await one.recorded(survey.uid, "answer", *said(survey))
    stored = await read(parts.database, survey.uid)
    await save(parts.database, stored, new_version=True)
    await run_job(parts)
    assert await rows(parts.database, "SELECT version, ballots FROM survey_changes") == [(1, 5)]
    assert await results(parts.database, survey, 2) == {}
    assert (await apps(visitor, 1)[0].recorded(survey.uid, "answer", *said(survey)))["version"] == 2


async def test_a_version_without_an_answer_is_closed_too(team: list[int], visitor: Browser, parts: Parts) -> None:
    survey = await ask_crew(parts.database)
    await end(parts, survey)
    assert await rows(parts.database, "SELECT ballots FROM survey_changes") == [(0,)]
    assert (await verify(parts.database, "main")).fits


async def test_a_version_that_does_not_open_keeps_no_other_from_closing(
    team: list[int], visitor: Browser, parts: Parts
) -> None:
    broken, whole = await ask_crew(parts.database), await ask_crew(parts.database, title="Other")
    for survey in (broken, whole):
        await apps(visitor, 1)[0].recorded(survey.uid, "answer", *said(survey))
    spoil = text("UPDATE survey_ballots SET sealed = 'k0:spoiled' WHERE survey_id = :broken")
    async with parts.database.transaction() as db:
        await db.execute(spoil, {"broken": broken.id})
        await db.execute(text("UPDATE surveys SET ends_at = '2001-01-01'"))
    with capture_logs() as logs, pytest.raises(SecretError):
        await run_job(parts)
    assert await rows(parts.database, "SELECT survey_id FROM survey_changes") == [(whole.id,)]
    assert [(one["survey"], one["version"]) for one in logs if one["event"] == "survey_not_closed"] == [
        (str(broken.uid), 1)
    ]


async def test_what_was_published_keeps_its_anonymity_and_an_end_that_passed(team: list[int], parts: Parts) -> None:
    survey = await ask_crew(parts.database)
    for changed in ({"anonymity": "named"}, {"split": "type"}):
        for new_version in (False, True):
            with pytest.raises(Invalid):
                await save(parts.database, survey, new_version=new_version, **changed)
    await end(parts, survey)
    stored = await read(parts.database, survey.uid)
    with pytest.raises(Invalid) as raised:
        await save(parts.database, stored, ends_at=datetime(2999, 1, 2, tzinfo=UTC))
    assert [one.field for one in raised.value.details] == ["ends_at"]
    await save(parts.database, stored, ends_at=datetime(2999, 1, 2, tzinfo=UTC), new_version=True)


async def test_an_audience_of_nine_is_refused(database: Database) -> None:
    await crew(database, [None] * 9)
    with pytest.raises(Invalid) as raised:
        await ask_crew(database)
    assert [one.field for one in raised.value.details] == ["user_types"]


async def test_a_survey_can_not_be_narrowed_to_nine(team: list[int], database: Database) -> None:
    survey = await ask_crew(database)
    with pytest.raises(Invalid):
        await save(database, survey, user_types=("admin",))
    async with database.transaction() as db:
        copy = await authoring.duplicate(db, ANN, survey.uid, "full")
        assert (await authoring.load(db, copy)).definition.is_anonymous


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE survey_results SET people = people + 1 WHERE choice = 'Bad'", "survey_results does not hold"),
        ("DELETE FROM survey_results WHERE choice = 'Bad'", "survey_results does not hold"),
        (
            ADDED,
            "which no row of the ledger closes",
        ),
    ],
)
async def test_verify_finds_results_that_were_changed(
    damage: str, problem: str, visitor: Browser, parts: Parts, urls: DatabaseUrls
) -> None:
    await crew(parts.database, [None] * 10)
    survey = await ask_crew(parts.database)
    for n, one in enumerate(apps(visitor, 5)):
        await one.recorded(survey.uid, "answer", *said(survey, "Bad" if n else "Good"))
    await end(parts, survey)
    assert (await verify(parts.database, "main")).fits
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        owner.execute("SET search_path = main, shared")
        owner.execute("ALTER TABLE survey_results DISABLE TRIGGER append_only")
        assert owner.execute(damage).rowcount == 1
        owner.execute("ALTER TABLE survey_results ENABLE ALWAYS TRIGGER append_only")
    assert problem in ((await verify(parts.database, "main")).problem or "")


async def test_the_ledger_refuses_answers_to_an_anonymous_survey(team: list[int], database: Database) -> None:
    """As a process of the version before would write them, which knows no ballots."""
    survey = await ask_crew(database, questions=[MOOD])
    with pytest.raises(asyncpg.RaiseError, match="never stand in the ledger"):
        await record(database, KeyRing.from_text(KEYS), survey, team[0], "Good")
