"""The vendored browser files: unmodified, licensed, and exactly what the templates name."""

import json
import re
import shutil
from pathlib import Path

import pytest

from app import vendor
from app.web.marks import UnknownIcon, icon
from app.web.transport import assets

TEMPLATES = [*(vendor.ROOT / "templates").rglob("*.html")]
ICON = re.compile(r"""\bicon\(\s*["']([a-z0-9/-]+)["']""")
ASSET = re.compile(r"""\basset\(\s*["']([^"'~]+\.\w+)["']\s*\)""")


def test_every_vendored_file_is_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert vendor.main(["--check"]) == 0
    assert "as published" in capsys.readouterr().out


def test_an_unknown_argument_is_refused_before_anything_is_fetched() -> None:
    assert vendor.main(["--chekc"]) == 2


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    home = tmp_path / "vendor"
    shutil.copytree(vendor.BROWSER, home)
    return home


def test_a_changed_byte_is_found(copy: Path) -> None:
    target = copy / "htmx.org@2.0.11" / "htmx.min.js"
    target.write_bytes(target.read_bytes() + b"\n")
    assert vendor.differences(copy) == ["htmx.org@2.0.11/htmx.min.js: changed"]


def test_a_missing_file_and_one_too_many_are_found(copy: Path) -> None:
    (copy / "htmx.org@2.0.11" / "LICENSE").unlink()
    (copy / "htmx.org@2.0.11" / "extra.js").write_text("alert(1)")
    assert vendor.differences(copy) == [
        "htmx.org@2.0.11/LICENSE: missing",
        "htmx.org@2.0.11/extra.js: not in the manifest",
    ]


def test_a_vendor_folder_without_a_manifest_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    assert vendor.differences(tmp_path / "vendor") == ["vendor/manifest.json is missing"]


@pytest.mark.parametrize("package", vendor.PACKAGES, ids=lambda package: package.name)
def test_every_package_lies_there_in_its_version_with_its_licence(package: vendor.Package) -> None:
    licences = [*package.folder.glob("LICENSE*")]
    assert licences
    assert all(len(path.read_text(encoding="utf-8")) > 300 for path in licences)
    for name in package.files:
        assert (package.folder / name.removeprefix("dist/")).is_file(), name


def test_a_package_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    package = vendor.Package("left", "1.0.0", ("LICENSE", "gone.js"), tmp_path / "home")
    (tmp_path / "LICENSE").write_text("free")
    with pytest.raises(vendor.VendorProblem, match=r"left@1\.0\.0 has no file gone\.js"):
        vendor.copy_files(package, tmp_path)


def test_a_scoped_package_lives_in_a_flat_folder() -> None:
    assert vendor.Package("@tabler/core", "1.6.1", ()).folder.name == "tabler-core@1.6.1"


def test_every_static_file_that_a_template_names_exists() -> None:
    named = {path for template in TEMPLATES for path in ASSET.findall(template.read_text(encoding="utf-8"))}
    assert "js/theme.js" in named
    assert {*assets.BUNDLES} - {"icons.svg"} <= named
    assert assets.address("icons.svg") in icon("plus")
    for path in named:
        assert assets.asset(path).bodies[""], path


def test_every_vendored_file_that_a_template_names_is_in_the_manifest() -> None:
    manifest = json.loads((vendor.BROWSER / "manifest.json").read_text(encoding="utf-8"))
    named = {path for template in TEMPLATES for path in ASSET.findall(template.read_text(encoding="utf-8"))}
    named |= {*assets.SHEETS, *assets.LIBRARIES}
    vendored = {path.removeprefix("vendor/") for path in named if path.startswith("vendor/")}
    assert len(vendored) >= 5
    assert vendored - manifest.keys() == set()


def test_every_icon_that_a_template_names_is_vendored() -> None:
    named = {name for template in TEMPLATES for name in ICON.findall(template.read_text(encoding="utf-8"))}
    assert "search" in named
    for name in sorted(named):
        assert icon(name).startswith("<svg ")


def test_every_vendored_icon_is_named_somewhere() -> None:
    sources = [*TEMPLATES, *vendor.ROOT.glob("app/**/*.py"), *vendor.ROOT.glob("tests/gallery/**/*.[hp]*")]
    quoted = {
        name for path in sources for name in re.findall(r"[\"'/]([a-z0-9-]+)[\"']", path.read_text(errors="replace"))
    }
    assert set(vendor.ICONS) - quoted == set()


def test_an_icon_is_silent_unless_it_has_a_label() -> None:
    assert 'aria-hidden="true"' in icon("fingerprint")
    labelled = icon("fingerprint", 'Finger "print"')
    assert 'role="img" aria-label="Finger &#34;print&#34;"' in labelled
    assert "aria-hidden" not in labelled


def test_the_sprite_draws_every_icon_once_and_carries_no_style_and_no_script() -> None:
    text = assets.asset("icons.svg").bodies[""].decode()
    drawn = {one["id"]: one for one in _symbols(text)}
    assert len(drawn) == text.count("<symbol") == len(vendor.ICONS) + len(vendor.FILLED_ICONS)
    for name in (*vendor.ICONS, *(f"filled/{name}" for name in vendor.FILLED_ICONS)):
        shown = re.search(r'href="[^"#]+#([^"]+)"', icon(name))
        assert shown
        assert drawn[shown[1]]["drawing"], name
    assert not re.search(r"\sstyle=|<script|\son[a-z]+=|href=", text)


def test_an_icon_takes_its_colour_from_the_words_around_it() -> None:
    """Where it stands says whether lines or areas have it (`.icon` in muster.css)."""
    text = assets.asset("icons.svg").bodies[""].decode()
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', text)) <= {"currentColor", "none"}
    assert 'class="icon icon-filled star-off"' in icon("filled/star", extra="star-off")
    assert 'class="icon"' in icon("star")


def _symbols(text: str) -> list[re.Match[str]]:
    return [*re.finditer(r'<symbol id="(?P<id>[^"]+)" viewBox="0 0 24 24">(?P<drawing>.*?)</symbol>', text)]


@pytest.mark.parametrize("name", ["no-such-icon", "../../../LICENSE", ""])
def test_an_unknown_icon_is_an_error_that_says_where_to_look(name: str) -> None:
    with pytest.raises(UnknownIcon, match="icons"):
        icon(name)
