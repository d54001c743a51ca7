"""The rules for a repeating survey, and until when it can be published. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.errors import FieldError
from app.surveys.rounds import calendar, repeats

if TYPE_CHECKING:
    from app.surveys.authoring.definition import Definition

ALL_OVER: Final = "All rounds are over. Give more of them, or a later first round."


def problems(definition: "Definition") -> Iterator[FieldError]:
    if definition.repeat is None:
        return
    yield from repeats.problems(definition.repeat)
    for field in ("starts_at", "ends_at"):
        if getattr(definition, field):
            yield FieldError(field, "Leave this empty: a survey that repeats has a window for each round.")
    if definition.agreement:
        yield FieldError(
            "repeat.every", "An agreement stands until it is withdrawn, so it can't be asked for again and again."
        )


def over(definition: "Definition", now: datetime) -> list[FieldError]:
    """Why it can't be published."""
    is_over = definition.repeat is not None and calendar.is_over(definition.repeat, now)
    return [FieldError("repeat.times", ALL_OVER)] if is_over else []
