"""Many days in one drawing: where columns, lines, gaps and ticks stand."""

from datetime import date, timedelta

import pytest

from app.charts import plot
from app.charts.columns import Series
from app.charts.plot import PlotDay, day_ticks

FIRST = date(2026, 11, 2)
SERIES = [Series("In", "ok"), Series("Out", "info")]


def days(*rows: tuple[tuple[float | None, ...], float | None]) -> list[PlotDay]:
    return [PlotDay(FIRST + timedelta(days=n), f"day {n}", values, before) for n, (values, before) in enumerate(rows)]


def test_columns_stand_on_each_other_and_a_zero_draws_nothing() -> None:
    drawn = plot.stacked(days(((10, 10), 5), ((0, 20), None)), SERIES, title="T", unit="Punches")
    assert [one.path for one in drawn.filled] == ["M50 50h400v50h-400z", "M50 0h400v50h-400zM550 0h400v100h-400z"]
    assert [tick.label for tick in drawn.ticks] == ["0", "5", "10", "15", "20"]
    assert [(slot.title, slot.x, slot.width) for slot in drawn.slots] == [("day 0", 0, 500), ("day 1", 500, 500)]


def test_the_days_before_are_steps_and_raise_the_axis() -> None:
    drawn = plot.stacked(days(((10, 0), 40), ((10, 0), 20), ((10, 0), None), ((10, 0), 0)), SERIES, title="T", unit="")
    assert drawn.ticks[-1].label == "40"
    assert drawn.before == "M0 0H250V50H500M750 100H1000"


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([50, 100], "M250 50L750 0"),
        ([100, None, 0, 25], "M62.5 0h125M625 100L875 75"),
        ([None, 50], "M625 50h250"),
    ],
)
def test_a_line_has_gaps_where_nothing_is_known(values: list[float | None], path: str) -> None:
    drawn = plot.rates(days(*(((value,), None) for value in values)), SERIES[0], title="T", unit="Percent")
    assert drawn.lines[0].path == path
    assert [tick.label for tick in drawn.ticks] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (1, ["2 Nov"]),
        (3, ["2 Nov", "3 Nov", "4 Nov"]),
        (14, ["2 Nov", "4 Nov", "6 Nov", "8 Nov", "10 Nov", "12 Nov", "14 Nov"]),
        (30, ["2 Nov", "9 Nov", "16 Nov", "23 Nov", "30 Nov"]),
        (92, ["2 Nov", "9 Nov", "16 Nov", "23 Nov", "30 Nov", "7 Dec", "14 Dec", "21 Dec", "28 Dec", "4 Jan", "11 Jan",
              "18 Jan", "25 Jan", "1 Feb"]),
        (120, ["Dec", "Jan 2027", "Feb", "Mar"]),
    ],
)  # fmt: skip
def test_days_have_ticks_at_round_days(length: int, labels: list[str]) -> None:
    assert [one.label for one in day_ticks([FIRST + timedelta(days=n) for n in range(length)])] == labels


@pytest.mark.parametrize("length", [1, 7, 14, 30, 92, 366])
def test_labels_of_days_stay_inside_and_every_second_one_can_go(length: int) -> None:
    ticks = list(day_ticks([FIRST + timedelta(days=n) for n in range(length)]))
    assert len(ticks) <= 14
    assert [one.odd for one in ticks] == [bool(n % 2) for n in range(len(ticks))]
    for one in ticks:
        x = float(one.x.removesuffix("%"))
        assert one.anchor == ("start" if x < 4 else "end" if x > 96 else "middle")
