"""Tags of languages: what a header asks for, and what a person gets of what there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import languages
from app.languages import LANGUAGES, TAGS, asked_for, best, direction, tag_of, wanted


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("", ()),
        ("de", ("de",)),
        ("de-at, de;q=0.9, en;q=0.8", ("de-AT", "de", "en")),
        ("en;q=0.2, fr;q=0.9", ("fr", "en")),
        ("EN-us , DE;Q=1.0", ("en-US", "de")),
        ("zh-hant-tw", ("zh-Hant-TW",)),
        ("*", ()),
        ("tr, *;q=0.1", ("tr",)),
        ("fr;q=0, ar", ("ar",)),
        ("fr;q=0.000", ()),
        ("fr;q=2, es", ("es",)),
        ("fr;q=, es", ("es",)),
        ("fr;quality=1, es", ("es",)),
        ("de;q=nan, es", ("es",)),
        (";;;,,, ,=", ()),
        ("d, 12, ab_CD, <script>, es", ("es",)),
        ("de, de-DE, de;q=0.3", ("de", "de-DE")),
        ("x" * 5000, ()),
        ("a" * 40, ()),
        (", ".join(["de"] * 20 + ["fr"]), ("de",)),
    ],
)
def test_a_header_is_read_best_first_and_bad_input_is_left_out(header: str, tags: tuple[str, ...]) -> None:
    assert asked_for(header) == tags


@given(st.text())
def test_no_header_breaks_anything(header: str) -> None:
    assert all(tag_of(tag) == tag for tag in asked_for(header))


@pytest.mark.parametrize(
    ("offered", "asked", "found"),
    [
        (("en", "de"), ("de-AT",), "de"),
        (("en", "DE"), ("de",), "DE"),
        (("en", "zh-Hant"), ("zh-Hant-TW",), "zh-Hant"),
        (("en", "de-CH"), ("de",), "en"),
        (("en", "de-CH"), ("de-AT",), "en"),
        (("en", "de", "fr"), ("ja", "fr-CA", "de"), "fr"),
        (("en", "zh"), ("zh-a-extended-b-more",), "zh"),
        (("en",), (), "en"),
        ((), ("de",), "en"),
    ],
)
def test_the_first_wanted_language_that_is_offered_is_found(
    offered: tuple[str, ...], asked: tuple[str, ...], found: str
) -> None:
    assert best(offered, asked, "en") == found


def test_the_address_is_before_the_choice_and_the_choice_before_the_browser() -> None:
    assert wanted("ar", "de", "tr, de") == ("ar", "de", "tr")
    assert wanted("no tag!", None, "tr") == ("tr",)


@pytest.mark.parametrize(
    ("tag", "way"),
    [
        ("ar", "rtl"),
        ("AR-eg", "rtl"),
        ("he", "rtl"),
        ("uz-Arab", "rtl"),
        ("ar-Latn", "ltr"),
        ("tr", "ltr"),
        ("", "ltr"),
    ],
)
def test_a_language_has_a_direction(tag: str, way: str) -> None:
    assert direction(tag) == way


def test_each_language_of_muster_has_its_own_name_and_one_runs_from_the_right() -> None:
    assert TAGS == ("en", "de", "es", "fr", "tr", "ar")
    assert len({one.name for one in LANGUAGES}) == len(TAGS)
    assert [one.tag for one in LANGUAGES if one.direction == "rtl"] == ["ar"]
    assert languages.ENGLISH == "en"


@pytest.mark.parametrize(
    ("tag", "shorter"),
    [
        ("zh-hant-tw", ["zh-hant-tw", "zh-hant", "zh"]),
        ("de-x-abc", ["de-x-abc", "de"]),
        ("x-abc", ["x-abc", "x"]),
        ("en", ["en"]),
        ("-", ["-", ""]),
        ("a-" * 30_000, []),
    ],
)
def test_a_tag_is_shortened_from_its_end_and_whatever_is_asked_for_comes_to_an_end(
    tag: str, shorter: list[str]
) -> None:
    assert list(languages.shortened(tag)) == shorter
