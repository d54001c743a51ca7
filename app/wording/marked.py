"""Marks a text of the code for translation. In the code it is English, and it stays that until a page says it. Pure."""

from typing import Final

Shown = str | int | tuple[str, ...]
OR: Final = " or "


class Numeral(str):
    """A number as programs write it, such as 3.5. Pages write it as their language does."""

    __slots__ = ()


class Sentence(str):
    """An English sentence with values in it, that still knows its parts:
    pages say it in another language from these."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, Shown]


def marked(text: str) -> str:
    """The text itself. `make words` finds it by this name."""
    return text


def sentence(text: str) -> Sentence:
    """A marked text as a value of another sentence, where it is said in the language, too.
    Other values stay as they are."""
    if isinstance(text, Sentence):
        return text
    found = Sentence(text)
    found.template, found.values = text, {}
    return found


def worded(template: str, **values: Shown) -> Sentence:
    """`template` has `{names}` of the values. Of a tuple any one is meant."""
    found = Sentence(template.format(**{name: _in_english(value) for name, value in values.items()}))
    found.template, found.values = template, values
    return found


def joined(*sentences: str) -> Sentence:
    """Marked sentences, one behind the other."""
    found = Sentence(" ".join(sentences))
    found.values = {f"part{number}": sentence(one) for number, one in enumerate(sentences)}
    found.template = " ".join(f"{{{name}}}" for name in found.values)
    return found


def _in_english(value: Shown) -> str:
    return OR.join(value) if isinstance(value, tuple) else str(value)
