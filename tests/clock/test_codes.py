"""The tables of words are whole and unchanged."""

import pytest

from app.clock import codes
from app.clock.codes import BINDING_STATES, TC_CODES, BindingState, TcCode


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


def test_the_nine_binding_states_are_all_there_and_three_of_them_are_linked():
    assert set(BINDING_STATES) == set(BindingState)
    assert len(BindingState) == 9
    assert {"bound", "auto_matched", "missing_remote"} == codes.LINKED_STATES


def test_the_eleven_error_codes_are_all_there():
    assert set(TC_CODES) == set(TcCode)
    assert len(TcCode) == 11
    assert all(code.value.startswith("TC-") for code in TcCode)
