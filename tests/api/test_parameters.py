"""What a caller reads of a parameter that cannot be used: a sentence that says what to write."""

import pytest
from litestar.datastructures import MultiDict

from app.api import parameters
from app.api.parameters import DayText, InstantText, Page
from app.errors import FieldError, Invalid
from app.surveys.api.open_surveys import OpenCall


class Asked(OpenCall, kw_only=True, frozen=True):
    day: DayText | None = None
    since: InstantText | None = None
    number: Page | None = None


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (
            "can",
            "nps, date",
            "Write words such as nps,number,date,matrix,conditions, with commas and no blanks between.",
        ),
        ("can", "n" * 201, "Write at most 200 characters."),
        ("lang", "!", "Write a language tag such as de or pt-BR."),
        ("lang", "", "It is empty or padded with spaces."),
        ("page", "0", "Give at least 1."),
        ("per_page", "501", "Give at most 500."),
        ("number", "one", "Give a whole number."),
        ("day", "25.11.2026", "Write a day as YYYY-MM-DD."),
        ("since", "yesterday", "Write an instant with its zone, such as 2026-11-25T12:00:00Z."),
        ("page", "\x00", "It holds a NUL character."),
        ("colour", "red", "There is no such parameter."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(name: str, given: str, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        parameters.read(Asked, MultiDict([(name, given)]))
    assert refused.value.details == (FieldError(name, told),)
