"""The editor: what is saved, refused with all that was typed kept, asked before a new version,
and shown before it is saved."""

import re
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, update

from app.accounts.models import Role, Tenant
from app.accounts.roles import BUILT_IN
from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import PromptState, Survey
from app.web.templating import environment
from tests.conftest import Browser
from tests.markup import squeezed
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH, drafted, published
from tests.surveys.recording import EVERY_TYPE, record, user_id

NEW = {
    "title": "Lunch",
    "type": "poll",
    "enforcement": "optional",
    "message": "<p>Today.</p>",
    "question": "a",
    "label-a": "Soup?",
    "type-a": "single_choice",
    "options-a": "Yes\nNo",
}


def form_of(stored: Stored, **changes: Any) -> dict[str, Any]:
    """What the editor of this survey posts untouched, and what is changed; None leaves a field out."""
    one = stored.definition
    fields: dict[str, Any] = {
        "revision": str(stored.revision),
        "title": one.title,
        "type": one.type,
        "enforcement": one.enforcement,
        "message": one.message,
        "category": one.category or "",
        "user_types": list(one.user_types),
        "tenants": list(one.tenants),
        "question": [f"q{number}" for number, _ in enumerate(one.questions)],
    }
    for number, question in enumerate(one.questions):
        fields |= {
            f"key-q{number}": str(question.key),
            f"label-q{number}": question.label,
            f"type-q{number}": question.type,
            f"options-q{number}": "\n".join(question.options),
            f"required-q{number}": "1" if question.required else "",
        }
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}


async def made(database: Database, workspace: str = "main", **fields: Any) -> Stored:
    async with database.transaction(workspace) as db:
        return await drafted(db, **fields)


async def answered(database: Database, parts: Parts, **fields: Any) -> Stored:
    """A published survey that Nora has answered."""
    async with database.transaction() as db:
        stored = await published(db, **{"questions": EVERY_TYPE, **fields})
    await record(database, parts.keys, stored, await user_id(database, "nora"), *[None] * 5)
    return await now(database, stored.uid)


async def now(database: Database, uid: UUID, workspace: str = "main") -> Stored:
    async with database.transaction(workspace) as db:
        return await load(db, uid)


async def only(database: Database) -> Stored:
    async with database.transaction() as db:
        return await load(db, (await db.scalars(select(Survey.uid))).one())


async def test_a_new_survey_begins_with_one_question_and_is_saved_as_a_draft(
    database: Database, alice: Browser
) -> None:
    shown = (await alice.get("/surveys/new")).text
    assert shown.count('name="question"') == 2  # and the sample that the script copies
    answer = await alice.submit("/surveys/save", NEW)
    stored = await only(database)
    assert answer.headers["location"] == f"/surveys/edit/{stored.uid}"
    assert (stored.status, stored.version, stored.definition.title) == ("draft", 1, "Lunch")
    assert stored.questions[0].options == ("Yes", "No")
    assert stored.definition.snooze_hours == 24


async def test_saving_leads_on_to_the_question_before_publishing(database: Database, alice: Browser) -> None:
    answer = await alice.submit("/surveys/save", {**NEW, "then": "publish"})
    stored = await only(database)
    assert answer.headers["location"] == f"/surveys/publish/{stored.uid}"


async def test_from_a_refused_publish_the_editor_opens_with_the_reasons_at_their_fields(
    database: Database, alice: Browser
) -> None:
    await alice.submit("/surveys/save", {**NEW, "options-a": "Yes", "ends_at": "2020-01-01T10:00"})
    uid = (await only(database)).uid
    refused = (await alice.get(f"/surveys/publish/{uid}")).text
    url = f"/surveys/edit/{uid}?check=publish"
    assert f'href="{url}"' in refused
    editor = (await alice.get(url)).text
    for anchor, reason in (("f-options-q1", "Give at least 2 options"), ("f-ends_at", "This end is in the past.")):
        assert reason in refused
        assert f'href="#{anchor}"' in editor
        assert f'id="{anchor}-error"' in editor
        assert reason in editor
    assert "error-summary" not in (await alice.get(f"/surveys/edit/{uid}")).text


