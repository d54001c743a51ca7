"""The end-user API as a mobile app meets it: shapes, bodies, switches, and the document they all fit."""

import gzip
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonschema_rs
import pytest

from app.accounts import policies
from app.db.session import Database
from app.surveys.api.surveys import ENDPOINTS, openapi_document
from tests.command_line import CommandLine
from tests.conftest import Browser
from tests.host.library import publish_app
from tests.host.signing_in import PASSWORD, give_password
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.asking.test_responding import key
from tests.surveys.calling import QUEUE, RESPOND, App, refused
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH

__all__ = ["nora"]
DOCUMENT = openapi_document("http://testserver")
SWITCHES = {
    "me_surveys": ("GET", QUEUE),
    "me_surveys_respond": ("POST", RESPOND),
    "me_apps": ("GET", "/v1/api/me/apps"),
    "me_app_rating": ("POST", "/v1/api/me/app-rating"),
}
NUL = "a\\u0000b"
TOKEN, MINE = "/v1/api/auth/token", "/v1/api/me/responses"


def fits(answer: Any, method: str, path: str) -> None:
    """Fails where the answer is not what the document says of it."""
    described = DOCUMENT["paths"][path][method.lower()]["responses"][str(answer.status_code)]
    schema = described["content"]["application/json"]["schema"]
    jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).validate(answer.json())


async def test_a_row_of_the_queue_has_exactly_the_fields_of_the_contract(nora: App, database: Database) -> None:
    survey = await publish(
        database, "Badges", type="consent", enforcement="required", message="<p>Read <b>this</b>.</p>",
        category="Doors", questions=[CONSENT, LUNCH],
    )  # fmt: skip
    answer = await nora.get(QUEUE)
    fits(answer, "GET", QUEUE)
    (row,) = answer.json()["data"]
    assert set(row) == {
        "survey", "version", "content_hash", "type", "enforcement", "title", "message_html", "message_text", "category",
        "ends_at", "actions", "questions",
    }  # fmt: skip
    assert (row["survey"], row["version"], row["content_hash"]) == (str(survey.uid), 1, survey.content_hash)
    assert (row["title"], row["category"], row["ends_at"]) == ("Badges", "Doors", None)
    assert (row["message_html"], row["message_text"]) == ("<p>Read this.</p>", "Read this.")
    assert row["actions"] == ["agree", "decline"]
    assert row["questions"][1] == {
        "question": str(key(survey, 1)), "label": "How was lunch?", "type": "single_choice", "options": ["Good", "Bad"],
        "required": True,
    }  # fmt: skip


