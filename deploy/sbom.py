"""`make sbom`: every part of Muster as one CycloneDX document, from what is pinned and vendored here. Needs no network.

Python packages are those of requirements.lock, with the hashes that they are installed by; their licences are read from what is installed.
Browser files are those of app/vendor.py, with the text of the licence that lies beside them. What only tests use is left out of both, except for
what is vendored, which says so. PostgreSQL, which comes inside a wheel, is named too.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import AttachedText, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from app import vendor
from app.db.cluster.home import bundled_binaries

ROOT = Path(__file__).resolve().parents[1]
_LOCKED = re.compile(
    r"(?m)^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?: ; (?P<where>.*?))? \\\n(?P<hashes>(?:    --hash=.*\n)+)"
)
_LONGEST_NAME = 80
_LICENCES, _HASHES = LicenseFactory(), HashTypeFactory()
# Words of older metadata, and what they are called in the list of SPDX.
_SPDX = {
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
# As the LICENSE beside the files says; all others are MIT.
_VENDORED = {
    "@fontsource-variable/inter": "OFL-1.1",
    "htmx.org": "0BSD",
    "htmx-ext-sse": "0BSD",
    "idiomorph": "0BSD",
    "axe-core": "MPL-2.0",
}


def document() -> Bom:
    """Everything that an installation of this version consists of."""
    muster = _component("muster", metadata.version("muster"), "pypi", kind=ComponentType.APPLICATION, licence="MIT")
    bom = Bom(
        components=[*_locked((ROOT / "requirements.lock").read_text(encoding="utf-8")), *_vendored(), _postgresql()]
    )
    bom.metadata.component = muster
    bom.register_dependency(muster, bom.components)
    return bom


def _locked(text: str) -> Iterator[Component]:
    for found in _LOCKED.finditer(text):
        made = _component(found["name"], found["version"], "pypi", licence=_licence_of(found["name"]))
        made.hashes.update(_HASHES.from_composite_str(one) for one in re.findall(r"--hash=(\S+)", found["hashes"]))
        if found["where"]:
            made.properties.add(Property(name="muster:where", value=found["where"]))
        yield made


def _licence_of(name: str) -> str | None:
    """None where the package is not installed on this platform."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    kinds = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith("License :: ")]
    named = about.get("License", "").partition("\n")[0].strip()
    found = about.get("License-Expression") or (named if 0 < len(named) < _LONGEST_NAME else " AND ".join(kinds))
    return _SPDX.get(found, found) or None


def _vendored() -> Iterator[Component]:
    for package in vendor.PACKAGES:
        scope = ComponentScope.EXCLUDED if package.home == vendor.TESTS else ComponentScope.REQUIRED
        made = _component(package.name, package.version, "npm", scope=scope)
        text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(package.folder.glob("LICENSE*")))
        name = _VENDORED.get(package.name, "MIT")
        made.licenses.add(DisjunctiveLicense(id=name, text=AttachedText(content=text)))
        made.properties.add(Property(name="muster:folder", value=package.folder.relative_to(ROOT).as_posix()))
        yield made


def _postgresql() -> Component:
    """The embedded one: the lock knows only the wheel that carries it."""
    program = bundled_binaries() / "postgres"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own wheel
    return _component("postgresql", said.split()[-1], "generic", licence="PostgreSQL")


def _component(
    name: str,
    version: str,
    registry: str,
    *,
    kind: ComponentType = ComponentType.LIBRARY,
    scope: ComponentScope = ComponentScope.REQUIRED,
    licence: str | None = None,
) -> Component:
    group, _, short = name.rpartition("/")
    purl = PackageURL(registry, group or None, short, version)
    return Component(
        type=kind,
        group=group or None,
        name=short,
        version=version,
        purl=purl,
        bom_ref=purl.to_string(),
        scope=scope,
        licenses=[_LICENCES.make_from_string(licence)] if licence else [],
    )


if __name__ == "__main__":
    sys.stdout.write(JsonV1Dot6(document()).output_as_string(indent=1) + "\n")