async def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(database: Database, alice: Browser) -> None:
    wrong = {**NEW, "title": "", "category": "C" * 101, "label-a": "", "options-a": "Same\nSame", "snooze_hours": "0"}
    answer = await alice.submit("/surveys/save", wrong)
    assert answer.status_code == 422
    for anchor in ("f-title", "f-category", "f-label-a", "f-options-a", "f-snooze_hours"):
        assert f'href="#{anchor}"' in answer.text
        assert f'id="{anchor}-error"' in answer.text
    for text in ("C" * 101, "Same\nSame", "&lt;p&gt;Today.&lt;/p&gt;", 'data-guard="dirty"'):
        assert text in answer.text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Survey)) == 0


async def test_the_buttons_of_the_rows_work_without_script_and_save_nothing(database: Database, alice: Browser) -> None:
    answer = await alice.submit("/surveys/form", {**NEW, "title": "", "rows": "duplicate:a"})
    assert (answer.status_code, answer.text.count(">Soup?</textarea>")) == (200, 0)
    assert answer.text.count("\nSoup?</textarea>") == 2
    assert "error-summary" not in answer.text
    focused = answer.text[answer.text.index('id="f-label-q1"') :]
    assert "autofocus" in focused[: focused.index(">")]
    gone = await alice.submit("/surveys/form", {**NEW, "rows": "remove:a"})
    assert 'name="removed-a" value="1"' in gone.text
    assert ">0 of 50<" in gone.text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Survey)) == 0


async def test_a_question_keeps_its_id_through_saves_and_moves(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=EVERY_TYPE)
    first, *others = stored.questions
    names = ["q1", "q2", "q3", "q4", "q0"]
    answer = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, question=names))
    assert answer.status_code == 303
    assert (await now(database, stored.uid)).questions == (*others, first)


async def test_a_removed_question_goes_when_it_is_saved(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=EVERY_TYPE)
    await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, **{"removed-q1": "1"}))
    assert [one.label for one in (await now(database, stored.uid)).questions] == [
        "Stars?",
        "Which?",
        "What all?",
        "Why?",
    ]


async def test_what_the_message_lost_is_said_before_and_after(database: Database, alice: Browser) -> None:
    fields = {**NEW, "message": "<p onclick='x'>Hi<script>bad()</script></p>"}
    shown = await alice.submit("/surveys/preview", fields, headers={"HX-Request": "true"})
    assert "&lt;script&gt;" in shown.text
    assert "bad()" not in shown.text
    answer = await alice.submit("/surveys/save", fields)
    assert "Taken out of the message" in (await alice.get(answer.headers["location"])).text
    assert (await only(database)).definition.message == "<p>Hi</p>"


async def test_the_preview_is_the_prompt_and_counts_no_impression(database: Database, alice: Browser) -> None:
    fields = {**NEW, "title": "A preview", "user_types": ["staff"]}
    shown = await alice.submit("/surveys/preview", fields, headers={"HX-Request": "true"})
    assert shown.status_code == 200
    for text in (
        'class="prompt"',
        "A preview",
        "Soup?",
        "<p>Today.</p>",
        "Ask me later",
        "2 people are in its audience",
    ):
        assert text in shown.text
    for text in ("<form", "<html", "csrf_token"):
        assert text not in shown.text
    assert "A preview" in (await alice.submit("/surveys/preview", fields)).text
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(PromptState)) == 0


async def test_an_unfinished_survey_can_be_previewed(alice: Browser) -> None:
    shown = await alice.submit(
        "/surveys/preview", {"question": "a", "type-a": "scale", "message": "<" * 5000}, headers={"HX-Request": "true"}
    )
    assert shown.status_code == 200
    assert "Without a title" in shown.text


async def test_the_second_of_two_authors_sees_what_the_first_changed(database: Database, alice: Browser) -> None:
    stored = await made(database)
    await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, title="Supper"))
    answer = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, category="Mine"))
    assert answer.status_code == 409
    assert "Not saved: Alice Ahn changed this after you opened the form" in answer.text
    assert "<ins>Supper</ins>" in answer.text
    assert 'value="Mine"' in answer.text
    assert 'name="title" value="Supper"' in answer.text, "what was left alone shows what the first one saved"
    assert "You changed it too" not in answer.text
    assert f'name="revision" value="{stored.revision + 1}"' in answer.text
    assert (await now(database, stored.uid)).definition.category is None
    knowing = form_of(stored, category="Mine", revision=str(stored.revision + 1))
    assert (await alice.submit(f"/surveys/save/{stored.uid}", knowing)).status_code == 303


