"""The API reference: what it says of an endpoint, and that its examples are what the API takes and gives."""

import json
from typing import Any

import jsonschema_rs
import pytest

from app.api.reference import EndpointShown, endpoints, example_of, kind_of
from app.clock.api.routes import openapi_document as integration
from app.surveys.api.surveys import openapi_document as end_user

SERVER = "https://muster.example"
DOCUMENTS = (integration(SERVER), end_user(SERVER))
EVERY = [(document, one) for document in DOCUMENTS for one in endpoints(document)]


def wrong(document: dict[str, Any], schema: dict[str, Any], text: str) -> list[str]:
    validator = jsonschema_rs.validator_for({**schema, "components": document["components"]})
    return [str(error) for error in validator.iter_errors(json.loads(text))]


def called(document: dict[str, Any], path: str, method: str = "GET") -> EndpointShown:
    return next(one for one in endpoints(document) if (one.path, one.method) == (path, method))


@pytest.mark.parametrize(("document", "one"), EVERY, ids=[f"{one.method} {one.path}" for _, one in EVERY])
def test_examples_are_what_the_document_promises(document: dict[str, Any], one: EndpointShown) -> None:
    operation = document["paths"][one.path][one.method.lower()]
    success = next(answer for status, answer in operation["responses"].items() if status < "300")
    assert wrong(document, success["content"]["application/json"]["schema"], one.example_answer) == []
    if "requestBody" in operation:
        assert (
            wrong(document, operation["requestBody"]["content"]["application/json"]["schema"], one.example_body) == []
        )
    compile(one.python, one.anchor, "exec")


def test_every_endpoint_is_there_once_with_a_place_of_its_own() -> None:
    for document in DOCUMENTS:
        shown = endpoints(document)
        assert len(shown) == sum(map(len, document["paths"].values()))
        assert len({one.anchor for one in shown}) == len(shown)


def test_parameters_and_fields_are_told_in_words() -> None:
    punches = called(DOCUMENTS[0], "/api/v1/clock/transactions")
    told = {one.name: one for one in punches.parameters}
    assert told["per_page"].kind == "whole number from 1 to 500"
    assert told["per_page"].about == "Rows a page. Without it: 50."
    assert told["from"].kind == "text such as 2026-11-25"
    fields = {one.name: one.kind for one in punches.answer}
    assert fields["data[].emp_code"] == "text, up to 200 characters"
    assert fields["data[].terminal_sn"] == "text, up to 200 characters or null"
    assert punches.needs == "Needs the scope `clock:read`."


def test_curl_and_python_send_what_the_endpoint_needs() -> None:
    respond = called(DOCUMENTS[1], "/v1/api/me/surveys/respond", "POST")
    assert respond.curl.startswith('curl \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -X POST \\\n')
    assert respond.curl.endswith(f'"{SERVER}/v1/api/me/surveys/respond"')
    sign_in = called(DOCUMENTS[1], "/v1/api/auth/token", "POST")
    assert "TOKEN" not in sign_in.curl + sign_in.python
    assert "-X DELETE" in called(DOCUMENTS[1], "/v1/api/auth/token", "DELETE").curl


@pytest.mark.parametrize(
    ("schema", "kind", "example"),
    [
        ({"type": "integer", "minimum": 5}, "whole number, 5 or more", 5),
        ({"type": "integer", "minimum": -(2**40), "maximum": 3}, "whole number, 3 or less", 1),
        ({"type": "string", "enum": ["a", "b"]}, "a or b", "a"),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 3}, "list (up to 3) of true or false", [True]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text or null", "text"),
        ({"type": "string", "pattern": "^[0-9a-f]{64}$"}, "text such as 5f5f5f5f…", "5f" * 32),
        ({"propertyNames": {"enum": ["x"]}, "type": "object", "additionalProperties": {"type": "integer"}},
         "object with the keys x", {"x": 1}),
        ({"type": "string", "format": "uuid"}, "text such as 0b6f2c1e-5d0a-4a3e-9a55-0c3b7f1de001",
         "0b6f2c1e-5d0a-4a3e-9a55-0c3b7f1de001"),
        ({"type": "string", "enum": ["a", "b", "c"]}, "a, b or c", "a"),
        ({}, "any value", None),
    ],
)  # fmt: skip
def test_kinds_and_examples(schema: dict[str, Any], kind: str, example: Any) -> None:
    assert kind_of({}, schema) == kind
    assert example_of({}, schema) == example


def test_a_type_inside_itself_ends() -> None:
    tree = {
        "type": "object",
        "properties": {"below": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
    }
    document = {"components": {"schemas": {"Tree": tree}}}
    assert example_of(document, {"$ref": "#/components/schemas/Tree"}) == {"below": []}
