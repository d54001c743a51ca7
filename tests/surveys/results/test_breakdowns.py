"""What each question comes to: middle, promoters, ranges, days and matrices."""

from decimal import Decimal
from uuid import uuid4

import pytest

from app.surveys.question_details import QuestionDetails
from app.surveys.results.breakdowns import breakdown, middle
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.promoters import promoters


def question(kind: str, *options: str, rows: tuple[str, ...] = ()) -> AskedQuestion:
    return AskedQuestion(uuid4(), "How was it?", kind, options, details=QuestionDetails(rows=rows))


@pytest.mark.parametrize(
    ("given", "mean", "median"),
    [
        ({"4": 1}, "4.00", "4"),
        ({"0": 2}, "0.00", "0"),
        ({"4": 2, "5": 1}, "4.33", "4"),
        ({"1": 1, "2": 1}, "1.50", "1.5"),
        ({"1": 1, "2": 1, "10": 1}, "4.33", "2"),
        ({"10": 5, "9": 5}, "9.50", "9.5"),
        ({"-1": 1, "0.5": 1}, "-0.25", "-0.25"),
        ({"100": 3}, "100.00", "100"),
        ({"1": 999_999, "5": 1}, "1.00", "1"),
        ({"0.01": 1, "0.005": 1}, "0.01", "0.0075"),  # 0.0075 is half up 0.01
    ],
)
def test_mean_and_median_come_from_counts(given: dict[str, int], mean: str, median: str) -> None:
    found = middle(given, Decimal)
    assert found is not None
    assert (str(found.mean), str(found.median), found.people) == (mean, median, sum(given.values()))


def test_without_numbers_there_is_no_middle_and_no_score() -> None:
    assert middle({}, Decimal) is None
    assert promoters({}) is None
    empty = breakdown(question("nps"), {})
    assert (empty.middle, empty.promoters, len(empty.bars)) == (None, None, 11)


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ({"10": 1}, "100.0"),
        ({"9": 1, "8": 1, "7": 1, "6": 1}, "0.0"),
        ({"0": 1}, "-100.0"),
        ({"10": 2, "7": 1}, "66.7"),
        ({"9": 1, "8": 15}, "6.3"),
        ({"7": 4, "8": 2}, "0.0"),
    ],
)
def test_the_net_promoter_score_is_promoters_less_detractors(given: dict[str, int], score: str) -> None:
    found = breakdown(question("nps"), {"": sum(given.values()), **given}).promoters
    assert found is not None
    assert (str(found.score), found.told) == (score, score.replace("-", "−"))
    assert found.promoters + found.passives + found.detractors == found.people


def test_a_scale_of_numbers_has_a_middle_and_one_of_words_has_none() -> None:
    counted = breakdown(question("scale", "1", "2", "3"), {"": 3, "1": 1, "3": 2})
    assert counted.middle is not None
    assert (str(counted.middle.mean), str(counted.middle.median)) == ("2.33", "3")
    assert breakdown(question("scale", "little", "much"), {"": 1, "much": 1}).middle is None
    assert breakdown(question("single_choice", "1", "2"), {"": 1, "1": 1}).middle is None


def test_an_option_that_is_gone_counts_as_a_bar_and_in_no_mean() -> None:
    found = breakdown(question("scale", "1", "2"), {"": 2, "1": 1, "9": 1})
    assert [bar.label for bar in found.bars] == ["1", "2", "9"]
    assert found.middle is not None
    assert (found.middle.people, str(found.middle.mean)) == (1, "1.00")


def test_few_numbers_have_a_bar_each_and_many_stand_in_ranges() -> None:
    few = breakdown(question("number"), {"": 3, "10": 1, "9.5": 2})
    assert [(bar.label, bar.people) for bar in few.bars] == [("9.5", 2), ("10", 1)]
    many = breakdown(question("number"), {"": 81, **{str(one): 1 for one in range(81)}})
    assert [(bar.label, bar.people) for bar in many.bars][:2] == [("0 – 9", 10), ("10 – 19", 10)]
    assert (many.bars[-1].label, many.bars[-1].people, sum(bar.people for bar in many.bars)) == ("70 – 80", 11, 81)
    assert many.middle is not None
    assert (many.middle.lowest, many.middle.highest, str(many.middle.median)) == (0, 80, "40")


@pytest.mark.parametrize(
    ("numbers", "labels"),
    [
        (range(101), ["0 – 12", "13 – 24", "25 – 37", "38 – 49", "50 – 62", "63 – 74", "75 – 87", "88 – 100"]),
        (range(13), ["0 – 1", "2", "3 – 4", "5", "6 – 7", "8", "9 – 10", "11 – 12"]),
        (range(-6, 7), ["-6 – -5", "-4", "-3 – -2", "-1", "0 – 1", "2", "3 – 4", "5 – 6"]),
    ],
)
def test_of_whole_numbers_no_range_shares_its_ends_with_the_next(numbers: range, labels: list[str]) -> None:
    found = breakdown(question("number"), {"": len(numbers), **{str(one): 1 for one in numbers}})
    assert [bar.label for bar in found.bars] == labels
    within = [range(int(ends[0]), int(ends[-1]) + 1) for ends in (label.split(" – ") for label in labels)]
    assert [bar.people for bar in found.bars] == [len(one) for one in within]


def test_ranges_of_other_numbers_meet() -> None:
    found = breakdown(question("number"), {"": 81, **{str(Decimal(one) / 10): 1 for one in range(81)}})
    assert [bar.label for bar in found.bars][:2] == ["0 – 1", "1 – 2"]


@pytest.mark.parametrize(
    ("days", "labels"),
    [
        (["2026-11-02", "2026-11-01"], ["2026-11-01", "2026-11-02"]),
        ([f"2026-11-{day:02}" for day in range(1, 31)], ["2026-11"]),
        ([f"{year}-{month:02}-01" for year in (2024, 2025, 2026) for month in range(1, 13)], ["2024", "2025", "2026"]),
    ],
)
def test_days_are_counted_by_day_month_or_year(days: list[str], labels: list[str]) -> None:
    found = breakdown(question("date"), {"": len(days), **dict.fromkeys(days, 1)})
    assert [bar.label for bar in found.bars] == labels
    assert sum(bar.people for bar in found.bars) == len(days)


def test_a_matrix_has_a_row_each_with_shares_of_those_who_answered_it() -> None:
    asked = question("matrix", "1", "2", rows=("food", "rooms", "price"))
    food, rooms, _ = breakdown(asked, {"": 3, "food\t1": 1, "food\t2": 2, "rooms\t2": 1}).rows
    assert [str(bar.percent) for bar in food.bars] == ["33.3", "66.7"]
    assert food.middle is not None
    assert (food.people, str(food.middle.mean), rooms.people) == (3, "1.67", 1)
    price = breakdown(asked, {}).rows[2]
    assert (price.people, price.middle, [bar.percent for bar in price.bars]) == (0, None, [None, None])
