"""`/surveys/list` and the acts of its rows: what is shown, narrowed, exported and offered,
and what is asked before an act."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select, update

from app.accounts import tenants
from app.accounts.audit import SYSTEM
from app.accounts.models import AuditEntry, Job, Tenant
from app.dates import local_time
from app.db.session import Database
from app.long_acts.progress import read
from app.parts import Parts
from app.surveys.authoring.stored import Stored
from app.surveys.models import PromptState, Survey
from app.surveys.pages.acts_allowed import allowed, hindrance
from app.web.long_acts import bulk
from tests.conftest import Browser, SignIn
from tests.host.pages.test_acts import begin, carry_on
from tests.markup import squeezed
from tests.rendered_forms import asked_with
from tests.surveys.calling import statements
from tests.surveys.drafted import drafted, published
from tests.surveys.recording import lunch, record, user_id

EVERYTHING = frozenset({"surveys.view", "surveys.author", "surveys.publish"})


async def made(database: Database, workspace: str = "main", **fields: object) -> Stored:
    async with database.transaction(workspace) as db:
        return await drafted(db, **fields)


async def asked(database: Database, workspace: str = "main", **fields: object) -> Stored:
    async with database.transaction(workspace) as db:
        return await published(db, **fields)


async def set_ceiling(database: Database, ceiling: str) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling=ceiling))


async def statuses(database: Database, workspace: str = "main") -> dict[str, str]:
    async with database.transaction(workspace) as db:
        return {row.title: row.status for row in await db.execute(select(Survey.title, Survey.status))}


async def acts_in_audit(database: Database) -> list[str]:
    async with database.shared_transaction() as db:
        return list(await db.scalars(select(AuditEntry.act).order_by(AuditEntry.id)))


async def test_it_shows_every_survey_with_its_figures_in_four_selects(
    database: Database, parts: Parts, vera: Browser
) -> None:
    stored = await lunch(database)
    await asked(database, title="Doors", enforcement="required", user_types=["staff"], tenants=["acme"])
    people = [await user_id(database, short) for short in ("bob", "vera", "nora")]
    async with database.transaction() as db:
        for person in people:
            db.add(PromptState(survey_id=stored.id, version=1, user_id=person, impressions=1,
                               first_shown_at=datetime.now(UTC), last_shown_at=datetime.now(UTC)))  # fmt: skip
    await record(database, parts.keys, stored, people[0])
    await record(database, parts.keys, stored, people[1], *[None] * 5, outcome="opted_out")
    with statements(database) as sent:
        shown = await vera.get("/surveys/list")
    own = [one for one in sent if one.lstrip().startswith("SELECT") and "sessions" not in one and "policies" not in one]
    assert len(own) == 4  # one of them for the zone of its times
    assert "33.3 %" in shown.text
    assert "of 3</span>" in shown.text
    for text in ("Lunch", "Doors", "Required", "Staff", "Acme", "Always", f'href="/surveys/view/{stored.uid}"'):
        assert text in shown.text


async def test_an_export_calls_an_audience_what_people_call_it(database: Database, vera: Browser) -> None:
    await asked(database, title="Doors", user_types=["staff", "client"], tenants=["acme", "main"])
    for kind in ("csv", "jsonl"):
        told = (await vera.get(f"/surveys/list?export={kind}")).text
        assert "Client, Staff; Acme, the platform itself" in told


async def test_a_window_says_whether_it_is_open(database: Database, vera: Browser) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    await asked(database, title="Soon", starts_at=tomorrow)
    assert "not open yet" in (await vera.get("/surveys/list")).text
    await asked(database, title="Past", ends_at=tomorrow - timedelta(days=2))
    past = (await vera.get("/surveys/list?q=past")).text
    assert ">over<" in past
    assert f"until {local_time(tomorrow - timedelta(days=2), tomorrow.date())[:10]}" in past


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", {"Lunch", "Doors", "Trip"}),
        ("status=draft", {"Trip"}),
        ("type=consent", {"Doors"}),
        ("enforcement=required", {"Doors"}),
        ("q=LUN", {"Lunch"}),
        ("category=Canteen", {"Lunch"}),
        ("status=nonsense", set()),
    ],
)
async def test_filters_narrow_the_page_and_its_export_alike(
    database: Database, vera: Browser, query: str, titles: set[str]
) -> None:
    await asked(database, title="Lunch", category="Canteen")
    await asked(database, title="Doors", type="consent", enforcement="required")
    await made(database, title="Trip", type="poll")
    shown = (await vera.get(f"/surveys/list?{query}")).text
    exported = (await vera.get(f"/surveys/list?{query}&export=csv")).text
    assert {title for title in ("Lunch", "Doors", "Trip") if f">{title}</a>" in shown} == titles
    assert {line.split(",")[0] for line in exported.splitlines()[1:]} == titles


@pytest.mark.parametrize("sort", ["title", "-status", "-responses", "rate", "window"])
async def test_every_order_is_answered_by_the_rows_alone_for_htmx(database: Database, vera: Browser, sort: str) -> None:
    await asked(database)
    shown = await vera.fragment(f"/surveys/list?sort={sort}")
    assert shown.status_code == 200
    assert "Lunch" in shown.text
    assert "<html" not in shown.text


async def test_removed_surveys_and_those_of_others_are_not_there(
    database: Database, vera: Browser, eve: Browser
) -> None:
    stored = await asked(database)
    assert "Lunch" not in (await eve.get("/surveys/list")).text
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == stored.id).values(deleted_at=func.now()))
    assert "No survey yet" in (await vera.get("/surveys/list")).text


@pytest.mark.parametrize(
    ("status", "enforcement", "ceiling", "may", "acts"),
    [
        ("draft", "required", "full", EVERYTHING, "delete duplicate edit publish"),
        ("published", "optional", "full", EVERYTHING, "archive duplicate edit"),
        ("archived", "optional", "full", EVERYTHING, "duplicate edit publish"),
        ("draft", "optional", "full", {"surveys.view"}, ""),
        ("draft", "optional", "full", {"surveys.author"}, "delete duplicate edit"),
        ("published", "optional", "full", {"surveys.publish"}, "archive"),
        ("draft", "optional", "optional", EVERYTHING, "delete duplicate edit publish"),
        ("draft", "required", "optional", EVERYTHING, ""),
        ("published", "required", "optional", EVERYTHING, "archive"),
        ("published", "optional", "none", EVERYTHING, "archive"),
        ("archived", "optional", "none", EVERYTHING, ""),
    ],
)
def test_only_what_would_be_done_is_offered(
    status: str, enforcement: str, ceiling: str, may: frozenset[str], acts: str
) -> None:
    offered = allowed(status=status, enforcement=enforcement, responses=0, ceiling=ceiling, permissions=may)
    assert offered == set(acts.split())


async def test_a_viewer_is_offered_nothing_and_a_tenant_is_told_its_ceiling(
    database: Database, vera: Browser, eve: Browser
) -> None:
    await made(database)
    await made(database, "globex")
    shown = (await vera.get("/surveys/list")).text
    assert "/surveys/new" not in shown
    assert "/surveys/edit/" not in shown
    assert "only optional surveys" in (await eve.get("/surveys/list")).text
    await set_ceiling(database, "none")
    shown = (await eve.get("/surveys/list")).text
    assert "make surveys" in shown
    assert "/surveys/new" not in shown
    for path in ("/surveys/new", "/surveys/save"):
        answer = await (eve.get(path) if path.endswith("new") else eve.submit(path, {"title": "x"}))
        assert (answer.status_code, "make surveys" in answer.text) == (403, True)


async def test_publishing_says_whom_it_reaches_and_is_done_once(database: Database, alice: Browser) -> None:
    stored = await made(database, user_types=["staff"])
    question = await alice.fragment(f"/surveys/publish/{stored.uid}")
    assert "<strong>2</strong> people are in its audience" in question.text
    assert "<html" not in question.text
    for _ in range(2):
        assert (await alice.submit(f"/surveys/publish/{stored.uid}")).status_code == 303
    assert "was published already" in (await alice.get("/surveys/list")).text
    assert (await acts_in_audit(database)).count("survey.publish") == 1


async def test_what_cannot_be_published_says_what_is_missing(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[])
    question = (await alice.get(f"/surveys/publish/{stored.uid}")).text
    assert "Add at least one question." in question
    assert 'action="/surveys/publish/' not in question
    assert (await alice.submit(f"/surveys/publish/{stored.uid}")).status_code == 422


async def test_archiving_says_how_many_answers_stay_and_publishing_undoes_it(
    database: Database, parts: Parts, alice: Browser
) -> None:
    stored = await lunch(database)
    await record(database, parts.keys, stored, await user_id(database, "nora"))
    assert "<strong>1</strong> response to version 1 stays" in (await alice.get(f"/surveys/archive/{stored.uid}")).text
    assert (await alice.submit(f"/surveys/archive/{stored.uid}")).status_code == 303
    assert 'data-state="archived"' in (await alice.get("/surveys/list")).text
    assert "1 person responded to version 1 before" in (await alice.get(f"/surveys/publish/{stored.uid}")).text


async def test_a_draft_is_deleted_after_a_question_and_nothing_else_is(database: Database, alice: Browser) -> None:
    draft, live = await made(database, title="Gone"), await asked(database)
    assert "<strong>1</strong> question goes with it" in (await alice.get(f"/surveys/delete/{draft.uid}")).text
    assert (await alice.submit(f"/surveys/delete/{draft.uid}")).status_code == 303
    assert "Gone" not in (await alice.get("/surveys/list")).text
    assert (await alice.submit(f"/surveys/delete/{live.uid}")).status_code == 409


async def test_an_act_that_the_state_does_not_allow_asks_for_no_confirmation(
    database: Database, alice: Browser
) -> None:
    """The question to delete said of a survey with answers that no person was ever asked."""
    draft, live = await made(database, title="Plan"), await asked(database)
    for act, stored, why in (
        ("archive", draft, "A draft can&#39;t be archived"),
        ("delete", live, "Only a draft can be deleted"),
        ("publish", live, "“Lunch” was published already."),
    ):
        answer = await alice.get(f"/surveys/{act}/{stored.uid}")
        assert (answer.status_code, why in answer.text) == (409, True)
    assert (await alice.submit(f"/surveys/archive/{live.uid}")).status_code == 303
    answer = await alice.get(f"/surveys/archive/{live.uid}")
    assert (answer.status_code, "“Lunch” was archived already." in answer.text) == (409, True)


async def test_a_copy_is_opened_for_editing(database: Database, alice: Browser) -> None:
    stored = await asked(database)
    answer = await alice.submit(f"/surveys/duplicate/{stored.uid}")
    assert answer.headers["location"].startswith("/surveys/edit/")
    opened = (await alice.get(answer.headers["location"])).text
    assert "Copy of Lunch" in opened
    assert 'data-state="draft"' in opened


@pytest.mark.parametrize("act", ["publish", "archive", "delete", "duplicate", "edit", "save", "form", "preview"])
async def test_a_survey_of_another_workspace_is_not_there(database: Database, eve: Browser, act: str) -> None:
    stored = await made(database)
    for uid in (stored.uid, uuid4(), "no-uid"):
        if act not in ("duplicate", "save", "form", "preview"):
            assert (await eve.get(f"/surveys/{act}/{uid}")).status_code == 404
        if act != "edit":
            assert (await eve.submit(f"/surveys/{act}/{uid}")).status_code == 404


async def test_bob_and_nora_have_no_business_here(database: Database, bob: Browser, sign_in: SignIn) -> None:
    stored = await made(database)
    nora = await sign_in("nora")
    for browser in (bob, nora):
        assert (await browser.get("/surveys/list")).status_code == 403
        assert (await browser.submit(f"/surveys/publish/{stored.uid}")).status_code == 403


async def test_an_empty_list_says_what_to_do_next_to_the_person_who_may(alice: Browser, vera: Browser) -> None:
    assert "Write the first one" in (await alice.get("/surveys/list")).text
    assert "Write the first one" not in (await vera.get("/surveys/list")).text


@pytest.mark.parametrize(
    ("act", "fields", "ceiling", "why"),
    [
        ("publish", {}, "full", None),
        ("publish", {"status": "archived"}, "full", None),
        ("publish", {"status": "published"}, "full", "is published already"),
        ("publish", {"enforcement": "required"}, "optional", "lies above the authoring ceiling"),
        ("publish", {"questions": ()}, "full", "can't be asked as it is"),
        ("publish", {"ends_at": datetime(2020, 1, 1, tzinfo=UTC)}, "full", "can't be asked as it is"),
        ("archive", {"status": "published", "enforcement": "required"}, "none", None),
        ("archive", {}, "full", "is a draft, which is not asked"),
        ("archive", {"status": "archived"}, "full", "is archived already"),
        ("delete", {}, "full", None),
        ("delete", {"responses": 1}, "full", "is not a draft without responses"),
        ("delete", {"status": "archived"}, "full", "is not a draft without responses"),
        ("delete", {"enforcement": "required"}, "optional", "lies above the authoring ceiling"),
    ],
)
async def test_each_survey_has_its_reason_to_stay_as_it_is(
    database: Database, act: str, fields: dict[str, Any], ceiling: str, why: str | None
) -> None:
    stored = await made(database)
    columns = {name: fields[name] for name in fields if name in ("status", "responses")}
    changed = {name: value for name, value in fields.items() if name not in columns}
    stored = replace(stored, definition=replace(stored.definition, **changed), **columns)
    assert (hindrance(act, stored, ceiling, datetime.now(UTC)) or (None,))[0] == why


async def test_many_are_published_and_the_question_says_how_many_are_not_and_why(
    database: Database, alice: Browser
) -> None:
    await made(database, title="Doors", user_types=["staff"], enforcement="required")
    await made(database, title="Trip", user_types=["staff"])
    await made(database, title="Empty", questions=[])
    await asked(database)
    form = {"action": "publish", "all": "1", "back": "/surveys/list?sort=title"}
    question = await alice.submit("/surveys/list/bulk", form, headers={"HX-Request": "true"})
    for words in (
        "Publish 2 surveys?",
        "<strong>2</strong> people are asked",
        "1 is required and can&#39;t be closed before an answer.",
        "2 of the 4 selected stay as they are: 1 can&#39;t be asked as it is, 1 is published already.",
    ):
        assert words in question.text
    assert "<html" not in question.text
    assert "Publish 2 surveys?" in (
        await alice.submit("/surveys/list/bulk", {**form, "confirmed": "1", "number": "4"})
    ).text  # fmt: skip
    shown = asked_with(question.text, "/surveys/list/bulk")
    answer = await alice.submit("/surveys/list/bulk", {**form, **shown})
    assert (answer.status_code, answer.headers["location"]) == (303, "/surveys/list?sort=title")
    assert "2 surveys were published." in (await alice.get("/surveys/list")).text
    assert (await statuses(database))["Empty"] == "draft"
    assert (await acts_in_audit(database)).count("survey.publish") == 3
    refused = await alice.submit("/surveys/list/bulk", form)
    assert refused.status_code == 409
    assert "None of these surveys can be published: 1 can&#39;t be asked as it is, 3 are published" in refused.text


async def test_many_are_archived_and_their_answers_stay(database: Database, parts: Parts, alice: Browser) -> None:
    stored = await lunch(database)
    await record(database, parts.keys, stored, await user_id(database, "nora"))
    draft, doors = await made(database, title="Trip"), await asked(database, title="Doors")
    form = {"action": "archive", "id": [str(one.id) for one in (stored, draft, doors)]}
    question = (await alice.submit("/surveys/list/bulk", form)).text
    assert "Archive 2 surveys?" in question
    assert "<strong>1</strong> response stays" in question
    assert "1 of the 3 selected stays as it is: 1 is a draft, which is not asked." in question
    assert "btn-danger" in question
    assert (await alice.submit("/surveys/list/bulk", {**form, "confirmed": "1", "number": "2"})).status_code == 303
    assert await statuses(database) == {"Lunch": "archived", "Trip": "draft", "Doors": "archived"}
    again = (await alice.submit("/surveys/list/bulk", {**form, "action": "publish"})).text
    assert "1 response was given before; who gave one is not asked again." in again


@pytest.mark.parametrize(
    ("anonymous", "says", "never"),
    [
        (0, "publishing again undoes it: same versions", "closed for good"),
        (1, "1 anonymous survey is closed for good", "Answers stay as they are"),
        (2, "2 anonymous surveys are closed for good", "undoes it"),
    ],
)
async def test_archiving_many_undoes_nothing_for_anonymous_ones(
    database: Database, alice: Browser, anonymous: int, says: str, never: str
) -> None:
    rows = [await asked(database, title=f"Survey {number}") for number in range(2)]
    async with database.transaction() as db:
        which = Survey.id.in_([one.id for one in rows[:anonymous]])
        await db.execute(update(Survey).where(which).values(anonymity="anonymous"))
    form = {"action": "archive", "id": [str(one.id) for one in rows]}
    question = squeezed((await alice.submit("/surveys/list/bulk", form)).text)
    assert says in question
    assert never not in question


async def test_only_drafts_of_the_filter_are_deleted(database: Database, alice: Browser) -> None:
    await made(database, title="Trip one")
    await made(database, title="Trip two")
    await asked(database, title="Trip three")
    await made(database, title="Doors")
    form = {"action": "delete", "all": "1"}
    question = (await alice.submit("/surveys/list/bulk?q=trip", form)).text
    assert "Delete 2 drafts?" in question
    assert "<strong>2</strong> questions go with them" in question
    await alice.submit("/surveys/list/bulk?q=trip", {**form, "confirmed": "1", "number": "2"})
    assert await statuses(database) == {"Trip three": "published", "Doors": "draft"}
    assert (await acts_in_audit(database)).count("survey.delete") == 2


async def test_a_bulk_act_needs_a_selection_and_an_act_that_there_is(database: Database, alice: Browser) -> None:
    await made(database)
    assert (await alice.submit("/surveys/list/bulk", {"action": "publish"})).status_code == 422
    for act in ("duplicate", "explode", ""):
        assert (await alice.submit("/surveys/list/bulk", {"action": act, "all": "1"})).status_code == 404


async def test_boxes_and_bulk_acts_are_for_the_person_who_may(database: Database, vera: Browser, eve: Browser) -> None:
    stored = await asked(database)
    await asked(database, "globex")
    assert "data-bulk" not in (await vera.get("/surveys/list")).text
    for act in ("publish", "archive", "delete"):
        chosen = {"action": act, "id": str(stored.id), "confirmed": "1", "number": "1"}
        assert (await vera.submit("/surveys/list/bulk", chosen)).status_code == 403
    assert await statuses(database) == {"Lunch": "published"}
    await set_ceiling(database, "none")
    shown = (await eve.get("/surveys/list")).text
    assert [act for act in ("publish", "archive", "delete") if f'name="action" value="{act}"' in shown] == ["archive"]
    for act, status in (("publish", 403), ("delete", 403), ("archive", 303)):
        chosen = {"action": act, "all": "1", "confirmed": "1", "number": "1"}
        assert (await eve.submit("/surveys/list/bulk", chosen)).status_code == status
    assert (await statuses(database), await statuses(database, "globex")) == (
        {"Lunch": "published"}, {"Lunch": "archived"},
    )  # fmt: skip


async def test_a_long_act_ends_when_the_ceiling_falls(
    database: Database, parts: Parts, eve: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    await set_ceiling(database, "full")
    await made(database, "globex", title="Doors")
    await made(database, "globex", title="Lunch")
    act_id = await begin(eve, "/surveys/list/bulk", {"action": "delete", "all": "1"})
    await set_ceiling(database, "none")
    await carry_on(parts, act_id, "globex")
    async with database.transaction("globex") as db:
        over = await read(db, act_id)
    assert (
        over.problem == "This workspace can't make surveys: its authoring ceiling is “none”. The platform can raise it."
    )
    assert over.looked_at == 0
    assert len(await statuses(database, "globex")) == 2


async def test_a_long_act_of_a_deactivated_tenant_continues_once_it_is_active_again(
    database: Database, parts: Parts, eve: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    await set_ceiling(database, "full")
    await made(database, "globex", title="Doors")
    act_id = await begin(eve, "/surveys/list/bulk", {"action": "delete", "all": "1"})
    async with database.transaction() as db:
        await tenants.deactivate(db, SYSTEM, "globex")
    for _ in range(3):
        async with database.shared_transaction() as db:
            taken = select(Job.id).where(Job.name == "long_act", Job.status == "queued")
            job_id = (await db.scalars(taken)).one()
            await db.execute(update(Job).where(Job.id == job_id).values(status="running"))
        await carry_on(parts, act_id, "globex")
        async with database.transaction("globex") as db:
            assert (await read(db, act_id)).finished_at is None
            await db.execute(update(Job).where(Job.id == job_id).values(status="done"))
    async with database.transaction() as db:
        await tenants.activate(db, SYSTEM, "globex")
    await carry_on(parts, act_id, "globex")
    async with database.transaction("globex") as db:
        over = await read(db, act_id)
    assert (over.problem, over.done) == (None, 1)
    assert await statuses(database, "globex") == {}
