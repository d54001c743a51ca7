"""What a person answered, in the end-user API: the list, withdrawing an agreement, and giving it again;
no one else's."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import text

from app.accounts import policies
from app.accounts.audit import SYSTEM
from app.db.session import Database
from app.parts import Parts
from app.surveys import erasing
from app.surveys.authoring.stored import Stored
from app.surveys.erasing import EvidenceOwner
from app.surveys.results import tallies, tally_marks
from app.surveys.results.tallies import TallyScope
from tests.surveys import authored
from tests.surveys.api.test_surveys import fits
from tests.surveys.asking.test_queue import eve, nora, publish
from tests.surveys.asking.test_responding import edit, key
from tests.surveys.authored import archive, save
from tests.surveys.calling import App, refused
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH
from tests.surveys.recording import user_id, verify

__all__ = ["eve", "nora"]
ANSWERS = "/v1/api/me/responses"
NOT_ALLOWED = (409, "action_not_allowed")


async def badges(database: Database, workspace: str = "main") -> Stored:
    return await publish(
        database, "Badges", workspace=workspace, type="consent", questions=[CONSENT, LUNCH | {"required": False}]
    )


async def change(app: App, receipt: str, act: str) -> Any:
    return await app.post(f"{ANSWERS}/{receipt}/{act}", {})


async def standings(app: App) -> list[str]:
    return [one["standing"] for one in (await app.get(ANSWERS)).json()["data"]]


async def changes(database: Database, workspace: str = "main") -> list[str]:
    async with database.transaction(workspace) as db:
        return list(await db.scalars(text("SELECT kind FROM survey_changes ORDER BY number")))


# --- the list


async def test_a_row_has_the_words_that_the_person_saw_and_what_they_said(nora: App, database: Database) -> None:
    survey = await publish(
        database, "Lunch", message="<p>Be <strong>honest</strong>.</p>", questions=[LUNCH, HOW_WAS_IT]
    )
    told = await nora.recorded(survey.uid, "answer", (key(survey), "Good"), version=1)
    await save(database, survey, title="Dinner", message="<p>Other.</p>", new_version=True)
    answer = await nora.get(ANSWERS)
    fits(answer, "GET", ANSWERS)
    assert answer.json()["meta"] == {"page": 1, "per_page": 50, "total": 1, "pages": 1}
    (row,) = answer.json()["data"]
    assert row == {
        "receipt": told["receipt"],
        "survey": str(survey.uid),
        "version": 1,
        "content_hash": survey.content_hash,
        "type": "feedback",
        "title": "Lunch",
        "message_html": "<p>Be <strong>honest</strong>.</p>",
        "message_text": "Be honest.",
        "questions": [
            {
                "question": str(key(survey)), "label": "How was lunch?", "type": "single_choice", "options": ["Good", "Bad"],
                "answered": True, "value": "Good",
            },
            {
                "question": str(key(survey, 1)), "label": "How was it?", "type": "free_text", "options": [], "answered": False,
                "value": None,
            },
        ],
        "outcome": "answered",
        "standing": "answered",
        "recorded_at": told["recorded_at"],
        "source": "api",
        "changes": [],
        "can": [],
    }  # fmt: skip


async def test_pages_are_cut_newest_first_over_both_ledgers(eve: App, database: Database) -> None:
    for number, workspace in enumerate(["globex", "main", "globex", "main", "main"]):
        survey = await publish(database, f"S{number}", workspace=workspace)
        await eve.recorded(survey.uid, "answer", (key(survey), "Good"))
    pages = [(await eve.get(f"{ANSWERS}?per_page=2&page={page}")).json() for page in (1, 2, 3, 4)]
    assert [[row["title"] for row in one["data"]] for one in pages] == [["S4", "S3"], ["S2", "S1"], ["S0"], []]
    assert {one["meta"]["total"] for one in pages} == {5}
    assert refused(await eve.get(f"{ANSWERS}?per_page=101")) == (422, "invalid_parameter")
    assert refused(await eve.get(f"{ANSWERS}?survey=x")) == (422, "invalid_parameter")


async def test_only_the_switch_of_the_module_closes_it(nora: App, database: Database) -> None:
    every = dict.fromkeys(("me_surveys", "me_surveys_respond", "web_prompts"), False)
    async with database.transaction() as db:
        await policies.write(db, "main", every)
    assert (await nora.get(ANSWERS)).status_code == 200
    async with database.transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    for answer in (await nora.get(ANSWERS), await change(nora, "0" * 64, "withdraw")):
        assert refused(answer) == (404, "module_unavailable")


async def test_the_texts_of_an_erased_person_are_gone(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
    await nora.recorded(survey.uid, "answer", (key(survey), "Warm"))
    await erasing.erase(database, SYSTEM, EvidenceOwner(await user_id(database, "nora"), "nora@example.org", "main"))
    (row,) = (await nora.get(ANSWERS)).json()["data"]
    assert (row["questions"][0]["answered"], row["questions"][0]["value"]) == (True, None)


@pytest.mark.parametrize(("action", "outcome"), [("agree", "agreed"), ("decline", "declined")])
async def test_an_agreement_question_is_answered_by_the_decision(
    nora: App, database: Database, action: str, outcome: str
) -> None:
    survey = await badges(database)
    await nora.recorded(survey.uid, action)
    answer = await nora.get(ANSWERS)
    fits(answer, "GET", ANSWERS)
    (row,) = answer.json()["data"]
    told = [(one["type"], one["answered"], one["value"]) for one in row["questions"]]
    assert (row["outcome"], told) == (outcome, [("agreement", True, None), ("single_choice", False, None)])


# --- withdrawing


async def test_an_agreement_is_withdrawn_and_given_again(nora: App, database: Database) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    withdrawn = await change(nora, receipt, "withdraw")
    fits(withdrawn, "POST", f"{ANSWERS}/{{receipt}}/withdraw")
    told = withdrawn.json()["data"]
    assert (told["status"], told["standing"], told["receipt"]) == ("recorded", "withdrawn", receipt)
    (row,) = (await nora.get(ANSWERS)).json()["data"]
    assert (row["outcome"], row["standing"], row["can"]) == ("agreed", "withdrawn", ["agree"])
    assert row["changes"] == [
        {"change": "withdrawn", "recorded_at": told["changed_at"], "source": "api", "receipt": told["change_receipt"]}
    ]
    again = (await change(nora, receipt, "agree")).json()["data"]
    assert (again["status"], again["standing"]) == ("recorded", "agreed")
    (row,) = (await nora.get(ANSWERS)).json()["data"]
    assert (row["standing"], row["can"], len(row["changes"])) == ("agreed", ["withdraw"], 2)
    assert (await verify(database, "main")).rows == 3


async def test_twice_answers_the_first_change(nora: App, database: Database) -> None:
    survey = await badges(database)
    said = await nora.recorded(survey.uid, "agree")
    receipt = said["receipt"]
    never_withdrawn = (await change(nora, receipt, "agree")).json()["data"]
    assert (never_withdrawn["status"], never_withdrawn["change_receipt"]) == ("already_recorded", receipt)
    for act in ("withdraw", "agree"):
        first, second = [(await change(nora, receipt, act)).json()["data"] for _ in range(2)]
        assert second == {**first, "status": "already_recorded"}
    assert await changes(database) == ["withdrawn", "agreed_again"]


async def test_the_person_is_not_asked_again_and_a_retry_of_respond_answers_the_first_row(
    nora: App, database: Database
) -> None:
    survey = await badges(database)
    said = await nora.recorded(survey.uid, "agree", version=1)
    await change(nora, said["receipt"], "withdraw")
    assert (await nora.queue())["data"] == []
    assert await nora.recorded(survey.uid, "agree", version=1) == {**said, "status": "already_recorded"}
    assert refused(await nora.respond(survey.uid, "decline")) == (404, "survey_not_found")
    assert await standings(nora) == ["withdrawn"]


async def test_only_an_agreement_is_withdrawn(nora: App, database: Database) -> None:
    lunch, other = await publish(database, "Lunch"), await badges(database)
    for survey, said in ((lunch, ("answer", (key(lunch), "Good"))), (other, ("decline",))):
        receipt = (await nora.recorded(survey.uid, *said))["receipt"]
        for act in ("withdraw", "agree"):
            assert refused(await change(nora, receipt, act)) == NOT_ALLOWED
    assert await changes(database) == []


async def test_somebody_elses_receipt_is_not_found(nora: App, eve: App, database: Database) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    await eve.recorded(survey.uid, "decline")  # so that the ledger knows her
    assert refused(await change(eve, receipt, "withdraw")) == (404, "not_found")
    assert await standings(eve) == ["declined"]
    for odd in ("0" * 64, receipt.upper(), receipt[:-1], "x", "%00"):
        assert (await change(nora, odd, "withdraw")).status_code == 404, odd
    assert await changes(database) == []


async def test_a_tenants_person_withdraws_what_they_told_the_platform(eve: App, database: Database) -> None:
    survey = await badges(database)
    receipt = (await eve.recorded(survey.uid, "agree"))["receipt"]
    assert (await change(eve, receipt, "withdraw")).json()["data"]["standing"] == "withdrawn"
    assert (await standings(eve), await changes(database), await changes(database, "globex")) == (
        ["withdrawn"], ["withdrawn"], [],
    )  # fmt: skip
    assert (await verify(database, "main")).fits


@pytest.mark.parametrize("body", ['{"a": 1}', "[]", "nothing", '"x"'])
async def test_a_body_that_says_something_is_refused(nora: App, database: Database, body: str) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    headers = {**nora.headers, "Content-Type": "application/json"}
    answer = await nora.browser.post(f"{ANSWERS}/{receipt}/withdraw", content=body, headers=headers)
    assert refused(answer) == (422, "invalid_body")
    without = await nora.browser.post(f"{ANSWERS}/{receipt}/withdraw", headers=nora.headers)
    assert without.status_code == 200


CLOSED = {
    "archived": {"status": "archived"},
    "over": {"ends_at": datetime.now(UTC) - timedelta(days=1)},
    "not begun": {"starts_at": datetime.now(UTC) + timedelta(days=1)},
    "for others": {"user_types": ["client"]},
    "for another tenant": {"tenants": ["acme"]},
    "a newer version": {"version": 2},
    "removed": {"deleted_at": datetime.now(UTC)},
}


@pytest.mark.parametrize("columns", CLOSED.values(), ids=CLOSED)
async def test_withdrawing_is_always_possible_and_agreeing_again_only_while_it_is_asked(
    nora: App, database: Database, columns: dict[str, Any]
) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    await edit(database, survey, **columns)
    assert (await change(nora, receipt, "withdraw")).status_code == 200
    answer = await change(nora, receipt, "agree")
    assert refused(answer) == NOT_ALLOWED
    assert "can’t agree" in answer.json()["error"]["message"]
    (row,) = (await nora.get(ANSWERS)).json()["data"]
    assert (row["standing"], row["can"]) == ("withdrawn", [])


async def test_evidence_of_a_change_goes_with_the_person_and_counts_among_what_goes(
    nora: App, database: Database
) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    await change(nora, receipt, "withdraw")
    person = EvidenceOwner(await user_id(database, "nora"), "nora@example.org", "main")
    held = await erasing.held(database, person)
    assert held.changes == 1
    assert "IP address and browser of 1 change of agreements can no longer be read." in held.goes
    await erasing.erase(database, SYSTEM, person)
    assert (await erasing.held(database, person)).changes == 0
    await change(nora, receipt, "agree")
    assert (await erasing.held(database, person)).changes == 1
    assert (await verify(database, "main")).fits


# --- at the same time, and in every order


async def test_two_tabs_leave_one_change(nora: App, database: Database) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    told = await asyncio.gather(*(change(nora, receipt, "withdraw") for _ in range(6)))
    said = [one.json()["data"] for one in told]
    assert sorted(one["status"] for one in said) == ["already_recorded"] * 5 + ["recorded"]
    assert len({one["change_receipt"] for one in said}) == 1
    assert await changes(database) == ["withdrawn"]


async def test_to_and_fro_at_once_beside_a_new_version_and_an_erasure_leave_one_chain(
    nora: App, database: Database
) -> None:
    survey = await badges(database)
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    person = EvidenceOwner(await user_id(database, "nora"), "nora@example.org", "main")
    told = await asyncio.gather(
        *(change(nora, receipt, act) for act in ("withdraw", "agree") * 4),
        save(database, survey, new_version=True),
        erasing.erase(database, SYSTEM, person),
    )
    assert {one.status_code for one in told[:8]} <= {200, 409}
    kinds = await changes(database)
    assert kinds == ["withdrawn", "agreed_again"] * (len(kinds) // 2) + ["withdrawn"] * (len(kinds) % 2)
    verdict = await verify(database, "main")
    assert (verdict.problem, verdict.rows) == (None, 1 + len(kinds))


STEPS = ("withdraw", "agree", "new version", "archive", "publish")


async def take(step: str, nora: App, parts: Parts, survey: Stored, receipt: str) -> int | None:
    """The status of what the person did; None for what an author or administrator did."""
    database = parts.database
    now = await authored.read(database, survey.uid)
    match step:
        case "withdraw" | "agree":
            return int((await change(nora, receipt, step)).status_code)
        case "new version" if now.status == "published":
            await save(database, now, new_version=True)
        case "archive":
            await archive(database, now)
        case "publish":
            await authored.publish(database, now)
        case "erase":
            nora_id = await user_id(database, "nora")
            await erasing.erase(database, SYSTEM, EvidenceOwner(nora_id, "nora@example.org", "main"))
    return None


async def counted(database: Database, survey: Stored) -> dict[str, int]:
    async with database.transaction() as db:
        return {outcome: people for _, outcome, people in await tallies.by_day(db, TallyScope(survey.id, 1))}


async def test_every_order_of_what_can_happen_leaves_the_chain_whole(
    nora: App, parts: Parts, database: Database
) -> None:
    """All 120 orders, with an erasure at each place in turn:
    a model says what stands, what is refused, and what is counted."""
    expected = 0
    for number, steps in enumerate(permutations(STEPS)):
        order = [*steps]
        order.insert(number % (len(STEPS) + 1), "erase")
        survey = await badges(database)
        receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
        expected += 1
        standing, asked, version = "agreed", True, 1
        for step in order:
            status = await take(step, nora, parts, survey, receipt)
            if step == "withdraw":
                assert status == 200, order
                expected += standing == "agreed"
                standing = "withdrawn"
            elif step == "agree":
                may = standing == "agreed" or (asked and version == 1)
                assert status == (200 if may else 409), order
                expected += may and standing == "withdrawn"
                standing = "agreed" if may else standing
            elif step == "new version":
                version += asked
            elif step in ("archive", "publish"):
                asked = step == "publish"
        assert await counted(database, survey) == {standing: 1}, order
    verdict = await verify(database, "main")
    assert (verdict.problem, verdict.rows) == (None, expected)
    async with database.transaction() as db:
        while await tally_marks.count_up(db):
            pass
    assert (await verify(database, "main")).fits
