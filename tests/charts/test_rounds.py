"""Rounds drawn one after the other: the axis, gaps, and which rounds have a label."""

from app.charts import rounds
from app.charts.rounds import RoundPoint


def points(*values: float | None) -> list[RoundPoint]:
    return [RoundPoint(f"{n} Jan", f"Round {n}", value) for n, value in enumerate(values, 1)]


def test_a_score_stands_between_its_bounds() -> None:
    plot = rounds.figure(points(-100, 0, 100), (-100, 100), title="NPS", unit="NPS")
    assert [(tick.label, tick.y) for tick in plot.ticks] == [
        ("−100", "100%"), ("−50", "75%"), ("0", "50%"), ("50", "25%"), ("100", "0%"),
    ]  # fmt: skip
    assert plot.lines[0].path == "M166.7 100L500 50L833.3 0"


def test_stars_have_whole_numbers_along_the_axis() -> None:
    plot = rounds.figure(points(3.5), (0, 5), title="Mean", unit="Mean")
    assert [tick.label for tick in plot.ticks] == ["0", "1", "2", "3", "4", "5"]


def test_a_round_without_a_value_is_a_gap() -> None:
    plot = rounds.figure(points(50, None, 50, 50), (0, 100), title="Mean", unit="Mean")
    assert plot.lines[0].path == "M62.5 50h125M625 50L875 50"


def test_of_many_rounds_some_have_a_label() -> None:
    plot = rounds.people(points(*[1] * 24), title="People", unit="People")
    assert [tick.label for tick in plot.days] == [f"{n} Jan" for n in range(1, 25, 3)]
    assert len(plot.slots) == 24
