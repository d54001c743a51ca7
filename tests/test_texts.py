"""What is said of typed texts wherever they are kept: here, the cells of CSV files;
and instants as the APIs write them."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from app.texts import guarded, instant, unguarded


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
