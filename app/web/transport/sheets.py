"""The style sheets as browsers get them: without comments, line breaks and the spaces that only people need."""

import re

# Strings stay as they are; a comment may hold a quotation mark, so both are found in one pass.
_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>/\*.*?\*/)|(?P<space>\s+)""", re.DOTALL
)
# The space before a colon stays: in `.a :hover` it means a descendant.
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
