"""Erasing a person: the key is destroyed in both ledgers, nothing opens, the proof stands; page, command and audit."""

import json
import re
from typing import Any

import pytest
from sqlalchemy import insert, select, text

from app.accounts import audit
from app.accounts.audit import SYSTEM, Actor
from app.accounts.models import AuditEntry
from app.db.session import Database
from app.host.models import Application, AppRating
from app.jobs import KINDS
from app.parts import Parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner, Held
from app.surveys.jobs import FUNCTIONS
from app.surveys.ledger import append as ledger
from app.surveys.ledger.same_answers import same
from app.surveys.models import PersonKey
from tests.command_line import CommandLine
from tests.conftest import Browser
from tests.surveys.drafted import Stored
from tests.surveys.recording import AT, entry, lunch, open_evidence, record, user_id, verify
from tests.test_jobs import row as job_row
from workers.schedule import schedule


@pytest.fixture
async def nora(database: Database) -> EvidenceOwner:
    return EvidenceOwner(await user_id(database, "nora"), "nora@example.org", "main")


@pytest.fixture
async def eve_herself(database: Database) -> EvidenceOwner:
    return EvidenceOwner(await user_id(database, "eve"), "eve@example.org", "globex")


@pytest.fixture
async def survey(database: Database, parts: Parts, nora: EvidenceOwner) -> Stored:
    """Lunch, which Nora answered in full, Bob without a word and Vera in full."""
    stored = await lunch(database)
    await record(database, parts.keys, stored, nora.id)
    await record(database, parts.keys, stored, await user_id(database, "bob"), 3)
    await record(database, parts.keys, stored, await user_id(database, "vera"))
    return stored


async def rate(database: Database, person: EvidenceOwner, comment: str | None) -> None:
    async with database.transaction() as db:
        app_id = await db.scalar(select(Application.id).limit(1))
        if app_id is None:
            made = insert(Application).values(name="Muster", platforms=["ios"], status="published")
            app_id = await db.scalar(made.returning(Application.id))
        await db.execute(
            insert(AppRating).values(
                application_id=app_id, user_id=person.id, rating=4, platform="ios", comment=comment, rated_at=AT,
                rated_on=AT.date(),
            )
        )  # fmt: skip


async def opened(database: Database, parts: Parts, number: int, workspace: str = "main") -> Any:
    async with database.transaction(workspace) as db:
        return await open_evidence(db, parts.keys, number)


async def audits(database: Database) -> list[Any]:
    statement = select(AuditEntry).where(AuditEntry.act == "person.erase").order_by(AuditEntry.id)
    async with database.shared_transaction() as db:
        return list(await db.scalars(statement))


