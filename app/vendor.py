"""Vendored browser files: which packages, which of their files, and the proof that they are unmodified.

`python -m app.vendor` fetches the pinned packages with npm and lays the named files under
`static/vendor/NAME@VERSION/`; `python -m app.vendor --check` compares every file with the manifest and needs no
network. Nothing here runs while the portal serves, and how a page uses the files is said elsewhere:
`templates/components/head.html`, `static/css/fonts.css`, `app/web/marks.py`.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BROWSER: Final = ROOT / "static" / "vendor"
TESTS: Final = ROOT / "tests" / "vendor"

# Every icon a page may name, one a line. A new one is added there, then `make vendor` copies its SVG file.
ICONS: Final = tuple((ROOT / "static" / "icons.txt").read_text(encoding="utf-8").split())
FILLED_ICONS: Final = ("circle-check", "star")
# The scripts whose letters are the same on every machine; static/css/fonts.css says which letters are in which file.
FONT_PARTS: Final = ("latin", "latin-ext", "vietnamese", "greek", "greek-ext", "cyrillic", "cyrillic-ext")

# The published package of Tabler has no licence file. Its package.json says MIT and the stylesheet's banner names whom.
TABLER_LICENCE: Final = """\
MIT License

Copyright 2018-2026 The Tabler Authors
Copyright 2018-2026 codecalm.net Paweł Kuna

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


@dataclass(frozen=True)
class Package:
    """One npm package at one version, the files taken from it (path in the package) and where they go."""

    name: str
    version: str
    files: tuple[str, ...]
    home: Path = BROWSER
    licence: str | None = None  # text to lay beside the files where the package itself carries none

    @property
    def folder(self) -> Path:
        """Target folder; a scope becomes a prefix, so `@tabler/core` lives in `tabler-core@1.6.1`."""
        return self.home / f"{self.name.lstrip('@').replace('/', '-')}@{self.version}"


PACKAGES: Final = (
    Package("htmx.org", "2.0.11", ("LICENSE", "dist/htmx.min.js")),
    Package("htmx-ext-sse", "2.2.4", ("LICENSE", "dist/sse.min.js")),
    Package("idiomorph", "0.8.0", ("LICENSE", "dist/idiomorph-ext.min.js")),
    Package("@tabler/core", "1.6.1", ("dist/css/tabler.min.css",), licence=TABLER_LICENCE),
    Package(
        "@tabler/icons",
        "3.51.0",
        (
            "LICENSE",
            *(f"icons/outline/{name}.svg" for name in ICONS),
            *(f"icons/filled/{name}.svg" for name in FILLED_ICONS),
        ),
    ),
    Package(
        "@fontsource-variable/inter",
        "5.3.0",
        ("LICENSE", *(f"files/inter-{part}-wght-normal.woff2" for part in FONT_PARTS)),
    ),
    Package("squire-rte", "2.4.8", ("LICENSE", "dist/squire.js")),
    Package("dompurify", "3.4.18", ("LICENSE", "dist/purify.min.js")),
    Package("axe-core", "4.14.1", ("LICENSE", "LICENSE-3RD-PARTY.txt", "axe.min.js"), TESTS),
)


class VendorProblem(Exception):
    """A package could not be fetched or lacks a file it should have."""


def main(arguments: list[str]) -> int:
    """Fetches everything, or with `--check` verifies; returns the exit status."""
    if arguments == ["--check"]:
        return report(differences(BROWSER) + differences(TESTS))
    if arguments:
        sys.stderr.write("usage: python -m app.vendor [--check]\n")
        return 2
    try:
        fetch_all()
    except VendorProblem as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return report(differences(BROWSER) + differences(TESTS))


def report(problems: list[str]) -> int:
    """Prints each problem; 0 when there is none."""
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write("vendored files differ from the manifest\n" if problems else "vendored files are as published\n")
    return 1 if problems else 0


def fetch_all() -> None:
    """Replaces both vendor folders by fresh copies and writes their manifests."""
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = {package: unpack(package, Path(scratch)) for package in PACKAGES}
        for home in (BROWSER, TESTS):
            shutil.rmtree(home, ignore_errors=True)
        for package, source in unpacked.items():
            copy_files(package, source)
    for home in (BROWSER, TESTS):
        write_manifest(home)


def unpack(package: Package, scratch: Path) -> Path:
    """Downloads one package with npm (which checks its integrity) and unpacks it; returns its folder."""
    into = scratch / package.folder.name
    into.mkdir()
    command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)  # noqa: S603 -- our own command line
    if done.returncode != 0:
        raise VendorProblem(f"npm could not fetch {package.name}@{package.version}: {done.stderr.strip()}")
    (archive,) = into.glob("*.tgz")
    shutil.unpack_archive(archive, into, filter="data")
    return into / "package"


def copy_files(package: Package, source: Path) -> None:
    """Copies the named files byte for byte; the folder `dist` is left out of the target path."""
    for name in package.files:
        if not (source / name).is_file():
            raise VendorProblem(f"{package.name}@{package.version} has no file {name}")
        target = package.folder / name.removeprefix("dist/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((source / name).read_bytes())
    if package.licence:
        (package.folder / "LICENSE").write_text(package.licence, encoding="utf-8")


def write_manifest(home: Path) -> None:
    """Writes `manifest.json`: path below the vendor folder to the SHA-256 of its bytes, sorted."""
    text = json.dumps(hashes(home), indent=1, sort_keys=True)
    (home / "manifest.json").write_text(text + "\n", encoding="utf-8")


def hashes(home: Path) -> dict[str, str]:
    """SHA-256 (hex) of every file below a vendor folder but the manifest itself."""
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path != home / "manifest.json"
    }


def differences(home: Path) -> list[str]:
    """What in a vendor folder is not as the manifest says: one sentence each, empty when all is well."""
    manifest = home / "manifest.json"
    if not manifest.is_file():
        return [f"{manifest.relative_to(home.parent)} is missing"]
    said: dict[str, str] = json.loads(manifest.read_text(encoding="utf-8"))
    found = hashes(home)
    return (
        [f"{name}: missing" for name in sorted(said.keys() - found.keys())]
        + [f"{name}: not in the manifest" for name in sorted(found.keys() - said.keys())]
        + [f"{name}: changed" for name in sorted(said.keys() & found.keys()) if said[name] != found[name]]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
