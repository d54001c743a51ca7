"""The rules of anonymous surveys for their author: what is refused, and what can't change. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.errors import FieldError
from app.surveys import words

if TYPE_CHECKING:
    from app.surveys.authoring.definition import Definition

# With fewer people, an answer says too much about each of them.
FEWEST_PEOPLE: Final = 10
FIELDS: Final = ("anonymity", "split")
_AGREES: Final = "An agreement needs the name of the person. Remove the Agreement question, or make the survey named."
_NEEDS_END: Final = "Give the survey an end: the results of an anonymous survey appear when it is over."
_FEW: Final = (
    "An anonymous survey needs an audience of at least {least} people; this one has {people}. Widen the audience."
)
_FIXED: Final = (
    "This was published, so it can't change, not even in a new version. Duplicate the survey to ask in another way."
)
_OVER: Final = "This version is over and its results are shown, so its end can't change. Publish a new version."


def problems(definition: "Definition") -> Iterator[FieldError]:
    """Why a tidied definition can't be saved."""
    if definition.anonymity not in words.ANONYMITIES:
        yield FieldError("anonymity", f"Choose one of {', '.join(words.ANONYMITIES)}.")
    elif definition.is_anonymous and definition.agreement:
        yield FieldError("anonymity", _AGREES)
    if definition.split is not None and definition.split not in words.SPLITS:
        yield FieldError("split", f"Choose one of {', '.join(words.SPLITS)}, or leave it out.")
    elif definition.split is not None and not definition.is_anonymous:
        yield FieldError(
            "split", "Only an anonymous survey has a split. Leave it out: a named one is split on its page."
        )


def unaskable(definition: "Definition") -> list[FieldError]:
    """Why a checked definition can't be asked."""
    # A round has an end of its own.
    is_open = definition.ends_at is None and definition.repeat is None
    return [FieldError("ends_at", _NEEDS_END)] if definition.is_anonymous and is_open else []


def too_few(definition: "Definition", people: int) -> list[FieldError]:
    """`people` are in its audience."""
    if not definition.is_anonymous or people >= FEWEST_PEOPLE:
        return []
    return [FieldError("user_types", _FEW.format(least=FEWEST_PEOPLE, people=people))]


def fixed(was: "Definition", wanted: "Definition") -> list[FieldError]:
    """What can't change in a survey that was ever published."""
    return [FieldError(one, _FIXED) for one in FIELDS if getattr(was, one) != getattr(wanted, one)]


def closed_end(
    was: "Definition", wanted: "Definition", now: datetime, round_ends_at: datetime | None = None
) -> list[FieldError]:
    """The end of a published version stays once it has passed. `round_ends_at` is that of a version which is a
    round."""
    ends_at, new_end = round_ends_at or was.ends_at, wanted.ends_at or round_ends_at
    is_over = was.is_anonymous and ends_at is not None and ends_at <= now
    return [FieldError("ends_at", _OVER)] if is_over and new_end != ends_at else []
