"""Packs the style sheets for browsers: without comments, line breaks and spaces that only people need."""

import re

# Strings stay as they are. A comment may hold a quotation mark, so one pass finds both.
_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>/\*.*?\*/)|(?P<space>\s+)""", re.DOTALL
)
# A space before a colon stays: in `.a :hover` it means a descendant.
_NEEDLESS = re.compile(r" ?([{};,]) ?|(?<=:) ")


def packed(css: str) -> str:
    """The same rules in one line."""
    parts: list[str] = []
    strings: list[str] = []
    at = 0
    for found in _TOKEN.finditer(css):
        parts.append(css[at : found.start()])
        at = found.end()
        if found["string"]:
            strings.append(found["string"])
            parts.append('""')
        else:
            parts.append(" ")
    text = re.sub(r" +", " ", "".join([*parts, css[at:]])).strip()
    text = _NEEDLESS.sub(lambda one: one[1] or "", text).replace(";}", "}")
    kept = iter(strings)
    return re.sub('""', lambda _: next(kept), text)
