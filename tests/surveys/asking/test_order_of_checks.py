"""The order of checks in `respond`: each request is wrong in what its row names and in all that is judged
later, and what is judged first is what the answer says. Then the same for the form of the web prompt."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.config import Settings
from app.db.session import Database
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey
from tests.conftest import Browser, SignIn
from tests.surveys.asking.test_queue import publish
from tests.surveys.asking.test_responding import key
from tests.surveys.calling import QUEUE, RESPOND, App
from tests.surveys.drafted import LUNCH
from tests.surveys.pages.test_prompt import form, named

TOO_LARGE = b"{" * (64 * 1024 + 1)


@dataclass(frozen=True)
class Case:
    """`said`: what was recorded for version 1 before; `version` and `status` are what the survey has by then, `names`
    is the version that the reply names."""

    judged: str
    status: int
    code: str
    scope: str | None = "me"
    off: bool = False
    hurried: bool = False
    body: bytes = b""
    said: str | None = None
    survey: str = "published"
    version: int = 1
    names: int | None = None
    action: str = "answer"
    value: Any = "Good"


CASES = (
    Case("who calls", 401, "unauthorized", None, off=True, body=TOO_LARGE),
    Case("the scope", 403, "insufficient_scope", "clock:read", off=True, body=TOO_LARGE),
    Case("the switch", 404, "module_unavailable", off=True, hurried=True, body=TOO_LARGE),
    Case("the rate", 429, "rate_limited", hurried=True, body=TOO_LARGE),
    Case("the size", 413, "too_large", body=TOO_LARGE),
    Case("the shape", 422, "invalid_body", said="Good", survey="archived", names=1, value={"Good": 1}),
    Case("a repetition that names its version", 200, "already_recorded", said="Good", survey="archived", version=2, names=1),
    Case("whether it is asked", 404, "survey_not_found", survey="archived", names=9, action="agree", value="Nonsense"),
    Case("another reply by then, closed", 404, "survey_not_found", said="Good", survey="archived", names=1, value="Bad"),
    Case("the words", 409, "version_superseded", said="Good", version=2, names=1, action="agree", value="Nonsense"),
    Case("a repetition", 200, "already_recorded", said="Good"),
    Case("another reply by then", 404, "survey_not_found", said="Good", names=1, action="agree", value="Nonsense"),
    Case("the action", 409, "action_not_allowed", action="agree", value="Nonsense"),
    Case("the answers", 422, "invalid_answers", value="Nonsense"),
    Case("whether anything was answered", 422, "invalid_answers", value=" "),
    Case("nothing is wrong", 200, "recorded", names=1),
)  # fmt: skip
OF_THE_FORM = tuple(
    one for one in CASES if one.judged not in ("who calls", "the scope", "the switch", "the rate", "the size")
)
# What can no longer be answered makes way for the next item, so that is no error of the page.
IN_THE_PROMPT = {
    "already_recorded": (200, "That was recorded already"),
    "survey_not_found": (200, "no longer open, so nothing was recorded"),
    "version_superseded": (409, "The text was changed"),
    "action_not_allowed": (409, "does not take the action"),
    "invalid_body": (422, 'id="prompt-1-error"'),
    "invalid_answers": (422, 'id="prompt-1-error"'),
    "recorded": (200, "Your answer was recorded"),
}


@pytest.fixture
def settings(settings: Settings, case: Case) -> Settings:
    return replace(settings, api_rate=1 if case.hurried else 0)


@pytest.fixture
async def lunch(database: Database) -> Stored:
    return await publish(database, "Lunch", questions=[LUNCH])


async def come_about(database: Database, lunch: Stored, case: Case) -> None:
    """What happens between the reply that was recorded and the one that is judged."""
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == lunch.id).values(status=case.survey, version=case.version))
        if case.off:
            await policies.write(db, "main", {"me_surveys_respond": False})


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.judged)
async def test_the_api_judges_in_the_order_of_the_contract(
    visitor: Browser, database: Database, token: Any, lunch: Stored, case: Case
) -> None:
    nora = App(visitor, await token("nora", case.scope or "me"))
    if case.said:
        await nora.recorded(lunch.uid, "answer", (key(lunch), case.said))
    for _ in range(2 if case.hurried else 0):
        await nora.get(QUEUE)
    await come_about(database, lunch, case)
    named = {} if case.names is None else {"version": case.names}
    answers = [{"question": str(key(lunch)), "value": case.value}]
    told = {"survey": str(lunch.uid), "action": case.action, "answers": answers, **named}
    headers = {"Content-Type": "application/json", **(nora.headers if case.scope else {})}
    answer = await visitor.post(RESPOND, content=case.body or json.dumps(told), headers=headers)
    document = answer.json()
    code = document["data"]["status"] if document["success"] else document["error"]["code"]
    assert (answer.status_code, code) == (case.status, case.code), answer.text


@pytest.mark.parametrize("case", OF_THE_FORM, ids=lambda one: one.judged)
async def test_the_form_of_the_prompt_judges_in_the_same_order(
    sign_in: SignIn, database: Database, lunch: Stored, case: Case
) -> None:
    nora = await sign_in("nora")

    async def send(action: str, *values: str) -> Any:
        filled = form(lunch, action, {named(lunch, 0): list(values)}) | {"version": str(case.names or case.version)}
        return await nora.submit("/survey_prompt/submit", filled, headers={"HX-Request": "true"})

    if case.said:
        assert "Your answer was recorded" in (await send("answer", case.said)).text
    await come_about(database, lunch, case)
    # A form has texts alone: an answer that can't be read is one that came twice.
    answer = await send(case.action, *((case.value,) if isinstance(case.value, str) else ("Good", "Good")))
    status, shown = IN_THE_PROMPT[case.code]
    assert answer.status_code == status, answer.text
    assert shown in answer.text
