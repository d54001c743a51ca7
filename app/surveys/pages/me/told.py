"""One answer as its person reads it, in their language. As operators read it: app.surveys.results.worded."""

from datetime import date

from app.surveys import decimals, words
from app.surveys.ledger.translated_answers import Told
from app.surveys.results import worded as for_operators
from app.surveys.results.figures import AskedQuestion
from app.wording.marked import Numeral, worded
from app.wording.speech import Speech, day_in

_MOST = {"star_rating": words.MOST_STARS, "nps": words.MOST_NPS}


def in_words(speech: Speech, question: AskedQuestion, value: Told) -> str:
    """Each tick, and each row of a matrix, on a line of its own; "" for none."""
    if isinstance(value, int | float) and (most := _MOST.get(question.type)):
        return speech(worded("{number} of {most}", number=Numeral(decimals.written(value)), most=most))
    if isinstance(value, int | float):
        return f"{speech.figure(decimals.written(value))} {question.details.unit}".rstrip()
    if isinstance(value, str) and question.type == "date" and not speech.is_english:
        return day_in(speech.tag, date.fromisoformat(value), None)
    return for_operators.told(question, value)
