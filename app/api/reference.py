"""Prepares an OpenAPI document for its page: endpoints, parameters, fields, answers, errors and examples. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

Schema = Mapping[str, Any]
_UUID: Final = "0b6f2c1e-5d0a-4a3e-9a55-0c3b7f1de001"
_LONGEST_SAMPLE: Final = 40
# Examples use the first of these that fits the pattern of a text.
_SAMPLES: Final = (
    "2026-11-25",
    "2026-11-25T08:30:00Z",
    "2026-11-25T08:30:00",
    _UUID,
    "5f" * 32,
    "nps,number",
    "name@example.org",
    "text",
)
_KINDS: Final = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
    "null": "null",
}
_LEAST_TOLD, _MOST_TOLD = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class FieldLine:
    """A parameter, or a field of a body or an answer.
    `name` has dots between levels, and `[]` behind a list: `data[].id`."""

    name: str
    kind: str
    needed: bool
    about: str


@dataclass(frozen=True, slots=True)
class AnswerLine:
    status: str
    about: str


@dataclass(frozen=True, slots=True)
class EndpointShown:
    """`anchor` is its place on the page; `path` is what follows the server's address.
    `body` and `example_body` are empty for a GET."""

    anchor: str
    method: str
    path: str
    summary: str
    needs: str
    parameters: tuple[FieldLine, ...]
    body: tuple[FieldLine, ...]
    answer: tuple[FieldLine, ...]
    answers: tuple[AnswerLine, ...]
    example_body: str
    example_answer: str
    curl: str
    python: str


def endpoints(document: Schema) -> tuple[EndpointShown, ...]:
    """In the order of the document."""
    server = document["servers"][0]["url"]
    return tuple(
        _shown(document, server, path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )


def _shown(document: Schema, server: str, path: str, method: str, operation: Schema) -> EndpointShown:
    body = _json_of(operation.get("requestBody"))
    answers = operation["responses"]
    success = _json_of(next(one for status, one in answers.items() if status < "300"))
    example = example_of(document, body) if body else None
    asked = {one["name"]: example_of(document, one["schema"]) for one in operation["parameters"] if one["required"]}
    url = f"{server}{path}" + (f"?{urlencode(asked)}" if asked else "")
    return EndpointShown(
        anchor=operation["operationId"].replace("_", "-"),
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        needs=operation.get("description", ""),
        parameters=tuple(_parameter(document, one) for one in operation["parameters"]),
        body=tuple(_fields(document, body)) if body else (),
        answer=tuple(one for one in _fields(document, success) if one.name != "success") if success else (),
        answers=tuple(AnswerLine(status, one["description"]) for status, one in answers.items()),
        example_body=_pretty(example) if body else "",
        example_answer=_pretty(example_of(document, success)) if success else "",
        curl=_curl(method.upper(), url, example, signed=bool(operation["security"])),
        python=_python(method.upper(), url, example, signed=bool(operation["security"])),
    )


def _json_of(part: Schema | None) -> Schema | None:
    """The schema of a body or an answer in JSON."""
    found: Schema | None = (part or {}).get("content", {}).get("application/json", {}).get("schema")
    return found


def _parameter(document: Schema, one: Schema) -> FieldLine:
    about = one.get("description", "")
    if "default" in one["schema"]:
        about = f"{about} Without it: {one['schema']['default']}.".strip()
    return FieldLine(one["name"], kind_of(document, one["schema"]), one["required"], about)


def _fields(document: Schema, schema: Schema, before: str = "", seen: tuple[str, ...] = ()) -> Iterator[FieldLine]:
    """One line for each field, followed by the fields inside it. A type inside itself is not unfolded again."""
    name = schema.get("$ref", "")
    schema = _resolved(document, schema)
    needed = schema.get("required", ())
    for key, part in schema.get("properties", {}).items():
        path = f"{before}{key}"
        yield FieldLine(path, kind_of(document, part), key in needed, _resolved(document, part).get("description", ""))
        inner, mark = _inside(document, part)
        if inner.get("$ref") not in (*seen, name) or "$ref" not in inner:
            yield from _fields(document, inner, f"{path}{mark}.", (*seen, name))


def _inside(document: Schema, part: Schema) -> tuple[Schema, str]:
    """What is inside a field: an object, or the items of a list, with the mark of a list."""
    part = _not_null(document, part)
    held = _resolved(document, part)
    if held.get("type") == "array":
        return _not_null(document, held.get("items", {})), "[]"
    return part, ""


def _not_null(document: Schema, part: Schema) -> Schema:
    """Of several schemas the first that is an object or a list; otherwise the first that is not null."""
    kinds = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
    nested = [one for one in kinds if _resolved(document, one).get("type") in ("object", "array")]
    return next(iter(nested or kinds), part)


def _resolved(document: Schema, schema: Schema) -> Schema:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    return found


def kind_of(document: Schema, schema: Schema) -> str:
    """`text, up to 200 characters`, `whole number from 1 to 500`, `list (up to 50) of object`, `cloud or onprem`."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind_of(document, one) for one in schema["anyOf"]))
    schema = _resolved(document, schema)
    if words := [str(one) for one in schema.get("enum", ())]:
        return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    if schema.get("type") == "array":
        most = f" (up to {schema['maxItems']:,})" if "maxItems" in schema else ""
        return f"list{most} of {kind_of(document, schema.get('items', {}))}"
    return json.dumps(schema["const"]) if "const" in schema else _plain_kind(schema)