async def test_nothing_of_an_erased_person_opens_and_the_proof_stands(
    database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    await rate(database, nora, "Slow")
    held = await erasing.held(database, nora)
    assert held == Held(responses=1, evidence=1, texts=1, keys=1, ratings=1, comments=1)
    assert await erasing.erase(database, SYSTEM, nora) == held
    assert await opened(database, parts, 1) is None
    assert (await opened(database, parts, 3)).texts  # Vera's
    assert (await verify(database, "main")).rows == 3
    async with database.transaction() as db:
        key = (await db.scalars(select(PersonKey).where(PersonKey.person == nora.id))).one()
        assert (key.sealed_key, key.erased_at is None) == (None, False)
        assert await db.scalar(select(AppRating.comment)) is None
        assert await db.scalar(select(AppRating.rating)) == 4
    after = await erasing.held(database, nora)
    assert after == Held(responses=1, ratings=1, erased_at=key.erased_at)
    assert not after.anything


async def test_a_tenants_person_is_erased_in_both_ledgers(
    database: Database, parts: Parts, survey: Stored, eve_herself: EvidenceOwner
) -> None:
    await record(database, parts.keys, survey, eve_herself.id)
    await record(database, parts.keys, await lunch(database, "globex"), eve_herself.id)
    await rate(database, eve_herself, "Slow")
    assert (await erasing.held(database, eve_herself)).evidence == 2
    await erasing.erase(database, SYSTEM, eve_herself)
    assert await opened(database, parts, 4) is None
    assert await opened(database, parts, 1, "globex") is None
    assert not (await erasing.held(database, eve_herself)).anything
    assert (await verify(database, "main")).fits
    assert (await verify(database, "globex")).fits
    assert [one.workspace for one in await audits(database)] == ["main", "globex"]


async def test_the_audit_says_who_was_erased_and_nothing_of_what_they_said(
    database: Database, survey: Stored, nora: EvidenceOwner
) -> None:
    await erasing.erase(database, SYSTEM, nora)
    (entry_,) = await audits(database)
    assert (entry_.subject_type, entry_.subject_id, entry_.actor_name) == ("user", str(nora.id), "Muster")
    assert entry_.before == {"keys": 1, "evidence": 1, "texts": 1, "comments": 0}
    assert entry_.after == {"keys": 0, "evidence": 0, "texts": 0, "comments": 0}


async def test_the_audit_no_longer_names_an_erased_person(
    database: Database, survey: Stored, nora: EvidenceOwner, alice: Browser
) -> None:
    async with database.transaction() as db:
        await audit.record(db, Actor(nora.id, "Nora Nemo"), "user.edit", "user", nora.id, after={"email": nora.email})
    assert "Nora Nemo" in (await alice.get("/admin/audit")).text
    await alice.submit(address(nora), {"typed": nora.email, "confirmed": "1"})
    text = (await alice.get("/admin/audit")).text
    assert "Evidence of a person erased" in text
    assert text.count("Erased person") == 3, "who acted, and twice on whom"
    assert "Nora" not in text


async def test_who_answers_again_after_that_gets_a_fresh_key(
    database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    await erasing.erase(database, SYSTEM, nora)
    again = await record(database, parts.keys, await lunch(database), nora.id)
    assert await opened(database, parts, 1) is None
    assert (await opened(database, parts, again.number)).texts
    async with database.transaction() as db:
        assert len((await db.scalars(select(PersonKey.id).where(PersonKey.person == nora.id))).all()) == 2
    assert (await verify(database, "main")).fits


async def test_what_an_erased_person_recorded_reads_without_their_texts(
    database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    await erasing.erase(database, SYSTEM, nora)
    async with database.transaction() as db:
        found = await ledger.recorded(db, parts.keys, survey.id, 1, nora.id)
    assert found is not None
    assert [one.value for one in found.answers] == [4, "much", "soup", ("rice", "beans"), ""]
    assert not same(found.answers, entry(survey, nora.id).answers)


# --- the page


def address(person: EvidenceOwner) -> str:
    return f"/people/erase/{person.id}"


async def test_the_page_says_with_numbers_what_goes_and_what_stays(
    alice: Browser, database: Database, survey: Stored, nora: EvidenceOwner
) -> None:
    await rate(database, nora, "Slow")
    shown = (await alice.get(address(nora))).text
    for sentence in (
        "IP address and browser of 1 response can no longer be read.",
        "the free texts of 1 response are gone.",
        "Comments: those of 1 app rating are gone.",
        "1 response in the ledger",
        "Backups that were made before still hold the key",
    ):
        assert sentence in shown
    assert address(nora) in (await alice.get(f"/admin/users/{nora.id}")).text
    # In the menu it belongs to the entry that leads there.
    assert re.findall(r'<a href="(\S+)" aria-current="page"', shown) == ["/admin/users"]


async def test_the_page_asks_for_the_address_and_keeps_what_was_typed(
    alice: Browser, database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    for typed in ("", "vera@example.org"):
        refused = await alice.submit(address(nora), {"typed": typed})
        assert refused.status_code == 422
        assert f'value="{typed}"' in refused.text
    assert (await opened(database, parts, 1)).texts
    assert await audits(database) == []


async def test_the_page_asks_again_once_the_address_is_right(
    alice: Browser, database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    asked = await alice.submit(address(nora), {"typed": " Nora@example.org "})
    assert asked.status_code == 200
    assert "Erase Nora Nemo for good?" in asked.text
    assert "IP address and browser of 1 response" in asked.text
    assert (await opened(database, parts, 1)).texts
    assert await audits(database) == []
    for typed in ("", "vera@example.org"):
        assert (await alice.submit(address(nora), {"typed": typed, "confirmed": "1"})).status_code == 422
    assert (await opened(database, parts, 1)).texts


async def test_the_second_yes_erases_and_the_page_says_so(
    alice: Browser, database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    gone = await alice.submit(address(nora), {"typed": " Nora@example.org ", "confirmed": "1"})
    assert (gone.status_code, gone.headers["location"]) == (303, address(nora))
    shown = (await alice.get(address(nora))).text
    assert "Nora Nemo is erased" in shown
    assert 'name="typed"' not in shown
    assert await opened(database, parts, 1) is None
    (audited,) = await audits(database)
    assert (audited.actor_name, audited.ip) == ("Alice Ahn", "127.0.0.1")
    # A second click on an old page erases nothing more and breaks nothing.
    assert (await alice.submit(address(nora), {"typed": nora.email})).status_code == 303


async def test_a_tenants_administrator_erases_what_the_platform_holds_as_well(
    eve: Browser, database: Database, parts: Parts, survey: Stored, eve_herself: EvidenceOwner
) -> None:
    await record(database, parts.keys, survey, eve_herself.id)
    assert "IP address and browser of 1 response" in (await eve.get(address(eve_herself))).text
    await eve.submit(address(eve_herself), {"typed": eve_herself.email, "confirmed": "1"})
    assert await opened(database, parts, 4) is None


async def test_somebody_without_answers_has_nothing_to_erase(alice: Browser, nora: EvidenceOwner) -> None:
    shown = (await alice.get(address(nora))).text
    assert "There is nothing to erase" in shown
    assert 'name="typed"' not in shown


async def test_the_page_needs_a_sign_in_and_the_permission(visitor: Browser, bob: Browser, nora: EvidenceOwner) -> None:
    assert (await visitor.get(address(nora))).headers["location"].startswith("/sign-in")
    assert (await bob.get(address(nora))).status_code == 403
    assert (await bob.submit(address(nora), {"typed": nora.email})).status_code == 403


async def test_people_of_another_workspace_are_not_there(
    alice: Browser, eve: Browser, nora: EvidenceOwner, eve_herself: EvidenceOwner
) -> None:
    assert (await alice.get(address(eve_herself))).status_code == 404
    assert (await eve.submit(address(nora), {"typed": nora.email})).status_code == 404


# --- the command


async def test_the_command_asks_twice_before_it_erases(
    muster: CommandLine, database: Database, parts: Parts, survey: Stored, nora: EvidenceOwner
) -> None:
    unanswered = await muster("person:erase", nora.email)
    assert (unanswered.code, unanswered.err.splitlines()[-1]) == (
        1,
        "Error: No confirmation was given, so nothing was erased. --yes erases without asking.",
    )
    for answers_ in ("n\n", "y\nn\n"):
        refused = await muster("person:erase", nora.email, stdin=answers_)
        assert refused.code == 1
        assert refused.err.endswith("Error: Nothing was erased.\n")
        assert "IP address and browser of 1 response" in refused.err
    assert (await muster("person:erase", nora.email, stdin="y\n")).err.splitlines()[-1] == unanswered.err.splitlines()[
        -1
    ]
    assert (await opened(database, parts, 1)).texts
    done = await muster("person:erase", nora.email.upper(), stdin="y\ny\n")
    assert done.out == "nora@example.org is erased: the evidence of 1 of 1 responses can no longer be read.\n"
    assert await opened(database, parts, 1) is None


async def test_the_command_does_not_ask_with_yes_and_tells_in_json(
    muster: CommandLine, database: Database, survey: Stored, nora: EvidenceOwner
) -> None:
    done = await muster("person:erase", nora.email, "--yes", "--json")
    counts = {"keys": 1, "responses": 1, "evidence": 1, "texts": 1, "comments": 0}
    assert json.loads(done.out) == {"email": nora.email, **counts}
    assert (await muster("person:erase", nora.email, "--yes")).out == "There is nothing of nora@example.org to erase.\n"
    (audited,) = await audits(database)
    assert audited.actor_name == "Command line"


async def test_the_command_erases_people_of_its_workspace_alone(muster: CommandLine, nora: EvidenceOwner) -> None:
    assert (await muster("person:erase", nora.email, "--yes", "--workspace", "globex")).code == 1
    assert (await muster("person:erase", "stranger@example.org", "--yes")).code == 1


# --- the daily note


async def test_the_head_of_each_ledger_is_noted_once_a_day(database: Database, parts: Parts, survey: Stored) -> None:
    await schedule(parts)
    await schedule(parts)
    async with database.shared_transaction() as db:
        due = (await db.execute(text("SELECT id, workspace FROM jobs WHERE name = 'surveys_head' ORDER BY id"))).all()
    assert sorted(one.workspace for one in due) == ["acme", "globex", "main"]
    assert "surveys_head" in KINDS
    for one in due:
        claimed = await job_row(database, one.id)
        await FUNCTIONS["surveys_head"](parts, claimed)
    async with database.shared_transaction() as db:
        noted = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "ledger.head"))).all()
    head = (await verify(database, "main")).head
    assert [(one.workspace, one.actor_name, one.after) for one in noted] == [
        ("main", "Muster", {"number": 3, "head": head})
    ]
