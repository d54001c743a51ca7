"""What is left of Tabler's sheet when the rules for classes that no page has are gone."""

import re

import pytest

from app.web.transport.assets import STATIC, TABLER, asset
from app.web.transport.needed import classes, needed, written_in_pages
from tests.gallery.site import PAGES, render

SHEET = (STATIC / TABLER).read_text()
_NAME = re.compile(r"\.((?:\\.|[A-Za-z_-])(?:\\.|[\w-])*)")


def named(css: str) -> set[str]:
    """The classes that selectors of a sheet name."""
    return {name.replace("\\", "") for head in re.findall(r"([^{}]*)\{", css) for name in _NAME.findall(head)}


def without_rules(had: set[str]) -> set[str]:
    """Classes of a page that Tabler's sheet knows, and the bundle does not."""
    return had & named(SHEET) - named(asset("muster.css").bodies[""].decode())


@pytest.mark.parametrize(
    ("sheet", "left"),
    [
        (".card{a:b}.modal{a:b}p{a:b}", ".card{a:b}p{a:b}"),
        (".modal,.card,p>.card:hover{a:b}", ".card,p>.card:hover{a:b}"),
        (".card .modal{a:b}", ""),
        (".alert-info{a:b}.alerts{a:b}", ".alert-info{a:b}"),
        (".w-1\\/2{a:b}.w-1\\/3{a:b}", ".w-1\\/2{a:b}"),
        (".card:not(.modal){a:b}", ".card:not(.modal){a:b}"),
        (".card:is(.modal,.x:not(:hover)) p,.modal{a:b}", ".card:is(.modal,.x:not(:hover)) p{a:b}"),
        ("@media print{.card{a:b}.modal{a:b}}", "@media print{.card{a:b}}"),
        ("@media print{.modal{a:b}}", ""),
        ("@keyframes x{0%{a:b}to{a:b}}", "@keyframes x{0%{a:b}to{a:b}}"),
        ("@font-face{a:b}[data-x=dark]{a:b}", "@font-face{a:b}[data-x=dark]{a:b}"),
        ('@charset "UTF-8";:root{a:b}', '@charset "UTF-8";:root{a:b}'),
    ],
)
def test_a_rule_stays_when_a_page_may_have_all_of_its_classes(sheet: str, left: str) -> None:
    assert needed(sheet, {"card", "w-1/2"}, ("alert-",)) == left


def test_where_pages_have_every_class_nothing_is_left_out() -> None:
    assert needed(SHEET, {name for head in re.findall(r"([^{}]*)\{", SHEET) for name in classes(head)}, ()) == SHEET


def test_no_page_of_the_gallery_lacks_a_class() -> None:
    found = " ".join(re.findall(r'class="([^"]*)"', "".join(render(f"/{name}") for name in PAGES)))
    assert without_rules(set(found.split())) == set()


def test_most_of_the_sheet_is_left_out() -> None:
    left = needed(SHEET, *written_in_pages())
    assert len(left) < len(SHEET) / 3
    assert {"btn-primary", "alert-danger", "visually-hidden", "form-check-input"} <= named(left)
    assert not {"carousel", "offcanvas-header", "navbar-brand"} & named(left)
