"""The questions of the editor's form as rows that keep what was typed, and what its buttons do to them without script.

One hidden field `question` names each row, in order; its parts are `label-<row>`, `type-<row>`, `options-<row>`,
`required-<row>`, `key-<row>` and `removed-<row>`. A removed row stays in the form until it is saved, so that it can come back.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from litestar.datastructures import FormMultiDict

from app.surveys.authoring.definition import QuestionDefinition
from app.surveys.words import WITH_OPTIONS
from app.texts import uuid_of

NEW_TYPE = "star_rating"
MOST_ROWS = 200
_NAME = re.compile(r"[a-z0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """`options` as typed, one a line; `key` the id of a question that was saved before, else ""."""

    name: str
    key: str = ""
    label: str = ""
    type: str = NEW_TYPE
    options: str = ""
    required: bool = False
    removed: bool = False
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def question(self) -> QuestionDefinition:
        """What the row means; options that its type does not take are left behind."""
        lines = self.options.splitlines() if self.type in WITH_OPTIONS else []
        return QuestionDefinition(uuid_of(self.key), self.label, self.type, tuple(lines), self.required)


def read(posted: FormMultiDict) -> list[Row]:
    """The rows of a posted form, in order. What names no row, or one twice, is not one."""
    names = dict.fromkeys(str(name) for name in posted.getall("question", []) if _NAME.fullmatch(str(name)))
    return [_row(posted, name) for name in list(names)[:MOST_ROWS]]


def show(questions: Iterable[QuestionDefinition]) -> list[Row]:
    """The rows of a definition as a page first shows them."""
    return [
        Row(f"q{number}", str(one.key or ""), one.label, one.type, "\n".join(one.options), one.required)
        for number, one in enumerate(questions, 1)
    ]


def live(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row.removed]


def next_name(rows: Sequence[Row]) -> str:
    """A name that no row has."""
    taken = {row.name for row in rows}
    return next(name for number in range(1, len(rows) + 2) if (name := f"q{number}") not in taken)


def press(rows: Sequence[Row], button: str) -> tuple[list[Row], str]:
    """The rows after a button of the form (`add`, `up:q3` …), and the id of the control that has the focus then."""
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
        case "up" | "down" if at >= 0:
            return _moved(rows, at, -1 if act == "up" else 1), f"{act}-{name}"
    return list(rows), ""


def _with(rows: Sequence[Row], at: int, *, removed: bool) -> list[Row]:
    return [*rows[:at], replace(rows[at], removed=removed), *rows[at + 1 :]]


def _moved(rows: Sequence[Row], at: int, step: int) -> list[Row]:
    """Past the next row that is there; removed ones don't count as a step."""
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
    )
