"""How far a piece of work goes: the files that it runs through, what it reads twice, and how often it judges.

The numbers are limits. Before you raise one, look for the detour.
"""

from functools import partial

from app.clock.importing import import_due
from app.db.session import Database
from app.parts import Parts
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import punch
from tests.clock.resolved import ada_works, id_of, then
from tests.clock.syncing import site
from tests.conftest import Browser
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.asking.test_responding import warm
from tests.surveys.calling import App
from tests.surveys.drafted import HOW_WAS_IT
from tests.tracing import traced

__all__ = ["nora"]


async def test_a_retry_reads_its_owners_once_and_judges_once(database: Database, alice: Browser) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    punch_id = await id_of(database, "Mon 10:00")
    with traced("A Retry") as way:
        answer = await alice.submit(f"/clock_transactions/{punch_id}/retry")
    assert answer.status_code == 303
    assert way.began("owners.py:held_owners") == 1
    assert way.began("pairing/judge.py:judge") == 1
    assert len(way.files) <= 45


async def test_a_page_of_the_punch_list_reads_its_address_once(database: Database, alice: Browser) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    await alice.get("/clock_transactions")
    with traced("A page of the punch list") as way:
        answer = await alice.get("/clock_transactions?q=ada&from=2026-01-01&outcome=imported")
    assert answer.status_code == 200
    assert way.began("lists.py:asked") == 1
    # Two of them find out in which language the page speaks; one counts problems for the menu, one whether a worker is
    # alive; two know with which view its person opens the list; four came when the list, its page, its filters and what
    # the queries take became files of their own.
    assert len(way.files) <= 46


async def test_an_answer_to_a_survey(database: Database, nora: App) -> None:
    survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
    with traced("An answer") as way:
        assert (await nora.recorded(survey.uid, *warm(survey)))["status"] == "recorded"
    assert way.began("situations.py:one") == 1
    # Four of them keep in which language the person was asked, one makes what they saw, one has what a row says.
    assert len(way.files) <= 38


async def test_punches_of_the_server_become_records(parts: Parts) -> None:
    async with site(parts, "cloud") as here:
        with traced("A page of punches becoming records") as way:
            assert (await here.sync_punches()).status == "succeeded"
    # Three of them note what webhooks are told, and ask for a look for problems; one keeps how many punches wait, one
    # holds the plain data of a call, one says how long a slice is, and one
    # divides a large import.
    assert len(way.files) <= 86


async def test_an_import_judges_each_person_once(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await punch(db, "100", "I Tue 08:00, O Tue 17:00")
    with traced("An import") as way:
        await import_due.import_due(partial(database.transaction, "main"), now=FAR)
    assert way.began("pairing/judge.py:judge") == 1
    assert way.began("owners.py:held_owners") == 1
    # One of them notes what webhooks are told, two ask for a look for problems, and one divides a large import.
    assert len(way.files) <= 35