async def test_what_both_authors_changed_is_kept_as_typed_and_marked(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[HOW_WAS_IT, LUNCH])
    theirs = {"title": "Supper", "category": "Theirs", "label-q0": "How?"}
    await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, **theirs))
    mine = form_of(stored, category="Mine", **{"label-q1": "How was the lunch?"})
    answer = await alice.submit(f"/surveys/save/{stored.uid}", mine)
    assert answer.status_code == 409
    assert 'name="title" value="Supper"' in answer.text
    assert 'name="category" value="Mine"' in answer.text
    assert "How was the lunch?" in answer.text
    marked = re.findall(
        r'data-title>([^<]+)<span class="badge" data-tone="warn">You changed it too', squeezed(answer.text)
    )
    assert marked == ["Category", "Question 1, text"]
    assert '<th scope="col">When you opened it</th><th scope="col">Now</th>' in answer.text


async def test_questions_that_were_left_alone_show_the_new_ones(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[HOW_WAS_IT, LUNCH])
    await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, **{"label-q0": "How did you like it?"}))
    answer = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, title="Mine"))
    assert answer.status_code == 409
    assert "How did you like it?" in answer.text.partition('id="questions"')[2]
    assert 'name="title" value="Mine"' in answer.text


async def test_words_of_an_answered_version_are_corrected_without_asking_again(
    database: Database, parts: Parts, alice: Browser
) -> None:
    stored = await answered(database, parts)
    shown = (await alice.get(f"/surveys/edit/{stored.uid}")).text
    assert "1 person responded to version 1." in shown
    fields = form_of(stored, title="Lunch!", category="Canteen", **{"label-q0": "Stars, please?"})
    assert (await alice.submit(f"/surveys/save/{stored.uid}", fields)).status_code == 303
    saved = await now(database, stored.uid)
    assert (saved.version, saved.definition.title, saved.responses) == (1, "Lunch!", 1)


@pytest.mark.parametrize("questions", [EVERY_TYPE, [CONSENT]])
async def test_more_than_a_correction_is_explained_before_anything_is_lost(
    database: Database, parts: Parts, alice: Browser, questions: list[dict[str, Any]]
) -> None:
    outcome = {"outcome": "agreed"} if len(questions) == 1 else {}
    async with database.transaction() as db:
        stored = await published(db, questions=questions)
    await record(database, parts.keys, stored, await user_id(database, "nora"), None, **outcome)
    changes = {"label-q0": "I agree to everything."} if outcome else {"options-q1": "little\nmuch\nmore"}
    fields = form_of(stored, **changes)
    asked = await alice.submit(f"/surveys/save/{stored.uid}", fields)
    assert asked.status_code == 409
    assert "Nothing is saved yet" in asked.text
    assert "<strong>1</strong>person responded to version 1 and will be asked again" in squeezed(asked.text)
    for name, value in changes.items():
        assert f'name="{name}" value="{value}"' in asked.text
    back = await alice.submit(f"/surveys/form/{stored.uid}", fields)
    assert next(iter(changes.values())) in back.text
    sure = {**fields, "new_version": "1", "confirmed": "1"}
    assert (await alice.submit(f"/surveys/save/{stored.uid}", sure)).status_code == 303
    saved = await now(database, stored.uid)
    assert (saved.version, saved.status, saved.responses) == (2, "published", 0)
    assert "Version 2 is published. 1 person will be asked again." in (await alice.get("/surveys/list")).text


async def test_a_new_version_shows_its_difference_first(database: Database, parts: Parts, alice: Browser) -> None:
    stored = await answered(database, parts)
    fields = form_of(stored, title="Supper", new_version="1")
    asked = await alice.submit(f"/surveys/save/{stored.uid}", fields)
    assert (asked.status_code, "<del>Lunch</del>" in asked.text, "<ins>Supper</ins>" in asked.text) == (200, True, True)
    assert (await now(database, stored.uid)).version == 1


async def test_a_new_version_that_cannot_be_asked_is_refused_in_the_form(
    database: Database, parts: Parts, alice: Browser
) -> None:
    stored = await answered(database, parts)
    for changes in ({"question": []}, {"ends_at": "2020-01-01T00:00"}):
        answer = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, new_version="1", **changes))
        assert (answer.status_code, "error-summary" in answer.text) == (422, True)


