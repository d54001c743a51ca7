"""Texts, days and numbers in the language of the person who is asked."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from app.dates import PageZone
from app.wording.marked import Numeral, sentence, worded
from app.wording.speech import ENGLISH_SPEECH, said, speaking, speech_for, speech_in, spoken

NOW = datetime(2026, 11, 22, 22, 46, tzinfo=UTC)
ZONE = PageZone(ZoneInfo("Europe/Zurich"), date(2026, 11, 22))
BOUNDS = worded("From {least} to {most}", least=Numeral("0.5"), most=Numeral("12"))
ONE_OF = worded("Only if the answer to “{question}” is {values}.", question="Q", values=("“a”", "“b”", "“c”"))
NESTED = worded("{sentence} Receipt {receipt}", sentence=sentence("Thank you. Your answer was recorded."), receipt="ab")


@pytest.mark.parametrize(
    ("tag", "bounds", "one_of"),
    [
        ("en", "From 0.5 to 12", "Only if the answer to “Q” is “a” or “b” or “c”."),
        ("de", "Von 0,5 bis 12", "Nur wenn die Antwort auf „Q“ “a”, “b” oder “c” ist."),
        ("fr", "De 0,5 à 12", "Seulement si la réponse à «\u00a0Q\u00a0» est “a”, “b” ou “c”."),
        ("ar", "من 0.5 إلى 12", "فقط إذا كانت الإجابة عن «Q» هي “a” أو “b” أو “c”."),
    ],
)
def test_a_sentence_says_its_values_as_the_language_does(tag: str, bounds: str, one_of: str) -> None:
    assert (speech_in(tag)(BOUNDS), speech_in(tag)(ONE_OF)) == (bounds, one_of)


def test_a_sentence_within_a_sentence_is_said_too_and_a_value_is_not() -> None:
    assert speech_in("de")(NESTED) == "Vielen Dank. Ihre Antwort wurde festgehalten. Beleg ab"
    assert speech_in("de")(worded("To {page}", page="Send")) == "Zu Send"


def test_what_a_page_gets_is_plain_text() -> None:
    assert [type(speech_in(tag)(BOUNDS)) for tag in ("en", "de")] == [str, str]


@pytest.mark.parametrize(
    ("tag", "time", "in_utc", "other_year"),
    [
        ("en", "Sun 22 Nov, 23:46", "Sun 22 Nov, 22:46 UTC", "Sat 3 Jan 2025".replace("Sat", "Fri")),
        ("de", "So., 22. Nov., 23:46", "So., 22. Nov., 22:46 UTC", "Fr., 3. Jan. 2025"),
        ("es", "dom, 22 nov, 23:46", "dom, 22 nov, 22:46 UTC", "vie, 3 ene 2025"),
        ("tr", "22 Kas Paz 23:46", "22 Kas Paz 22:46 UTC", "3 Oca 2025 Cum"),
        ("ar", "الأحد، 22 نوفمبر، 23:46", "الأحد، 22 نوفمبر، 22:46 UTC", "الجمعة، 3 يناير 2025"),
    ],
)
def test_days_and_times_are_told_as_the_language_does(tag: str, time: str, in_utc: str, other_year: str) -> None:
    zone = speech_in(tag).zone(ZONE)
    assert (zone.time(NOW), zone.in_utc(NOW), zone.day(date(2025, 1, 3))) == (time, in_utc, other_year)
    assert zone.name == "Europe/Zurich"


def test_a_person_gets_the_first_language_that_muster_speaks() -> None:
    assert speech_for(("ja", "de-AT", "fr")) is speech_in("de")
    assert speech_for(()) == ENGLISH_SPEECH


def test_a_part_of_a_page_speaks_otherwise_than_the_rest() -> None:
    with speaking(speech_in("ar")):
        assert said("Send") == "إرسال"
        with speaking(speech_in("tr")):
            assert said("Send") == "Gönder"
        assert spoken().direction == "rtl"
    assert said("Send") == "Send"
