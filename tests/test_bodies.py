"""What a person reads who sent a JSON body that does not fit."""

from typing import Any

import pytest

from app.bodies import fitted
from app.errors import InvalidBody
from app.surveys.api.apps import RatingBody
from app.surveys.api.surveys import MOST_ANSWERS, RespondBody

UID = "9b7a864d-735e-4dad-8301-c19027fa6529"
WHOLE: dict[str, Any] = {"survey": UID, "action": "answer"}
RATING: dict[str, Any] = {"app": UID, "rating": 3, "platform": "ios"}
UUID = "Write the UUID in hexadecimal digits, 8-4-4-4-12."


def told(kind: Any, document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidBody) as refused:
        fitted(kind, document)
    return {one.field: one.message for one in refused.value.details}


@pytest.mark.parametrize(
    ("part", "field", "sentence"),
    [
        ({"action": "maybe"}, "action", "Give one of agree, answer, decline, opt_out, snooze."),
        ({"action": 3}, "action", "Give a text, not a whole number."),
        ({"survey": f"{{{UID}}}"}, "survey", UUID),
        ({"survey": UID.replace("-", "")}, "survey", UUID),
        ({"survey": 5}, "survey", UUID),
        ({"survey": f"{UID}\x00"}, "survey", "It holds a NUL character."),
        ({"version": "1"}, "version", "Give a whole number or null, not a text."),
        ({"version": 0}, "version", "Give at least 1."),
        ({"content_hash": "x" * 65}, "content_hash", "Write at most 64 characters."),
        ({"content_hash": ""}, "content_hash", "It is empty."),
        ({"answers": "low"}, "answers", "Give a list or null, not a text."),
        (
            {"answers": [{"question": UID, "value": 1}] * (MOST_ANSWERS + 1)},
            "answers",
            f"The list holds at most {MOST_ANSWERS}.",
        ),
        ({"answers": [{"question": "q1", "value": 1}]}, "answers.0.question", UUID),
    ],
)
def test_what_is_wrong_is_said_in_plain_words_at_its_key(part: dict[str, Any], field: str, sentence: str) -> None:
    assert told(RespondBody, {**WHOLE, **part}) == {field: sentence}


def test_a_rating_names_its_stars_and_platforms() -> None:
    assert told(RatingBody, {**RATING, "rating": 6, "platform": "tv"}) == {
        "rating": "Give at most 5.",
        "platform": "Give one of android, ios, web.",
    }
