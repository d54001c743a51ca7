"""Columns, bars, sparks, shades and lanes: where each part stands."""

from decimal import Decimal
from itertools import pairwise

import pytest

from app.charts import bars, columns, small
from app.charts.bars import BarHeads, BarRow, StatePart
from app.charts.columns import DayColumn, Series
from app.charts.lanes import lanes
from app.charts.small import HeatCell, HeatRow

SERIES = [Series("Imported", "ok"), Series("Waiting", "info")]


def day(n: int, *values: int) -> DayColumn:
    return DayColumn(f"Day {n}", str(n), "", f"/day/{n}", f"{sum(values)} punches", values)


def test_the_parts_of_a_column_stand_on_each_other_and_zeros_are_left_out() -> None:
    chart = columns.day_columns([day(1, 30, 10), day(2, 0, 5), day(3, 0, 0)], SERIES, title="T", unit="Punches")
    assert [tick.label for tick in chart.ticks] == ["0", "10", "20", "30", "40"]
    first, second, third = (one.segments for one in chart.days)
    assert [(one.tone, one.y, one.height) for one in first] == [("ok", "25%", "75%"), ("info", "0%", "25%")]
    assert [(one.tone, one.y, one.height) for one in second] == [("info", "87.5%", "12.5%")]
    assert third == ()
    assert [(part.label, value) for part, value in chart.cells(chart.days[0].day)] == [
        ("Imported", 30),
        ("Waiting", 10),
    ]


@pytest.mark.parametrize(
    ("days", "begins"), [(3, [0]), (14, [0, 7]), (21, [0, 7, 14, 15]), (30, [0, 7, 14, 15, 21, 28])]
)
def test_an_axis_stands_wherever_a_row_of_days_may_begin(days: int, begins: list[int]) -> None:
    chart = columns.day_columns([day(n, n, 0) for n in range(days)], SERIES, title="T", unit="Punches")
    assert [n for n, one in enumerate(chart.days) if one.begins] == begins


def test_a_chart_without_days_or_numbers_has_an_axis() -> None:
    for days in ([], [day(1, 0, 0)]):
        chart = columns.day_columns(days, SERIES, title="T", unit="Punches")
        assert [tick.label for tick in chart.ticks] == ["0", "1"]


def test_bars_of_shares_are_as_long_as_their_percent() -> None:
    rows = [BarRow("5", 3, Decimal("37.5")), BarRow("4", 0, Decimal(0)), BarRow("?", 2, None)]
    chart = bars.distribution(rows, BarHeads("Stars", "People"), title="Stars")
    assert [one.width for one in chart.rows] == ["37.5%", "0%", "0%"]
    assert chart.ticks[-1].label == "100 %"


def test_bars_of_numbers_reach_to_a_round_number() -> None:
    chart = bars.ranking([BarRow("Late", 30), BarRow("Lone", 12)], BarHeads("Outcome", "Punches"), title="T")
    assert [one.width for one in chart.rows] == ["75%", "30%"]
    assert [tick.label for tick in chart.ticks] == ["0", "20", "40"]


def test_the_parts_of_a_whole_stand_side_by_side_and_fill_it() -> None:
    parts = [StatePart(word, value, "/", word) for word, value in (("a", 1), ("b", 0), ("c", 2))]
    bar = bars.state_bar(parts, title="T", unit="people")
    assert [(one.x, one.width, one.share) for one in bar.drawn] == [
        ("0%", "33.33%", Decimal("33.3")),
        ("33.33%", "66.67%", Decimal("66.7")),
    ]
    assert [one.part.state for one in bar.parts] == ["a", "b", "c"]
    nothing = bars.state_bar([StatePart("a", 0, "/", "a")], title="T", unit="people")
    assert (nothing.drawn, nothing.total) == ((), 0)


def test_a_spark_reaches_to_a_round_number_and_a_day_of_few_shows() -> None:
    drawn = small.spark([0, 1, 80])
    assert drawn.top == "80"
    assert [(one.y, one.height, one.empty) for one in drawn.bars] == [
        ("94%", "6%", True),
        ("94%", "6%", False),
        ("0%", "100%", False),
    ]
    assert [one.x for one in drawn.bars] == ["0%", "33.33%", "66.67%"]
    assert small.spark([]).bars == ()
    assert all(one.empty for one in small.spark([0, 0]).bars)


@pytest.mark.parametrize(("value", "shade"), [(0, 0), (1, 1), (44, 1), (45, 2), (200, 5), (400, 9)])
def test_a_cell_is_as_dark_as_its_share_and_never_blank(value: int, shade: int) -> None:
    assert small.shade(value, 400) == shade


def test_the_legend_of_a_heat_map_has_the_shades_of_its_cells() -> None:
    rows = [HeatRow("Monday", (HeatCell(0, "none"), HeatCell(120, "some"), HeatCell(310, "most")))]
    drawn = small.heat_map(rows, ["00", "01", "02"], title="T", unit="punches")
    assert [cell.shade for cell in drawn.rows[0].cells] == [0, 3, 7]
    assert [(shade, tick.label) for shade, tick in drawn.legend] == [
        (0, "0"), (3, "100"), (5, "200"), (7, "300"), (9, "400"),
    ]  # fmt: skip
    assert (drawn.rows[0].short, drawn.rows[0].rest) == ("Mon", "day")


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ([], []),
        ([10], [0]),
        ([0, 100, 200], [0, 0, 0]),
        ([0, 10, 20], [0, 1, 2]),
        ([0, 10, 60, 65, 70], [0, 1, 0, 2, 1]),
        ([0, 1, 2, 3, 4], [0, 1, 2, 2, 2]),
        ([0, 59.9, 60], [0, 1, 0]),
    ],
)
def test_marks_that_would_hide_each_other_stand_in_lanes(places: list[float], found: list[int]) -> None:
    assert lanes(places) == found


def test_marks_of_one_lane_stand_apart_while_a_lane_is_free() -> None:
    places = [float(x) for x in range(0, 1000, 31)]
    taken = lanes(places)
    for lane in (0, 1):
        inside = [x for x, one in zip(places, taken, strict=True) if one == lane]
        assert all(later - earlier >= 60 for earlier, later in pairwise(inside))