def _plain_kind(schema: Schema) -> str:
    match schema.get("type"):
        case None:
            return "any value"
        case "object":
            keys = schema.get("propertyNames", {}).get("enum")
            return f"object with the keys {', '.join(keys)}" if keys else "object"
        case "string":
            return _text_kind(schema)
        case kind:
            return _KINDS[kind] + _range(schema)


def _text_kind(schema: Schema) -> str:
    sample = _sample(schema)
    if sample != "text":
        return f"text such as {sample if len(sample) <= _LONGEST_SAMPLE else f'{sample[:8]}…'}"
    return f"text, up to {schema['maxLength']:,} characters" if "maxLength" in schema else "text"


def _range(schema: Schema) -> str:
    """Limits of the database are left out: they tell a reader nothing."""
    least, most = schema.get("minimum"), schema.get("maximum")
    least = least if least is not None and least > _LEAST_TOLD else None
    most = most if most is not None and most < _MOST_TOLD else None
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    return f", {least:,} or more" if least is not None else f", {most:,} or less" if most is not None else ""


def example_of(document: Schema, schema: Schema, seen: tuple[str, ...] = ()) -> Any:
    """A value that fits the schema. A type inside itself ends as an empty list, or null."""
    if "anyOf" in schema:
        kinds = [one for one in schema["anyOf"] if one.get("$ref") not in seen] or [{"type": "null"}]
        return example_of(document, kinds[0], seen)
    seen = (*seen, schema["$ref"]) if "$ref" in schema else seen
    schema = _resolved(document, schema)
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return [] if items.get("$ref") in seen else [example_of(document, items, seen)]
    if schema.get("type") == "object":
        keys = dict.fromkeys(schema.get("propertyNames", {}).get("enum", ()), schema.get("additionalProperties"))
        parts = {**schema.get("properties", {}), **keys}
        return {key: example_of(document, one, seen) for key, one in parts.items()}
    return _plain_example(schema)


def _plain_example(schema: Schema) -> Any:
    given = schema.get("const", next(iter(schema.get("enum", ())), schema.get("default")))
    if given is not None:
        return given
    values = {
        "string": _sample(schema),
        "integer": max(1, schema.get("minimum", 1)),
        "number": max(1, schema.get("minimum", 1)),
        "boolean": True,
    }
    return values.get(schema.get("type", ""))


def _sample(schema: Schema) -> str:
    if schema.get("format") == "uuid":
        return _UUID
    pattern, least, most = schema.get("pattern", ""), schema.get("minLength", 0), schema.get("maxLength", 2**31)
    fitting = (one for one in _SAMPLES if least <= len(one) <= most and re.search(pattern, one))
    return next(fitting, "text") if pattern else "text"


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _curl(method: str, url: str, body: Any, *, signed: bool) -> str:
    parts = ["curl"]
    if signed:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if method != "GET":
        parts.append(f"-X {method}")
    if body is not None:
        parts += ['-H "Content-Type: application/json"', f"-d '{json.dumps(body, ensure_ascii=False)}'"]
    return " \\\n  ".join([*parts, f'"{url}"'])


def _python(method: str, url: str, body: Any, *, signed: bool) -> str:
    headers = {"Content-Type": "application/json"} if body is not None else {}
    written = [f'"{name}": "{value}"' for name, value in headers.items()]
    written += ['"Authorization": f"Bearer {token}"'] if signed else []
    lines = ["import json", "import os", "import urllib.request", ""]
    lines += ['token = os.environ["TOKEN"]'] if signed else []
    lines += [f"body = {body!r}"] if body is not None else []
    data = ", data=json.dumps(body).encode()" if body is not None else ""
    lines += [
        "request = urllib.request.Request(",
        f'    "{url}", method="{method}", headers={{{", ".join(written)}}}{data}',
        ")",
        "with urllib.request.urlopen(request) as answer:",
        "    print(json.load(answer))",
    ]
    return "\n".join(line for line in lines if signed or line != "import os")
