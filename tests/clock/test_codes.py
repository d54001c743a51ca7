"""The tables of words are whole and unchanged."""

import re

import pytest

from app.clock import codes
from app.clock.codes import (
    BINDING_STATES,
    GROUP_LABELS,
    OUTCOMES,
    TC_CODES,
    BindingState,
    Outcome,
    OutcomeGroup,
    TcCode,
)
from tests.cluster import ROOT


@pytest.mark.parametrize(
    ("code", "label"),
    [
        (0, "Check In"),
        (1, "Check Out"),
        (2, "Break Out"),
        (3, "Break In"),
        (4, "Overtime In"),
        (5, "Overtime Out"),
        (6, "Unknown (6)"),
        (9, "Unknown (9)"),
        (255, "Unknown (255)"),
        (-1, "Unknown (-1)"),
        (None, ""),
    ],
)
def test_a_punch_code_has_its_label_and_is_never_mapped_to_another_meaning(code, label):
    assert codes.punch_label(code) == label


@pytest.mark.parametrize(
    ("code", "label"),
    [
        (0, "Password"),
        (1, "Fingerprint"),
        (2, "Card"),
        (3, "Fingerprint + Password"),
        (4, "Card"),
        (15, "Face"),
        (20, "Palm"),
        (5, "5"),
        (25, "25"),
        (None, ""),
    ],
)
def test_a_verification_code_outside_the_set_shows_its_raw_number(code, label):
    assert codes.verify_label(code) == label


LABELS = {
    "imported": "Imported",
    "awaiting": "Awaiting",
    "only_one_punch": "Only one punch",
    "date_locked": "Date locked",
    "overlaps": "Overlaps an existing record",
    "record_decided": "Record already decided",
    "record_edited": "Record edited by hand",
    "arrived_late": "Arrived after import",
    "employee_inactive": "Employee inactive",
    "future_timestamp": "Future timestamp",
    "over_24h": "Shift over 24 hours",
    "access_terminal": "Access terminal",
    "attendance_deleted": "Attendance deleted",
    "repeat_tap": "Repeat tap",
    "double_tap": "Double tap",
    "not_bound": "Not bound",
    "no_direction": "No direction",
}


def test_each_outcome_has_its_label():
    assert {code.value: words.label for code, words in OUTCOMES.items()} == LABELS
    assert set(OUTCOMES) == set(Outcome)


def test_every_outcome_stands_in_one_group_and_says_what_it_means():
    assert {words.group for words in OUTCOMES.values()} == set(OutcomeGroup) == set(GROUP_LABELS)
    assert all(words.meaning.endswith(".") for words in OUTCOMES.values())


def amber() -> set[str]:
    """The words whose badges are amber in muster.css."""
    css = (ROOT / "static/css/muster.css").read_text()
    words = re.search(r'\n\[data-tone="warn"\][^{]*', css)
    assert words
    return set(re.findall(r'\[data-state="(\w+)"\]', words[0]))


def test_an_outcome_that_needs_a_person_is_amber_and_no_other():
    waiting = {one.value for one, words in OUTCOMES.items() if words.group is OutcomeGroup.NEEDS_PERSON}
    assert amber() & set(Outcome) == waiting


def test_a_binding_that_needs_a_person_is_amber():
    assert amber() & set(BindingState) == {"not_found", "conflict", "missing_remote"}


def test_a_punch_the_import_has_not_come_to_yet_reads_awaiting():
    assert codes.outcome_label(None) == "Awaiting"
    assert codes.outcome_label("repeat_tap") == "Repeat tap"


def test_an_unknown_outcome_is_refused():
    with pytest.raises(ValueError, match="no_such"):
        codes.outcome_label("no_such")


def test_the_nine_binding_states_are_all_there_and_three_of_them_are_linked():
    assert set(BINDING_STATES) == set(BindingState)
    assert len(BindingState) == 9
    assert {"bound", "auto_matched", "missing_remote"} == codes.LINKED_STATES


def test_the_eleven_error_codes_are_all_there():
    assert set(TC_CODES) == set(TcCode)
    assert len(TcCode) == 11
    assert all(code.value.startswith("TC-") for code in TcCode)
