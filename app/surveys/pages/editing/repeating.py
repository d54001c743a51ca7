"""The editor's part about repeating and reminding: its fields, and what they mean."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from app.surveys import words
from app.surveys.rounds import repeats
from app.surveys.rounds.repeats import Repeat
from app.web.fields import Choice, DayField, Number
from app.web.forms import Bound

_PARTS: Final = ("every", "days", "open_days", "starts_on", "times")


def number(name: str, label: str, bounds: tuple[int, int], unit: str, text: str = "") -> Number:
    """A field for a number within these bounds."""
    least, most = bounds
    return Number(name, label, help=text, least=least, most=most, unit=unit)


FIELDS: Final = (
    Choice(
        "repeat_every",
        "Ask again every",
        options=repeats.EVERY,
        help="Each round is the next version with the same content, and opens by itself. Leave Starts and Ends empty.",
    ),
    number("repeat_days", "Days between rounds", repeats.DAYS, "days"),
    DayField(
        "repeat_starts_on",
        "First round",
        help="In the zone of the workspace. Rounds on the 31st open on the last day of shorter months.",
    ),
    number("repeat_open_days", "Open for", repeats.DAYS, "days", "How long each round is open."),
    number("repeat_times", "Rounds", repeats.TIMES, "", "Empty: until you stop it."),
    number(
        "remind_days",
        "Remind after",
        words.REMIND_DAYS,
        "days",
        "Mails people who have not answered, and once more after as many days again. Empty: never.",
    ),
)
NAMES: Final = tuple(one.name for one in FIELDS)


def shown(repeat: Repeat | None) -> dict[str, Any]:
    """The values of the fields about repeating."""
    return {f"repeat_{part}": getattr(repeat, part, None) for part in _PARTS}


def read(values: Mapping[str, Any]) -> Repeat | None:
    """What the fields mean; the number of days counts only if it was asked for."""
    every = values["repeat_every"]
    if not every:
        return None
    return Repeat(
        every,
        values["repeat_open_days"] or 0,
        values["repeat_starts_on"] or date.min,
        values["repeat_days"] if every == "days" else None,
        values["repeat_times"],
    )


def ask_for_the_first_day(form: Bound) -> None:
    """Adds an error when a repeating survey has no first day."""
    if form.values.get("repeat_every") and not form.values.get("repeat_starts_on"):
        form.refuse("repeat_starts_on", "Give the day of the first round.")


def field_of(detail: str) -> str:
    """The form's name of a field: `repeat.open_days` is `repeat_open_days`."""
    head, _, part = detail.partition(".")
    return f"repeat_{part or 'every'}" if head == "repeat" else head
