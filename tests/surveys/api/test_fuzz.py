"""The end-user API under a fuzzer: whatever the document allows, or forbids,
gets a documented answer and never a fault."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from app.db.session import Database
from tests.surveys.api.test_surveys import DOCUMENT, fits
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.calling import App
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH

__all__ = ["nora"]
OPERATIONS = [(method.upper(), path) for path, methods in sorted(DOCUMENT["paths"].items()) for method in methods]
QUIET = settings(
    max_examples=15, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
NO_BODY = object()


def cases(method: str, path: str, mode: str) -> SearchStrategy[Any]:
    # Importing it takes a second, in every process that only collects these tests.
    import schemathesis
    from schemathesis.generation.modes import GenerationMode

    endpoint = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    return endpoint.as_strategy(generation_mode=GenerationMode(mode))


def drawn(method: str, path: str, mode: str) -> list[Any]:
    """Some bodies, drawn before any of them is sent: the application lives in the test's event loop."""
    from schemathesis.core import NotSet

    found: list[Any] = []

    @QUIET
    @given(cases(method, path, mode))
    def draw(case: Any) -> None:
        found.append(NO_BODY if isinstance(case.body, NotSet) else case.body)

    draw()
    assert found
    return found


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize(("method", "path"), [one for one in OPERATIONS if one[0] == "POST"])
async def test_every_answer_is_a_documented_one(
    nora: App, database: Database, method: str, path: str, mode: str
) -> None:
    survey = await publish(database, "Badges", questions=[CONSENT, LUNCH, HOW_WAS_IT])
    for body in drawn(method, path, mode):
        for sent in (body, _aimed(body, survey.uid)):
            answer = await _send(nora, path, sent)
            assert answer.status_code < 500, (sent, answer.text)
            fits(answer, method, path)
            assert mode == "positive" or sent is not body or answer.status_code >= 400, (sent, answer.text)


@pytest.mark.parametrize(("method", "path"), [one for one in OPERATIONS if one[0] != "POST"])
async def test_so_is_every_answer_without_a_body(nora: App, method: str, path: str) -> None:
    answer = await nora.browser.request(method, path, headers=nora.headers)
    assert answer.status_code == 200
    fits(answer, method, path)


async def _send(app: App, path: str, body: Any) -> Any:
    if body is NO_BODY or isinstance(body, bytes):
        content = b"" if body is NO_BODY else body
        headers = {**app.headers, "Content-Type": "application/json"}
        return await app.browser.post(path, content=content, headers=headers)
    return await app.post(path, body)


def _aimed(body: Any, survey: Any) -> Any:
    """The same body at a survey that there is: what is drawn never hits one."""
    return {**body, "survey": str(survey)} if isinstance(body, dict) and isinstance(body.get("survey"), str) else body
