"""The questions of the editor's form as rows that keep what was typed, and what its buttons do to them without script.

One hidden field `question` names each row, in order; its parts are `label-<row>`, `type-<row>`, `options-<row>`,
`required-<row>`, `key-<row>`, `removed-<row>`, and the details by their own names. `show_if-<row>` has the name of the
row to which a condition refers, `is-<row>` and `values-<row>` the rest of it. A removed row stays in the form until it
is saved, so that it can be restored.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from litestar.datastructures import FormMultiDict

from app.surveys import decimals
from app.surveys.authoring import detail_rules
from app.surveys.authoring.definition import QuestionDefinition
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.question_types import WITH_OPTIONS
from app.texts import uuid_of, whole

NEW_TYPE = "star_rating"
MOST_ROWS = 200
# Sets of options that a button fills in, by their names.
READY_MADE: Final = {
    "Agreement": "Strongly disagree\nDisagree\nNeither\nAgree\nStrongly agree",
    "Frequency": "Never\nRarely\nSometimes\nOften\nAlways",
    "Satisfaction": "Very dissatisfied\nDissatisfied\nNeither\nSatisfied\nVery satisfied",
    "1 to 5": "\n".join(map(str, range(1, 6))),
    "0 to 10": "\n".join(map(str, range(11))),
}
_NAME = re.compile(r"[a-z0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """`options` as typed, one a line; `key` is the id of a question that was saved before, otherwise ""."""

    name: str
    key: str = ""
    label: str = ""
    type: str = NEW_TYPE
    options: str = ""
    required: bool = False
    removed: bool = False
    low_label: str = ""
    high_label: str = ""
    min: str = ""
    max: str = ""
    unit: str = ""
    rows: str = ""
    page: bool = False
    show_if: str = ""
    negated: bool = False
    values: tuple[str, ...] = ()
    ready_made: str = ""
    errors: dict[str, str] = field(default_factory=dict)


def questions(rows: Iterable[Row]) -> tuple[QuestionDefinition, ...]:
    """The questions of the rows, without removed ones and without what their types do not have."""
    kept = live(rows)
    return tuple(_question(row, kept) for row in kept)


def _question(row: Row, kept: Sequence[Row]) -> QuestionDefinition:
    lines = row.options.splitlines() if row.type in WITH_OPTIONS else []
    details = QuestionDetails(
        low_label=row.low_label,
        high_label=row.high_label,
        min=_number(row.min),
        max=_number(row.max),
        unit=row.unit,
        rows=tuple(row.rows.splitlines()),
        page=row.page,
        show_if=_condition(row, kept) if row.show_if else None,
    )
    of_type = detail_rules.of_type(details, row.type)
    return QuestionDefinition(uuid_of(row.key), row.label, row.type, tuple(lines), row.required, of_type)


def _number(typed: str) -> decimals.Number | None:
    """Text that is no number becomes a number that no question can have, so that the rules put an error at its
    field."""
    if not typed.strip():
        return None
    number = decimals.typed(typed)
    return math.nan if number is None else number


def _condition(row: Row, kept: Sequence[Row]) -> Condition:
    """0 stands for a question that is gone; the rules then put an error at its field."""
    number = next((number for number, one in enumerate(kept, 1) if one.name == row.show_if), 0)
    counts = number > 0 and kept[number - 1].type in ("star_rating", "nps")
    values = tuple(_choice(one) if counts else one for one in row.values)
    return Condition(number, values, row.negated)


def _choice(text: str) -> int | str:
    """Stars or a score. Text that is no short number stays text; the rules then put an error at its field."""
    number = whole(text, 9)
    return text if number is None else number


def read(posted: FormMultiDict) -> list[Row]:
    """The rows of a posted form, in order. A name without a row, or a second time, is ignored."""
    names = dict.fromkeys(str(name) for name in posted.getall("question", []) if _NAME.fullmatch(str(name)))
    return [_row(posted, name) for name in list(names)[:MOST_ROWS]]


def show(saved: Iterable[QuestionDefinition]) -> list[Row]:
    """The rows of a definition as a page first shows them."""
    return [_shown(f"q{number}", one) for number, one in enumerate(saved, 1)]


def _shown(name: str, one: QuestionDefinition) -> Row:
    """The rows are named by the numbers of their questions."""
    details, condition = one.details, one.details.show_if
    return Row(
        name,
        str(one.key or ""),
        one.label,
        one.type,
        "\n".join(one.options),
        one.required,
        low_label=details.low_label,
        high_label=details.high_label,
        min="" if details.min is None else decimals.typeable(details.min),
        max="" if details.max is None else decimals.typeable(details.max),
        unit=details.unit,
        rows="\n".join(details.rows),
        page=details.page,
        show_if=f"q{condition.question}" if condition else "",
        negated=condition is not None and condition.negated,
        values=tuple(map(str, condition.values)) if condition else (),
    )


def live(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row.removed]


def next_name(rows: Sequence[Row]) -> str:
    """A name that no row has."""
    taken = {row.name for row in rows}
    return next(name for number in range(1, len(rows) + 2) if (name := f"q{number}") not in taken)


def press(rows: Sequence[Row], button: str) -> tuple[list[Row], str]:  # noqa: PLR0911 - a line an act
    """The rows after a button of the form (`add`, `up:q3` …), and the id of the control that gets the focus then."""
    act, _, name = button.partition(":")
    at = next((index for index, row in enumerate(rows) if row.name == name), -1)
    match act:
        case "add":
            fresh = next_name(rows)
            return [*rows, Row(fresh)], f"f-label-{fresh}"
        case "duplicate" if at >= 0:
            copy = replace(rows[at], name=next_name(rows), key="", errors={})
            return [*rows[: at + 1], copy, *rows[at + 1 :]], f"f-label-{copy.name}"
        case "remove" | "restore" if at >= 0:
            focus = f"restore-{name}" if act == "remove" else f"f-label-{name}"
            return _with(rows, at, removed=act == "remove"), focus
        case "fill" if at >= 0:
            filled = replace(rows[at], options=READY_MADE.get(rows[at].ready_made, rows[at].options))
            return [*rows[:at], filled, *rows[at + 1 :]], f"f-options-{name}"
        case "answers" if at >= 0:
            return list(rows), f"f-show_if-{name}"
        case "up" | "down" if at >= 0:
            return _moved(rows, at, -1 if act == "up" else 1), f"{act}-{name}"
    return list(rows), ""


def _with(rows: Sequence[Row], at: int, *, removed: bool) -> list[Row]:
    return [*rows[:at], replace(rows[at], removed=removed), *rows[at + 1 :]]


def _moved(rows: Sequence[Row], at: int, step: int) -> list[Row]:
    """Moves past the next row; removed rows don't count as a step."""
    moved = list(rows)
    to = at + step
    while 0 < to < len(rows) - 1 and rows[to].removed:
        to += step
    if 0 <= to < len(rows):
        moved.insert(to, moved.pop(at))
    return moved


def _row(posted: FormMultiDict, name: str) -> Row:
    def text(part: str) -> str:
        value = posted.get(f"{part}-{name}")
        return value.replace("\r\n", "\n") if isinstance(value, str) else ""

    key = text("key")
    return Row(
        name,
        key if uuid_of(key) else "",
        text("label"),
        text("type"),
        text("options"),
        bool(text("required")),
        bool(text("removed")),
        page=bool(text("page")),
        negated=text("is") == "not_in",
        values=tuple(str(one) for one in posted.getall(f"values-{name}", [])),
        low_label=text("low_label"),
        high_label=text("high_label"),
        min=text("min"),
        max=text("max"),
        unit=text("unit"),
        rows=text("rows"),
        show_if=text("show_if"),
        ready_made=text("ready_made"),
    )
