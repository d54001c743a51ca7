"""`respond`: the order of checks, one row for each person and version, replays, and whose ledger it is."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from msgspec import UNSET
from sqlalchemy import event, func, select, update

from app.db.session import Database
from app.parts import Parts
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import queue as asking
from app.surveys.asking import responding
from app.surveys.asking.responding import SentReply
from app.surveys.authoring.stored import Stored
from app.surveys.ledger import append as ledger
from app.surveys.ledger import chain
from app.surveys.ledger.answers import Given
from app.surveys.models import Response, Survey
from tests.direct import heard
from tests.surveys.asking.test_queue import eve, nora, publish
from tests.surveys.calling import App, by_transaction, refused, request_of, statements
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH, drafted, published

__all__ = ["eve", "nora"]
NOT_FOUND = (404, "survey_not_found")
SUPERSEDED = (409, "version_superseded")
NOT_ALLOWED = (409, "action_not_allowed")
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
CLOSED = {
    "archived": {"status": "archived"},
    "over": {"ends_at": YESTERDAY},
    "for others": {"user_types": ["client"]},
    "archived, with other words": {"status": "archived", "content_hash": "2" * 64},
}
TICKS = {"label": "Which?", "type": "multiple_choice", "options": ["A", "B", "C"]}


def key(survey: Stored, position: int = 0) -> Any:
    return survey.definition.questions[position].key


def warm(survey: Stored) -> tuple[str, tuple[Any, str]]:
    """An answer to its first question, a free text."""
    return "answer", (key(survey), "Warm")


async def rows(database: Database, workspace: str = "main") -> int:
    async with database.transaction(workspace) as db:
        return await db.scalar(select(func.count()).select_from(Response)) or 0


async def edit(database: Database, survey: Stored, **columns: Any) -> None:
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == survey.id).values(columns))


class TestWhatIsRecorded:
    @pytest.mark.parametrize(
        ("action", "status", "outcome"),
        [
            ("agree", "recorded", "agreed"),
            ("decline", "recorded", "declined"),
            ("opt_out", "opted_out", "opted_out"),
        ],
    )
    async def test_each_action_has_its_outcome(
        self, nora: App, database: Database, action: str, status: str, outcome: str
    ) -> None:
        survey = await publish(database, "Door", questions=[CONSENT])
        found = await nora.recorded(survey.uid, action)
        assert (found["status"], found["outcome"], found["version"]) == (status, outcome, 1)
        assert (found["survey"], len(found["receipt"]), found["snoozed_until"]) == (str(survey.uid), 64, None)
        assert found["recorded_at"].endswith("Z")
        assert await nora.titles() == []

    @pytest.mark.parametrize(
        ("action", "closing"), [("agree", "<p>Bye</p>"), ("decline", "<p>Bye</p>"), ("opt_out", None), ("snooze", None)]
    )
    async def test_the_author_has_the_last_word_after_an_answer(
        self, nora: App, database: Database, action: str, closing: str | None
    ) -> None:
        survey = await publish(database, "Door", questions=[CONSENT], closing_html="<p>Bye</p>")
        assert (await nora.recorded(survey.uid, action))["closing_html"] == closing
        assert (await nora.recorded(survey.uid, action))["closing_html"] == closing

    async def test_closing_words_of_another_version_follow_no_answer(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT], closing_html="<p>Bye</p>")
        await nora.recorded(survey.uid, *warm(survey))
        await edit(database, survey, version=2)
        again = await nora.recorded(survey.uid, *warm(survey), version=1)
        assert (again["status"], again["closing_html"]) == ("already_recorded", None)

    async def test_without_closing_words_there_are_none(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        assert (await nora.recorded(survey.uid, *warm(survey)))["closing_html"] is None

    async def test_answers_are_kept_with_where_they_came_from(
        self, nora: App, parts: Parts, database: Database
    ) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH, HOW_WAS_IT])
        await nora.recorded(survey.uid, "answer", (key(survey), "Good"), (key(survey, 1), "Warm"))
        async with database.transaction() as db:
            row = (await db.execute(select(Response.source, Response.prompted, Response.person))).one()
            kept = await ledger.recorded(db, parts.keys, survey.id, 1, row.person)
        assert (row.source, row.prompted) == ("api", False)
        assert kept
        assert [one.value for one in kept.answers] == ["Good", "Warm"]

    async def test_an_answer_without_a_single_value_is_refused(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        for told in ([], [(key(survey), " \n")], [(key(survey), None)]):
            answer = await nora.respond(survey.uid, "answer", *told)
            assert refused(answer) == (422, "invalid_answers")
            assert [detail["field"] for detail in answer.json()["error"]["details"]] == ["answers"]
        assert await rows(database) == 0

    async def test_a_reply_says_how_far_the_survey_came_before(self, nora: App, database: Database) -> None:
        first, second, third = [
            await publish(database, title, questions=[HOW_WAS_IT], enforcement="required")
            for title in ("First", "Second", "Third")
        ]
        await edit(database, third, status="archived")
        await nora.queue()
        await edit(database, third, status="published")
        for survey in (first, second, third):
            await nora.recorded(survey.uid, *warm(survey))
        async with database.transaction() as db:
            kept = (await db.execute(select(Response.prompted, Response.entry).order_by(Response.number))).all()
        said = [(row.prompted, chain.read(row.entry).shown) for row in kept]
        assert said == [(True, "first"), (False, "in_queue"), (False, "not_handed_out")]

    async def test_of_a_version_from_before_hand_outs_were_noted_it_is_not_known_that_none_went_out(
        self, nora: App, database: Database
    ) -> None:
        surveys = [
            await publish(database, f"Number {number}", questions=[HOW_WAS_IT], enforcement="required")
            for number in range(4)
        ]
        for survey in surveys[:3]:
            await edit(database, survey, unnoted_version=1)
        await edit(database, surveys[2], status="archived")
        await nora.queue()
        await edit(database, surveys[2], status="published")
        await edit(database, surveys[3], unnoted_version=1, version=2)
        for survey in surveys:
            await nora.recorded(survey.uid, *warm(survey))
        async with database.transaction() as db:
            kept = await db.scalars(select(Response.entry).order_by(Response.number))
            said = [chain.read(entry) for entry in kept]
        assert [one.was_shown for one in said] == ["first", "in_queue", "not_known", "not_handed_out"]
        assert said[2].shown is UNSET

    async def test_what_was_snoozed_without_being_shown_was_not_handed_out(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        await nora.recorded(survey.uid, "snooze")
        await nora.recorded(survey.uid, *warm(survey))
        async with database.transaction() as db:
            assert chain.read(await db.scalar(select(Response.entry)) or "").shown == "not_handed_out"

    async def test_what_is_not_promptable_is_still_answerable(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        await nora.recorded(survey.uid, "snooze")
        assert await nora.titles() == []
        assert (await nora.recorded(survey.uid, *warm(survey)))["status"] == "recorded"

    async def test_the_web_prompt_records_the_same_way(self, parts: Parts, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH])
        async with request_of(parts, "nora", 1) as ctx:
            assert (await asking.current(respondent_of(ctx), ctx)).item
            reply = SentReply(survey.uid, "answer", (Given(key(survey), "Bad"),), 1, survey.content_hash)
            answer = await responding.respond(respondent_of(ctx), ctx, reply, "web")
            await ctx.reopen()
            assert (await asking.current(respondent_of(ctx), ctx)).item is None
        assert (answer.status, answer.outcome) == ("recorded", "answered")


class TestASnooze:
    async def test_it_waits_for_the_surveys_hours(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", snooze_hours=2)
        until = datetime.fromisoformat((await nora.recorded(survey.uid, "snooze"))["snoozed_until"])
        assert abs(until - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=1)
        assert await rows(database) == 0

    async def test_a_second_one_gives_the_same_deadline(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch")
        found = [await nora.recorded(survey.uid, "snooze") for _ in range(2)]
        assert found[0] == found[1]
        assert (found[0]["status"], found[0]["receipt"], found[0]["outcome"]) == ("snoozed", None, None)

    async def test_many_at_once_give_one_deadline(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch")
        found = await asyncio.gather(*(nora.recorded(survey.uid, "snooze") for _ in range(10)))
        assert len({one["snoozed_until"] for one in found}) == 1


class TestTheOrderOfChecks:
    async def test_what_is_not_there_for_the_caller_is_404_before_any_answer_is_judged(
        self, nora: App, database: Database
    ) -> None:
        now = datetime.now(UTC)
        async with database.transaction() as db:
            hidden = [
                await drafted(db, title="Draft"),
                await published(db, title="Archived", status="archived"),
                await published(db, title="Over", ends_at=now - timedelta(seconds=1)),
                await published(db, title="To come", starts_at=now + timedelta(hours=1)),
                await published(db, title="Clients'", user_types=("client",)),
                await published(db, title="Acme's", tenants=("acme",)),
            ]
        for uid in (*(one.uid for one in hidden), uuid4()):
            wrong = await nora.respond(uid, "agree", (uuid4(), "nonsense"), version=7)
            assert refused(wrong) == NOT_FOUND, uid

    async def test_a_survey_of_another_workspace_is_404(self, nora: App, eve: App, database: Database) -> None:
        globex = await publish(database, "Globex's", workspace="globex", questions=[HOW_WAS_IT])
        acme = await publish(database, "Acme's", workspace="acme", questions=[HOW_WAS_IT])
        assert refused(await nora.respond(globex.uid)) == NOT_FOUND
        assert refused(await eve.respond(acme.uid)) == NOT_FOUND

    async def test_other_words_come_before_the_action_and_the_answers(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch")
        for named in ({"version": 2}, {"content_hash": "0" * 64}, {"version": 1, "content_hash": "0" * 64}):
            assert refused(await nora.respond(survey.uid, "agree", (uuid4(), 1), **named)) == SUPERSEDED
        good = {"version": 1, "content_hash": survey.content_hash}
        assert refused(await nora.respond(survey.uid, "agree", (uuid4(), 1), **good)) == NOT_ALLOWED

    async def test_the_action_comes_before_the_answers(self, nora: App, database: Database) -> None:
        required = await publish(database, "Required", enforcement="required")
        consent = await publish(database, "Door", questions=[CONSENT])
        for survey, action in (
            (required, "snooze"), (required, "opt_out"), (required, "agree"), (consent, "answer"),
        ):  # fmt: skip
            assert refused(await nora.respond(survey.uid, action, (uuid4(), "x"))) == NOT_ALLOWED, action
        answer = await nora.respond(required.uid, "snooze")
        assert "answer" in answer.json()["error"]["message"]

    async def test_answers_are_judged_last_and_named_by_question(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH, TICKS])
        unknown = uuid4()
        answer = await nora.respond(survey.uid, "answer", (unknown, "x"), (key(survey, 1), ["D"]))
        assert refused(answer) == (422, "invalid_answers")
        assert {detail["field"] for detail in answer.json()["error"]["details"]} >= {str(unknown)}
        assert await rows(database) == 0

    async def test_decline_snooze_and_opt_out_carry_no_answers(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Door", questions=[CONSENT, HOW_WAS_IT])
        for action in ("decline", "snooze", "opt_out"):
            answer = await nora.respond(survey.uid, action, (key(survey, 1), "because"))
            assert refused(answer) == (422, "invalid_answers"), action


class TestReplays:
    async def test_the_same_once_more_has_the_first_receipt(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Ticks", questions=[TICKS, HOW_WAS_IT])
        ticks, text = key(survey), key(survey, 1)
        first = await nora.recorded(survey.uid, "answer", (ticks, ["A", "C"]), (text, "Caf\u00e9"))
        for told in (
            [(ticks, ["A", "C"]), (text, "Café")],
            [(text, "Cafe\u0301"), (ticks, ["C", "A"])],
        ):
            again = await nora.recorded(survey.uid, "answer", *told)
            assert again == {**first, "status": "already_recorded"}
        assert await rows(database) == 1

    async def test_empties_are_no_difference(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Ticks", questions=[TICKS, HOW_WAS_IT])
        await nora.recorded(survey.uid, "answer", (key(survey), ["A"]), (key(survey, 1), None))
        again = await nora.recorded(survey.uid, "answer", (key(survey, 1), "  "), (key(survey), ["A"]))
        assert again["status"] == "already_recorded"

    async def test_anything_else_is_no_longer_pending(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH])
        await nora.recorded(survey.uid, "answer", (key(survey), "Good"))
        for action, told in (
            ("answer", [(key(survey), "Bad")]), ("answer", []), ("answer", [(key(survey), "Nonsense")]),
            ("snooze", []), ("opt_out", []), ("agree", []),
        ):  # fmt: skip
            assert refused(await nora.respond(survey.uid, action, *told)) == NOT_FOUND, (action, told)

    async def test_one_that_names_its_version_stands_whatever_was_published_since(
        self, nora: App, database: Database
    ) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        named = {"version": 1, "content_hash": survey.content_hash}
        first = await nora.recorded(survey.uid, *warm(survey), **named)
        await edit(database, survey, version=2, content_hash="2" * 64)
        assert await nora.recorded(survey.uid, *warm(survey), **named) == {**first, "status": "already_recorded"}
        assert await nora.recorded(survey.uid, *warm(survey), version=1) == {**first, "status": "already_recorded"}

    @pytest.mark.parametrize("since", CLOSED)
    async def test_one_that_names_its_version_stands_after_the_survey_has_ended(
        self, nora: App, database: Database, since: str
    ) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        first = await nora.recorded(survey.uid, *warm(survey))
        await edit(database, survey, **CLOSED[since])
        again = await nora.recorded(survey.uid, *warm(survey), version=1)
        assert again == {**first, "status": "already_recorded"}
        for reply in ({}, {"version": 1, "content_hash": "3" * 64}, {"version": 2}):
            assert refused(await nora.respond(survey.uid, *warm(survey), **reply)) == NOT_FOUND, reply
        assert refused(await nora.respond(survey.uid, "opt_out", version=1)) == NOT_FOUND

    async def test_one_that_differs_from_what_it_names_is_superseded(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        await nora.recorded(survey.uid, *warm(survey))
        await edit(database, survey, version=2, content_hash="2" * 64)
        named: dict[str, Any]
        for action, named in (
            ("opt_out", {"version": 1}), ("answer", {"version": 3}),
            ("answer", {"version": 1, "content_hash": "3" * 64}), ("answer", {"content_hash": survey.content_hash}),
        ):  # fmt: skip
            told = warm(survey)[1:] if action == "answer" else ()
            assert refused(await nora.respond(survey.uid, action, *told, **named)) == SUPERSEDED, (action, named)

    async def test_a_corrected_text_does_not_undo_the_retry(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
        named = {"version": 1, "content_hash": survey.content_hash}
        await nora.recorded(survey.uid, *warm(survey), **named)
        await edit(database, survey, content_hash="2" * 64)
        assert (await nora.recorded(survey.uid, *warm(survey), **named))["status"] == "already_recorded"
        assert (await nora.recorded(survey.uid, *warm(survey)))["status"] == "already_recorded"

    async def test_of_many_at_once_one_is_recorded_and_all_have_its_receipt(
        self, nora: App, database: Database
    ) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH])
        found = await asyncio.gather(*(nora.recorded(survey.uid, "answer", (key(survey), "Good")) for _ in range(20)))
        assert sorted(one["status"] for one in found) == ["already_recorded"] * 19 + ["recorded"]
        assert len({one["receipt"] for one in found}) == 1
        assert await rows(database) == 1

    async def test_of_many_different_ones_at_once_the_losers_come_too_late(self, nora: App, database: Database) -> None:
        survey = await publish(database, "Lunch", questions=[LUNCH])
        choices = ["Good", "Bad"] * 5
        sent = [nora.respond(survey.uid, "answer", (key(survey), choice)) for choice in choices]
        found = [answer.status_code for answer in await asyncio.gather(*sent)]
        assert sorted(found) == [200] * 5 + [404] * 5
        assert await rows(database) == 1


class TestTwoWorkspaces:
    async def test_answers_to_the_platforms_surveys_stand_in_its_ledger(self, eve: App, database: Database) -> None:
        platform = await publish(database, "Platform", questions=[HOW_WAS_IT])
        own = await publish(database, "Own", workspace="globex", questions=[HOW_WAS_IT])
        await eve.recorded(platform.uid, *warm(platform))
        assert (await rows(database), await rows(database, "globex")) == (1, 0)
        await eve.recorded(own.uid, *warm(own))
        assert (await rows(database), await rows(database, "globex")) == (1, 1)
        assert (await eve.recorded(platform.uid, *warm(platform)))["status"] == "already_recorded"

    async def test_a_refusal_on_the_platform_keeps_nothing(self, eve: App, database: Database) -> None:
        platform = await publish(database, "Platform", questions=[LUNCH])
        assert refused(await eve.respond(platform.uid)) == (422, "invalid_answers")
        assert await rows(database) == 0

    async def test_more_tenants_at_once_than_connections_all_get_their_turn(self, eve: App, database: Database) -> None:
        platform = await publish(database, "Platform", questions=[HOW_WAS_IT])
        async with asyncio.timeout(8):  # waiting for a connection is given up after ten seconds
            found = await asyncio.gather(*(eve.recorded(platform.uid, *warm(platform)) for _ in range(30)))
        assert len({one["receipt"] for one in found}) == 1


async def test_a_reply_needs_four_statements(nora: App, database: Database) -> None:
    surveys = [await publish(database, f"Lunch {number}", questions=[LUNCH]) for number in range(2)]
    await nora.recorded(surveys[0].uid, "answer", (key(surveys[0]), "Good"))  # makes the person's key
    with statements(database) as sent:
        await nora.recorded(surveys[1].uid, "answer", (key(surveys[1]), "Good"))
    assert by_transaction(sent) == [4]  # who asks, and what they were asked; to append, and to reach the disk


@pytest.mark.parametrize("which", ["the first reply", "its repetition"])
async def test_no_receipt_is_given_before_its_row_is_on_the_disk(nora: App, database: Database, which: str) -> None:
    survey = await publish(database, "Lunch", questions=[LUNCH])
    reply = (survey.uid, "answer", (key(survey), "Good"))
    if which == "its repetition":
        await nora.recorded(*reply)
    waited: list[str] = []

    def executed(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        waited.append(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", executed)
    try:
        with heard(database, waited.append):
            await nora.recorded(*reply)
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", executed)
    assert "pg_logical_emit_message" in waited[-1]
