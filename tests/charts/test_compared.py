"""A comparison says what the numbers hold, and says so where they hold nothing."""

from datetime import date, timedelta

import pytest

from app.charts.compared import Noun, PeriodPair, Share, change, compare, compare_shares, signed

PUNCHES = Noun("punch", "punches")
TODAY = date(2026, 11, 24)


def pair(first: str, last: str) -> PeriodPair:
    return PeriodPair(date.fromisoformat(first), date.fromisoformat(last), TODAY)


@pytest.mark.parametrize(
    ("first", "last", "earlier", "whole", "counterparts"),
    [
        ("2026-11-10", "2026-11-23", ("10-27", "11-09"), ("11-10", "11-23"), ("10-27", "11-09")),
        ("2026-11-11", "2026-11-24", ("10-28", "11-10"), ("11-11", "11-23"), ("10-28", "11-09")),
        ("2026-11-01", "2026-11-30", ("10-02", "10-31"), ("11-01", "11-23"), ("10-02", "10-24")),
        ("2026-11-23", "2026-11-23", ("11-22", "11-22"), ("11-23", "11-23"), ("11-22", "11-22")),
        ("2026-11-24", "2026-11-24", ("11-23", "11-23"), None, None),
        ("2026-11-28", "2026-11-29", ("11-26", "11-27"), None, None),
    ],
)
def test_only_days_that_are_over_are_compared_with_as_many_days_earlier(first, last, earlier, whole, counterparts):
    def told(days):
        return days and tuple(f"{day:%m-%d}" for day in days)

    found = pair(first, last)
    assert (told(found.earlier), told(found.whole), told(found.counterparts)) == (earlier, whole, counterparts)


def test_the_first_days_of_the_calendar_have_none_before():
    found = PeriodPair(date(1, 1, 5), date(1, 1, 9), TODAY)
    assert (found.earlier, found.counterparts) == (None, None)
    assert compare(found, {}, PUNCHES) == "There are no days before these."


@pytest.mark.parametrize(
    ("first", "last", "now", "before", "sentence"),
    [
        ("2026-11-10", "2026-11-23", 1204, 1115, "1,204 punches, 8 % more than in the 14 days before (1,115)."),
        ("2026-11-10", "2026-11-23", 1000, 1250, "1,000 punches, 20 % fewer than in the 14 days before (1,250)."),
        ("2026-11-10", "2026-11-23", 1250, 1250, "1,250 punches, as many as in the 14 days before (1,250)."),
        ("2026-11-10", "2026-11-23", 1251, 1250, "1,251 punches, about as many as in the 14 days before (1,250)."),
        ("2026-11-10", "2026-11-23", 12, 7, "12 punches, 5 more than in the 14 days before (7)."),
        ("2026-11-10", "2026-11-23", 0, 49, "0 punches, 49 fewer than in the 14 days before (49)."),
        ("2026-11-10", "2026-11-23", 0, 50, "0 punches, 100 % fewer than in the 14 days before (50)."),
        ("2026-11-10", "2026-11-23", 1000, 90, "1,000 punches, 910 more than in the 14 days before (90)."),
        ("2026-11-10", "2026-11-23", 90, 0, "No comparison: there are no punches in the 14 days before."),
        ("2026-11-23", "2026-11-23", 1, 2, "1 punch, 1 fewer than on the day before (2)."),
        (
            "2026-11-11",
            "2026-11-24",
            1150,
            1065,
            "Until yesterday 1,150 punches, 8 % more than 14 days earlier (1,065).",
        ),
        ("2026-11-24", "2026-11-24", 5, 5, "No comparison yet: today is not over."),
        ("2026-11-28", "2026-11-29", 0, 5, "These days are to come."),
    ],
)
def test_the_sentence_of_a_comparison(first, last, now, before, sentence):
    found = pair(first, last)
    by_day = {
        found.first: now,
        found.first - timedelta(days=found.length): before,
        TODAY: 9999 if last == "2026-11-24" != first else 0,
    }
    if found.first == TODAY:
        by_day[TODAY] = now
    assert compare(found, by_day, PUNCHES) == sentence


def test_days_that_are_not_known_in_full_are_not_compared():
    by_day = {date(2026, 11, 10): 100, date(2026, 10, 27): 100}
    told = compare(pair("2026-11-10", "2026-11-23"), by_day, PUNCHES, unknown="the history begins on 2026-11-01.")
    assert told == "No comparison with the 14 days before: the history begins on 2026-11-01."


@pytest.mark.parametrize(
    ("now", "before", "sentence"),
    [
        ((920, 1000), (900, 1000), "92.0 %, 2.0 percentage points more than in the 14 days before (90.0 %)."),
        ((561, 1000), (580, 1000), "56.1 %, 1.9 percentage points less than in the 14 days before (58.0 %)."),
        ((50, 100), (30, 60), "50.0 %, the same as in the 14 days before (50.0 %)."),
        (
            (50, 100),
            (30, 49),
            "No comparison: there are fewer than 50 punches, in these days or in the 14 days before.",
        ),
        ((0, 0), (30, 490), "No comparison: there are fewer than 50 punches, in these days or in the 14 days before."),
    ],
)
def test_rates_are_compared_in_percentage_points(now, before, sentence):
    assert compare_shares(pair("2026-11-10", "2026-11-23"), Share(*now), Share(*before), PUNCHES) == sentence


def test_rates_of_days_that_are_not_known_are_not_compared():
    found = pair("2026-11-10", "2026-11-23")
    shares = Share(50, 100), Share(50, 100)
    assert (
        compare_shares(found, *shares, PUNCHES, unknown="not read.")
        == "No comparison with the 14 days before: not read."
    )
    assert compare_shares(pair("2026-11-24", "2026-11-24"), *shares, PUNCHES) == "No comparison yet: today is not over."


@pytest.mark.parametrize(
    ("now", "before", "words", "cell"),
    [
        (0, 0, "as many as", "–"), (5, 0, "5 more than", "–"), (54, 50, "8 % more than", "+8 %"),
        (46, 50, "8 % fewer than", "−8 %"), (12, 7, "5 more than", "+5"), (2, 7, "5 fewer than", "−5"),
        (7, 7, "as many as", "0"), (250, 50, "200 more than", "+200"), (200, 50, "300 % more than", "+300 %"),
        (201, 200, "1 % more than", "+1 %"), (2001, 2000, "about as many as", "0 %"),
    ],
)  # fmt: skip
def test_a_change_is_told_in_percent_only_where_the_base_is_big_enough(now, before, words, cell):
    assert (change(now, before), signed(now, before)) == (words, cell)
