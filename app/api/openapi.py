"""OpenAPI 3.1 documents, built from the structs that the endpoints themselves read and write, so that they always
agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from app.api.bodies import LARGEST_BODY
from app.api.parameters import MOST_PER_PAGE

REF = "#/components/schemas/{name}"
EVERY_ENDPOINT = (401, 403, 404, 422, 429, 500, 503)
POSTED = (*EVERY_ENDPOINT, 408, 409, 413, 415)
REASONS = {
    200: "Success.",
    201: "Made.",
    401: "The token is missing, unknown, expired or revoked.",
    403: "The token lacks the scope, or its owner the permission.",
    404: "There is no such thing here, or the module is switched off.",
    408: "The request took too long to arrive.",
    409: "The action does not fit the current state.",
    413: f"The body is larger than {LARGEST_BODY // 1024} KiB.",
    415: "The body is not application/json, or is compressed.",
    422: "A parameter, or the body, is wrong; `details` names each field.",
    429: "Too many requests; see Retry-After.",
    500: "Server error; the message is the request id.",
    503: "The database can't be reached, did not answer in time, or has no connection free. `Retry-After` says when to try again.",
}


Sentence = Annotated[str, msgspec.Meta(max_length=1000)]


class ErrorDetail(msgspec.Struct):
    field: Sentence
    message: Sentence


class ErrorBody(msgspec.Struct):
    code: Sentence
    message: Sentence
    details: Annotated[list[ErrorDetail], msgspec.Meta(max_length=200)] | msgspec.UnsetType = msgspec.UNSET


class Failure(msgspec.Struct):
    """The failure envelope."""

    success: bool
    error: ErrorBody


@dataclass(frozen=True)
class Endpoint:
    """One operation. `data` is the type of the envelope's `data`, `meta` the type of its `meta` on lists, `body` that
    of a POST, `in_path` the schemas of the names in braces in the path."""

    method: str
    path: str
    summary: str
    data: Any
    parameters: type[msgspec.Struct] | None = None
    meta: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    status: int = 200
    errors: Sequence[int] = field(default=EVERY_ENDPOINT)
    scope: str | None = None
    in_path: Mapping[str, Any] = field(default_factory=dict)


def paged(row: type[msgspec.Struct]) -> Any:
    """The type of a page of these rows."""
    return Annotated[list[row], msgspec.Meta(max_length=MOST_PER_PAGE)]  # type: ignore[valid-type]


def document(title: str, version: str, server: str, endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The whole document as JSON types."""
    kinds: list[Any] = [Failure]
    for one in endpoints:
        kinds += [kind for kind in (one.data, one.meta, one.body) if kind is not None]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REF)
    by_kind = dict(zip([repr(kind) for kind in kinds], schemas, strict=True))
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "license": {"name": "MIT", "identifier": "MIT"}},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "A token of Muster."}},
        },
    }


def _operation(one: Endpoint, by_kind: dict[str, Any]) -> dict[str, Any]:
    named = "".join("_" if letter in "/-" else letter for letter in one.path if letter not in "{}")
    in_path = [{"name": name, "in": "path", "required": True, "schema": schema} for name, schema in one.in_path.items()]
    operation: dict[str, Any] = {
        "operationId": f"{one.method.lower()}{named}",
        "summary": one.summary,
        "parameters": [*in_path, *_parameters(one.parameters)],
        "responses": {
            str(one.status): {"description": REASONS[one.status], "content": _json(_envelope(one, by_kind))},
            **{str(status): _failure(status, by_kind) for status in one.errors},
        },
        "security": [{"token": []}] if one.scope else [],
    }
    if one.scope:
        operation["description"] = f"Needs the scope `{one.scope}`."
    if one.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(by_kind[repr(one.body)])}
    return operation


def _envelope(one: Endpoint, by_kind: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {"success": {"const": True}, "data": by_kind[repr(one.data)]}
    if one.meta is not None:
        properties["meta"] = by_kind[repr(one.meta)]
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _failure(status: int, by_kind: dict[str, Any]) -> dict[str, Any]:
    failure = {"description": REASONS[status], "content": _json(by_kind[repr(Failure)])}
    if status == 429:  # noqa: PLR2004 -- the status 429
        failure["headers"] = {"Retry-After": {"schema": {"type": "integer", "minimum": 1, "maximum": 3600}}}
    return failure


def _parameters(kind: type[msgspec.Struct] | None) -> list[dict[str, Any]]:
    if kind is None:
        return []
    _, components = msgspec.json.schema_components([kind], ref_template=REF)
    properties = components[kind.__name__]["properties"]
    return [_parameter(name, schema) for name, schema in properties.items()]


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is left out, never null: the struct's default null is not a value that a caller may send."""
    choices = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    plain = {key: value for key, value in choices[0].items() if key not in ("default", "description")}
    described = choices[0].get("description") or schema.get("description", "")
    if schema.get("default") is not None:
        plain["default"] = schema["default"]
    return {"name": name, "in": "query", "required": False, "description": described, "schema": plain}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
