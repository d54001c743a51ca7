"""What two people changed in one form, case by case."""

import pytest

from app.web.merging import EditConflict, Shown, Values, differences, merged


def it(was: Shown | None, now: Shown, typed: Shown | None) -> EditConflict:
    return EditConflict("a", was, now, typed)


CASES: dict[str, tuple[Values | None, Values, Values, list[EditConflict]]] = {
    "no other person changed anything": ({"a": "1"}, {"a": "1"}, {"a": "2"}, []),
    "the other changed what I left alone": ({"a": "1"}, {"a": "2"}, {"a": "1"}, [it("1", "2", "1")]),
    "both changed it": ({"a": "1"}, {"a": "2"}, {"a": "3"}, [it("1", "2", "3")]),
    "both changed it to the same": ({"a": "1"}, {"a": "2"}, {"a": "2"}, []),
    "the other emptied it": ({"a": "1"}, {"a": ""}, {"a": "1"}, [it("1", "", "1")]),
    "a switch": ({"a": False}, {"a": True}, {"a": False}, [it(False, True, False)]),
    "a list": ({"a": ["x"]}, {"a": ["x", "y"]}, {"a": []}, [it(["x"], ["x", "y"], [])]),
    "a field that came since": ({}, {"a": "2"}, {"a": ""}, [it("", "2", "")]),
    "a fact beside the fields": ({"a": "1"}, {"a": "2"}, {}, [it("1", "2", None)]),
    "the base can't be read, and nothing differs": (None, {"a": "1"}, {"a": "1"}, []),
    "the base can't be read": (None, {"a": "1"}, {"a": "2"}, [it(None, "1", "2")]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_differences(case: str) -> None:
    base, now, typed, expected = CASES[case]
    assert differences(base, now, typed) == expected


def test_both_changed_the_same_but_something_else_is_to_be_saved() -> None:
    found = differences({"a": "1", "b": "1"}, {"a": "2", "b": "1"}, {"a": "2", "b": "3"})
    assert found == [it("1", "2", "2")]


@pytest.mark.parametrize(
    ("one", "contested"),
    [
        (it("1", "2", "1"), False),
        (it("1", "2", "2"), False),
        (it("1", "2", "3"), True),
        (it(None, "2", "3"), True),
        (it("1", "2", None), False),
    ],
)
def test_a_field_is_contested_where_both_changed_it_to_something_else(one: EditConflict, contested: bool) -> None:
    assert one.contested is contested


def test_the_form_shows_what_was_typed_and_the_new_value_where_nothing_was() -> None:
    typed: Values = {"a": "1", "b": "mine", "c": True}
    found = [it("1", "2", "1"), EditConflict("b", "old", "theirs", "mine"), EditConflict("Status", "x", "y", None)]
    assert merged(typed, found) == {"a": "2", "b": "mine", "c": True}