async def test_every_answer_of_respond_fits_the_document(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", questions=[LUNCH])
    for status, action, told in (
        (422, "answer", []), (409, "agree", []), (200, "snooze", []), (200, "answer", [(key(survey), "Good")]),
        (200, "answer", [(key(survey), "Good")]), (404, "opt_out", []), (422, "dance", []),
    ):  # fmt: skip
        answer = await nora.respond(survey.uid, action, *told)
        assert answer.status_code == status, answer.text
        fits(answer, "POST", RESPOND)


class TestBodies:
    @pytest.mark.parametrize(
        ("body", "fields"),
        [
            ("{}", {"survey", "action"}),
            ('{"survey": "x", "action": "answer"}', {"survey"}),
            ('{"survey": "$", "action": "dance"}', {"action"}),
            ('{"survey": "$", "action": "answer", "answer": [], "Version": 1}', {"answer", "Version"}),
            ('{"survey": "$", "action": "answer", "version": 1.0}', {"version"}),
            ('{"survey": "$", "action": "answer", "version": "1"}', {"version"}),
            ('{"survey": "$", "action": "answer", "version": true}', {"version"}),
            ('{"survey": "$", "action": "answer", "version": 0}', {"version"}),
            ('{"survey": "$", "action": "answer", "answers": {}}', {"answers"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "1", "value": 1}]}', {"answers.0.question"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$"}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"value": 1}]}', {"answers.0.question"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": ["$"], "value": 1}]}', {"answers.0.question"}),
            ('{"survey": "$", "action": "answer", "answers": [1]}', {"answers.0"}),
            ('{"survey": "x", "action": "dance", "answers": [{"question": "$", "value": {}}]}', {"survey", "action", "$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": ["a", 1]}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": ["a", "a"]}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": [{"row": 5}]}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": true}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": {}}]}', {"$"}),
            ('{"survey": "$", "action": "answer", "answers": [{"question": "$", "value": 1, "x": 1}]}', {"$"}),
            (f'{{"survey": "$", "action": "answer", "answers": [{{"question": "$", "value": "{NUL}"}}]}}', {"$"}),
            (f'{{"survey": "$", "action": "answer", "content_hash": "{NUL}"}}', {"content_hash"}),
        ],
    )  # fmt: skip
    async def test_what_is_wrong_is_named_all_at_once(self, nora: App, body: str, fields: set[str]) -> None:
        uid = str(uuid4())
        answer = await self._send(nora, body.replace("$", uid))
        assert refused(answer) == (422, "invalid_body")
        named = [detail["field"] for detail in answer.json()["error"]["details"]]
        assert sorted(named) == sorted(one.replace("$", uid) for one in fields)
        fits(answer, "POST", RESPOND)

    @pytest.mark.parametrize(
        "body",
        [
            "", "[]", "1", "null", "{", '{"survey": NaN}', '{"action": "answer", "action": "answer"}',
            '{"survey": "$", "action": "answer", "answers": [{"question": "$", "question": "$", "value": 1}]}',
            '{"action": "\\ud800"}', "[" * 500,
        ],
    )  # fmt: skip
    async def test_what_is_not_a_strict_json_object_is_refused(self, nora: App, body: str) -> None:
        assert refused(await self._send(nora, body)) == (422, "invalid_body")

    async def test_invalid_utf_8_is_refused(self, nora: App) -> None:
        assert refused(await self._send(nora, b'{"action": "\xff"}')) == (422, "invalid_body")

    @pytest.mark.parametrize("form", ["{0.hex}", "{{{0}}}", "urn:uuid:{0}", "{0}\\n", "{0} ", "{0.int}"])
    async def test_a_uuid_is_written_in_one_form_alone(self, nora: App, form: str) -> None:
        odd = form.format(uuid4())
        for body, field in (
            (f'{{"survey": "{odd}", "action": "answer"}}', "survey"),
            (f'{{"survey": "{uuid4()}", "action": "answer", "answers": [{{"question": "{odd}", "value": 1}}]}}', "answers.0.question"),
        ):  # fmt: skip
            answer = await self._send(nora, body)
            assert refused(answer) == (422, "invalid_body")
            assert [detail["field"] for detail in answer.json()["error"]["details"]] == [field]

    async def test_what_a_question_would_take_in_another_measure_is_told_at_the_question(
        self, nora: App, database: Database
    ) -> None:
        survey = await publish(database, "Lunch", questions=[HOW_WAS_IT, {"label": "Stars?", "type": "star_rating"}])
        text, stars = key(survey), key(survey, 1)
        for question, value in ((stars, 2**70), (stars, "4"), (text, "x" * 30_000), (text, 4), (text, ["a"] * 1)):
            answer = await nora.respond(survey.uid, "answer", (question, value))
            assert refused(answer) == (422, "invalid_answers"), value
            assert [detail["field"] for detail in answer.json()["error"]["details"]] == [str(question)]

    async def test_a_question_or_an_option_twice_is_refused_before_the_survey_is_looked_up(self, nora: App) -> None:
        question = uuid4()
        for told in ([(question, 1), (question, 2)], [(question, ["A", "A"])]):
            answer = await nora.respond(uuid4(), "answer", *told)
            assert refused(answer) == (422, "invalid_body")
            assert [detail["field"] for detail in answer.json()["error"]["details"]] == [str(question)]

    async def test_64_kib_are_taken_and_no_byte_more(self, nora: App) -> None:
        for size, wanted in ((64 * 1024, (404, "survey_not_found")), (64 * 1024 + 1, (413, "too_large"))):
            body = f'{{"survey": "{uuid4()}", "action": "answer"}}'.ljust(size)
            answer = await self._send(nora, body)
            assert refused(answer) == wanted
            fits(answer, "POST", RESPOND)

    async def test_a_large_body_without_a_length_is_cut_off(self, nora: App) -> None:
        async def chunks() -> Any:
            for _ in range(65):
                yield b" " * 1024

        assert refused(await self._send(nora, chunks())) == (413, "too_large")

    @pytest.mark.parametrize(
        ("kind", "status"),
        [
            ("application/json", 422), ("application/json; charset=utf-8", 422), ('Application/JSON;charset="UTF-8"', 422),
            ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("application/json; charset=utf-16", 415),
            ("", 415),
        ],
    )  # fmt: skip
    async def test_only_json_is_taken(self, nora: App, kind: str, status: int) -> None:
        answer = await self._send(nora, "{}", kind)
        assert answer.status_code == status
        fits(answer, "POST", RESPOND)

    @pytest.mark.parametrize(("encoding", "status"), [("gzip", 415), ("br", 415), ("identity", 422)])
    async def test_a_compressed_body_is_not_taken(self, nora: App, encoding: str, status: int) -> None:
        body = gzip.compress(b"{}") if encoding == "gzip" else b"{}"
        headers = {**nora.headers, "Content-Type": "application/json", "Content-Encoding": encoding}
        answer = await nora.browser.post(RESPOND, content=body, headers=headers)
        assert answer.status_code == status
        fits(answer, "POST", RESPOND)

    async def test_query_parameters_are_refused_by_name(self, nora: App) -> None:
        for answer in (
            await nora.get(f"{QUEUE}?page=1"),
            await nora.post(f"{RESPOND}?survey=1", {"survey": str(uuid4()), "action": "answer"}),
        ):
            assert refused(answer) == (422, "invalid_parameter")

    async def _send(self, app: App, body: Any, kind: str = "application/json") -> Any:
        content = body.encode() if isinstance(body, str) else body
        headers = {**app.headers, "Content-Type": kind}
        return await app.browser.post(RESPOND, content=content, headers=headers)


