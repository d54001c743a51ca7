"""The catalogues: each marked text is translated in every language, whole, with its values and all its plurals."""

import re
import string
from functools import cache

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from babel.plural import to_python

from app.languages import ENGLISH, TAGS
from app.wording.catalogues import catalogue, path_of
from app.wording.updating import marked_texts

OTHERS = [tag for tag in TAGS if tag != ENGLISH]
IN_PERCENT = re.compile(r"%\((\w+)\)s")
MEND = "run `make words`, and translate what it names"
# How the languages address a person: politely, and always in the same way.
FAMILIAR = {
    "de": r"\b(du|dein\w*|dir|dich|euch|euer)\b",
    "es": r"\b(tú|tu|tus|te|vuestr\w+)\b",
    "fr": r"\b(tu|ton|ta|tes|toi)\b",
    "tr": r"\b(sen|senin|sana|seni)\b",
}


@cache
def known(tag: str) -> Catalog:
    with path_of(tag).open("rb") as source:
        return read_po(source, locale=tag)


@cache
def texts() -> list[Message]:
    return [one for one in marked_texts() if one.id]


def translations(tag: str) -> list[tuple[Message, list[str]]]:
    found = []
    for one in texts():
        told = known(tag).get(one.id)
        strings = (
            [] if told is None or not told.string else [told.string] if isinstance(told.string, str) else told.string
        )
        found.append((one, [*strings]))
    return found


def source_of(one: Message) -> str:
    return one.id if isinstance(one.id, str) else one.id[1]


def values_in(text: str) -> set[str]:
    """Names of what is put in, in both ways of writing them. A brace of an example is none."""
    try:
        braced = {name for _, name, _, _ in string.Formatter().parse(text) if name and name.isidentifier()}
    except ValueError:
        braced = set()
    return {*IN_PERCENT.findall(text), *braced}


@pytest.mark.parametrize("tag", OTHERS)
def test_no_word_is_missing_and_none_is_left_over(tag: str) -> None:
    catalog = known(tag)
    assert [source_of(one) for one, told in translations(tag) if not told or not all(told)] == [], MEND
    assert {str(one.id) for one in catalog if one.id} == {str(one.id) for one in texts()}, MEND
    assert [one.id for one in catalog if one.id and one.fuzzy] == []


@pytest.mark.parametrize("tag", OTHERS)
def test_a_translation_has_the_values_of_its_text(tag: str) -> None:
    wrong = [
        (source_of(one), text)
        for one, told in translations(tag)
        for text in told
        if not values_in(text) <= values_in(source_of(one))
        # A plural of one or two may say its number in a word.
        or (isinstance(one.id, str) and values_in(text) != values_in(one.id) and "[{" not in one.id)
    ]
    assert wrong == []


@pytest.mark.parametrize("tag", OTHERS)
def test_every_plural_is_there_and_counts_as_the_language_does(tag: str) -> None:
    catalog, spoken = known(tag), catalogue(tag)
    assert catalog.num_plurals == {"tr": 1, "ar": 6}.get(tag, 2)
    for one, told in translations(tag):
        if isinstance(one.id, tuple):
            assert len(told) == catalog.num_plurals
            # More than two say their number, whatever the form.
            for number in (3, 10, 11, 26, 100, 111, 1_000_000):
                assert "%(num)s" in spoken.ngettext(*one.id, number)


def test_arabic_takes_the_form_that_its_grammar_asks_for() -> None:
    """The order of the forms in the file is the one that editors of catalogues know:
    zero, one, two, few, many, other."""
    forms = known("ar").get(("%(num)s star", "%(num)s stars"))
    names = ("zero", "one", "two", "few", "many", "other")
    assert forms is not None
    cldr = to_python(
        {
            "zero": "n is 0",
            "one": "n is 1",
            "two": "n is 2",
            "few": "n mod 100 in 3..10",
            "many": "n mod 100 in 11..99",
        }
    )
    spoken = catalogue("ar")
    for number in range(250):
        assert spoken.ngettext("%(num)s star", "%(num)s stars", number) == forms.string[names.index(cldr(number))]


def test_french_sets_its_spaces_and_no_line_breaks_there() -> None:
    """A narrow one before `;`, `!` and `?`, a wide one before `:` and inside « »."""
    wrong = re.compile("(?<!\u202f)[;!?]|(?<!\u00a0)[:»]|«(?!\u00a0)")
    assert [text for _, told in translations("fr") for text in told if wrong.search(text)] == []


@pytest.mark.parametrize("tag", FAMILIAR)
def test_people_are_addressed_politely(tag: str) -> None:
    pattern = re.compile(FAMILIAR[tag], re.IGNORECASE)
    assert [text for _, told in translations(tag) for text in told if pattern.search(text)] == []


def test_what_is_not_marked_stays_as_it_is() -> None:
    assert catalogue("ar").gettext("An author wrote this.") == "An author wrote this."
    assert catalogue("de") is catalogue("de"), "each is read once in a process"
