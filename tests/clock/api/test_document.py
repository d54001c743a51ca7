"""The OpenAPI documents of both APIs, as strict a reader as there is takes them:
what they name is there, and fits itself."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from app.clock.api.routes import openapi_document as integration
from app.clock.codes import BindingState
from app.clock.outcomes import Outcome
from app.clock.profiles import RESOURCES
from app.surveys.api.surveys import openapi_document as end_user

BASE_URL = "http://testserver"
DOCUMENTS = {"integration": integration(BASE_URL), "end-user": end_user(BASE_URL)}


@pytest.fixture(params=DOCUMENTS)
def document(request: pytest.FixtureRequest) -> Any:
    return DOCUMENTS[request.param]


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(one)


def test_every_default_fits_its_own_schema(document: Any) -> None:
    for node in nodes(document):
        if "default" in node:
            schema = {key: value for key, value in node.items() if key != "default"}
            jsonschema_rs.validator_for({**schema, "components": document["components"]}).validate(node["default"])


def test_every_schema_is_one(document: Any) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_every_reference_leads_somewhere(document: Any) -> None:
    names = document["components"]["schemas"]
    wanted = [node["$ref"] for node in nodes(document) if "$ref" in node]
    assert {one.removeprefix("#/components/schemas/") for one in wanted} == set(names)


def test_no_operation_has_anothers_name(document: Any) -> None:
    named = [node["operationId"] for node in nodes(document["paths"]) if "operationId" in node]
    assert len(set(named)) == len(named)


# What bounds each kind of value; a fuzzer finds nothing where there is no bound.
BOUNDS = {
    "string": {"maxLength", "enum", "const", "format"},
    "integer": {"maximum", "enum"},
    "number": {"maximum", "enum"},
    "array": {"maxItems"},
    "object": {"properties", "propertyNames"},
}


def test_every_field_is_bounded(document: Any) -> None:
    """Contract: "Every field in both is bounded (lengths, ranges, enums, formats)".
    Also what stands outside the components."""
    kinds = [node for node in nodes(document) if isinstance(node.get("type"), str)]
    assert [node for node in kinds if node["type"] in BOUNDS and not BOUNDS[node["type"]] & set(node)] == []


def test_the_keys_of_every_mapping_are_the_fixed_words() -> None:
    schemas = DOCUMENTS["integration"]["components"]["schemas"]
    status, run = schemas["Status"]["properties"], schemas["RunRow"]["properties"]
    words = {
        "bindings": set(BindingState), "outcomes": set(Outcome), "counts": set(RESOURCES), "resources": set(RESOURCES),
        "import": set(Outcome),
    }  # fmt: skip
    mappings = {**status, **run}
    assert {name: set(mappings[name]["propertyNames"]["enum"]) for name in words} == words
    assert {name: mappings[name].get("minProperties") for name in words} == {
        "bindings": len(BindingState), "outcomes": len(Outcome), "counts": len(RESOURCES), "resources": None, "import": None,
    }  # fmt: skip
