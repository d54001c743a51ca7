"""The integration API under a fuzzer: whatever the document allows, or forbids,
gets a documented answer and never a fault."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from app.clock.api.routes import openapi_document
from app.db.session import Database
from tests.clock.api.test_routes import Caller, caller, week
from tests.surveys.drafted import published

__all__ = ["caller", "week"]
DOCUMENT = openapi_document("http://testserver")
PATHS = sorted(DOCUMENT["paths"])
QUIET = settings(
    max_examples=12, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def cases(path: str, mode: str) -> SearchStrategy[Any]:
    # Importing it takes a second, in every process that only collects these tests.
    import schemathesis
    from schemathesis.generation.modes import GenerationMode

    endpoint = schemathesis.openapi.from_dict(DOCUMENT)[path]["GET"]
    return endpoint.as_strategy(generation_mode=GenerationMode(mode))


def queries(path: str, mode: str) -> list[dict[str, Any]]:
    """Some query strings, drawn before any of them is sent: the application lives in the test's event loop."""
    found: list[dict[str, Any]] = []

    @QUIET
    @given(cases(path, mode))
    def draw(case: Any) -> None:
        found.append(dict(case.query or {}))

    draw()
    return found


@pytest.mark.usefixtures("week")
@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("path", PATHS)
async def test_every_answer_is_a_documented_one(caller: Caller, database: Database, path: str, mode: str) -> None:
    async with database.transaction() as db:
        survey = await published(db)
    # An endpoint without parameters has nothing to get wrong.
    drawn = queries(path, mode) if DOCUMENT["paths"][path]["get"]["parameters"] else [{}]
    responses = DOCUMENT["paths"][path]["get"]["responses"]
    for query in drawn:
        answer = await caller.get(path.replace("{uid}", str(survey.uid)), **query)
        assert str(answer.status_code) in responses, (query, answer.text)
        assert answer.status_code < 500, (query, answer.text)
        schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
        jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).validate(answer.json())
