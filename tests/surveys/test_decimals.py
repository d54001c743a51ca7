"""Numbers that people give: which are kept, how each is written, and what a typed one means."""

import json
from decimal import Decimal

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from app.surveys import decimals


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0, 0),
        (-0.0, 0),
        (12.0, 12),
        (3.5, 3.5),
        (-0.000001, -0.000001),
        (999_999_999, 999_999_999),
        (999_999_999.0, 999_999_999),
        (123_456_789.123456, 123_456_789.123456),
        (1_000_000_000, None),
        (999_999_999.5, None),
        (0.0000001, None),
        (0.1 + 0.2, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        ("3", None),
        (None, None),
    ],
)
def test_a_number_is_kept_where_it_is_exact(value: object, kept: object) -> None:
    found = decimals.exact(value)
    assert (found, type(found)) == (kept, type(kept))


@given(st.decimals(-999_999_999, 999_999_999, places=6))
def test_each_kept_number_has_one_text_which_is_that_of_rfc_8785(decimal: Decimal) -> None:
    number = decimals.exact(float(decimal))
    assert number is not None
    text = decimals.written(number)
    assert Decimal(text) == decimal
    assert text == rfc8785.dumps(number).decode()
    assert decimals.exact(json.loads(text)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" 3.5 ", 3.5),
        ("3,5", 3.5),
        ("-2", -2),
        ("\u22122", -2),
        ("+4", 4),
        (".5", 0.5),
        ("5.", 5),
        ("007", 7),
        ("0,25", 0.25),
        ("0,125", 0.125),
        ("0.125", 0.125),
        (",125", 0.125),
        ("1.0000", 1),
        ("1000.125", 1000.125),
        ("1.000", None),
        ("1,000", None),
        ("12.500", None),
        ("12,345", None),
        (" -999.999 ", None),
        ("1.000.000", None),
        ("1.000,5", None),
        ("1 000", None),
        ("1e3", None),
        ("\u0663", 3),
        ("-\u0661\u0662\u066b\u0665", -12.5),
        ("\u06f4\u06f2,\u06f5", 42.5),
        ("\u0661\u066b\u0660\u0660\u0660", None),
        ("\u0661\u066c\u0660\u0660\u0660", None),
        ("\u0967", None),
        ("", None),
        ("-", None),
        ("many", None),
        ("1" * 30, None),
    ],
)
def test_a_typed_number_may_have_a_comma_and_is_never_guessed(text: str, number: object) -> None:
    assert decimals.typed(text) == number


@pytest.mark.parametrize("text", ["1.000", "12,500", " -1.234 ", "\u0661\u066b\u0660\u0660\u0660"])
def test_both_ways_to_read_an_ambiguous_number_can_be_typed(text: str) -> None:
    large, small = (decimals.typed(one) for one in decimals.both_ways(text))
    assert large is not None
    assert small is not None
    assert large == small * 1000


@given(st.decimals(-1_000, 1_000, places=3))
def test_a_number_that_a_form_shows_is_read_back_as_it_was(decimal: Decimal) -> None:
    number = decimals.exact(float(decimal))
    assert number is not None
    assert decimals.typed(decimals.typeable(number)) == number
