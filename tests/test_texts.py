"""What is said of typed texts wherever they are kept: here, the cells of CSV files;
and instants as the APIs write them."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from app.texts import guarded, in_a_line, instant, is_readable, is_readable_line, unguarded, visible

# Ada in Hebrew with a mark of direction, a family joined by U+200D, and a Persian word with U+200C.
SEEN = [
    "Ada",
    "\u05e2\u05d3\u05d4\u200f",
    "\U0001f468\u200d\U0001f469",
    "\u0645\u06cc\u200c\u0634\u0648\u062f",
    "-",
    "\u0301",
]


@pytest.mark.parametrize("text", SEEN)
def test_a_text_of_which_something_is_seen_is_kept(text: str) -> None:
    assert visible(f" {text}\u00a0") == text
    assert is_readable(text)
    assert is_readable_line(text)


@pytest.mark.parametrize(
    "text", ["\u3164", "\u200b", " \u2060\t", "\u00ad\ufe0f", "\u2800", "\u202e\u2066", "\U000e0041", "\uffa0"]
)
def test_a_text_of_which_nothing_is_seen_is_empty(text: str) -> None:
    assert visible(text) == ""


@pytest.mark.parametrize("turn", list("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
def test_a_character_that_turns_what_follows_is_told_and_left_out_of_a_line(turn: str) -> None:
    text = f"Ada{turn}gnp.exe"
    assert not is_readable(text)
    assert not is_readable_line(text)
    assert in_a_line(text) == "Ada gnp.exe"


@pytest.mark.parametrize("cell", ["=1+1", "+49 30", "-", "@ada", "\t=1", "\r=1"])
def test_what_a_spreadsheet_would_run_is_kept_a_text_and_comes_back(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize("cell", ["", "Ada", "1+1", "'quoted'", "O'Neill", " =1"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert (guarded(cell), unguarded(cell)) == (cell, cell)


@pytest.mark.parametrize("zone", [UTC, ZoneInfo("UTC"), timezone(timedelta(0))], ids=["UTC", "a zone", "an offset"])
@pytest.mark.parametrize(
    ("fraction", "told"), [(0, "2026-11-25T12:00:00Z"), (5, "2026-11-25T12:00:00.000005Z")], ids=["whole", "fraction"]
)
def test_an_instant_ends_in_z_whatever_its_zone(zone: tzinfo, fraction: int, told: str) -> None:
    at = datetime(2026, 11, 25, 12, 0, 0, fraction, tzinfo=zone)
    assert instant(at) == instant(at.astimezone(ZoneInfo("Asia/Kathmandu"))) == told
