"""Every outcome has its label, its group and its meaning, and its badge has the tone of the group."""

import re

import pytest

from app.clock.codes import BindingState
from app.clock.outcomes import GROUP_LABELS, OUTCOMES, Outcome, OutcomeGroup, outcome_label
from tests.cluster import ROOT

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
    assert outcome_label(None) == "Awaiting"
    assert outcome_label("repeat_tap") == "Repeat tap"


def test_an_unknown_outcome_is_refused():
    with pytest.raises(ValueError, match="no_such"):
        outcome_label("no_such")
