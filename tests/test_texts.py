"""What is said of typed texts wherever they are kept: here, the cells of CSV files."""

import pytest

from app.texts import guarded, unguarded


@pytest.mark.parametrize("cell", ["=1+1", "+49 30", "-", "@ada", "\t=1", "\r=1"])
def test_what_a_spreadsheet_would_run_is_kept_a_text_and_comes_back(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize("cell", ["", "Ada", "1+1", "'quoted'", "O'Neill", " =1"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert (guarded(cell), unguarded(cell)) == (cell, cell)
