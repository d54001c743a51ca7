"""Which languages of a survey would do for whom, and how translations are written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import languages
from app.surveys.question_details import QuestionDetails
from app.surveys.translations import QuestionTexts, candidates, question_texts, spoken, survey_texts, written
from tests.surveys.translated import QUESTIONS, TEXTS


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([], []),
        (["de"], ["de"]),
        (["DE-at", "en"], ["de-AT", "de", "en"]),
        (["zh-Hant-TW"], ["zh-Hant-TW", "zh-Hant", "zh"]),
        (["de-AT", "de-CH"], ["de-AT", "de", "de-CH"]),
        # A single letter begins what follows it, so it goes with that.
        (["en-u-ca-buddhist"], ["en-u-CA-buddhist", "en-u-CA", "en"]),
        (["*", "x", "not a tag", "tr"], ["tr"]),
    ],
)
def test_the_tags_that_would_do(wanted: list[str], found: list[str]) -> None:
    assert candidates(wanted) == found


TAGS = st.lists(
    st.sampled_from(["de", "de-AT", "de-CH", "DE-at", "en", "zh-Hant", "zh-hant-tw", "zh", "*", "en-u-ca", "x"])
)


@given(TAGS, TAGS)
def test_the_first_that_a_survey_has_is_the_best(offered: list[str], wanted: list[str]) -> None:
    spelled = [tag for one in offered if (tag := languages.tag_of(one))]
    first = next((one for one in candidates(wanted) if one in spelled), "own")
    assert first == languages.best(spelled, wanted, "own")


def test_what_is_written_is_read_again() -> None:
    assert all(survey_texts(written(one)) == one for one in TEXTS.values())
    assert all(question_texts(written(one)) == one for asked in QUESTIONS for one in asked.translations.values())
    assert written(TEXTS["ar"]) == {"title": "الغداء"}


OWN_OPTIONS, OWN = ("Yes", "No"), QuestionDetails(low_label="bad", high_label="good", rows=("Loud", "Cold"))


@pytest.mark.parametrize(
    ("texts", "read", "own"),
    [
        (QuestionTexts("Gut?", ("Ja", "Nein"), "schlecht", "gut", ("Laut", "Kalt")), ("Gut?", ("Ja", "Nein"), ("schlecht", "gut"), ("Laut", "Kalt")), set()),
        (QuestionTexts(), ("Good?", OWN_OPTIONS, ("bad", "good"), OWN.rows), {"label", "options", "ends", "rows"}),
        # One that is missing makes the whole list stand in the own language: no list mixes two.
        (QuestionTexts("Gut?", ("Ja", "")), ("Gut?", OWN_OPTIONS, ("bad", "good"), OWN.rows), {"options", "ends", "rows"}),
        (QuestionTexts("Gut?", ("Ja",)), ("Gut?", OWN_OPTIONS, ("bad", "good"), OWN.rows), {"options", "ends", "rows"}),
        (QuestionTexts(low_label="schlecht"), ("Good?", OWN_OPTIONS, ("bad", "good"), OWN.rows), {"label", "options", "ends", "rows"}),
        (QuestionTexts(rows=("Laut", "Kalt")), ("Good?", OWN_OPTIONS, ("bad", "good"), ("Laut", "Kalt")), {"label", "options", "ends"}),
    ],
)  # fmt: skip
def test_what_is_not_translated_stays_in_the_own_language_text_by_text(
    texts: QuestionTexts, read: tuple[Any, ...], own: set[str]
) -> None:
    found = spoken("Good?", OWN_OPTIONS, OWN, written(texts))
    ends = (found.details.low_label, found.details.high_label)
    assert (found.label, found.options, ends, found.details.rows) == read
    assert found.own == own
