"""The fields of forms: each reads what a browser posts, and says what is wrong with it. The form: forms.py."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from app.texts import EMAIL, is_keepable, is_readable, visible
from app.wording.marked import marked, worded

UNKEEPABLE = marked("The text has characters that can't be stored, such as control characters. Remove them.")


class Wrong(Exception):
    """What is wrong with a value, in a sentence that says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Field:
    """`kind` tells the template which control to draw."""

    name: str
    label: str
    required: bool = False
    help: str = ""
    kind = "text"

    def read(self, raw: list[str]) -> object:
        """The value of what was posted. Raises Wrong."""
        text = _clean(raw[-1]) if raw else ""
        if not text:
            if self.required:
                raise Wrong(marked("This is needed."))
            return None
        return self.parse(text)

    def parse(self, text: str) -> object:
        return text

    def show(self, value: Any) -> Any:
        """The value as the control holds it."""
        return "" if value is None else str(value)


@dataclass(frozen=True)
class Text(Field):
    longest: int = 200
    lines: int = 1
    check: Callable[[str], str] | None = None
    autocomplete: str = "off"

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "textarea" if self.lines > 1 else "text"

    def parse(self, text: str) -> str:
        if self.lines == 1 and not is_readable(text):
            raise Wrong(UNKEEPABLE)
        if len(text) > self.longest:
            raise Wrong(
                worded("At most {most} characters; this has {count}.", most=str(self.longest), count=str(len(text)))
            )
        return self.check(text) if self.check else text


@dataclass(frozen=True)
class Email(Text):
    kind = "email"

    def parse(self, text: str) -> str:
        if not EMAIL.fullmatch(text):
            raise Wrong(marked("Give an e-mail address such as ada@example.org."))
        return super().parse(text).lower()


@dataclass(frozen=True)
class Password(Field):
    """Kept exactly as typed, and never shown again."""

    shortest: int = 0
    autocomplete: str = "current-password"
    kind = "password"

    def read(self, raw: list[str]) -> str | None:
        value = raw[-1] if raw else ""
        if not value and self.required:
            raise Wrong(marked("This is needed."))
        if value and len(value) < self.shortest:
            raise Wrong(worded("At least {count} characters.", count=str(self.shortest)))
        if len(value) > 1000:  # noqa: PLR2004 - hashing is work, and real passwords are shorter
            raise Wrong(marked("At most 1000 characters."))
        return value or None

    def show(self, value: Any) -> str:  # noqa: ARG002 - the signature of Field
        return ""


@dataclass(frozen=True)
class Number(Field):
    least: int | None = None
    most: int | None = None
    unit: str = ""
    kind = "number"

    def parse(self, text: str) -> int:
        if not re.fullmatch(r"-?\d{1,12}", text, re.ASCII):
            raise Wrong("Give a whole number.")
        value = int(text)
        if self.least is not None and value < self.least:
            raise Wrong(f"At least {self.least}.")
        if self.most is not None and value > self.most:
            raise Wrong(f"At most {self.most}.")
        return value


@dataclass(frozen=True)
class Flag(Field):
    """A check box: absent means no."""

    kind = "flag"

    def read(self, raw: list[str]) -> bool:
        return bool(raw) and raw[-1] not in ("", "0", "false", "off")

    def show(self, value: Any) -> bool:
        return bool(value)


@dataclass(frozen=True)
class Choice(Field):
    """One of `options` (value → label)."""

    options: Mapping[str, str] = field(default_factory=dict)
    kind = "choice"

    @property
    def choices(self) -> list[dict[str, str]]:
        return [{"value": value, "label": label} for value, label in self.options.items()]

    def parse(self, text: str) -> str:
        if text not in self.options:
            raise Wrong(marked("Choose one of the list."))
        return text


@dataclass(frozen=True)
class Choices(Field):
    """Any of `options` (value → label), in their order."""

    options: Mapping[str, str] = field(default_factory=dict)
    kind = "choices"

    @property
    def choices(self) -> list[dict[str, str]]:
        return [{"value": value, "label": label} for value, label in self.options.items()]

    def read(self, raw: list[str]) -> list[str]:
        chosen = {text for text in raw if text}
        if chosen - set(self.options):
            raise Wrong(marked("Choose from the list."))
        if self.required and not chosen:
            raise Wrong(marked("Choose at least one."))
        return [value for value in self.options if value in chosen]

    def show(self, value: Any) -> list[str]:
        return list(value or [])


@dataclass(frozen=True)
class File(Field):
    """An upload. The page reads the file itself; here it only has a label and a place for its error."""

    kind = "file"

    def read(self, raw: list[str]) -> None:  # noqa: ARG002 - the signature of Field
        return None


@dataclass(frozen=True)
class DayField(Field):
    kind = "date"

    def parse(self, text: str) -> date:
        try:
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
                return date.fromisoformat(text)
        except ValueError:
            pass
        raise Wrong("Give a date such as 2026-11-21.")


@dataclass(frozen=True)
class LocalTime(Field):
    """A local date and time without zone, to the second, as `<input type="datetime-local">` posts it."""

    kind = "datetime"

    def parse(self, text: str) -> datetime:
        try:
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?", text, re.ASCII):
                return datetime.fromisoformat(text)
        except ValueError:
            pass
        raise Wrong("Give a date and time such as 2026-11-21 08:00.")

    def show(self, value: Any) -> str:
        return value.strftime("%Y-%m-%dT%H:%M:%S") if isinstance(value, datetime) else str(value or "")


def _clean(text: str) -> str:
    if not is_keepable(text):
        raise Wrong(UNKEEPABLE)
    return visible(text)


def options(pairs: Sequence[str]) -> dict[str, str]:
    """Options whose values are their labels."""
    return {value: value.replace("_", " ").capitalize() for value in pairs}
