"""Writes static/css/dark.css: the dark theme for browsers without scripts, where `data-bs-theme` is never set.

    python -m app.dark_sheet

It holds the rules of the other sheets that begin with `[data-bs-theme=dark]`, for the page as a whole;
templates/components/head.html asks for it where the system is dark. A test says when it is behind.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from app.web.transport.assets import SHEETS

STATIC = Path(__file__).parent.parent / "static"
SHEET = STATIC / "css" / "dark.css"
HEAD = (
    "/* Written by `python -m app.dark_sheet` out of the other sheets: the dark theme where no script chooses one. */\n"
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What holds on paper alone, or in wide windows alone, is not the theme.
_CONDITIONAL = re.compile(r"@[\w-]+[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_DARK = re.compile(r'(?::root)?\[data-bs-theme="?dark"?\](?=$|\s)')
# Not the commas within `:not(a, b)`.
_SEMICOLON = re.compile(r";(?![^()]*\))")
_COMMA = re.compile(r",(?![^()]*\))")


def written() -> str:
    """The whole sheet."""
    return HEAD + "".join(rule for sheet in SHEETS for rule in _rules((STATIC / sheet).read_text()))


def _rules(css: str) -> Iterator[str]:
    for selectors, body in _RULE.findall(_CONDITIONAL.sub("", _COMMENT.sub("", css))):
        dark = [one.strip() for one in _COMMA.split(selectors) if _DARK.match(one.strip())]
        if dark:
            lines = "".join(f"  {' '.join(one.split())};\n" for one in _SEMICOLON.split(body) if one.strip())
            yield f"{', '.join(_DARK.sub(':root', one) for one in dark)} {{\n{lines}}}\n"


if __name__ == "__main__":
    SHEET.write_text(written())
    sys.stdout.write(f"{SHEET.relative_to(STATIC.parent)} was written.\n")
