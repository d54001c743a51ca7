"""Finds known secrets in a text, however a server wrote them. Pure.

A text is read as it stands, and again with its escapes undone (`_View`). In each reading every spelling is looked for
without regard to case, and what is found is taken out of the text itself.
"""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

CUT = "…"

_SHORT = 4  # a secret shorter than this is found as a whole word only: else "a" would be shown by its gaps
_READINGS = 5
_CUTS_LOOKED_AT = 8
_ESCAPE = re.compile(
    r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|(?:%[0-9a-f]{2})+"
    r"|&#[0-9]{1,7};|&#x[0-9a-f]{1,6};|&[a-z]{2,8};|\\[\"'\\/bfnrt]",
    re.IGNORECASE | re.ASCII,
)
_HALF_AN_ESCAPE = re.compile(
    r"(?:(?:\\ud[89ab][0-9a-f]{2})?\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|\\ud[89ab][0-9a-f]{2}|%[0-9a-f]?|&#?\w{0,8})$"
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX_SEPARATORS = ("", " ", ":", "-")


def shortened(text: str, length: int) -> str:
    """At most `length` characters, then an ellipsis: it tells `Spellings` that a secret may have been cut there."""
    return text if len(text) <= length else text[:length] + CUT


class Spellings:
    """Every spelling of some secrets. Has no repr that could show them."""

    __slots__ = ("_firsts", "_forms")

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms = sorted({form for secret in secrets if secret for form in _forms(secret)})
        self._firsts = {form[:n] for form in self._forms for n in range(1, min(len(form), _SHORT))}

    def __repr__(self) -> str:
        return "Spellings(…)"

    def without(self, text: str, instead: str) -> str:
        """The text with `instead` for each secret, and for the beginning of one that stands before a CUT."""
        return self._hidden(text, instead, len(text)) if self._forms else text

    def without_in_beginning(self, text: str, instead: str) -> str:
        """The same for the beginning of a longer text, less its end where that may be the first part of a secret."""
        if not self._forms:
            return text
        ends = (view.at[self._begun(view.folded, _whole_end(view.folded, len(view.folded)))] for view in _views(text))
        return self._hidden(text, instead, min(ends))

    def _hidden(self, text: str, instead: str, end: int) -> str:
        """The text up to `end`."""
        kept: list[str] = []
        position = 0
        for start, stop in sorted(span for view in _views(text) for span in self._spans(view)):
            if start >= position:
                kept += (text[position : min(start, end)], instead)
            position = max(position, stop)
        return "".join((*kept, text[position:end]))

    def _spans(self, view: "_View") -> Iterator[tuple[int, int]]:
        for form in self._forms:
            for place in _places(view.folded, form):
                yield view.span(place, place + len(form))
        for cut in _cuts(view.folded):
            whole = _whole_end(view.folded, cut)
            begun = self._begun(view.folded, whole)
            if begun < whole:
                yield view.span(begun, cut)

    def _begun(self, text: str, end: int) -> int:
        """Where the longest first part of a spelling begins that stands just before `end`;
        `end` where there is none."""
        few = next((end - n for n in range(min(end, _SHORT - 1), 0, -1) if text[end - n : end] in self._firsts), end)
        return min(few, *(_begun(text, form, end) for form in self._forms))


@dataclass(frozen=True, slots=True)
class _View:
    """One reading of a text, folded. Letter n stands for what lies in the text from `at[n]` to the next other place
    in `at`."""

    folded: str
    at: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the text that these letters stand for."""
        while end < len(self.folded) and self.at[end] == self.at[end - 1]:
            end += 1
        return self.at[start], self.at[end]


def _views(text: str) -> Iterator[_View]:
    """The text as it stands, and with its escapes undone once, twice and so on."""
    at: Sequence[int] = range(len(text) + 1)
    for _ in range(_READINGS):
        yield _folded(text, at)
        if _ESCAPE.search(text) is None:
            return
        text, places = _unescaped(text)
        at = places if isinstance(at, range) else [at[place] for place in places]


def _folded(text: str, at: Sequence[int]) -> _View:
    folded = text.upper().casefold()
    if len(folded) == len(text):
        return _View(folded, at)
    letters = [letter.upper().casefold() for letter in text]
    places = [place for letter, place in zip(letters, at, strict=False) for _ in letter]
    return _View("".join(letters), [*places, at[-1]])


def _unescaped(text: str) -> tuple[str, list[int]]:
    """The text with its escapes undone once, and where each of its letters stood; one place more for the end."""
    letters: list[str] = []
    places: list[int] = []
    position = 0
    for escape in _ESCAPE.finditer(text):
        letters.append(text[position : escape.start()])
        places += range(position, escape.start())
        for letter, offset in _undone(escape[0]):
            letters.append(letter)
            places.append(escape.start() + offset)
        position = escape.end()
    letters.append(text[position:])
    places += range(position, len(text) + 1)
    return "".join(letters), places


def _undone(escape: str) -> Iterable[tuple[str, int]]:
    """The letters of one escape, and where in it each begins."""
    if escape[0] == "%":
        return _percent_undone(bytes.fromhex(escape.replace("%", "")))
    if escape[0] == "&":
        known = html.unescape(escape)
        return ((letter, 0) for letter in (html.unescape(escape.lower()) if known == escape else known))
    if escape[1] in "uU":
        units = bytes.fromhex(escape[2:6] + escape[8:])
        return [(units.decode("utf-16-be", "surrogatepass"), 0)]
    if escape[1] in "xX":
        return [(bytes.fromhex(escape[2:]).decode("latin-1"), 0)]
    return [(_CONTROLS.get(escape[1].lower(), escape[1]), 0)]


def _percent_undone(raw: bytes) -> Iterator[tuple[str, int]]:
    """As UTF-8, and as Latin-1 where it is none."""
    offset = 0
    for letter in raw.decode("utf-8", "surrogateescape"):
        lone = "\udc80" <= letter <= "\udcff"
        yield chr(ord(letter) - 0xDC00) if lone else letter, offset
        offset += 3 if lone else 3 * len(letter.encode())


def _places(text: str, form: str) -> Iterator[int]:
    place = text.find(form)
    while place >= 0:
        if len(form) >= _SHORT or _is_word(text, place, place + len(form)):
            yield place
        place = text.find(form, place + 1)


def _is_word(text: str, start: int, end: int) -> bool:
    return not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum()


def _cuts(text: str) -> Iterator[int]:
    """The last places where something was cut: our own come behind those that a server wrote."""
    place = len(text)
    for _ in range(_CUTS_LOOKED_AT):
        place = text.rfind(CUT, 0, place)
        if place < 0:
            return
        yield place


def _whole_end(text: str, end: int) -> int:
    """Where the text before `end` ends, less the escape that is cut there."""
    half = _HALF_AN_ESCAPE.search(text, max(0, end - 20), end)
    return half.start() if half else end


def _begun(text: str, form: str, end: int) -> int:
    """Where the longest first part of the form begins that ends at `end`:
    four letters at least, and less than the whole form."""
    tail = text[max(0, end - _SHORT) : end]
    place = form.rfind(tail, 0, len(form) - 1) if len(tail) == _SHORT else -1
    while place >= 0:
        length = place + _SHORT
        if text.startswith(form[:length], end - length, end):
            return end - length
        place = form.rfind(tail, 0, length - 1)
    return end


def _forms(secret: str) -> Iterator[str]:
    """What a server may write for a secret, folded, before it escapes it."""
    written = {
        secret,
        secret.replace(" ", "+"),
        quote(_bytes(secret), safe=""),
        json.dumps(secret)[1:-1],
        html.escape(secret),
    }
    for said in {secret, secret.lower(), secret.upper(), secret[::-1]}:
        written |= _hex_forms(_bytes(said)) | _base64_forms(_bytes(said))
    for form in written:
        yield from (view.folded for turned in (form, form[::-1]) for view in _views(turned))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hex_forms(encoded: bytes) -> set[str]:
    return {encoded.hex(separator) if separator else encoded.hex() for separator in _HEX_SEPARATORS}


def _base64_forms(encoded: bytes) -> set[str]:
    """The part of the secret that stays the same in base64, at each of the three places it may stand
    ("user:secret")."""
    forms = set()
    for offset in range(3):
        text = b64encode(bytes(offset) + encoded).decode()
        first = (0, 2, 3)[offset]
        last = len(text.rstrip("=")) - (1 if (offset + len(encoded)) % 3 else 0)
        if last - first >= _SHORT:
            forms |= {text[first:last], text[first:last].replace("+", "-").replace("/", "_")}
    return forms
