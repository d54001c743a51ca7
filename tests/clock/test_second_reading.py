"""The product and the second reading of the page judge the same: worked cases, lines of the rules, random histories."""

import secrets
from datetime import timedelta
from pathlib import Path

import pytest

from tests.clock import reading
from tests.clock.histories import described, history, history_with_edits
from tests.clock.mirror_store import CODES, RULES, when
from tests.clock.pairing.rules_page import worked_cases
from tests.clock.pairing.test_rules import ROWS
from tests.clock.side_by_side import first_difference

FAR = timedelta(days=300)


def test_the_reading_imports_nothing_of_the_product():
    pages = list(Path(reading.__file__).parent.glob("*.py"))
    lines = [line for page in pages for line in page.read_text().splitlines()]
    assert len(pages) > 5
    assert [line for line in lines if line.startswith(("from app", "import app"))] == []


def events_of(taps):
    """One employee, one code, and a terminal of each kind that the notation knows."""
    found = [("bind", "1", 1), ("terminal", "T2", "undirected", False), ("terminal", "T3", "by_code", True)]
    for number, text in enumerate(taps.split(", "), 1):
        sign, _, moment = text.partition(" ")
        terminal = {"a": "T2", "d": "T3"}.get(sign, "T1")
        found.append(("tap", number, str(number), "1", when(moment), CODES[sign], terminal))
    return [*found, ("judge", FAR)]


@pytest.mark.parametrize(
    "taps", [case.taps for case in worked_cases() if case.taps] + [row[0] for row in ROWS.values()]
)
def test_the_reading_agrees_with_every_case_and_line(taps):
    assert first_difference(RULES, events_of(taps)) is None


@pytest.mark.parametrize("portion", range(10))
def test_the_reading_agrees_on_the_same_random_histories(portion):
    assert [found for seed in range(portion * 30, portion * 30 + 30) if (found := described(seed))] == []


@pytest.mark.parametrize("portion", range(10))
def test_the_reading_agrees_on_the_same_histories_with_what_the_server_edits_and_deletes(portion):
    seeds = range(portion * 30, portion * 30 + 30)
    assert [found for seed in seeds if (found := described(seed, history_with_edits))] == []


# Histories that told the two apart: when the tap that a fold repeats was inferred, when one flag meant both a Retry
# that was asked for and one that was answered, and when a fold that was let go changed the folds behind it
# in the same walk.
ONCE_DIFFERENT = (
    4015908, 4034587, 4050966, 4051027, 4071043, 4097402, 7032469, 7061779, 7062815, 7087127, 8098612, 9048100, 10078308,
)  # fmt: skip


@pytest.mark.parametrize("seed", ONCE_DIFFERENT)
def test_the_reading_agrees_where_it_once_did_not(seed):
    assert described(seed) is None


# With edits: when a fold whose old record was deleted had none, and when a record stayed regular although its punches
# became overtime. A Retry that was asked before a deletion undid it,
# where the server had edited the punch out of the record.
@pytest.mark.parametrize("seed", [20000799, 20008216, 32031538])
def test_the_reading_agrees_on_edits_where_it_once_did_not(seed):
    assert described(seed, history_with_edits) is None


@pytest.mark.parametrize("made", [history, history_with_edits])
def test_the_reading_agrees_on_fresh_random_histories(made):
    first = secrets.randbelow(10**9)
    assert [found for seed in range(first, first + 100) if (found := described(seed, made))] == []
