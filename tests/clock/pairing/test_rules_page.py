"""docs/rules.md and the product agree: every worked case is played,
and every word of the product stands on the page."""

import re
from dataclasses import replace

import pytest

from app.clock.outcomes import OUTCOMES, Outcome
from tests.clock.pairing.rules_page import PAGE, WorkedCase, difference, played, worked_cases

CASES = worked_cases()
# With more rows this number grows. It never shrinks: a row that is lost is a rule that nothing holds.
FEWEST = 72


def by_name(name: str) -> WorkedCase:
    return next(case for case in CASES if case.name == name)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_worked_case_comes_out_as_the_page_says(case):
    assert difference(case) is None


def test_the_page_has_all_its_cases():
    assert len(CASES) >= FEWEST
    assert len({case.name for case in CASES}) == len(CASES)
    numbers = {int(re.match(r"\d+", case.name)[0]) for case in CASES}
    assert numbers == set(range(1, max(numbers) + 1))


def test_every_outcome_has_a_case():
    words = {outcome.split(" ")[0] for case in CASES for outcome in case.outcomes.values()}
    assert words | {"imported"} == set(Outcome)


def test_every_outcome_has_a_heading_with_its_label_and_its_code():
    section = PAGE.read_text().partition("\n## Outcomes\n")[2].partition("\n## ")[0]
    said = re.findall(r"(?m)^### (.+)\n\nCode `(\w+)`\. ", section)
    assert sorted(said) == sorted((words.label, one.value) for one, words in OUTCOMES.items())
    assert section.count("\n### ") == len(said)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_punch_has_the_record_that_its_outcome_promises(case):
    store = played(case)
    for text, outcome in store.outcomes().items():
        punch = store.punches[store.texts[text]]
        if outcome in {"repeat_tap", "double_tap"}:
            assert punch.record_id == store.punches[punch.repeats].record_id
        elif outcome == "arrived_late" and "bind to another employee" in case.steps:
            assert store.records[punch.record_id].employee_id == 1
        else:
            assert (punch.record_id is not None) == (outcome == "imported")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("1", {"records": ("Mon 08:00-17:01",)}),
        ("1", {"records": ()}),
        ("1", {"records": ("Mon 08:00-17:00", "Tue 08:00-17:00")}),
        ("1", {"steps": ("I 08:00, O 17:01",)}),
        ("1", {"steps": ("I 08:00",)}),
        ("1", {"steps": ("I 08:00, O 17:00", "go home")}),
        ("3", {"outcomes": {"I 08:00:05": "double_tap"}}),
        ("3", {"outcomes": {}}),
        ("3", {"outcomes": {"I 08:00:06": "repeat_tap"}}),
        ("4b", {"steps": by_name("4b").steps[1:]}),
        ("4b", {"steps": ("double_tap_mend=false", *by_name("4b").steps[1:])}),
        ("11", {"outcomes": {"O 17:00": "awaiting until Tue 18:00"}}),
        ("11", {"steps": ("O 17:00", "now Wed 16:59:59")}),
        ("26", {"records": ("Sat 22:00-06:00 = 8 h",)}),
        ("26", {"steps": by_name("26").steps[1:]}),
        ("46", {"steps": ("undirected_max_hours=9", *by_name("46").steps[1:])}),
    ],
)
def test_a_changed_cell_is_noticed(name, changes):
    assert difference(replace(by_name(name), **changes)) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| I 08:00:05 repeat_tap |", "| I 08:00:05, repeat_tap |"),
        ("| I 08:00:05 repeat_tap |", "| repeat_tap |"),
        ("| I 08:00:05 repeat_tap |", "| I 08:00:05 REPEAT |"),
    ],
)
def test_an_outcome_that_is_written_otherwise_is_noticed(old, new):
    page = PAGE.read_text()
    assert old in page
    case = next(one for one in worked_cases(page.replace(old, new)) if one.name == "3")
    assert difference(case) is not None


@pytest.mark.parametrize("spoilt", ["", "## Worked cases\n\n| case | taps |\n|---|---|\n| 1 | I 08:00 |\n"])
def test_a_page_without_the_table_is_no_page_without_cases(spoilt):
    with pytest.raises(ValueError, match="the table has other columns"):
        worked_cases(spoilt)
