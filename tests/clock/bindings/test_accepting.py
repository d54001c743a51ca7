"""Which of the chosen matches are accepted: never two codes of one employee,
for any choice and any holder of a code."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings

from app.clock.bindings.accepting import Left, named_by, sort_out
from app.clock.bindings.code_states import Code
from app.clock.bindings.directory import SimilarEmployee
from app.clock.bindings.matching import match
from tests.clock.bindings.test_matching import applied, worlds

BEN, CLEO = SimilarEmployee(2, "Ben Okri", 100.0), SimilarEmployee(3, "Cleo Marsh", 95.0)


def suggestion(emp_code, *candidates):
    return Code(
        int(emp_code), emp_code, "", enabled=True, absent=False, listed=True, state="suggested", candidates=candidates
    )


def auto_match(emp_code, candidate):
    return replace(suggestion(emp_code, candidate), state="auto_matched", host_employee_id=candidate.host_employee_id)


CASES = [
    # chosen, who has a code already, accepted, left
    ("one suggestion", [suggestion("9", BEN)], {}, ["9"], ()),
    ("two of different people", [suggestion("8", CLEO), suggestion("9", BEN)], {}, ["8", "9"], ()),
    ("two of one person", [suggestion("8", BEN), suggestion("9", BEN)], {}, [], (Left(("8", "9"), "Ben Okri"),)),
    ("another code has them", [suggestion("9", BEN)], {2: ["7"]}, [], (Left(("9",), "Ben Okri", ("7",)),)),
    ("an auto match", [auto_match("2", BEN)], {2: ["2"]}, ["2"], ()),
    (
        "an auto match beside a stale suggestion",
        [auto_match("2", BEN), suggestion("9", BEN)], {2: ["2"]}, ["2"], (Left(("9",), "Ben Okri", ("2",)),),
    ),
    (
        "an auto match beside a binding by hand",
        [auto_match("2", BEN)], {2: ["2", "7"]}, [], (Left(("2",), "Ben Okri", ("7",)),),
    ),
    ("the second candidate alone is named", [suggestion("8", CLEO, BEN), suggestion("9", BEN)], {}, ["8", "9"], ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "linked", "codes", "left"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_accepted_and_what_is_left(chosen, linked, codes, left):
    accepting = sort_out(chosen, linked)
    assert (accepting.codes, accepting.left) == (codes, left)


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (Left(("8", "9"), "Ben Okri"), "8, 9 stay as they are: each of them names Ben Okri."),
        (Left(("9",), "Ben Okri", ("7", "70")), "9 stays as it is: Ben Okri has the code 7, 70."),
    ],
)
def test_what_is_left_says_why(left, sentence):
    assert str(left) == sentence


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_accepting_everything_gives_no_person_a_second_code(world):
    """After a pass over whatever there is, and over what was there before it: the stored suggestions may be stale."""
    before, people = world
    after = {one.binding_id: one for one in before} | {
        one.code.binding_id: applied(one) for one in match(before, people)
    }
    for codes in (list(after.values()), [one for one in before if one.candidates or one.host_employee_id]):
        holders: dict[int, list[str]] = {}
        for one in codes:
            if one.host_employee_id is not None:
                holders.setdefault(one.host_employee_id, []).append(one.emp_code)
        accepting = sort_out([one for one in codes if one.state in ("suggested", "auto_matched")], holders)
        owners = Counter(named_by(one) for one in accepting.taken)
        assert set(owners.values()) <= {1}
        assert all(holders.get(named_by(one), [one.emp_code]) == [one.emp_code] for one in accepting.taken)
