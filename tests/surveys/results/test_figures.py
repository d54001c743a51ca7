"""What counts mean: rates, percentages, means, and the breakdown of every kind of question."""

from datetime import date
from decimal import Decimal
from uuid import uuid4

import pytest

from app.surveys.results.breakdowns import Breakdown, breakdown, results
from app.surveys.results.figures import AskedQuestion, Counters, Reading, outcomes_of

WHOLE, ASKED = uuid4(), "asked"


def question(kind: str, *options: str) -> AskedQuestion:
    return AskedQuestion(uuid4(), "How was it?", kind, options)


def bars(found: Breakdown) -> list[tuple[str, int, str | None]]:
    return [(bar.label, bar.people, str(bar.percent) if bar.percent is not None else None) for bar in found.bars]


def test_the_response_rate_is_of_everybody_who_was_asked() -> None:
    counters = Counters(
        {"answered": 3, "agreed": 2, "declined": 1, "opted_out": 4}, impressed=17, unprompted={"opted_out": 1}
    )
    assert (counters.responses, counters.responded, counters.asked) == (10, 6, 18)
    assert counters.response_rate == Decimal("33.3")


def test_an_opt_out_without_an_impression_was_asked_and_did_not_respond() -> None:
    counters = Counters({"answered": 1, "opted_out": 15}, unprompted={"answered": 1, "opted_out": 15})
    assert (counters.asked, counters.responded, counters.responded_alone, counters.opted_out_alone) == (16, 1, 1, 15)
    assert counters.response_rate == Decimal("6.3")


def test_acceptance_is_agreed_of_those_who_decided() -> None:
    assert Counters({"agreed": 2, "declined": 1, "answered": 50}).acceptance == Decimal("66.7")


@pytest.mark.parametrize(
    ("types", "enforcement", "counted", "shown"),
    [
        (["scale"], "optional", {}, ("answered", "opted_out")),
        (["scale"], "required", {}, ("answered",)),
        (["agreement"], "optional", {}, ("agreed", "declined", "withdrawn", "opted_out")),
        (["agreement", "scale"], "required", {}, ("agreed", "declined", "withdrawn")),
        ([], "optional", {}, ("answered", "opted_out")),
        # What happened is told, whatever the present wording asks.
        (["scale"], "required", {"opted_out": 1, "agreed": 0}, ("answered", "opted_out")),
        (["agreement"], "required", {"answered": 2}, ("answered", "agreed", "declined", "withdrawn")),
        (["scale"], "required", {"withdrawn": 1}, ("answered", "withdrawn")),
    ],
)
def test_only_outcomes_that_a_survey_can_have_are_shown(
    types: list[str], enforcement: str, counted: dict[str, int], shown: tuple[str, ...]
) -> None:
    asked = [question(one) for one in types]
    assert outcomes_of(asked, enforcement, Counters(counted)) == shown


def test_without_people_there_is_no_rate() -> None:
    assert Counters().response_rate is None
    assert Counters({"answered": 1}, unprompted={"answered": 1}).acceptance is None


@pytest.mark.parametrize(("part", "of", "percent"), [(1, 8, "12.5"), (1, 16, "6.3"), (3, 16, "18.8"), (1, 3, "33.3")])
def test_percentages_are_rounded_half_up(part: int, of: int, percent: str) -> None:
    assert Counters({"agreed": part, "declined": of - part}).acceptance == Decimal(percent)


def test_stars_have_a_mean_of_two_places_and_every_star_a_bar() -> None:
    found = breakdown(question("star_rating"), {"": 8, "5": 1, "4": 7})
    assert found.mean == Decimal("4.13")
    assert bars(found) == [
        ("5", 1, "12.5"),
        ("4", 7, "87.5"),
        ("3", 0, "0.0"),
        ("2", 0, "0.0"),
        ("1", 0, "0.0"),
    ]


def test_choices_count_people_not_ticks() -> None:
    found = breakdown(question("multiple_choice", "Soup", "Salad"), {"": 4, "Soup": 4, "Salad": 3})
    assert (found.people, bars(found)) == (4, [("Soup", 4, "100.0"), ("Salad", 3, "75.0")])


def test_a_scale_keeps_the_order_of_its_options() -> None:
    found = breakdown(question("scale", "low", "middle", "high"), {"": 3, "high": 2, "low": 1})
    assert [bar.label for bar in found.bars] == ["low", "middle", "high"]


def test_a_question_without_answers_has_bars_without_percentages() -> None:
    found = breakdown(question("star_rating"), {})
    assert (found.people, found.mean, {bar.percent for bar in found.bars}) == (0, None, {None})


def test_texts_are_counted_and_agreements_have_no_bars() -> None:
    assert breakdown(question("free_text"), {"": 7}).people == 7
    assert breakdown(question("agreement"), {}).bars == ()


def test_figures_of_all_outcomes_add_up_to_results() -> None:
    stars, ticks = question("star_rating"), question("multiple_choice", "a", "b")
    yesterday, today = date(2026, 11, 20), date(2026, 11, 21)
    found = results(
        [
            (today, "agreed", WHOLE, "", 2, 1),
            (yesterday, "asked", WHOLE, "", 9, 0),
            (yesterday, "agreed", WHOLE, "", 1, 0),
            (today, "declined", WHOLE, "", 1, 0),
            (None, "agreed", stars.key, "", 2, 0),
            (None, "agreed", stars.key, "5", 2, 0),
            (None, "answered", stars.key, "", 1, 0),
            (None, "answered", stars.key, "1", 1, 0),
        ],
        [ticks, stars],
        Reading(WHOLE, ASKED, outcomes=("agreed",), days=(today, None)),
    )
    assert found.counters == Counters(
        {"agreed": 3, "declined": 1}, impressed=9, unprompted={"agreed": 1, "declined": 0}
    )
    assert list(found.days.items()) == [(yesterday, {"agreed": 1}), (today, {"agreed": 2, "declined": 1})]
    assert found.narrowed == 2
    assert [one.question for one in found.questions] == [ticks, stars]
    assert (found.questions[1].people, found.questions[1].mean) == (3, Decimal("3.67"))


def test_who_withdrew_still_responded_and_decided_and_no_longer_agrees() -> None:
    counted = Counters({"agreed": 3, "declined": 1, "withdrawn": 2}, impressed=12)
    assert (counted.responded, counted.decided, counted.withdrawn) == (6, 6, 2)
    assert (counted.acceptance, counted.response_rate) == (Decimal("50.0"), Decimal("50.0"))