class TestWhoMay:
    @pytest.mark.parametrize("switch", [*SWITCHES, "module_surveys"])
    async def test_a_switch_that_is_off_hides_its_endpoint(self, nora: App, database: Database, switch: str) -> None:
        async with database.shared_transaction() as db:
            await policies.write(db, "main", {switch: False})
        for name, (method, url) in SWITCHES.items():
            answer = await nora.browser.request(method, url, headers=nora.headers, content=b"nonsense")
            off = refused(answer) == (404, "module_unavailable") if answer.status_code >= 400 else False
            assert off is (switch in (name, "module_surveys")), url

    async def test_the_switches_are_those_of_the_callers_own_workspace(
        self, visitor: Browser, token: Any, nora: App, database: Database
    ) -> None:
        async with database.shared_transaction() as db:
            await policies.write(db, "globex", {"me_surveys": False})
        eve = App(visitor, await token("eve", "me"))
        assert refused(await eve.get(QUEUE)) == (404, "module_unavailable")
        assert (await nora.get(QUEUE)).status_code == 200

    async def test_the_token_needs_the_scope(self, visitor: Browser, token: Any) -> None:
        bob = App(visitor, await token("bob", "clock:read"))
        assert refused(await bob.get(QUEUE)) == (403, "insufficient_scope")

    async def test_methods_that_are_not_offered_are_405(self, nora: App) -> None:
        answer = await nora.get(RESPOND)
        assert refused(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "OPTIONS, POST"
        answer = await nora.post(QUEUE, {})
        assert refused(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, OPTIONS"

    async def test_a_page_says_too_which_methods_it_takes(self, alice: Browser) -> None:
        fixed, of_one = await alice.get("/surveys/save"), await alice.get(f"/surveys/duplicate/{uuid4()}")
        assert (fixed.status_code, fixed.headers["allow"]) == (405, "OPTIONS, POST")
        assert (of_one.status_code, of_one.headers["allow"]) == (405, "OPTIONS, POST")


class TestTheDocument:
    async def test_it_needs_no_token(self, visitor: Browser) -> None:
        assert (await visitor.get("/v1/api/openapi.json")).json() == DOCUMENT

    def test_it_holds_every_endpoint_of_the_contract(self) -> None:
        assert {(one.method, one.path) for one in ENDPOINTS} == {
            *SWITCHES.values(), ("GET", f"{QUEUE}/open"), ("GET", f"{QUEUE}/count"), ("POST", TOKEN), ("DELETE", TOKEN),
            ("GET", MINE), ("POST", f"{MINE}/{{receipt}}/withdraw"), ("POST", f"{MINE}/{{receipt}}/agree"),
        }  # fmt: skip

    async def test_every_success_of_the_queue_and_of_respond_fits_it(self, nora: App, database: Database) -> None:
        lunch = await publish(database, "Lunch", questions=[HOW_WAS_IT, LUNCH], message="<p>Hello</p>")
        doors, gates = [await publish(database, title, questions=[CONSENT]) for title in ("Doors", "Gates")]
        fits(await nora.get(QUEUE), "GET", QUEUE)
        said = []
        for survey, action in (
            (lunch, "snooze"), (lunch, "opt_out"), (lunch, "opt_out"), (doors, "agree"), (doors, "agree"), (gates, "decline"),
        ):  # fmt: skip
            answer = await nora.respond(survey.uid, action)
            fits(answer, "POST", RESPOND)
            said.append((answer.status_code, answer.json()["data"]["status"], answer.json()["data"]["outcome"]))
        assert said == [
            (200, "snoozed", None), (200, "opted_out", "opted_out"), (200, "already_recorded", "opted_out"),
            (200, "recorded", "agreed"), (200, "already_recorded", "agreed"), (200, "recorded", "declined"),
        ]  # fmt: skip

    async def test_every_success_of_the_apps_and_of_the_token_fits_it(self, nora: App, database: Database) -> None:
        async with database.transaction() as db:
            app = await publish_app(db, "Clocky")
        (_, apps), (_, rate) = SWITCHES["me_apps"], SWITCHES["me_app_rating"]
        fits(await nora.get(apps), "GET", apps)
        rated = {"app": str(app), "rating": 5, "platform": "ios", "comment": "Good", "app_version": "1.0"}
        for status in (201, 409):
            answer = await nora.post(rate, rated)
            assert answer.status_code == status, answer.text
            fits(answer, "POST", rate)
        fits(await nora.get(apps), "GET", apps)
        await give_password(database, "nora")
        made = await nora.browser.post(TOKEN, json={"email": "nora@example.org", "password": PASSWORD})
        assert made.status_code == 201, made.text
        fits(made, "POST", TOKEN)
        bearer = {"Authorization": f"Bearer {made.json()['data']['token']}"}
        ended = await nora.browser.delete(TOKEN, headers=bearer)
        assert ended.status_code == 200, ended.text
        fits(ended, "DELETE", TOKEN)

    async def test_the_command_writes_it(self, tmp_path: Path) -> None:
        base_url = "https://muster.example"
        muster = CommandLine({"MUSTER_BASE_URL": base_url, "MUSTER_DATA_DIR": str(tmp_path)})
        wanted = openapi_document(base_url)
        assert (await muster("api:generate-spec")).json == wanted
        assert (await muster("api:generate-spec", "--json")).json == wanted
        written = await muster("api:generate-spec", "--output", tmp_path / "spec.json", "--json")
        assert written.json == {"output": str(tmp_path / "spec.json"), "api": "end-user"}
        assert json.loads((tmp_path / "spec.json").read_text()) == wanted
