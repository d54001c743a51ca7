"""Why a text of a definition can't be stored, in words at its field. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from app.errors import FieldError
from app.surveys import words
from app.surveys.authoring import content
from app.texts import is_readable, trimmed, visible

UNKEEPABLE = "The text has characters that can't be stored. Type it again."


def lines(field: str, texts: Sequence[str], what: str) -> Iterator[FieldError]:
    """Checks options or rows (`what`, in the singular): their number, and that each is there once. Returns one message
    for each field."""
    if len(texts) > words.MOST_OPTIONS:
        yield FieldError(field, f"At most {words.MOST_OPTIONS} {what}s; these are {len(texts):,}.")
    elif repeated := [one for one, times in Counter(texts).items() if times > 1]:
        yield FieldError(field, f"Each {what} can be used once; “{repeated[0][:60]}” is used twice.")
    else:
        needed = f"Every {what} needs a visible text."
        yield from [found for one in texts for found in line(field, one, words.LONGEST_OPTION, needed=needed)][:1]


def line(field: str, value: str, longest: int, *, needed: str = "") -> Iterator[FieldError]:
    if "\n" in value or "\t" in value:
        yield FieldError(field, "Write this on one line, without tabs.")
    elif not is_readable(value):
        yield FieldError(field, UNKEEPABLE)
    else:
        yield from text(field, value, longest, needed=needed)


def html(field: str, markup: str) -> Iterator[FieldError]:
    """Checks a message or closing words."""
    if content.too_much_to_read(markup) and len(markup) <= content.LONGEST_RAW:
        yield FieldError(field, f"There is too much markup in here: at most {content.MOST_MARKUP:,} tags. Simplify it.")
    else:
        yield from text(field, markup, words.LONGEST_MESSAGE)


def sanitised(markup: str) -> str:
    """Sanitised HTML; unreadable HTML is returned as it is, and `html` says why. Its length is measured as it is
    stored, in NFC."""
    markup = trimmed(markup)
    if content.too_much_to_read(markup) or content.unkeepable(markup):
        return markup
    return content.sanitise(markup).html


def text(field: str, value: str, longest: int, *, needed: str = "") -> Iterator[FieldError]:
    if content.unkeepable(value):
        yield FieldError(field, UNKEEPABLE)
    elif needed and not visible(value):  # A zero-width space is no title.
        yield FieldError(field, needed)
    elif len(value) > longest:
        yield FieldError(field, f"At most {longest:,} characters; this has {len(value):,}.")
