"""What a question has beside its text, type, options and required flag. Everything here is optional. Pure.

An unused detail is written nowhere: not in the canonical form, not in files, not in rows. So a survey without details
keeps the content hash that it always had.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

import msgspec

from app.surveys import decimals
from app.surveys.decimals import Number
from app.surveys.question_types import NEW_QUESTION_TYPES
from app.wording.marked import Numeral, worded

# The words of `can` in the end-user API, in the order in which pages name them.
ABILITIES: Final = (*NEW_QUESTION_TYPES, "conditions")


# The queue makes one for every question, and making a dataclass takes several times as long.
class Condition(msgspec.Struct, frozen=True):
    """Shows a question only to people whose answer to an earlier question is (not) among `values`. `question` is that
    question's number in the survey, from 1, because the canonical form has no ids. A value is an option's text, or the
    number of stars or of a score."""

    question: int
    values: tuple[int | str, ...]
    negated: bool = False

    @property
    def word(self) -> Literal["in", "not_in"]:
        """The word `is` of the JSON form."""
        return "not_in" if self.negated else "in"


class QuestionDetails(msgspec.Struct, frozen=True):
    """`low_label` and `high_label` are words for both ends of a scale, stars or a score; `min`, `max` and `unit` belong
    to a number, `rows` to a matrix. `page` begins a new page."""

    low_label: str = ""
    high_label: str = ""
    min: Number | None = None
    max: Number | None = None
    unit: str = ""
    rows: tuple[str, ...] = ()
    page: bool = False
    show_if: Condition | None = None

    @property
    def bounds(self) -> str:
        """The allowed numbers in words; "" for any."""
        least = None if self.min is None else Numeral(decimals.written(self.min))
        most = None if self.max is None else Numeral(decimals.written(self.max))
        if least and most:
            return worded("From {least} to {most}", least=least, most=most)
        if least:
            return worded("{least} or more", least=least)
        return worded("At most {most}", most=most) if most else ""


NO_DETAILS: Final = QuestionDetails()
_TEXTS: Final = ("low_label", "high_label", "unit")


class DetailedQuestion(Protocol):
    """A question with its details."""

    @property
    def label(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def details(self) -> QuestionDetails: ...


def written(details: QuestionDetails) -> dict[str, Any]:
    """The JSON form, in one order, without unused details."""
    found: dict[str, Any] = {name: value for name in _TEXTS if (value := getattr(details, name))}
    for name in ("min", "max"):
        if (bound := getattr(details, name)) is not None:
            found[name] = bound
    if details.rows:
        found["rows"] = list(details.rows)
    if details.page:
        found["page"] = True
    if details.show_if:
        found["show_if"] = _written_condition(details.show_if)
    return found


def _written_condition(condition: Condition) -> dict[str, Any]:
    return {"question": condition.question, "is": condition.word, "values": list(condition.values)}


def read(stored: Mapping[str, Any] | None) -> QuestionDetails:
    """Reads what `written` wrote; ignores other keys."""
    if not stored:
        return NO_DETAILS
    condition = stored.get("show_if")
    if condition and len(stored) == 1:
        return QuestionDetails(show_if=_condition(condition))
    return QuestionDetails(
        low_label=stored.get("low_label", ""),
        high_label=stored.get("high_label", ""),
        min=stored.get("min"),
        max=stored.get("max"),
        unit=stored.get("unit", ""),
        rows=tuple(stored.get("rows", ())),
        page=stored.get("page", False),
        show_if=condition and _condition(condition),
    )


def _condition(stored: Mapping[str, Any]) -> Condition:
    return Condition(stored["question"], tuple(stored["values"]), stored["is"] == "not_in")


def needs(questions: Sequence[DetailedQuestion]) -> tuple[str, ...]:
    """What an app must be able to show to get these questions, in the order of ABILITIES."""
    used = {one.type for one in questions} | {"conditions" for one in questions if one.details.show_if}
    return tuple(one for one in ABILITIES if one in used)
