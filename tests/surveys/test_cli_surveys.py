"""`surveys:*`: definitions as files, the rules and the ceiling of the form, one line when something is refused."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, update

from app.accounts.models import AuditEntry, Tenant
from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey
from tests.command_line import CommandLine
from tests.surveys.drafted import published
from tests.surveys.recording import record, user_id

LUNCH = {
    "format": "muster.survey/1",
    "title": "Lunch",
    "type": "poll",
    "enforcement": "optional",
    "message": "<p>Hello</p>",
    "questions": [{"question": "q1", "label": "Which?", "type": "single_choice", "options": ["Soup", "Salad"]}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lunch.json"
    path.write_text(json.dumps(LUNCH))
    return path


def write(file: Path, document: dict[str, Any], more: bytes = b"}") -> Path:
    """`more` stands in place of the closing bracket."""
    file.write_bytes(json.dumps(document).encode()[:-1] + more)
    return file


async def read(database: Database, uid: str, workspace: str = "main") -> Stored:
    async with database.transaction(workspace) as db:
        return await authoring.load(db, UUID(uid))


async def test_a_survey_is_made_published_archived_and_published_again(
    muster: CommandLine, database: Database, file: Path
) -> None:
    made = (await muster("surveys:create", file, "--json")).json
    uid = made["survey"]
    stored = await read(database, uid)
    assert made == {
        "survey": uid,
        "title": "Lunch",
        "status": "draft",
        "version": 1,
        "content_hash": stored.content_hash,
    }
    assert (await muster("surveys:publish", uid)).out == "“Lunch”, version 1, is published.\n"
    assert (await muster("surveys:publish", uid)).out == "“Lunch” was published already.\n"
    assert (await muster("surveys:archive", uid, "--json")).json == {**made, "status": "archived", "changed": True}
    assert (await muster("surveys:archive", uid, "--json")).json["changed"] is False
    assert (await muster("surveys:publish", uid, "--json")).json["status"] == "published"
    async with database.transaction() as db:
        names = set(await db.scalars(select(AuditEntry.actor_name).where(AuditEntry.subject_id == uid)))
    assert names == {"Command line"}


async def test_create_prints_the_uid_alone_and_notes_what_of_the_message_is_lost(
    muster: CommandLine, database: Database, file: Path
) -> None:
    ended = await muster("surveys:create", write(file, {**LUNCH, "message": "<b>Hi</b><script>x</script>"}))
    assert (await read(database, ended.out.strip())).definition.message == "Hi"
    assert ended.err == "Note: not kept in the message: <b>, <script>\n"


async def test_an_export_updates_its_survey_without_a_change_and_makes_another_one(
    muster: CommandLine, database: Database, file: Path
) -> None:
    uid = (await muster("surveys:create", file)).out.strip()
    stored = await read(database, uid)
    exported = (await muster("surveys:export", uid)).json
    assert exported["questions"][0]["question"] == str(stored.questions[0].key)
    assert (exported["survey"], exported["workspace"], exported["status"]) == (uid, "main", "draft")
    write(file, exported)
    assert (await muster("surveys:update", uid, file)).out == "Nothing changed.\n"
    assert await read(database, uid) == stored
    other = await read(database, (await muster("surveys:create", file)).out.strip())
    assert str(other.uid) != uid
    assert other.questions[0].key != stored.questions[0].key
    assert other.content_hash == stored.content_hash


async def test_update_keeps_the_ids_that_it_finds_and_a_version_with_answers_needs_a_new_one(
    muster: CommandLine, parts: Parts, file: Path
) -> None:
    async with parts.database.transaction() as db:
        stored = await published(db, questions=LUNCH["questions"])
    await record(parts.database, parts.keys, stored, await user_id(parts.database, "nora"), "Soup")
    uid = str(stored.uid)
    exported = (await muster("surveys:export", uid)).json
    exported["questions"][0]["label"] = "Which one?"
    corrected = await muster("surveys:update", uid, write(file, exported))
    assert corrected.out == "Saved version 1: Question 1, text.\n"
    exported["questions"].append({"label": "Why?", "type": "free_text"})
    write(file, exported)
    refused = await muster("surveys:update", uid, file)
    assert refused.refusal.startswith("People have responded to version 1, so this needs a new one: Question 2, added.")
    renewed = (await muster("surveys:update", uid, file, "--new-version", "--json")).json
    assert (renewed["version"], renewed["status"], renewed["changed"]) == (2, "published", True)
    after = await read(parts.database, uid)
    assert after.questions[0].key == stored.questions[0].key
    assert len(after.questions) == 2
    again = await muster(
        "surveys:update", uid, write(file, (await muster("surveys:export", uid)).json), "--new-version"
    )
    assert again.out == "Saved version 3: asked again as it was.\n"


async def test_what_cannot_be_used_is_refused_in_one_line_and_nothing_is_made(
    muster: CommandLine, database: Database, file: Path, tmp_path: Path
) -> None:
    unknown = await muster("surveys:create", write(file, {**LUNCH, "titel": "x"}))
    assert unknown.refusal == "The file can't be used. titel: There is no such key."
    empty = await muster("surveys:create", write(file, {**LUNCH, "title": ""}))
    assert empty.refusal == "The survey can't be saved. Title: Give the survey a title."
    twice = write(file, LUNCH, more=b', "title": "b"}')
    assert (await muster("surveys:create", twice)).refusal == (
        "The file is not strict JSON: an object names the same key twice."
    )
    assert (await muster("surveys:create", tmp_path / "none.json")).code == 2
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Survey)) == 0


async def test_a_survey_that_is_not_there_or_in_another_workspace_is_refused(muster: CommandLine, file: Path) -> None:
    theirs = (await muster("surveys:create", file, "--workspace", "globex")).out.strip()
    for uid in (theirs, str(uuid4())):
        for command in (
            ("surveys:publish", uid),
            ("surveys:archive", uid),
            ("surveys:export", uid),
            ("surveys:update", uid, file),
        ):
            assert (await muster(*command)).refusal == "There is no such survey."
    assert (await muster("surveys:publish", "7")).code == 2
    assert (await muster("surveys:create", file, "--workspace", "initech")).refusal == "There is no workspace initech."


async def test_the_commands_obey_the_life_of_a_survey(muster: CommandLine, file: Path) -> None:
    uid = (await muster("surveys:create", write(file, {**LUNCH, "questions": []}))).out.strip()
    assert (await muster("surveys:archive", uid)).refusal.startswith("A draft can't be archived")
    assert (await muster("surveys:publish", uid)).refusal == (
        "The survey can't be published. Questions: Add at least one question."
    )
    assert (await muster("surveys:update", uid, file, "--new-version")).refusal.startswith("Only a published survey")


async def test_the_commands_obey_the_ceiling_of_a_tenant(muster: CommandLine, database: Database, file: Path) -> None:
    made = (await muster("surveys:create", file, "--workspace", "globex")).out.strip()
    assert (await muster("surveys:publish", made, "--workspace", "globex")).code == 0
    required = write(file, {**LUNCH, "enforcement": "required"})
    refused = await muster("surveys:create", required, "--workspace", "globex")
    assert refused.refusal.startswith("This workspace can make only optional surveys")
    assert (await muster("surveys:update", made, required, "--workspace", "globex")).code == 1
    tenants = await muster("surveys:create", write(file, {**LUNCH, "tenants": ["globex"]}), "--workspace", "globex")
    assert tenants.refusal.endswith("Tenants: Only surveys of the platform choose tenants; leave this out.")
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling="none"))
    write(file, LUNCH)
    for command in (("surveys:create", file), ("surveys:update", made, file), ("surveys:publish", made)):
        assert (await muster(*command, "--workspace", "globex")).refusal.startswith("This workspace can't make surveys")
    assert (await muster("surveys:archive", made, "--workspace", "globex")).code == 0
