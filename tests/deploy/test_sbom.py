"""The list of all parts: a valid document, in which nothing is missing that is pinned or vendored."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import cyclonedx.schema
import jsonschema_rs
import pytest

from app import vendor
from deploy import sbom
from tests.cluster import ROOT

PLACE = "http://cyclonedx.org/schema"
SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"


@cache
def written() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sbom.JsonV1Dot6(sbom.document()).output_as_string())
    return found


def by_purl() -> dict[str, dict[str, Any]]:
    return {one["purl"]: one for one in written()["components"]}


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.SNAPSHOT.schema.json").read_text())
    return found


def test_the_document_is_valid() -> None:
    # Under the addresses by which the document's schema names them.
    beside = [(f"{PLACE}/{name}.SNAPSHOT.schema.json", schema(name)) for name in ("spdx", "jsf-0.82")]
    registry = jsonschema_rs.Registry(beside)
    validator = jsonschema_rs.validator_for(schema("bom-1.6"), registry=registry)
    assert [error.message for error in validator.iter_errors(written())] == []
    assert not validator.is_valid(written() | {"components": [{"name": "no type"}]})


def test_every_locked_package_is_in_it_with_its_hashes() -> None:
    locked = re.findall(r"(?m)^([a-z0-9-]+)==([^ \n]+)", (ROOT / "requirements.lock").read_text())
    assert len(locked) > 40
    found = by_purl()
    assert [name for name, version in locked if not found.get(f"pkg:pypi/{name}@{version}", {}).get("hashes")] == []
    assert sum(one.startswith("pkg:pypi/") for one in found) == len(locked)


def test_every_vendored_folder_is_in_it_with_its_licence() -> None:
    said = {one["properties"][0]["value"]: one for one in written()["components"] if one["purl"].startswith("pkg:npm/")}
    folders = [path for home in (vendor.BROWSER, vendor.TESTS) for path in home.iterdir() if path.is_dir()]
    assert sorted(said) == sorted(path.relative_to(ROOT).as_posix() for path in folders)
    for folder, one in said.items():
        (licence,) = one["licenses"]
        assert (ROOT / folder / "LICENSE").read_text().strip() in licence["license"]["text"]["content"]


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("htmx.org", "Zero-Clause BSD"),
        ("idiomorph", "Zero-Clause BSD"),
        ("htmx-ext-sse", "BSD Zero Clause"),
        ("axe-core", "Mozilla Public License"),
        ("@fontsource-variable/inter", "SIL OPEN FONT LICENSE"),
        ("@tabler/core", "MIT License"),
        ("@tabler/icons", "MIT License"),
    ],
)
def test_the_name_of_a_licence_is_that_of_its_text(package: str, words: str) -> None:
    names = {
        "Zero-Clause BSD": "0BSD",
        "BSD Zero Clause": "0BSD",
        "MIT License": "MIT",
        "SIL OPEN FONT LICENSE": "OFL-1.1",
    }
    (one,) = (
        part for part in written()["components"] if "/".join(filter(None, (part.get("group"), part["name"]))) == package
    )
    licence = one["licenses"][0]["license"]
    assert words in licence["text"]["content"]
    assert licence["id"] == names.get(words, "MPL-2.0")


def test_what_only_tests_use_says_so() -> None:
    excluded = [one["name"] for one in written()["components"] if one["scope"] == "excluded"]
    assert excluded == ["axe-core"]


def test_nearly_every_part_names_a_licence() -> None:
    """Those without one are of another platform than this."""
    without = [one for one in written()["components"] if not one.get("licenses")]
    assert [one["purl"] for one in without if not one.get("properties")] == []


def test_the_embedded_postgresql_is_named() -> None:
    assert any(re.fullmatch(r"pkg:generic/postgresql@\d+\.\d+", one) for one in by_purl())