async def test_an_archived_survey_says_how_to_a_new_version(database: Database, parts: Parts, alice: Browser) -> None:
    stored = await answered(database, parts)
    await alice.submit(f"/surveys/archive/{stored.uid}")
    stored = await now(database, stored.uid)
    answer = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, enforcement="required"))
    assert (answer.status_code, "Publish it again first" in answer.text) == (409, True)
    forced = form_of(stored, new_version="1", confirmed="1")
    answer = await alice.submit(f"/surveys/save/{stored.uid}", forced)
    assert (answer.status_code, "Only a published survey gets a new version" in answer.text) == (409, True)


async def test_without_the_permission_to_publish_there_is_no_new_version(
    database: Database, parts: Parts, alice: Browser
) -> None:
    stored = await answered(database, parts)
    async with database.shared_transaction() as db:
        permissions = sorted(BUILT_IN["Administrator"] - {"surveys.publish"})
        await db.execute(update(Role).where(Role.name == "Administrator").values(permissions=permissions))
    shown = (await alice.get(f"/surveys/edit/{stored.uid}")).text
    assert "Publish as a new version…" not in shown
    fields = form_of(stored, enforcement="required")
    explained = await alice.submit(f"/surveys/save/{stored.uid}", fields)
    assert (explained.status_code, "Publish version" in explained.text) == (409, False)
    forced = await alice.submit(f"/surveys/save/{stored.uid}", {**fields, "new_version": "1", "confirmed": "1"})
    assert forced.status_code == 403
    assert (await alice.submit(f"/surveys/publish/{stored.uid}")).status_code == 403
    saved = await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored, then="publish"))
    assert saved.headers["location"] == f"/surveys/edit/{stored.uid}"


async def test_a_tenant_makes_optional_surveys_for_its_own_people(database: Database, eve: Browser) -> None:
    shown = (await eve.get("/surveys/new")).text
    assert 'name="tenants"' not in shown
    assert 'value="required"' not in shown
    refused = await eve.submit("/surveys/save", {**NEW, "tenants": "acme"})
    assert (refused.status_code, "Only surveys of the platform choose tenants" in refused.text) == (422, True)
    refused = await eve.submit("/surveys/save", {**NEW, "enforcement": "required"})
    assert (refused.status_code, "Choose one of the list." in refused.text) == (422, True)
    assert (await eve.submit("/surveys/save", NEW)).status_code == 303


async def test_what_lies_above_the_ceiling_is_not_edited(database: Database, eve: Browser) -> None:
    stored = await made(database, "globex", enforcement="required")
    for answer in (
        await eve.get(f"/surveys/edit/{stored.uid}"),
        await eve.submit(f"/surveys/save/{stored.uid}", form_of(stored, enforcement="optional")),
        await eve.submit(f"/surveys/duplicate/{stored.uid}"),
        await eve.submit(f"/surveys/delete/{stored.uid}"),
        await eve.get(f"/surveys/publish/{stored.uid}"),
        await eve.submit(f"/surveys/publish/{stored.uid}"),
    ):
        assert (answer.status_code, "can make only optional surveys" in answer.text) == (403, True)
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling="full"))
    assert (await eve.get(f"/surveys/edit/{stored.uid}")).status_code == 200


async def test_the_platform_chooses_tenants_by_their_names(database: Database, alice: Browser) -> None:
    shown = (await alice.get("/surveys/new")).text
    assert 'name="tenants" value="main"' in shown
    assert '<span class="form-check-label">Acme</span>' in shown
    assert '<span class="form-check-label">the platform itself</span>' in shown
    await alice.submit("/surveys/save", {**NEW, "tenants": ["acme", "main"], "user_types": ["staff"]})
    stored = await only(database)
    assert (stored.definition.tenants, stored.definition.user_types) == (("acme", "main"), ("staff",))


async def test_saving_what_is_the_same_says_so(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=EVERY_TYPE, category="Canteen", user_types=["staff"])
    await alice.submit(f"/surveys/save/{stored.uid}", form_of(stored))
    assert "Nothing changed." in (await alice.get(f"/surveys/edit/{stored.uid}")).text
    assert (await now(database, stored.uid)).revision == stored.revision


def test_the_name_of_a_difference_stands_in_the_first_line_of_its_cell() -> None:
    """Line breaks show there."""
    row = SimpleNamespace(name="Title", before="One", after="Two")
    table = environment().get_template("surveys/difference.html").make_module().difference([row], {"Title"})
    assert 'data-title>Title <span class="badge" data-tone="warn">New version</span></th>' in table
